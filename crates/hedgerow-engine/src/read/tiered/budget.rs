//! The memory that views by the page read into: taken of what reads of the store have reserved, and used again from run to run.

use std::sync::Arc;

use hedgerow_tier::ReadMemory;

use super::lists::Page;
use crate::error::{Error, Result};
use crate::state::memory_pool::{InUse, Lends, Line};
use crate::state::reservations::{Asked, MOST_READS};
use crate::state::store::Core;

/// Takes memory for what threads of one view read.
pub(super) struct Budget {
    core: Arc<Core>,
}

impl Drop for Budget {
    fn drop(&mut self) {
        self.core.end_view_by_page();
    }
}

/// Why lists were not read.
pub(super) enum Stop {
    /// Nobody may take so many bytes as things are.
    NoRoom(u64),
    Failed(Error),
}

impl Stop {
    /// Where so many bytes were held beside it, which are to be let go of before room is made.
    pub(super) fn beside(self, held: u64) -> Stop {
        match self {
            Stop::NoRoom(bytes) => Stop::NoRoom(bytes.saturating_add(held)),
            failed => failed,
        }
    }
}

/// Whether a call may wait until others give memory back: not while it holds some itself, for they may wait for that.
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

    /// What `read` reads, for whose memory room is made where there is none. `read` keeps nothing of what it has reserved when it finds no
    /// room. To be called with no latch and in no walk; with nothing reserved if it `waits`, and within [`Lends`]: where that is not the only call of
    /// this thread that lends memory, it waits for nobody.
    ///
    /// # Errors
    /// Where the limit has no room, and, if it waits, nothing is in progress that makes some; whatever `read` returns.
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

    /// What a caller of the store is told.
    pub(super) fn error_of(&self, stop: Stop) -> Error {
        match stop {
            Stop::NoRoom(needed) => self.core.no_room_to_read(needed),
            Stop::Failed(error) => error,
        }
    }
}

/// What one thread has taken for what it reads at a time. Given back when it is dropped.
pub(super) struct Grant {
    core: Arc<Core>,
    asked: Asked,
    bytes: u64,
    lacking: Option<u64>,
    // After what is given back.
    _in_use: InUse,
}

impl Grant {
    pub(super) fn new(budget: &Budget) -> Grant {
        let (core, asked) = (budget.core.clone(), Asked::default());
        let in_use = core.memory_pool.begin();
        Grant { core, asked, bytes: 0, lacking: None, _in_use: in_use }
    }

    /// Whether there is room for what a read is about to take.
    pub(super) fn has(&mut self, memory: ReadMemory) -> bool {
        self.set(self.asked.with(memory))
    }

    /// Whether there is room for so many bytes to keep, once what was read is put among them.
    pub(super) fn keep(&mut self, bytes: u64) -> bool {
        self.set(self.asked.keeping(bytes))
    }

    /// The buffers of a read are gone.
    pub(super) fn end_read(&mut self) {
        self.set(self.asked.read());
    }

    /// What is reserved.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// As many bytes as the limit has no room for, if that was so once.
    pub(super) fn lacking(&self) -> Option<u64> {
        self.lacking
    }

    /// `done`, unless there was no room for it.
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
