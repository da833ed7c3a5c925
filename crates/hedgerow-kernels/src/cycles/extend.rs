//! Ways that are extended depth first.

use hedgerow_core::{Direction, Topology, VertexId};

use crate::KernelError;
use crate::cancel::{Cancel, Meter};
use crate::paths::Paths;

/// The limits of all ways.
pub(super) struct Bounds<'a, G> {
    pub(super) g: &'a G,
    /// The vertex at which cycles begin and end.
    pub(super) source: VertexId,
    /// The least number of edges from each vertex back to the source; `u32::MAX` if the bound leaves no way
    /// back.
    pub(super) hops: &'a [u32],
    pub(super) length: u32,
    pub(super) direction: Direction,
    pub(super) cancel: &'a Cancel,
}

/// A way, and the cycles that it was extended to.
pub(super) struct Ways<'a, G> {
    bounds: &'a Bounds<'a, G>,
    path: Vec<VertexId>,
    limit: usize,
    /// True if the search continues past the limit, to count all cycles.
    counts_all: bool,
    pub(super) found: Paths,
    meter: Meter<'a>,
}

impl<'a, G: Topology> Ways<'a, G> {
    pub(super) fn new(
        bounds: &'a Bounds<'a, G>,
        path: Vec<VertexId>,
        limit: usize,
        counts_all: bool,
    ) -> Result<Self, KernelError<G::Error>> {
        let meter = bounds.cancel.meter().ok_or(KernelError::Cancelled)?;
        Ok(Ways { bounds, path, limit, counts_all, found: Paths::new(), meter })
    }

    /// Extends the way by each vertex that can follow, in ascending order, and each longer way likewise. The
    /// recursion is as deep as the longest cycle has edges.
    pub(super) fn extend(&mut self) -> Result<(), G::Error> {
        for v in self.next()? {
            if self.meter.is_over() || (self.found.more() && !self.counts_all) {
                break;
            }
            self.path.push(v);
            self.extend()?;
            self.path.pop();
        }
        Ok(())
    }

    /// Returns the vertices that can follow, ascending. Adds the way as a cycle if an edge leads from its end
    /// to its beginning.
    pub(super) fn next(&mut self) -> Result<Vec<VertexId>, G::Error> {
        let Bounds { g, source, hops, length, direction, .. } = *self.bounds;
        let Some(&last) = self.path.last() else { return Ok(Vec::new()) };
        let edges = self.path.len() as u32;
        let (mut next, mut closes) = (Vec::new(), false);
        let (path, meter) = (&self.path, &mut self.meter);
        if edges == length && edges > 1 {
            // Only the source can follow, and `hops` has its neighbours: the list need not be read.
            if hops[last.index()] == 1 && meter.spend(0) && self.is_told_this_way_round() {
                self.found.push_within(&self.path, f64::from(edges), self.limit);
            }
            return Ok(next);
        }
        g.visit([last], direction, |_, run| {
            meter.parts(run, |part| {
                for &v in part {
                    if v == source {
                        closes = true;
                    } else if hops[v.index()] <= length - edges && !path.contains(&v) {
                        next.push(v);
                    }
                }
            });
        })?;
        if closes && self.is_told_this_way_round() {
            self.found.push_within(&self.path, f64::from(edges), self.limit);
        }
        next.sort_unstable();
        next.dedup();
        Ok(next)
    }

    /// True if this way round the cycle counts: an undirected cycle is found in both ways round.
    fn is_told_this_way_round(&self) -> bool {
        match self.path[..] {
            [_] => true,
            [_, second, .., last] => self.bounds.g.is_directed() || second < last,
            // This way leads along an edge and back.
            _ => self.bounds.g.is_directed(),
        }
    }
}
