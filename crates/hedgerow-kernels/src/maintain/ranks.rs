//! PageRank, kept.
//!
//! **Result.** Scores at most `tolerance / (1 - damping)` from the fixed point, as the scores of [`pagerank`](crate::pagerank()) with that tolerance are; so the two differ by
//! at most twice that.
//!
//! **Trick.** Iterations converge to the same scores from any start, in fewer steps from a nearer one. A few changes move few scores far, so iterations start from the last scores;
//! new vertices start with 1/n.
//!
//! **Cited.** A. Langville, C. Meyer, *Updating Markov chains with an eye on Google's PageRank*, SIAM J. Matrix Anal. Appl. 2006, which compares this with more elaborate ways.
//!
//! **Cost.** O(vertices + edges) for each iteration that it takes. 8 bytes per id of the domain, and while it is updated what PageRank with a tolerance takes.

use hedgerow_core::{Changes, Resident};

use super::Maintained;
use crate::pagerank::pagerank_from;
use crate::{Cancel, KernelError, PageRankConfig};

/// PageRank scores, kept. See the [module](self).
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

    /// By vertex id, 0 for holes; they sum to 1.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }
}

impl Maintained for Ranks {
    fn from_scratch<G: Resident>(g: &G, cancel: &Cancel) -> Result<Self, KernelError> {
        Ranks::to_tolerance(g, PageRankConfig::DEFAULT.damping, Ranks::TOLERANCE, cancel)
    }

    fn update<G: Resident>(&mut self, g: &G, changes: &Changes, cancel: &Cancel) -> Result<(), KernelError> {
        if changes.is_empty() {
            self.scores.resize(g.vertex_bound(), 0.0);
        } else {
            self.scores = pagerank_from(g, &self.config, &self.scores, cancel)?;
        }
        cancel.check()
    }
}
