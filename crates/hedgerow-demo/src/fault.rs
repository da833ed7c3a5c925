//! Faults that tests plant to see the demo fail. An environment variable chooses one; no user needs it.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::acks::{Ack, Acks};
use hedgerow_report::failure::{Context, Result};

/// The name of the environment variable.
const VARIABLE: &str = "HEDGEROW_DEMO_FAULT";

/// The planted fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No fault.
    None,
    /// The checker counts some transactions as acknowledged that were not, as if their commits had been lost.
    ExtraAck,
    /// The end of the log is wiped after the kill, as if its last commits had never been synced.
    CutLog,
}

/// The number of bytes that [`Fault::CutLog`] wipes: several transactions.
const WIPED_BYTES: u64 = 64 << 10;

impl Fault {
    /// Returns the fault that the variable names; no fault without it.
    pub(crate) fn from_environment() -> Result<Fault> {
        match std::env::var(VARIABLE).as_deref() {
            Err(_) => Ok(Fault::None),
            Ok("extra-ack") => Ok(Fault::ExtraAck),
            Ok("cut-log") => Ok(Fault::CutLog),
            Ok(other) => Err(format!("{VARIABLE}={other}: expected extra-ack or cut-log").into()),
        }
    }

    /// Damages the store, if this is [`Fault::CutLog`].
    pub(crate) fn after_kill(self, store: &Path) -> Result<()> {
        if self != Fault::CutLog {
            return Ok(());
        }
        let mut logs = Vec::new();
        for entry in std::fs::read_dir(store).context(store.display())? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "wal") {
                logs.push(path);
            }
        }
        logs.sort();
        // A checkpoint may have begun a log segment just before the kill. Such a segment has no commit, and
        // cutting it would lose nothing.
        for newest in logs.iter().rev() {
            let bytes = std::fs::read(newest).context(newest.display())?;
            let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last as u64 + 1);
            if end <= HEADER_BYTES {
                continue;
            }
            let from = end.saturating_sub(WIPED_BYTES).max(HEADER_BYTES);
            let file = OpenOptions::new().write(true).open(newest).context(newest.display())?;
            return file.write_all_at(&vec![0; (end - from) as usize], from).context(newest.display());
        }
        Err("the store has no log with commits".into())
    }

    /// Adds acknowledgements that never happened, if this is [`Fault::ExtraAck`]. They are of the three
    /// transactions after all begun ones: a single one might only remove something absent.
    pub(crate) fn falsify(self, acks: &mut Acks) {
        if self == Fault::ExtraAck {
            let last = acks.acknowledged.keys().copied().chain(acks.in_flight()).max();
            let next = last.map_or(0, |last| last + 1);
            for index in next..next + 3 {
                acks.acknowledged.insert(index, Ack { wrote: true, ..Ack::default() });
            }
        }
    }
}

/// The bytes that [`Fault::CutLog`] does not wipe: the header of a log segment and everything before its
/// records.
const HEADER_BYTES: u64 = 4096;
