//! Reservations of memory within the limit: reads of data outside memory, and merges of commits, make them
//! before they take the memory.
//!
//! Reads take turns to check the account ([`Reservations`](hedgerow_mem::Reservations)). In its turn a read
//! charges memory of known size ([`Core::try_charge`]), and promises memory for the arena
//! ([`Core::promise`]). A waiting read has none: a read without room gives back its reservations, makes room
//! for its whole need, and begins again.

use hedgerow_core::account::{Charge, Purpose};
use hedgerow_tier::ReadMemory;

use super::memory::{Need, is_large};
use super::memory_pool::{InUse, Lends, Line};
use crate::error::{Error, Result, StorageError};
use crate::state::pages::RoomToLoad;
use crate::state::store::Core;

/// The greatest number of attempts of a read that finds no room at first.
pub(crate) const MOST_READS: usize = 64;
/// The greatest number of attempts of a read into the arena, with more room each time.
const MOST_LOADS: usize = 8;

/// Bytes that count as taken until this is dropped.
pub(crate) struct Promise<'c> {
    core: &'c Core,
    bytes: u64,
}

impl Promise<'_> {
    /// Ends the promise, except for `bytes`.
    fn keep_of(&mut self, bytes: u64) {
        if self.bytes > bytes {
            self.core.reservations.end(self.bytes - bytes);
            self.bytes = bytes;
        }
    }
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        self.keep_of(0);
    }
}

/// The memory that a read needs: kept data, buffers, and one image, which has lists and the values that
/// belong to them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Asked {
    kept: u64,
    buffers: u64,
    lists: u64,
    values: u64,
}

impl Asked {
    /// Adds the memory that a read is about to take.
    pub(crate) fn with(mut self, memory: ReadMemory) -> Asked {
        match memory {
            ReadMemory::Buffers(bytes) => self.buffers = self.buffers.max(bytes),
            ReadMemory::Image(bytes) => self.lists = self.lists.saturating_add(bytes),
            ReadMemory::Values(bytes) => self.values = self.values.saturating_add(bytes),
        }
        self
    }

    /// Returns the need after the image is dropped and `kept` bytes of data are kept.
    pub(crate) fn keeping(self, kept: u64) -> Asked {
        Asked { kept, lists: 0, values: 0, ..self }
    }

    /// Returns the need after the read.
    pub(crate) fn read(self) -> Asked {
        Asked { buffers: 0, ..self }
    }

    pub(crate) fn total(self) -> u64 {
        self.kept.saturating_add(self.buffers).saturating_add(self.image())
    }

    fn image(self) -> u64 {
        self.lists.saturating_add(self.values)
    }

    /// Returns the need while the lists are copied, before they are dropped. Values are passed on without a
    /// copy.
    fn copied(self) -> u64 {
        self.total().saturating_add(self.lists)
    }
}

/// The reservation of a read, while its call has the data.
pub(crate) struct ReadCharge {
    pub(crate) bytes: Charge,
    // Fields are dropped in this order: the charge before the mark.
    _in_use: InUse,
    _lends: Lends,
}

/// The memory of one read, which belongs to its call.
pub(crate) struct ReadRoom<'c> {
    core: &'c Core,
    charge: Charge,
    in_use: InUse,
    asked: Asked,
    lacking: Option<u64>,
    claim: Claim,
    /// True if the read has waited in line, or cannot wait.
    goes_first: bool,
}

/// The part of the limit that a read may take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// The usual share, which leaves the reserves free.
    Usual,
    /// The whole limit, for a small read for which no room can be made.
    Last,
    /// Any amount, for a small read that must succeed.
    AnyCase,
}

impl<'c> ReadRoom<'c> {
    fn new(core: &'c Core, claim: Claim, goes_first: bool) -> ReadRoom<'c> {
        let (charge, in_use) = (Charge::new(core.account(), Purpose::Reads, 0), core.memory_pool.begin());
        ReadRoom { core, charge, in_use, asked: Asked::default(), lacking: None, claim, goes_first }
    }

    /// True if there is room for the memory that a read is about to take. Its lists count twice, since they
    /// are copied.
    pub(crate) fn has(&mut self, memory: ReadMemory) -> bool {
        let asked = self.asked.with(memory);
        let bytes = asked.copied();
        let has = match self.claim {
            Claim::Usual => !self.is_behind_line(bytes) && self.core.try_charge(&mut self.charge, bytes),
            Claim::Last => self.core.try_charge_last(&mut self.charge, bytes),
            Claim::AnyCase => {
                self.charge.set(bytes as usize);
                true
            }
        };
        if has {
            self.asked = asked
        } else {
            self.lacking = Some(bytes)
        }
        has
    }

    /// True if a waiter has precedence over a need of `bytes`. Small reads, which end soon, need not wait.
    fn is_behind_line(&self, bytes: u64) -> bool {
        !self.goes_first
            && self.core.memory_pool.is_waited_for()
            && self.core.memory_limit.is_some_and(|limit| is_large(limit, bytes))
    }
}

/// A load into the arena, and the promise for it. Without a promise it may take any memory that it needs.
#[derive(Default)]
pub(crate) struct Loading<'c> {
    promise: Option<Promise<'c>>,
    asked: Asked,
    /// The bytes that were moved into the arena, for which the promise has ended.
    loaded: u64,
    lacking: Option<u64>,
}

impl RoomToLoad for Loading<'_> {
    /// True if there is room for the memory that a read is about to take, and for a copy of its lists in the
    /// arena.
    fn has(&mut self, memory: ReadMemory) -> bool {
        let Some(promise) = &mut self.promise else { return true };
        let asked = self.asked.with(memory);
        let more = asked.copied().saturating_sub(promise.bytes);
        let has = more == 0 || promise.core.try_promise(more);
        if has {
            promise.bytes += more;
            self.asked = asked;
        } else {
            self.lacking = Some(asked.copied().saturating_add(self.loaded));
        }
        has
    }

    /// Ends the promise for the image, which is dropped. The copy of its lists is in the arena, which was
    /// charged for it or has less free memory; a version was charged for its values.
    fn keep_image(&mut self) {
        let image = self.asked.image();
        self.loaded = self.loaded.saturating_add(image);
        self.asked = self.asked.keeping(0);
        if let Some(promise) = &mut self.promise {
            promise.keep_of(promise.bytes.saturating_sub(image));
        }
    }
}

impl Core {
    /// Charges `bytes` in place of the previous charge, if the limit has room; returns true if it has. Gives
    /// up nothing for them. O(1); waits for other threads that do the same.
    pub(crate) fn try_charge(&self, charge: &mut Charge, bytes: u64) -> bool {
        self.try_charge_as(charge, bytes, Need::of_copy)
    }

    /// Like [`try_charge`](Self::try_charge), but with the whole limit as room.
    fn try_charge_last(&self, charge: &mut Charge, bytes: u64) -> bool {
        self.try_charge_as(charge, bytes, |more, _| Need::of_last(more))
    }

    fn try_charge_as(&self, charge: &mut Charge, bytes: u64, need: impl Fn(u64, u64) -> Need) -> bool {
        let more = bytes.saturating_sub(charge.bytes() as u64);
        let Some(limit) = self.memory_limit.filter(|_| more > 0) else {
            charge.set(bytes as usize);
            return true;
        };
        let fits = || self.fits_now(limit, need(more, limit));
        self.reservations.take(fits, || charge.set(bytes as usize))
    }

    /// Like [`try_charge`](Self::try_charge), but for memory of the arena, where gaps count as room.
    fn try_promise(&self, bytes: u64) -> bool {
        self.try_promise_as(bytes, |promised, limit| Need::of_load(bytes, promised, limit))
    }

    fn try_promise_as(&self, bytes: u64, need: impl Fn(u64, u64) -> Need) -> bool {
        let Some(limit) = self.memory_limit else {
            self.reservations.promise_unseen(bytes);
            return true;
        };
        self.reservations.promise(bytes, || self.fits_now(limit, need(self.reservations.promised(), limit)))
    }

    /// Promises bytes for a load into the arena, after making room for them, if need be by eviction of clean
    /// data. The caller must hold nothing.
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`].
    pub(crate) fn promise(&self, bytes: u64) -> Result<Promise<'_>> {
        self.promise_as(bytes, |promised, limit| Need::of_load(bytes, promised, limit))
    }

    /// Like [`promise`](Self::promise), but for memory outside the arena that is charged in several steps.
    ///
    /// # Errors
    /// Those of [`promise`](Self::promise).
    pub(crate) fn promise_beside_arena(&self, bytes: u64) -> Result<Promise<'_>> {
        self.promise_as(bytes, |_, limit| Need::of_copy(bytes, limit))
    }

    /// Promises bytes if they fit, in a turn: `fits` reads the promises and the account.
    pub(super) fn promise_if(&self, bytes: u64, fits: impl FnOnce() -> bool) -> Option<Promise<'_>> {
        self.reservations.promise(bytes, fits).then(|| Promise { core: self, bytes })
    }

    /// Promises `bytes` for a merge of a batch while it is made. `None` if they do not fit together with
    /// other promises, and more than `used` bytes are charged. The need is not known exactly: lists that were
    /// folded before may be merged again.
    pub(crate) fn promise_merge(&self, bytes: usize, used: u64) -> Option<Promise<'_>> {
        let bytes = bytes as u64 * 2;
        if bytes == 0 {
            return Some(Promise { core: self, bytes });
        }
        self.reservations.promise_unseen(bytes);
        // After the promise: if two threads check at the same moment, at least one sees the promise of the
        // other.
        let promise = Promise { core: self, bytes };
        (!self.is_full(used)).then_some(promise)
    }

    fn promise_as(&self, bytes: u64, need: impl Fn(u64, u64) -> Need) -> Result<Promise<'_>> {
        for _ in 0..MOST_LOADS {
            if self.try_promise_as(bytes, &need) {
                return Ok(Promise { core: self, bytes });
            }
            // Without a limit it only tries again: a read that finds no room here then reads from files.
            let Some(limit) = self.memory_limit else { continue };
            if !self.has_room_without_kept(limit, need(self.reservations.promised(), limit)) {
                break;
            }
        }
        Err(self.no_room_to_read(bytes))
    }

    pub(crate) fn no_room_to_read(&self, needed: u64) -> Error {
        let (limit, used) = (self.memory_limit.unwrap_or(u64::MAX), self.account().used());
        StorageError::MemoryLimit { limit, used, needed }.into()
    }

    /// Calls `read`, which reads files into memory of its own. That memory is charged while `read` runs, and
    /// the charge is returned with the result. If the limit has no room, makes room or waits for it, and
    /// calls `read` again. Small reads succeed even without room, so that single reads work when commits
    /// fail. The caller must hold nothing. A thread that lends memory to code of its caller never waits,
    /// since others may wait for that code.
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`]; the errors of `read`.
    pub(crate) fn read_within<R>(
        &self,
        mut read: impl FnMut(&mut ReadRoom<'_>) -> Result<R>,
    ) -> Result<(R, ReadCharge)> {
        let (mut needed, mut claim, mut line) = (0, Claim::Usual, None::<Line<'_>>);
        let can_wait = Lends::depth() == 0;
        for _ in 0..MOST_READS {
            let mut room = ReadRoom::new(self, claim, line.is_some() || !can_wait);
            let found = read(&mut room);
            let ReadRoom { charge: bytes, in_use, lacking, .. } = room;
            match (found, lacking) {
                (Err(_), Some(lacking)) => needed = lacking.max(needed),
                (found, _) => {
                    let charge = ReadCharge { bytes, _in_use: in_use, _lends: Lends::begin() };
                    return found.map(|found| (found, charge));
                }
            }
            drop((bytes, in_use));
            let has_room = match can_wait {
                true => self.wait_for_room(needed, &mut line),
                false if self.has_room_to_copy(needed) => Ok(()),
                false => Err(self.no_room_to_read(needed)),
            };
            if let Err(error) = has_room {
                if self.memory_limit.is_some_and(|limit| is_large(limit, needed)) {
                    return Err(error);
                }
                claim = if claim == Claim::Usual { Claim::Last } else { Claim::AnyCase };
            }
        }
        Err(self.no_room_to_read(needed))
    }

    /// Calls `load`, which reads about `about` bytes from files into the arena. If there are more bytes, and
    /// the limit has no room for them, makes room and calls `load` again. The caller must hold nothing.
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`]; the errors of `load`.
    pub(crate) fn load_within<R>(
        &self,
        about: u64,
        mut load: impl FnMut(&mut Loading<'_>) -> Result<R>,
    ) -> Result<R> {
        let mut needed = about;
        for _ in 0..MOST_LOADS {
            let promise = Some(self.promise(needed)?);
            let mut loading = Loading { promise, ..Loading::default() };
            match (load(&mut loading), loading.lacking) {
                // The need for images after the one without room is unknown.
                (Err(_), Some(lacking)) => needed = lacking.max(needed).saturating_add(needed / 8),
                (loaded, _) => return loaded,
            }
        }
        Err(self.no_room_to_read(needed))
    }
}
