//! Folds of the head of a chain: the choice of the entries to merge, and the capacity of the new delta.

use std::sync::Arc;

use hedgerow_core::{RowRef, Timestamp};

use crate::arena::Arena;
use crate::delta::{Delta, WordProperty};
use crate::main_part::Main;
use crate::merge;
use crate::op::{Entries, Entry, Ops};
use crate::patch::Patch;
use crate::version::Version;

/// The first capacity of a delta, in entries. Under the model checkers it is two, so that merges happen
/// early.
pub(crate) const MIN_DELTA: usize = if cfg!(feature = "model-checking") { 2 } else { 4 };
/// The largest capacity of a delta, in entries.
const MAX_DELTA: usize = if cfg!(feature = "model-checking") { 2 } else { 256 };
/// The divisor of the size of the main part: a delta has room for 1/8 of it, within the bounds above.
const DELTA_SHARE: usize = 8;
/// A delta has room for at least this many square roots of the size of the main part. With room for only an
/// eighth, a main part that grows from nothing would be merged nearly twice as often.
const DELTA_ROOTS: usize = 3;

pub(crate) fn delta_capacity(edges: usize) -> usize {
    (edges / DELTA_SHARE).max(edges.isqrt() * DELTA_ROOTS).clamp(MIN_DELTA, MAX_DELTA)
}

/// Folds the published part of the delta, if that makes room for `count` operations at `ts`. The new version
/// begins at the last folded timestamp. This timestamp is published, so the old version is dead at once
/// unless a snapshot needs it.
pub(crate) fn published(
    head: &Version,
    count: usize,
    ts: Timestamp,
    weighted: bool,
    published: Timestamp,
    arena: &Arena,
) -> Option<Version> {
    let n = head.delta.visible(published);
    let carried = head.delta.len() - n;
    if n == 0 && carried > 0 {
        return None;
    }
    let capacity = delta_capacity(head.main.neighbors.len().saturating_add_signed(head.delta.growth(n)));
    let offset_fits = ts.0 - begin(head, n).0 <= u64::from(u32::MAX);
    (carried + count <= capacity && offset_fits).then(|| fold(head, n, capacity, Aim::Write, weighted, arena))
}

/// Folds the published part of the delta. The new version has a delta without capacity. With `relocate` the
/// main part moves even if there is nothing to fold.
pub(crate) fn settle(
    head: &Version,
    published: Timestamp,
    relocate: bool,
    weighted: bool,
    arena: &Arena,
) -> Version {
    let n = head.delta.visible(published);
    let aim = if relocate { Aim::Relocate } else { Aim::Settle };
    fold(head, n, head.delta.len() - n, aim, weighted, arena)
}

/// Merges the whole delta and the operations of `ts` into a version that begins at `ts`, for a commit that
/// does not fit into a delta.
pub(crate) fn all(head: &Version, ops: Ops<'_>, ts: Timestamp, weighted: bool, arena: &Arena) -> Version {
    let (delta, logged) = (&head.delta, head.delta.len());
    let (ranks, rows) = (delta.has_ranks() || ops.has_ranks(), delta.has_rows() || ops.has_rows());
    let entries = WithOps { delta, logged, ops, ts, weighted, ranks, rows };
    let n = entries.logged + ops.len();
    delta.prefetch_properties(logged);
    let (sizes, edges) = (arena.patch_sizes(), head.main.neighbors.len());
    let (main, patch) = if sizes.fit(edges) && n <= sizes.most(edges) {
        merge::fold(&head.main, head.patch.as_deref(), n, &entries, true, weighted, arena)
    } else {
        (flat(head, n, &entries, weighted, arena), None)
    };
    let changed = ops.iter().fold(0, |mask, op| mask | op.local.bit());
    let capacity = delta_capacity(main.neighbors.len());
    let word = main.word_property().or_else(|| patch.as_ref()?.added.word_property());
    let mut version = Version::new(ts, main, Delta::with_words(ts, capacity, weighted, word, arena), changed);
    version.number = head.number + 1;
    version.patch = patch.map(Arc::new);
    version
}

/// The entries of a delta, and behind them the operations of the commit `ts`.
struct WithOps<'a> {
    delta: &'a Delta,
    logged: usize,
    ops: Ops<'a>,
    ts: Timestamp,
    weighted: bool,
    ranks: bool,
    rows: bool,
}

impl Entries for WithOps<'_> {
    #[inline]
    fn entry(&self, at: usize) -> Entry {
        match at.checked_sub(self.logged) {
            None => self.delta.entry(at),
            Some(own) => {
                let op = self.ops.get(own);
                let weight = if self.weighted { op.weight } else { 1.0 };
                Entry { local: op.local, op: op.op, dst: op.dst, ts: self.ts, weight }
            }
        }
    }

    #[inline]
    fn has_ranks(&self) -> bool {
        self.ranks
    }

    #[inline]
    fn has_rows(&self) -> bool {
        self.rows
    }

    #[inline]
    fn rank(&self, at: usize) -> u64 {
        match at.checked_sub(self.logged) {
            None => self.delta.rank(at),
            Some(own) => self.ops.attributes(own).map_or(0, |attributes| attributes.rank),
        }
    }

    #[inline]
    fn row(&self, at: usize) -> RowRef<'_> {
        match at.checked_sub(self.logged) {
            None => self.delta.row(at),
            Some(own) => self.ops.attributes(own).map_or(RowRef::Empty, |attributes| attributes.row),
        }
    }
}

/// The entries of `E` from an index on.
struct EntriesFrom<'a, E>(usize, &'a E);

impl<E: Entries> Entries for EntriesFrom<'_, E> {
    fn entry(&self, at: usize) -> Entry {
        self.1.entry(self.0 + at)
    }

    fn has_ranks(&self) -> bool {
        self.1.has_ranks()
    }

    fn has_rows(&self) -> bool {
        self.1.has_rows()
    }

    fn rank(&self, at: usize) -> u64 {
        self.1.rank(self.0 + at)
    }

    fn row(&self, at: usize) -> RowRef<'_> {
        self.1.row(self.0 + at)
    }
}

/// Merges main part, patch and the first `n` entries into one main part.
fn flat(head: &Version, n: usize, entries: &impl Entries, weighted: bool, arena: &Arena) -> Main {
    let flat = head.patch.as_ref().map(|p| merge::flatten(&head.main, p, head.main.present, weighted, arena));
    let mut main =
        merge::apply(flat.as_ref().unwrap_or(&head.main), n.min(merge::MOST), entries, weighted, arena);
    for from in (merge::MOST..n).step_by(merge::MOST) {
        main = merge::apply(&main, (n - from).min(merge::MOST), &EntriesFrom(from, entries), weighted, arena);
    }
    main
}

/// The purpose of a fold.
#[derive(Clone, Copy, PartialEq)]
enum Aim {
    /// Makes room in the delta for operations.
    Write,
    /// Makes a plain main part without a patch.
    Settle,
    /// Like `Settle`, but always in new blocks.
    Relocate,
}

/// Returns main part and patch of `head` with the first `n` delta entries merged in. A main part that does
/// not change is shared.
fn folded(head: &Version, n: usize, aim: Aim, weighted: bool, arena: &Arena) -> (Main, Option<Arc<Patch>>) {
    match (n, aim) {
        (0, Aim::Relocate) if head.patch.is_none() => (head.main.copied(arena), None),
        (0, Aim::Write) => (head.main.clone(), head.patch.clone()),
        (0, Aim::Settle) if head.patch.is_none() => (head.main.clone(), None),
        _ => {
            let (main, patch) = head.folded(n, aim == Aim::Write, weighted, arena);
            (main, patch.map(Arc::new))
        }
    }
}

/// Returns the timestamp at which a version begins if the first `n` entries of the delta are folded into it.
fn begin(head: &Version, n: usize) -> Timestamp {
    if n == 0 { head.begin } else { head.delta.entry(n - 1).ts }
}

/// Returns the word property that the delta of the next version has, unless its merge changes the properties.
pub(crate) fn word_of(head: &Version) -> Option<WordProperty> {
    word_of_parts(&head.main, head.patch.as_deref())
}

fn word_of_parts(main: &Main, patch: Option<&Patch>) -> Option<WordProperty> {
    main.word_property().or_else(|| patch?.added.word_property())
}

/// Makes a version with the first `n` delta entries of `head` merged. Its delta has room for `capacity`
/// entries, and begins with the entries that are carried over.
fn fold(head: &Version, n: usize, capacity: usize, aim: Aim, weighted: bool, arena: &Arena) -> Version {
    // The merge reads entries in the order of edges: their properties arrive in the cache while the merge
    // sorts them.
    head.delta.prefetch_properties(n);
    let (main, patch) = folded(head, n, aim, weighted, arena);
    let begin = begin(head, n);
    let word = word_of_parts(&main, patch.as_deref());
    let delta = Delta::with_words(begin, capacity, weighted, word, arena);
    delta.carry_over(&head.delta, n);
    let mut version = Version::new(begin, main, delta, 0);
    version.number = head.number + 1;
    version.patch = patch;
    version
}

#[cfg(all(test, not(feature = "loom")))]
mod tests;
