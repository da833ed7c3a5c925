//! Vertices ranked by falling degree, with the neighbours of each that are ranked before it: the input of
//! counting triangles.
//!
//! A triangle is then found once, at its last vertex. No list is long, since few vertices have a degree as
//! high as a hub. The lists are a copy of half the graph, made in about the time of reading the graph once.
//! In return the lists that are read most often are close together, and lists with corrections are merged
//! once, not for each neighbour.
//!
//! **Cited.** T. Schank, D. Wagner, *Finding, Counting and Listing All Triangles in Large Graphs*, WEA 2005.

use hedgerow_core::{Direction, Neighbors, Resident, VertexId};
use rayon::prelude::*;

use crate::KernelError;
use crate::cancel::{Cancel, Meter};
use crate::par::CHUNK_VERTICES;

/// The most hubs: the first ranks, whose lists are kept as bits. The bits of all hubs, each up to its own
/// rank, take 4 MiB, about the size of a cache near a core.
pub(crate) const MOST_HUBS: usize = 8192;

/// Ranks per work item.
pub(crate) const CHUNK_RANKS: usize = 1024;

/// The greatest cost of intersecting a kept list with a hub in it, in edges visited: reading all words of the
/// hub.
pub(crate) const EDGES_PER_HUB: usize = MOST_HUBS / 64 / 8;

/// The least degree of vertices that are sorted by comparing them, since they are few. Each lower degree has
/// a place of its own.
const HIGH_DEGREE: u32 = 4096;

/// The order by falling degree.
pub(crate) struct Ranking {
    /// The vertices in order.
    pub(crate) order: Vec<u32>,
    /// The place of each vertex in the order.
    pub(crate) rank: Vec<u32>,
}

impl Ranking {
    pub(crate) fn new<G: Resident>(
        g: &G,
        vertex_bound: usize,
        cancel: &Cancel,
    ) -> Result<Ranking, KernelError> {
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

/// Returns the vertices by falling degree, vertices of the same degree ascending. It sorts by counting, since
/// a sort by comparing could not be cancelled: each vertex goes to the place of its degree, in two passes.
fn by_falling_degree(degrees: &[u32], cancel: &Cancel) -> Result<Vec<u32>, KernelError> {
    let class = |degree: u32| (HIGH_DEGREE - degree.min(HIGH_DEGREE)) as usize;
    // At first the number of vertices of each class, one index further on; later the place of its next
    // vertex.
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

/// Returns the parts of a list between which the caller polls, with the beginning of each.
fn in_parts<T>(list: &[T]) -> impl Iterator<Item = (&[T], u32)> {
    let firsts = (0..=u32::MAX).step_by(Cancel::EDGES_BETWEEN_POLLS);
    list.chunks(Cancel::EDGES_BETWEEN_POLLS).zip(firsts)
}

/// The details of a list that are computed together with its ranks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// No details.
    Ranks,
    /// The number of neighbours, and in a directed graph a mark for each that edges lead both ways.
    Neighborhoods,
}

/// The neighbours of each rank with lower ranks, as ranks, ascending.
pub(crate) struct Earlier {
    offsets: Vec<u64>,
    ranks: Vec<u32>,
    /// 1 for each place of `ranks` whose edge leads both ways, else 0. Empty without
    /// [`Detail::Neighborhoods`], and in undirected graphs.
    both: Vec<u8>,
    /// The number of neighbours of each rank, each counted once. Empty without [`Detail::Neighborhoods`].
    degrees: Vec<u32>,
}

/// The lists of the ranks of one work item, one after another.
#[derive(Default)]
struct Part {
    lengths: Vec<u32>,
    ranks: Vec<u32>,
    both: Vec<u8>,
    degrees: Vec<u32>,
}

impl Earlier {
    pub(crate) fn new<G: Resident>(
        g: &G,
        ranking: &Ranking,
        detail: Detail,
        cancel: &Cancel,
    ) -> Result<Earlier, KernelError> {
        let chunks = ranking.order.par_chunks(CHUNK_RANKS).enumerate();
        let parts: Vec<Part> =
            hedgerow_par::map(chunks, |(chunk, vertices)| part(g, ranking, chunk, vertices, detail, cancel));
        cancel.check()?;
        let mut offsets = Vec::with_capacity(ranking.order.len() + 1);
        let mut end = 0;
        offsets.push(end);
        for length in parts.iter().flat_map(|part| &part.lengths) {
            end += u64::from(*length);
            offsets.push(end);
        }
        let (mut ranks, mut both, mut degrees) = (Vec::with_capacity(parts.len()), Vec::new(), Vec::new());
        for part in parts {
            ranks.push(part.ranks);
            both.push(part.both);
            degrees.push(part.degrees);
        }
        let (ranks, both, degrees) =
            (joined(ranks, cancel)?, joined(both, cancel)?, joined(degrees, cancel)?);
        Ok(Earlier { offsets, ranks, both, degrees })
    }

    /// Returns the number of ranks.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    #[inline]
    pub(crate) fn list(&self, rank: u32) -> &[u32] {
        &self.ranks[self.places(rank)]
    }

    /// Returns for each place of [`list`](Self::list) 1 if edges lead both ways, else 0.
    #[inline]
    pub(crate) fn both(&self, rank: u32) -> &[u8] {
        &self.both[self.places(rank)]
    }

    /// True if [`both`](Self::both) has marks: in directed graphs with edges, with [`Detail::Neighborhoods`].
    pub(crate) fn knows_ways(&self) -> bool {
        !self.both.is_empty()
    }

    #[inline]
    fn places(&self, rank: u32) -> std::ops::Range<usize> {
        self.offsets[rank as usize] as usize..self.offsets[rank as usize + 1] as usize
    }

    /// Drops the lists; returns the number of neighbours of each rank.
    pub(crate) fn into_degrees(self) -> Vec<u32> {
        self.degrees
    }
}

/// Returns all parts in one list.
fn joined<T: Copy + Default + Send + Sync>(
    parts: Vec<Vec<T>>,
    cancel: &Cancel,
) -> Result<Vec<T>, KernelError> {
    let mut all = vec![T::default(); parts.iter().map(Vec::len).sum()];
    let mut rest = all.as_mut_slice();
    let mut copies = Vec::with_capacity(parts.len());
    for from in parts {
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
    Ok(all)
}

/// Returns the lists of the vertices of one work item. Once the flag is raised, the remaining ones are
/// missing.
fn part<G: Resident>(
    g: &G,
    ranking: &Ranking,
    chunk: usize,
    vertices: &[u32],
    detail: Detail,
    cancel: &Cancel,
) -> Part {
    let mut part = Part::default();
    let Some(mut meter) = cancel.meter() else { return part };
    let keeps_both = detail == Detail::Neighborhoods && g.is_directed();
    let mut kept: Vec<(u32, u8)> = Vec::new();
    part.lengths.reserve_exact(vertices.len());
    if detail == Detail::Neighborhoods {
        part.degrees.reserve_exact(vertices.len());
    }
    for (&v, r) in vertices.iter().zip((chunk * CHUNK_RANKS) as u32..) {
        if meter.is_over() {
            break;
        }
        let (from, mut degree) = (part.ranks.len(), 0);
        for_each_neighbor(g, VertexId(v), &mut meter, |w, ways| {
            let rank = ranking.rank[w.index()];
            degree += u32::from(rank != r);
            if keeps_both {
                kept.push((rank, u8::from(ways == BOTH)));
                kept.truncate(kept.len() - usize::from(rank >= r));
            } else {
                // Half of the neighbours are ranked later, and the processor cannot predict which. So each
                // neighbour is pushed, and later ones are dropped again.
                part.ranks.push(rank);
                part.ranks.truncate(part.ranks.len() - usize::from(rank >= r));
            }
        });
        if keeps_both {
            kept.sort_unstable();
            part.ranks.extend(kept.iter().map(|(rank, _)| rank));
            part.both.extend(kept.drain(..).map(|(_, both)| both));
        } else {
            part.ranks[from..].sort_unstable();
        }
        part.lengths.push((part.ranks.len() - from) as u32);
        if detail == Detail::Neighborhoods {
            part.degrees.push(degree);
        }
    }
    part
}

/// The mark of a neighbour along an edge, and the mark of a neighbour against an edge.
const ALONG: u8 = 1;
const AGAINST: u8 = 2;
const BOTH: u8 = ALONG | AGAINST;

/// Calls `f` with each neighbour of `v`, once, ascending, and with the ways in which edges lead to it.
#[inline]
fn for_each_neighbor<G: Resident>(
    g: &G,
    v: VertexId,
    meter: &mut Meter<'_>,
    mut f: impl FnMut(VertexId, u8),
) {
    let out = g.neighbors(v, Direction::Out);
    // Lists ascend, so repetitions follow each other.
    let mut last = None;
    if g.is_directed() {
        let mut ways = 0;
        push_all(
            merged(out, g.neighbors(v, Direction::In)),
            |(w, way)| {
                if last != Some(w) {
                    last.into_iter().for_each(|last| f(last, ways));
                    (last, ways) = (Some(w), 0);
                }
                ways |= way;
            },
            meter,
        );
        return last.into_iter().for_each(|last| f(last, ways));
    }
    let mut push = |w: VertexId| {
        if last != Some(w) {
            last = Some(w);
            f(w, BOTH);
        }
    };
    match out.as_slice() {
        Some(list) => meter.parts(list, |part| part.iter().copied().for_each(&mut push)),
        None => push_all(out.iter(), push, meter),
    }
}

/// Calls `push` with each of `neighbors`, as many at a time as may be visited between two polls.
fn push_all<T>(mut neighbors: impl Iterator<Item = T>, mut push: impl FnMut(T), meter: &mut Meter<'_>) {
    const AT_ONCE: usize = 1024;
    while let Some(first) = neighbors.next()
        && meter.spend(AT_ONCE)
    {
        push(first);
        neighbors.by_ref().take(AT_ONCE - 1).for_each(&mut push);
    }
}

/// Returns the neighbours of both lists, ascending, each with the way of its list.
fn merged<'a>(out: Neighbors<'a>, into: Neighbors<'a>) -> impl Iterator<Item = (VertexId, u8)> {
    let (mut out, mut into) = (out.iter().peekable(), into.iter().peekable());
    std::iter::from_fn(move || match (out.peek(), into.peek()) {
        (Some(x), Some(y)) if x <= y => out.next().map(|w| (w, ALONG)),
        (Some(_), None) => out.next().map(|w| (w, ALONG)),
        _ => into.next().map(|w| (w, AGAINST)),
    })
}

#[inline]
pub(crate) fn set(bits: &mut [u64], at: u32) {
    bits[(at >> 6) as usize] |= 1 << (at & 63);
}

#[inline]
pub(crate) fn is_set(bits: &[u64], at: u32) -> bool {
    bits[(at >> 6) as usize] >> (at & 63) & 1 != 0
}
