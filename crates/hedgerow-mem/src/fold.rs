//! What a merge makes of the head of a chain: which entries it takes, and how much room the new delta has.

use std::sync::Arc;

use hedgerow_core::Timestamp;

use crate::arena::Arena;
use crate::change;
use crate::delta::Delta;
use crate::main_part::Main;
use crate::merge;
use crate::op::{EdgeOp, Entry, ItemEntry, LocalOp};
use crate::patch::Patch;
use crate::version::Version;

/// The first capacity of a delta, in entries. Under the model checkers two, so that merges come early.
pub(crate) const MIN_DELTA: usize = if cfg!(feature = "model-checking") { 2 } else { 4 };
/// The largest capacity of a delta, in entries.
const MAX_DELTA: usize = if cfg!(feature = "model-checking") { 2 } else { 256 };
/// A delta has room for this share of the main part: 1/8, within the bounds above.
const DELTA_SHARE: usize = 8;
/// While that is more, it has room for so many roots of the size of the main part: a main part that grows from nothing by an
/// eighth at a time is merged nearly twice as often.
const DELTA_ROOTS: usize = 3;

fn delta_capacity(edges: usize) -> usize {
    (edges / DELTA_SHARE).max(edges.isqrt() * DELTA_ROOTS).clamp(MIN_DELTA, MAX_DELTA)
}

/// Folds the published part of the delta, if that makes room for `count` operations at `ts`. The new version begins
/// at the last timestamp folded, which is published: the old one is dead at once unless a snapshot needs it.
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
    let capacity = delta_capacity(head.main.neighbors.len().saturating_add_signed(growth(&head.delta, n)));
    let offset_fits = ts.0 - begin(head, n).0 <= u64::from(u32::MAX);
    (carried + count <= capacity && offset_fits).then(|| fold(head, n, capacity, Aim::Write, weighted, arena))
}

/// By how many edges the first `n` entries of a delta change their number: only effective operations are logged. O(n).
fn growth(delta: &Delta, n: usize) -> isize {
    let of = |op| match op {
        EdgeOp::Insert => 1,
        EdgeOp::Remove => -1,
        EdgeOp::Update | EdgeOp::Vertex => 0,
    };
    (0..n).map(|i| of(delta.source(i).1)).sum()
}

/// Folds the published part of the delta and leaves no room for more. With `relocate` the main part moves also if
/// there is nothing to fold.
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

/// Merges the whole delta and the operations of `ts` into a version that begins at `ts`: for commits that do not fit.
pub(crate) fn all(head: &Version, ops: &[LocalOp], ts: Timestamp, weighted: bool, arena: &Arena) -> Version {
    if !head.is_plain() {
        let own = ops.iter().map(|op| ItemEntry { entry: op.entry(ts), rank: 0, row: None });
        return all_items(head, own, ts, weighted, arena);
    }
    let logged = head.delta.len();
    let entry = |i: usize| match i.checked_sub(logged) {
        None => head.delta.entry(i),
        Some(own) => ops[own].entry(ts),
    };
    let n = logged + ops.len();
    let (sizes, edges) = (arena.patch_sizes(), head.main.neighbors.len());
    let (main, patch) = if sizes.fit(edges) && n <= sizes.most(edges) {
        merge::fold(&head.main, head.patch.as_deref(), n, entry, true, weighted, arena)
    } else {
        (flat(head, n, entry, weighted, arena), None)
    };
    let changed = ops.iter().fold(0, |mask, op| mask | op.local.bit());
    let capacity = delta_capacity(main.neighbors.len());
    let mut version = Version::new(ts, main, Delta::new(ts, capacity, weighted, arena), changed);
    version.patch = patch.map(Arc::new);
    version
}

/// Main part, patch and the first `n` of what `entry` gives in one main part.
fn flat(head: &Version, n: usize, entry: impl Fn(usize) -> Entry, weighted: bool, arena: &Arena) -> Main {
    let flat = head.patch.as_ref().map(|p| merge::flatten(&head.main, p, head.main.present, weighted, arena));
    let mut main =
        merge::apply(flat.as_ref().unwrap_or(&head.main), n.min(merge::MOST), &entry, weighted, arena);
    for from in (merge::MOST..n).step_by(merge::MOST) {
        main = merge::apply(&main, (n - from).min(merge::MOST), |i| entry(from + i), weighted, arena);
    }
    main
}

/// As [`all`], of edges with ranks and rows among them.
pub(crate) fn all_items<'a>(
    head: &'a Version,
    own: impl Iterator<Item = ItemEntry<'a>>,
    ts: Timestamp,
    weighted: bool,
    arena: &Arena,
) -> Version {
    let mut changed = 0;
    let own = own.inspect(|item| changed |= item.entry.local.bit());
    let (changes, vertices) = change::reduce_items(head.delta.items(head.delta.len()).chain(own));
    let main = merge::items::apply(&head.main, &changes, &vertices, weighted, arena);
    let capacity = delta_capacity(main.neighbors.len());
    Version::new(ts, main, Delta::new(ts, capacity, weighted, arena), changed)
}

/// What a fold is for.
#[derive(Clone, Copy, PartialEq)]
enum Aim {
    /// To make room for what is to be written.
    Write,
    /// To leave a plain main part.
    Settle,
    /// The same, in new blocks in any case.
    Relocate,
}

/// Main part and patch of `head` with the first `n` delta entries merged in. A main part that stays as it is, is shared.
fn folded(head: &Version, n: usize, aim: Aim, weighted: bool, arena: &Arena) -> (Main, Option<Arc<Patch>>) {
    match (n, aim) {
        (0, Aim::Relocate) if head.patch.is_none() => (head.main.copied(arena), None),
        (0, Aim::Write) => (head.main.clone(), head.patch.clone()),
        (0, Aim::Settle) if head.patch.is_none() => (head.main.clone(), None),
        _ if head.is_plain() => {
            let (main, patch) = head.folded(n, aim == Aim::Write, weighted, arena);
            (main, patch.map(Arc::new))
        }
        _ => {
            let (changes, vertices) = change::reduce_items(head.delta.items(n));
            (merge::items::apply(&head.main, &changes, &vertices, weighted, arena), None)
        }
    }
}

/// The timestamp that a version begins at if the first `n` entries of the delta are folded into it.
fn begin(head: &Version, n: usize) -> Timestamp {
    if n == 0 { head.begin } else { head.delta.entry(n - 1).ts }
}

/// A version with the first `n` delta entries of `head` merged, and a delta for `capacity` entries, in which are those
/// carried over.
fn fold(head: &Version, n: usize, capacity: usize, aim: Aim, weighted: bool, arena: &Arena) -> Version {
    let (main, patch) = folded(head, n, aim, weighted, arena);
    let begin = begin(head, n);
    let delta = Delta::new(begin, capacity, weighted, arena);
    for i in n..head.delta.len() {
        let item = head.delta.item(i);
        let e = item.entry;
        delta.push_item(e.local, e.op, e.dst, e.ts, e.weight, (item.rank, item.row.cloned()));
    }
    let mut version = Version::new(begin, main, delta, 0);
    version.patch = patch;
    version
}

#[cfg(all(test, not(feature = "loom")))]
mod tests;
