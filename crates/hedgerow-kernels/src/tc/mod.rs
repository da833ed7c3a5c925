//! Triangle counting.
//!
//! **Result.** The number of triangles: sets of three vertices, each joined to the two others. Exact, and the
//! same for any number of threads.
//!
//! **Input.** Any graph whose lists are in memory, since the kernel reads two of them at once. Directions,
//! self-loops and repeated edges are ignored. A directed graph must be stored in both directions.
//!
//! **Trick.** Vertices are ranked by falling degree, and each keeps only the neighbours ranked before it. A
//! triangle is then found once, at its last vertex, and no list is long, since few vertices have a degree as
//! high as a hub. For every two neighbours w < v kept by a vertex u, the kernel tests if v keeps w. In a
//! skewed graph nearly all of these tests are at a few thousand hubs, so hubs keep their lists as bits, too.
//! Then u's list up to v either is tested bit by bit or, if that is less work, is turned into bits and
//! intersected word by word. If v is no hub, both are short sorted lists, which are intersected directly.
//!
//! An undirected graph without hubs, like a road network, keeps the order of its ids, and its lists are
//! intersected in place: each triangle is found at the vertex with the largest id.
//!
//! The module `ranked` makes the lists, also for [`local_clustering()`](crate::local_clustering()).
//!
//! **Cited.** T. Schank, D. Wagner, *Finding, Counting and Listing All Triangles in Large Graphs*, WEA 2005,
//! for the order by degree ("forward"); M. Koohi Esfahani, P. Kilpatrick, H. Vandierendonck, *LOTUS: Locality
//! Optimizing Triangle Counting*, PPoPP 2022, for keeping hubs as bits.
//!
//! **Cost.** O(Σ over edges of the lesser kept list), at most O(edges^1.5); 16 bytes per id of the domain, 4
//! per undirected edge, and up to 8 MiB of bits.

use hedgerow_core::Resident;
use hedgerow_core::simd::{and_count, intersect_count};
use rayon::prelude::*;

use crate::cancel::Meter;
use crate::error::checked_bound;
use crate::ranked::{CHUNK_RANKS, Detail, EDGES_PER_HUB, Earlier, MOST_HUBS, Ranking, is_set, set};
use crate::registry::prelude::*;

mod flat;
pub mod verify;

/// The number of words of bits whose intersection costs about as much as testing one bit.
const WORDS_PER_TEST: usize = 2;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "The number of triangles, directions ignored",
    input: "any graph; directions, loops and repeated edges are ignored",
    needs_resident: true,
    result: ResultColumn { name: "triangles", kind: ResultKind::Count },
    steps: "work items",
    cost: "O(edges^1.5) at worst",
    // Per id: the order, the places and the lengths of lists. Per edge: a rank in a list that grows, and in
    // one that does not. Fixed: the bits of all hubs.
    memory: Memory { per_edge: 12, fixed: 9 << 20, ..Memory::per_id(20) },
    cited: "T. Schank, D. Wagner, *Finding, Counting and Listing All Triangles in Large Graphs*, WEA 2005; M. Koohi \
            Esfahani, P. Kilpatrick, H. Vandierendonck, *LOTUS: Locality Optimizing Triangle Counting*, PPoPP 2022",
    ..Kernel::named("tc", "triangle_count")
};

functions!(resident
    Outcome::Count,
    Arguments::none,
    |g, (), cancel| triangle_count_until(g, cancel),
    verify::triangle_count(g)
);

kernel! {
    /// Returns the number of triangles.
    ///
    /// # Errors
    /// [`KernelError::TooManyVertices`].
    ///
    /// # Cost
    /// O(edges^1.5) at worst; the [module](self) states the memory. Blocks the caller until all tasks are
    /// done.
    pub fn triangle_count, triangle_count_until<G: Resident>(g; cancel) -> u64 {
        triangles(g, cancel)
    }
}

fn triangles<G: Resident>(g: &G, cancel: &Cancel) -> Result<u64, KernelError<G::Error>> {
    let vertex_bound = checked_bound(g.vertex_bound())?;
    hedgerow_par::run(|| {
        if flat::is_flat(g, vertex_bound, cancel) {
            cancel.check()?;
            let triangles = flat::count(g, vertex_bound, cancel);
            cancel.check()?;
            return Ok(triangles);
        }
        let ranking = Ranking::new(g, vertex_bound, cancel)?;
        let earlier = Earlier::new(g, &ranking, Detail::Ranks, cancel)?;
        let hubs = Hubs::new(&earlier, cancel)?;
        let triangles = count(&earlier, &hubs, cancel);
        cancel.check()?;
        Ok(triangles)
    })
}

/// The lists of the first ranks as bits.
struct Hubs {
    count: usize,
    words: usize,
    bits: Vec<u64>,
}

impl Hubs {
    fn new(earlier: &Earlier, cancel: &Cancel) -> Result<Hubs, KernelError> {
        let count = earlier.len().min(MOST_HUBS);
        let words = count.div_ceil(64);
        let mut bits = vec![0; count * words];
        hedgerow_par::for_each(bits.par_chunks_mut(words.max(1)).enumerate(), |(hub, bits)| {
            if !cancel.poll() {
                earlier.list(hub as u32).iter().for_each(|&r| set(bits, r));
            }
        });
        cancel.check()?;
        Ok(Hubs { count, words, bits })
    }

    #[inline]
    fn of(&self, rank: u32) -> &[u64] {
        &self.bits[rank as usize * self.words..(rank as usize + 1) * self.words]
    }
}

fn count(earlier: &Earlier, hubs: &Hubs, cancel: &Cancel) -> u64 {
    let chunks = earlier.len().div_ceil(CHUNK_RANKS);
    cancel.begin(chunks as u64);
    let count_chunk = |chunk: usize| {
        let first = chunk * CHUNK_RANKS;
        let Some(mut meter) = cancel.meter() else { return 0 };
        let mut bits = vec![0; hubs.words];
        let ranks = first as u32..(first + CHUNK_RANKS).min(earlier.len()) as u32;
        let found = ranks.map(|u| count_at(earlier, hubs, u, &mut bits, &mut meter)).sum::<u64>();
        cancel.step(1);
        found
    };
    hedgerow_par::map_reduce((0..chunks).into_par_iter().with_max_len(1), count_chunk, || 0, |a, b| a + b)
}

/// Counts the triangles whose last vertex has rank `u`. `bits` are 0 before and after.
fn count_at(earlier: &Earlier, hubs: &Hubs, u: u32, bits: &mut [u64], meter: &mut Meter<'_>) -> u64 {
    let list = earlier.list(u);
    let among_hubs = list.partition_point(|&v| (v as usize) < hubs.count);
    let mut found = 0;
    if !meter.spend(among_hubs * EDGES_PER_HUB) {
        return found;
    }
    let mut set_up_to = 0;
    for (i, &v) in list[..among_hubs].iter().enumerate().skip(1) {
        let words = v as usize / 64 + 1;
        if words < i * WORDS_PER_TEST {
            list[set_up_to..i].iter().for_each(|&w| set(bits, w));
            set_up_to = i;
            found += and_count(&bits[..words], &hubs.of(v)[..words]);
        } else {
            let hub = hubs.of(v);
            found += list[..i].iter().map(|&w| u64::from(is_set(hub, w))).sum::<u64>();
        }
    }
    list[..set_up_to].iter().for_each(|&w| bits[(w >> 6) as usize] = 0);
    for (i, &v) in list.iter().enumerate().skip(among_hubs.max(1)) {
        let other = earlier.list(v);
        if !meter.spend(i + other.len()) {
            return found;
        }
        found += intersect_count(&list[..i], other) as u64;
    }
    found
}
