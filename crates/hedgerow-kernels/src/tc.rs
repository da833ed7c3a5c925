//! Triangle counting.
//!
//! **Result.** The number of triangles: sets of three vertices, each joined to the two others. Exact, and the same for
//! any number of threads.
//!
//! **Input.** Any graph. Directions are ignored, self-loops and repeated edges too. A directed graph must answer both
//! directions.
//!
//! **Trick.** Vertices are ranked by falling degree, and each keeps only the neighbours ranked before it: a triangle
//! is then found once, at its last vertex, and no list is long, since few vertices have a degree as high as a hub. For
//! every two neighbours w < v kept by a vertex u, one asks whether v keeps w. In a skewed graph nearly all answers lie
//! with a few thousand hubs, so those keep their lists as bits too: then u's list up to v either is tested bit by bit
//! or, where that is less work, is turned into bits and intersected word by word. Where v is no hub both are short
//! sorted lists, and intersected as such.
//!
//! The ranked lists are a copy of half the graph. They cost about as much as reading the graph once, a small part of
//! the count where degrees are skewed; in return the lists that are met most often lie together, and lists with
//! corrections are merged once, not for each neighbour.
//!
//! **Cited.** T. Schank, D. Wagner, *Finding, Counting and Listing All Triangles in Large Graphs*, WEA 2005, for the
//! order by degree ("forward"); M. Koohi Esfahani, P. Kilpatrick, H. Vandierendonck, *LOTUS: Locality Optimizing
//! Triangle Counting*, PPoPP 2022, for keeping hubs as bits.
//!
//! **Cost.** O(Σ over edges of the lesser kept list), at most O(edges^1.5); 16 bytes per id of the domain, 4 per
//! undirected edge, and up to 8 MiB of bits.

use hedgerow_core::simd::{and_count, intersect_count};
use hedgerow_core::{Direction, Neighbors, Topology, VertexId};
use rayon::prelude::*;

use crate::KernelError;
use crate::error::checked_bound;

/// Vertices ranked before this may be hubs: the bits of all of them take 4 MiB, about what stays near a core.
const MOST_HUBS: usize = 8192;

/// Ranks per work item.
const CHUNK_RANKS: usize = 1024;

/// Intersecting this many words of bits costs about as much as testing one bit.
const WORDS_PER_TEST: usize = 2;

/// The number of triangles.
///
/// # Errors
/// [`KernelError::TooManyVertices`].
///
/// # Cost
/// O(edges^1.5) at worst; memory as the [module](self) says. Blocks the caller until all tasks are done.
pub fn triangle_count<G: Topology>(g: &G) -> Result<u64, KernelError> {
    let vertex_bound = checked_bound(g.vertex_bound())?;
    Ok(hedgerow_par::run(|| {
        let ranking = Ranking::new(g, vertex_bound);
        let earlier = Earlier::new(g, &ranking);
        let hubs = Hubs::new(&earlier);
        count(&earlier, &hubs)
    }))
}

/// The order by falling degree.
struct Ranking {
    /// The vertices in order.
    order: Vec<u32>,
    /// The place of each vertex in it.
    rank: Vec<u32>,
}

impl Ranking {
    fn new<G: Topology>(g: &G, vertex_bound: usize) -> Ranking {
        // An estimate of the degree will do: any order gives the right count.
        let degree = |v: VertexId| {
            let into = if g.is_directed() { g.degree_estimate(v, Direction::In) } else { 0 };
            (g.degree_estimate(v, Direction::Out) + into).min(u32::MAX as usize) as u32
        };
        let vertices = (0..vertex_bound as u32).into_par_iter();
        let key = |v| u64::from(!degree(VertexId(v))) << 32 | u64::from(v);
        let mut keys: Vec<u64> = hedgerow_par::map(vertices, key);
        hedgerow_par::sort_unstable(&mut keys);
        let order: Vec<u32> = hedgerow_par::map(keys.par_iter(), |&key| key as u32);
        let mut rank = vec![0; vertex_bound];
        order.iter().zip(0..).for_each(|(&v, r)| rank[v as usize] = r);
        Ranking { order, rank }
    }
}

/// For each rank the neighbours with lower ranks, as ranks, ascending.
struct Earlier {
    offsets: Vec<u64>,
    ranks: Vec<u32>,
}

impl Earlier {
    fn new<G: Topology>(g: &G, ranking: &Ranking) -> Earlier {
        let chunks: Vec<(Vec<u32>, Vec<u32>)> =
            hedgerow_par::map(ranking.order.par_chunks(CHUNK_RANKS).enumerate(), |(chunk, vertices)| {
                let mut ranks = Vec::new();
                let mut lengths = Vec::with_capacity(vertices.len());
                for (&v, r) in vertices.iter().zip((chunk * CHUNK_RANKS) as u32..) {
                    let from = ranks.len();
                    push_earlier(g, VertexId(v), r, &ranking.rank, &mut ranks);
                    ranks[from..].sort_unstable();
                    lengths.push((ranks.len() - from) as u32);
                }
                (lengths, ranks)
            });
        let mut offsets = Vec::with_capacity(ranking.order.len() + 1);
        let mut end = 0;
        offsets.push(end);
        for length in chunks.iter().flat_map(|(lengths, _)| lengths) {
            end += u64::from(*length);
            offsets.push(end);
        }
        let mut ranks = vec![0; end as usize];
        let mut rest = ranks.as_mut_slice();
        let mut copies = Vec::with_capacity(chunks.len());
        for (_, from) in chunks {
            let (to, after) = rest.split_at_mut(from.len());
            copies.push((to, from));
            rest = after;
        }
        hedgerow_par::for_each(copies.into_par_iter(), |(to, from)| to.copy_from_slice(&from));
        Earlier { offsets, ranks }
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    #[inline]
    fn list(&self, rank: u32) -> &[u32] {
        let at = rank as usize;
        &self.ranks[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }
}

/// Appends the ranks before `r` of the neighbours of `v`, each once.
fn push_earlier<G: Topology>(g: &G, v: VertexId, r: u32, rank: &[u32], to: &mut Vec<u32>) {
    let mut last = None;
    let push = |w: VertexId| {
        // Lists ascend, so that repetitions follow each other.
        if last != Some(w) {
            last = Some(w);
            let rank = rank[w.index()];
            if rank < r {
                to.push(rank);
            }
        }
    };
    let out = g.neighbors(v, Direction::Out);
    if g.is_directed() {
        merged(out, g.neighbors(v, Direction::In)).for_each(push);
        return;
    }
    match out.as_slice() {
        Some(list) => list.iter().copied().for_each(push),
        None => out.iter().for_each(push),
    }
}

/// The neighbours of both lists, ascending.
fn merged<'a>(a: Neighbors<'a>, b: Neighbors<'a>) -> impl Iterator<Item = VertexId> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(x), Some(y)) if x <= y => a.next(),
        (Some(_), None) => a.next(),
        _ => b.next(),
    })
}

/// The lists of the first ranks as bits.
struct Hubs {
    count: usize,
    words: usize,
    bits: Vec<u64>,
}

impl Hubs {
    fn new(earlier: &Earlier) -> Hubs {
        let count = earlier.len().min(MOST_HUBS);
        let words = count.div_ceil(64);
        let mut bits = vec![0; count * words];
        hedgerow_par::for_each(bits.par_chunks_mut(words.max(1)).enumerate(), |(hub, bits)| {
            earlier.list(hub as u32).iter().for_each(|&r| set(bits, r));
        });
        Hubs { count, words, bits }
    }

    #[inline]
    fn of(&self, rank: u32) -> &[u64] {
        &self.bits[rank as usize * self.words..(rank as usize + 1) * self.words]
    }
}

#[inline]
fn set(bits: &mut [u64], at: u32) {
    bits[(at >> 6) as usize] |= 1 << (at & 63);
}

#[inline]
fn is_set(bits: &[u64], at: u32) -> bool {
    bits[(at >> 6) as usize] >> (at & 63) & 1 != 0
}

fn count(earlier: &Earlier, hubs: &Hubs) -> u64 {
    let chunks = earlier.len().div_ceil(CHUNK_RANKS);
    let count_chunk = |chunk: usize| {
        let first = chunk * CHUNK_RANKS;
        let mut bits = vec![0; hubs.words];
        let ranks = first as u32..(first + CHUNK_RANKS).min(earlier.len()) as u32;
        ranks.map(|u| count_at(earlier, hubs, u, &mut bits)).sum::<u64>()
    };
    hedgerow_par::map_reduce((0..chunks).into_par_iter().with_max_len(1), count_chunk, || 0, |a, b| a + b)
}

/// The triangles whose last vertex has rank `u`. `bits` are 0 before and after.
fn count_at(earlier: &Earlier, hubs: &Hubs, u: u32, bits: &mut [u64]) -> u64 {
    let list = earlier.list(u);
    let among_hubs = list.partition_point(|&v| (v as usize) < hubs.count);
    let mut found = 0;
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
        found += intersect_count(&list[..i], earlier.list(v)) as u64;
    }
    found
}
