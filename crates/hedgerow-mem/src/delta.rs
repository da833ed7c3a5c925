//! The delta: an append-only log of effective operations with commit timestamps, written under the latch of
//! its subgraph and read without locks.
//!
//! # Protocol
//! * One thread at a time appends: the holder of the subgraph's latch.
//! * Entries `0..len` are never written again after `len` was published by a release store; readers load it
//!   with acquire and read no entry beyond.
//! * Timestamps ascend along the log, because they are drawn while the latch is held.
//!
//! * The *Bloom filter* gets a bit for each entry about an edge before the entry is published, and no bit is
//!   ever cleared. So a reader that sees an entry also sees its bit. It is a filter of one hash (Bloom,
//!   "Space/time trade-offs in hash coding with allowable errors", 1970), with one byte per entry, so that a
//!   full log has one bit in eight set. For most edges the log has no entry, and a look-up reads only one
//!   word of the filter.
//!
//! Entries are stored as a struct of arrays in one allocation, so that the filter on the local source reads
//! 16 entries per vector load.
#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::OnceLock;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicBool, AtomicU32, Ordering};
use hedgerow_core::{LocalVertex, PropertyId, PropertyType, Timestamp, VertexId, simd};

use crate::arena::Arena;
use crate::items::DeltaExtra;
use crate::op::{Entries, Entry, Ops};

pub use crate::op::EdgeOp;

mod attributes;
mod storage;

use storage::{ENTRIES_PER_WORD, Storage};

/// A delta log of fixed capacity. Timestamps are stored as 32-bit offsets from the `base` of the log.
pub struct Delta {
    base: Timestamp,
    len: AtomicU32,
    capacity: u32,
    weighted: bool,
    /// True if some entry has a rank. It is a field of the delta, not of `extra`, because every look-up of an
    /// edge reads it.
    ranked: AtomicBool,
    /// The property whose values are stored as a word per entry.
    word: Option<WordProperty>,
    storage: Storage,
    /// Ranks, and rows that the storage cannot hold. Allocated for the first entry that has such attributes.
    extra: OnceLock<Box<DeltaExtra>>,
}

/// Packs vertex and operation of an entry into a byte.
#[inline]
fn tag(local: LocalVertex, op: EdgeOp) -> u8 {
    (local.0 & 0x3f) | ((op as u8) << 6)
}

/// A property of fixed width, and its type.
pub(crate) type WordProperty = (PropertyId, PropertyType);

impl Delta {
    /// Makes an empty log for entries after `base`. Allocates 10 bytes per entry, 18 in a weighted graph, and
    /// nothing for capacity 0.
    pub fn new(base: Timestamp, capacity: usize, weighted: bool, arena: &Arena) -> Delta {
        Delta::with_words(base, capacity, weighted, None, arena)
    }

    /// Like [`new`](Self::new), but with a place in each entry for the value of the property `word`: 8 bytes
    /// and one bit more per entry.
    pub(crate) fn with_words(
        base: Timestamp,
        capacity: usize,
        weighted: bool,
        word: Option<WordProperty>,
        arena: &Arena,
    ) -> Delta {
        Delta {
            base,
            len: AtomicU32::new(0),
            capacity: capacity as u32,
            weighted,
            ranked: AtomicBool::new(false),
            word: word.filter(|_| capacity > 0),
            storage: Storage::new(capacity, weighted, word.is_some(), arena),
            extra: OnceLock::new(),
        }
    }

    /// Prefetches the places that the next append writes, without the Bloom filter. With `scan`, prefetches
    /// all tags too.
    #[inline]
    pub(crate) fn prefetch(&self, scan: bool) {
        self.storage.prefetch(self.len.load(Ordering::Relaxed) as usize, scan);
    }

    /// Prefetches the last entry.
    #[inline]
    pub(crate) fn prefetch_last(&self) {
        let last = (self.len.load(Ordering::Relaxed) as usize).saturating_sub(1);
        self.storage.prefetch(last, false);
    }

    /// Prefetches the word of the Bloom filter for the edge: a look-up reads it first, and an append writes
    /// it.
    #[inline]
    pub(crate) fn prefetch_filter(&self, local: LocalVertex, dst: VertexId) {
        self.storage.prefetch_filter(self.bit(local, dst));
    }

    /// Prefetches the whole Bloom filter.
    #[inline]
    pub(crate) fn prefetch_filters(&self) {
        (0..self.filter_bits()).step_by(512).for_each(|bit| self.storage.prefetch_filter(bit));
    }

    /// Prefetches all destinations.
    pub(crate) fn prefetch_dsts(&self) {
        (0..self.len()).step_by(16).for_each(|i| self.storage.prefetch_dst(i));
    }

    /// Returns the number of published entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Acquire) as usize
    }

    /// True if there is no entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of entries that the log can hold.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// Returns the bytes of the block in the arena.
    pub(crate) fn block_bytes(&self) -> usize {
        self.storage.bytes()
    }

    /// Returns the property whose values are stored as a word per entry, if there is one.
    pub(crate) fn word(&self) -> Option<WordProperty> {
        self.word
    }

    /// Returns the bytes of the log, with ranks and rows.
    pub fn bytes(&self) -> usize {
        self.storage.bytes() + self.extra().map_or(0, DeltaExtra::bytes)
    }

    /// Sets the base of a log without entries to `base`.
    pub(crate) fn begin_at(&mut self, base: Timestamp) {
        debug_assert!(self.is_empty());
        self.base = base;
    }

    /// True if `count` entries with the timestamp `ts` can be appended: there is room, and the offset fits 32
    /// bits.
    #[inline]
    pub fn accepts(&self, count: usize, ts: Timestamp) -> bool {
        self.len() + count <= self.capacity() && ts.0 - self.base.0 <= u64::from(u32::MAX)
    }

    /// Appends the operations of the commit `ts` and publishes them together.
    ///
    /// The caller holds the latch of the subgraph and has checked that [`accepts`](Self::accepts) is true.
    ///
    /// # Panics
    /// If there is no room: the storage is never written out of bounds.
    #[inline]
    pub(crate) fn push_all(&self, ops: Ops<'_>, ts: Timestamp) {
        let first = self.len.load(Ordering::Relaxed) as usize;
        assert!(ops.len() <= self.capacity() - first, "delta is full");
        if ops.have_attributes() || self.word.is_some() {
            self.set_all(first, ops);
        }
        for (at, op) in (first..).zip(ops.iter()) {
            self.write(at, op.local, op.op, op.dst, ts, op.weight);
        }
        self.len.store((first + ops.len()) as u32, Ordering::Release);
    }

    /// Appends the entries of `other` from index `from` on, with their timestamps, and publishes them
    /// together.
    ///
    /// # Panics
    /// If there is no room.
    pub(crate) fn carry_over(&self, other: &Delta, from: usize) {
        let (first, end) = (self.len.load(Ordering::Relaxed) as usize, other.len());
        assert!(end - from <= self.capacity() - first, "delta is full");
        for (at, i) in (first..).zip(from..end) {
            self.set_attributes(at, other.rank(i), other.row(i));
            let e = other.entry(i);
            self.write(at, e.local, e.op, e.dst, e.ts, e.weight);
        }
        self.len.store((first + end - from) as u32, Ordering::Release);
    }

    /// Writes an entry that is not published yet, and sets its bit in the Bloom filter.
    #[inline]
    fn write(&self, at: usize, local: LocalVertex, op: EdgeOp, dst: VertexId, ts: Timestamp, weight: f64) {
        self.storage.write(at, tag(local, op), dst, (ts.0 - self.base.0) as u32, weight);
        if op != EdgeOp::Vertex && !faults::is_on(PlantedFault::EntryNotNoted) {
            self.storage.filter(self.bit(local, dst));
        }
    }

    /// Returns the number of entries at or before `t`: a snapshot at `t` sees these. O(1) for a snapshot that
    /// sees all of them, else O(log entries).
    #[inline]
    pub fn visible(&self, t: Timestamp) -> usize {
        let len = self.len();
        if t < self.base || len == 0 {
            return 0;
        }
        let offset = t.0 - self.base.0;
        let (mut low, mut high) = (0, len);
        if u64::from(self.storage.ts(len - 1)) <= offset {
            return len;
        }
        while low < high {
            let middle = (low + high) / 2;
            if u64::from(self.storage.ts(middle)) <= offset {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the entry at `index`, which must be below [`len`](Self::len).
    #[inline]
    pub(crate) fn entry(&self, index: usize) -> Entry {
        let tag = self.storage.tag(index);
        Entry {
            local: LocalVertex(tag & 0x3f),
            op: EdgeOp::from_tag(tag),
            dst: self.storage.dst(index),
            ts: Timestamp(self.base.0 + u64::from(self.storage.ts(index))),
            weight: if self.weighted { self.storage.weight(index) } else { 1.0 },
        }
    }

    /// Returns vertex and operation of the entry at `index`, which must be below [`len`](Self::len).
    #[inline]
    pub(crate) fn source(&self, index: usize) -> (LocalVertex, EdgeOp) {
        let tag = self.storage.tag(index);
        (LocalVertex(tag & 0x3f), EdgeOp::from_tag(tag))
    }

    /// Returns the other endpoint in the entry at `index`, which must be below [`len`](Self::len).
    #[inline]
    pub(crate) fn destination(&self, index: usize) -> VertexId {
        self.storage.dst(index)
    }

    /// Returns the first `n` entries in order; `n` must be at most [`len`](Self::len).
    pub(crate) fn entries(&self, n: usize) -> impl DoubleEndedIterator<Item = Entry> + ExactSizeIterator {
        (0..n).map(|i| self.entry(i))
    }

    #[inline]
    fn filter_bits(&self) -> usize {
        self.capacity().div_ceil(ENTRIES_PER_WORD) * 64
    }

    /// Returns the bit of an edge in the Bloom filter.
    #[inline]
    fn bit(&self, local: LocalVertex, dst: VertexId) -> usize {
        let hash = (dst.0 ^ u32::from(local.0) << 26).wrapping_mul(0x9e37_79b1);
        ((u64::from(hash) * self.filter_bits() as u64) >> 32) as usize
    }

    /// True if there may be an entry about the edge from `local` to `dst`. False is certain for all entries
    /// that the caller must see: those below [`len`](Self::len), and those at or before a timestamp that the
    /// caller knows to be published.
    #[inline]
    pub(crate) fn may_mention(&self, local: LocalVertex, dst: VertexId) -> bool {
        self.capacity > 0 && self.storage.filter_has(self.bit(local, dst))
    }

    /// Returns the index of the last entry about the edge from `local` to `dst` among the first `n` entries,
    /// if any. `wanted` selects entries by index, such as the entries of one rank.
    #[inline]
    pub(crate) fn last_edge(
        &self,
        n: usize,
        local: LocalVertex,
        dst: VertexId,
        wanted: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        if n == 0 || !self.may_mention(local, dst) {
            return None;
        }
        self.scan_for(n, local, dst, wanted)
    }

    /// Like [`last_edge`](Self::last_edge), but without the Bloom filter. Not inlined: most look-ups end at
    /// the filter, in their caller.
    #[inline(never)]
    fn scan_for(
        &self,
        n: usize,
        local: LocalVertex,
        dst: VertexId,
        wanted: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut found = None;
        self.for_each_index_of(n, local, |i| {
            if self.storage.dst(i) == dst && self.storage.tag(i) >> 6 != EdgeOp::Vertex as u8 && wanted(i) {
                found = Some(i);
            }
        });
        found
    }

    /// Searches the first `n` entries, and calls `f` with the place of each entry about `local`, in order.
    #[inline]
    pub(crate) fn for_each_index_of(&self, n: usize, local: LocalVertex, f: impl FnMut(usize)) {
        self.storage.with_tags(n, |tags| simd::for_each_low6(tags, local.0, f));
    }

    /// Returns how many edges of `local` the first `n` entries insert, minus the edges that they remove. All
    /// entries are effective, so this is the growth of the vertex's list. O(n), without a branch that depends
    /// on an entry.
    #[inline]
    pub(crate) fn growth_of(&self, n: usize, local: LocalVertex) -> isize {
        let [inserts, removals] = [EdgeOp::Insert, EdgeOp::Remove].map(|op| tag(local, op));
        self.storage.with_tags(n, |tags| simd::count_difference(tags, inserts, removals))
    }

    /// Like [`growth_of`](Self::growth_of), but for all lists. O(n).
    pub(crate) fn growth(&self, n: usize) -> isize {
        (0..n).map(|i| self.source(i).1.growth() as isize).sum()
    }

    /// Counts the entries that remove an edge. O(entries), without a branch that depends on an entry.
    #[inline]
    pub(crate) fn removals(&self, entries: Range<usize>) -> usize {
        let is_removal = |tag: &u8| usize::from(tag >> 6 == EdgeOp::Remove as u8);
        self.storage.with_tags(entries.end, |tags| {
            tags.get(entries.start..).unwrap_or(&[]).iter().map(is_removal).sum()
        })
    }

    /// True if edges have weights.
    #[inline]
    pub(crate) fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// Calls `f` with each of the first `n` entries about `local`, in order.
    #[inline]
    pub(crate) fn for_each_of(&self, n: usize, local: LocalVertex, mut f: impl FnMut(Entry)) {
        self.for_each_index_of(n, local, |i| f(self.entry(i)));
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests;
