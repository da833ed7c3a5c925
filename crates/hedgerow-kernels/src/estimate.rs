//! Results that take a search from each vertex: exact by searches from all of them if that is affordable,
//! else estimated from a sample.

use std::ops::ControlFlow;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Topology, VertexId};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::random::sample_of;

/// The greatest product of vertices with edges and edges for which a kernel without `samples` is exact:
/// seconds on a processor.
pub const AFFORDABLE: u64 = 1_000_000_000;

/// The greatest product of vertices with edges and ids of the store for which a kernel without `samples` is
/// exact. A search clears an array of all ids, even if few of the ids have edges in the graph.
pub const AFFORDABLE_IDS: u64 = 10_000_000_000;

/// The searches of an estimate by default.
pub const SAMPLES: u32 = 64;

/// The extent of the sample of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The number of searches that the kernel made.
    pub samples: u64,
    /// The number of searches of an exact result: one from each vertex with edges.
    pub of: u64,
}

impl Estimate {
    /// Returns the greatest error of the number of one vertex, as a share of the largest number that it could
    /// have. The error is no larger with a probability of 95 %, by Hoeffding's inequality: 0.17 for 64
    /// searches, 0.043 for 1,000.
    pub fn bound(&self) -> f64 {
        const PROBABILITY: f64 = 0.05;
        ((2.0 / PROBABILITY).ln() / (2.0 * self.samples as f64)).sqrt()
    }
}

/// The number of each vertex, and the extent of the sample if the numbers are estimates.
pub(crate) type Estimated = (Vec<f64>, Option<Estimate>);

/// The number of vertices at which searches begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    All,
    Sampled {
        count: u32,
        seed: u64,
    },
    /// All vertices if [`AFFORDABLE`] and [`AFFORDABLE_IDS`] allow it, else [`SAMPLES`].
    Affordable {
        seed: u64,
    },
}

/// The vertices at which searches begin: those with edges, or some of them. A search from a vertex without
/// edges finds nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drawn {
    /// The vertices, ascending.
    pub(crate) vertices: Vec<VertexId>,
    of: usize,
}

impl Drawn {
    /// Draws among the vertices from which edges lead in `direction`. O(vertices), and a scan of the lists.
    pub(crate) fn new<G: Topology>(
        g: &G,
        direction: Direction,
        extent: Extent,
        cancel: &Cancel,
    ) -> Result<Drawn, KernelError<G::Error>> {
        let all = with_edges(g, direction, cancel)?;
        let of = all.len();
        let vertices = match extent {
            Extent::All => all,
            Extent::Sampled { count, seed } => sample_of(all, count as usize, seed),
            Extent::Affordable { seed } if faults::is_on(PlantedFault::EstimateNotReported) => {
                sample_of(all, 8, seed)
            }
            Extent::Affordable { .. } if is_affordable(of as u64, g) => all,
            Extent::Affordable { seed } => sample_of(all, SAMPLES as usize, seed),
        };
        Ok(Drawn { vertices, of })
    }

    /// Returns the factor by which sums over the searches are multiplied.
    pub(crate) fn scale(&self) -> f64 {
        self.of as f64 / self.vertices.len().max(1) as f64
    }

    /// Returns the extent of the sample; `None` if the result is exact.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        let (samples, of) = (self.vertices.len() as u64, self.of as u64);
        (samples < of && !faults::is_on(PlantedFault::EstimateNotReported))
            .then_some(Estimate { samples, of })
    }
}

fn is_affordable<G: Topology>(searches: u64, g: &G) -> bool {
    searches.saturating_mul(g.edge_count()) <= AFFORDABLE
        && searches.saturating_mul(g.vertex_bound() as u64) <= AFFORDABLE_IDS
}

fn with_edges<G: Topology>(
    g: &G,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Vec<VertexId>, KernelError<G::Error>> {
    let bound = g.vertex_bound().div_ceil(SUBGRAPH_VERTICES) as u32;
    let mut found = Vec::new();
    let scanned = g.scan(SubgraphId(0)..SubgraphId(bound), direction, |id, lists| {
        let locals = (0..SUBGRAPH_VERTICES as u8).map(LocalVertex).filter(|&local| lists.degree(local) > 0);
        found.extend(locals.map(|local| id.vertex(local)));
        // Polls once per page of subgraphs.
        let is_over = id.0 % 64 == 63 && cancel.poll();
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    scanned.map_err(KernelError::Topology)?;
    cancel.check()?;
    Ok(found)
}
