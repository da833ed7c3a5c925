//! The outcome of applying operations of the log.

use hedgerow_catalog::error::Error;

use super::gathered::{Misfit, ReplayEntry};

pub(super) const NO_VERTEX: &str = "edge without a vertex";
pub(super) const NO_EDGE: &str = "edge removed that is not there";

/// The changes of the counts of the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) vertices: i64,
    pub(super) edges: i64,
}

/// The outcome of applying some subgraphs.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) tally: Tally,
    pub(super) misfit: Option<Misfit>,
    /// The first error of a read of edges that are not in memory.
    pub(super) failed: Option<Error>,
}

impl Outcome {
    pub(super) fn and(self, other: Outcome) -> Outcome {
        let misfit = self.misfit.into_iter().chain(other.misfit).min();
        let tally = Tally {
            vertices: self.tally.vertices + other.tally.vertices,
            edges: self.tally.edges + other.tally.edges,
        };
        Outcome { tally, misfit, failed: self.failed.or(other.failed) }
    }

    pub(super) fn note(&mut self, entry: &ReplayEntry, what: &'static str) {
        let misfit = Misfit { order: entry.order(), what };
        self.misfit = Some(self.misfit.map_or(misfit, |first| first.min(misfit)));
    }
}
