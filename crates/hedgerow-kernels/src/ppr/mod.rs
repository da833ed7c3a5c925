//! Personalised PageRank: the frequency with which a random surfer who always jumps back to some vertices
//! visits each vertex.
//!
//! **Result.** A score for every id of the domain; those of live vertices sum to 1 (up to rounding), holes
//! have 0. The formula is that of [`pagerank()`](crate::pagerank()), except for the vertices at which the
//! surfer starts and to which it jumps. Let `p = 1/k` for each of `k` sources and 0 elsewhere. Scores start
//! at `p`, and in each iteration `score(v) = (1 - d + d · D) · p(v) + d · Σ score(u)/outdegree(u)` over
//! in-neighbours `u`. `D` is the score held by vertices without out-edges: from there the surfer goes back
//! too.
//!
//! **Input.** Any graph; an undirected edge counts as two directed ones. A directed graph must answer
//! in-neighbours. A source that is given twice counts once.
//!
//! **Trick.** The score of jumps goes to few vertices, and that along edges to all. So the pass over all
//! lists is that of PageRank with nothing to add, and the sources get their part after it.
//!
//! **With a tolerance** iterations end once one changes the scores by less than that in total. They are then
//! at most `tolerance · d / (1 - d)` from those to which more iterations lead. They are plain iterations:
//! PageRank's sweeps need a jump to all vertices.
//!
//! **Determinism.** Like PageRank: the same bits for any number of threads.
//!
//! **Cited.** T. Haveliwala, *Topic-Sensitive PageRank*, WWW 2002; L. Page, S. Brin, R. Motwani, T. Winograd, *The PageRank Citation
//! Ranking*, 1999.
//!
//! **Cost.** O(vertices + edges) per iteration; three scores per id of the domain.

use hedgerow_core::{Topology, VertexId};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::error::{check_source, checked_bound};
use crate::pagerank::{PageRankConfig, Ranking};

pub(crate) mod entry;
mod parameters;
pub mod verify;

/// Returns the personalised PageRank of every vertex for a surfer who starts at `sources`, indexed by vertex
/// id; 0 for holes.
///
/// # Errors
/// [`KernelError::SourceNotLive`]; [`KernelError::OutOfRange`] if there is no source, or for a damping or a tolerance out of range;
/// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
///
/// # Cost
/// O(vertices + edges) per iteration; blocks the caller until all tasks are done.
pub fn personalized_pagerank<G: Topology>(
    g: &G,
    sources: &[VertexId],
    config: &PageRankConfig,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    personalized_pagerank_until(g, sources, config, &Cancel::new())
}

/// Runs [`personalized_pagerank`] until `cancel` ends it.
///
/// # Errors
/// Those of [`personalized_pagerank`], and [`KernelError::Cancelled`].
pub fn personalized_pagerank_until<G: Topology>(
    g: &G,
    sources: &[VertexId],
    config: &PageRankConfig,
    cancel: &Cancel,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    config.check()?;
    let vertex_bound = checked_bound(g.vertex_bound())?;
    if sources.is_empty() {
        return Err(parameters::none_given());
    }
    sources.iter().try_for_each(|&source| check_source(g, source))?;
    let mut sources = sources.to_vec();
    sources.sort_unstable();
    sources.dedup();
    hedgerow_par::run(|| {
        let ranking = Ranking::new(g, vertex_bound, config.damping, cancel)?;
        cancel.begin(config.iterations.into());
        ranking.run_from(&sources, config.iterations, config.tolerance)
    })
}
