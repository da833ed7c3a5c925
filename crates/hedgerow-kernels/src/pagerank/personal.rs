//! Personalised PageRank: the frequency with which a random surfer who always jumps back to some vertices
//! visits each vertex.
//!
//! **Result.** A score for every id of the domain; the scores of live vertices sum to 1 (up to rounding),
//! holes have 0. The formula differs from [`pagerank()`](crate::pagerank()) only in the vertices at which the
//! surfer starts and to which it jumps. Let `p = 1/k` for each of `k` sources and 0 elsewhere. Scores start
//! at `p`, and in each iteration `score(v) = (1 - d + d · D) · p(v) + d · Σ score(u)/outdegree(u)` over
//! in-neighbours `u`. `D` is the score held by vertices without out-edges: from these the surfer always jumps
//! back.
//!
//! **Input.** Any graph; an undirected edge counts as two directed ones. The lists of in-neighbours of a
//! directed graph must be stored. A source that is given twice counts once.
//!
//! **Trick.** Jumps give score to few vertices, edges to all. So the pass over all lists is the pass of
//! PageRank without the score of jumps, which the sources get after the pass.
//!
//! **With a tolerance** iterations end once one changes the scores by less than the tolerance in total. The
//! scores are then at most `tolerance · d / (1 - d)` from the limit of further iterations. The kernel has no
//! sweeps, since PageRank's sweeps need a jump to all vertices.
//!
//! **Determinism.** Like PageRank: the same bits for any number of threads.
//!
//! **Cited.** T. Haveliwala, *Topic-Sensitive PageRank*, WWW 2002; L. Page, S. Brin, R. Motwani, T. Winograd,
//! *The PageRank Citation Ranking*, 1999.
//!
//! **Cost.** O(vertices + edges) per iteration; three scores per id of the domain.

use hedgerow_core::{SUBGRAPH_VERTICES, Topology, VertexId};
use rayon::prelude::*;

use super::config::{JUMPS_BACK, PageRankConfig, checked, read_sources};
use super::{Ranking, Score, verify};
use crate::error::checked_bound;
use crate::par::CHUNK_VERTICES;
use crate::registry::prelude::*;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "PageRank scores of a surfer who jumps back to some vertices",
    input: "any graph; an undirected edge counts as two directed ones",
    parameters: JUMPS_BACK,
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "iterations",
    cost: "O(vertices + edges) per iteration",
    // Three arrays of scores, a bit, and a sum for each 1,024 vertices; the sources.
    memory: Memory::per_id(29),
    cited: "T. Haveliwala, *Topic-Sensitive PageRank*, WWW 2002; L. Page, S. Brin, R. Motwani, T. Winograd, *The \
            PageRank Citation Ranking*, 1999",
    ..Kernel::named("ppr", "personalized_pagerank")
};

// With a tolerance the kernel stops when the change is small enough; the verifier runs all iterations.
functions!(
    Outcome::Scores,
    read_sources,
    |g, (sources, config), cancel| personalized_pagerank_until(g, &sources, &config, cancel),
    verify::personalized_pagerank(g, &sources, config.damping, config.iterations)
);

kernel! {
    /// Returns the personalised PageRank of every vertex for a surfer who starts at `sources`, indexed by
    /// vertex id; 0 for holes.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`]; [`KernelError::OutOfRange`] if there is no source, or for a damping or
    /// a tolerance out of range; [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph
    /// cannot be read.
    ///
    /// # Cost
    /// O(vertices + edges) per iteration; blocks the caller until all tasks are done.
    pub fn personalized_pagerank, personalized_pagerank_until<G: Topology>(
        g, sources: &[VertexId], config: &PageRankConfig; cancel
    ) -> Vec<f64> {
        config.check()?;
        let vertex_bound = checked_bound(g.vertex_bound())?;
        let sources = checked(g, sources)?;
        hedgerow_par::run(|| {
            let ranking = Ranking::new(g, vertex_bound, config.damping, cancel)?;
            cancel.begin(config.iterations.into());
            ranking.run_from(&sources, config.iterations, config.tolerance)
        })
    }
}

impl<S: Score, G: Topology> Ranking<'_, S, G> {
    /// Runs `iterations`, or as many as a tolerance needs, for a surfer who starts at one of `sources` and
    /// jumps there. There is at least one, all are live, and none is repeated.
    fn run_from(
        mut self,
        sources: &[VertexId],
        iterations: u32,
        tolerance: Option<f64>,
    ) -> Result<Vec<S>, KernelError<G::Error>> {
        self.is_personal = true;
        let each = 1.0 / sources.len() as f64;
        self.given.fill(S::ZERO);
        for v in sources {
            self.given[v.index()] = if iterations == 0 { S::from_f64(each) } else { self.give(*v, each) };
        }
        self.dangling = sources.iter().filter(|&&v| self.is_sink(v)).count() as f64 * each;
        for iteration in 1..=iterations {
            let jump = ((1.0 - self.damping) + self.damping * self.dangling) * each;
            if tolerance.is_none() && iteration == iterations {
                self.iterate::<true>();
                sources.iter().for_each(|v| self.add(*v, S::from_f64(jump)));
            } else {
                self.iterate::<false>();
                sources.iter().for_each(|v| self.add(*v, self.give(*v, jump)));
                self.dangling += sources.iter().filter(|&&v| self.is_sink(v)).count() as f64 * jump;
            }
            self.watch.check()?;
            if let Some(tolerance) = tolerance
                && (iteration == iterations || self.change() < tolerance)
            {
                self.scores_of_given();
                break;
            }
        }
        Ok(self.given)
    }

    fn is_sink(&self, v: VertexId) -> bool {
        self.sinks[v.index() / SUBGRAPH_VERTICES] >> (v.index() % SUBGRAPH_VERTICES) & 1 != 0
    }

    /// Returns the share that a vertex with this score gives.
    fn give(&self, v: VertexId, score: f64) -> S {
        S::from_f64(score) * self.share[v.index()]
    }

    fn add(&mut self, v: VertexId, more: S) {
        let slot = &mut self.given[v.index()];
        *slot = *slot + more;
    }

    /// Returns the total change of the scores by the last iteration: summed chunk by chunk, so that it
    /// depends on no thread.
    fn change(&mut self) -> f64 {
        let rows = self.given.par_chunks(CHUNK_VERTICES).zip(self.next_given.par_chunks(CHUNK_VERTICES));
        let rows = rows.zip(self.share.par_chunks(CHUNK_VERTICES)).zip(self.partial.par_iter_mut());
        hedgerow_par::for_each(rows, |(((new, old), share), partial)| {
            let rows = new.iter().zip(old).zip(share).filter(|(_, share)| **share != S::ZERO);
            *partial = rows.map(|((&new, &old), &share)| (new - old).abs() / share.to_f64()).sum();
        });
        self.partial.iter().sum()
    }

    /// Replaces shares by scores.
    fn scores_of_given(&mut self) {
        let rows = self.given.par_chunks_mut(CHUNK_VERTICES).zip(self.share.par_chunks(CHUNK_VERTICES));
        hedgerow_par::for_each(rows, |(given, share)| {
            for (given, &share) in given.iter_mut().zip(share).filter(|(_, share)| **share != S::ZERO) {
                *given = S::from_f64(given.to_f64() / share.to_f64());
            }
        });
    }
}
