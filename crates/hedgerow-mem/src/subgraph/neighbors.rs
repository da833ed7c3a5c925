//! Reads of one list for user code, which may run long.

use hedgerow_core::{Direction, LocalVertex, Timestamp, VertexId, simd};
use smallvec::SmallVec;

use super::Subgraph;
use crate::grace::ReadGuard;
use crate::version::{NotInMemory, Read, version_at, with_weights};

/// The longest list that is copied instead of keeping its version alive. A copy of that length takes as long
/// as the two locked instructions that take and release a counted reference. Those also delay the loads of
/// later reads.
const COPIED: usize = 256;

/// A copy of a list.
#[derive(Default)]
struct Copy {
    neighbors: SmallVec<[VertexId; COPIED]>,
    /// Empty in a graph without weights.
    weights: SmallVec<[f64; COPIED]>,
}

impl Copy {
    #[inline]
    fn add(&mut self, run: &[VertexId], weights: &[f64]) {
        self.neighbors.extend_from_slice(run);
        self.weights.extend_from_slice(weights);
    }
}

impl Subgraph {
    /// Calls `f` with each neighbour of `local` that a snapshot at `t` sees, ascending, and with its weight
    /// (1 in a graph without weights). `f` may run long, and may call the store. While `f` runs, it delays
    /// only the reclamation of the version of a long list. O(degree + delta). It allocates nothing, unless
    /// the delta has hundreds of entries about the vertex.
    ///
    /// # Errors
    /// Like [`read`](Self::read).
    #[inline]
    pub fn for_each_neighbor(
        &self,
        direction: Direction,
        t: Timestamp,
        local: LocalVertex,
        f: impl FnMut(VertexId, f64),
    ) -> Result<(), NotInMemory> {
        let mut copy = Copy::default();
        let take = |read: Read<'_>| read.for_each_run(local, |run, weights| copy.add(run, weights));
        if self.read_short(direction, t, local, take)? {
            with_weights(&copy.neighbors, &copy.weights, f);
        } else {
            self.read_kept(direction, t, |read| read.for_each_neighbor(local, f))?;
        }
        Ok(())
    }

    /// Like [`for_each_neighbor`](Self::for_each_neighbor), but in stretches and in no particular order,
    /// which is faster. Each stretch comes with its weights; without weights that slice is empty.
    ///
    /// # Errors
    /// Like [`read`](Self::read).
    #[inline]
    pub fn visit(
        &self,
        direction: Direction,
        t: Timestamp,
        local: LocalVertex,
        mut f: impl FnMut(&[VertexId], &[f64]),
    ) -> Result<(), NotInMemory> {
        let mut copy = Copy::default();
        let take = |read: Read<'_>| read.visit(local, |run, weights| copy.add(run, weights));
        if self.read_short(direction, t, local, take)? {
            f(&copy.neighbors, &copy.weights);
        } else {
            self.read_kept(direction, t, |read| read.visit(local, f))?;
        }
        Ok(())
    }

    /// Like [`read`](Self::read), but only if the list of `local` is short. True if the list was read, or the
    /// chain has no version.
    #[inline]
    fn read_short(
        &self,
        direction: Direction,
        t: Timestamp,
        local: LocalVertex,
        f: impl FnOnce(Read<'_>),
    ) -> Result<bool, NotInMemory> {
        let walk = ReadGuard::begin();
        let Some(version) = version_at(&self.heads[direction as usize], t, &walk)? else { return Ok(true) };
        let list = version.main.neighbors(local);
        let is_short = list.len() <= COPIED;
        if is_short {
            // The list arrives in the cache while the delta is read.
            simd::prefetch_slice(list, 2);
            f(version.at(t));
        }
        Ok(is_short)
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
