//! The kernels that all engines run, and their answers.

use hedgerow_core::{GraphSnapshot, VertexId};
use hedgerow_kernels::{
    BfsConfig, PageRankConfig, SsspConfig, bfs, label_propagation, local_clustering, pagerank, sssp,
    triangle_count, wcc,
};

use crate::Result;

/// The number of iterations of PageRank and of label propagation.
pub const ITERATIONS: u32 = 10;
/// The tolerance of scores: each engine adds them up in a different order.
const RELATIVE: f64 = 1e-9;

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Breadth-first search: the number of hops.
    Bfs,
    /// PageRank.
    PageRank,
    /// Shortest paths by weights.
    Sssp,
    /// Weakly connected components.
    Wcc,
    /// The number of triangles.
    Triangles,
    /// Local clustering coefficients.
    Clustering,
    /// Communities by label propagation.
    Labels,
}

impl Kernel {
    /// All kernels.
    pub const ALL: [Kernel; 7] = [
        Kernel::Bfs,
        Kernel::PageRank,
        Kernel::Sssp,
        Kernel::Wcc,
        Kernel::Triangles,
        Kernel::Clustering,
        Kernel::Labels,
    ];

    /// Returns the name in figures.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Bfs => "bfs",
            Kernel::PageRank => "pr",
            Kernel::Sssp => "sssp",
            Kernel::Wcc => "wcc",
            Kernel::Triangles => "tc",
            Kernel::Clustering => "lcc",
            Kernel::Labels => "cdlp",
        }
    }

    /// True if the kernel searches from a source, and so runs from several.
    pub fn has_source(self) -> bool {
        matches!(self, Kernel::Bfs | Kernel::Sssp)
    }

    /// Runs the kernel on a snapshot. A search runs from each of the sources, and the answer is of the last
    /// one.
    pub(crate) fn run<S: GraphSnapshot>(self, snapshot: &S, sources: &[VertexId]) -> Result<Answer> {
        Ok(match self {
            Kernel::Bfs => {
                let mut hops = Vec::new();
                for &source in sources {
                    hops = bfs(snapshot, source, &BfsConfig::default())?;
                }
                Answer::Ids(hops)
            }
            Kernel::Sssp => {
                let mut distances = Vec::new();
                for &source in sources {
                    distances = sssp(snapshot, source, &SsspConfig::default())?;
                }
                Answer::Values(distances)
            }
            Kernel::PageRank => {
                let config = PageRankConfig { iterations: ITERATIONS, ..PageRankConfig::default() };
                Answer::Values(pagerank(snapshot, &config)?)
            }
            Kernel::Wcc => Answer::Ids(wcc(snapshot)?),
            Kernel::Triangles => Answer::Count(triangle_count(snapshot)?),
            Kernel::Clustering => Answer::Values(local_clustering(snapshot)?),
            Kernel::Labels => Answer::Ids(label_propagation(snapshot, ITERATIONS)?),
        })
    }
}

/// The answer of a kernel. It is the same on each engine, except for the last digits of scores.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A number for each vertex.
    Ids(Vec<u32>),
    /// A value for each vertex.
    Values(Vec<f64>),
    /// One number for the graph.
    Count(u64),
}

impl Answer {
    /// True if the answers are the same, except for the last digits of scores.
    pub fn agrees_with(&self, other: &Answer) -> bool {
        let close = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= RELATIVE * a.abs().max(b.abs());
        match (self, other) {
            (Answer::Values(mine), Answer::Values(others)) => {
                mine.len() == others.len() && mine.iter().zip(others).all(close)
            }
            _ => self == other,
        }
    }
}
