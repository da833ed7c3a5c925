//! The view: a snapshot laid out for whole-graph kernels.
//!
//! A view holds, per subgraph and direction, a reference to the version that the snapshot sees, and the visible delta
//! resolved into sorted corrections. Nothing of the main parts is copied. Cost to build: one pass over the subgraphs
//! plus O(n log n) in the visible delta entries.

use std::sync::Arc;

use hedgerow_core::{
    Block, Direction, LocalVertex, Neighbors, SUBGRAPH_VERTICES, SubgraphId, Timestamp, Topology, VertexId,
    WeightedBlock, WeightedNeighbors, WeightedTopology,
};

use crate::arena::Counted;
use crate::merge;
use crate::subgraph::Subgraph;
use crate::version::Version;

/// A graph at one timestamp, ready for kernels.
pub struct View {
    directed: bool,
    weighted: bool,
    vertex_bound: usize,
    vertex_count: usize,
    edge_count: u64,
    out: Side,
    into: Side,
}

/// One subgraph in one direction.
#[derive(Default)]
pub struct Part {
    version: Option<Arc<Version>>,
    lists: Lists,
}

/// All subgraphs in one direction, laid out so that a neighbour list is two steps away, as in a CSR: the offsets and
/// the reference to the lists are found by position, then the list itself.
#[derive(Default)]
struct Side {
    offsets: Vec<[u32; SUBGRAPH_VERTICES + 1]>,
    lists: Vec<Lists>,
    /// The vertices that exist.
    present: Vec<u64>,
    versions: Vec<Option<Arc<Version>>>,
}

/// The lists of a subgraph, and their corrections.
#[derive(Default)]
struct Lists {
    main: Counted<VertexId>,
    resolved: Option<Box<Resolved>>,
}

/// The visible delta of a subgraph, as corrections of its main part. What every access needs comes first.
#[repr(C)]
struct Resolved {
    /// Vertices with corrections of their neighbours.
    touched: u64,
    added: Box<[VertexId]>,
    removed: Box<[VertexId]>,
    present: u64,
    /// Vertices with edges whose weight differs from the main part's.
    reweighted: u64,
    added_at: [u16; SUBGRAPH_VERTICES + 1],
    removed_at: [u16; SUBGRAPH_VERTICES + 1],
    added_weights: Box<[f64]>,
    /// (position in the main part, weight), ascending.
    updated: Box<[(u32, f64)]>,
}

/// Offsets of a subgraph without edges.
static NO_LISTS: [u32; SUBGRAPH_VERTICES + 1] = [0; SUBGRAPH_VERTICES + 1];

/// The lists of one subgraph of a [`View`].
#[derive(Clone, Copy)]
pub struct ViewBlock<'a> {
    offsets: &'a [u32; SUBGRAPH_VERTICES + 1],
    main: &'a [VertexId],
    resolved: Option<&'a Resolved>,
    /// Vertices with corrections; nothing else of `resolved` is looked at for the others.
    touched: u64,
    /// Whether nothing is taken away from any list.
    intact: bool,
}

impl<'a> ViewBlock<'a> {
    #[inline]
    fn list(&self, local: LocalVertex) -> &'a [VertexId] {
        let i = local.index();
        self.main.get(self.offsets[i] as usize..self.offsets[i + 1] as usize).unwrap_or(&[])
    }
}

impl<'a> Block<'a> for ViewBlock<'a> {
    #[inline]
    fn neighbors(&self, local: LocalVertex) -> Neighbors<'a> {
        match self.resolved {
            Some(r) if self.touched & local.bit() != 0 => r.correct(self.list(local), local),
            _ => Neighbors::from_slice(self.list(local)),
        }
    }

    #[inline]
    fn main(&self, local: LocalVertex) -> Option<&'a [VertexId]> {
        self.intact.then(|| self.list(local))
    }
}

/// The lists and weights of one subgraph of a [`View`].
#[derive(Clone, Copy)]
pub struct WeightedViewBlock<'a> {
    block: ViewBlock<'a>,
    /// Parallel to the main lists; empty where all weigh 1.
    weights: &'a [f64],
}

impl<'a> WeightedBlock<'a> for WeightedViewBlock<'a> {
    #[inline]
    fn weighted_neighbors(&self, local: LocalVertex) -> WeightedNeighbors<'a> {
        let ViewBlock { offsets, resolved, .. } = self.block;
        let neighbors = self.block.neighbors(local);
        let i = local.index();
        let range = offsets[i] as usize..offsets[i + 1] as usize;
        let main = self.weights.get(range).unwrap_or(&[]);
        let plain = WeightedNeighbors { neighbors, main, ..WeightedNeighbors::default() };
        match resolved {
            Some(r) if (r.touched | r.reweighted) & local.bit() != 0 => {
                r.correct_weights(plain, offsets, local)
            }
            _ => plain,
        }
    }
}

impl Part {
    /// The part that a snapshot at `t` sees. The timestamp must be registered.
    pub fn build(subgraph: &Subgraph, direction: Direction, t: Timestamp) -> Part {
        let Some(version) = subgraph.version(direction, t) else { return Part::default() };
        let n = version.delta().visible(t);
        let resolved = (n > 0).then(|| Box::new(Resolved::new(&version, n)));
        let lists = Lists { main: version.main.neighbors.clone(), resolved };
        Part { version: Some(version), lists }
    }
}

impl Side {
    fn new(parts: Vec<Part>) -> Side {
        let mut side = Side {
            offsets: Vec::with_capacity(parts.len()),
            lists: Vec::with_capacity(parts.len()),
            present: Vec::with_capacity(parts.len()),
            versions: Vec::with_capacity(parts.len()),
        };
        for part in parts {
            let offsets = part.version.as_ref().map(|v| *v.main.offsets());
            side.offsets.push(offsets.unwrap_or([0; SUBGRAPH_VERTICES + 1]));
            let settled = part.version.as_ref().map_or(0, |v| v.main.present());
            side.present.push(part.lists.resolved.as_ref().map_or(settled, |r| r.present));
            side.lists.push(part.lists);
            side.versions.push(part.version);
        }
        side
    }

    #[inline]
    fn present(&self, subgraph: usize) -> u64 {
        self.present.get(subgraph).copied().unwrap_or(0)
    }

    fn edges(&self) -> u64 {
        let of = |l: &Lists| {
            let (added, removed) = l.resolved.as_ref().map_or((0, 0), |r| (r.added.len(), r.removed.len()));
            (l.main.len() + added - removed) as u64
        };
        self.lists.iter().map(of).sum()
    }

    #[inline]
    fn block(&self, subgraph: SubgraphId) -> ViewBlock<'_> {
        match (self.offsets.get(subgraph.index()), self.lists.get(subgraph.index())) {
            (Some(offsets), Some(lists)) => {
                let resolved = lists.resolved.as_deref();
                let (touched, intact) = resolved.map_or((0, true), |r| (r.touched, r.removed.is_empty()));
                ViewBlock { offsets, main: &lists.main, resolved, touched, intact }
            }
            _ => ViewBlock { offsets: &NO_LISTS, main: &[], resolved: None, touched: 0, intact: true },
        }
    }

    #[inline]
    fn weighted_block(&self, subgraph: SubgraphId) -> WeightedViewBlock<'_> {
        let version = self.versions.get(subgraph.index()).and_then(Option::as_ref);
        let weights = version.and_then(|v| v.main.weights()).unwrap_or(&[]);
        WeightedViewBlock { block: self.block(subgraph), weights }
    }

    fn bytes(&self) -> usize {
        let fixed = size_of::<[u32; SUBGRAPH_VERTICES + 1]>() + size_of::<Lists>() + 2 * size_of::<u64>();
        let resolved = self.lists.iter().filter_map(|l| l.resolved.as_ref()).map(|r| r.bytes());
        self.lists.len() * fixed + resolved.sum::<usize>()
    }
}

impl Resolved {
    fn new(version: &Version, n: usize) -> Resolved {
        let main = version.main();
        let (changes, vertices) = merge::reduce(version.delta().entries(n));
        let mut r = Corrections::default();
        let (mut added_at, mut removed_at) = ([0u16; SUBGRAPH_VERTICES + 1], [0u16; SUBGRAPH_VERTICES + 1]);
        for change in &changes {
            let bit = change.local.bit();
            match (main.find(change.local, change.dst), change.weight) {
                (None, Some(weight)) => {
                    r.added.push(change.dst);
                    r.added_weights.push(if main.weights.is_some() { weight } else { 1.0 });
                    added_at[change.local.index() + 1] += 1;
                    r.touched |= bit;
                }
                (Some(_), None) => {
                    r.removed.push(change.dst);
                    removed_at[change.local.index() + 1] += 1;
                    r.touched |= bit;
                }
                (Some(at), Some(weight)) if main.weights.is_some() => {
                    r.updated.push((at as u32, weight));
                    r.reweighted |= bit;
                }
                _ => {}
            }
        }
        for i in 0..SUBGRAPH_VERTICES {
            added_at[i + 1] += added_at[i];
            removed_at[i + 1] += removed_at[i];
        }
        let present = vertices.iter().fold(main.present(), |mask, &(local, inserted)| {
            if inserted { mask | local.bit() } else { mask & !local.bit() }
        });
        Resolved {
            present,
            touched: r.touched,
            reweighted: r.reweighted,
            added_at,
            removed_at,
            added: r.added.into(),
            added_weights: r.added_weights.into(),
            removed: r.removed.into(),
            updated: r.updated.into(),
        }
    }

    #[inline]
    fn correct<'a>(&'a self, main: &'a [VertexId], local: LocalVertex) -> Neighbors<'a> {
        let i = local.index();
        let added = self.added_at[i] as usize..self.added_at[i + 1] as usize;
        let added = self.added.get(added).unwrap_or(&[]);
        if self.removed.is_empty() {
            return Neighbors { main, added, removed: &[] };
        }
        let removed = self.removed_at[i] as usize..self.removed_at[i + 1] as usize;
        Neighbors { main, added, removed: self.removed.get(removed).unwrap_or(&[]) }
    }

    fn correct_weights<'a>(
        &'a self,
        plain: WeightedNeighbors<'a>,
        offsets: &[u32; SUBGRAPH_VERTICES + 1],
        local: LocalVertex,
    ) -> WeightedNeighbors<'a> {
        let i = local.index();
        let added = self.added_at[i] as usize..self.added_at[i + 1] as usize;
        let position = |end: u32| self.updated.partition_point(|u| u.0 < end);
        WeightedNeighbors {
            added: self.added_weights.get(added).unwrap_or(&[]),
            updated: self.updated.get(position(offsets[i])..position(offsets[i + 1])).unwrap_or(&[]),
            first: offsets[i],
            ..plain
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Resolved>() + self.added.len() * 12 + self.removed.len() * 4 + self.updated.len() * 16
    }
}

#[derive(Default)]
struct Corrections {
    touched: u64,
    reweighted: u64,
    added: Vec<VertexId>,
    added_weights: Vec<f64>,
    removed: Vec<VertexId>,
    updated: Vec<(u32, f64)>,
}

impl View {
    /// A view from the parts of all subgraphs in order; `into` is empty for an undirected graph. `vertex_bound` is
    /// one more than the largest vertex id that can be live, `edge_count` what the snapshot counts.
    pub fn new(
        directed: bool,
        weighted: bool,
        vertex_bound: usize,
        edge_count: u64,
        out: Vec<Part>,
        into: Vec<Part>,
    ) -> View {
        let (out, into) = (Side::new(out), Side::new(into));
        let vertex_count = (0..out.lists.len()).map(|s| out.present(s).count_ones() as usize).sum();
        View { directed, weighted, vertex_bound, vertex_count, edge_count, out, into }
    }

    #[inline]
    fn side(&self, direction: Direction) -> &Side {
        if self.directed && direction == Direction::In { &self.into } else { &self.out }
    }

    /// Calls `f` with each neighbour and weight (1 without weights), ascending.
    pub fn for_each_weighted(&self, v: VertexId, direction: Direction, f: impl FnMut(VertexId, f64)) {
        self.weighted_neighbors(v, direction).for_each_sorted(f);
    }

    /// The live vertices, ascending.
    pub fn vertices(&self) -> impl Iterator<Item = VertexId> + '_ {
        (0..self.out.lists.len()).flat_map(|s| {
            let present = self.out.present(s);
            (0..SUBGRAPH_VERTICES as u8)
                .map(LocalVertex)
                .filter(move |l| present & l.bit() != 0)
                .map(move |l| SubgraphId(s as u32).vertex(l))
        })
    }

    /// The directed edges in the outgoing lists: twice the number of undirected edges less the self-loops.
    pub fn directed_edges(&self) -> u64 {
        self.out.edges()
    }

    /// The bytes that the view itself holds (the versions it refers to are the store's).
    pub fn bytes(&self) -> usize {
        self.out.bytes() + self.into.bytes()
    }
}

impl Topology for View {
    type Block<'a> = ViewBlock<'a>;

    #[inline]
    fn block(&self, subgraph: SubgraphId, direction: Direction) -> ViewBlock<'_> {
        self.side(direction).block(subgraph)
    }

    fn vertex_bound(&self) -> usize {
        self.vertex_bound
    }

    fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    fn edge_count(&self) -> u64 {
        self.edge_count
    }

    fn is_directed(&self) -> bool {
        self.directed
    }

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        self.out.present(v.subgraph().index()) & v.local().bit() != 0
    }

    #[inline]
    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize {
        let i = v.local().index();
        let offsets = self.side(direction).offsets.get(v.subgraph().index());
        offsets.map_or(0, |offsets| (offsets[i + 1] - offsets[i]) as usize)
    }

    #[inline]
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        self.block(v.subgraph(), direction).neighbors(v.local())
    }
}

impl WeightedTopology for View {
    type WeightedBlock<'a> = WeightedViewBlock<'a>;

    #[inline]
    fn weighted_block(&self, subgraph: SubgraphId, direction: Direction) -> WeightedViewBlock<'_> {
        self.side(direction).weighted_block(subgraph)
    }

    fn has_weights(&self) -> bool {
        self.weighted
    }

    #[inline]
    fn weighted_neighbors(&self, v: VertexId, direction: Direction) -> WeightedNeighbors<'_> {
        self.weighted_block(v.subgraph(), direction).weighted_neighbors(v.local())
    }
}
