//! Containers for comparison with the store. They implement the store's traits, so the same compiled kernels
//! run on all of them.
//!
//! The [CSR](hedgerow_workload::Csr) is the unit of every comparison. Each other container takes updates, and
//! the documentation of its module names its paper. `docs/design/lab.md` links to the page of each container,
//! with its parameters and its deviations from the paper. This is research code: the product never links it.
#![forbid(unsafe_code)]

pub mod adjlst;
pub mod aspen;
mod change;
mod clock;
mod error;
mod fixed;
mod flat;
pub mod forms;
pub mod livegraph;
pub mod llama;
pub mod lsmgraph;
mod merged;
mod planted;
pub mod rapidstore;
mod run;
mod runs;
pub mod sortledton;
pub mod teseo;
#[cfg(test)]
mod tests;

use hedgerow_core::Direction;

pub use adjlst::Adjlst;
pub use aspen::Aspen;
pub use error::LabError;
pub use fixed::{CsrGuard, StaticCsr};
pub use livegraph::LiveGraph;
pub use llama::Llama;
pub use lsmgraph::LsmGraph;
pub use rapidstore::RapidStore;
pub use sortledton::Sortledton;
pub use teseo::Teseo;

/// The form of the graph that a new container holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphForm {
    /// Whether edges have a direction. If so, each vertex has a list of incoming neighbours in addition to
    /// its list of outgoing ones.
    pub directed: bool,
    /// Whether edges have weights; if not, every weight is 1.
    pub weighted: bool,
}

impl GraphForm {
    /// Returns the directions in which lists are stored.
    fn directions(self) -> &'static [Direction] {
        if self.directed { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
    }

    /// Returns the direction of an edge's list at its other end; `direction` is the direction of its list at
    /// this end.
    fn mirrored(self, direction: Direction) -> Direction {
        match direction {
            Direction::Out if self.directed => Direction::In,
            _ => Direction::Out,
        }
    }

    /// Returns the direction of the stored list that serves `direction`.
    #[inline]
    fn kept(self, direction: Direction) -> Direction {
        if self.directed { direction } else { Direction::Out }
    }
}
