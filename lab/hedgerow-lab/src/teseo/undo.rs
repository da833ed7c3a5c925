//! The undo entries of changes, the rule that admits a change, and the horizon that keeps entries.
//!
//! The entries of one edge, from new to old, are its chain. A reader goes back over the entries that are
//! younger than its timestamp.

use crate::clock::{Active, Clock};
use crate::planted::{Planted, is_on};

/// The state that a change replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    pub(super) key: u64,
    /// The timestamp of the change and, in the lowest bit, 1 if the change removed the edge.
    pub(super) stamp: u64,
    /// The weight before the change; not a number if there was no edge.
    pub(super) before: f64,
}

/// The reason why a transaction cannot change an item now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    /// An older, unpublished transaction has changed the item: wait for that transaction.
    Older(u64),
    /// A younger transaction has changed the item: begin again as the youngest, behind that transaction.
    Younger(u64),
}

/// Checks whether the transaction of `at` may change an item that the transaction of `by` changed last.
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

/// The versions that are needed: versions of unpublished transactions, and versions that readers see.
#[derive(Debug)]
pub(super) struct Horizon {
    published: u64,
    active: Active,
}

impl Horizon {
    /// Reads the published timestamp before the active readers. So every reader that registers later has at
    /// least that timestamp.
    pub(super) fn now(clock: &Clock) -> Horizon {
        let published = clock.published();
        Horizon { published, active: clock.active() }
    }

    /// Makes the horizon of one user at a time, in the transaction after `published`.
    pub(super) fn alone(published: u64) -> Horizon {
        Horizon { published, active: Active::default() }
    }

    /// True if the state that held from `begin` until a change at `end` is needed.
    pub(super) fn keeps(&self, begin: u64, end: u64) -> bool {
        end > self.published || (self.active.needs(begin, end) && !is_on(Planted::ReadersForgotten))
    }
}

/// Returns the stamp of a change.
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

/// Returns the state of an edge at `at`. `chain` begins with the entries of the edge; `stored` is the weight
/// in the segment.
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
