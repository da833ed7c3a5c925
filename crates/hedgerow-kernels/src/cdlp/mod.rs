//! Communities by labels that vertices take from their neighbours (CDLP).
//!
//! **Result.** The last label of every vertex, which is the id of a vertex;
//! [`NO_COMPONENT`](crate::NO_COMPONENT) for holes. At first each vertex has its own id. In each iteration
//! all vertices at once take the label that is most frequent among their neighbours. If several are, they
//! take the least. A vertex without neighbours keeps its own. This is the deterministic form that LDBC
//! Graphalytics defines (section 2.3.5 of its specification). In a bipartite component labels may alternate
//! without end, so the number of iterations is part of the definition.
//!
//! **Input.** Any graph. In a directed graph the label of a neighbour counts once for each edge from or to
//! the vertex: twice if edges lead both ways, and once for each repeated edge. A directed graph must be
//! stored in both directions. To get the labels of Graphalytics, number the vertices in the order of their
//! keys.
//!
//! **Trick.** In a real graph, most neighbours of most vertices soon agree. One pass over their labels finds
//! the only label that may have a majority (Boyer, Moore), and a second pass counts it. Without a majority
//! the labels are sorted. In the first iteration lists are sorted already, since each label is the id of its
//! neighbour. A vertex whose neighbours kept their labels keeps its own: once few labels change, only the
//! neighbours of a change are computed again.
//!
//! **Cited.** U. Raghavan, R. Albert, S. Kumara, *Near linear time algorithm to detect community structures
//! in large-scale networks*, Physical Review E 76, 036106, 2007; A. Iosup et al., *The LDBC Graphalytics
//! Benchmark*, version 1.0.3, for the form; R. Boyer, J. Moore, *MJRTY – A Fast Majority Vote
//! Algorithm*, 1991.
//!
//! **Cost.** O(vertices + edges) per iteration if labels agree, times log degree at worst; 9 bytes per id of
//! the domain, and the labels around one vertex in each thread.

use hedgerow_core::Topology;

use crate::error::checked_bound;
use crate::grouping::mark_holes;
use crate::registry::prelude::*;
use crate::watch::Watch;

mod frequent;
mod round;
pub mod verify;

use round::Round;

/// The number of iterations.
const ITERATIONS: Parameter = Parameter::count(
    "iterations",
    "The number of iterations; fewer are made only where no label changes any more",
    CountRange::POSITIVE,
    10,
);

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "Communities by labels that vertices take from most of their neighbors, all at once (CDLP)",
    input: "any graph; each edge from or to a vertex counts, of equally frequent labels the least is taken",
    parameters: &[ITERATIONS],
    result: ResultColumn { name: "label", kind: ResultKind::Labels },
    steps: "iterations",
    cost: "O(vertices + edges) per iteration, times log degree at worst",
    // Two labels and three bits; the vertices that changed; the labels around one vertex in each thread.
    memory: Memory { per_edge: 8, ..Memory::per_id(17) },
    cited: "U. Raghavan, R. Albert, S. Kumara, *Near linear time algorithm to detect community structures in large-scale \
            networks*, Physical Review E 76, 036106, 2007; A. Iosup et al., *The LDBC Graphalytics Benchmark*, version 1.0.3, 2020; \
            R. Boyer, J. Moore, *MJRTY – A Fast Majority Vote Algorithm*, 1991",
    ..Kernel::named("cdlp", "label_propagation")
};

functions!(
    Outcome::Labels,
    |given| given.count(&ITERATIONS),
    |g, iterations, cancel| label_propagation_until(g, iterations, cancel),
    verify::label_propagation(g, iterations)
);

kernel! {
    /// Returns the label of every vertex after `iterations`, 1 or more, indexed by vertex id;
    /// [`NO_COMPONENT`](crate::NO_COMPONENT) for holes.
    ///
    /// # Errors
    /// [`KernelError::OutOfRange`] for 0 iterations; [`KernelError::TooManyVertices`];
    /// [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); blocks the caller until all tasks are done.
    pub fn label_propagation, label_propagation_until<G: Topology>(g, iterations: u32; cancel) -> Vec<u32> {
        labels(g, iterations, cancel)
    }
}

fn labels<G: Topology>(g: &G, iterations: u32, cancel: &Cancel) -> Result<Vec<u32>, KernelError<G::Error>> {
    ITERATIONS.check_count(iterations)?;
    let vertex_bound = checked_bound(g.vertex_bound())?;
    hedgerow_par::run(|| {
        let mut labels: Vec<u32> = (0..vertex_bound as u32).collect();
        mark_holes(g, &mut labels, cancel);
        let mut round = Round { g, watch: Watch::new(cancel), labels, next: vec![0; vertex_bound] };
        let words = vertex_bound.div_ceil(64);
        // Vertices that may take another label, and vertices that took one.
        let (mut open, mut changed) = (vec![u64::MAX; words], vec![0; words]);
        cancel.begin(iterations.into());
        for iteration in 0..iterations {
            cancel.check()?;
            round.run(&open, &mut changed);
            round.watch.check()?;
            cancel.step(1);
            std::mem::swap(&mut round.labels, &mut round.next);
            if changed.iter().all(|&word| word == 0) {
                break;
            }
            if iteration + 1 < iterations {
                round.open_next(&changed, &mut open);
                round.watch.check()?;
            }
        }
        Ok(round.labels)
    })
}
