//! Merging a delta, and operations of a large commit, into a new main part.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, VertexId};
use smallvec::SmallVec;

use crate::arena::{Arena, Builder as Array};
use crate::main_part::{Main, Offsets};
use crate::op::{EdgeOp, Entry};
use crate::patch::{self, Patch};

pub(crate) mod items;

/// The most entries that one merge takes: their order takes 24 of the 64 bits of a key.
pub(crate) const MOST: usize = 1 << 24;

/// Entries about edges, sorted by vertex, destination and commit: 6, 32 and 24 bits; the operation stands in the last two,
/// so that entries are hardly looked at again.
type Keys = SmallVec<[u64; 256]>;

/// `main` with the first `n` of what `entry` gives, in commit order, applied. `n` is at most [`MOST`]. O(edges + n log n);
/// what does not change is copied in whole stretches, and nothing is allocated but the result unless `n` exceeds 256.
pub(crate) fn apply(
    main: &Main,
    n: usize,
    entry: impl Fn(usize) -> Entry,
    weighted: bool,
    arena: &Arena,
) -> Main {
    let n = if faults::is_on(PlantedFault::NewestEntryLost) { n.saturating_sub(1) } else { n };
    let (keys, present) = sort(main.present, n, &entry);
    let mut out = Output::new(arena, main, main.neighbors.len().wrapping_add_signed(growth(&keys)), weighted);
    let mut rest = keys.as_slice();
    while let Some((of_edge, others)) = split_edge(rest) {
        rest = others;
        let last = of_edge[of_edge.len() - 1];
        let weight = || if weighted { entry(order(last)).weight } else { 1.0 };
        let (local, dst) = edge(last);
        out.put(main, local, dst, (op(last) != EdgeOp::Remove).then(weight));
    }
    out.finish(main, present)
}

/// `main`, under `old` if it has a patch, with the first `n` of what `entry` gives folded in: the main part, and its patch
/// if it is to have one. With `patching` the main part may stay as it is.
pub(crate) fn fold(
    main: &Main,
    old: Option<&Patch>,
    n: usize,
    entry: impl Fn(usize) -> Entry,
    patching: bool,
    weighted: bool,
    arena: &Arena,
) -> (Main, Option<Patch>) {
    let (sizes, edges) = (arena.patch_sizes(), main.neighbors.len());
    if old.is_none() && !(patching && sizes.fit(edges)) {
        return (apply(main, n, entry, weighted, arena), None);
    }
    let (present, patch) = patch(main, old, n, entry, weighted, arena);
    if patching && patch.len() <= sizes.most(edges) {
        return (Main { present, ..main.clone() }, Some(patch));
    }
    (flatten(main, &patch, present, weighted, arena), None)
}

/// The patch of `main`, so far `old`, with the first `n` of what `entry` gives folded in, and the vertices that exist then.
/// O(patch + n log n).
fn patch(
    main: &Main,
    old: Option<&Patch>,
    n: usize,
    entry: impl Fn(usize) -> Entry,
    weighted: bool,
    arena: &Arena,
) -> (u64, Patch) {
    let (keys, present) = sort(main.present, n, &entry);
    let none = Patch::default();
    let old = old.unwrap_or(&none);
    let room = |old: &Main| old.neighbors.len() + keys.len();
    let mut added = Output::new(arena, &old.added, room(&old.added), weighted);
    let mut removed = Output::new(arena, &old.removed, room(&old.removed), false);
    let mut rest = keys.as_slice();
    while let Some((of_edge, others)) = split_edge(rest) {
        rest = others;
        let (first, last) = (of_edge[0], of_edge[of_edge.len() - 1]);
        let (local, dst) = edge(last);
        let in_main = patch::is_in_main(old, op(first), local, dst);
        let weight = || if weighted { entry(order(last)).weight } else { 1.0 };
        let weight = (op(last) != EdgeOp::Remove).then(weight);
        // An edge of the main part that stays is not mentioned, unless its weight may differ.
        added.put(&old.added, local, dst, weight.filter(|_| !in_main || weighted));
        removed.put(&old.removed, local, dst, (in_main && (weight.is_none() || weighted)).then_some(0.0));
    }
    (present, Patch { added: added.finish(&old.added, 0), removed: removed.finish(&old.removed, 0) })
}

/// `main` with a patch applied. O(edges + patch log degree).
pub(crate) fn flatten(main: &Main, patch: &Patch, present: u64, weighted: bool, arena: &Arena) -> Main {
    let len = main.neighbors.len() + patch.added.neighbors.len() - patch.removed.neighbors.len();
    let mut out = Output::new(arena, main, len, weighted);
    for i in 0..SUBGRAPH_VERTICES {
        patch.changes(LocalVertex(i as u8)).for_each(|c| out.put(main, c.local, c.dst, c.weight));
    }
    out.finish(main, present)
}

/// The keys of the entries about edges in order, and the vertices that exist after all entries.
fn sort(mut present: u64, n: usize, entry: &impl Fn(usize) -> Entry) -> (Keys, u64) {
    debug_assert!(n <= MOST);
    let mut keys = Keys::with_capacity(n);
    for i in 0..n {
        let e = entry(i);
        match e.op {
            EdgeOp::Vertex if e.dst.0 != 0 => present |= e.local.bit(),
            EdgeOp::Vertex => present &= !e.local.bit(),
            _ => keys
                .push(u64::from(e.local.0) << 58 | u64::from(e.dst.0) << 26 | (i as u64) << 2 | e.op as u64),
        }
    }
    keys.sort_unstable();
    (keys, present)
}

/// The place of the entry in the order of commits.
#[inline]
fn order(key: u64) -> usize {
    (key >> 2) as usize & (MOST - 1)
}

#[inline]
fn op(key: u64) -> EdgeOp {
    EdgeOp::from_bits(key as u8 & 3)
}

#[inline]
fn edge(key: u64) -> (LocalVertex, VertexId) {
    (LocalVertex((key >> 58) as u8), VertexId((key >> 26) as u32))
}

/// The keys about the first edge, and the others.
#[inline]
fn split_edge(keys: &[u64]) -> Option<(&[u64], &[u64])> {
    let edge = keys.first()? >> 26;
    let count = keys.iter().take_while(|&&key| key >> 26 == edge).count();
    Some(keys.split_at(count))
}

/// By how many edges the lists grow. Only effective operations are logged, so the first about an edge tells whether it
/// was there before.
fn growth(keys: &[u64]) -> isize {
    let (mut growth, mut rest) = (0, keys);
    while let Some((of_edge, others)) = split_edge(rest) {
        rest = others;
        let was = op(of_edge[0]) != EdgeOp::Insert;
        let is = op(of_edge[of_edge.len() - 1]) != EdgeOp::Remove;
        growth += isize::from(is) - isize::from(was);
    }
    growth
}

/// Lists are stepped over in pieces of this many: changes come close to each other, so that the first piece often does.
const PIECE: usize = 16;

/// How many elements of `list` in the range, which ascends, are less than `dst`.
#[inline]
fn smaller(list: &[VertexId], range: std::ops::Range<usize>, dst: VertexId) -> usize {
    let Some(piece) = list[range.clone()].first_chunk::<PIECE>() else {
        return list[range].partition_point(|&x| x < dst);
    };
    // All elements of the piece at once: no branch to guess.
    let count = piece.iter().map(|&x| u32::from(x < dst)).sum::<u32>() as usize;
    if count < PIECE {
        return count;
    }
    let (mut from, mut upto) = (PIECE, PIECE * 2);
    while upto < range.len() && list[range.start + upto] < dst {
        (from, upto) = (upto, upto * 2);
    }
    from + list[range.start + from..range.end.min(range.start + upto)].partition_point(|&x| x < dst)
}

/// A main part that is being written: changes come sorted by vertex and destination.
struct Output {
    offsets: Offsets,
    neighbors: Array<VertexId>,
    weights: Option<Array<f64>>,
    /// How much of the old lists is dealt with.
    done: usize,
    /// The first vertex whose offset is still that of the old part.
    vertex: usize,
}

impl Output {
    fn new(arena: &Arena, main: &Main, len: usize, weighted: bool) -> Output {
        Output {
            offsets: main.offsets.clone(),
            neighbors: arena.builder(len),
            weights: weighted.then(|| arena.builder(len)),
            done: 0,
            vertex: 0,
        }
    }

    /// Copies the old lists up to the edge, and the edge with its new weight unless it is gone.
    #[inline]
    fn put(&mut self, main: &Main, local: LocalVertex, dst: VertexId, weight: Option<f64>) {
        self.shift(local.index());
        let range = main.range(local);
        let begin = self.done.max(range.start);
        let at = begin + smaller(&main.neighbors, begin..range.end, dst);
        self.copy(main, at);
        if at < range.end && main.neighbors[at] == dst {
            self.done += 1;
        }
        if let Some(weight) = weight {
            self.neighbors.push(dst);
            if let Some(weights) = &mut self.weights {
                weights.push(weight);
            }
        }
    }

    /// Moves the offsets of the vertices up to `vertex` by what was added and left out so far.
    #[inline]
    fn shift(&mut self, vertex: usize) {
        if vertex >= self.vertex {
            let by = (self.neighbors.len() as u32).wrapping_sub(self.done as u32);
            self.offsets.0[self.vertex..=vertex].iter_mut().for_each(|at| *at = at.wrapping_add(by));
            self.vertex = vertex + 1;
        }
    }

    #[inline]
    fn copy(&mut self, main: &Main, end: usize) {
        let range = self.done..end;
        self.neighbors.extend_few(&main.neighbors[self.done..], range.len());
        if let (Some(weights), Some(from)) = (&mut self.weights, &main.weights) {
            weights.extend(&from[range]);
        }
        self.done = end;
    }

    fn finish(mut self, main: &Main, present: u64) -> Main {
        self.shift(SUBGRAPH_VERTICES);
        self.copy(main, main.neighbors.len());
        Main {
            present,
            offsets: self.offsets,
            neighbors: self.neighbors.finish(),
            weights: self.weights.map(Array::finish),
            extra: None,
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests;
