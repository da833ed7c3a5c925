//! An edge in a list, as a version of it.

use hedgerow_core::VertexId;
use smallvec::SmallVec;

use crate::clock::Active;
use crate::planted::{Planted, is_on};

/// A timestamp and, in the lowest bit, the marker of a removal.
pub(super) type Stamp = u64;

/// Later than every timestamp.
pub(super) const NEWEST: u64 = u64::MAX >> 1;

#[inline]
pub(super) fn stamp(at: u64, removed: bool) -> Stamp {
    at << 1 | u64::from(removed)
}

#[inline]
pub(super) fn begin(stamp: Stamp) -> u64 {
    stamp >> 1
}

#[inline]
pub(super) fn is_marker(stamp: Stamp) -> bool {
    stamp & 1 != 0
}

/// A version of a neighbour. In lists, versions stand by target, those of one target from new to old.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) target: VertexId,
    pub(super) stamp: Stamp,
    /// Means nothing in a graph without weights.
    pub(super) weight: f64,
}

impl Entry {
    /// The weight, unless this is the marker of a removal.
    #[inline]
    pub(super) fn live(self) -> Option<f64> {
        (!is_marker(self.stamp)).then_some(self.weight)
    }
}

/// The versions of one target that are merged, from new to old.
pub(super) type Versions = SmallVec<[Entry; 4]>;

/// Leaves the versions that somebody may read: the newest, and those that `active` need. Markers behind which
/// there is nothing go too, if nothing is `below`.
pub(super) fn prune(versions: &mut Versions, active: &Active, below: bool) {
    let below = below && !is_on(Planted::MarkersDropped);
    let mut newer: Option<u64> = None;
    versions.retain(|entry| {
        let from = begin(entry.stamp);
        let end = newer.replace(from);
        end.is_none_or(|end| active.needs(from, end) && !is_on(Planted::MergeForgetsReaders))
    });
    while !below
        && versions.last().is_some_and(|entry| is_marker(entry.stamp))
        && !is_on(Planted::MarkersKept)
    {
        versions.pop();
    }
}
