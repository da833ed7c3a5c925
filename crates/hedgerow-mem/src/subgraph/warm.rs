//! Loading what an operation on one edge will touch, ahead of touching it.
//!
//! The way to an edge is a chain of cache misses: header, then head version (its arrays' places, its offsets), then
//! delta and list. Each function starts one link of the chain and waits for none; a writer calls it for all endpoints
//! that it has in hand, so that their misses overlap (grouping and prefetching independent look-ups: Chen, Gibbons,
//! Mowry, "Improving hash join performance through prefetching").

use hedgerow_core::{Direction, LocalVertex, simd};

use super::{Latched, Subgraph};
use crate::version::Version;

impl Subgraph {
    /// Starts loading the header: latch, existence, heads.
    #[inline]
    pub fn warm_header(&self) {
        simd::prefetch(self);
    }

    /// Starts loading the head version; the header should be here.
    #[inline]
    pub fn warm_head(&self, direction: Direction, local: LocalVertex) {
        if let Some(head) = Option::as_ref(&*self.heads[direction as usize].load()) {
            warm_version(head, local);
        }
    }

    /// Starts loading where the next delta entry goes, and with `search` what a look for an edge of `local` reads
    /// first; the head version should be here.
    #[inline]
    pub fn warm_edges(&self, direction: Direction, local: LocalVertex, search: bool) {
        if let Some(head) = Option::as_ref(&*self.heads[direction as usize].load()) {
            warm_edges(head, local, search);
        }
    }
}

impl Latched<'_> {
    /// As [`Subgraph::warm_head`].
    #[inline]
    pub fn warm_head(&self, direction: Direction, local: LocalVertex) {
        if let Some(head) = &self.writer.heads[direction as usize] {
            warm_version(head, local);
        }
    }

    /// As [`Subgraph::warm_edges`].
    #[inline]
    pub fn warm_edges(&self, direction: Direction, local: LocalVertex, search: bool) {
        if let Some(head) = &self.writer.heads[direction as usize] {
            warm_edges(head, local, search);
        }
    }

    /// About how much a look for an edge of `local` costs: the length of its settled list.
    #[inline]
    pub fn settled_degree(&self, direction: Direction, local: LocalVertex) -> usize {
        self.writer.heads[direction as usize].as_ref().map_or(0, |head| head.main.range(local).len())
    }
}

#[inline]
fn warm_version(head: &Version, local: LocalVertex) {
    simd::prefetch(&raw const head.delta);
    simd::prefetch(&raw const head.main.neighbors);
    simd::prefetch(&raw const head.main.offsets.0[local.index()]);
}

/// The list: short ones whole, of long ones the places where a binary search looks first.
#[inline]
fn warm_edges(head: &Version, local: LocalVertex, search: bool) {
    head.delta.prefetch(search);
    if !search {
        return;
    }
    let list = head.main.neighbors(local);
    if list.len() <= 64 {
        simd::prefetch_slice(list, 4);
        return;
    }
    for eighth in 1..8 {
        simd::prefetch(&raw const list[list.len() * eighth / 8]);
    }
}
