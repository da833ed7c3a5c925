//! Rounds over a set of vertices that changes from round to round.

use hedgerow_core::{Direction, Topology, VertexId};
use rayon::prelude::*;

use crate::cancel::Meter;
use crate::par::{ahead, sort_if_read_together};
use crate::watch::Watch;

/// The least size of a frontier that threads share; the calling thread alone processes smaller ones.
const SEQUENTIAL: usize = 256;

/// The state that the rounds of a kernel share.
pub(crate) struct Rounds<'g, G: Topology> {
    pub(crate) g: &'g G,
    pub(crate) watch: Watch<'g, G::Error>,
}

impl<G: Topology> Rounds<'_, G> {
    /// Calls `f` with the runs of neighbours of each vertex of `frontier`, in parallel, and replaces
    /// `frontier` by the vertices that the calls push. Long runs are passed in parts. Once the flag is raised
    /// or a read has failed, no more runs are passed.
    pub(crate) fn next(
        &self,
        frontier: &mut Vec<VertexId>,
        directions: &[Direction],
        f: impl Fn(VertexId, &[VertexId], &mut Vec<VertexId>) + Sync,
    ) {
        sort_if_read_together::<G, _>(frontier);
        let part = |part: &[VertexId], found: &mut Vec<VertexId>| {
            for &direction in directions {
                let Some(mut meter) = self.watch.meter() else {
                    return;
                };
                self.visit(part, direction, &mut meter, |v, run| f(v, run, found));
            }
        };
        if frontier.len() < SEQUENTIAL {
            let mut found = Vec::new();
            frontier.chunks(G::VISITED_TOGETHER).for_each(|vertices| part(vertices, &mut found));
            *frontier = found;
            return;
        }
        let parts: Vec<Vec<VertexId>> =
            hedgerow_par::map(frontier.par_chunks(G::VISITED_TOGETHER), |vertices| {
                let mut found = Vec::new();
                part(vertices, &mut found);
                found
            });
        frontier.clear();
        frontier.reserve_exact(parts.iter().map(Vec::len).sum());
        parts.iter().for_each(|part| frontier.extend_from_slice(part));
    }

    fn visit(
        &self,
        part: &[VertexId],
        direction: Direction,
        meter: &mut Meter<'_>,
        mut f: impl FnMut(VertexId, &[VertexId]),
    ) {
        let vertices = ahead(self.g, part, direction);
        self.watch.note(self.g.visit(vertices, direction, |v, run| meter.parts(run, |part| f(v, part))));
    }
}

/// Returns the directions that together have all neighbours of a vertex.
pub(crate) fn all_ways<G: Topology>(g: &G) -> &'static [Direction] {
    if g.is_directed() { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
}
