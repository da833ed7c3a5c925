//! The forest of the edges so far, and the edges that wait to be joined with it.

use super::edge::Edge;
use super::trees::Trees;
use crate::cancel::Cancel;

/// The most batches that are filled at the same time.
pub(super) const MOST_BATCHES: usize = 2;

/// The least limit of a batch, in edges.
const LEAST_BATCH: usize = 1 << 16;

/// The number of edges per vertex in all batches, including the edges of the forests.
const EDGES_PER_VERTEX: usize = 4;

/// The lightest 1 / `LIGHT_PART` of the forest refuses other edges. If it were a smaller part, fewer edges
/// would have both ends in one of its trees; if a larger part, fewer edges would be heavier than all of it.
const LIGHT_PART: usize = 2;

/// The edges that are sorted at once, between two polls.
const SORTED_TOGETHER: usize = 1 << 16;

/// The edges that are split or filtered between two polls.
const BETWEEN_POLLS: usize = Cancel::EDGES_BETWEEN_POLLS;

pub(super) struct Batch<'c> {
    /// The forest of all earlier edges, and the edges added after it was made.
    edges: Vec<Edge>,
    /// The number of edges of a full batch.
    limit: usize,
    trees: Trees,
    /// The heaviest edge of the lighter half of the forest, whose trees are in `trees`; none before the first
    /// batch is full.
    light: Option<Edge>,
    cancel: &'c Cancel,
}

impl<'c> Batch<'c> {
    /// Returns an empty batch, one of `batches`, for edges between ids below `vertex_bound`. The graph has
    /// about `edges` edges.
    pub(super) fn new(vertex_bound: usize, edges: u64, batches: usize, cancel: &'c Cancel) -> Batch<'c> {
        let limit = (vertex_bound * EDGES_PER_VERTEX / batches).max(LEAST_BATCH);
        let room = usize::try_from(edges).map_or(limit, |edges| edges.min(limit));
        let trees = Trees::new(vertex_bound);
        Batch { edges: Vec::with_capacity(room), limit, trees, light: None, cancel }
    }

    /// Adds an edge, unless the forest is known not to need it. Reduces a full batch to its forest first.
    #[inline]
    pub(super) fn add(&mut self, edge: Edge) {
        if self.light.is_some_and(|light| edge > light) && self.trees.have_one_parent(edge.low, edge.high) {
            return;
        }
        if self.edges.len() == self.limit {
            self.reduce();
            self.remember_light();
        }
        self.edges.push(edge);
    }

    /// Returns the forest, lightest edge first. Once the flag is raised, the result has no meaning.
    pub(super) fn into_forest(mut self) -> Vec<Edge> {
        self.reduce();
        self.edges.shrink_to_fit();
        self.edges
    }

    /// Joins the trees of the lighter half of the forest, for later tests.
    fn remember_light(&mut self) {
        let light = &self.edges[..self.edges.len() / LIGHT_PART];
        self.light = light.last().copied();
        self.trees.clear();
        light.iter().for_each(|edge| _ = self.trees.join(edge.low, edge.high));
        self.trees.flatten();
    }

    /// Keeps the edges of the forest, sorted, and drops all others.
    fn reduce(&mut self) {
        self.trees.clear();
        let mut parts = Vec::from_iter(std::iter::once(0..self.edges.len()));
        // The forest grows at the front. Each unread part is behind it, since no more edges are taken than
        // were read.
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
            let light = &mut self.edges[part.clone()];
            // If each thread has a batch, none is idle to help with sorting.
            if hedgerow_par::threads() > MOST_BATCHES {
                hedgerow_par::sort_unstable(light);
            } else {
                light.sort_unstable();
            }
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

    /// Moves the edges of a part whose ends are in two trees to its front; returns their number.
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

/// Moves edges that are lighter than all others to the front; returns their number, neither 0 nor all. There
/// must be many edges.
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
    // If none is lighter than the pivot, half of the sample is one repeated edge. Once it is taken, the
    // filter drops the others.
    if light == 0 {
        edges.swap(0, at_pivot);
        light = 1;
    }
    light
}
