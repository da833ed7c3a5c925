//! Betweenness: how many shortest paths lead through each vertex.
//!
//! **Result.** For every vertex `v` the sum over pairs of other vertices `s`, `t` of the share of the
//! shortest paths from `s` to `t` that lead through `v`; 0 for holes. An undirected pair counts once. The
//! result is not normalised: for shares of all pairs divide by `(n - 1)(n - 2)`, in an undirected graph by
//! half of that. A sample of `k` of the `n` sources with edges gives the sum over the sampled `s`, times `n /
//! k`: an estimate without bias. With a probability of 95 % the estimate of one vertex is off by no more than
//! `√(ln 40 / 2k)` of the largest number that a vertex can have (Hoeffding; 0.17 for 64 sources). Given
//! sources give the sum over them.
//!
//! **Exact or not.** Without parameters a search starts from every source if sources times edges are at most
//! [10⁹](crate::estimate::AFFORDABLE), else from 64.
//!
//! **Input.** Any graph; an edge counts one hop, whatever its weight. Repeated edges are paths of their own.
//! A directed graph is best stored in both directions.
//!
//! **Trick.** One search and two passes over its levels give the contribution of a source to all vertices
//! (Brandes). On the way forth, a vertex has as many shortest paths as its in-neighbours one level nearer
//! have together. On the way back, the contribution to a vertex `u` is `paths(u) · Σ share(v)` over the
//! out-neighbours `v` one level farther, where `share(v) = (1 + contribution(v)) / paths(v)`. Usual programs
//! test for each edge if the neighbour is one level nearer or farther, or keep a bitmap of edges. Here no
//! test is needed: the arrays `paths` and `share` hold 0 for all vertices of levels that a pass has not
//! reached. An in-neighbour two levels nearer cannot exist, else the vertex would be nearer itself. So each
//! pass is a plain sum over whole lists, with one random read per edge and no branch, like in PageRank. The
//! sums of a level are written once all of them are complete. The search itself turns direction
//! ([`bfs()`](crate::bfs())), so it reads few edges.
//!
//! **Determinism.** Every vertex sums up its own list in the order of the list, and sources follow each
//! other: the same bits for any number of threads.
//!
//! **Cited.** U. Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology 25(2), 2001;
//! U. Brandes, C. Pich, *Centrality estimation in large networks*, International Journal of Bifurcation and Chaos 17(7),
//! 2007, for the sample.
//!
//! **Cost.** O(vertices + edges) at most for each source: a search reads only the part of the graph that it
//! reaches. 56 bytes per id of the domain at most.

use hedgerow_core::{Direction, Topology, VertexId};

use crate::KernelError;
use crate::bfs::{BfsConfig, Levels, Search};
use crate::cancel::Cancel;
use crate::error::{check_source, checked_bound};
use crate::estimate::{Drawn, Estimate, Extent};

pub(crate) mod entry;
pub(crate) mod numbers;
pub(crate) mod parameters;
mod passes;
pub mod verify;

use parameters::SAMPLES;
use passes::Passes;

/// The sources whose shortest paths are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sources {
    /// Every vertex: the exact result.
    All,
    /// Vertices with edges drawn at random, all if there are no more; the result is scaled up.
    Sampled {
        /// The number of sources, 1 or more.
        count: u32,
        /// The seed of the draw.
        seed: u64,
    },
    /// Every vertex if the number of vertices with edges, times the edges, is at most
    /// [`AFFORDABLE`](crate::estimate::AFFORDABLE); else [`SAMPLES`](crate::estimate::SAMPLES) of them drawn
    /// at random.
    Affordable {
        /// The seed of the draw.
        seed: u64,
    },
    /// These vertices, each as often as it is listed; nothing is scaled.
    Given(Vec<VertexId>),
}

/// The sources that were chosen.
pub(crate) struct Chosen {
    pub(crate) sources: Vec<VertexId>,
    /// The factor by which the sum over the sources is multiplied.
    pub(crate) scale: f64,
    /// The extent of the sample, if the sources are one.
    pub(crate) estimate: Option<Estimate>,
}

impl Sources {
    /// Chooses the sources in a graph. O(vertices), and a scan of the lists unless the sources are given.
    pub(crate) fn choose<G: Topology>(
        &self,
        g: &G,
        cancel: &Cancel,
    ) -> Result<Chosen, KernelError<G::Error>> {
        let each = if g.is_directed() { 1.0 } else { 0.5 };
        let extent = match *self {
            Sources::All => Extent::All,
            Sources::Sampled { count, seed } => {
                SAMPLES.check_count(count)?;
                Extent::Sampled { count, seed }
            }
            Sources::Affordable { seed } => Extent::Affordable { seed },
            Sources::Given(ref given) => {
                given.iter().try_for_each(|&source| check_source(g, source))?;
                return Ok(Chosen { sources: given.clone(), scale: each, estimate: None });
            }
        };
        let drawn = Drawn::new(g, Direction::Out, extent, cancel)?;
        let (scale, estimate) = (each * drawn.scale(), drawn.estimate());
        Ok(Chosen { sources: drawn.vertices, scale, estimate })
    }
}

/// Returns the betweenness of every vertex, indexed by vertex id; 0 for holes.
///
/// # Errors
/// [`KernelError::SourceNotLive`] for a source that is given; [`KernelError::OutOfRange`] for a sample of 0;
/// [`KernelError::TooManyPaths`] if more than 1.8e308 shortest paths lead to a vertex;
/// [`KernelError::TooManyVertices`];
/// [`KernelError::Topology`] if the graph cannot be read.
///
/// # Cost
/// O(vertices + edges) for each source; blocks the caller until all tasks are done.
pub fn betweenness<G: Topology>(g: &G, sources: &Sources) -> Result<Vec<f64>, KernelError<G::Error>> {
    betweenness_until(g, sources, &Cancel::new())
}

/// Runs [`betweenness`] until `cancel` ends it.
///
/// # Errors
/// Those of [`betweenness`], and [`KernelError::Cancelled`].
pub fn betweenness_until<G: Topology>(
    g: &G,
    sources: &Sources,
    cancel: &Cancel,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    checked_bound::<G::Error>(g.vertex_bound())?;
    betweenness_from(g, &sources.choose(g, cancel)?, cancel)
}

/// Like [`betweenness_until`], but from sources that were chosen.
pub(crate) fn betweenness_from<G: Topology>(
    g: &G,
    chosen: &Chosen,
    cancel: &Cancel,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    let vertex_bound = checked_bound(g.vertex_bound())?;
    let Chosen { sources, scale, .. } = chosen;
    hedgerow_par::run(|| {
        let mut search = Search::new(g, vertex_bound, &BfsConfig::default(), cancel);
        let mut levels = Levels::new(g.vertex_count());
        let mut passes = Passes::new(g, vertex_bound, cancel);
        cancel.check()?;
        cancel.begin(sources.len() as u64);
        for &source in sources {
            search.run(source, Some(&mut levels));
            search.check()?;
            passes.add(source, &levels)?;
            search.restart(levels.all());
            levels.clear();
            cancel.step(1);
        }
        drop((search, levels));
        Ok(passes.into_scores(*scale))
    })
}
