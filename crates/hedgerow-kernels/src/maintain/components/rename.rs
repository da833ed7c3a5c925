//! Renaming the vertices of components that became parts of others.

use hedgerow_core::{Changes, EdgeChangeKind, Resident, VertexId};
use rayon::prelude::*;

use crate::frontier::all_ways;
use crate::par::CHUNK_VERTICES;

/// The number of vertices per list entry that all searches together may read. If they would read more, a pass
/// over all vertices takes less time.
const VERTICES_PER_ENTRY: usize = 16;

/// Replaces the name `from` of vertices by `to`, for each `(from, to)`. The entries of the vertices `from`
/// themselves may already have been replaced.
pub(super) fn rename<G: Resident>(g: &G, changes: &Changes, names: &mut [u32], mut ends: Vec<(u32, u32)>) {
    let mut search =
        Search { g, changes, removed_into: None, entries_left: names.len() / VERTICES_PER_ENTRY };
    // The component of the last pair may have been renamed in part: the pass completes it.
    while let Some(&(from, to)) = ends.last() {
        if !search.rename(names, from, to) {
            return pass(names, ends);
        }
        ends.pop();
    }
}

/// A search of whole components as they were before the changes: it follows the edges of the graph and the
/// removed ones.
struct Search<'a, G> {
    g: &'a G,
    changes: &'a Changes,
    /// The destination and the source of removed edges, ascending; made at the first use.
    removed_into: Option<Vec<(VertexId, VertexId)>>,
    /// The list entries that may still be read.
    entries_left: usize,
}

impl<G: Resident> Search<'_, G> {
    /// Renames the vertices named `from` until the entries that may be read are used up. True if all are
    /// renamed.
    fn rename(&mut self, names: &mut [u32], from: u32, to: u32) -> bool {
        let Some(first) = names.get_mut(from as usize) else { return true };
        *first = to;
        let mut found = vec![VertexId(from)];
        while let Some(v) = found.pop() {
            let mut visit = |u: VertexId| {
                if let Some(name) = names.get_mut(u.index()).filter(|name| **name == from) {
                    *name = to;
                    found.push(u);
                }
            };
            for &direction in all_ways(self.g) {
                let list = self.g.neighbors(v, direction);
                let Some(left) = self.entries_left.checked_sub(list.len() + 1) else { return false };
                self.entries_left = left;
                list.for_each(&mut visit);
            }
            self.for_each_removed(v, visit);
        }
        true
    }

    /// Calls `f` with the other end of each removed edge of `v`.
    fn for_each_removed(&mut self, v: VertexId, mut f: impl FnMut(VertexId)) {
        let edges = &self.changes.edges;
        let from = edges.partition_point(|edge| edge.src < v);
        let of_v = edges[from..].iter().take_while(|edge| edge.src == v);
        of_v.filter(|edge| edge.kind == EdgeChangeKind::Removed).for_each(|edge| f(edge.dst));
        if self.g.is_directed() {
            let removed_into = self.removed_into.get_or_insert_with(|| {
                let removed = edges.iter().filter(|edge| edge.kind == EdgeChangeKind::Removed);
                let mut into: Vec<_> = removed.map(|edge| (edge.dst, edge.src)).collect();
                into.sort_unstable();
                into
            });
            let from = removed_into.partition_point(|&(dst, _)| dst < v);
            removed_into[from..].iter().take_while(|&&(dst, _)| dst == v).for_each(|&(_, src)| f(src));
        }
    }
}

/// Renames in one pass over all vertices.
fn pass(names: &mut [u32], mut ends: Vec<(u32, u32)>) {
    ends.sort_unstable();
    // Nearly all vertices keep their name; the bits find these without a search.
    let mut bits = vec![0u64; names.len().div_ceil(64)];
    ends.iter().for_each(|&(name, _)| bits[name as usize / 64] |= 1 << (name % 64));
    hedgerow_par::for_each(names.par_chunks_mut(CHUNK_VERTICES), |names| {
        for name in names {
            let is_joined = bits.get(*name as usize / 64).is_some_and(|word| word >> (*name % 64) & 1 != 0);
            if is_joined && let Ok(at) = ends.binary_search_by_key(name, |&(from, _)| from) {
                *name = ends[at].1;
            }
        }
    });
}
