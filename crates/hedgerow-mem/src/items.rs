//! Items beyond the plain edge: edges with a rank (of `multi` labels) and with property rows.
//!
//! A plain subgraph, one without ranks and rows, pays nothing for them: its main part has no [`Extra`], its delta no
//! [`DeltaExtra`], and [`merge`](crate::merge) serves it. Everything here works on both kinds. Lists of ranked edges
//! ascend by (neighbour, rank) and may name a neighbour several times.

use std::sync::OnceLock;

use hedgerow_core::column::Piece;
use hedgerow_core::sync::{AtomicU64, Ordering};
use hedgerow_core::{
    Columns, InterpolationHint, LocalVertex, Row, RowRef, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId,
};

use crate::arena::Arena;
use crate::delta::{Delta, EdgeOp, Entry};
use crate::main_part::{Main, Offsets};
use crate::subgraph::LocalOp;
use crate::version::Version;

/// What the edges of a main part have beside neighbour and weight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// The rank of each edge; absent if all are 0.
    pub ranks: Option<Box<[u64]>>,
    /// The properties.
    pub columns: Columns,
}

impl Extra {
    fn boxed(self) -> Option<Box<Extra>> {
        (self.ranks.is_some() || !self.columns.is_empty()).then(|| Box::new(self))
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<Extra>() + self.ranks.as_ref().map_or(0, |r| r.len() * 8) + self.columns.bytes()
    }
}

/// What the entries of a delta have beside destination and weight. Each array is allocated when the first entry needs
/// it. A place is written before its entry is published, and never again.
#[derive(Default)]
pub(crate) struct DeltaExtra {
    ranks: OnceLock<Box<[AtomicU64]>>,
    rows: OnceLock<Box<[OnceLock<Row>]>>,
}

impl DeltaExtra {
    /// Sets rank and row of the entry at `at`, which is not published yet.
    pub(crate) fn set(&self, at: usize, capacity: usize, rank: u64, row: Option<Row>) {
        if rank != 0 {
            let ranks = self.ranks.get_or_init(|| (0..capacity).map(|_| AtomicU64::new(0)).collect());
            // Ordered by the release store of the length that publishes the entry.
            ranks[at].store(rank, Ordering::Relaxed);
        }
        if let Some(row) = row {
            let rows = self.rows.get_or_init(|| (0..capacity).map(|_| OnceLock::new()).collect());
            let set = rows[at].set(row);
            debug_assert!(set.is_ok(), "an entry is written once");
        }
    }

    pub(crate) fn has_ranks(&self) -> bool {
        self.ranks.get().is_some()
    }

    #[inline]
    pub(crate) fn rank(&self, at: usize) -> u64 {
        self.ranks.get().and_then(|ranks| ranks.get(at)).map_or(0, |rank| rank.load(Ordering::Relaxed))
    }

    #[inline]
    pub(crate) fn row(&self, at: usize) -> Option<&Row> {
        self.rows.get()?.get(at)?.get()
    }

    pub(crate) fn bytes(&self) -> usize {
        let rows = self.rows.get().map_or(0, |rows| {
            let held = rows.iter().filter_map(OnceLock::get).map(Row::bytes);
            rows.len() * size_of::<OnceLock<Row>>() + held.sum::<usize>()
        });
        size_of::<DeltaExtra>() + self.ranks.get().map_or(0, |ranks| ranks.len() * 8) + rows
    }
}

/// An effective operation on one side of an edge with all that an edge can have.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemOp {
    /// The operation as on a plain edge.
    pub op: LocalOp,
    /// The rank; 0 unless the label is `multi`.
    pub rank: u64,
    /// All properties after the operation.
    pub row: Option<Row>,
}

/// One edge as it lies in a version.
#[derive(Clone, Copy, Debug)]
pub struct ItemRef<'a> {
    /// The other endpoint.
    pub dst: VertexId,
    /// The rank; 0 unless the label is `multi`.
    pub rank: u64,
    /// The weight; 1 in a graph without weights.
    pub weight: f64,
    /// The properties.
    pub row: RowRef<'a>,
}

/// A delta entry with rank and row.
pub(crate) struct ItemEntry<'a> {
    pub(crate) entry: Entry,
    pub(crate) rank: u64,
    pub(crate) row: Option<&'a Row>,
}

/// The final word of a set of changes about one edge: weight and row, or `None` if it is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemChange<'a> {
    pub(crate) local: LocalVertex,
    pub(crate) dst: VertexId,
    pub(crate) rank: u64,
    pub(crate) state: Option<(f64, Option<&'a Row>)>,
}

impl ItemChange<'_> {
    #[inline]
    fn key(&self) -> (u8, u32, u64) {
        (self.local.0, self.dst.0, self.rank)
    }
}

impl Delta {
    /// The first `n` entries with ranks and rows.
    pub(crate) fn items(&self, n: usize) -> impl Iterator<Item = ItemEntry<'_>> {
        (0..n).map(|i| self.item(i))
    }

    pub(crate) fn item(&self, i: usize) -> ItemEntry<'_> {
        let extra = self.extra();
        let (rank, row) = extra.map_or((0, None), |extra| (extra.rank(i), extra.row(i)));
        ItemEntry { entry: self.entry(i), rank, row }
    }
}

impl ItemOp {
    /// The operation as a delta entry of the commit `ts`.
    pub(crate) fn entry(&self, ts: Timestamp) -> ItemEntry<'_> {
        ItemEntry { entry: self.op.entry(ts), rank: self.rank, row: self.row.as_ref() }
    }
}

/// The changes of `entries`, which come in commit order: vertices inserted and removed, edges reduced to the last
/// word about each and sorted by vertex, destination and rank. O(n log n).
pub(crate) fn reduce<'a>(
    entries: impl Iterator<Item = ItemEntry<'a>>,
) -> (Vec<ItemChange<'a>>, Vec<(LocalVertex, bool)>) {
    let mut changes: Vec<ItemChange<'a>> = Vec::with_capacity(entries.size_hint().0);
    let mut vertices = Vec::new();
    for ItemEntry { entry, rank, row } in entries {
        let state = match entry.op {
            EdgeOp::Vertex => {
                vertices.push((entry.local, entry.dst.0 != 0));
                continue;
            }
            EdgeOp::Remove => None,
            EdgeOp::Insert | EdgeOp::Update => Some((entry.weight, row)),
        };
        changes.push(ItemChange { local: entry.local, dst: entry.dst, rank, state });
    }
    // Stable: of several about one edge the last stays last.
    changes.sort_by_key(ItemChange::key);
    changes.dedup_by(|later, kept| {
        let same = later.key() == kept.key();
        if same {
            *kept = *later;
        }
        same
    });
    (changes, vertices)
}

/// `main` with `changes` (sorted, one per edge) and `vertices` (in commit order) applied. O(edges + changes), column by
/// column.
pub(crate) fn apply(
    main: &Main,
    changes: &[ItemChange<'_>],
    vertices: &[(LocalVertex, bool)],
    weighted: bool,
    arena: &Arena,
) -> Main {
    let mut present = main.present;
    for &(local, inserted) in vertices {
        present = if inserted { present | local.bit() } else { present & !local.bit() };
    }
    let mut out = Assembly::default();
    let mut rest = changes;
    for i in 0..SUBGRAPH_VERTICES {
        let local = LocalVertex(i as u8);
        out.offsets.0[i] = out.len;
        let count = rest.iter().take_while(|c| c.local == local).count();
        let (of_vertex, others) = rest.split_at(count);
        rest = others;
        merge_list(main, local, of_vertex, &mut out);
    }
    out.offsets.0[SUBGRAPH_VERTICES] = out.len;
    out.finish(main, present, weighted, arena)
}

fn merge_list<'a>(main: &Main, local: LocalVertex, changes: &[ItemChange<'a>], out: &mut Assembly<'a>) {
    let range = main.range(local);
    let mut at = range.start;
    for change in changes {
        let upto = main.lower_bound(at..range.end, change.dst, change.rank);
        out.copy(at..upto);
        at = upto;
        if at < range.end && main.item_key(at) == (change.dst, change.rank) {
            at += 1;
        }
        if let Some((weight, row)) = change.state {
            out.push(New { dst: change.dst, rank: change.rank, weight, row });
        }
    }
    out.copy(at..range.end);
}

struct New<'a> {
    dst: VertexId,
    rank: u64,
    weight: f64,
    row: Option<&'a Row>,
}

enum Part<'a> {
    Copy(std::ops::Range<usize>),
    New(New<'a>),
}

/// What a new main part is made of, before its arrays are built one after another.
#[derive(Default)]
struct Assembly<'a> {
    offsets: Offsets,
    parts: Vec<Part<'a>>,
    len: u32,
}

impl<'a> Assembly<'a> {
    fn copy(&mut self, range: std::ops::Range<usize>) {
        self.len += range.len() as u32;
        match self.parts.last_mut() {
            _ if range.is_empty() => {}
            Some(Part::Copy(last)) if last.end == range.start => last.end = range.end,
            _ => self.parts.push(Part::Copy(range)),
        }
    }

    fn push(&mut self, new: New<'a>) {
        self.len += 1;
        self.parts.push(Part::New(new));
    }

    /// One array, from an old one and from the new edges.
    fn array<T: Copy>(&self, old: Option<&[T]>, missing: T, new: impl Fn(&New<'a>) -> T) -> Vec<T> {
        let mut array = Vec::with_capacity(self.len as usize);
        for part in &self.parts {
            match (part, old) {
                (Part::Copy(range), Some(old)) => array.extend_from_slice(&old[range.clone()]),
                (Part::Copy(range), None) => array.resize(array.len() + range.len(), missing),
                (Part::New(edge), _) => array.push(new(edge)),
            }
        }
        array
    }

    fn finish(self, main: &Main, present: u64, weighted: bool, arena: &Arena) -> Main {
        let neighbors = self.array(Some(&main.neighbors), VertexId(0), |new| new.dst);
        let weights = weighted.then(|| self.array(main.weights.as_deref(), 1.0, |new| new.weight));
        let ranked =
            main.ranks().is_some() || self.parts.iter().any(|p| matches!(p, Part::New(n) if n.rank != 0));
        let ranks = ranked.then(|| self.array(main.ranks(), 0, |new| new.rank).into_boxed_slice());
        let pieces: Vec<Piece<'_>> = self
            .parts
            .iter()
            .map(|part| match part {
                Part::Copy(range) => Piece::Copy(range.clone()),
                Part::New(new) => Piece::Row(new.row),
            })
            .collect();
        let none = Columns::default();
        let columns = main.extra.as_ref().map_or(&none, |extra| &extra.columns).assembled(&pieces);
        Main {
            present,
            offsets: self.offsets,
            neighbors: arena.copy(&neighbors),
            weights: weights.map(|weights| arena.copy(&weights)),
            extra: Extra { ranks, columns }.boxed(),
        }
    }
}

impl Main {
    /// As [`from_parts`](Main::from_parts), with ranks and properties. Lists ascend strictly by neighbour and rank.
    pub fn with_extra(
        present: u64,
        offsets: &[u32],
        neighbors: &[VertexId],
        weights: Option<&[f64]>,
        extra: Extra,
        arena: &Arena,
    ) -> Option<Main> {
        let len = neighbors.len();
        let fits = extra.columns.iter().all(|(_, column)| column.len() == len);
        let Some(ranks) = &extra.ranks else {
            let main = Main::from_parts(present, offsets, neighbors, weights, arena)?;
            return fits.then_some(Main { extra: extra.boxed(), ..main });
        };
        let offsets: [u32; SUBGRAPH_VERTICES + 1] = offsets.try_into().ok()?;
        let ends = offsets[0] == 0 && offsets[SUBGRAPH_VERTICES] as usize == len;
        let sized = ranks.len() == len && weights.is_none_or(|w| w.len() == len);
        if !fits || !ends || !sized || !offsets.is_sorted() {
            return None;
        }
        let ascends = |list: std::ops::Range<usize>| {
            let key = |at: usize| (neighbors[at], ranks[at]);
            list.clone().zip(list.skip(1)).all(|(a, b)| key(a) < key(b))
        };
        let sound = offsets.windows(2).all(|w| ascends(w[0] as usize..w[1] as usize));
        sound.then(|| Main {
            present,
            offsets: Offsets(offsets),
            neighbors: arena.copy(neighbors),
            weights: weights.map(|weights| arena.copy(weights)),
            extra: extra.boxed(),
        })
    }

    /// The ranks parallel to the edges; `None` if all are 0.
    #[inline]
    pub fn ranks(&self) -> Option<&[u64]> {
        self.extra.as_ref()?.ranks.as_deref()
    }

    /// The property columns parallel to the edges; `None` if no edge has properties.
    #[inline]
    pub fn columns(&self) -> Option<&Columns> {
        self.extra.as_ref().map(|extra| &extra.columns).filter(|columns| !columns.is_empty())
    }

    /// The bytes of ranks and properties.
    pub fn extra_bytes(&self) -> usize {
        self.extra.as_ref().map_or(0, |extra| extra.bytes())
    }

    #[inline]
    pub(crate) fn item_key(&self, at: usize) -> (VertexId, u64) {
        (self.neighbors[at], self.ranks().map_or(0, |ranks| ranks[at]))
    }

    /// The first position in `range` of an edge at or after (`dst`, `rank`). O(log length).
    pub(crate) fn lower_bound(&self, range: std::ops::Range<usize>, dst: VertexId, rank: u64) -> usize {
        let at = range.start + self.neighbors[range.clone()].partition_point(|&v| v < dst);
        match self.ranks() {
            None if rank > 0 && at < range.end && self.neighbors[at] == dst => at + 1,
            None => at,
            Some(ranks) => {
                let same = self.neighbors[at..range.end].partition_point(|&v| v == dst);
                at + ranks[at..at + same].partition_point(|&r| r < rank)
            }
        }
    }

    /// Where the edge stands among all edges. O(log degree).
    pub(crate) fn find_item(&self, local: LocalVertex, dst: VertexId, rank: u64) -> Option<usize> {
        let range = self.range(local);
        let at = self.lower_bound(range.clone(), dst, rank);
        (at < range.end && self.item_key(at) == (dst, rank)).then_some(at)
    }

    pub(crate) fn item_at(&self, at: usize) -> ItemRef<'_> {
        let (dst, rank) = self.item_key(at);
        let row = self.columns().map_or(RowRef::Empty, |columns| RowRef::Columns(columns, at));
        ItemRef { dst, rank, weight: self.weight_at(at), row }
    }
}

impl Version {
    /// Whether neither main part nor delta has ranks or rows.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.main.extra.is_none() && self.delta.extra().is_none()
    }
}

impl Version {
    /// Whether some edge has a rank.
    pub(crate) fn is_ranked(&self) -> bool {
        self.main.ranks().is_some() || self.delta.extra().is_some_and(DeltaExtra::has_ranks)
    }
}

impl<'a> crate::version::Read<'a> {
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
        let (changes, _) = reduce(entries.into_iter());
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

#[cfg(all(test, not(feature = "loom")))]
mod tests;
