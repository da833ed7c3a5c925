//! The entries of a delta about edges, sorted by edge.

use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, VertexId};

use super::Pending;
use super::build::Builder;
use super::logged::{Reduced, first_edge};
use super::small_patch::SmallPatch;
use crate::op::EdgeOp;
use crate::version::Version;

/// Buffers that are reused, so that reading many subgraphs allocates only the results.
#[derive(Default)]
pub(in crate::view) struct Scratch {
    /// Edge entries by source, destination and order: 6 bits source, 32 destination, 24 position, 2
    /// operation.
    pub(super) sorted: Vec<u64>,
    /// The same entries in the order of the log.
    logged: Vec<u64>,
    pub(super) build: Builder,
    /// The last few corrections that were read.
    pub(in crate::view) few: SmallPatch,
    /// The number of delta entries that were read with this scratch, and of entries of copied patches.
    pub(in crate::view) entries: usize,
}

/// Number of entries up to which sorting compares each with all others.
const COMPARED: usize = 24;
/// Number of entries from which on entries are sorted by source first, and then within each source.
const MANY: usize = 48;

impl Scratch {
    /// Calls `f` with the first `n` entries reduced to one value for each edge, ascending. O(n log n).
    #[inline]
    pub(in crate::view) fn for_each_edge(&mut self, version: &Version, n: usize, mut f: impl FnMut(Reduced)) {
        self.sort(&Pending::of(version, n));
        let mut rest = &self.sorted[..];
        while let Some((edge, others)) = first_edge(rest) {
            rest = others;
            f(edge);
        }
    }

    /// Sorts the marked entries among the first `n` by source and neighbour, if all `n` entries insert edges
    /// (which are then different). Otherwise sorts nothing and returns false.
    #[inline]
    pub(in crate::view) fn sort_inserted(&mut self, version: &Version, n: usize, marks: &[u64]) -> bool {
        let delta = version.delta();
        self.logged.clear();
        self.logged.resize(n, 0);
        let (mut taken, mut all_insert) = (0, true);
        // Writes every entry, and advances only for marked ones: no branch to predict.
        for i in 0..n {
            let (local, op) = delta.source(i);
            all_insert &= op == EdgeOp::Insert;
            let edge = (local.index() as u64) << 32 | u64::from(delta.destination(i).0);
            self.logged[taken] = edge << 26 | (i as u64) << 2 | op as u64;
            taken += (marks.get(i / 64).copied().unwrap_or(0) >> (i % 64) & 1) as usize;
        }
        self.logged.truncate(taken);
        if all_insert {
            self.sort_logged();
        }
        all_insert
    }

    /// Returns the edges that were [sorted](Self::sort_inserted).
    #[inline]
    pub(in crate::view) fn inserted(&self) -> impl ExactSizeIterator<Item = (LocalVertex, VertexId)> {
        self.sorted.iter().map(|&entry| (LocalVertex((entry >> 58) as u8), VertexId((entry >> 26) as u32)))
    }

    /// Sorts the entries about edges. Returns the mask of the vertices that exist.
    pub(super) fn sort(&mut self, pending: &Pending<'_>) -> u64 {
        let (delta, mut present) = (pending.version.delta(), pending.present);
        self.logged.clear();
        for i in pending.entries.clone() {
            let (local, op) = delta.source(i);
            let dst = delta.destination(i);
            if op == EdgeOp::Vertex {
                present = if dst.0 != 0 { present | local.bit() } else { present & !local.bit() };
            } else {
                let edge = (local.index() as u64) << 32 | u64::from(dst.0);
                self.logged.push(edge << 26 | (i as u64) << 2 | op as u64);
            }
        }
        self.sort_logged();
        present
    }

    #[inline]
    fn sort_logged(&mut self) {
        match self.logged.len() {
            0..=COMPARED => self.sort_few(),
            n if n < MANY => {
                std::mem::swap(&mut self.sorted, &mut self.logged);
                self.sorted.sort_unstable();
            }
            _ => self.sort_by_source(),
        }
    }

    /// Sorts a few entries, all different: counts the smaller ones of each entry, without a branch to
    /// predict.
    fn sort_few(&mut self) {
        self.sorted.clear();
        self.sorted.resize(self.logged.len(), 0);
        for &entry in &self.logged {
            let smaller: usize = self.logged.iter().map(|&other| usize::from(other < entry)).sum();
            self.sorted[smaller] = entry;
        }
    }

    fn sort_by_source(&mut self) {
        let source = |entry: u64| (entry >> 58) as usize;
        let mut starts = [0u32; SUBGRAPH_VERTICES + 1];
        self.logged.iter().for_each(|&entry| starts[source(entry) + 1] += 1);
        for i in 0..SUBGRAPH_VERTICES {
            starts[i + 1] += starts[i];
        }
        let mut next = starts;
        self.sorted.clear();
        self.sorted.resize(self.logged.len(), 0);
        for &entry in &self.logged {
            let at = &mut next[source(entry)];
            self.sorted[*at as usize] = entry;
            *at += 1;
        }
        for i in 0..SUBGRAPH_VERTICES {
            let of_source = starts[i] as usize..starts[i + 1] as usize;
            if of_source.len() > 1 {
                self.sorted[of_source].sort_unstable();
            }
        }
    }
}
