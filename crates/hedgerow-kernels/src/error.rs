//! The errors of kernels.

use std::convert::Infallible;
use std::fmt;

use hedgerow_core::{Topology, VertexId};

/// An argument that a kernel cannot work with, the cancellation that the caller asked for, or an error `E` of
/// the graph. A graph that is all in memory has no errors.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum KernelError<E = Infallible> {
    /// The source of a search is not a live vertex of the graph.
    SourceNotLive {
        /// The source.
        source: VertexId,
        /// One more than the largest id that could be live.
        vertex_bound: usize,
    },
    /// The target of a path is not a live vertex of the graph.
    TargetNotLive {
        /// The target.
        target: VertexId,
        /// One more than the largest id that could be live.
        vertex_bound: usize,
    },
    /// A number outside the range of its parameter, or not a number.
    OutOfRange {
        /// The parameter.
        parameter: &'static str,
        /// The range.
        range: &'static str,
        /// The number that was given.
        found: f64,
    },
    /// A required parameter was not given.
    MissingArgument {
        /// The parameter.
        parameter: &'static str,
    },
    /// A parameter was given a value of another type.
    ArgumentType {
        /// The parameter.
        parameter: &'static str,
        /// The type of the parameter.
        expected: &'static str,
    },
    /// A kernel has no such parameter.
    NoSuchParameter {
        /// The kernel.
        kernel: &'static str,
        /// The unknown name.
        parameter: String,
    },
    /// There is no such kernel.
    NoSuchKernel {
        /// The unknown name.
        name: String,
    },
    /// A path from the source reaches an edge whose weight is below 0 or not a number.
    Weight {
        /// The beginning of the edge, in the direction of the search.
        from: VertexId,
        /// Its end.
        to: VertexId,
        /// Its weight.
        weight: f64,
    },
    /// An edge has a weight that is infinite or not a number.
    NotFinite {
        /// The beginning of the edge.
        from: VertexId,
        /// Its end.
        to: VertexId,
        /// Its weight.
        weight: f64,
    },
    /// The kernel needs a bipartite graph, and this edge closes a cycle of odd length.
    NotBipartite {
        /// One end of the edge.
        from: VertexId,
        /// The other end.
        to: VertexId,
    },
    /// More shortest paths lead from a source to some vertex than an `f64` can count.
    TooManyPaths {
        /// The source.
        source: VertexId,
    },
    /// Edges that make a path no longer lead from a vertex back to it, so shortest paths cannot be counted.
    /// This is one of these edges: its weight is 0, or too little to change the length of a path that reaches
    /// it.
    Endless {
        /// The beginning of the edge.
        from: VertexId,
        /// Its end.
        to: VertexId,
        /// Its weight.
        weight: f64,
    },
    /// The weights of the edges from a vertex have a sum above 1.8e308, or below 2.3e-308 and not 0, so
    /// shares of it cannot be computed.
    WeightSum {
        /// The vertex.
        vertex: VertexId,
        /// The sum.
        sum: f64,
    },
    /// The graph's domain does not fit 32-bit vertex ids.
    TooManyVertices {
        /// One more than the largest id that could be live.
        vertex_bound: usize,
    },
    /// There is no memory for a result of the requested size.
    OutOfMemory {
        /// The size of the result.
        bytes: u64,
    },
    /// The kernel needs the whole graph in memory, but was given one that is read from files.
    NotResident {
        /// The kernel.
        kernel: &'static str,
    },
    /// The kernel was ended through its [`Cancel`](crate::Cancel). Its partial result is lost.
    Cancelled,
    /// The graph could not be read ([`Topology::Error`](hedgerow_core::Topology::Error)). The partial result
    /// of the kernel is lost.
    Topology(E),
}

impl<E> KernelError<E> {
    /// Converts the error of the graph by `f`; the other errors stay the same.
    ///
    /// # Errors
    /// Returns the error of `f`.
    pub fn try_map<O, R>(self, f: impl FnOnce(E) -> Result<O, R>) -> Result<KernelError<O>, R> {
        macro_rules! same {
            ($($kind:ident { $($field:ident),* })*) => {
                match self {
                    $(KernelError::$kind { $($field),* } => KernelError::$kind { $($field),* },)*
                    KernelError::Cancelled => KernelError::Cancelled,
                    KernelError::Topology(error) => KernelError::Topology(f(error)?),
                }
            };
        }
        Ok(same! {
            SourceNotLive { source, vertex_bound }
            TargetNotLive { target, vertex_bound }
            OutOfRange { parameter, range, found }
            MissingArgument { parameter }
            ArgumentType { parameter, expected }
            NoSuchParameter { kernel, parameter }
            NoSuchKernel { name }
            Weight { from, to, weight }
            NotFinite { from, to, weight }
            NotBipartite { from, to }
            TooManyPaths { source }
            Endless { from, to, weight }
            WeightSum { vertex, sum }
            TooManyVertices { vertex_bound }
            OutOfMemory { bytes }
            NotResident { kernel }
        })
    }

    /// Separates errors of the kernel, which it returns, from errors of the graph.
    ///
    /// # Errors
    /// Returns the error of the graph.
    pub fn split(self) -> Result<KernelError, E> {
        self.try_map(Err)
    }
}

impl KernelError {
    /// The text of messages about an edge that is [`Endless`](Self::Endless).
    pub const EXPECTED_OF_CYCLES: &'static str =
        "expected more than 0: it lies on a cycle of edges that add nothing to the length of a path";

    /// The range that messages give for a [`WeightSum`](Self::WeightSum).
    pub const EXPECTED_OF_SUMS: &'static str = "0 or a number in 2.3e-308..=1.8e308";

    /// Converts the error to the type for graphs that may have errors of their own.
    pub fn of_any<E>(self) -> KernelError<E> {
        match self.try_map(|never| match never {}) {
            Ok(error) => error,
            Err::<_, Infallible>(never) => match never {},
        }
    }
}

impl<E: fmt::Display> fmt::Display for KernelError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let edge =
            |f: &mut fmt::Formatter<'_>, from: &VertexId, to: &VertexId, weight: &f64, expected: &str| {
                write!(f, "the edge from vertex {} to {} weighs {weight}, {expected}", from.0, to.0)
            };
        match self {
            KernelError::SourceNotLive { source, vertex_bound } => {
                write!(f, "source vertex {} is not live (ids end before {vertex_bound})", source.0)
            }
            KernelError::TargetNotLive { target, vertex_bound } => {
                write!(f, "target vertex {} is not live (ids end before {vertex_bound})", target.0)
            }
            KernelError::OutOfRange { parameter, range, found } => {
                write!(f, "{parameter} must be {range}, found {found}")
            }
            KernelError::MissingArgument { parameter } => write!(f, "{parameter} must be given"),
            KernelError::ArgumentType { parameter, expected } => write!(f, "{parameter} must be {expected}"),
            KernelError::NoSuchParameter { kernel, parameter } => {
                write!(f, "{kernel} has no parameter {parameter:?}")
            }
            KernelError::NoSuchKernel { name } => write!(f, "there is no kernel {name:?}"),
            KernelError::Weight { from, to, weight } => edge(f, from, to, weight, "expected 0 or more"),
            KernelError::NotFinite { from, to, weight } => {
                edge(f, from, to, weight, "expected a finite number")
            }
            KernelError::NotBipartite { from: VertexId(from), to: VertexId(to) } => {
                write!(f, "the graph is not bipartite: ")?;
                write!(f, "the edge from vertex {from} to {to} closes a cycle of odd length")
            }
            KernelError::TooManyPaths { source } => {
                write!(f, "vertex {} has more than {:e} shortest paths to another", source.0, f64::MAX)
            }
            KernelError::Endless { from, to, weight } => {
                edge(f, from, to, weight, KernelError::EXPECTED_OF_CYCLES)
            }
            KernelError::WeightSum { vertex: VertexId(vertex), sum } => {
                let expected = KernelError::EXPECTED_OF_SUMS;
                write!(f, "the weights of the edges from vertex {vertex} sum to {sum:e}, expected {expected}")
            }
            KernelError::TooManyVertices { vertex_bound } => {
                write!(f, "at most {} vertices fit 32-bit ids, found {vertex_bound}", u32::MAX)
            }
            KernelError::OutOfMemory { bytes } => {
                write!(f, "there is no memory for a result of {bytes} bytes")
            }
            KernelError::NotResident { kernel } => {
                write!(f, "{kernel} needs all edges in memory at once, ")?;
                write!(f, "which the memory limit leaves no room for")
            }
            KernelError::Cancelled => write!(f, "the kernel was cancelled"),
            KernelError::Topology(error) => write!(f, "the graph could not be read: {error}"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for KernelError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let KernelError::Topology(error) = self { Some(error) } else { None }
    }
}

/// Returns the error of an edge whose weight is not finite or is below 0.
pub(crate) fn weight_error<E>(from: VertexId, to: VertexId, weight: f64) -> KernelError<E> {
    match weight == f64::INFINITY {
        true => KernelError::NotFinite { from, to, weight },
        false => KernelError::Weight { from, to, weight },
    }
}

fn is_live<G: Topology>(g: &G, v: VertexId) -> bool {
    v.index() < g.vertex_bound() && g.contains(v)
}

/// Checks that `source` is live.
pub(crate) fn check_source<G: Topology>(g: &G, source: VertexId) -> Result<(), KernelError<G::Error>> {
    let vertex_bound = g.vertex_bound();
    if is_live(g, source) { Ok(()) } else { Err(KernelError::SourceNotLive { source, vertex_bound }) }
}

/// Checks that `source` and `target` are live.
pub(crate) fn check_ends<G: Topology>(
    g: &G,
    source: VertexId,
    target: VertexId,
) -> Result<(), KernelError<G::Error>> {
    check_source(g, source)?;
    let vertex_bound = g.vertex_bound();
    if is_live(g, target) { Ok(()) } else { Err(KernelError::TargetNotLive { target, vertex_bound }) }
}

/// Returns the domain's size, if every id below it is a valid vertex id.
pub(crate) fn checked_bound<E>(vertex_bound: usize) -> Result<usize, KernelError<E>> {
    if vertex_bound <= u32::MAX as usize {
        Ok(vertex_bound)
    } else {
        Err(KernelError::TooManyVertices { vertex_bound })
    }
}
