//! PageRank, as a kept answer.
//!
//! **Result.** Scores at most `tolerance / (1 - damping)` from the fixed point, like the scores of
//! [`pagerank`](crate::pagerank()) with that tolerance. So both results differ by at most twice this bound.
//!
//! **Trick.** Iterations converge to the same scores from any start, in fewer steps from a nearer one. A few
//! changes move few scores far, so iterations start from the last scores; new vertices start with 1/n. Before
//! the first iteration, each vertex whose incoming list changed gets the score that it would have if its
//! neighbors gave the same as before.
//!
//! **Cited.** A. Langville, C. Meyer, *Updating Markov chains with an eye on Google's PageRank*, SIAM J.
//! Matrix Anal. Appl. 2006, which compares this method with more elaborate ones.
//!
//! **Cost.** O(vertices + edges) for each iteration that it takes. 8 bytes per id of the domain, and during
//! an update the memory of PageRank with a tolerance.

use hedgerow_core::{Changes, Direction, EdgeChange, EdgeChangeKind, Resident, VertexId};
use rayon::prelude::*;

use super::Maintained;
use crate::pagerank::pagerank_from;
use crate::{Cancel, KernelError, PageRankConfig};

/// The changed edges that a thread takes at once.
const EDGES_AT_ONCE: usize = 1024;
/// The least share of a score that a forecast leaves: it is a guess, and scores are positive.
const LEAST_LEFT: f64 = 0.125;

/// PageRank scores, as a kept answer. See the [module](self).
#[derive(Clone, Debug)]
pub struct Ranks {
    config: PageRankConfig,
    scores: Vec<f64>,
}

impl Ranks {
    /// The default tolerance: iterations end when one would change the scores by less than this in total.
    pub const TOLERANCE: f64 = 1e-6;
    const MOST_ITERATIONS: u32 = 200;

    /// Computes the scores of `g` to a tolerance.
    ///
    /// # Errors
    /// [`KernelError::OutOfRange`]; [`KernelError::TooManyVertices`]; [`KernelError::Cancelled`].
    pub fn to_tolerance<G: Resident>(
        g: &G,
        damping: f64,
        tolerance: f64,
        cancel: &Cancel,
    ) -> Result<Ranks, KernelError> {
        let config =
            PageRankConfig { damping, iterations: Ranks::MOST_ITERATIONS, tolerance: Some(tolerance) };
        let scores = crate::pagerank_until(g, &config, cancel)?;
        Ok(Ranks { config, scores })
    }

    /// Returns the scores by vertex id, 0 for holes; they sum to 1.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }
}

impl Ranks {
    /// Sets the score of each vertex whose incoming list changed to about the value of the formula, if its
    /// other neighbors give the same as before. O(changes).
    fn foresee<G: Resident>(&mut self, g: &G, changes: &Changes) {
        let (growths, damping) = (growths(changes), self.config.damping);
        let gives = |v: VertexId| {
            let growth = growths.binary_search_by_key(&v, |&(v, _)| v).map_or(0, |at| growths[at].1);
            // In an undirected graph a vertex gives each neighbor about the same as before: its score grows
            // with its list.
            let growth = if g.is_directed() { 0 } else { growth };
            let degree = g.degree(v, Direction::Out) as i64 - growth;
            self.scores.get(v.index()).map_or(0.0, |score| damping * score / degree.max(1) as f64)
        };
        let edges = changes.edges.par_iter().with_min_len(EDGES_AT_ONCE);
        let steps = hedgerow_par::fine::map(edges, |edge| growth_by(edge) as f64 * gives(edge.src));
        for (edge, step) in changes.edges.iter().zip(steps) {
            if let Some(score) = self.scores.get_mut(edge.dst.index()) {
                *score = (*score + step).max(*score * LEAST_LEFT);
            }
        }
    }
}

/// Returns the number of entries by which a change makes the list of the edge's source longer.
fn growth_by(edge: &EdgeChange) -> i64 {
    match edge.kind {
        EdgeChangeKind::Inserted => 1,
        EdgeChangeKind::Removed => -1,
        EdgeChangeKind::Reweighted => 0,
    }
}

/// Returns the growth of the outgoing lists of vertices, ascending by vertex.
fn growths(changes: &Changes) -> Vec<(VertexId, i64)> {
    let lists = changes.edges.chunk_by(|a, b| a.src == b.src);
    lists.filter_map(|list| Some((list.first()?.src, list.iter().map(growth_by).sum()))).collect()
}

impl Maintained for Ranks {
    fn from_scratch<G: Resident>(g: &G, cancel: &Cancel) -> Result<Self, KernelError> {
        Ranks::to_tolerance(g, PageRankConfig::DEFAULT.damping, Ranks::TOLERANCE, cancel)
    }

    fn update<G: Resident>(&mut self, g: &G, changes: &Changes, cancel: &Cancel) -> Result<(), KernelError> {
        if changes.is_empty() {
            self.scores.resize(g.vertex_bound(), 0.0);
        } else {
            self.foresee(g, changes);
            self.scores = pagerank_from(g, &self.config, &self.scores, cancel)?;
        }
        cancel.check()
    }
}
