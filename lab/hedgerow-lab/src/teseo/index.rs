//! The primary index: which leaf holds a key. And the secondary one: where the list of a vertex begins.

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

/// The leaves in their order. It never changes: where leaves take the place of others there is a new one.
#[derive(Debug)]
pub(super) struct Index<C> {
    lows: Vec<u64>,
    pub(super) leaves: Vec<Arc<Leaf<C>>>,
    /// For each id of a leaf its place in the order.
    by_id: Vec<u32>,
}

impl<C: From<Segment>> Index<C> {
    /// Of a leaf with one empty segment.
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

    /// With `new` instead of the leaves in `range`.
    pub(super) fn replacing(&self, range: Range<usize>, new: Vec<Arc<Leaf<C>>>) -> Index<C> {
        let before = self.leaves[..range.start].iter().cloned();
        Index::of(before.chain(new).chain(self.leaves[range.end..].iter().cloned()).collect())
    }

    /// The place of the leaf that holds `key`.
    #[inline]
    pub(super) fn place(&self, key: u64) -> usize {
        self.lows.partition_point(|&low| low <= key).saturating_sub(1)
    }

    #[inline]
    pub(super) fn leaf(&self, key: u64) -> &Leaf<C> {
        &self.leaves[self.place(key)]
    }

    /// The place of the leaf to which a hint leads.
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

/// Ids of leaves; 0 is none.
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

/// Where the list of a vertex began when it was last moved by a rebalance: leaf, segment, and the place of
/// its header.
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

/// The largest id: a table for more would have a directory of its chunks of more than 2 MB.
pub(super) const MOST: VertexId = VertexId((1 << 28) - 1);

/// What is known of a vertex.
#[derive(Debug, Default)]
struct Entry {
    /// The timestamp of the last change and, in the lowest bit, whether there is no such vertex since then.
    /// 0: there never was.
    life: AtomicU64,
    lists: [AtomicU64; 2],
}

/// A life that another one replaced.
#[derive(Clone, Copy, Debug)]
struct Older {
    life: u64,
    end: u64,
}

/// The vertex table: whether a vertex exists, and where its lists begin.
#[derive(Default)]
pub(super) struct Table {
    entries: Growing<Entry, { MOST.0 as usize + 1 }>,
    bound: AtomicUsize,
    /// By vertex, from old to new. Held while lives change, but for the first one of a vertex.
    older: Mutex<BTreeMap<u32, Vec<Older>>>,
}

/// Whether a life says that the vertex exists.
pub(super) fn is_alive(life: u64) -> bool {
    life != 0 && life & 1 == 0
}

/// Since when a life holds.
pub(super) fn since(life: u64) -> u64 {
    life >> 1
}

impl Table {
    /// One more than the largest vertex that ever was.
    pub(super) fn bound(&self) -> usize {
        self.bound.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn hint(&self, v: VertexId, direction: Direction) -> Hint {
        let list = |entry: &Entry| entry.lists[direction as usize].load(Ordering::Relaxed);
        Hint(self.entries.get(v.index()).map_or(0, list))
    }

    /// Enters where the lists begin that a rebalance has put into a segment.
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

    /// Starts loading what is known of a vertex.
    #[inline]
    pub(super) fn prefetch(&self, v: VertexId) {
        if let Some(entry) = self.entries.get(v.index()) {
            hedgerow_core::simd::prefetch(entry);
        }
    }

    /// The newest life of a vertex.
    #[inline]
    pub(super) fn life(&self, v: VertexId) -> u64 {
        self.entries.get(v.index()).map_or(0, |entry| entry.life.load(Ordering::SeqCst))
    }

    /// Whether a vertex exists at `at`.
    #[inline]
    pub(super) fn is_present(&self, v: VertexId, at: u64) -> bool {
        let life = self.life(v);
        if since(life) <= at { is_alive(life) } else { self.was_present(v, at) }
    }

    #[cold]
    fn was_present(&self, v: VertexId, at: u64) -> bool {
        let older = self.older.lock();
        // Under the lock: it may have been rolled back.
        let life = self.life(v);
        if since(life) <= at {
            return is_alive(life);
        }
        let lives = older.get(&v.0).map_or(&[][..], Vec::as_slice);
        lives.iter().rev().find(|older| since(older.life) <= at).is_some_and(|older| is_alive(older.life))
    }

    /// Makes a vertex exist or not in the transaction of `at`; without `present` it stays as it is, and no
    /// other transaction changes it until that transaction is published. Returns the life before. Asks for
    /// the `horizon` if the vertex has many older lives.
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
        // A new vertex has no older lives, so that the lock is not needed.
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
            // As a segment's versions: once their room is full.
            if lives.len() >= UNDO_BEFORE_PRUNING && lives.len() == lives.capacity() {
                let horizon = horizon();
                lives.retain(|older| horizon.keeps(since(older.life), older.end));
            }
            lives.push(Older { life, end: at });
        }
        entry.life.store(begin(present.unwrap_or(is_alive(life))), Ordering::SeqCst);
        Ok(life)
    }

    /// Gives a vertex the life back that it had before the transaction of `at`.
    pub(super) fn roll_back(&self, v: VertexId, life: u64, at: u64) {
        let mut older = self.older.lock();
        if let Some(lives) = older.get_mut(&v.0) {
            lives.retain(|older| older.end != at);
        }
        if let Some(entry) = self.entries.get(v.index()) {
            entry.life.store(life, Ordering::SeqCst);
        }
    }

    /// Gives up the older lives that nobody needs.
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

/// The keys of all edges of the vertices from `first` to `end`.
pub(super) fn keys(first: u64, end: u64) -> Range<u64> {
    let start = |v: u64| if v > u64::from(MOST.0) { key(MOST.0 + 1, 0) } else { key(v as u32, 0) };
    start(first)..start(end)
}
