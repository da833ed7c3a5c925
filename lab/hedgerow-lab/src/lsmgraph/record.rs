//! The record of each vertex: whether the vertex exists, and where its edges are (the multi-level index,
//! section 4.2.2).

use hedgerow_core::{Direction, VertexId};
use smallvec::SmallVec;

use super::entry::{Stamp, begin, is_marker, stamp};
use super::segment::Place;
use crate::clock::Active;

/// The largest vertex id. A table for larger ids would need a directory of its chunks of more than 2 MB.
pub(super) const MOST: VertexId = VertexId((1 << 28) - 1);
/// The number of possible vertex ids.
pub(super) const PLACES: usize = MOST.0 as usize + 1;
/// The number of older versions of a vertex at which a writer prunes them.
const MANY: usize = 8;

/// The changes of the existence of a vertex.
#[derive(Clone, Debug, Default)]
pub(super) struct Presence {
    /// The stamp of the last change; 0 if there was none.
    newest: Stamp,
    /// The stamps of earlier changes, from new to old, as long as readers see them.
    #[allow(clippy::box_collection, reason = "most vertices have none, and 8 bytes instead of 24")]
    older: Option<Box<Vec<Stamp>>>,
}

impl Presence {
    #[inline]
    pub(super) fn at(&self, at: u64) -> bool {
        if begin(self.newest) <= at {
            return self.newest != 0 && !is_marker(self.newest);
        }
        let older = self.older.iter().flat_map(|older| older.iter());
        older.copied().find(|&stamp| begin(stamp) <= at).is_some_and(|stamp| !is_marker(stamp))
    }

    /// Sets whether the vertex exists from `at` on. Returns true if this changed anything.
    pub(super) fn set(&mut self, present: bool, at: u64, versioned: bool) -> bool {
        if (self.newest != 0 && !is_marker(self.newest)) == present {
            return false;
        }
        // No other transaction has seen an earlier stamp of the same transaction.
        if self.newest != 0 && begin(self.newest) != at && versioned {
            self.older.get_or_insert_default().insert(0, self.newest);
        }
        // Timestamps begin at 1. Without versions, `at` is 0, and a stamp of 0 would mean that the vertex
        // never existed.
        self.newest = stamp(at.max(u64::from(!versioned)), !present);
        true
    }

    pub(super) fn has_many(&self) -> bool {
        self.older.as_ref().is_some_and(|older| older.len() >= MANY)
    }

    /// True if there are versions in addition to the newest.
    pub(super) fn has_older(&self) -> bool {
        self.older.is_some()
    }

    /// Removes the versions that no reader needs. The newest version is published.
    pub(super) fn prune(&mut self, active: &Active) {
        let Some(mut older) = self.older.take() else { return };
        let mut end = begin(self.newest);
        older.retain(|&stamp| {
            let from = begin(stamp);
            active.needs(from, std::mem::replace(&mut end, from))
        });
        if !older.is_empty() {
            older.shrink_to_fit();
            self.older = Some(older);
        }
    }

    fn bytes(&self) -> usize {
        self.older.as_ref().map_or(0, |older| size_of::<Vec<Stamp>>() + 8 * older.capacity())
    }
}

/// The lists of a vertex in one direction.
#[derive(Debug, Default)]
pub(super) struct Side {
    /// The places of its edges below the first level, in the order of levels. More than two places are rare.
    pub(super) places: SmallVec<[Place; 2]>,
    /// The order of the first memory buffer, or file of the first level, to read for this list.
    pub(super) floor: u32,
    /// The number of neighbours since `changed`.
    pub(super) degree: u32,
    pub(super) changed: u64,
}

impl Side {
    fn bytes(&self) -> usize {
        if self.places.spilled() { self.places.capacity() * size_of::<Place>() } else { 0 }
    }
}

/// The record of a vertex.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) itself: Presence,
    out: Side,
    /// The incoming side in a directed graph, once an edge leads to this vertex.
    into: Option<Box<Side>>,
}

impl Record {
    #[inline]
    pub(super) fn side(&self, direction: Direction) -> Option<&Side> {
        match direction {
            Direction::Out => Some(&self.out),
            Direction::In => self.into.as_deref(),
        }
    }

    /// Returns a side. Makes it if it is missing.
    pub(super) fn side_mut(&mut self, direction: Direction) -> &mut Side {
        match direction {
            Direction::Out => &mut self.out,
            Direction::In => self.into.get_or_insert_default(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let into = self.into.as_ref().map_or(0, |into| size_of::<Side>() + into.bytes());
        self.itself.bytes() + self.out.bytes() + into
    }
}
