//! A graph in memory, with the weights of its edges both ways.

use std::collections::HashMap;

use hedgerow_core::{VertexId, WeightedTopology};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::sssp::for_each_neighbor;

/// Rows of neighbours and weights; no edge joins a node with itself.
pub(super) struct Weighted {
    /// The beginning of each row, and the end of the last one.
    starts: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
    /// The weights of the edges at each node; edges within it count twice.
    pub(super) degree: Vec<f64>,
    /// The sum of the degrees.
    pub(super) total: f64,
}

impl Weighted {
    /// Returns a graph with a node for each id. Directions are ignored; repeated edges stay apart, so their
    /// weights add up.
    pub(super) fn of<G: WeightedTopology>(g: &G, cancel: &Cancel) -> Result<Self, KernelError<G::Error>> {
        let bound = g.vertex_bound();
        let mut starts = vec![0usize; bound + 1];
        let mut degree = vec![0.0; bound];
        let mut refused = None;
        for_each_edge(g, cancel, |u, v, weight| {
            if !(0.0..f64::INFINITY).contains(&weight) {
                refused = refused.or(Some((u, v, weight)));
            }
            degree[u.index()] += weight;
            if u == v || g.is_directed() {
                degree[v.index()] += weight;
            }
            if u != v {
                starts[u.index() + 1] += 1;
                starts[v.index() + 1] += usize::from(g.is_directed());
            }
        })?;
        match refused {
            Some((_, _, found)) if found == f64::INFINITY => {
                let range = "finite and not negative";
                return Err(KernelError::OutOfRange { parameter: "weight", range, found });
            }
            Some((from, to, weight)) => return Err(KernelError::Weight { from, to, weight }),
            None => {}
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut rows = Weighted {
            targets: vec![0; end],
            weights: vec![0.0; end],
            total: degree.iter().sum(),
            degree,
            starts,
        };
        // Each row is filled backwards: its entry in `starts` moves from the end of the row to its beginning.
        let mut put = |u: VertexId, v: VertexId, weight: f64| {
            let place = &mut rows.starts[u.index() + 1];
            *place -= 1;
            (rows.targets[*place], rows.weights[*place]) = (v.0, weight);
        };
        for_each_edge(g, cancel, |u, v, weight| {
            if u != v {
                put(u, v, weight);
                if g.is_directed() {
                    put(v, u, weight);
                }
            }
        })?;
        rows.starts.remove(0);
        rows.starts.push(end);
        Ok(rows)
    }

    /// Returns the number of nodes.
    pub(super) fn len(&self) -> usize {
        self.degree.len()
    }

    /// Returns the number of places in all rows.
    pub(super) fn places(&self) -> usize {
        self.targets.len()
    }

    /// Returns the number of places in a row.
    pub(super) fn row_len(&self, u: usize) -> usize {
        self.starts[u + 1] - self.starts[u]
    }

    /// Returns the neighbours of a node, each with a weight.
    pub(super) fn row(&self, u: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let places = self.starts[u]..self.starts[u + 1];
        let targets = self.targets[places.clone()].iter().map(|&v| v as usize);
        targets.zip(self.weights[places].iter().copied())
    }

    /// Returns a graph with a node for each of `count` groups.
    pub(super) fn joined(&self, group: &[u32], count: usize) -> Weighted {
        let members = by_group(group, count);
        let mut joined = Weighted {
            starts: vec![0],
            targets: Vec::new(),
            weights: Vec::new(),
            degree: vec![0.0; count],
            total: self.total,
        };
        let (mut sum, mut met) = (vec![0.0; count], Vec::new());
        for of_group in members.chunk_by(|&a, &b| group[a as usize] == group[b as usize]) {
            let own = group[of_group[0] as usize];
            for &u in of_group {
                joined.degree[own as usize] += self.degree[u as usize];
                for (v, weight) in self.row(u as usize).filter(|&(v, _)| group[v] != own) {
                    let slot = &mut sum[group[v] as usize];
                    if *slot == 0.0 {
                        met.push(group[v]);
                    }
                    *slot += weight;
                }
            }
            for other in met.drain(..) {
                joined.targets.push(other);
                joined.weights.push(std::mem::take(&mut sum[other as usize]));
            }
            joined.starts.push(joined.targets.len());
        }
        joined
    }

    /// Returns the modularity of these groups.
    pub(super) fn modularity(&self, group: &[u32], resolution: f64) -> f64 {
        if self.total == 0.0 {
            return 0.0;
        }
        // Labels that kernels give are below the number of nodes; other labels get a place when they are met.
        let mut places: HashMap<u32, usize> = HashMap::new();
        let mut degrees = vec![0.0; self.len()];
        let mut inside = 0.0;
        for (u, degree) in self.degree.iter().enumerate().filter(|(_, degree)| **degree > 0.0) {
            let place = match group[u] as usize {
                label if label < self.len() => label,
                _ => {
                    let next = self.len() + places.len();
                    *places.entry(group[u]).or_insert(next)
                }
            };
            if place == degrees.len() {
                degrees.push(0.0);
            }
            degrees[place] += degree;
            let across: f64 =
                self.row(u).filter(|&(v, _)| group[v] != group[u]).map(|(_, weight)| weight).sum();
            inside += degree - across;
        }
        let expected: f64 = degrees.iter().map(|sum: &f64| (sum / self.total).powi(2)).sum();
        inside / self.total - resolution * expected
    }
}

/// Returns the nodes, sorted by group. Groups are numbered below `count`.
fn by_group(group: &[u32], count: usize) -> Vec<u32> {
    let mut place = vec![0usize; count + 1];
    group.iter().for_each(|&group| place[group as usize + 1] += 1);
    (0..count).for_each(|at| place[at + 1] += place[at]);
    let mut nodes = vec![0; group.len()];
    for (u, &group) in (0..).zip(group) {
        nodes[place[group as usize]] = u;
        place[group as usize] += 1;
    }
    nodes
}

/// Calls `f` with each entry of the lists along the edges, vertex after vertex, each list sorted by neighbour
/// and weight. An undirected edge is in the lists of both ends. Sorting is needed since a list may arrive in
/// several runs, and in other runs when it is read from pages. Results that depend on the order of edges must
/// not depend on the runs.
fn for_each_edge<G: WeightedTopology>(
    g: &G,
    cancel: &Cancel,
    mut f: impl FnMut(VertexId, VertexId, f64),
) -> Result<(), KernelError<G::Error>> {
    let mut meter = cancel.meter().ok_or(KernelError::Cancelled)?;
    let all = (0..g.vertex_bound() as u32).map(VertexId);
    let mut list = List::default();
    let visited = g.visit_weighted(all, hedgerow_core::Direction::Out, |u, run, weights| {
        if list.of != Some(u) {
            list.give(&mut f);
            list.of = Some(u);
        }
        for_each_neighbor(run, weights, &mut meter, |v, weight| list.entries.push((v, weight)));
    });
    list.give(&mut f);
    visited.map_err(KernelError::Topology)?;
    cancel.check()
}

/// The entries of the list of a vertex that have been read so far.
#[derive(Default)]
struct List {
    of: Option<VertexId>,
    entries: Vec<(VertexId, f64)>,
}

impl List {
    /// Passes all entries in order to `f`, and empties the list.
    fn give(&mut self, f: &mut impl FnMut(VertexId, VertexId, f64)) {
        let order = |a: &(VertexId, f64), b: &(VertexId, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        if !self.entries.is_sorted_by(|a, b| order(a, b).is_le()) {
            self.entries.sort_unstable_by(order);
        }
        if let Some(u) = self.of {
            self.entries.drain(..).for_each(|(v, weight)| f(u, v, weight));
        }
    }
}
