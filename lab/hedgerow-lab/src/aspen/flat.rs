//! Flat snapshots (Aspen, section 5.1): arrays with the roots of lists by id, so that a read does not descend
//! the tree of vertices.
//!
//! The array is made in parts of [`PART`] ids. Reads of a part first go through the tree. After they have
//! cost about as much as making the part, the next read makes it. So opening a snapshot takes O(1), and a few
//! reads or a single scan use only the tree. The threads of a kernel share the work of making the parts.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use hedgerow_core::{Direction, VertexId};

use super::ctree::CTree;
use super::tree::{self, Link};
use super::vertices::Vertex;
use crate::planted::{Planted, is_on};

/// The number of ids in a part: 64 subgraphs.
pub(super) const PART: usize = 1 << 12;
/// The cost of reads through the tree after which the next read of a part makes it. The read of a single
/// vertex costs 1. The limit equals the cost of one scan.
const ENOUGH: u32 = PART as u32 / 16;
/// The cost of reading the vertices of one subgraph one after another.
const SUBGRAPH: u32 = 4;
/// The cost of reads after which the snapshot counts them by part.
const FEW: u32 = 64;

/// The lists of a part in one direction, and the set of its vertices that exist.
#[derive(Debug)]
pub(super) struct Lists {
    lists: Box<[CTree]>,
    live: Box<[u64]>,
}

impl Lists {
    fn of(vertices: &Link<Vertex>, part: usize, bound: usize, direction: Direction) -> Lists {
        let first = part * PART;
        let len = PART.min(bound - first);
        let direction = if is_on(Planted::FlatListsOfOneDirection) { Direction::Out } else { direction };
        let mut lists = vec![CTree::default(); len].into_boxed_slice();
        let mut live = vec![0u64; len.div_ceil(64)].into_boxed_slice();
        tree::range(vertices, first as u32, (first + len - 1) as u32, &mut |id, vertex| {
            let at = id as usize - first;
            if let Some(list) = vertex.list(direction) {
                lists[at] = list.clone();
            }
            live[at / 64] |= 1 << (at % 64);
        });
        Lists { lists, live }
    }

    pub(super) fn contains(&self, v: VertexId) -> bool {
        let at = v.index() % PART;
        self.live.get(at / 64).is_some_and(|live| live >> (at % 64) & 1 != 0)
    }
}

impl Deref for Lists {
    type Target = [CTree];

    #[inline]
    fn deref(&self) -> &[CTree] {
        &self.lists
    }
}

#[derive(Debug, Default)]
struct Part {
    asked: AtomicU32,
    lists: OnceLock<Lists>,
}

/// The parts of a snapshot, by direction.
#[derive(Debug, Default)]
pub(super) struct Flat {
    /// The cost of the first reads, in all parts.
    asked: AtomicU32,
    parts: [OnceLock<Box<[Part]>>; 2],
}

impl Flat {
    /// Returns the part of `v`, if it is made.
    #[inline]
    pub(super) fn made(&self, v: VertexId, direction: Direction) -> Option<&Lists> {
        self.parts[direction as usize].get()?.get(v.index() / PART)?.lists.get()
    }

    /// Returns the part of `v` like [`made`](Self::made), before a read of `v` or of its whole subgraph.
    /// Makes the part if there were enough reads. The thread that makes a part needs no other thread, so
    /// threads that wait for the part cannot deadlock with it.
    #[inline]
    pub(super) fn read(
        &self,
        v: VertexId,
        direction: Direction,
        is_subgraph: bool,
        (vertices, bound): (&Link<Vertex>, usize),
    ) -> Option<&Lists> {
        if let Some(lists) = self.made(v, direction) {
            return Some(lists);
        }
        let cost = if is_subgraph { SUBGRAPH } else { 1 };
        let parts = &self.parts[direction as usize];
        // A snapshot for a few reads does not allocate the counters of all parts.
        if parts.get().is_none() && self.asked.fetch_add(cost, Ordering::Relaxed) < FEW {
            return None;
        }
        let parts = parts.get_or_init(|| (0..bound.div_ceil(PART)).map(|_| Part::default()).collect());
        let at = v.index() / PART;
        let part = parts.get(at)?;
        if part.asked.fetch_add(cost, Ordering::Relaxed) + cost <= ENOUGH {
            return None;
        }
        Some(part.lists.get_or_init(|| Lists::of(vertices, at, bound, direction)))
    }
}
