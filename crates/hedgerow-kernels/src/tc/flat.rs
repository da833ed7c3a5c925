//! Triangles of graphs without hubs: lists are intersected in place.
//!
//! An order by degree saves work only at hubs. Without hubs, like in road networks, it costs a copy of half
//! the graph, and separates lists that were together: vertices near each other mostly have ids near each
//! other.

use hedgerow_core::{Direction, Resident, VertexId};
use rayon::prelude::*;

use crate::cancel::{Cancel, Meter};
use crate::par::{CHUNK_VERTICES, ids_of};

/// The greatest mean degree at the ends of edges, over all list entries, of a graph whose lists are
/// intersected in place. So at most 24 entries are compared for each list entry, on average: half of its own
/// list, and the list at its other end.
const MOST_AT_ENDS: u64 = 16;

/// True if the graph has short lists at the ends of its edges. False for directed graphs: lists of both
/// directions would have to be merged again and again. O(vertices).
pub(super) fn is_flat<G: Resident>(g: &G, vertex_bound: usize, cancel: &Cancel) -> bool {
    if g.is_directed() || g.edge_count() > MOST_AT_ENDS * vertex_bound as u64 {
        return false;
    }
    let sums = |chunk: usize| {
        if cancel.poll() {
            return (0, 0);
        }
        ids_of(chunk, vertex_bound).map(VertexId).fold((0u64, 0u64), |(sum, squares), v| {
            let degree = g.degree(v, Direction::Out) as u64;
            (sum + degree, squares.saturating_add(degree.saturating_mul(degree)))
        })
    };
    let add = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1.saturating_add(b.1));
    let chunks = (0..vertex_bound.div_ceil(CHUNK_VERTICES)).into_par_iter();
    let (sum, squares) = hedgerow_par::map_reduce(chunks, sums, || (0, 0), add);
    squares <= MOST_AT_ENDS * sum
}

/// Returns the number of triangles of an undirected graph; without meaning once the flag is raised. O(Σ
/// degree²).
pub(super) fn count<G: Resident>(g: &G, vertex_bound: usize, cancel: &Cancel) -> u64 {
    let chunks = vertex_bound.div_ceil(CHUNK_VERTICES);
    cancel.begin(chunks as u64);
    let count_chunk = |chunk: usize| {
        let Some(mut meter) = cancel.meter() else { return 0 };
        let mut lists = (Vec::new(), Vec::new());
        let ids = ids_of(chunk, vertex_bound).map(VertexId);
        let found = ids.map(|u| count_at(g, u, &mut lists, &mut meter)).sum();
        cancel.step(1);
        found
    };
    hedgerow_par::map_reduce((0..chunks).into_par_iter().with_max_len(1), count_chunk, || 0, |a, b| a + b)
}

/// Counts the triangles whose last vertex is `u`.
fn count_at<G: Resident>(
    g: &G,
    u: VertexId,
    lists: &mut (Vec<VertexId>, Vec<VertexId>),
    meter: &mut Meter<'_>,
) -> u64 {
    let own = list(g, u, &mut lists.0);
    let mut found = 0;
    if !meter.spend(own.len()) {
        return found;
    }
    // Lists are short: searching for the end of this part takes longer than reading up to it.
    for (i, &v) in own.iter().enumerate().skip(1).take_while(|&(_, &v)| v < u) {
        // Only the first entry of a repeated edge counts.
        if own[i - 1] != v {
            let other = list(g, v, &mut lists.1);
            if !meter.spend(i + other.len()) {
                return found;
            }
            found += common(&own[..i], other);
        }
    }
    found
}

/// Returns the list of `v`, gathered in `buffer` if it has corrections.
#[inline]
fn list<'a, G: Resident>(g: &'a G, v: VertexId, buffer: &'a mut Vec<VertexId>) -> &'a [VertexId] {
    let neighbors = g.neighbors(v, Direction::Out);
    match neighbors.as_slice() {
        Some(list) => list,
        None => {
            buffer.clear();
            buffer.extend(neighbors.iter());
            buffer
        }
    }
}

/// Returns the number of vertices in both lists, without repetitions.
#[inline]
fn common(mut a: &[VertexId], mut b: &[VertexId]) -> u64 {
    let (mut found, mut last) = (0, None);
    while let (Some(&x), Some(&y)) = (a.first(), b.first()) {
        if x == y && last != Some(x) {
            found += 1;
            last = Some(x);
        }
        a = &a[usize::from(x <= y)..];
        b = &b[usize::from(y <= x)..];
    }
    found
}
