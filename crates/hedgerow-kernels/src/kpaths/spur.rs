//! The search from a spur.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hedgerow_core::{Direction, VertexId, WeightedTopology};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::path::weighted::lightest;
use crate::sssp::visit_edges;

/// A path and its length.
pub(super) struct Way {
    pub(super) vertices: Vec<VertexId>,
    pub(super) length: f64,
}

/// The beginning of a path, and the vertices that must not follow.
pub(super) struct Start<'a> {
    pub(super) vertices: &'a [VertexId],
    pub(super) length: f64,
    pub(super) closed: &'a [VertexId],
}

/// The state that all searches share.
pub(super) struct Spurs<'a, G> {
    g: &'a G,
    target: VertexId,
    direction: Direction,
    /// The distance of each vertex to the target.
    to_target: &'a [f64],
    /// The best length known of a way to each vertex; negative for vertices that are closed.
    distance: Vec<f64>,
    before: Vec<u32>,
    /// The vertices that the last search reached.
    reached: Vec<VertexId>,
    /// The open vertices, ordered by length plus distance to the target, then by length; both numbers as
    /// bits.
    open: BinaryHeap<Reverse<(u64, u64, u32)>>,
    cancel: &'a Cancel,
}

/// The distance of a vertex that is closed: no way to it is shorter.
const CLOSED: f64 = -1.0;

impl<'a, G: WeightedTopology> Spurs<'a, G> {
    pub(super) fn new(
        g: &'a G,
        target: VertexId,
        direction: Direction,
        to_target: &'a [f64],
        cancel: &'a Cancel,
    ) -> Self {
        Spurs {
            g,
            target,
            direction,
            to_target,
            distance: vec![f64::INFINITY; to_target.len()],
            before: vec![u32::MAX; to_target.len()],
            reached: Vec::new(),
            open: BinaryHeap::new(),
            cancel,
        }
    }

    /// Closes a vertex to searches.
    pub(super) fn block(&mut self, v: VertexId) {
        self.distance[v.index()] = CLOSED;
    }

    /// Opens a vertex to searches again.
    pub(super) fn unblock(&mut self, v: VertexId) {
        self.distance[v.index()] = f64::INFINITY;
    }

    /// Returns the least weight of the edges between two vertices.
    pub(super) fn lightest(&self, from: VertexId, to: VertexId) -> Result<f64, KernelError<G::Error>> {
        let mut meter = self.cancel.meter().ok_or(KernelError::Cancelled)?;
        lightest(self.g, (from, to), self.direction, &mut meter)
    }

    /// Returns the start, extended by the shortest way from its last vertex to the target. This way touches
    /// no blocked vertex, and its first edge leads to no vertex of `closed`.
    pub(super) fn search(&mut self, start: Start<'_>) -> Result<Option<Way>, KernelError<G::Error>> {
        let Some(&spur) = start.vertices.last() else { return Ok(None) };
        self.open.clear();
        self.offer(spur, spur, start.length);
        let found = self.walk(spur, start.closed)?;
        let way = found.then(|| {
            let mut behind = vec![self.target];
            let mut at = self.target;
            while at != spur {
                at = VertexId(self.before[at.index()]);
                behind.push(at);
            }
            behind.pop();
            let vertices = start.vertices.iter().copied().chain(behind.into_iter().rev()).collect();
            Way { vertices, length: self.distance[self.target.index()] }
        });
        for v in self.reached.drain(..) {
            self.distance[v.index()] = f64::INFINITY;
        }
        Ok(way)
    }

    /// Takes a way to a vertex if it is better than the known one and can lead to the target.
    fn offer(&mut self, v: VertexId, before: VertexId, length: f64) {
        let known = &mut self.distance[v.index()];
        let whole = length + self.to_target[v.index()];
        if length < *known && whole < f64::INFINITY {
            if *known == f64::INFINITY {
                self.reached.push(v);
            }
            *known = length;
            self.before[v.index()] = before.0;
            self.open.push(Reverse((whole.to_bits(), length.to_bits(), v.0)));
            if self.open.len() >= self.distance.len() * 3 / 2 + 1024 {
                let distance = &self.distance;
                self.open.retain(|&Reverse((_, bits, v))| distance[v as usize].to_bits() == bits);
            }
        }
    }

    /// Runs the search. True if it reached the target.
    fn walk(&mut self, spur: VertexId, closed: &[VertexId]) -> Result<bool, KernelError<G::Error>> {
        let mut meter = self.cancel.meter().ok_or(KernelError::Cancelled)?;
        while let Some(Reverse((_, bits, v))) = self.open.pop() {
            let (u, length) = (VertexId(v), f64::from_bits(bits));
            if length != self.distance[u.index()] {
                continue;
            }
            if u == self.target || meter.is_over() {
                return Ok(u == self.target);
            }
            let g = self.g;
            let visited = visit_edges(g, [u], self.direction, &mut meter, |_, v, weight| {
                // Edges from which the target can be reached have valid weights, since others were refused.
                // All other edges lead nowhere.
                if weight >= 0.0 && !(u == spur && closed.contains(&v)) {
                    self.offer(v, u, length + weight);
                }
            });
            visited.map_err(KernelError::Topology)?;
        }
        Ok(false)
    }
}
