//! Data that no reader needs any more: replaced blocks, and invalidated entries (section 6, compaction).

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow_core::sync::Mutex;
use hedgerow_core::{Direction, VertexId};

use super::horizon::Horizon;
use super::records::{Graph, Record};
use super::store::Address;
use crate::planted::{Planted, is_on};

/// Replaced blocks, and vertices with invalidated entries.
#[derive(Default)]
pub(super) struct Waste {
    /// The replaced blocks, by the timestamps from which on no reader finds them, nearly ascending.
    retired: Mutex<VecDeque<(u64, Address)>>,
    dirty: Mutex<Vec<VertexId>>,
}

impl Waste {
    /// Notes a vertex for a later compaction.
    pub(super) fn note(&self, v: VertexId, record: &Record) {
        if !record.dirty.swap(true, Relaxed) {
            self.dirty.lock().push(v);
        }
    }

    /// Keeps blocks until all readers see at least `at`. Returns the number of kept blocks.
    pub(super) fn retire(&self, at: u64, blocks: impl IntoIterator<Item = Address>) -> usize {
        let mut retired = self.retired.lock();
        retired.extend(blocks.into_iter().map(|block| (at, block)));
        retired.len()
    }

    /// Frees the blocks that no reader reads. O(freed blocks).
    pub(super) fn drain(&self, graph: &Graph, horizon: &Horizon) {
        let mut retired = self.retired.lock();
        while let Some(&(at, block)) = retired.front() {
            if horizon.needs(0, at) && !is_on(Planted::ReplacedBlocksFreed) {
                return;
            }
            graph.store.free(block);
            retired.pop_front();
        }
        if retired.capacity() > 1024 {
            retired.shrink_to(64);
        }
    }

    /// Compacts the lists of all noted vertices, one after another. Notes a vertex again if a reader still
    /// needs its invalidated entries. Returns the replaced blocks, which readers that are registered now may
    /// read. O(entries of those lists).
    pub(super) fn compact(&self, graph: &Graph, horizon: &Horizon, is_locking: bool) -> Vec<Address> {
        let dirty = std::mem::take(&mut *self.dirty.lock());
        let mut retired = Vec::new();
        for v in dirty {
            let Some(record) = graph.record(v) else { continue };
            // The thread holds no other lock while it waits.
            let _lock = is_locking.then(|| record.lock.lock());
            record.dirty.store(false, Relaxed);
            let mut is_clean = true;
            for direction in graph.form.directions() {
                is_clean &= compact_list(graph, record, *direction, horizon, &mut retired);
            }
            if let Some(presence) = record.presence().pruned(&graph.store, horizon, &mut retired) {
                record.set_presence(presence);
            }
            if !is_clean || record.presence().has_blocks() {
                self.note(v, record);
            }
        }
        retired
    }

    pub(super) fn bytes(&self) -> usize {
        self.retired.lock().capacity() * size_of::<(u64, Address)>() + self.dirty.lock().capacity() * 4
    }
}

/// Copies the entries that a reader needs to a block that fits them. Returns true if all remaining entries
/// are valid. Called under the lock.
fn compact_list(
    graph: &Graph,
    record: &Record,
    direction: Direction,
    horizon: &Horizon,
    retired: &mut Vec<Address>,
) -> bool {
    let address = record.list(direction);
    let tel = graph.tel(address);
    let (entries, valid) = tel.counts();
    let needed = |created, ended| horizon.needs(created, ended);
    let kept = (0..entries).filter(|&i| needed(tel.created(i), tel.ended(i))).count();
    let is_large = kept == 0 || graph.shape.order_for(kept) < address.order();
    if address.is_none() || kept == entries && !is_large || is_on(Planted::InvalidatedKept) {
        return valid == entries;
    }
    retired.push(address);
    if kept == 0 {
        record.set_list(direction, Address::NONE);
        return true;
    }
    let block = graph.new_tel(kept);
    let copy = graph.tel(block);
    copy.append_all(tel, entries, needed);
    copy.commit(tel.committed(), kept, valid);
    record.set_list(direction, block);
    valid == kept
}
