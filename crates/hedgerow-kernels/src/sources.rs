//! The vertices at which the searches of a kernel begin: all, a sample, or given ones.

use std::ops::ControlFlow;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Topology, VertexId};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::error::check_source;
use crate::estimate::{AFFORDABLE, AFFORDABLE_IDS, Estimate, SAMPLES};
use crate::par::reverse;
use crate::random::sample_of;
use crate::registry::{Absent, Arguments, CountRange, Parameter, ParameterKind};

/// The vertices at which the searches of a kernel begin. Vertices *with edges* are those from which edges
/// lead in the direction of the searches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sources {
    /// Every vertex with edges: the exact result.
    All,
    /// Vertices with edges, drawn at random: an estimate. If there are no more than `count`, the result is
    /// exact.
    Sampled {
        /// The number of vertices drawn, 1 or more.
        count: u32,
        /// The seed of the draw.
        seed: u64,
    },
    /// Every vertex with edges, if the number of these vertices times the number of edges is at most
    /// [`AFFORDABLE`]; else [`SAMPLES`] of these vertices, drawn at random.
    Affordable {
        /// The seed of the draw.
        seed: u64,
    },
    /// The given vertices, each as often as it is listed; nothing is estimated.
    Given(Vec<VertexId>),
}

/// The vertices that were chosen. A search from a vertex without edges finds nothing, so none is drawn.
pub(crate) struct Chosen {
    /// The vertices, ascending unless they are given.
    pub(crate) vertices: Vec<VertexId>,
    /// The number of vertices with edges; none if the vertices are given.
    of: Option<usize>,
}

impl Sources {
    /// Chooses among the vertices from which edges lead in `direction`. O(vertices), and a scan of the lists
    /// unless vertices are given.
    pub(crate) fn choose<G: Topology>(
        &self,
        g: &G,
        direction: Direction,
        cancel: &Cancel,
    ) -> Result<Chosen, KernelError<G::Error>> {
        match *self {
            Sources::Given(ref given) => {
                given.iter().try_for_each(|&source| check_source(g, source))?;
                return Ok(Chosen { vertices: given.clone(), of: None });
            }
            Sources::Sampled { count, .. } => samples("").check_count(count)?,
            Sources::All | Sources::Affordable { .. } => {}
        }
        let all = with_edges(g, direction, cancel)?;
        let of = Some(all.len());
        let vertices = match *self {
            Sources::Sampled { count, seed } => sample_of(all, count as usize, seed),
            Sources::Affordable { seed } if faults::is_on(PlantedFault::EstimateNotReported) => {
                sample_of(all, 8, seed)
            }
            Sources::Affordable { seed } if !is_affordable(all.len() as u64, g) => {
                sample_of(all, SAMPLES as usize, seed)
            }
            _ => all,
        };
        Ok(Chosen { vertices, of })
    }

    /// Returns the vertices to which a kernel measures distances against `direction`; none if vertices are
    /// given.
    ///
    /// # Errors
    /// [`KernelError::OutOfRange`]: a sample of no vertices. [`KernelError::SourceNotLive`]: a given vertex
    /// that is not live.
    pub fn sampled<G: Topology>(
        &self,
        g: &G,
        direction: Direction,
    ) -> Result<Vec<VertexId>, KernelError<G::Error>> {
        let chosen = self.choose(g, reverse(direction), &Cancel::new())?;
        Ok(if chosen.are_given() { Vec::new() } else { chosen.vertices })
    }

    /// Returns the vertices that the arguments choose by [`samples`], [`sources`] and the seed.
    pub(crate) fn read(arguments: &Arguments) -> Result<Sources, KernelError> {
        if let Some(given) = arguments.optional_vertices(&sources("", "")) {
            return Ok(Sources::Given(given));
        }
        let seed = u64::from(arguments.count(&Parameter::SEED)?);
        Ok(match arguments.optional_count(&samples("")) {
            Some(count) => Sources::Sampled { count, seed },
            None => Sources::Affordable { seed },
        })
    }
}

impl Chosen {
    /// True if the caller gave the vertices.
    pub(crate) fn are_given(&self) -> bool {
        self.of.is_none()
    }

    /// Returns the factor by which sums over the searches are multiplied.
    pub(crate) fn scale(&self) -> f64 {
        self.of.map_or(1.0, |of| of as f64 / self.vertices.len().max(1) as f64)
    }

    /// Returns the extent of the sample; `None` if the result is exact.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        let (samples, of) = (self.vertices.len() as u64, self.of? as u64);
        (samples < of && !faults::is_on(PlantedFault::EstimateNotReported))
            .then_some(Estimate { samples, of })
    }
}

/// Returns the parameter of the number of vertices that are drawn.
pub(crate) const fn samples(summary: &'static str) -> Parameter {
    Parameter::new(
        "samples",
        summary,
        ParameterKind::Count(CountRange::POSITIVE),
        Absent::Without(
            "all while vertices with edges, times edges, are at most 10^9, and times ids of the store 10^10; else 64",
        ),
    )
}

/// Returns the parameter of the given vertices.
pub(crate) const fn sources(summary: &'static str, absent: &'static str) -> Parameter {
    Parameter::vertices("sources", summary, Absent::Without(absent)).unreported()
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
