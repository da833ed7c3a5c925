//! Why a kernel gives no result.

use std::fmt;

use hedgerow_core::VertexId;

/// An argument that a kernel cannot work with, or the end that the caller asked for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum KernelError {
    /// The source of a search is not a live vertex of the graph.
    SourceNotLive {
        /// The source asked for.
        source: VertexId,
        /// One more than the largest id that could be live.
        vertex_bound: usize,
    },
    /// The damping factor is outside 0 to 1, or not a number.
    Damping {
        /// The damping asked for.
        damping: f64,
    },
    /// The tolerance is negative, infinite or not a number.
    Tolerance {
        /// The tolerance asked for.
        tolerance: f64,
    },
    /// A path from the source reaches an edge whose weight is below 0 or not a number.
    Weight {
        /// Where the edge begins, as the search follows it.
        from: VertexId,
        /// Where it ends.
        to: VertexId,
        /// Its weight.
        weight: f64,
    },
    /// The width of a bucket is not above 0, infinite or not a number.
    Delta {
        /// The width asked for.
        delta: f64,
    },
    /// The graph's domain does not fit 32-bit vertex ids.
    TooManyVertices {
        /// One more than the largest id that could be live.
        vertex_bound: usize,
    },
    /// The kernel was ended through its [`Cancel`](crate::Cancel). What it had computed is gone.
    Cancelled,
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelError::SourceNotLive { source, vertex_bound } => {
                write!(f, "source vertex {} is not live (ids end before {vertex_bound})", source.0)
            }
            KernelError::Damping { damping } => write!(f, "damping must be in 0..=1, found {damping}"),
            KernelError::Tolerance { tolerance } => {
                write!(f, "tolerance must be finite and not negative, found {tolerance}")
            }
            KernelError::Weight { from, to, weight } => {
                write!(f, "the edge from vertex {} to {} weighs {weight}, expected 0 or more", from.0, to.0)
            }
            KernelError::Delta { delta } => write!(f, "delta must be finite and above 0, found {delta}"),
            KernelError::TooManyVertices { vertex_bound } => {
                write!(f, "at most {} vertices fit 32-bit ids, found {vertex_bound}", u32::MAX)
            }
            KernelError::Cancelled => write!(f, "the kernel was cancelled"),
        }
    }
}

impl std::error::Error for KernelError {}

/// The domain's size, if every id below it is a valid vertex id.
pub(crate) fn checked_bound(vertex_bound: usize) -> Result<usize, KernelError> {
    if vertex_bound <= u32::MAX as usize {
        Ok(vertex_bound)
    } else {
        Err(KernelError::TooManyVertices { vertex_bound })
    }
}
