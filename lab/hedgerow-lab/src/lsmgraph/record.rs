//! What is kept for each vertex: whether it exists, and where its edges are (the multi-level index, section
//! 4.2.2).

use hedgerow_core::{Direction, VertexId};
use smallvec::SmallVec;

use super::entry::{Stamp, begin, is_marker, stamp};
use super::segment::Place;
use crate::clock::Active;

/// The largest id: a table for more would have a directory of its chunks of more than 2 MB.
pub(super) const MOST: VertexId = VertexId((1 << 28) - 1);
/// The ids that there can be.
pub(super) const PLACES: usize = MOST.0 as usize + 1;
/// From how many older versions of a vertex on some may be given up.
const MANY: usize = 8;

/// Since when a vertex exists, or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Presence {
    /// Of the last change; 0 if there was none.
    newest: Stamp,
    /// Those before, from new to old, as long as readers see them.
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

    /// Returns whether that changed anything.
    pub(super) fn set(&mut self, present: bool, at: u64, versioned: bool) -> bool {
        if (self.newest != 0 && !is_marker(self.newest)) == present {
            return false;
        }
        // Nobody else has seen what the same transaction wrote.
        if self.newest != 0 && begin(self.newest) != at && versioned {
            self.older.get_or_insert_default().insert(0, self.newest);
        }
        // Timestamps begin at 1; where there are none, it is 0 and no marker that says that there never was a
        // vertex.
        self.newest = stamp(at.max(u64::from(!versioned)), !present);
        true
    }

    pub(super) fn has_many(&self) -> bool {
        self.older.as_ref().is_some_and(|older| older.len() >= MANY)
    }

    /// Whether there are versions beside the newest.
    pub(super) fn has_older(&self) -> bool {
        self.older.is_some()
    }

    /// Gives up the versions that no reader needs. The newest is published.
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
    /// Where its edges are below the first level, by level. More than two are rare.
    pub(super) places: SmallVec<[Place; 2]>,
    /// The first memory buffer, or file of the first level, that is to be read for it.
    pub(super) floor: u32,
    /// How many neighbours it has since `changed`.
    pub(super) degree: u32,
    pub(super) changed: u64,
}

impl Side {
    fn bytes(&self) -> usize {
        if self.places.spilled() { self.places.capacity() * size_of::<Place>() } else { 0 }
    }
}

/// A vertex.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) itself: Presence,
    out: Side,
    /// Of a directed graph, once an edge leads here.
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

    /// A side, which is made if need be.
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
