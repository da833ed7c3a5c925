//! The positions of commits in the files of a log. The code follows the format page and does not use the log
//! reader of the crate.

use std::collections::BTreeMap;
use std::ops::Range;

/// A commit in a log file.
pub(crate) struct Record {
    pub(crate) file: String,
    pub(crate) bytes: Range<usize>,
    pub(crate) ts: u64,
}

/// Returns the number of `width` bytes at `at`.
pub(crate) fn number(bytes: &[u8], at: usize, width: usize) -> usize {
    let mut raw = [0; 8];
    raw[..width].copy_from_slice(&bytes[at..at + width]);
    u64::from_le_bytes(raw) as usize
}

/// Returns the commits in the logs, in the layout of `docs/format/log.md`.
pub(crate) fn records(files: &BTreeMap<String, Vec<u8>>) -> Vec<Record> {
    let mut all = Vec::new();
    for (file, bytes) in files.iter().filter(|(name, _)| name.ends_with(".wal")) {
        let mut at = 128;
        while at + 56 <= bytes.len() && number(bytes, at, 4) > 0 {
            let end = at + 56 + number(bytes, at, 4).next_multiple_of(8);
            if number(bytes, at + 4, 4) == 1 {
                all.push(Record { file: file.clone(), bytes: at..end, ts: number(bytes, at + 16, 8) as u64 });
            }
            at = end;
        }
    }
    all
}
