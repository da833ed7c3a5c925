//! What changes replaced, who may replace it, and for how long it is kept.
//!
//! The entries of one edge, from new to old, are its chain. A reader goes back over those that are younger
//! than its timestamp.

use crate::clock::{Active, Clock};
use crate::planted::{Planted, is_on};

/// What a change replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    pub(super) key: u64,
    /// The timestamp of the change and, in the lowest bit, whether it removed the edge.
    pub(super) stamp: u64,
    /// The weight before it; not a number where there was no edge.
    pub(super) before: f64,
}

/// Why a transaction cannot change something now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    /// An older transaction, which is not published, has changed it: wait for that one.
    Older(u64),
    /// A younger one has: begin again as the youngest, behind that one.
    Younger(u64),
}

/// Whether the transaction of `at` may change what that of `by` has changed last.
pub(super) fn admit(by: u64, at: u64, published: impl Fn() -> u64) -> Result<(), Conflict> {
    if by == at || is_on(Planted::ConflictIgnored) {
        return Ok(());
    }
    match by > at {
        true => Err(Conflict::Younger(by)),
        false if by > published() => Err(Conflict::Older(by)),
        false => Ok(()),
    }
}

/// Which versions are needed: those of transactions that are not published, and those that readers see.
#[derive(Debug)]
pub(super) struct Horizon {
    published: u64,
    active: Active,
}

impl Horizon {
    /// Asked in this order, every reader that enters later has at least that timestamp.
    pub(super) fn now(clock: &Clock) -> Horizon {
        let published = clock.published();
        Horizon { published, active: clock.active() }
    }

    /// Of one user at a time, in the transaction after `published`.
    pub(super) fn alone(published: u64) -> Horizon {
        Horizon { published, active: Active::default() }
    }

    /// Whether the state that held from `begin` until a change at `end` is needed.
    pub(super) fn keeps(&self, begin: u64, end: u64) -> bool {
        end > self.published || (self.active.needs(begin, end) && !is_on(Planted::ReadersForgotten))
    }
}

/// The stamp of a change.
#[inline]
pub(super) fn stamp(at: u64, removed: bool) -> u64 {
    at << 1 | u64::from(removed)
}

impl Undo {
    pub(super) fn at(&self) -> u64 {
        self.stamp >> 1
    }

    pub(super) fn is_removed(&self) -> bool {
        self.stamp & 1 != 0
    }

    pub(super) fn before(&self) -> Option<f64> {
        (!self.before.is_nan()).then_some(self.before)
    }
}

/// The state of an edge at `at`: `chain` begins with its entries, `stored` is what is held of it.
pub(super) fn state(chain: &[Undo], key: u64, stored: Option<f64>, at: u64) -> Option<f64> {
    let mut entries = chain.iter().take_while(|entry| entry.key == key).peekable();
    let mut state = if entries.peek().is_some_and(|head| head.is_removed()) { None } else { stored };
    for entry in entries {
        if entry.at() <= at {
            break;
        }
        state = entry.before();
    }
    state
}
