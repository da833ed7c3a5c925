//! Triangle counting.
//!
//! **Result.** The number of triangles: sets of three vertices, each joined to the two others. Exact, and the same for
//! any number of threads.
//!
//! **Input.** Any graph whose lists are in memory, for two of them are looked at together. Directions are ignored, self-loops and repeated edges too. A directed graph must answer both
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
use hedgerow_core::{Direction, Neighbors, Resident, VertexId};
use rayon::prelude::*;

use crate::KernelError;
use crate::cancel::{Cancel, Meter};
use crate::error::checked_bound;
use crate::par::CHUNK_VERTICES;

pub(crate) mod entry;
#[cfg(test)]
mod tests;
pub mod verify;

/// Vertices ranked before this may be hubs: the bits of all of them take 4 MiB, about what stays near a core.
const MOST_HUBS: usize = 8192;

/// Ranks per work item.
const CHUNK_RANKS: usize = 1024;

/// Intersecting this many words of bits costs about as much as testing one bit.
const WORDS_PER_TEST: usize = 2;

/// What a kept list costs at most with each hub in it, in edges visited: all words of a hub.
const EDGES_PER_HUB: usize = MOST_HUBS / 64 / 8;

/// From this degree on vertices are few, and sorted by comparing them; below it each degree has a place of its own.
const HIGH_DEGREE: u32 = 4096;

/// The number of triangles.
///
/// # Errors
/// [`KernelError::TooManyVertices`].
///
/// # Cost
/// O(edges^1.5) at worst; memory as the [module](self) says. Blocks the caller until all tasks are done.
pub fn triangle_count<G: Resident>(g: &G) -> Result<u64, KernelError> {
    triangle_count_until(g, &Cancel::new())
}

/// [`triangle_count`], until `cancel` ends it.
///
/// # Errors
/// As [`triangle_count`], and [`KernelError::Cancelled`].
pub fn triangle_count_until<G: Resident>(g: &G, cancel: &Cancel) -> Result<u64, KernelError> {
    let vertex_bound = checked_bound(g.vertex_bound())?;
    hedgerow_par::run(|| {
        let ranking = Ranking::new(g, vertex_bound, cancel)?;
        let earlier = Earlier::new(g, &ranking, cancel)?;
        let hubs = Hubs::new(&earlier, cancel)?;
        let triangles = count(&earlier, &hubs, cancel);
        cancel.check()?;
        Ok(triangles)
    })
}

/// The order by falling degree.
struct Ranking {
    /// The vertices in order.
    order: Vec<u32>,
    /// The place of each vertex in it.
    rank: Vec<u32>,
}

impl Ranking {
    fn new<G: Resident>(g: &G, vertex_bound: usize, cancel: &Cancel) -> Result<Ranking, KernelError> {
        // An estimate of the degree will do: any order gives the right count.
        let degree = |v: VertexId| {
            let into = if g.is_directed() { g.degree_estimate(v, Direction::In) } else { 0 };
            (g.degree_estimate(v, Direction::Out) + into).min(u32::MAX as usize) as u32
        };
        let mut degrees = vec![0; vertex_bound];
        let chunks = degrees.par_chunks_mut(CHUNK_VERTICES).enumerate();
        hedgerow_par::for_each(chunks, |(chunk, degrees)| {
            if !cancel.poll() {
                let vertices = ((chunk * CHUNK_VERTICES) as u32..).map(VertexId);
                degrees.iter_mut().zip(vertices).for_each(|(slot, v)| *slot = degree(v));
            }
        });
        let order = by_falling_degree(&degrees, cancel)?;
        let mut rank = degrees;
        for (part, first) in in_parts(&order) {
            cancel.check()?;
            part.iter().zip(first..).for_each(|(&v, r)| rank[v as usize] = r);
        }
        Ok(Ranking { order, rank })
    }
}

/// The vertices by falling degree, those of one degree ascending. A sort by counting, since one by comparing could not be
/// ended: each vertex goes to the place of its degree, in two passes.
fn by_falling_degree(degrees: &[u32], cancel: &Cancel) -> Result<Vec<u32>, KernelError> {
    let class = |degree: u32| (HIGH_DEGREE - degree.min(HIGH_DEGREE)) as usize;
    // At first how many there are of each class, one place further on; then where its next vertex goes.
    let mut places = vec![0u32; HIGH_DEGREE as usize + 2];
    for (part, _) in in_parts(degrees) {
        cancel.check()?;
        part.iter().for_each(|&degree| places[class(degree) + 1] += 1);
    }
    let high = places[1] as usize;
    for at in 1..places.len() {
        places[at] += places[at - 1];
    }
    let mut order = vec![0; degrees.len()];
    for (part, first) in in_parts(degrees) {
        cancel.check()?;
        for (&degree, v) in part.iter().zip(first..) {
            let place = &mut places[class(degree)];
            order[*place as usize] = v;
            *place += 1;
        }
    }
    order[..high].sort_unstable_by_key(|&v| (std::cmp::Reverse(degrees[v as usize]), v));
    Ok(order)
}

/// The parts of a list between which is polled, and where each begins.
fn in_parts<T>(list: &[T]) -> impl Iterator<Item = (&[T], u32)> {
    let firsts = (0..=u32::MAX).step_by(Cancel::EDGES_BETWEEN_POLLS);
    list.chunks(Cancel::EDGES_BETWEEN_POLLS).zip(firsts)
}

/// For each rank the neighbours with lower ranks, as ranks, ascending.
struct Earlier {
    offsets: Vec<u64>,
    ranks: Vec<u32>,
}

impl Earlier {
    fn new<G: Resident>(g: &G, ranking: &Ranking, cancel: &Cancel) -> Result<Earlier, KernelError> {
        let chunks: Vec<(Vec<u32>, Vec<u32>)> =
            hedgerow_par::map(ranking.order.par_chunks(CHUNK_RANKS).enumerate(), |(chunk, vertices)| {
                let mut ranks = Vec::new();
                let Some(mut meter) = cancel.meter() else { return (Vec::new(), ranks) };
                let mut lengths = Vec::with_capacity(vertices.len());
                for (&v, r) in vertices.iter().zip((chunk * CHUNK_RANKS) as u32..) {
                    if meter.is_over() {
                        break;
                    }
                    let from = ranks.len();
                    push_earlier(g, VertexId(v), (&ranking.rank, r), &mut ranks, &mut meter);
                    ranks[from..].sort_unstable();
                    lengths.push((ranks.len() - from) as u32);
                }
                (lengths, ranks)
            });
        cancel.check()?;
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
        hedgerow_par::for_each(copies.into_par_iter(), |(to, from)| {
            let Some(mut meter) = cancel.meter() else { return };
            let mut to = to.iter_mut();
            meter.parts(&from, |part| to.by_ref().zip(part).for_each(|(to, from)| *to = *from));
        });
        cancel.check()?;
        Ok(Earlier { offsets, ranks })
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

/// Appends the ranks before `r`, that of `v`, of the neighbours of `v`, each once.
fn push_earlier<G: Resident>(
    g: &G,
    v: VertexId,
    (rank, r): (&[u32], u32),
    to: &mut Vec<u32>,
    meter: &mut Meter<'_>,
) {
    let mut last = None;
    let mut push = |w: VertexId| {
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
        return push_all(merged(out, g.neighbors(v, Direction::In)), push, meter);
    }
    match out.as_slice() {
        Some(list) => meter.parts(list, |part| part.iter().copied().for_each(&mut push)),
        None => push_all(out.iter(), push, meter),
    }
}

/// Calls `push` with each of `neighbors`, as many at a time as may be visited between two polls.
fn push_all(
    mut neighbors: impl Iterator<Item = VertexId>,
    mut push: impl FnMut(VertexId),
    meter: &mut Meter<'_>,
) {
    const AT_ONCE: usize = 1024;
    while let Some(first) = neighbors.next()
        && meter.spend(AT_ONCE)
    {
        push(first);
        neighbors.by_ref().take(AT_ONCE - 1).for_each(&mut push);
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

#[inline]
fn set(bits: &mut [u64], at: u32) {
    bits[(at >> 6) as usize] |= 1 << (at & 63);
}

#[inline]
fn is_set(bits: &[u64], at: u32) -> bool {
    bits[(at >> 6) as usize] >> (at & 63) & 1 != 0
}

fn count(earlier: &Earlier, hubs: &Hubs, cancel: &Cancel) -> u64 {
    let chunks = earlier.len().div_ceil(CHUNK_RANKS);
    let count_chunk = |chunk: usize| {
        let first = chunk * CHUNK_RANKS;
        let Some(mut meter) = cancel.meter() else { return 0 };
        let mut bits = vec![0; hubs.words];
        let ranks = first as u32..(first + CHUNK_RANKS).min(earlier.len()) as u32;
        ranks.map(|u| count_at(earlier, hubs, u, &mut bits, &mut meter)).sum::<u64>()
    };
    hedgerow_par::map_reduce((0..chunks).into_par_iter().with_max_len(1), count_chunk, || 0, |a, b| a + b)
}

/// The triangles whose last vertex has rank `u`. `bits` are 0 before and after.
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
