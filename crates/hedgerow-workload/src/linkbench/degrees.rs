//! The numbers of links of nodes, from the file of measured distributions.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::error::LinkBenchError;

/// The section of the file.
const SECTION: &str = "nlinks";

/// Returns the numbers of links of `nodes` nodes, descending.
pub(super) fn read(path: &Path, nodes: u64) -> Result<Vec<u32>, LinkBenchError> {
    let io = |error| LinkBenchError::Io { path: path.to_owned(), error };
    let file = zstd::stream::read::Decoder::new(File::open(path).map_err(io)?).map_err(io)?;
    let lines = BufReader::new(file).lines();
    degrees_of(lines, path, nodes)
}

/// Reads the numbers from lines. A name begins a section; each other line has a value and the percentage of
/// nodes with at most this number of links, ascending.
pub(super) fn degrees_of(
    lines: impl Iterator<Item = std::io::Result<String>>,
    path: &Path,
    nodes: u64,
) -> Result<Vec<u32>, LinkBenchError> {
    let wrong = |line, what: String| LinkBenchError::Line { path: path.to_owned(), line, what };
    let (mut is_inside, mut ascending, mut last) =
        (false, Vec::with_capacity(nodes.min(1 << 28) as usize), (0, 0.0));
    for (at, line) in lines.enumerate() {
        let line = line.map_err(|error| LinkBenchError::Io { path: path.to_owned(), error })?;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            is_inside = line == SECTION;
            continue;
        }
        if !is_inside {
            continue;
        }
        let (value, share) =
            pair(line).ok_or_else(|| wrong(at + 1, format!("not a value and a percentage: {line}")))?;
        if value < last.0 || share < last.1 || share > 100.001 {
            return Err(wrong(
                at + 1,
                format!("{line} after {} {}: values and percentages ascend", last.0, last.1),
            ));
        }
        let until = (share / 100.0 * nodes as f64).round().min(nodes as f64) as usize;
        ascending.resize(until.max(ascending.len()), value);
        last = (value, share);
    }
    if last.1 == 0.0 {
        return Err(LinkBenchError::Missing { path: path.to_owned(), what: format!("section {SECTION}") });
    }
    // The nodes that the percentages leave over get the last value.
    ascending.resize(nodes as usize, last.0);
    ascending.reverse();
    Ok(ascending)
}

fn pair(line: &str) -> Option<(u32, f64)> {
    let (value, share) = line.split_once(char::is_whitespace)?;
    Some((value.parse().ok()?, share.trim().parse().ok().filter(|share: &f64| *share >= 0.0)?))
}
