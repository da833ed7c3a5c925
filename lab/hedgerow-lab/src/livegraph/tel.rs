//! The transactional edge log (sections 3 and 4): the entries of one list in one block, in the order in which
//! they were appended.
//!
//! An entry has a target and two timestamps: a snapshot at `t` sees the entry if `created <= t < ended`. Each
//! column of the entries is an array of atomic words. Writers hold the lock of the vertex; readers hold none:
//!
//! - A writer appends after the committed entries, with a mark instead of its timestamp. It also puts the
//!   mark into the entries that it invalidates. Marks are larger than all timestamps, so readers skip an
//!   appended entry and still see an invalidated one.
//! - A writer commits by replacing the marks, then the timestamp of the list, then the number of entries. A
//!   reader reads that number first.

use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use hedgerow_core::VertexId;

use super::filter;
use super::layout::Layout;
use crate::planted::{Planted, is_on};
use crate::run::{RUN, Run};

/// The invalidation timestamp of a valid entry.
pub(super) const NEVER: u64 = u64::MAX;
/// The bit that a transaction adds to its number to make its mark, while it has no timestamp.
pub(super) const MARK: u64 = 1 << 63;

/// The log in the block of a list; an empty log if the list has no block.
#[derive(Clone, Copy)]
pub(super) struct Tel<'a> {
    words: &'a [AtomicU64],
    layout: &'a Layout,
}

impl<'a> Tel<'a> {
    /// Returns the log in a block of this layout; `words` is empty if there is no block.
    #[inline]
    pub(super) fn new(words: &'a [AtomicU64], layout: &'a Layout) -> Tel<'a> {
        Tel { words, layout }
    }

    /// Returns the number of committed entries, and the number of valid ones among them.
    #[inline]
    pub(super) fn counts(&self) -> (usize, usize) {
        let counts = self.words.first().map_or(0, |word| word.load(Acquire));
        ((counts & 0xffff_ffff) as usize, (counts >> 32) as usize)
    }

    /// Returns the timestamp of the last commit. The caller first reads [`counts`](Self::counts): the counts
    /// are from this commit, or from an earlier one.
    #[inline]
    pub(super) fn committed(&self) -> u64 {
        self.words.get(1).map_or(0, |word| word.load(Relaxed))
    }

    pub(super) fn capacity(&self) -> usize {
        if self.words.is_empty() { 0 } else { self.layout.capacity }
    }

    #[inline]
    fn column(&self, first: usize, i: usize) -> &'a AtomicU64 {
        &self.words[first + i]
    }

    #[inline]
    pub(super) fn target(&self, i: usize) -> VertexId {
        VertexId((self.column(self.layout.targets, i / 2).load(Relaxed) >> (32 * (i & 1))) as u32)
    }

    fn set_target(&self, i: usize, target: VertexId) {
        let (word, shift) = (self.column(self.layout.targets, i / 2), 32 * (i & 1));
        let other = word.load(Relaxed) & !(0xffff_ffff << shift);
        word.store(other | u64::from(target.0) << shift, Relaxed);
    }

    #[inline]
    fn is_versioned(&self) -> bool {
        self.layout.ended != 0
    }

    #[inline]
    pub(super) fn created(&self, i: usize) -> u64 {
        if self.is_versioned() { self.column(self.layout.created, i).load(Relaxed) } else { 0 }
    }

    #[inline]
    pub(super) fn ended(&self, i: usize) -> u64 {
        if self.is_versioned() { self.column(self.layout.ended, i).load(Relaxed) } else { NEVER }
    }

    /// Returns the weight of an entry; 1 if edges have no weights.
    #[inline]
    pub(super) fn weight(&self, i: usize) -> f64 {
        if self.layout.weights == 0 {
            return 1.0;
        }
        f64::from_bits(self.column(self.layout.weights, i).load(Relaxed))
    }

    pub(super) fn set_created(&self, i: usize, at: u64) {
        if self.is_versioned() {
            self.column(self.layout.created, i).store(at, Relaxed);
        }
    }

    pub(super) fn set_ended(&self, i: usize, at: u64) {
        self.column(self.layout.ended, i).store(at, Relaxed);
    }

    pub(super) fn set_weight(&self, i: usize, weight: f64) {
        if self.layout.weights != 0 {
            self.column(self.layout.weights, i).store(weight.to_bits(), Relaxed);
        }
    }

    #[inline]
    fn filter(&self) -> &'a [AtomicU64] {
        self.words.get(self.layout.filter..).unwrap_or(&[])
    }

    /// Turns a newly allocated block into an empty list.
    pub(super) fn clear(&self) {
        self.words.iter().take(2).chain(self.filter()).for_each(|word| word.store(0, Relaxed));
    }

    /// Writes an entry after the other entries; it is not counted yet.
    #[inline]
    pub(super) fn append(&self, i: usize, target: VertexId, weight: f64, created: u64, ended: u64) {
        self.set_target(i, target);
        self.set_created(i, created);
        if self.is_versioned() {
            self.set_ended(i, ended);
        }
        self.set_weight(i, weight);
        filter::insert(self.filter(), target);
    }

    /// Appends the entries among the first `entries` of `other` whose timestamps `keeps` accepts. Returns the
    /// number of appended entries.
    pub(super) fn append_all(
        &self,
        other: Tel<'_>,
        entries: usize,
        keeps: impl Fn(u64, u64) -> bool,
    ) -> usize {
        let mut count = 0;
        for i in 0..entries {
            let (created, ended) = (other.created(i), other.ended(i));
            if keeps(created, ended) {
                self.append(count, other.target(i), other.weight(i), created, ended);
                if is_on(Planted::FilterNotRefilled) {
                    self.filter().iter().for_each(|word| word.store(0, Relaxed));
                }
                count += 1;
            }
        }
        count
    }

    /// Moves the last of `entries` entries to the place of a removed one. Only for lists without versions.
    pub(super) fn replace_by_last(&self, i: usize, entries: usize) {
        self.set_target(i, self.target(entries - 1));
        self.set_weight(i, self.weight(entries - 1));
    }

    /// Makes entries visible from `at` on.
    pub(super) fn commit(&self, at: u64, entries: usize, valid: usize) {
        self.words[1].store(at, Relaxed);
        self.words[0].store(entries as u64 | (valid as u64) << 32, Release);
    }

    /// Returns the last entry with this target among the first `end` entries. Reads from the end, O(end).
    #[inline]
    fn last_with(&self, target: VertexId, end: usize) -> Option<usize> {
        let both = u64::from(target.0) << 32 | u64::from(target.0);
        // A half of the difference is zero if that half of the word is the target.
        let same = |word: &AtomicU64| {
            let differs = word.load(Relaxed) ^ both;
            (differs >> 32 == 0) | (differs as u32 == 0)
        };
        if end % 2 == 1 && self.target(end - 1) == target {
            return Some(end - 1);
        }
        let words = &self.words[self.layout.targets..self.layout.targets + end / 2];
        let mut before = words.len();
        for chunk in words.rchunks(8) {
            before -= chunk.len();
            if chunk.iter().fold(false, |any, word| any | same(word)) {
                let place = 2 * (before + chunk.iter().rposition(same)?);
                return Some(if self.target(place + 1) == target { place + 1 } else { place });
            }
        }
        None
    }

    /// Returns the valid entry with this target, as the writer with `entries` entries sees it. O(1) if the
    /// filter rules out such an entry, else O(entries).
    pub(super) fn find_valid(&self, target: VertexId, entries: usize) -> Option<usize> {
        if entries == 0 || !filter::may_have(self.filter(), target) {
            return None;
        }
        // The entries of one target are in the order of their timestamps, so only the last one can be valid.
        self.last_with(target, entries).filter(|&i| self.ended(i) == NEVER)
    }

    /// Returns the weight of the edge to `target` at `at`, if there is one.
    #[inline]
    pub(super) fn find(&self, target: VertexId, at: u64) -> Option<f64> {
        let (mut end, _) = self.counts();
        if end == 0 || !filter::may_have(self.filter(), target) {
            return None;
        }
        loop {
            let i = self.last_with(target, end)?;
            if self.created(i) <= at {
                return (at < self.ended(i)).then(|| self.weight(i));
            }
            end = i;
        }
    }

    /// Returns the number of neighbours at `at`. O(1) if the last commit is visible, else O(entries).
    #[inline]
    pub(super) fn degree(&self, at: u64) -> usize {
        let (entries, valid) = self.counts();
        if self.committed() <= at {
            return valid;
        }
        (0..entries).filter(|&i| self.created(i) <= at && at < self.ended(i)).count()
    }

    /// Returns the valid targets among the first `entries` entries, ascending.
    pub(super) fn valid_targets(&self, entries: usize) -> Vec<VertexId> {
        let valid = (0..entries).filter(|&i| self.ended(i) == NEVER);
        let mut targets: Vec<VertexId> = valid.map(|i| self.target(i)).collect();
        targets.sort_unstable();
        targets
    }

    /// Copies the entries that are visible at `at` among the last `most` of the first `end` entries, at most
    /// [`RUN`], from new to old. Returns the number of entries that are left. Weights are copied if they are
    /// `WANTED`.
    #[inline]
    pub(super) fn copy<const WANTED: bool>(&self, end: usize, at: u64, most: usize, run: &mut Run) -> usize {
        if end == 0 {
            run.len = 0;
            return 0;
        }
        // The start is even, so that no word of two targets is read twice.
        let start = (end.saturating_sub(most.min(RUN)) + 1) & !1;
        match (self.is_versioned(), WANTED && self.layout.weights != 0) {
            (true, false) => self.copy_visible::<false>(start, end, at, run),
            (true, true) => self.copy_visible::<true>(start, end, at, run),
            (false, false) => self.copy_all::<false>(start, end, run),
            (false, true) => self.copy_all::<true>(start, end, run),
        }
        start
    }

    #[inline]
    fn copy_visible<const WEIGHTED: bool>(&self, start: usize, end: usize, at: u64, run: &mut Run) {
        let of = |column: usize| &self.words[column + start..column + end];
        let (created, ended) = (of(self.layout.created), of(self.layout.ended));
        let weights = if WEIGHTED { of(self.layout.weights) } else { &[] };
        let targets = &self.words[self.layout.targets + start / 2..self.layout.targets + end.div_ceil(2)];
        let (out, out_weights) = (&mut *run.targets, &mut *run.weights);
        let mut len = 0;
        let mut put = |target: u32, created: &AtomicU64, ended: &AtomicU64, i: usize| {
            let slot = len & (RUN - 1);
            out[slot] = VertexId(target);
            if WEIGHTED {
                out_weights[slot] = f64::from_bits(weights[i].load(Relaxed));
            }
            len += usize::from((created.load(Relaxed) <= at) & (at < ended.load(Relaxed)));
        };
        let pairs = (end - start) / 2;
        if (end - start) % 2 == 1 {
            put(targets[pairs].load(Relaxed) as u32, &created[2 * pairs], &ended[2 * pairs], 2 * pairs);
        }
        let columns = created.chunks_exact(2).zip(ended.chunks_exact(2));
        for (i, (target, (created, ended))) in targets[..pairs].iter().zip(columns).enumerate().rev() {
            let both = target.load(Relaxed);
            put((both >> 32) as u32, &created[1], &ended[1], 2 * i + 1);
            put(both as u32, &created[0], &ended[0], 2 * i);
        }
        run.len = len;
    }

    #[inline]
    fn copy_all<const WEIGHTED: bool>(&self, start: usize, end: usize, run: &mut Run) {
        let len = end - start;
        let targets = &self.words[self.layout.targets + start / 2..self.layout.targets + end.div_ceil(2)];
        // The unused half of the last word must not become the first target of the run.
        let odd = len % 2;
        if let (1, Some(last)) = (odd, targets.last()) {
            run.targets[0] = VertexId(last.load(Relaxed) as u32);
        }
        let out = run.targets[odd..len].chunks_exact_mut(2);
        for (out, both) in out.zip(targets[..len / 2].iter().rev()) {
            let both = both.load(Relaxed);
            (out[0], out[1]) = (VertexId((both >> 32) as u32), VertexId(both as u32));
        }
        if WEIGHTED {
            let weights = &self.words[self.layout.weights + start..self.layout.weights + end];
            for (out, weight) in run.weights.iter_mut().zip(weights.iter().rev()) {
                *out = f64::from_bits(weight.load(Relaxed));
            }
        }
        run.len = len;
    }
}
