//! Ways through the graph, as kernels give them.

use hedgerow_core::VertexId;

use crate::pairs::are_close;

/// Paths, cycles or walks: the vertices of each in order, and a length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paths {
    /// The vertices of all paths, one path after another.
    vertices: Vec<VertexId>,
    /// The place in `vertices` where each path ends.
    ends: Vec<usize>,
    lengths: Vec<f64>,
    /// The number of paths found, which exceeds the number kept if a limit left some out.
    found: u64,
    /// True if the search ended at its limit and counted no further.
    is_stopped: bool,
}

impl Paths {
    /// Returns no paths.
    pub fn new() -> Paths {
        Paths::default()
    }

    /// Returns walks that follow each other in `vertices`. `lengths` has the number of vertices of each, one
    /// more than its steps.
    pub(crate) fn of_steps(vertices: Vec<VertexId>, lengths: Vec<usize>) -> Paths {
        let mut end = 0;
        let steps = lengths.iter().map(|&length| length.saturating_sub(1) as f64).collect();
        let ends: Vec<usize> = lengths
            .into_iter()
            .map(|length| {
                end += length;
                end
            })
            .collect();
        Paths { vertices, found: ends.len() as u64, ends, lengths: steps, is_stopped: false }
    }

    /// Adds a path and counts it.
    pub fn push(&mut self, vertices: &[VertexId], length: f64) {
        self.vertices.extend_from_slice(vertices);
        self.ends.push(self.vertices.len());
        self.lengths.push(length);
        self.found += 1;
    }

    /// Counts a path, and adds it if fewer than `limit` are stored.
    pub(crate) fn push_within(&mut self, vertices: &[VertexId], length: f64, limit: usize) {
        if self.len() < limit {
            self.push(vertices, length);
        } else {
            self.found += 1;
        }
    }

    /// Counts the paths of `more`, and adds them while fewer than `limit` are stored.
    pub(crate) fn append(&mut self, more: &Paths, limit: usize) {
        let found = self.found + more.found;
        more.iter().take(limit.saturating_sub(self.len())).for_each(|(path, length)| self.push(path, length));
        self.found = found;
    }

    /// Forgets the total if some paths were left out: the search ended at its limit, so the total is unknown.
    pub(crate) fn stopped(mut self) -> Paths {
        if self.more() {
            self.stop();
        }
        self
    }

    /// Records that there are other paths, which were not counted.
    pub(crate) fn stop(&mut self) {
        self.found = self.len() as u64 + 1;
        self.is_stopped = true;
    }

    /// Returns the number of paths that are here.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if no path is here.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of all paths, including those that a limit left out; `None` if the search ended at
    /// its limit.
    pub fn count(&self) -> Option<u64> {
        (!self.is_stopped).then_some(self.found)
    }

    /// True if a limit left out other paths.
    pub fn more(&self) -> bool {
        self.found > self.len() as u64
    }

    /// Returns the vertices of a path in order; none if there is no such path.
    pub fn path(&self, at: usize) -> &[VertexId] {
        let from = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(at).and_then(|&end| self.vertices.get(from..end)).unwrap_or(&[])
    }

    /// Iterates over all paths, each with its length.
    pub fn iter(&self) -> impl Iterator<Item = (&[VertexId], f64)> {
        self.lengths.iter().enumerate().map(|(at, &length)| (self.path(at), length))
    }

    /// Returns the vertices of all paths, one path after another.
    pub fn vertices(&self) -> &[VertexId] {
        &self.vertices
    }

    /// Returns the place where each path ends in [the vertices of all](Self::vertices).
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Returns the length of each path.
    pub fn lengths(&self) -> &[f64] {
        &self.lengths
    }

    /// True if both have the same number of paths, of the same lengths within a relative error, between the
    /// same ends.
    pub fn agrees_with(&self, other: &Paths, relative: f64) -> bool {
        let ends = |paths: &Paths, at| {
            let path = paths.path(at);
            (path.first().copied(), path.last().copied())
        };
        self.count() == other.count()
            && self.more() == other.more()
            && are_close(&self.lengths, &other.lengths, relative)
            && (0..self.len()).all(|at| ends(self, at) == ends(other, at))
    }
}

/// Returns the path from one root to the other. The arguments are the paths of both halves of a bidirectional
/// search from their meeting vertex back to their roots.
pub(crate) fn joined(mut to_source: Vec<VertexId>, to_target: Vec<VertexId>) -> Vec<VertexId> {
    to_source.reverse();
    to_source.extend(to_target.into_iter().skip(1));
    to_source
}

/// Returns the path from `v` back to the root of its search. `before` has the vertex before each vertex; a
/// root is before itself.
pub(crate) fn path_to_root(before: &[u32], mut v: VertexId) -> Vec<VertexId> {
    let mut path = vec![v];
    while before[v.index()] != v.0 {
        v = VertexId(before[v.index()]);
        path.push(v);
    }
    path
}
