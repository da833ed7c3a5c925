//! The forest of the edges so far, and the edges that wait to be joined with it.

use hedgerow_core::VertexId;

use crate::cancel::Cancel;

/// An edge, ordered by weight, then by its lesser end, then by its greater one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    /// The weight as a number that is ordered as weights are.
    order: u64,
    low: u32,
    high: u32,
}

const SIGN: u64 = 1 << 63;

impl Edge {
    pub(super) fn new(u: VertexId, v: VertexId, weight: f64) -> Edge {
        // The sum makes one zero of both.
        let bits = (weight + 0.0).to_bits();
        let order = if bits & SIGN == 0 { bits | SIGN } else { !bits };
        Edge { order, low: u.0.min(v.0), high: u.0.max(v.0) }
    }

    pub(super) fn weight(&self) -> f64 {
        f64::from_bits(if self.order & SIGN == 0 { !self.order } else { self.order & !SIGN })
    }

    pub(super) fn ends(&self) -> (VertexId, VertexId) {
        (VertexId(self.low), VertexId(self.high))
    }
}

/// Batches are of at least so many edges.
const LEAST_BATCH: usize = 1 << 16;

/// Edges for each vertex in a batch, those of the forest among them.
const EDGES_PER_VERTEX: usize = 4;

/// So many edges are sorted at once, between two polls.
const SORTED_TOGETHER: usize = 1 << 16;

/// Edges that are split or filtered between two polls.
const BETWEEN_POLLS: usize = Cancel::EDGES_BETWEEN_POLLS;

pub(super) struct Batch<'c> {
    /// The forest of all edges before, and edges that came after.
    edges: Vec<Edge>,
    /// With so many edges the batch is full.
    limit: usize,
    trees: Trees,
    cancel: &'c Cancel,
}

impl<'c> Batch<'c> {
    /// An empty batch for edges between ids below `vertex_bound`, about `edges` in all.
    pub(super) fn new(vertex_bound: usize, edges: u64, cancel: &'c Cancel) -> Batch<'c> {
        let limit = (vertex_bound * EDGES_PER_VERTEX).max(LEAST_BATCH);
        let room = usize::try_from(edges).map_or(limit, |edges| edges.min(limit));
        Batch { edges: Vec::with_capacity(room), limit, trees: Trees::new(vertex_bound), cancel }
    }

    /// Adds an edge. Of a full batch only the forest is kept first.
    pub(super) fn add(&mut self, edge: Edge) {
        if self.edges.len() == self.limit {
            self.reduce();
        }
        self.edges.push(edge);
    }

    /// The forest, lightest edge first. Once the flag is raised, anything.
    pub(super) fn into_forest(mut self) -> Vec<Edge> {
        self.reduce();
        self.edges
    }

    /// Keeps the edges of the forest, sorted, and drops all others.
    fn reduce(&mut self) {
        self.trees.clear();
        let mut parts = Vec::from_iter(std::iter::once(0..self.edges.len()));
        // The forest grows at the front; each part lies behind it, since no more edges are taken than were looked at.
        let mut taken = 0;
        while let Some(part) = parts.pop().filter(|_| !self.cancel.poll()) {
            let end = part.start + self.filter(part.clone());
            let part = part.start..end;
            if part.len() > SORTED_TOGETHER {
                let middle = part.start + split(&mut self.edges[part.clone()], self.cancel);
                parts.push(middle..part.end);
                parts.push(part.start..middle);
                continue;
            }
            hedgerow_par::sort_unstable(&mut self.edges[part.clone()]);
            for at in part {
                let edge = self.edges[at];
                if self.trees.join(edge.low, edge.high) {
                    self.edges[taken] = edge;
                    taken += 1;
                }
            }
        }
        self.edges.truncate(taken);
    }

    /// Moves the edges of a part whose ends are in two trees to its front; how many they are.
    fn filter(&mut self, part: std::ops::Range<usize>) -> usize {
        let edges = &mut self.edges[part];
        let mut kept = 0;
        for at in 0..edges.len() {
            if at % BETWEEN_POLLS == 0 && self.cancel.poll() {
                return 0;
            }
            let edge = edges[at];
            if self.trees.root(edge.low) != self.trees.root(edge.high) {
                edges[kept] = edge;
                kept += 1;
            }
        }
        kept
    }
}

/// Moves edges that are lighter than all others to the front; how many they are, neither none nor all. The edges are many.
fn split(edges: &mut [Edge], cancel: &Cancel) -> usize {
    const SAMPLES: usize = 63;
    let mut sample: Vec<Edge> = edges.iter().step_by(edges.len() / SAMPLES).copied().collect();
    sample.sort_unstable();
    let pivot = sample[sample.len() / 2];
    let (mut light, mut at_pivot) = (0, 0);
    for at in 0..edges.len() {
        if at % BETWEEN_POLLS == 0 && cancel.poll() {
            break;
        }
        if edges[at] < pivot {
            edges.swap(at, light);
            light += 1;
        } else if edges[at] == pivot {
            at_pivot = at;
        }
    }
    // Where none is lighter than the pivot, half of the sample is one repeated edge: once it is taken, the filter drops the others.
    if light == 0 {
        edges.swap(0, at_pivot);
        light = 1;
    }
    light
}

/// Which vertices the forest has joined: a parent for each, that of a root is itself.
struct Trees(Vec<u32>);

impl Trees {
    fn new(count: usize) -> Trees {
        Trees((0..count as u32).collect())
    }

    fn clear(&mut self) {
        (0..).zip(&mut self.0).for_each(|(v, parent)| *parent = v);
    }

    /// The root of the tree of `v`. Points vertices on the way farther up.
    #[inline]
    fn root(&mut self, mut v: u32) -> u32 {
        loop {
            let parent = self.0[v as usize];
            if parent == v {
                return v;
            }
            let above = self.0[parent as usize];
            self.0[v as usize] = above;
            v = above;
        }
    }

    /// Joins the trees of `u` and `v`; whether they were two.
    #[inline]
    fn join(&mut self, u: u32, v: u32) -> bool {
        let (u, v) = (self.root(u), self.root(v));
        // The lesser root stays: which one does changes the time alone.
        self.0[u.max(v) as usize] = u.min(v);
        u != v
    }
}
