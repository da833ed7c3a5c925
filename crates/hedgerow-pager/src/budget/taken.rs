//! Memory that calls have taken from the budget.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

use hedgerow_catalog::error::{Error, Result};
use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_tier::ReadMemory;

use super::{Budget, For, Need, is_small};

/// The reason why data was not read.
pub enum Stop {
    /// There is no room for this many bytes at present.
    NoRoom(u64),
    /// The call failed for another reason.
    Failed(Error),
}

impl Stop {
    /// Adds the bytes that the caller held in addition to the read; the caller releases them before room is
    /// made.
    pub fn beside(self, held: u64) -> Stop {
        match self {
            Stop::NoRoom(bytes) => Stop::NoRoom(bytes.saturating_add(held)),
            failed => failed,
        }
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

/// Memory that a call has taken. It is given back when this is dropped.
///
/// Memory outside the arena is charged. Memory in the arena is promised until the arena has charged it, and
/// the call [takes less](Self::set).
pub struct Taken {
    budget: Arc<Budget>,
    what: For,
    charge: Charge,
    promised: u64,
    /// False if the call has to wait behind a call in line.
    goes_first: bool,
    /// True if the call counts as a holder, for whose memory other calls wait.
    holds: bool,
}

impl Taken {
    /// Begins to take memory; so far it is none. O(1).
    pub fn new(budget: &Arc<Budget>, what: For) -> Taken {
        let purpose = if what == For::Speed { Purpose::Views } else { Purpose::Reads };
        Taken::charging(budget, what, purpose)
    }

    fn charging(budget: &Arc<Budget>, what: For, purpose: Purpose) -> Taken {
        budget.takings.begin();
        let charge = Charge::new(&budget.account, purpose, 0);
        Taken { budget: budget.clone(), what, charge, promised: 0, goes_first: true, holds: true }
    }

    /// Begins to take memory for a call that has it for so long that no other call waits for it.
    pub(crate) fn for_long(budget: &Arc<Budget>, what: For) -> Taken {
        let mut taken = Taken::new(budget, what);
        taken.budget.takings.end();
        taken.holds = false;
        taken
    }

    /// Returns the bytes that the call has.
    pub fn bytes(&self) -> u64 {
        self.charge.bytes() as u64 + self.promised
    }

    /// Takes `bytes` bytes in all; false if the limit has no room for them. Less always succeeds.
    pub fn set(&mut self, bytes: u64) -> bool {
        self.meet(Need::new(self.what, bytes))
    }

    /// Returns the rest of a need, apart from the bytes that the call has.
    pub(crate) fn more_of(&self, need: Need) -> Need {
        let more = need.bytes.saturating_sub(self.bytes());
        Need { bytes: more, block: need.block.min(more), ..need }
    }

    /// Takes the bytes of a need in all; false if the limit has no room for them. Gives up nothing for them.
    /// O(1), and O(regions) if gaps of the arena serve them. Waits for other threads that do the same.
    pub fn meet(&mut self, need: Need) -> bool {
        let need_of_more = self.more_of(need);
        let budget = self.budget.clone();
        // In a forked child the lock may never be released. Reads of data outside memory fail later.
        let Some(limit) = budget.limit.filter(|_| need_of_more.bytes > 0 && budget.owner.is_current()) else {
            self.put(need.bytes);
            return true;
        };
        if !self.goes_first && budget.is_waited_for() && !is_small(limit, need.bytes) {
            return false;
        }
        let mut take = || budget.takings.take(|| budget.fits(&need_of_more), || self.put(need.bytes));
        take() || (budget.fits_returning(&need_of_more) && take())
    }

    fn put(&mut self, bytes: u64) {
        if matches!(self.what, For::Read | For::Speed) {
            if !faults::is_on(PlantedFault::TakenNotCharged) {
                self.charge.set(usize::try_from(bytes).unwrap_or(usize::MAX));
            }
        } else if self.budget.limit.is_some() {
            // No longer promised bytes must be charged by now.
            self.budget.takings.promise(bytes.saturating_sub(self.promised));
            self.budget.takings.end_promise(self.promised.saturating_sub(bytes));
            self.promised = bytes;
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.put(0);
        if self.holds {
            self.budget.takings.end();
        } else {
            self.budget.takings.returned();
        }
    }
}

/// The memory that a read needs: kept data, buffers, and one image, which has lists and the values that
/// belong to them.
#[derive(Clone, Copy, Default)]
struct Asked {
    kept: u64,
    buffers: u64,
    lists: u64,
    values: u64,
}

impl Asked {
    fn with(mut self, memory: ReadMemory) -> Asked {
        match memory {
            ReadMemory::Buffers(bytes) => self.buffers = self.buffers.max(bytes),
            ReadMemory::Image(bytes) => self.lists = self.lists.saturating_add(bytes),
            ReadMemory::Values(bytes) | ReadMemory::Copy(bytes) => {
                self.values = self.values.saturating_add(bytes);
            }
        }
        self
    }

    fn total(&self) -> u64 {
        self.kept.saturating_add(self.read())
    }

    /// Returns the bytes of the buffers and of the image.
    fn read(&self) -> u64 {
        self.buffers.saturating_add(self.lists).saturating_add(self.values)
    }
}

/// The memory of a read of files, which takes it step by step.
pub struct Room {
    taken: Taken,
    asked: Asked,
    /// True if the lists of an image are copied before the image is dropped. Values are passed on without a
    /// copy.
    copies: bool,
    /// The bytes of the images whose copies are in memory by now.
    copied: u64,
    lacking: Option<u64>,
}

impl Room {
    /// Begins a read of a view by the page. Its lists count once: it takes memory for its results too.
    pub fn new(budget: &Arc<Budget>) -> Room {
        Room::of(Taken::charging(budget, For::Read, Purpose::Views), false)
    }

    /// Begins a read whose lists code of the caller may keep for long: no other call waits for them. They
    /// count once.
    pub(crate) fn for_long(budget: &Arc<Budget>) -> Room {
        Room::of(Taken::for_long(budget, For::Read), false)
    }

    /// Begins a read that copies the lists of images, with the memory that it has taken so far.
    pub(crate) fn copying(taken: Taken) -> Room {
        Room::of(taken, true)
    }

    fn of(taken: Taken, copies: bool) -> Room {
        Room { taken, asked: Asked::default(), copies, copied: 0, lacking: None }
    }

    /// Begins a load with the memory that was taken for it, of which `beside` bytes are for other data.
    pub(crate) fn to_load(taken: Taken, beside: u64) -> Room {
        let asked = Asked { kept: beside, ..Asked::default() };
        Room { asked, ..Room::of(taken, true) }
    }

    /// Begins a read of one list. If it is not small, it waits behind a call in line, unless it `goes_first`.
    pub(crate) fn of_list(budget: &Arc<Budget>, goes_first: bool) -> Room {
        let mut taken = Taken::new(budget, For::Read);
        taken.goes_first = goes_first;
        Room::copying(taken)
    }

    /// Takes memory that a read is about to use; false if there is no room.
    pub fn has(&mut self, memory: ReadMemory) -> bool {
        match memory {
            // The memory of the copies that follow suffices, since the old lists are dropped before these.
            ReadMemory::Copy(_) if self.copies => true,
            memory => self.take(self.asked.with(memory)),
        }
    }

    /// Takes memory for lists of `bytes` bytes that the call copies; false if there is no room.
    pub fn has_list(&mut self, bytes: u64) -> bool {
        self.has(ReadMemory::Image(bytes))
    }

    /// Takes `bytes` in all for the data that is kept, including the last image; false if there is no room.
    pub fn keep(&mut self, bytes: u64) -> bool {
        self.take(Asked { kept: bytes, lists: 0, values: 0, ..self.asked })
    }

    /// Gives back the buffers of a read.
    pub fn end_read(&mut self) {
        self.take(Asked { buffers: 0, ..self.asked });
    }

    /// Returns the bytes that the read has.
    pub fn bytes(&self) -> u64 {
        self.taken.bytes()
    }

    /// Returns the bytes for which there was no room, if that happened.
    pub fn lacking(&self) -> Option<u64> {
        self.lacking
    }

    /// Returns the bytes of the whole read up to the data for which there was no room, if that happened.
    pub fn needed(&self) -> Option<u64> {
        self.lacking.map(|bytes| bytes.saturating_add(self.copied))
    }

    /// Returns `done`, or [`Stop::NoRoom`] if there was no room.
    ///
    /// # Errors
    /// [`Stop::NoRoom`]; [`Stop::Failed`] with the error of the read.
    pub fn checked<R>(&self, done: Result<R>) -> std::result::Result<R, Stop> {
        match self.lacking {
            Some(bytes) => Err(Stop::NoRoom(bytes)),
            None => Ok(done?),
        }
    }

    /// Ends the read; returns its memory.
    pub(crate) fn into_taken(self) -> Taken {
        self.taken
    }

    fn take(&mut self, asked: Asked) -> bool {
        let copied = if self.copies { asked.lists } else { 0 };
        let bytes = asked.total().saturating_add(copied);
        // A load begins with memory for all that it is going to read.
        // Only copies of lists are in the arena, so its gaps serve nothing else.
        let need = Need::new(self.taken.what, bytes).with_block(asked.read());
        let has = bytes <= self.taken.bytes() && self.copies || self.taken.meet(need);
        if has {
            self.asked = asked;
        } else {
            self.lacking = Some(bytes);
        }
        has
    }
}

/// The decision about memory, which a load requests before it takes memory.
pub trait RoomToLoad {
    /// True if there is room for the memory that a read is about to take.
    fn has(&mut self, memory: ReadMemory) -> bool;

    /// Records that an image is dropped, and its copy is in the arena.
    fn keep_image(&mut self);
}

impl RoomToLoad for Room {
    fn has(&mut self, memory: ReadMemory) -> bool {
        Room::has(self, memory)
    }

    /// Ends the promise for the image, which is dropped. The copy of its lists is in the arena, which was
    /// charged for it or has less free memory; a version was charged for its values.
    fn keep_image(&mut self) {
        let image = self.asked.lists.saturating_add(self.asked.values);
        self.copied = self.copied.saturating_add(image);
        self.asked = Asked { lists: 0, values: 0, ..self.asked };
        self.taken.set(self.taken.bytes().saturating_sub(image).max(self.asked.kept));
    }
}

thread_local!(static CALLS: Cell<u32> = const { Cell::new(0) });

/// The mark of a call on this thread that lends memory to code of callers, until it is dropped.
pub struct Lends(PhantomData<*const ()>);

impl Lends {
    /// Begins to lend memory on this thread.
    pub fn begin() -> Lends {
        CALLS.set(CALLS.get() + 1);
        Lends(PhantomData)
    }

    /// Returns the number of such calls in progress on this thread.
    pub fn depth() -> u32 {
        CALLS.get()
    }
}

impl Drop for Lends {
    fn drop(&mut self) {
        CALLS.set(CALLS.get() - 1);
    }
}

/// The memory of a read whose data belongs to its call.
pub struct Lent {
    // Fields are dropped in this order.
    /// The memory.
    pub taken: Taken,
    _lends: Lends,
}

impl Lent {
    /// Lends what is left in a room.
    pub fn new(room: Room) -> Lent {
        Lent { taken: room.into_taken(), _lends: Lends::begin() }
    }
}
