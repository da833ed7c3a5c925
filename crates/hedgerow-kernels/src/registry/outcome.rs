//! The results of kernels: a column over all vertices, a number, paths, or pairs of vertices.

use crate::estimate::{Estimate, Estimated};
use crate::grouping::Communities;
use crate::pairs::{Pairs, are_close};
use crate::paths::Paths;
use crate::verify::same_partition;
use crate::{NO_COMPONENT, NO_VERTEX};

/// Defines the results of kernels, and a kind for each.
macro_rules! outcomes {
    ($($(#[$doc:meta])* $kind:ident($of:ty),)*) => {
        /// The result of a kernel. Columns are indexed by vertex id.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Outcome {
            $($(#[$doc])* $kind($of),)*
            /// Scores that are estimated from a sample.
            Estimates(Vec<f64>, Estimate),
        }

        /// The kind of a kernel's result. Programs show results by their kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ResultKind {
            $(#[doc = concat!("That of [`Outcome::", stringify!($kind), "`].")] $kind,)*
        }

        impl Outcome {
            /// Returns the kind of the result.
            pub fn kind(&self) -> ResultKind {
                match self {
                    Outcome::Estimates(..) => ResultKind::Scores,
                    $(Outcome::$kind(_) => ResultKind::$kind,)*
                }
            }
        }
    };
}

outcomes! {
    /// The number of edges on the way to each vertex, [`UNREACHED`](crate::UNREACHED) if there is no way.
    Hops(Vec<u32>),
    /// The length of the way to each vertex, infinite if there is no way.
    Distances(Vec<f64>),
    /// A score for each vertex; 0 for holes.
    Scores(Vec<f64>),
    /// The least vertex of each vertex's group, [`NO_COMPONENT`](crate::NO_COMPONENT) for holes.
    Components(Vec<u32>),
    /// A number of things in the graph.
    Count(u64),
    /// Ways through the graph.
    Paths(Paths),
    /// Groups with many edges inside.
    Communities(Communities),
    /// The label of each vertex, which is the id of a vertex; [`NO_COMPONENT`](crate::NO_COMPONENT) for
    /// holes.
    Labels(Vec<u32>),
    /// A whole number for each vertex; 0 for holes.
    Numbers(Vec<u32>),
    /// Edges with their weights.
    Edges(Pairs),
    /// Vertices that are compared, with their scores.
    Pairs(Pairs),
    /// A vertex for each vertex, [`NO_VERTEX`](crate::NO_VERTEX) if there is none.
    Vertices(Vec<u32>),
    /// The mate of each vertex, [`NO_VERTEX`](crate::NO_VERTEX) if there is none.
    Mates(Vec<u32>),
}

/// The name and the kind of a kernel's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultColumn {
    /// The name of the column, or of the number.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: ResultKind,
}

impl ResultKind {
    /// True if there is a value for each vertex.
    pub fn is_per_vertex(self) -> bool {
        !matches!(self, ResultKind::Count | ResultKind::Paths | ResultKind::Edges | ResultKind::Pairs)
    }

    /// True if the result may have many rows, of which a summary shows the first.
    pub fn has_rows(self) -> bool {
        self != ResultKind::Count
    }

    /// Returns the type of the values, and the value that stands for none.
    pub fn text(self) -> &'static str {
        match self {
            ResultKind::Hops => "`u32` per vertex, the largest one where no path leads",
            ResultKind::Distances => "`f64` per vertex, infinite where no path leads",
            ResultKind::Scores => "`f64` per vertex",
            ResultKind::Components => "a vertex per vertex, the same for all of a component",
            ResultKind::Count => "one `u64`",
            ResultKind::Communities => {
                "a vertex per vertex, the same for all of a community; and their modularity"
            }
            ResultKind::Labels => "a vertex per vertex, the label that it ends with",
            ResultKind::Numbers => "`u32` per vertex",
            ResultKind::Edges => "edges, each with an `f64`",
            ResultKind::Pairs => "pairs of vertices, each with an `f64`",
            ResultKind::Vertices => "a vertex per vertex, or none",
            ResultKind::Mates => "a vertex per vertex, or none; those of a pair name each other",
            ResultKind::Paths => {
                "for each, its vertices in order and its length, an `f64`; whether there are more; and their number, a `u64`, if \
                 all were counted"
            }
        }
    }
}

impl Outcome {
    /// Returns scores, exact or estimated.
    pub(crate) fn estimated((scores, estimate): Estimated) -> Outcome {
        match estimate {
            None => Outcome::Scores(scores),
            Some(estimate) => Outcome::Estimates(scores, estimate),
        }
    }

    /// True if two results agree: scores within a relative error, components under any names, paths of the
    /// same lengths between the same ends. Communities agree if they have the same vertices and about the
    /// same modularity, mates if the number of pairs is the same; all other results must be equal.
    /// O(vertices).
    pub fn agrees_with(&self, other: &Outcome, relative: f64) -> bool {
        match (self, other) {
            (Outcome::Scores(a), Outcome::Scores(b)) => are_close(a, b, relative),
            (Outcome::Estimates(a, of_a), Outcome::Estimates(b, of_b)) => {
                of_a == of_b && are_close(a, b, relative)
            }
            (Outcome::Components(a), Outcome::Components(b)) => same_partition(a, b),
            (Outcome::Communities(a), Outcome::Communities(b)) => are_as_good(a, b),
            (Outcome::Paths(a), Outcome::Paths(b)) => a.agrees_with(b, relative),
            (Outcome::Edges(a), Outcome::Edges(b)) => a.agrees_with(b, relative),
            (Outcome::Pairs(a), Outcome::Pairs(b)) => a.agrees_with(b, relative),
            (Outcome::Mates(a), Outcome::Mates(b)) => a.len() == b.len() && have_mates(a) == have_mates(b),
            (a, b) => a == b,
        }
    }
}

/// Returns the number of vertices with a mate: several matchings have the same size.
fn have_mates(mates: &[u32]) -> usize {
    mates.iter().filter(|&&mate| mate != NO_VERTEX).count()
}

/// The greatest difference in modularity of communities that are found in another order.
const MODULARITY: f64 = 0.05;

/// True if both have the same vertices, and about the same modularity.
fn are_as_good(a: &Communities, b: &Communities) -> bool {
    let is_hole = |label: &u32| *label == NO_COMPONENT;
    let same_holes = a.labels.iter().map(is_hole).eq(b.labels.iter().map(is_hole));
    same_holes && (a.modularity - b.modularity).abs() <= MODULARITY
}
