//! Room of the memory limit that reads of what is not in memory reserve before they take it.
//!
//! Reads take turns at looking at the account ([`Reservations`](hedgerow_mem::Reservations)): memory of known size is charged in that turn
//! ([`Core::try_charge`]), what goes into the arena is promised meanwhile ([`Core::promise`]). Who waits for room holds none: a read that
//! finds none lets go of what it has reserved, has room made for all of it, and begins again.

use hedgerow_core::account::{Charge, Purpose};
use hedgerow_tier::ReadMemory;

use super::memory::{FREED, Need, is_large};
use crate::error::{Error, Result, StorageError};
use crate::state::pages::RoomToLoad;
use crate::state::store::Core;

/// How often a read looks for room again that others took, or are about to give back.
const MOST_LOOKS: usize = 200;
/// How often a read begins again, once there was room for what it had no room for.
const MOST_READS: usize = 20;
/// How often one that goes into the arena begins, with more room each time.
const MOST_LOADS: usize = 4;

/// Bytes that count as taken until this is dropped.
pub(crate) struct Promise<'c> {
    core: &'c Core,
    bytes: u64,
}

impl Promise<'_> {
    /// Ends it for all but so many bytes.
    fn keep_of(&mut self, bytes: u64) {
        self.core.reservations.end(self.bytes - bytes);
        self.bytes = bytes;
    }
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        self.keep_of(0);
    }
}

/// What a read was asked for: what it keeps, buffers, and one image.
#[derive(Clone, Copy, Default)]
pub(crate) struct Asked {
    kept: u64,
    buffers: u64,
    image: u64,
}

impl Asked {
    /// With what a read is about to take.
    pub(crate) fn with(mut self, memory: ReadMemory) -> Asked {
        match memory {
            ReadMemory::Buffers(bytes) => self.buffers = self.buffers.max(bytes),
            ReadMemory::Image(bytes) => self.image = self.image.saturating_add(bytes),
        }
        self
    }

    /// Once so many bytes are kept of what was read, and the image is gone.
    pub(crate) fn keeping(self, kept: u64) -> Asked {
        Asked { kept, image: 0, ..self }
    }

    /// Once the read is over.
    pub(crate) fn read(self) -> Asked {
        Asked { buffers: 0, ..self }
    }

    pub(crate) fn total(self) -> u64 {
        self.kept.saturating_add(self.buffers).saturating_add(self.image)
    }

    fn copied(self) -> u64 {
        self.total().saturating_add(self.image)
    }
}

/// The memory of one read, which belongs to its call.
pub(crate) struct ReadRoom<'c> {
    core: &'c Core,
    charge: Charge,
    asked: Asked,
    lacking: Option<u64>,
    /// Whether it is read whatever there is room for.
    in_any_case: bool,
}

impl ReadRoom<'_> {
    /// Whether there is room for what a read is about to take: for its image twice, since a copy of it is made.
    pub(crate) fn has(&mut self, memory: ReadMemory) -> bool {
        let asked = self.asked.with(memory);
        if self.in_any_case {
            self.charge.set(asked.copied() as usize);
        }
        let has = self.in_any_case || self.core.try_charge(&mut self.charge, asked.copied());
        if has {
            self.asked = asked
        } else {
            self.lacking = Some(asked.copied())
        }
        has
    }
}

/// What is loaded into the arena, and what is promised for it. Without a promise it has whatever it needs.
#[derive(Default)]
pub(crate) struct Loading<'c> {
    promise: Option<Promise<'c>>,
    asked: Asked,
    /// What came into the arena: the promise is over for it.
    loaded: u64,
    lacking: Option<u64>,
}

impl RoomToLoad for Loading<'_> {
    /// Whether there is room for what a read is about to take, and for a copy of its image in the arena.
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

    /// The image is gone, and its copy is in the arena, which was charged for it or has less that is free.
    fn keep_image(&mut self) {
        let image = self.asked.image;
        self.loaded = self.loaded.saturating_add(image);
        self.asked = self.asked.keeping(0);
        if let Some(promise) = &mut self.promise {
            promise.keep_of(promise.bytes.saturating_sub(image));
        }
    }
}

impl Core {
    /// Charges as many bytes as that in place of what was charged; whether the limit has room. Nothing is given up for it. O(1); waits for
    /// readers that do the same.
    pub(crate) fn try_charge(&self, charge: &mut Charge, bytes: u64) -> bool {
        let more = bytes.saturating_sub(charge.bytes() as u64);
        let Some(limit) = self.memory_limit.filter(|_| more > 0) else {
            charge.set(bytes as usize);
            return true;
        };
        let fits = || self.fits_now(limit, Need::of_copy(more, limit));
        self.reservations.take(fits, || charge.set(bytes as usize))
    }

    /// As [`try_charge`](Self::try_charge), for what goes into the arena, where gaps count as room.
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

    /// Promises bytes for what is put into the arena, once there is room for them: what files hold leaves memory for it if need be. To be
    /// called with nothing held.
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`].
    pub(crate) fn promise(&self, bytes: u64) -> Result<Promise<'_>> {
        self.promise_as(bytes, |promised, limit| Need::of_load(bytes, promised, limit))
    }

    /// As [`promise`](Self::promise), for what lies beside the arena and is charged piece by piece.
    ///
    /// # Errors
    /// As of that.
    pub(crate) fn promise_beside_arena(&self, bytes: u64) -> Result<Promise<'_>> {
        self.promise_as(bytes, |_, limit| Need::of_copy(bytes, limit))
    }

    fn promise_as(&self, bytes: u64, need: impl Fn(u64, u64) -> Need) -> Result<Promise<'_>> {
        for _ in 0..MOST_LOADS {
            if self.try_promise_as(bytes, &need) {
                return Ok(Promise { core: self, bytes });
            }
            // Not waited for: what has no room here is read where it is.
            let Some(limit) = self.memory_limit else { continue };
            if !self.has_room(limit, need(self.reservations.promised(), limit)) {
                break;
            }
        }
        Err(self.no_room_to_read(bytes))
    }

    /// Whether the limit has room for a copy of so many bytes, once what files hold left memory for it. Others may take it, and are not waited
    /// for. To be called with no latch and in no walk; the caller may hold what it has reserved.
    #[cold]
    pub(crate) fn has_room_to_copy(&self, bytes: u64) -> bool {
        self.memory_limit.is_none_or(|limit| self.has_room(limit, Need::of_copy(bytes, limit)))
    }

    /// As [`has_room_to_copy`](Self::has_room_to_copy), and waits for others that may give back what they have: 2 s at most. To be called with
    /// nothing held, and nothing reserved.
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`].
    #[cold]
    pub(crate) fn make_room_to_copy(&self, bytes: u64) -> Result<()> {
        let Some(limit) = self.memory_limit else { return Ok(()) };
        for _ in 0..MOST_LOOKS {
            if self.has_room_to_copy(bytes) {
                return Ok(());
            }
            // More than the limit has at all is not waited for; other reads give back what they have.
            if bytes > limit {
                break;
            }
            self.ask_for_room(limit);
            std::thread::sleep(FREED);
        }
        Err(self.no_room_to_read(bytes))
    }

    pub(crate) fn no_room_to_read(&self, needed: u64) -> Error {
        let (limit, used) = (self.memory_limit.unwrap_or(u64::MAX), self.account().used());
        StorageError::MemoryLimit { limit, used, needed }.into()
    }

    /// What `read` reads of files into memory of its own, which is charged with what it is given while `read` runs, and comes with the
    /// result. Where the limit has no room for it, room is made, and `read` begins again. Where none can be made for what is small, since
    /// others have all of it, it is read all the same: single reads go on where commits are refused. To be called with nothing held.
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`]; whatever `read` returns.
    pub(crate) fn read_within<R>(
        &self,
        mut read: impl FnMut(&mut ReadRoom<'_>) -> Result<R>,
    ) -> Result<(R, Charge)> {
        let (mut needed, mut in_any_case) = (0, false);
        for _ in 0..MOST_READS {
            let charge = Charge::new(self.account(), Purpose::Files, 0);
            let mut room =
                ReadRoom { core: self, charge, asked: Asked::default(), lacking: None, in_any_case };
            let found = read(&mut room);
            match (found, room.lacking) {
                (Err(_), Some(lacking)) => needed = lacking,
                (found, _) => return found.map(|found| (found, room.charge)),
            }
            drop(room);
            if let Err(error) = self.make_room_to_copy(needed) {
                if self.memory_limit.is_some_and(|limit| is_large(limit, needed)) {
                    return Err(error);
                }
                in_any_case = true;
            }
        }
        Err(self.no_room_to_read(needed))
    }

    /// What `load` reads of files into the arena, for about so many bytes. Where there turn out to be more, and the limit has no room for
    /// them, room is made, and `load` begins again. To be called with nothing held.
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`]; whatever `load` returns.
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
                // What came after the image for which there was no room is not known.
                (Err(_), Some(lacking)) => needed = lacking.max(needed).saturating_add(needed / 8),
                (loaded, _) => return loaded,
            }
        }
        Err(self.no_room_to_read(needed))
    }
}
