//! The component of one vertex, by a search in each direction.

use hedgerow_core::{Direction, Topology, VertexId};

use super::{Bits, Parts, Sets};
use crate::KernelError;

impl<G: Topology> Parts<'_, G> {
    /// Puts the open vertices that the pivot reaches, and that reach the pivot, into a component. Returns the
    /// set of open vertices that it reaches, and the set of open vertices that reach it.
    pub(super) fn around(&mut self, pivot: Option<VertexId>) -> Result<Sets, KernelError<G::Error>> {
        let Some(pivot) = pivot else { return Ok(Sets::none(self.components.len())) };
        let sets = Sets {
            reached: self.search(pivot, Direction::Out)?,
            reaching: self.search(pivot, Direction::In)?,
        };
        let common = || sets.reached.vertices().filter(|&v| sets.reaching.has(v));
        if let Some(least) = common().next() {
            for v in common() {
                self.open.clear(v);
                self.put(v, least.0);
            }
        }
        Ok(sets)
    }

    /// Returns the open vertices to which paths of open vertices lead from `source`.
    fn search(&mut self, source: VertexId, direction: Direction) -> Result<Bits, KernelError<G::Error>> {
        let found = Bits::new(self.components.len());
        found.set(source);
        let mut frontier = vec![source];
        while !frontier.is_empty() {
            self.rounds.next(&mut frontier, &[direction], |_, run, next| {
                next.extend(run.iter().filter(|&&u| !found.has(u) && self.open.has(u) && found.set(u)));
            });
            self.rounds.watch.check()?;
        }
        Ok(found)
    }
}
