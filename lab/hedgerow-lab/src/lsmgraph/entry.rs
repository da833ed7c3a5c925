//! A version of an edge in a list.

use hedgerow_core::VertexId;
use smallvec::SmallVec;

use crate::clock::Active;
use crate::planted::{Planted, is_on};

/// A timestamp and, in the lowest bit, the marker of a removal.
pub(super) type Stamp = u64;

/// A timestamp after all others.
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

/// A version of a neighbour. Lists are in the order of targets; the versions of one target go from new to
/// old.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) target: VertexId,
    pub(super) stamp: Stamp,
    /// The weight of the edge; it has no meaning in a graph without weights.
    pub(super) weight: f64,
}

impl Entry {
    /// Returns the weight, unless this is the marker of a removal.
    #[inline]
    pub(super) fn live(self) -> Option<f64> {
        (!is_marker(self.stamp)).then_some(self.weight)
    }
}

/// The versions of one target in a merge, from new to old.
pub(super) type Versions = SmallVec<[Entry; 4]>;

/// Keeps only the versions that a reader may read: the newest version, and the versions that `active` needs.
/// If nothing is `below`, it also removes a marker that has no older version behind it.
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
