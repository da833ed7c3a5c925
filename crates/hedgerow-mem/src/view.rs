//! The view: a snapshot laid out for whole-graph kernels.
//!
//! A view holds, per subgraph and direction, a reference to the version that the snapshot sees, and the visible delta
//! resolved into sorted corrections. Nothing of the main parts is copied. Cost to build: one pass over the subgraphs
//! plus O(n log n) in the visible delta entries.

use std::sync::Arc;

use hedgerow_core::{
    Direction, LocalVertex, Neighbors, SUBGRAPH_VERTICES, SubgraphId, Timestamp, Topology, VertexId,
};

use crate::merge;
use crate::subgraph::Subgraph;
use crate::version::Version;

/// A graph at one timestamp, ready for kernels.
pub struct View {
    directed: bool,
    vertex_bound: usize,
    vertex_count: usize,
    edge_count: u64,
    out: Vec<Part>,
    into: Vec<Part>,
}

/// One subgraph in one direction.
#[derive(Default)]
pub struct Part {
    version: Option<Arc<Version>>,
    resolved: Option<Box<Resolved>>,
}

/// The visible delta of a subgraph, as corrections of its main part.
struct Resolved {
    present: u64,
    /// Vertices with corrections of their neighbours.
    touched: u64,
    /// Vertices with edges whose weight differs from the main part's.
    reweighted: u64,
    added_at: [u16; SUBGRAPH_VERTICES + 1],
    removed_at: [u16; SUBGRAPH_VERTICES + 1],
    added: Box<[VertexId]>,
    added_weights: Box<[f64]>,
    removed: Box<[VertexId]>,
    /// (position in the main part, weight), ascending.
    updated: Box<[(u32, f64)]>,
}

impl Part {
    /// The part that a snapshot at `t` sees. The timestamp must be registered.
    pub fn build(subgraph: &Subgraph, direction: Direction, t: Timestamp) -> Part {
        let Some(version) = subgraph.version(direction, t) else { return Part::default() };
        let n = version.delta().visible(t);
        let resolved = (n > 0).then(|| Box::new(Resolved::new(&version, n)));
        Part { version: Some(version), resolved }
    }

    fn present(&self) -> u64 {
        match (&self.resolved, &self.version) {
            (Some(r), _) => r.present,
            (None, Some(v)) => v.main().present(),
            (None, None) => 0,
        }
    }

    fn edges(&self) -> usize {
        let Some(version) = &self.version else { return 0 };
        let (added, removed) = self.resolved.as_ref().map_or((0, 0), |r| (r.added.len(), r.removed.len()));
        version.main().edges().len() + added - removed
    }

    #[inline]
    fn neighbors(&self, local: LocalVertex) -> Neighbors<'_> {
        let Some(version) = &self.version else { return Neighbors::default() };
        let main = version.main.neighbors(local);
        match &self.resolved {
            Some(r) if r.touched & local.bit() != 0 => r.correct(main, local),
            _ => Neighbors::from_slice(main),
        }
    }

    fn for_each_weighted(&self, local: LocalVertex, mut f: impl FnMut(VertexId, f64)) {
        let Some(version) = &self.version else { return };
        let main = version.main();
        let Some(r) = self.resolved.as_deref().filter(|r| (r.touched | r.reweighted) & local.bit() != 0)
        else {
            return main.range(local).for_each(|at| f(main.edges()[at], main.weight_at(at)));
        };
        let i = local.index();
        let mut removed = &r.removed[r.removed_at[i] as usize..r.removed_at[i + 1] as usize];
        let mut added = r.added_at[i] as usize..r.added_at[i + 1] as usize;
        for at in main.range(local) {
            let v = main.edges()[at];
            if removed.first() == Some(&v) {
                removed = &removed[1..];
                continue;
            }
            while added.start < added.end && r.added[added.start] < v {
                f(r.added[added.start], r.added_weights[added.start]);
                added.start += 1;
            }
            let updated = r.updated.binary_search_by_key(&(at as u32), |u| u.0);
            f(v, updated.map_or_else(|_| main.weight_at(at), |u| r.updated[u].1));
        }
        added.for_each(|a| f(r.added[a], r.added_weights[a]));
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
        let removed = self.removed_at[i] as usize..self.removed_at[i + 1] as usize;
        Neighbors {
            main,
            added: self.added.get(added).unwrap_or(&[]),
            removed: self.removed.get(removed).unwrap_or(&[]),
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
        vertex_bound: usize,
        edge_count: u64,
        out: Vec<Part>,
        into: Vec<Part>,
    ) -> View {
        let vertex_count = out.iter().map(|p| p.present().count_ones() as usize).sum();
        View { directed, vertex_bound, vertex_count, edge_count, out, into }
    }

    #[inline]
    fn part(&self, subgraph: SubgraphId, direction: Direction) -> Option<&Part> {
        let parts = if self.directed && direction == Direction::In { &self.into } else { &self.out };
        parts.get(subgraph.index())
    }

    /// Calls `f` with each neighbour and weight (1 without weights), ascending.
    pub fn for_each_weighted(&self, v: VertexId, direction: Direction, f: impl FnMut(VertexId, f64)) {
        if let Some(part) = self.part(v.subgraph(), direction) {
            part.for_each_weighted(v.local(), f);
        }
    }

    /// The live vertices, ascending.
    pub fn vertices(&self) -> impl Iterator<Item = VertexId> + '_ {
        self.out.iter().enumerate().flat_map(|(s, part)| {
            let present = part.present();
            (0..SUBGRAPH_VERTICES as u8)
                .map(LocalVertex)
                .filter(move |l| present & l.bit() != 0)
                .map(move |l| SubgraphId(s as u32).vertex(l))
        })
    }

    /// The directed edges in the outgoing lists: twice the number of undirected edges less the self-loops.
    pub fn directed_edges(&self) -> u64 {
        self.out.iter().map(|p| p.edges() as u64).sum()
    }

    /// The bytes that the view itself holds (the versions it refers to are the store's).
    pub fn bytes(&self) -> usize {
        let parts = self.out.iter().chain(&self.into);
        parts.map(|p| size_of::<Part>() + p.resolved.as_ref().map_or(0, |r| r.bytes())).sum()
    }
}

impl Topology for View {
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
        self.part(v.subgraph(), Direction::Out).is_some_and(|p| p.present() & v.local().bit() != 0)
    }

    #[inline]
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        self.part(v.subgraph(), direction).map_or_else(Neighbors::default, |p| p.neighbors(v.local()))
    }
}
