//! The primary index finds the leaf that holds a key. The secondary index finds the start of the list of a
//! vertex.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hedgerow_core::growing::Growing;
use hedgerow_core::{Direction, VertexId};
use parking_lot::Mutex;

use super::leaf::Leaf;
use super::options::{Shape, UNDO_BEFORE_PRUNING};
use super::segment::{END, Segment, key};
use super::undo::{Conflict, Horizon, admit};

/// The leaves in key order. An index never changes: a replacement of leaves makes a new index.
#[derive(Debug)]
pub(super) struct Index<C> {
    lows: Vec<u64>,
    pub(super) leaves: Vec<Arc<Leaf<C>>>,
    /// The place of each leaf in the order, by leaf id.
    by_id: Vec<u32>,
}

impl<C: From<Segment>> Index<C> {
    /// Makes an index of one leaf with one empty segment.
    pub(super) fn new(shape: &Shape, ids: &mut LeafIds) -> Index<C> {
        Index::of(vec![Arc::new(Leaf::new(ids.take(), vec![Segment::new(0, END, shape)]))])
    }
}

impl<C> Index<C> {
    fn of(leaves: Vec<Arc<Leaf<C>>>) -> Index<C> {
        let mut by_id = vec![u32::MAX; leaves.iter().map(|leaf| leaf.id as usize + 1).max().unwrap_or(0)];
        for (i, leaf) in leaves.iter().enumerate() {
            by_id[leaf.id as usize] = i as u32;
        }
        Index { lows: leaves.iter().map(|leaf| leaf.low).collect(), leaves, by_id }
    }

    /// Returns an index with `new` in place of the leaves in `range`.
    pub(super) fn replacing(&self, range: Range<usize>, new: Vec<Arc<Leaf<C>>>) -> Index<C> {
        let before = self.leaves[..range.start].iter().cloned();
        Index::of(before.chain(new).chain(self.leaves[range.end..].iter().cloned()).collect())
    }

    /// Returns the place of the leaf that holds `key`.
    #[inline]
    pub(super) fn place(&self, key: u64) -> usize {
        self.lows.partition_point(|&low| low <= key).saturating_sub(1)
    }

    #[inline]
    pub(super) fn leaf(&self, key: u64) -> &Leaf<C> {
        &self.leaves[self.place(key)]
    }

    /// Returns the place of the leaf that a hint names.
    #[inline]
    pub(super) fn place_of(&self, hint: Hint) -> Option<usize> {
        let place = *self.by_id.get(hint.leaf())? as usize;
        (place < self.leaves.len()).then_some(place)
    }

    #[inline]
    pub(super) fn leaf_of(&self, hint: Hint) -> Option<&Leaf<C>> {
        self.place_of(hint).map(|place| &*self.leaves[place])
    }

    pub(super) fn bytes(&self) -> usize {
        self.lows.capacity() * 8 + self.leaves.capacity() * 8 + self.by_id.capacity() * 4
    }
}

/// The allocator of leaf ids; no leaf has the id 0.
#[derive(Debug, Default)]
pub(super) struct LeafIds {
    last: u32,
    free: Vec<u32>,
}

impl LeafIds {
    pub(super) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.last += 1;
            self.last
        })
    }

    pub(super) fn give_back(&mut self, id: u32) {
        self.free.push(id);
    }
}

/// The start of the list of a vertex when a rebalance last moved it: the leaf, the segment, and the place of
/// the header.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hint(u64);

impl Hint {
    #[inline]
    pub(super) fn new(leaf: u32, segment: usize, header: usize) -> Hint {
        Hint(u64::from(leaf) << 32 | (segment as u64) << 16 | header as u64)
    }

    #[inline]
    fn leaf(self) -> usize {
        (self.0 >> 32) as usize
    }

    #[inline]
    pub(super) fn segment(self) -> usize {
        (self.0 >> 16 & 0xffff) as usize
    }

    #[inline]
    pub(super) fn header(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

/// The largest vertex id. A table for larger ids would need a directory of its chunks of more than 2 MB.
pub(super) const MOST: VertexId = VertexId((1 << 28) - 1);

/// The state of a vertex in the table.
#[derive(Debug, Default)]
struct Entry {
    /// The timestamp of the last change and, in the lowest bit, 1 if the vertex does not exist since then.
    /// The value is 0 if the vertex never existed.
    life: AtomicU64,
    lists: [AtomicU64; 2],
}

/// A life that a newer life replaced.
#[derive(Clone, Copy, Debug)]
struct Older {
    life: u64,
    end: u64,
}

/// The vertex table: the existence of each vertex, and the start of its lists.
#[derive(Default)]
pub(super) struct Table {
    entries: Growing<Entry, { MOST.0 as usize + 1 }>,
    bound: AtomicUsize,
    /// The older lives by vertex, from old to new. Every change of a life holds this lock, except the first
    /// change of a vertex.
    older: Mutex<BTreeMap<u32, Vec<Older>>>,
}

/// True if `life` states that the vertex exists.
pub(super) fn is_alive(life: u64) -> bool {
    life != 0 && life & 1 == 0
}

/// Returns the timestamp at which `life` begins.
pub(super) fn since(life: u64) -> u64 {
    life >> 1
}

impl Table {
    /// Returns one more than the largest id of a vertex that ever existed.
    pub(super) fn bound(&self) -> usize {
        self.bound.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn hint(&self, v: VertexId, direction: Direction) -> Hint {
        let list = |entry: &Entry| entry.lists[direction as usize].load(Ordering::Relaxed);
        Hint(self.entries.get(v.index()).map_or(0, list))
    }

    /// Enters the hints of the lists that begin in a segment, after a rebalance has filled the segment.
    pub(super) fn enter(&self, direction: Direction, segment: &Segment, leaf: u32, i: usize) {
        let mut last = (segment.low as u32 != 0).then_some((segment.low >> 32) as u32);
        segment.for_each_list(|header, v, _| {
            if last != Some(v)
                && let Some(entry) = self.entries.get(v as usize)
            {
                entry.lists[direction as usize].store(Hint::new(leaf, i, header).0, Ordering::Relaxed);
            }
            last = Some(v);
        });
    }

    /// Prefetches the entry of a vertex.
    #[inline]
    pub(super) fn prefetch(&self, v: VertexId) {
        if let Some(entry) = self.entries.get(v.index()) {
            hedgerow_core::simd::prefetch(entry);
        }
    }

    /// Returns the newest life of a vertex.
    #[inline]
    pub(super) fn life(&self, v: VertexId) -> u64 {
        self.entries.get(v.index()).map_or(0, |entry| entry.life.load(Ordering::SeqCst))
    }

    /// True if a vertex exists at the timestamp `at`.
    #[inline]
    pub(super) fn is_present(&self, v: VertexId, at: u64) -> bool {
        let life = self.life(v);
        if since(life) <= at { is_alive(life) } else { self.was_present(v, at) }
    }

    #[cold]
    fn was_present(&self, v: VertexId, at: u64) -> bool {
        let older = self.older.lock();
        // The life is read again under the lock: a rollback may have restored an earlier one.
        let life = self.life(v);
        if since(life) <= at {
            return is_alive(life);
        }
        let lives = older.get(&v.0).map_or(&[][..], Vec::as_slice);
        lives.iter().rev().find(|older| since(older.life) <= at).is_some_and(|older| is_alive(older.life))
    }

    /// Makes a vertex exist, or not exist, in the transaction of `at`. If `present` is `None`, the vertex
    /// stays as it is. No other transaction changes the vertex until this transaction is published. Returns
    /// the life before. Calls `horizon` if the vertex has many older lives.
    pub(super) fn set_life(
        &self,
        v: VertexId,
        present: Option<bool>,
        at: u64,
        published: impl Fn() -> u64,
        horizon: impl Fn() -> Horizon,
    ) -> Result<u64, Conflict> {
        let entry = self.entries.get_or_create(v.index(), |_| {});
        let begin = |is_present: bool| {
            if is_present {
                self.bound.fetch_max(v.index() + 1, Ordering::Relaxed);
            }
            at << 1 | u64::from(!is_present)
        };
        // A new vertex has no older lives, so this path needs no lock.
        if entry.life.load(Ordering::SeqCst) == 0 {
            let new = begin(present == Some(true));
            if entry.life.compare_exchange(0, new, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                return Ok(0);
            }
        }
        let mut older = self.older.lock();
        let life = entry.life.load(Ordering::SeqCst);
        admit(since(life), at, published)?;
        if life != 0 && since(life) != at {
            let lives = older.entry(v.0).or_default();
            // Prunes like the versions of a segment: once the room of the vector is full.
            if lives.len() >= UNDO_BEFORE_PRUNING && lives.len() == lives.capacity() {
                let horizon = horizon();
                lives.retain(|older| horizon.keeps(since(older.life), older.end));
            }
            lives.push(Older { life, end: at });
        }
        entry.life.store(begin(present.unwrap_or(is_alive(life))), Ordering::SeqCst);
        Ok(life)
    }

    /// Gives a vertex its life back from before the transaction of `at`.
    pub(super) fn roll_back(&self, v: VertexId, life: u64, at: u64) {
        let mut older = self.older.lock();
        if let Some(lives) = older.get_mut(&v.0) {
            lives.retain(|older| older.end != at);
        }
        if let Some(entry) = self.entries.get(v.index()) {
            entry.life.store(life, Ordering::SeqCst);
        }
    }

    /// Removes the older lives that `horizon` does not keep.
    pub(super) fn prune(&self, horizon: &Horizon) {
        self.older.lock().retain(|_, lives| {
            lives.retain(|older| horizon.keeps(since(older.life), older.end));
            !lives.is_empty()
        });
    }

    pub(super) fn bytes(&self) -> usize {
        let older = self.older.lock();
        self.entries.bytes()
            + older.values().map(|lives| 40 + lives.capacity() * size_of::<Older>()).sum::<usize>()
    }
}

/// Returns the keys of all edges of the vertices from `first` to `end`.
pub(super) fn keys(first: u64, end: u64) -> Range<u64> {
    let start = |v: u64| if v > u64::from(MOST.0) { key(MOST.0 + 1, 0) } else { key(v as u32, 0) };
    start(first)..start(end)
}
