//! A segment: a part of all edges in key order, and the fence keys that bound this part.
//!
//! *Read-optimised* (section 4.1): words are packed at both ends, and the gap is between them. A source has a
//! header of two words: its id, and the number of targets that follow. Its targets come after the header.
//! *Write-optimised*: edges without room in the gap go into a buffer. The buffer has an order of its own,
//! until a rebalance spreads its edges.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use hedgerow_core::VertexId;

use super::options::Shape;
use super::undo::Undo;

/// The bit that marks a word as the id of a source. No target has this bit, since ids are smaller.
pub(super) const HEAD: u32 = 1 << 31;
/// The distance from a hint within which a search looks for a header. A segment takes about this number of
/// insertions after a rebalance.
const NEAR: usize = 256;
/// A place that no header has.
pub(super) const NO_HEADER: usize = usize::MAX;
/// The end of the keys: greater than every key.
pub(super) const END: u64 = u64::MAX;

/// Returns the key of an edge. Keys order edges by source, then by target.
#[inline]
pub(super) fn key(source: u32, target: u32) -> u64 {
    u64::from(source) << 32 | u64::from(target)
}

#[inline]
pub(super) fn source(key: u64) -> u32 {
    (key >> 32) as u32
}

#[inline]
pub(super) fn target(key: u64) -> u32 {
    key as u32
}

/// The place of an edge among the words, or the place for its insertion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    /// The header of its source. If the source has no header, the place for the insertion of one.
    header: usize,
    /// The place of the edge.
    at: usize,
    /// True if the source has a header at `header`.
    listed: bool,
    /// True if the edge is at the place `at`.
    found: bool,
    /// True if the edge belongs to the right side.
    right: bool,
}

/// The state that the latch of a segment protects.
#[derive(Debug)]
pub(super) struct Segment {
    /// The fence keys: the segment holds the edges in `low..high`. A segment without a place in the order has
    /// an empty range.
    pub(super) low: u64,
    pub(super) high: u64,
    /// The words of the edges. Readers may hold a reference to them without the latch. A writer then changes
    /// a copy.
    pub(super) words: Arc<[VertexId]>,
    /// The weight of the target in each word; `None` for a graph without weights.
    pub(super) weights: Option<Arc<[f64]>>,
    /// The end of the left side. The next field is the start of the right side.
    pub(super) left: usize,
    pub(super) right: usize,
    /// The key of the first edge of the right side, or [`END`] if there is none. With this copy, a reader
    /// chooses a side and does not read the words.
    pivot: u64,
    /// The edges that found no room in the gap. A segment with a buffer is write-optimised.
    #[allow(clippy::box_collection, reason = "most segments have none, and 8 bytes instead of 24")]
    pub(super) buffer: Option<Box<BTreeMap<u64, f64>>>,
    /// The versions: the states that changes replaced. They are in key order; the versions of one key go from
    /// new to old.
    pub(super) undo: Vec<Undo>,
    /// The timestamp of the newest change among the versions.
    pub(super) newest: u64,
    /// The number of edges that are marked as removed.
    pub(super) removed: u32,
    /// True if a rebalance is requested.
    pub(super) asked: bool,
}

impl Segment {
    pub(super) fn new(low: u64, high: u64, shape: &Shape) -> Segment {
        Segment {
            low,
            high,
            words: std::iter::repeat_n(VertexId(0), shape.words).collect(),
            weights: shape.weighted.then(|| std::iter::repeat_n(0.0, shape.words).collect()),
            left: 0,
            right: shape.words,
            pivot: END,
            buffer: None,
            undo: Vec::new(),
            newest: 0,
            removed: 0,
            asked: false,
        }
    }

    #[inline]
    pub(super) fn covers(&self, key: u64) -> bool {
        self.low <= key && key < self.high
    }

    /// Returns the largest number of words that its edges need: each edge in the buffer may need a list of
    /// its own.
    pub(super) fn used(&self) -> usize {
        self.left + self.words.len() - self.right + 3 * self.buffered()
    }

    /// Returns the number of edges that found no room in the gap.
    pub(super) fn buffered(&self) -> usize {
        self.buffer.as_ref().map_or(0, |buffer| buffer.len())
    }

    /// True if the gap is almost full, or edges already went into the buffer.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.right - self.left < super::options::MARGIN || self.buffer.is_some()
    }

    /// Removes all edges and versions, and takes the segment out of the order.
    pub(super) fn close(&mut self) {
        (self.low, self.high, self.left, self.right) = (0, 0, 0, self.words.len());
        (self.buffer, self.undo) = (None, Vec::new());
        self.set_pivot();
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.words)
            + self.weights.as_ref().map_or(0, |weights| size_of_val(&**weights))
            // A node of the map has eleven pairs, and is about two thirds full.
            + self.buffer.as_ref().map_or(0, |buffer| 24 + buffer.len() * 26)
            + self.undo.capacity() * size_of::<Undo>()
    }

    /// Sets the end of the left side, and the start of the right side.
    pub(super) fn set_sides(&mut self, left: usize, right: usize) {
        (self.left, self.right) = (left, right);
        self.set_pivot();
    }

    #[inline]
    fn set_pivot(&mut self) {
        let first = self.words.get(self.right);
        self.pivot = first.map_or(END, |id| key(id.0 & !HEAD, self.words[self.right + 2].0));
    }

    /// Returns the header of `v` on the side `from..end`, if it is near its earlier place `hint`. Insertions
    /// move headers towards the gap.
    #[inline]
    fn header_near(&self, from: usize, end: usize, v: u32, hint: usize) -> Option<usize> {
        if hint < from || hint >= end {
            return None;
        }
        let head = |id: &VertexId| id.0 == v | HEAD;
        if from == 0 {
            let at = self.words[hint..end.min(hint + NEAR)].iter().position(head)?;
            return Some(hint + at);
        }
        let first = from.max((hint + 1).saturating_sub(NEAR));
        let at = self.words[first..=hint].iter().rposition(head)?;
        Some(first + at)
    }

    /// Returns the place of the header of `v`, or of the first source after `v`. The search starts at the
    /// header `at`.
    #[inline]
    fn header_from(&self, mut at: usize, end: usize, v: u32) -> usize {
        let words = &self.words[..end];
        while at < words.len() && words[at].0 < v | HEAD {
            at += 2 + words[at + 1].0 as usize;
        }
        at
    }

    /// Returns the place of an edge, or the place for its insertion. `hint` may be the place of the header of
    /// its source. The gap cuts a list in two only if a rebalance made this cut.
    #[inline]
    pub(super) fn spot(&self, key: u64, hint: usize) -> Spot {
        let (v, t) = (source(key), VertexId(target(key)));
        let right = self.pivot <= key;
        let (from, end) = if right { (self.right, self.words.len()) } else { (0, self.left) };
        let header = self.header_near(from, end, v, hint);
        let header = header.unwrap_or_else(|| self.header_from(from, end, v));
        if header < end && self.words[header].0 == v | HEAD {
            let first = header + 2;
            let list = &self.words[first..first + self.words[header + 1].0 as usize];
            let (at, found) = match list.binary_search(&t) {
                Ok(i) => (first + i, true),
                Err(i) => (first + i, false),
            };
            return Spot { header, at, listed: true, found, right };
        }
        if !right && self.pivot != END && source(self.pivot) == v {
            return Spot { header: self.right, at: self.right + 2, listed: true, found: false, right: true };
        }
        Spot { header, at: header, listed: false, found: false, right }
    }

    /// Returns the weight of an edge that the segment holds, even if the edge is marked as removed.
    #[inline]
    pub(super) fn stored(&self, key: u64, spot: &Spot) -> Option<f64> {
        if spot.found {
            return Some(self.weight(spot.at));
        }
        self.buffer.as_ref().and_then(|buffer| buffer.get(&key).copied())
    }

    #[inline]
    pub(super) fn weight(&self, at: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[at])
    }

    /// Gives another weight to an edge that the segment holds.
    pub(super) fn set_weight(&mut self, key: u64, spot: &Spot, weight: f64) {
        if !spot.found {
            if let Some(stored) = self.buffer.as_mut().and_then(|buffer| buffer.get_mut(&key)) {
                *stored = weight;
            }
        } else if let Some(weights) = &mut self.weights {
            Arc::make_mut(weights)[spot.at] = weight;
        }
    }

    /// Inserts an edge that the segment does not hold: into the gap, or into the buffer if the gap is too
    /// small.
    #[inline]
    pub(super) fn insert(&mut self, key: u64, spot: &Spot, weight: f64) {
        let need = if spot.listed { 1 } else { 3 };
        if self.right - self.left < need {
            self.buffer.get_or_insert_default().insert(key, weight);
            return;
        }
        let (left, right) = (self.left, self.right);
        let begin = if spot.right { spot.at - need } else { spot.at };
        let words = Arc::make_mut(&mut self.words);
        open(words, (left, right), spot, need);
        if spot.listed {
            words[begin] = VertexId(target(key));
            // Counts the edge in the word after the header. On the right side `open` has moved the header
            // down by one word.
            words[spot.header + usize::from(!spot.right)].0 += 1;
        } else {
            words[begin..begin + 3].copy_from_slice(&[source(key) | HEAD, 1, target(key)].map(VertexId));
        }
        if let Some(weights) = &mut self.weights {
            let weights = Arc::make_mut(weights);
            open(weights, (left, right), spot, need);
            weights[begin + need - 1] = weight;
        }
        if spot.right {
            self.right -= need;
            self.set_pivot();
        } else {
            self.left += need;
        }
    }

    /// Removes an edge. Also removes its header if it was the last edge of the list.
    pub(super) fn remove(&mut self, key: u64) {
        let spot = self.spot(key, NO_HEADER);
        if !spot.found {
            if let Some(buffer) = &mut self.buffer {
                buffer.remove(&key);
                if buffer.is_empty() {
                    self.buffer = None;
                }
            }
            return;
        }
        let is_last = self.words[spot.header + 1].0 == 1;
        let (from, count) = if is_last { (spot.header, 3) } else { (spot.at, 1) };
        let words = Arc::make_mut(&mut self.words);
        if !is_last {
            words[spot.header + 1].0 -= 1;
        }
        close(words, (self.left, self.right), from, count, spot.right);
        if let Some(weights) = &mut self.weights {
            close(Arc::make_mut(weights), (self.left, self.right), from, count, spot.right);
        }
        if spot.right {
            self.right += count;
            self.set_pivot();
        } else {
            self.left -= count;
        }
    }

    /// Calls `f` with each header among the words: its place, its source, and the places of its targets.
    pub(super) fn for_each_list(&self, mut f: impl FnMut(usize, u32, Range<usize>)) {
        for (mut at, end) in [(0, self.left), (self.right, self.words.len())] {
            while at < end {
                let targets = at + 2..at + 2 + self.words[at + 1].0 as usize;
                let next = targets.end;
                f(at, self.words[at].0 & !HEAD, targets);
                at = next;
            }
        }
    }

    /// Calls `f` with the edges that the segment holds in a range of keys, in key order. This includes edges
    /// that are marked as removed.
    pub(super) fn for_each(&self, range: Range<u64>, mut f: impl FnMut(u64, f64)) {
        let buffered = self.buffer.iter().flat_map(|buffer| buffer.range(range.clone()));
        let mut buffered = buffered.map(|(key, weight)| (*key, *weight)).peekable();
        self.for_each_list(|_, v, targets| {
            if key(v, u32::MAX) < range.start || key(v, 0) >= range.end {
                return;
            }
            for at in targets {
                let key = key(v, self.words[at].0);
                if !range.contains(&key) {
                    continue;
                }
                while let Some((before, weight)) = buffered.next_if(|entry| entry.0 < key) {
                    f(before, weight);
                }
                f(key, self.weight(at));
            }
        });
        buffered.for_each(|(key, weight)| f(key, weight));
    }

    /// Returns the places of the targets of `v` on both sides. `hint` may be the place of its header.
    #[inline]
    pub(super) fn spans(&self, v: u32, hint: usize) -> [Range<usize>; 2] {
        let span = |at: usize, end: usize| match self.words[..end].get(at) {
            Some(id) if id.0 == v | HEAD => at + 2..at + 2 + self.words[at + 1].0 as usize,
            _ => 0..0,
        };
        let (left, right, end) = (self.left, self.right, self.words.len());
        if let Some(header) = self.header_near(0, left, v, hint) {
            let first = span(header, left);
            let goes_on = first.end == left;
            return [first, if goes_on { span(right, end) } else { 0..0 }];
        }
        if let Some(header) = self.header_near(right, end, v, hint)
            // The first header on the right may belong to a list that begins on the left.
            && (header != right || left == 0)
        {
            return [0..0, span(header, end)];
        }
        // Without a right side, `pivot` is greater than every source.
        let pivot = source(self.pivot);
        [
            if pivot < v { 0..0 } else { span(self.header_from(0, left, v), left) },
            if pivot > v { 0..0 } else { span(self.header_from(right, end, v), end) },
        ]
    }
}

/// Makes room for `need` items at `spot`: moves the items between `spot` and the gap.
#[inline]
fn open<T: Copy>(items: &mut [T], (left, right): (usize, usize), spot: &Spot, need: usize) {
    if spot.right {
        items.copy_within(right..spot.at, right - need);
    } else {
        items.copy_within(spot.at..left, spot.at + need);
    }
}

/// Removes `count` items at `from`. Their room becomes part of the gap.
fn close<T: Copy>(items: &mut [T], (left, right): (usize, usize), from: usize, count: usize, is_right: bool) {
    if is_right {
        items.copy_within(right..from, right + count);
    } else {
        items.copy_within(from + count..left, from);
    }
}
