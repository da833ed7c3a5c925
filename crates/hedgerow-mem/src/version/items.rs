//! Reads of edges with ranks and rows of a version.

use hedgerow_core::{InterpolationHint, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};

use super::Read;
use crate::items::ItemRef;
use crate::main_part::Main;
use crate::op::{EdgeOp, Entries, Entry};

/// Consecutive edges of a vertex.
pub(crate) enum Piece<'a> {
    /// The edges of the main part at these positions.
    Main(std::ops::Range<usize>),
    /// An edge of the patch or the delta.
    Changed(ItemRef<'a>),
}

impl<'a> Read<'a> {
    /// Returns the number of entries in all lists. O(delta).
    pub fn edge_entries(&self) -> u64 {
        let delta = &self.version().delta;
        let entries = delta.entries(self.delta_len());
        let patched = self.version().patch.as_ref().map_or((0, 0), |patch| patch.all_sizes());
        let settled = self.version().main.neighbors.len() + patched.0 - patched.1;
        entries.fold(settled as u64, |sum, e| match e.op {
            EdgeOp::Insert => sum + 1,
            EdgeOp::Remove => sum.saturating_sub(1),
            EdgeOp::Update | EdgeOp::Vertex => sum,
        })
    }

    /// Returns the number of edges from a vertex to itself, in the subgraph `id`. O(vertices log degree +
    /// loops + delta).
    pub fn self_loops(&self, id: SubgraphId) -> u64 {
        let of = |main: &Main, local| {
            let (range, v) = (main.range(local), id.vertex(local));
            let list = &main.neighbors[range];
            let from = list.partition_point(|&u| u < v);
            list[from..].partition_point(|&u| u == v) as u64
        };
        let mut settled: u64 =
            (0..SUBGRAPH_VERTICES as u8).map(|l| of(&self.version().main, LocalVertex(l))).sum();
        if let Some(patch) = &self.version().patch {
            for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                settled = settled + of(&patch.added, local) - of(&patch.removed, local);
            }
        }
        let entries = self.version().delta.entries(self.delta_len()).filter(|e| e.dst == id.vertex(e.local));
        entries.fold(settled, |sum, e| match e.op {
            EdgeOp::Insert => sum + 1,
            EdgeOp::Remove => sum.saturating_sub(1u64),
            EdgeOp::Update | EdgeOp::Vertex => sum,
        })
    }

    /// Returns the edge with this destination and rank, if it exists. O(log degree), and O(delta) if the
    /// delta may have an entry about it.
    #[inline]
    pub fn item(
        &self,
        local: LocalVertex,
        dst: VertexId,
        rank: u64,
        hint: InterpolationHint,
    ) -> Option<ItemRef<'a>> {
        let (version, delta) = (self.version(), &self.version().delta);
        let ranked = delta.has_ranks();
        let wanted = |at: usize| if ranked { delta.rank(at) == rank } else { rank == 0 };
        if let Some(last) = delta.last_edge(self.delta_len(), local, dst, wanted) {
            let Entry { op, weight, .. } = delta.entry(last);
            return (op != EdgeOp::Remove).then(|| ItemRef { dst, rank, weight, row: delta.row(last) });
        }
        match version.patch.as_ref().and_then(|patch| patch.item(local, dst, rank, hint)) {
            Some(state) => state,
            None => version.main.find_item(local, dst, rank, hint).map(|at| version.main.item_at(at)),
        }
    }

    /// Calls `f` with each edge to `dst`, ascending by rank. O(log degree + delta + edges to `dst`).
    pub fn for_each_item_to(&self, local: LocalVertex, dst: VertexId, mut f: impl FnMut(ItemRef<'a>)) {
        if self.version().is_ranked() {
            let main = &self.version().main;
            let (all, next) = (main.range(local), VertexId(dst.0.saturating_add(1)));
            let of_dst = main.lower_bound(all.clone(), dst, 0)..main.lower_bound(all, next, 0);
            self.for_each_merged(local, of_dst, |other| other == dst, f);
        } else if let Some(item) = self.item(local, dst, 0, InterpolationHint::UNKNOWN) {
            f(item);
        }
    }

    /// Calls `f` with each edge, ascending by destination and rank. O(degree + delta).
    pub fn for_each_item(&self, local: LocalVertex, f: impl FnMut(ItemRef<'a>)) {
        self.for_each_merged(local, self.version().main.range(local), |_| true, f);
    }

    /// Calls `f` with the edges of all vertices, ascending by vertex, destination and rank. A call has a
    /// stretch of the main part, or a single edge of patch or delta. O(delta log delta); stretches of the
    /// main part cost nothing per edge.
    pub(crate) fn for_each_piece(&self, mut f: impl FnMut(LocalVertex, Piece<'a>)) {
        let main = &self.version().main;
        let changes = self.version().changes(self.delta_len(), None, |_| true);
        let mut changes = changes.into_iter().peekable();
        for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
            let range = main.range(local);
            let mut at = range.start;
            while let Some(change) = changes.next_if(|change| change.local == local) {
                let upto = main.lower_bound(at..range.end, change.dst, change.rank);
                f(local, Piece::Main(at..upto));
                at = upto;
                at += usize::from(at < range.end && main.item_key(at) == (change.dst, change.rank));
                if let Some((weight, row)) = change.state {
                    f(local, Piece::Changed(ItemRef { dst: change.dst, rank: change.rank, weight, row }));
                }
            }
            f(local, Piece::Main(at..range.end));
        }
    }

    /// Calls `f` with the edges of the main part in `range`, with the changes of patch and delta whose
    /// destination is `wanted`.
    fn for_each_merged(
        &self,
        local: LocalVertex,
        range: std::ops::Range<usize>,
        wanted: impl Fn(VertexId) -> bool,
        mut f: impl FnMut(ItemRef<'a>),
    ) {
        let main = &self.version().main;
        let mut at = range.start;
        let settled = self.delta_len() == 0 && self.version().patch.is_none();
        let changes =
            if settled { Vec::new() } else { self.version().changes(self.delta_len(), Some(local), wanted) };
        for change in changes {
            let upto = main.lower_bound(at..range.end, change.dst, change.rank);
            main.for_each_item(at..upto, &mut f);
            at = upto;
            at += usize::from(at < range.end && main.item_key(at) == (change.dst, change.rank));
            if let Some((weight, row)) = change.state {
                f(ItemRef { dst: change.dst, rank: change.rank, weight, row });
            }
        }
        main.for_each_item(at..range.end, f);
    }
}
