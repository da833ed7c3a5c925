//! Betweenness: how many shortest paths lead through each vertex.
//!
//! **Result.** For every vertex `v` the sum over pairs of other vertices `s`, `t` of the share of the shortest paths from `s` to
//! `t` that lead through `v`; 0 for holes. An undirected pair counts once. Not normalised: divide by `(n - 1)(n - 2)`, of
//! an undirected graph by half of that, for shares of all pairs. From a sample of `k` of `n` sources that have edges it is the sum over the
//! sampled `s`, times `n / k`: an estimate without bias. With a probability of 95 % that of one vertex is off by no more than `√(ln 40 / 2k)` of the largest
//! number that a vertex can have (Hoeffding; 0.17 of 64 sources). Of sources that are given, the sum over these.
//!
//! **Exact or not.** Without parameters a search starts from every source if sources times edges are at most [10⁹](crate::estimate::AFFORDABLE), else from 64.
//!
//! **Input.** Any graph; an edge counts one hop, whatever it weighs. Repeated edges are paths of their own. A directed graph is best
//! stored in both directions.
//!
//! **Trick.** What a source adds to all vertices takes one search and two passes over its levels (Brandes). Forth, a vertex has as many
//! shortest paths as its in-neighbours one level nearer together; back, a vertex `u` has `paths(u) · Σ share(v)` over the
//! out-neighbours `v` one level farther, where `share(v) = (1 + what v has) / paths(v)`. Who is one level nearer or farther
//! is usually asked edge by edge, or kept in a bitmap of edges. Here no one asks: the arrays `paths` and `share` hold 0 for all vertices of levels to
//! which a pass has not come, and an in-neighbour two levels nearer cannot be, else the vertex were nearer itself. So each
//! pass is a plain sum over whole lists, one random read an edge and no branch, as in PageRank. What a level comes to is written once
//! all of it is summed up. The search itself turns direction ([`bfs()`](crate::bfs())), so it reads few edges.
//!
//! **Determinism.** Every vertex sums up its own list in the order of the list, and sources follow each other: the same bits for any number of
//! threads.
//!
//! **Cited.** U. Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology 25(2), 2001;
//! U. Brandes, C. Pich, *Centrality estimation in large networks*, International Journal of Bifurcation and Chaos 17(7),
//! 2007, for the sample.
//!
//! **Cost.** O(vertices + edges) at most for each source, only what it reaches; 56 bytes per id of the domain at most.

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
        /// How many, 1 or more.
        count: u32,
        /// What decides which.
        seed: u64,
    },
    /// Every vertex if those with edges, times the edges, are at most [`AFFORDABLE`](crate::estimate::AFFORDABLE); else
    /// [`SAMPLES`](crate::estimate::SAMPLES) drawn at random.
    Affordable {
        /// What decides which.
        seed: u64,
    },
    /// These, each as often as it stands here; nothing is scaled.
    Given(Vec<VertexId>),
}

/// The sources that were chosen.
pub(crate) struct Chosen {
    pub(crate) sources: Vec<VertexId>,
    /// What a vertex counts for by their sum.
    pub(crate) scale: f64,
    /// Where the result is none of all sources.
    pub(crate) estimate: Option<Estimate>,
}

impl Sources {
    /// Chooses them in a graph. O(vertices), and where none are given a scan of the lists.
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

/// The betweenness of every vertex, indexed by vertex id; 0 for holes.
///
/// # Errors
/// [`KernelError::SourceNotLive`] for a source that is given; [`KernelError::OutOfRange`] for a sample of 0;
/// [`KernelError::TooManyPaths`] where more shortest paths than 1.8e308 lead somewhere; [`KernelError::TooManyVertices`];
/// [`KernelError::Topology`] if the graph cannot be read.
///
/// # Cost
/// O(vertices + edges) for each source; blocks the caller until all tasks are done.
pub fn betweenness<G: Topology>(g: &G, sources: &Sources) -> Result<Vec<f64>, KernelError<G::Error>> {
    betweenness_until(g, sources, &Cancel::new())
}

/// [`betweenness`], until `cancel` ends it.
///
/// # Errors
/// As [`betweenness`], and [`KernelError::Cancelled`].
pub fn betweenness_until<G: Topology>(
    g: &G,
    sources: &Sources,
    cancel: &Cancel,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    checked_bound::<G::Error>(g.vertex_bound())?;
    betweenness_from(g, &sources.choose(g, cancel)?, cancel)
}

/// As [`betweenness_until`], from sources that were chosen.
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
