//! Strongly connected components: sets of vertices that paths join in both directions.
//!
//! **Result.** For every id of the domain the least vertex id of its component;
//! [`NO_COMPONENT`] for holes. Two vertices are in one component if a path leads from
//! each to the other. In an undirected graph these are the components of [`wcc()`](crate::wcc()), which then
//! does the work.
//!
//! **Input.** Any graph. A directed graph is best stored in both directions; otherwise the last step does all
//! the work.
//!
//! **Trick.** Real graphs have one giant component, many components of one vertex, and a few small ones
//! between. Each kind is found in the way that is best for it (*Multistep*). First vertices without an edge
//! to, or from, the remaining vertices are taken away, round by round: each is a component. Then two searches
//! find the vertices that a pivot of high degree reaches, and the vertices that reach the pivot. The vertices
//! in both sets are the pivot's component, usually the giant one. Any other component is wholly inside or
//! wholly outside of each set. So, of the remaining edges, only those between vertices of the same sets are
//! copied. Tarjan's algorithm, in Pearce's form, finds the components of the copy in one pass of one thread.
//! The earlier steps are parallel. If more than 100,000 vertices remain, the authors of Multistep first
//! spread colours among them; on two cores the pass over the copy is faster.
//!
//! **Cited.** G. Slota, S. Rajamanickam, K. Madduri, *BFS and Coloring-based Parallel Algorithms for Strongly
//! Connected Components and Related Problems*, IPDPS 2014 (Multistep); L. Fleischer, B. Hendrickson, A.
//! Pınar, *On Identifying Strongly Connected Components in Parallel*, IPDPS Workshops 2000, for the two
//! searches; W. McLendon et al., *Finding strongly connected components in distributed graphs*, JPDC 65(8),
//! 2005, for trimming; R. Tarjan, *Depth-first search and linear graph algorithms*, SIAM Journal on Computing
//! 1(2), 1972; D. Pearce, *A space-efficient algorithm for finding strongly connected components*,
//! Information Processing Letters 116(1), 2016.
//!
//! **Cost.** O(vertices + edges); 36 bytes per id of the domain, and up to 12 for each edge of the rest.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use hedgerow_core::{Direction, Topology, VertexId};
use rayon::prelude::*;

use crate::error::checked_bound;
use crate::frontier::Rounds;
use crate::grouping::NO_COMPONENT;
use crate::par::{CHUNK_VERTICES, ids_of, into_plain, ones};
use crate::registry::prelude::*;
use crate::watch::Watch;
use crate::wcc::wcc_until;

mod pivot;
mod rest;
mod trim;
pub mod verify;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "Strongly connected components: paths lead both ways",
    input: "any graph; in an undirected one the same as `wcc`",
    result: ResultColumn { name: "component", kind: ResultKind::Components },
    steps: "passes",
    cost: "O(vertices + edges)",
    // A component and two degrees, and a frontier in parts; or a component, the places of edges, two numbers
    // and a path. Copies of the edges that the steps before leave, in lists that grow.
    memory: Memory { per_edge: 12, ..Memory::per_id(36) },
    cited: "G. Slota, S. Rajamanickam, K. Madduri, *BFS and Coloring-based Parallel Algorithms for Strongly Connected Components and \
            Related Problems*, IPDPS 2014; R. Tarjan, *Depth-first search and linear graph algorithms*, SIAM Journal on \
            Computing 1(2), 1972; D. Pearce, *A space-efficient algorithm for finding strongly connected components*, \
            Information Processing Letters 116(1), 2016",
    ..Kernel::named("scc", "scc")
};

functions!(Outcome::Components, Arguments::none, |g, (), cancel| scc_until(g, cancel), verify::scc(g));

kernel! {
    /// Returns the strongly connected component of every vertex, indexed by vertex id and named by its least
    /// vertex.
    ///
    /// # Errors
    /// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// O(vertices + edges); blocks the caller until all tasks are done.
    pub fn scc, scc_until<G: Topology>(g; cancel) -> Vec<u32> {
        components(g, cancel)
    }
}

fn components<G: Topology>(g: &G, cancel: &Cancel) -> Result<Vec<u32>, KernelError<G::Error>> {
    if !g.is_directed() {
        return wcc_until(g, cancel);
    }
    let vertex_bound = checked_bound(g.vertex_bound())?;
    hedgerow_par::run(|| {
        let components = (0..vertex_bound).map(|_| AtomicU32::new(NO_COMPONENT)).collect();
        let rounds = Rounds { g, watch: Watch::new(cancel) };
        let mut parts = Parts { rounds, components, open: Bits::new(vertex_bound) };
        parts.open_live();
        parts.rounds.watch.check()?;
        cancel.begin(PASSES);
        let sets = match g.is_stored(Direction::In) {
            true => {
                let pivot = parts.trim()?;
                cancel.step(1);
                let sets = parts.around(pivot)?;
                cancel.step(1);
                sets
            }
            false => Sets::none(vertex_bound),
        };
        parts.rest(&sets)?;
        cancel.step(1);
        Ok(into_plain(parts.components))
    })
}

/// The number of steps: taking vertices away, finding the component of a pivot, finding all others.
/// [`wcc()`](crate::wcc()) has three, too.
const PASSES: u64 = 3;

/// A bit for each vertex. Accesses are relaxed: the operation itself claims a bit, and other reads see bits
/// that were set before a join.
struct Bits(Vec<AtomicU64>);

impl Bits {
    fn new(count: usize) -> Bits {
        Bits((0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    #[inline]
    fn has(&self, v: VertexId) -> bool {
        self.0[v.index() / 64].load(Relaxed) >> (v.0 % 64) & 1 != 0
    }

    /// Sets a bit. True if it was not set.
    #[inline]
    fn set(&self, v: VertexId) -> bool {
        let bit = 1 << (v.0 % 64);
        self.0[v.index() / 64].fetch_or(bit, Relaxed) & bit == 0
    }

    /// Clears a bit. True if it was set.
    #[inline]
    fn clear(&self, v: VertexId) -> bool {
        let bit = 1 << (v.0 % 64);
        self.0[v.index() / 64].fetch_and(!bit, Relaxed) & bit != 0
    }

    /// Returns the vertices whose bit is set, ascending.
    fn vertices(&self) -> impl Iterator<Item = VertexId> + '_ {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(word, bits)| ones(bits.load(Relaxed)).map(move |at| VertexId(word as u32 * 64 + at)))
    }
}

/// The vertices that a pivot reaches, and the vertices that reach it.
struct Sets {
    reached: Bits,
    reaching: Bits,
}

impl Sets {
    fn none(vertex_bound: usize) -> Sets {
        Sets { reached: Bits::new(vertex_bound), reaching: Bits::new(vertex_bound) }
    }

    /// True if both vertices are in the same sets.
    #[inline]
    fn are_together(&self, u: VertexId, v: VertexId) -> bool {
        self.reached.has(u) == self.reached.has(v) && self.reaching.has(u) == self.reaching.has(v)
    }
}

/// The components found so far, and the vertices whose component is not known.
struct Parts<'g, G: Topology> {
    rounds: Rounds<'g, G>,
    components: Vec<AtomicU32>,
    open: Bits,
}

impl<G: Topology> Parts<'_, G> {
    /// Opens all vertices.
    fn open_live(&self) {
        let (g, cancel) = (self.rounds.g, self.rounds.watch.cancel);
        let bound = self.components.len();
        hedgerow_par::for_each((0..bound.div_ceil(CHUNK_VERTICES)).into_par_iter(), |chunk| {
            if !cancel.poll() {
                let ids = ids_of(chunk, bound).map(VertexId);
                ids.filter(|&v| g.contains(v)).for_each(|v| _ = self.open.set(v));
            }
        });
    }

    /// Puts a vertex into a component.
    #[inline]
    fn put(&self, v: VertexId, component: u32) {
        self.components[v.index()].store(component, Relaxed);
    }
}
