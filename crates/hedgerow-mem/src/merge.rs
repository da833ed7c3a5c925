//! Merges of a delta, and of operations of a large commit, into a new main part.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{LocalVertex, RowRef, SUBGRAPH_VERTICES, VertexId};
use smallvec::SmallVec;

use crate::arena::Arena;
use crate::change::Change;
use crate::main_part::Main;
use crate::op::{EdgeOp, Entries};
use crate::patch::{self, Patch};

mod output;

use output::{Kinds, Output};

/// The most entries of one merge: the order of an entry takes 24 of the 64 bits of its key.
pub(crate) const MOST: usize = 1 << 24;

/// Entries about edges, sorted by vertex, destination and commit: 6, 32 and 24 bits. The last two bits hold
/// the operation, so that a merge reads few entries a second time.
type Keys = SmallVec<[u64; 256]>;

/// Returns `main` with the first `n` entries applied, in commit order. `n` is at most [`MOST`]. O(edges + n
/// log n). Unchanged edges are copied in whole stretches. Without ranks and properties it allocates only the
/// result unless `n` exceeds 256.
pub(crate) fn apply(main: &Main, n: usize, entries: &impl Entries, weighted: bool, arena: &Arena) -> Main {
    let n = if faults::is_on(PlantedFault::NewestEntryLost) { n.saturating_sub(1) } else { n };
    let lookup = EntryLookup::new(entries, weighted);
    merged(main, n, lookup, |len| Output::new(arena, main, len, weighted, lookup.kinds))
}

/// Like [`apply`], but for neighbours and weights alone, for readers that need nothing else. Edges must have
/// no ranks.
pub(crate) fn lists(main: &Main, n: usize, entries: &impl Entries, weighted: bool, arena: &Arena) -> Main {
    let lookup = EntryLookup { entries, kinds: Kinds { ranks: false, rows: false }, weighted };
    merged(main, n, lookup, |len| Output::lists(arena, main, len, weighted))
}

/// Like [`lists`], but with sorted changes in place of entries. `len` is the number of edges after them.
pub(crate) fn changed_lists(
    main: &Main,
    changes: &[Change<'_>],
    len: usize,
    present: u64,
    weighted: bool,
    arena: &Arena,
) -> Main {
    let mut out = Output::lists(arena, main, len, weighted);
    changes.iter().for_each(|change| out.put(change.local, change.dst, change.rank, change.state));
    out.finish(present)
}

/// Returns `main` with the first `n` entries applied. `output` makes the output for the given number of
/// edges.
#[inline]
fn merged<'a, E: Entries>(
    main: &'a Main,
    n: usize,
    lookup: EntryLookup<'a, E>,
    output: impl FnOnce(usize) -> Output<'a>,
) -> Main {
    let (keys, present) = sort(main.present, n, lookup.entries);
    let mut out = output(main.neighbors.len().wrapping_add_signed(growth(&keys, lookup.entries)));
    for_each_edge(&keys, lookup.entries, |_, last| {
        let (local, dst) = edge(last);
        out.put(local, dst, lookup.rank(last), lookup.state(last));
    });
    out.finish(present)
}

/// Returns which attributes the entries have.
fn kinds(entries: &impl Entries) -> Kinds {
    Kinds { ranks: entries.has_ranks(), rows: entries.has_rows() }
}

/// The values of entries for a merge. It does not look up attributes that no entry has, or weights in a graph
/// without weights.
struct EntryLookup<'a, E> {
    entries: &'a E,
    kinds: Kinds,
    weighted: bool,
}

impl<E> Clone for EntryLookup<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for EntryLookup<'_, E> {}

impl<'a, E: Entries> EntryLookup<'a, E> {
    fn new(entries: &'a E, weighted: bool) -> EntryLookup<'a, E> {
        EntryLookup { entries, kinds: kinds(entries), weighted }
    }

    /// Returns the rank of the edge in the entry of a key.
    #[inline]
    fn rank(&self, key: u64) -> u64 {
        if self.kinds.ranks { self.entries.rank(order(key)) } else { 0 }
    }

    /// Returns an edge's weight and properties after the entry of a key; `None` if the edge is gone.
    #[inline]
    fn state(&self, key: u64) -> Option<(f64, RowRef<'a>)> {
        if op(key) == EdgeOp::Remove {
            return None;
        }
        let weight = if self.weighted { self.entries.entry(order(key)).weight } else { 1.0 };
        let row = if self.kinds.rows { self.entries.row(order(key)) } else { RowRef::Empty };
        Some((weight, row))
    }
}

/// Folds the first `n` entries into `main`, which may have the patch `old`. Returns the main part, and its
/// patch if it has one. With `patching` the result may be the same main part with a new patch.
pub(crate) fn fold(
    main: &Main,
    old: Option<&Patch>,
    n: usize,
    entries: &impl Entries,
    patching: bool,
    weighted: bool,
    arena: &Arena,
) -> (Main, Option<Patch>) {
    let (sizes, edges) = (arena.patch_sizes(), main.neighbors.len());
    if old.is_none() && !(patching && sizes.fit(edges)) {
        return (apply(main, n, entries, weighted, arena), None);
    }
    let (present, patch) = patch(main, old, n, entries, weighted, arena);
    if patching && patch.len() <= sizes.most(edges) {
        return (Main { present, ..main.clone() }, Some(patch));
    }
    (flatten(main, &patch, present, weighted, arena), None)
}

/// Folds the first `n` entries into `old`, the patch of `main`. Returns the mask of the vertices that exist
/// afterwards, and the new patch. O(patch + n log n).
fn patch(
    main: &Main,
    old: Option<&Patch>,
    n: usize,
    entries: &impl Entries,
    weighted: bool,
    arena: &Arena,
) -> (u64, Patch) {
    let (keys, present) = sort(main.present, n, entries);
    let none = Patch::default();
    let old = old.unwrap_or(&none);
    let room = |old: &Main| old.neighbors.len() + keys.len();
    let lookup = EntryLookup::new(entries, weighted);
    let kinds = lookup.kinds;
    // An edge of the main part may have a new weight or new properties: then the patch has it in `added`.
    let restates = weighted || kinds.rows || main.columns().is_some();
    let mut added = Output::new(arena, &old.added, room(&old.added), weighted, kinds);
    let mut removed =
        Output::new(arena, &old.removed, room(&old.removed), false, Kinds { rows: false, ..kinds });
    for_each_edge(&keys, entries, |first, last| {
        let ((local, dst), rank) = (edge(last), lookup.rank(last));
        let in_main = patch::is_in_main(old, op(first), local, dst, rank);
        let state = lookup.state(last);
        removed.put(
            local,
            dst,
            rank,
            (in_main && (state.is_none() || restates)).then_some((0.0, RowRef::Empty)),
        );
        // The patch leaves out an edge of the main part that does not change.
        added.put(local, dst, rank, state.filter(|_| !in_main || restates));
    });
    (present, Patch { added: added.finish(0), removed: removed.finish(0) })
}

/// Returns `main` with a patch applied. O(edges + patch log degree).
pub(crate) fn flatten(main: &Main, patch: &Patch, present: u64, weighted: bool, arena: &Arena) -> Main {
    let len = main.neighbors.len() + patch.added.neighbors.len() - patch.removed.neighbors.len();
    let kinds = Kinds { ranks: patch.is_ranked(), rows: patch.added.columns().is_some() };
    let mut out = Output::new(arena, main, len, weighted, kinds);
    for i in 0..SUBGRAPH_VERTICES {
        patch.changes(LocalVertex(i as u8)).for_each(|c| out.put(c.local, c.dst, c.rank, c.state));
    }
    out.finish(present)
}

/// Returns the keys of the entries about edges in order, and the mask of the vertices that exist after all
/// entries.
fn sort(mut present: u64, n: usize, entries: &impl Entries) -> (Keys, u64) {
    debug_assert!(n <= MOST);
    let mut keys = Keys::with_capacity(n);
    for i in 0..n {
        let e = entries.entry(i);
        match e.op {
            EdgeOp::Vertex if e.dst.0 != 0 => present |= e.local.bit(),
            EdgeOp::Vertex => present &= !e.local.bit(),
            _ => keys
                .push(u64::from(e.local.0) << 58 | u64::from(e.dst.0) << 26 | (i as u64) << 2 | e.op as u64),
        }
    }
    keys.sort_unstable();
    if entries.has_ranks() {
        // Up to here, the keys of one pair of vertices are in commit order.
        keys.chunk_by_mut(|a, b| a >> 26 == b >> 26)
            .for_each(|pair| pair.sort_by_key(|&key| entries.rank(order(key))));
    }
    (keys, present)
}

/// Calls `f` with the keys of the first and the last entry about each edge.
#[inline]
fn for_each_edge(keys: &[u64], entries: &impl Entries, mut f: impl FnMut(u64, u64)) {
    let ranked = entries.has_ranks();
    let mut rest = keys;
    while let Some((&first, others)) = rest.split_first() {
        let same = |key: &u64| {
            key >> 26 == first >> 26 && (!ranked || entries.rank(order(*key)) == entries.rank(order(first)))
        };
        let count = others.iter().take_while(|key| same(key)).count();
        f(first, rest[count]);
        rest = &others[count..];
    }
}

/// Returns the place of the entry in the order of commits.
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

/// Returns the number of edges by which the lists grow. Only effective operations are logged, so the first
/// entry about an edge shows whether the edge existed before.
fn growth(keys: &[u64], entries: &impl Entries) -> isize {
    let mut growth = 0;
    for_each_edge(keys, entries, |first, last| {
        let (was, is) = (op(first) != EdgeOp::Insert, op(last) != EdgeOp::Remove);
        growth += isize::from(is) - isize::from(was);
    });
    growth
}

#[cfg(all(test, not(feature = "loom")))]
mod tests;
