//! The versions that readers see, as of one moment.

use crate::clock::{Active, Clock};
use crate::planted::{Planted, is_on};

/// The set of versions that current or later readers see.
pub(super) struct Horizon {
    published: u64,
    active: Active,
}

impl Horizon {
    /// Returns the horizon of this moment. A reader that registers later sees at least the transactions that
    /// are published now.
    pub(super) fn of(clock: &Clock) -> Horizon {
        let published = clock.published();
        let active = clock.active();
        let forgotten = is_on(Planted::ReadersForgotten);
        Horizon { published, active: if forgotten { Active::default() } else { active } }
    }

    /// Returns the horizon of a graph without concurrent readers: all later readers see at least `published`.
    pub(super) fn without_readers(published: u64) -> Horizon {
        Horizon { published, active: Active::default() }
    }

    /// True if a current or later reader sees a version that was created at `begin` and invalidated at `end`.
    #[inline]
    pub(super) fn needs(&self, begin: u64, end: u64) -> bool {
        end > self.published || self.active.needs(begin, end)
    }
}
