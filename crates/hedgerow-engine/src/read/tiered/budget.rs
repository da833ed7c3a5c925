//! The memory that views by the page read into. It comes from the reservations of the store's reads, and is
//! used again for one run of subgraphs after another.

use std::sync::Arc;

use hedgerow_tier::ReadMemory;

use super::lists::Page;
use crate::error::{Error, Result};
use crate::state::memory_pool::{InUse, Lends, Line};
use crate::state::reservations::{Asked, MOST_READS};
use crate::state::store::Core;

/// The source of memory for the reads of one view's threads.
pub(super) struct Budget {
    core: Arc<Core>,
}

impl Drop for Budget {
    fn drop(&mut self) {
        self.core.end_view_by_page();
    }
}

/// The reason why lists were not read.
pub(super) enum Stop {
    /// There is no room for this many bytes at present.
    NoRoom(u64),
    Failed(Error),
}

impl Stop {
    /// Adds the bytes that the caller held in addition to the read; the caller releases them before room is
    /// made.
    pub(super) fn beside(self, held: u64) -> Stop {
        match self {
            Stop::NoRoom(bytes) => Stop::NoRoom(bytes.saturating_add(held)),
            failed => failed,
        }
    }
}

/// The permission of a call to wait until other calls give memory back. A call that holds memory must not
/// wait, since the others may wait for that memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    Yes,
    No,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

impl Budget {
    pub(super) fn new(core: &Arc<Core>) -> Budget {
        core.begin_view_by_page();
        Budget { core: core.clone() }
    }

    /// Calls `read`. If `read` found no room, makes room and calls it again; `read` then has kept no
    /// reservation. The caller has no latch and is in no walk. If it `waits`, it has nothing reserved, and is
    /// within [`Lends`]. The call does not wait for other threads if this thread is inside another call that
    /// lends memory.
    ///
    /// # Errors
    /// No room within the limit and, if the call waits, no other read in progress that will make room; the
    /// errors of `read`.
    pub(super) fn with_room<R>(
        &self,
        waits: Waits,
        mut read: impl FnMut() -> std::result::Result<R, Stop>,
    ) -> std::result::Result<R, Stop> {
        let can_wait = waits == Waits::Yes && Lends::depth() <= 1;
        let (mut needed, mut line) = (0, None::<Line<'_>>);
        if can_wait {
            self.core.wait_behind_line();
        }
        for _ in 0..MOST_READS {
            match read() {
                Err(Stop::NoRoom(bytes)) => needed = bytes.max(needed),
                read => return read,
            }
            if can_wait {
                self.core.wait_for_room(needed, &mut line)?;
            } else if !self.core.has_room_to_copy(needed) {
                break;
            }
        }
        Err(Stop::NoRoom(needed))
    }

    /// Returns the error that the user gets.
    pub(super) fn error_of(&self, stop: Stop) -> Error {
        match stop {
            Stop::NoRoom(needed) => self.core.no_room_to_read(needed),
            Stop::Failed(error) => error,
        }
    }
}

/// The memory that one thread has taken for its current reads. Given back when it is dropped.
pub(super) struct Grant {
    core: Arc<Core>,
    asked: Asked,
    bytes: u64,
    lacking: Option<u64>,
    // Dropped after the memory is given back.
    _in_use: InUse,
}

impl Grant {
    pub(super) fn new(budget: &Budget) -> Grant {
        let (core, asked) = (budget.core.clone(), Asked::default());
        let in_use = core.memory_pool.begin();
        Grant { core, asked, bytes: 0, lacking: None, _in_use: in_use }
    }

    /// Reserves memory that a read is about to take; false if there is no room.
    pub(super) fn has(&mut self, memory: ReadMemory) -> bool {
        self.set(self.asked.with(memory))
    }

    /// Reserves `bytes` in all for the data that is kept, including the last read; false if there is no room.
    pub(super) fn keep(&mut self, bytes: u64) -> bool {
        self.set(self.asked.keeping(bytes))
    }

    /// Gives back the buffers of a read.
    pub(super) fn end_read(&mut self) {
        self.set(self.asked.read());
    }

    /// Returns the reserved bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the bytes that found no room within the limit, if that happened.
    pub(super) fn lacking(&self) -> Option<u64> {
        self.lacking
    }

    /// Returns `done`, or [`Stop::NoRoom`] if a reservation has failed.
    pub(super) fn checked<R>(&self, done: Result<R>) -> std::result::Result<R, Stop> {
        match self.lacking {
            Some(bytes) => Err(Stop::NoRoom(bytes)),
            None => Ok(done?),
        }
    }

    fn set(&mut self, asked: Asked) -> bool {
        let total = asked.total();
        let has = match total.checked_sub(self.bytes) {
            None | Some(0) => {
                self.core.give_to_pool(self.bytes - total);
                true
            }
            Some(more) => self.core.take_from_pool(more),
        };
        if has {
            (self.asked, self.bytes) = (asked, total);
        } else {
            self.lacking = Some(total);
        }
        has
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        self.core.give_to_pool(self.bytes);
    }
}

/// The lists of neighboring subgraphs, and the memory that they take.
pub(super) struct Run {
    pub(super) lists: Page,
    pub(super) grant: Grant,
}
