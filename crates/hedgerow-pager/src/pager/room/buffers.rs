//! The memory of buffers while a segment is written.

use hedgerow_catalog::error::{Result, StorageError};
use hedgerow_core::account::{Charge, Purpose};

use crate::budget::taken::{Lends, Stop, Taken};
use crate::budget::{For, Need};
use crate::pager::Pager;

/// The most bytes of a limit of which a backup demands a share.
const MOST_OF_LIMIT: u64 = 1 << 30;

/// The writer of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// A checkpoint, or a page version: commits may wait for it, so it goes on without room.
    Checkpoint,
    /// A backup, which is refused if there is no room.
    Backup,
}

/// The memory of buffers of the writer of a segment. It is given back when this is dropped.
pub enum Buffers {
    /// Memory of the reserve for buffers.
    Reserved(Charge),
    /// Memory of the budget. Backups run beside checkpoints, and the reserve is for one writer.
    Taken(Taken),
}

impl Buffers {
    /// Returns the bytes of the buffers.
    pub fn bytes(&self) -> usize {
        match self {
            Buffers::Reserved(charge) => charge.bytes(),
            Buffers::Taken(taken) => taken.bytes() as usize,
        }
    }

    /// Takes `bytes` bytes in all. Never waits.
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`] if there is no room for a backup.
    pub fn set(&mut self, pager: &Pager, bytes: usize) -> Result<()> {
        match self {
            Buffers::Reserved(charge) => pager.charge_buffers(charge, bytes),
            Buffers::Taken(taken) => {
                let bytes = bytes as u64;
                let more = taken.more_of(Need::new(For::Read, bytes));
                let has_room = taken.set(bytes) || pager.find_room(&more) && taken.set(bytes);
                if !has_room {
                    return Err(StorageError::MemoryLimit(pager.shortage_of(&more)).into());
                }
            }
        }
        Ok(())
    }
}

impl Pager {
    /// Begins to take memory for buffers; so far it is none.
    pub fn buffers(&self, of: Writing) -> Buffers {
        match of {
            Writing::Checkpoint => Buffers::Reserved(Charge::new(self.account(), Purpose::Checkpoint, 0)),
            Writing::Backup => Buffers::Taken(Taken::for_long(&self.budget, For::Read)),
        }
    }

    /// Makes room for a backup, or waits for it: the limit divided by `share`, or 1 GiB divided by `share` if
    /// the limit is greater. The caller must hold nothing.
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`]; those of a checkpoint.
    pub fn make_room_for_backup(&self, share: u64) -> Result<()> {
        let Some(limit) = self.memory_limit else { return Ok(()) };
        let bytes = limit.min(MOST_OF_LIMIT) / share;
        let need = Need::new(For::Read, bytes);
        let fits = |_| if self.budget.fits(&need) { Ok(()) } else { Err(Stop::NoRoom(bytes)) };
        self.with_room((For::Read, Lends::depth() == 0), fits).map_err(|stop| self.error_of(stop))
    }

    /// Charges `bytes` bytes of buffers of a checkpoint in place of the previous charge. Evicts for those
    /// that the reserve for buffers does not have. If that makes no room, they exceed the limit: a checkpoint
    /// is needed to make room. A search that finds no room goes through all tables, so after each such search
    /// twice as many charges come before the next one.
    fn charge_buffers(&self, charge: &mut Charge, bytes: usize) {
        let more = bytes.saturating_sub(charge.bytes()) as u64;
        let exceeds =
            more > 0 && self.memory_limit.is_some_and(|limit| self.budget.exceed_reserve(limit, more));
        if exceeds && self.eviction.buffer_searches.is_due() {
            self.eviction.buffer_searches.note(self.find_room(&Need::new(For::Read, more)));
        }
        charge.set(bytes);
    }
}
