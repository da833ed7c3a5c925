//! The lock files that this process holds.
//!
//! Some kinds of file locks do not exclude their own process, so the process keeps a list. A forked child
//! inherits the list, but none of the locks. So an entry is valid only in the process that made it. A thread
//! takes the lock of the list only in sections in which the process is not forked, so that no child finds the
//! list locked.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hedgerow_core::fork::{self, OwnerProcess};

use crate::vfs::{LockHeld, LockHolder};

/// The sharing of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// No other holder; for writing.
    Alone,
    /// Other holders may share it; for reading.
    Shared,
}

/// A held lock file, with the number of its holders in this process.
struct Entry {
    owner: OwnerProcess,
    sharing: Sharing,
    holders: usize,
}

/// The entries, by device and inode.
type Entries = HashMap<(u64, u64), Entry>;

static HELD: Mutex<Option<Entries>> = Mutex::new(None);

/// An entry in the list, until this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    key: (u64, u64),
    owner: OwnerProcess,
}

impl Held {
    /// Enters the file into the list, unless this process holds it in a way that excludes `sharing`.
    pub(super) fn enter(file: &File, sharing: Sharing) -> io::Result<Held> {
        let meta = file.metadata()?;
        let (key, owner) = ((meta.dev(), meta.ino()), OwnerProcess::current());
        let _whole = fork::hold_off();
        let mut held = entries();
        let held = held.get_or_insert_default();
        match held.get_mut(&key).filter(|entry| entry.owner == owner) {
            Some(entry) if (entry.sharing, sharing) == (Sharing::Shared, Sharing::Shared) => {
                entry.holders += 1
            }
            Some(entry) => {
                let holder = match entry.sharing {
                    Sharing::Alone => LockHolder::ThisProcess,
                    Sharing::Shared => LockHolder::ThisProcessReads,
                };
                return Err(LockHeld(holder).into());
            }
            None => _ = held.insert(key, Entry { owner, sharing, holders: 1 }),
        }
        Ok(Held { key, owner })
    }

    /// True in the process that entered the file, false in its children.
    pub(super) fn is_own(&self) -> bool {
        self.owner.is_current_by_id()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // A forked child does not own the entry.
        if self.is_own() {
            let _whole = fork::hold_off();
            let mut held = entries();
            let held = held.get_or_insert_default();
            if let Some(entry) = held.get_mut(&self.key) {
                entry.holders -= 1;
                if entry.holders == 0 {
                    held.remove(&self.key);
                }
            }
        }
    }
}

fn entries() -> MutexGuard<'static, Option<Entries>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}
