//! The memory that a view by the page reads into: reserved in portions, and used again from run to run.

use std::sync::Arc;

use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::sync::Mutex;
use hedgerow_tier::ReadMemory;

use super::lists::Page;
use crate::error::{Error, Result};
use crate::state::reservations::Asked;
use crate::state::store::Core;

/// What is reserved beyond a need, and what is kept for the runs to come: this share of the limit, or so many bytes without one.
const PORTION: (u64, u64) = (256, 64 << 10);
const KEPT: (u64, u64) = (64, 1 << 20);

/// How often a call makes room for the lists of one subgraph, which others may take.
const MOST_ATTEMPTS: usize = 20;

/// What threads of one view have reserved. It goes with the view.
pub(super) struct Budget {
    core: Arc<Core>,
    pool: Mutex<Pool>,
}

struct Pool {
    charge: Charge,
    /// How much of it nobody uses.
    free: u64,
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
    pub(super) fn new(core: &Arc<Core>) -> Arc<Budget> {
        let charge = Charge::new(core.account(), Purpose::Views, 0);
        Arc::new(Budget { core: core.clone(), pool: Mutex::new(Pool { charge, free: 0 }) })
    }

    fn share(&self, (share, without): (u64, u64)) -> u64 {
        self.core.memory_limit.map_or(without, |limit| limit / share)
    }

    /// Whether so many bytes are the caller's now. Nothing is given up for them.
    fn take(&self, bytes: u64) -> bool {
        if self.core.is_forked() {
            // The lock may be held for good. What is not in memory is refused when it is looked for.
            return true;
        }
        let mut pool = self.pool.lock();
        if pool.free < bytes {
            let lacking = bytes - pool.free;
            let reserved = pool.charge.bytes() as u64;
            let more = [lacking.max(self.share(PORTION)), lacking]
                .into_iter()
                .find(|more| self.core.try_charge(&mut pool.charge, reserved + more));
            let Some(more) = more else { return false };
            pool.free += more;
        }
        pool.free -= bytes;
        true
    }

    fn give_back(&self, bytes: u64) {
        if self.core.is_forked() {
            return;
        }
        let mut pool = self.pool.lock();
        pool.free += bytes;
        let beyond = pool.free.saturating_sub(self.share(KEPT));
        pool.free -= beyond;
        let reserved = pool.charge.bytes() - beyond as usize;
        pool.charge.set(reserved);
    }

    /// What `read` reads, for whose memory room is made where there is none. `read` keeps nothing of what it has reserved when it finds no
    /// room. To be called with no latch and in no walk; with nothing reserved if it `waits`.
    ///
    /// # Errors
    /// Where others have the room, and, if it waits, give none of it back for a while; whatever `read` returns.
    pub(super) fn with_room<R>(
        &self,
        waits: Waits,
        mut read: impl FnMut() -> std::result::Result<R, Stop>,
    ) -> std::result::Result<R, Stop> {
        let mut needed = 0;
        for _ in 0..MOST_ATTEMPTS {
            match read() {
                Err(Stop::NoRoom(bytes)) => needed = bytes,
                read => return read,
            }
            if waits == Waits::Yes {
                self.core.make_room_to_copy(needed)?;
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

/// What one thread uses of a budget, for what it reads at a time. Given back when it is dropped.
pub(super) struct Grant {
    budget: Arc<Budget>,
    asked: Asked,
    bytes: u64,
    lacking: Option<u64>,
}

impl Grant {
    pub(super) fn new(budget: &Arc<Budget>) -> Grant {
        Grant { budget: budget.clone(), asked: Asked::default(), bytes: 0, lacking: None }
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
                self.budget.give_back(self.bytes - total);
                true
            }
            Some(more) => self.budget.take(more),
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
        self.budget.give_back(self.bytes);
    }
}

/// The lists of neighboring subgraphs, and the memory that they take.
pub(super) struct Run {
    pub(super) lists: Page,
    pub(super) grant: Grant,
}
