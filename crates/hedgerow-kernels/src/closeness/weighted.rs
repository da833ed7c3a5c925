//! Closeness by weights: how near a vertex is to all that it reaches, with weights as lengths.
//!
//! **Result.** Like [`closeness()`](crate::closeness()), but a distance is the least sum of weights along a
//! path. Let a vertex `v` reach `r` of `n` live vertices, itself included, at distances that sum to `S`. Its
//! closeness is `(r - 1)/S · (r - 1)/(n - 1)`. It is 0 if `v` reaches no other, or if all that it reaches is
//! at distance 0, like in NetworkX; 0 for holes. Distances are from `v` along the edges, or against them with
//! [`Direction::In`], like NetworkX measures them in directed graphs.
//!
//! **A sample.** Like the sample of `closeness`: an estimate without bias and with the same bound. With
//! probability at least `1 - δ` the mean `S/m` of one vertex is off by at most `ε · D`, and the share `(r -
//! 1)/m` by at most `ε`. Here `D` is the largest distance between any two vertices that reach each other, now
//! a sum of weights, and `ε = √(ln(2/δ) / 2k)`. A few very heavy edges make `D` large, and the bound with it.
//!
//! **Input.** Any graph whose reachable edges have weights of 0 or more. An edge of infinite weight is never
//! crossed; a weight that is negative or not a number is refused. Without weights every edge weighs 1, and
//! [`closeness()`](crate::closeness()) gives the same result faster. The estimate searches against the
//! direction, so a directed graph is best stored in both directions.
//!
//! **Trick.** Only the trick of [`sssp()`](crate::sssp()), which runs from each given or sampled vertex, with
//! buckets that threads share. The distances of a search are added to each vertex, or summed up in parts of
//! fixed size.
//!
//! **Determinism.** Distances are the same for any number of threads. A vertex adds its distances in the
//! order of the sample. The sum of one search is added up by ranges of ids, in their order.
//!
//! **Cited.** D. Eppstein, J. Wang, *Fast Approximation of Centrality*, Journal of Graph Algorithms and
//! Applications 8(1), 2004, section 4; S. Wasserman, K. Faust, *Social Network Analysis*, 1994.
//!
//! **Cost.** A call of `sssp` for each given or sampled vertex, O(vertices) at least; 80 bytes per id of the
//! domain at most, if each vertex waits at most once at a time in that call.

use hedgerow_core::{Direction, WeightedTopology};
use rayon::prelude::*;

use super::{ClosenessOf, PARAMETERS, estimated, read, score, verify};
use crate::lengths::Weights;
use crate::par::{CHUNK_VERTICES, reverse};
use crate::registry::prelude::*;
use crate::sources::Chosen;
use crate::sssp::for_each_source;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "How near each vertex is to all that it reaches by the least sums of weights, exactly or by a sample",
    input: "any graph; weights that a search meets are 0 or more",
    reads_weights: true,
    parameters: PARAMETERS,
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "searches",
    cost: "a run of `sssp` for each sample or source",
    // A call of `sssp`, a count and a sum; the vertices at which searches begin.
    memory: Memory { provided: "vertices wait once at a time in `sssp`", ..Memory::per_id(80) },
    cited: "D. Eppstein, J. Wang, *Fast Approximation of Centrality*, Journal of Graph Algorithms and Applications 8(1), 2004; S. \
            Wasserman, K. Faust, *Social Network Analysis*, 1994",
    ..Kernel::named("wcloseness", "weighted_closeness")
};

functions!(
    Outcome::estimated,
    read,
    |g, (of, direction), cancel| estimated(g, &of, direction, cancel, (of_given, of_all)),
    verify::estimated(g, &of, direction, Weights)?
);

kernel! {
    /// Returns the closeness of every vertex by weights, indexed by vertex id; 0 for holes. Distances are
    /// from it along the edges, or against them.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`] for a vertex that is given; [`KernelError::OutOfRange`] for a sample of
    /// 0; [`KernelError::Weight`] if a search meets a weight below 0 or not a number;
    /// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); blocks the caller until all tasks are done.
    pub fn weighted_closeness, weighted_closeness_until<G: WeightedTopology>(
        g, of: &ClosenessOf, direction: Direction; cancel
    ) -> Vec<f64> {
        estimated(g, of, direction, cancel, (of_given, of_all)).map(|(scores, _)| scores)
    }
}

/// Computes closeness by searches from the given vertices.
fn of_given<G: WeightedTopology>(
    g: &G,
    given: &Chosen,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    let mut scores = vec![0.0; g.vertex_bound()];
    for_each_source(g, &given.vertices, direction, cancel, |v, distance| {
        let parts = hedgerow_par::map(distance.par_chunks(CHUNK_VERTICES), |part| {
            let reached = part.iter().filter(|far| far.is_finite());
            reached.fold((0.0, 0.0), |(count, sum), far| (count + 1.0, sum + far))
        });
        let (reached, sum) = parts.iter().fold((0.0, 0.0), |all, part| (all.0 + part.0, all.1 + part.1));
        scores[v.index()] = score(reached - 1.0, sum, g.vertex_count());
        Ok(())
    })?;
    Ok(scores)
}

/// Computes closeness by searches from the sampled vertices, against the direction. They find the distance
/// from each vertex to the sampled ones.
fn of_all<G: WeightedTopology>(
    g: &G,
    drawn: &Chosen,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    let bound = g.vertex_bound();
    let (mut reached, mut sums) = (vec![0u32; bound], vec![0.0f64; bound]);
    for_each_source(g, &drawn.vertices, reverse(direction), cancel, |_, distance| {
        let rows = reached.par_chunks_mut(CHUNK_VERTICES).zip(sums.par_chunks_mut(CHUNK_VERTICES));
        hedgerow_par::for_each(
            rows.zip(distance.par_chunks(CHUNK_VERTICES)),
            |((reached, sums), distance)| {
                for ((reached, sum), far) in reached.iter_mut().zip(sums).zip(distance) {
                    if far.is_finite() {
                        *reached += 1;
                        *sum += far;
                    }
                }
            },
        );
        Ok(())
    })?;
    // A search that begins at a vertex has found it.
    drawn.vertices.iter().for_each(|v| reached[v.index()] -= 1);
    let scale = drawn.scale();
    for (sum, &others) in sums.iter_mut().zip(&reached) {
        *sum = score(f64::from(others) * scale, *sum * scale, g.vertex_count());
    }
    Ok(sums)
}
