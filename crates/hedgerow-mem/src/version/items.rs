//! Reading edges with ranks and rows of a version.

use hedgerow_core::{InterpolationHint, LocalVertex, RowRef, SUBGRAPH_VERTICES, SubgraphId, VertexId};

use super::Read;
use crate::change;
use crate::items::ItemRef;
use crate::main_part::Main;
use crate::op::EdgeOp;

impl<'a> Read<'a> {
    /// The number of entries in all lists. O(delta).
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

    /// The number of edges from a vertex to itself, in the subgraph `id`. O(vertices log degree + loops + delta).
    pub fn self_loops(&self, id: SubgraphId) -> u64 {
        let main = &self.version().main;
        let of = |local| {
            let (range, v) = (main.range(local), id.vertex(local));
            let list = &main.neighbors[range];
            let from = list.partition_point(|&u| u < v);
            list[from..].partition_point(|&u| u == v) as u64
        };
        let mut settled: u64 = (0..SUBGRAPH_VERTICES as u8).map(|l| of(LocalVertex(l))).sum();
        if let Some(patch) = &self.version().patch {
            let has = |part: &Main, local| {
                u64::from(part.find(local, id.vertex(local), InterpolationHint::UNKNOWN).is_some())
            };
            for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                settled = settled + has(&patch.added, local) - has(&patch.removed, local);
            }
        }
        let entries = self.version().delta.entries(self.delta_len()).filter(|e| e.dst == id.vertex(e.local));
        entries.fold(settled, |sum, e| match e.op {
            EdgeOp::Insert => sum + 1,
            EdgeOp::Remove => sum.saturating_sub(1u64),
            EdgeOp::Update | EdgeOp::Vertex => sum,
        })
    }

    /// The edge with this destination and rank, if it exists. O(log degree + delta).
    pub fn item(&self, local: LocalVertex, dst: VertexId, rank: u64) -> Option<ItemRef<'a>> {
        let version = self.version();
        if version.patch.is_some() {
            let weight = self.edge(local, dst, InterpolationHint::UNKNOWN).filter(|_| rank == 0)?;
            return Some(ItemRef { dst, rank, weight, row: RowRef::Empty });
        }
        let (main, delta) = (&version.main, &version.delta);
        let mut last = None;
        delta.for_each_index_of(self.delta_len(), local, |i| {
            let found = delta.entry(i);
            let rank_of = delta.extra().map_or(0, |extra| extra.rank(i));
            if found.dst == dst && found.op != EdgeOp::Vertex && rank_of == rank {
                last = Some(i);
            }
        });
        match last.map(|i| delta.item(i)) {
            Some(item) if item.entry.op == EdgeOp::Remove => None,
            Some(item) => {
                let weight = if main.weights.is_some() { item.entry.weight } else { 1.0 };
                Some(ItemRef { dst, rank, weight, row: item.row.map_or(RowRef::Empty, RowRef::Row) })
            }
            None => main.find_item(local, dst, rank).map(|at| main.item_at(at)),
        }
    }

    /// Calls `f` with each edge to `dst`, ascending by rank. O(log degree + delta + edges to `dst`).
    pub fn for_each_item_to(&self, local: LocalVertex, dst: VertexId, mut f: impl FnMut(ItemRef<'a>)) {
        if self.version().is_ranked() {
            let main = &self.version().main;
            let (all, next) = (main.range(local), VertexId(dst.0.saturating_add(1)));
            let of_dst = main.lower_bound(all.clone(), dst, 0)..main.lower_bound(all, next, 0);
            self.for_each_merged(local, of_dst, |other| other == dst, f);
        } else if let Some(item) = self.item(local, dst, 0) {
            f(item);
        }
    }

    /// Calls `f` with each edge, ascending by destination and rank. O(degree + delta).
    pub fn for_each_item(&self, local: LocalVertex, mut f: impl FnMut(ItemRef<'a>)) {
        let version = self.version();
        if version.patch.is_some() {
            let row = RowRef::Empty;
            let mut item = |dst, weight| f(ItemRef { dst, rank: 0, weight, row });
            // By name of the trait: the two functions call each other, and types must not nest for ever.
            return self.for_each_neighbor(local, &mut item as &mut dyn FnMut(VertexId, f64));
        }
        self.for_each_merged(local, version.main.range(local), |_| true, f);
    }

    /// Calls `f` with the edges of the main part in `range`, under the entries of the delta whose destination is `wanted`.
    fn for_each_merged(
        &self,
        local: LocalVertex,
        range: std::ops::Range<usize>,
        wanted: impl Fn(VertexId) -> bool,
        mut f: impl FnMut(ItemRef<'a>),
    ) {
        let (main, delta) = (&self.version().main, &self.version().delta);
        let mut entries = Vec::new();
        delta.for_each_index_of(self.delta_len(), local, |i| {
            let item = delta.item(i);
            if wanted(item.entry.dst) {
                entries.push(item);
            }
        });
        let (changes, _) = change::reduce_items(entries.into_iter());
        let mut at = range.start;
        for change in &changes {
            let upto = main.lower_bound(at..range.end, change.dst, change.rank);
            (at..upto).for_each(|i| f(main.item_at(i)));
            at = upto;
            if at < range.end && main.item_key(at) == (change.dst, change.rank) {
                at += 1;
            }
            if let Some((weight, row)) = change.state {
                let weight = if main.weights.is_some() { weight } else { 1.0 };
                let row = row.map_or(RowRef::Empty, RowRef::Row);
                f(ItemRef { dst: change.dst, rank: change.rank, weight, row });
            }
        }
        (at..range.end).for_each(|i| f(main.item_at(i)));
    }
}
