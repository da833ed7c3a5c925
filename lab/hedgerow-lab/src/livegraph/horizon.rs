//! What readers see, as of a moment.

use crate::clock::{Active, Clock};
use crate::planted::{Planted, is_on};

/// Which versions a reader sees, of those that read now or later.
pub(super) struct Horizon {
    published: u64,
    active: Active,
}

impl Horizon {
    /// As of now. A reader that registers later than this sees at least what is published now.
    pub(super) fn of(clock: &Clock) -> Horizon {
        let published = clock.published();
        let active = clock.active();
        let forgotten = is_on(Planted::ReadersForgotten);
        Horizon { published, active: if forgotten { Active::default() } else { active } }
    }

    /// Where nobody reads while somebody writes: all later readers see at least `published`.
    pub(super) fn without_readers(published: u64) -> Horizon {
        Horizon { published, active: Active::default() }
    }

    /// Whether a reader sees, now or later, what was created at `begin` and invalidated at `end`.
    #[inline]
    pub(super) fn needs(&self, begin: u64, end: u64) -> bool {
        end > self.published || self.active.needs(begin, end)
    }
}
