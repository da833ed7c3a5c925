//! The number of neighbors of each vertex, as a kept answer.

use hedgerow_core::{Changes, Direction, EdgeChangeKind, Resident, VertexId};

use super::Maintained;
use crate::degrees::vertex_degrees_until;
use crate::error::checked_bound;
use crate::{Cancel, KernelError};

/// Degrees by vertex id, 0 for holes. 4 bytes per id of the domain, 8 in a directed graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Degrees {
    out: Vec<u32>,
    /// The degrees against the edges; only in a directed graph.
    into: Option<Vec<u32>>,
}

impl Degrees {
    /// Returns the degrees in a direction; an undirected graph has the same in both.
    pub fn of(&self, direction: Direction) -> &[u32] {
        match (direction, &self.into) {
            (Direction::In, Some(into)) => into,
            _ => &self.out,
        }
    }
}

impl Maintained for Degrees {
    fn from_scratch<G: Resident>(g: &G, cancel: &Cancel) -> Result<Self, KernelError> {
        let in_direction = |direction| vertex_degrees_until(g, direction, cancel);
        let out = in_direction(Direction::Out)?;
        let into = if g.is_directed() { Some(in_direction(Direction::In)?) } else { None };
        Ok(Degrees { out, into })
    }

    fn update<G: Resident>(&mut self, g: &G, changes: &Changes, cancel: &Cancel) -> Result<(), KernelError> {
        let bound = checked_bound(g.vertex_bound())?;
        cancel.check()?;
        self.out.resize(bound, 0);
        self.into.iter_mut().for_each(|into| into.resize(bound, 0));
        let step = |degrees: &mut [u32], v: VertexId, kind| {
            if let Some(degree) = degrees.get_mut(v.index()) {
                match kind {
                    EdgeChangeKind::Inserted => *degree += 1,
                    EdgeChangeKind::Removed => *degree = degree.saturating_sub(1),
                    EdgeChangeKind::Reweighted => {}
                }
            }
        };
        for change in &changes.edges {
            step(&mut self.out, change.src, change.kind);
            self.into.iter_mut().for_each(|into| step(into, change.dst, change.kind));
        }
        Ok(())
    }
}
