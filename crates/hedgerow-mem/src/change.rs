//! Changes: a run of entries reduced to the final word about each edge.

use hedgerow_core::{LocalVertex, Row, VertexId};

use crate::op::{EdgeOp, Entry, ItemEntry};

/// The final word of a set of changes about one edge: its weight, or `None` if it is gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) local: LocalVertex,
    pub(crate) dst: VertexId,
    pub(crate) weight: Option<f64>,
}

/// The changes of `entries`, which come in commit order: vertices inserted and removed, edges reduced to the last
/// word about each and sorted by vertex and destination. O(n log n).
pub(crate) fn reduce(entries: impl Iterator<Item = Entry>) -> (Vec<Change>, Vec<(LocalVertex, bool)>) {
    let mut keyed: Vec<(u64, u32, Option<f64>)> = Vec::with_capacity(entries.size_hint().0);
    let mut vertices = Vec::new();
    for (order, entry) in entries.enumerate() {
        let key = (u64::from(entry.local.0) << 32) | u64::from(entry.dst.0);
        match entry.op {
            EdgeOp::Vertex => vertices.push((entry.local, entry.dst.0 != 0)),
            EdgeOp::Remove => keyed.push((key, order as u32, None)),
            EdgeOp::Insert | EdgeOp::Update => keyed.push((key, order as u32, Some(entry.weight))),
        }
    }
    keyed.sort_unstable_by_key(|&(key, order, _)| (key, order));
    let mut changes: Vec<Change> = Vec::with_capacity(keyed.len());
    for (key, _, weight) in keyed {
        let change = Change { local: LocalVertex((key >> 32) as u8), dst: VertexId(key as u32), weight };
        match changes.last_mut() {
            Some(last) if last.local == change.local && last.dst == change.dst => *last = change,
            _ => changes.push(change),
        }
    }
    (changes, vertices)
}

/// The final word of a set of changes about one edge: weight and row, or `None` if it is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemChange<'a> {
    pub(crate) local: LocalVertex,
    pub(crate) dst: VertexId,
    pub(crate) rank: u64,
    pub(crate) state: Option<(f64, Option<&'a Row>)>,
}

impl ItemChange<'_> {
    #[inline]
    fn key(&self) -> (u8, u32, u64) {
        (self.local.0, self.dst.0, self.rank)
    }
}

/// The changes of `entries`, which come in commit order: vertices inserted and removed, edges reduced to the last
/// word about each and sorted by vertex, destination and rank. O(n log n).
pub(crate) fn reduce_items<'a>(
    entries: impl Iterator<Item = ItemEntry<'a>>,
) -> (Vec<ItemChange<'a>>, Vec<(LocalVertex, bool)>) {
    let mut changes: Vec<ItemChange<'a>> = Vec::with_capacity(entries.size_hint().0);
    let mut vertices = Vec::new();
    for ItemEntry { entry, rank, row } in entries {
        let state = match entry.op {
            EdgeOp::Vertex => {
                vertices.push((entry.local, entry.dst.0 != 0));
                continue;
            }
            EdgeOp::Remove => None,
            EdgeOp::Insert | EdgeOp::Update => Some((entry.weight, row)),
        };
        changes.push(ItemChange { local: entry.local, dst: entry.dst, rank, state });
    }
    // Stable: of several about one edge the last stays last.
    changes.sort_by_key(ItemChange::key);
    changes.dedup_by(|later, kept| {
        let same = later.key() == kept.key();
        if same {
            *kept = *later;
        }
        same
    });
    (changes, vertices)
}
