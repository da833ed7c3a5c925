//! Local clustering: the share of the pairs of neighbours of each vertex that edges join.
//!
//! **Result.** For every vertex with `d` neighbours, the number of edges between its neighbours, divided by
//! `d (d - 1)`, the most that there could be. It is 0 if `d` is below 2, and for holes. Neighbours along
//! edges and against them count, each once, without the vertex itself. Two opposite edges between two
//! neighbours count as two, and so does an undirected edge. This is the definition of LDBC Graphalytics
//! (section 2.3.6 of its specification).
//!
//! **Input.** Any graph whose lists are in memory, since the kernel reads two of them at once. Self-loops and
//! repeated edges are ignored. A directed graph must be stored in both directions.
//!
//! **Trick.** Each triangle is found once, at the last of its vertices in the order by falling degree, like
//! in [`triangle_count()`](crate::triangle_count()), with which it shares the ranked lists. But the triangle
//! counts for all three vertices. Let `u` keep the neighbours `U`, as a set of bits. A hub `v` of `U` gets
//! the number of common bits of `U` and of *all* hubs next to `v`; half the sum of these numbers is the count
//! of `u`. So no triangle among hubs is read one at a time, as it would be if each were counted at its second
//! vertex alone. If `v` is no hub its list is short, and each hub in it is looked up in `U`.
//!
//! In a directed graph the edge between two vertices of a triangle counts once or twice for the third vertex.
//! The edges that count twice, because they lead both ways, are in a second set of bits of the same form.
//!
//! **Determinism.** Threads add up whole numbers, and each vertex is divided once: the same bits for any
//! number of threads.
//!
//! **Cited.** A. Iosup et al., *The LDBC Graphalytics Benchmark*, version 1.0.3, for the definition, which
//! goes back to D. Watts, S. Strogatz, *Collective dynamics of small-world networks*, Nature 393, 1998; T.
//! Schank, D. Wagner, *Finding, Counting and Listing All Triangles in Large Graphs*, WEA 2005, for the order.
//!
//! **Cost.** About twice the time of [`triangle_count()`](crate::triangle_count()). 32 bytes per id of the
//! domain, 15 per edge at most while the lists are made, 5 after that, and up to 16 MiB of bits.

use std::sync::atomic::AtomicU64;

use hedgerow_core::Resident;
use rayon::prelude::*;

use crate::error::checked_bound;
use crate::par::CHUNK_VERTICES;
use crate::ranked::{CHUNK_RANKS, Detail, Earlier, Ranking};
use crate::registry::prelude::*;

mod count;
mod hubs;
pub mod verify;

use count::Counting;
use hubs::Hubs;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "The share of the edges that there could be between the neighbors of each vertex (local clustering)",
    input: "any graph; neighbors are those of both directions, loops and repeated edges are ignored",
    needs_resident: true,
    result: ResultColumn { name: "coefficient", kind: ResultKind::Scores },
    steps: "work items",
    cost: "O(edges^1.5) at worst",
    // Per id: the order, the places and lengths of lists, the numbers of neighbours. Per edge: a rank in a
    // list that grows and in one that does not, and a mark for both ways. Fixed: the bits of all hubs.
    memory: Memory { per_edge: 15, per_thread: 192 << 10, fixed: 17 << 20, ..Memory::per_id(32) },
    cited: "A. Iosup et al., *The LDBC Graphalytics Benchmark*, version 1.0.3, 2020; D. Watts, S. Strogatz, *Collective \
            dynamics of small-world networks*, Nature 393, 1998; T. Schank, D. Wagner, *Finding, Counting and Listing All \
            Triangles in Large Graphs*, WEA 2005",
    ..Kernel::named("lcc", "local_clustering")
};

functions!(resident
    Outcome::Scores,
    Arguments::none,
    |g, (), cancel| local_clustering_until(g, cancel),
    verify::local_clustering(g)
);

kernel! {
    /// Returns the local clustering coefficient of every vertex, indexed by vertex id; 0 for holes.
    ///
    /// # Errors
    /// [`KernelError::TooManyVertices`].
    ///
    /// # Cost
    /// O(edges^1.5) at worst; the [module](self) states the memory. Blocks the caller until all tasks are
    /// done.
    pub fn local_clustering, local_clustering_until<G: Resident>(g; cancel) -> Vec<f64> {
        coefficients(g, cancel)
    }
}

fn coefficients<G: Resident>(g: &G, cancel: &Cancel) -> Result<Vec<f64>, KernelError<G::Error>> {
    let vertex_bound = checked_bound(g.vertex_bound())?;
    hedgerow_par::run(|| {
        let ranking = Ranking::new(g, vertex_bound, cancel)?;
        let earlier = Earlier::new(g, &ranking, Detail::Neighborhoods, cancel)?;
        let Ranking { rank, order } = ranking;
        drop(order);
        let linked = match g.is_directed() {
            true => count::<true>(&earlier, cancel)?,
            false => count::<false>(&earlier, cancel)?,
        };
        let degrees = earlier.into_degrees();
        let mut coefficients = vec![0.0; vertex_bound];
        // An undirected triangle was counted once, but its edge leads both ways.
        let times = if g.is_directed() { 1.0 } else { 2.0 };
        hedgerow_par::for_each(coefficients.par_chunks_mut(CHUNK_VERTICES).enumerate(), |(chunk, slots)| {
            if cancel.poll() {
                return;
            }
            for (slot, &rank) in slots.iter_mut().zip(&rank[chunk * CHUNK_VERTICES..]) {
                let degree = f64::from(degrees[rank as usize]);
                if degree > 1.0 {
                    *slot = linked[rank as usize] as f64 * times / (degree * (degree - 1.0));
                }
            }
        });
        cancel.check()?;
        Ok(coefficients)
    })
}

/// Counts for each rank the edges between its neighbours; in an undirected graph each once.
fn count<const DIRECTED: bool>(earlier: &Earlier, cancel: &Cancel) -> Result<Vec<u64>, KernelError> {
    let hubs = Hubs::new(earlier, cancel)?;
    let linked: Vec<AtomicU64> = (0..earlier.len()).map(|_| AtomicU64::new(0)).collect();
    let chunks = earlier.len().div_ceil(CHUNK_RANKS);
    cancel.begin(chunks as u64);
    hedgerow_par::for_each((0..chunks).into_par_iter().with_max_len(1), |chunk| {
        let Some(mut meter) = cancel.meter() else { return };
        let first = chunk * CHUNK_RANKS;
        let mut counting = Counting::<DIRECTED>::new(earlier, &hubs, &linked);
        for u in first as u32..(first + CHUNK_RANKS).min(earlier.len()) as u32 {
            counting.count_at(u, &mut meter);
        }
        counting.finish();
        cancel.step(1);
    });
    cancel.check()?;
    Ok(linked.into_iter().map(AtomicU64::into_inner).collect())
}
