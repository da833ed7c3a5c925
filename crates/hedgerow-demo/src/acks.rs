//! The acknowledgement file: begun and acknowledged transactions, recorded outside the store.
//!
//! One line per event, appended by a single write: `b WRITER INDEX` before a writer commits a transaction,
//! `a WRITER INDEX TIMESTAMP EVENTS WROTE AT MICROSECONDS` after the commit was acknowledged.
//! `p INDEX EVENTS` is a transaction that was in flight at the kill and that the reopened store contains. The
//! file is not synced: when a process dies, the system still has everything that it wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use hedgerow_report::failure::{Context, Result};
use hedgerow_report::figures::percentile;

#[cfg(test)]
mod tests;

/// A writer that appends to the file. Threads may share it.
pub(crate) struct AckWriter {
    file: File,
}

impl AckWriter {
    /// Opens the file for appending, creating it if it does not exist.
    pub(crate) fn open(path: &Path) -> Result<AckWriter> {
        let file = OpenOptions::new().create(true).append(true).open(path).context(path.display())?;
        Ok(AckWriter { file })
    }

    /// Records that `writer` is about to commit transaction `index`.
    pub(crate) fn begin(&self, writer: usize, index: u64) -> Result<()> {
        self.append(&format!("b {writer} {index}\n"))
    }

    /// Records that the commit of `index` returned `ack`.
    pub(crate) fn acknowledge(&self, writer: usize, index: u64, ack: &Ack) -> Result<()> {
        let Ack { timestamp, events, wrote, at, microseconds } = ack;
        let wrote = u8::from(*wrote);
        self.append(&format!("a {writer} {index} {timestamp} {events} {wrote} {at} {microseconds}\n"))
    }

    /// Records that the reopened store contains `index`, which was never acknowledged.
    pub(crate) fn found(&self, index: u64, events: u64) -> Result<()> {
        self.append(&format!("p {index} {events}\n"))
    }

    fn append(&self, line: &str) -> Result<()> {
        (&self.file).write_all(line.as_bytes()).context("acknowledgement file")
    }
}

/// An acknowledged commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ack {
    /// The commit timestamp.
    pub(crate) timestamp: u64,
    /// The number of events of the transaction.
    pub(crate) events: u64,
    /// True if the transaction wrote: a transaction that finds nothing to remove has nothing to make durable.
    pub(crate) wrote: bool,
    /// The microseconds from the start of the process to the acknowledgement.
    pub(crate) at: u64,
    /// The time from the start of the transaction to its acknowledgement.
    pub(crate) microseconds: u64,
}

/// Returns the latency that the share `share` of the commits does not exceed, in seconds; NaN without
/// commits.
pub(crate) fn percentile_of(acks: &[Ack], share: f64) -> f64 {
    let mut latencies: Vec<f64> = acks.iter().map(|ack| ack.microseconds as f64 * 1e-6).collect();
    latencies.sort_unstable_by(f64::total_cmp);
    percentile(&latencies, share)
}

/// The content of the file so far.
#[derive(Debug, Default)]
pub(crate) struct Acks {
    /// The acknowledged transactions by stream index.
    pub(crate) acknowledged: BTreeMap<u64, Ack>,
    /// The transactions found in the store without an acknowledgement, by stream index.
    pub(crate) found: BTreeSet<u64>,
    /// The number of events of all these transactions.
    pub(crate) events: u64,
    begun: BTreeMap<u64, u64>,
}

impl Acks {
    /// Reads the whole file; an absent file counts as empty.
    pub(crate) fn read(path: &Path) -> Result<Acks> {
        let mut follower = AckFollower::new(path);
        follower.poll()?;
        Ok(follower.acks)
    }

    /// True if the file shows that the store contains transaction `index`.
    pub(crate) fn holds(&self, index: u64) -> bool {
        self.acknowledged.contains_key(&index) || self.found.contains(&index)
    }

    /// Returns the transactions that were begun and not acknowledged, by stream index, ascending.
    pub(crate) fn in_flight(&self) -> Vec<u64> {
        let mut open: Vec<u64> = self.begun.values().copied().filter(|&index| !self.holds(index)).collect();
        open.sort_unstable();
        open
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let mut fields = line.split(' ');
        let kind = fields.next()?;
        let numbers: Vec<u64> = fields.map(|f| f.parse().ok()).collect::<Option<_>>()?;
        match (kind, numbers.as_slice()) {
            ("b", &[writer, index]) => {
                self.begun.insert(writer, index);
            }
            ("a", &[_, index, timestamp, events, wrote, at, microseconds]) => {
                self.events += events;
                let ack = Ack { timestamp, events, wrote: wrote != 0, at, microseconds };
                if self.acknowledged.insert(index, ack).is_some() {
                    return None;
                }
            }
            ("p", &[index, events]) => {
                self.events += events;
                self.found.insert(index);
            }
            _ => return None,
        }
        Some(())
    }
}

/// A reader of the file while it grows.
pub(crate) struct AckFollower {
    path: PathBuf,
    file: Option<File>,
    /// The bytes of a line that is not complete yet.
    rest: Vec<u8>,
    lines: u64,
    /// The records read so far.
    pub(crate) acks: Acks,
}

impl AckFollower {
    /// Starts at the beginning of the file, which need not exist yet.
    pub(crate) fn new(path: &Path) -> AckFollower {
        AckFollower { path: path.to_owned(), file: None, rest: Vec::new(), lines: 0, acks: Acks::default() }
    }

    /// Reads the records appended since the last call. An incomplete last line is read by a later call.
    pub(crate) fn poll(&mut self) -> Result<()> {
        if self.file.is_none() {
            match File::open(&self.path) {
                Ok(file) => self.file = Some(file),
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(error).context(self.path.display()),
            }
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        file.read_to_end(&mut self.rest).context(self.path.display())?;
        let Some(end) = self.rest.iter().rposition(|&b| b == b'\n') else { return Ok(()) };
        let lines: Vec<u8> = self.rest.drain(..=end).collect();
        let text = String::from_utf8_lossy(&lines);
        for line in text.lines() {
            self.lines += 1;
            let place = || format!("{}:{}", self.path.display(), self.lines);
            self.acks.line(line).ok_or_else(|| format!("{}: unexpected line {line:?}", place()))?;
        }
        Ok(())
    }
}
