//! Containers that the store is compared with, behind the same traits, so that the same compiled kernels run
//! on them.
//!
//! The [CSR](hedgerow_workload::Csr) is the unit of every comparison; the others are graphs that change, each
//! a folder that names its paper. `docs/design/lab.md` leads to the page of each, with its parameters and its
//! deviations from the paper. Research code: the product never links it.
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

/// What a container is created with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphForm {
    /// Whether edges have a direction: then a list of incoming neighbours is kept beside that of outgoing
    /// ones.
    pub directed: bool,
    /// Whether edges have weights; if not, all weigh 1.
    pub weighted: bool,
}

impl GraphForm {
    /// The directions in which lists are kept.
    fn directions(self) -> &'static [Direction] {
        if self.directed { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
    }

    /// In which list of its other end an edge stands that stands here in one of this direction.
    fn mirrored(self, direction: Direction) -> Direction {
        match direction {
            Direction::Out if self.directed => Direction::In,
            _ => Direction::Out,
        }
    }

    /// The direction in which lists of this one are kept.
    #[inline]
    fn kept(self, direction: Direction) -> Direction {
        if self.directed { direction } else { Direction::Out }
    }
}
