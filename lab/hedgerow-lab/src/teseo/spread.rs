//! The work of a rebalance: it gathers the edges of several segments, and spreads them over segments.

use std::ops::{DerefMut, Range};
use std::sync::Arc;

use hedgerow_core::VertexId;

use super::options::Shape;
use super::segment::{HEAD, Segment, key, source, target};
use super::undo::{Horizon, Undo};
use crate::planted::{Planted, is_on};

/// The edges of neighbouring segments, in one piece.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Each source, and the number of its targets.
    lists: Vec<(u32, u32)>,
    targets: Vec<VertexId>,
    /// The weights: one for each target, or none in a graph without weights.
    weights: Vec<f64>,
    undo: Vec<Undo>,
}

impl Gathered {
    /// Copies the edges of segments, in key order. Drops the versions that `horizon` does not keep.
    pub(super) fn of<S: DerefMut<Target = Segment>>(segments: &mut [S], horizon: &Horizon) -> Gathered {
        let mut gathered = Gathered::default();
        let room = segments.iter().map(|segment| segment.used()).sum();
        gathered.targets.reserve(room);
        for segment in segments {
            segment.prune(horizon);
            gathered.add(segment);
        }
        gathered
    }

    fn add(&mut self, segment: &mut Segment) {
        if segment.buffer.is_none() || is_on(Planted::BufferLost) {
            segment.for_each_list(|_, v, targets| {
                self.list(v, targets.len());
                self.targets.extend_from_slice(&segment.words[targets.clone()]);
                if let Some(weights) = &segment.weights {
                    self.weights.extend_from_slice(&weights[targets]);
                }
            });
        } else {
            segment.for_each(segment.low..segment.high, |key, weight| {
                self.list(source(key), 1);
                self.targets.push(VertexId(target(key)));
                if segment.weights.is_some() {
                    self.weights.push(weight);
                }
            });
        }
        self.undo.append(&mut segment.undo);
    }

    #[inline]
    fn list(&mut self, v: u32, more: usize) {
        match self.lists.last_mut() {
            Some(last) if last.0 == v => last.1 += more as u32,
            _ => self.lists.push((v, more as u32)),
        }
    }

    /// Returns the number of words that the edges take in one piece.
    pub(super) fn words(&self) -> usize {
        self.targets.len() + 2 * self.lists.len()
    }

    /// Spreads the edges evenly over segments, which hold the keys in `range` from now on. For each segment
    /// there are at least [`MARGIN`](super::options::MARGIN) words in addition to the words that the edges
    /// take.
    pub(super) fn spread<S: DerefMut<Target = Segment>>(&self, range: Range<u64>, segments: &mut [S]) {
        let mut rest = Rest { gathered: self, list: 0, taken: 0, at: 0 };
        let count = segments.len();
        let mut low = range.start;
        for (i, segment) in segments.iter_mut().enumerate() {
            // The six extra words cover the words that a side leaves free, and the headers of lists that are
            // cut.
            let share = (rest.words().div_ceil(count - i) + 6).min(segment.words.len());
            rest.fill(segment, share);
            segment.low = low;
            low = if i + 1 == count { range.end } else { rest.next_key().unwrap_or(range.end) };
            segment.high = low;
            let first = self.undo.partition_point(|entry| entry.key < segment.low);
            let end = self.undo.partition_point(|entry| entry.key < segment.high);
            segment.undo = if is_on(Planted::VersionsLeftBehind) {
                Vec::new()
            } else {
                self.undo[first.min(end)..end].to_vec()
            };
            segment.recount();
            (segment.asked, segment.buffer) = (false, None);
        }
        debug_assert!(rest.next_key().is_none(), "all edges have a place");
    }

    /// Makes new segments for the edges, as many as a resize needs.
    pub(super) fn segments(&self, range: Range<u64>, shape: &Shape) -> Vec<Segment> {
        let count = shape.resized(self.words());
        let count = match count.div_ceil(shape.leaf) {
            1 => count,
            // All new leaves get the same number of segments.
            leaves => leaves * count.div_ceil(leaves),
        };
        let mut segments: Vec<Box<Segment>> =
            (0..count).map(|_| Box::new(Segment::new(0, 0, shape))).collect();
        self.spread(range, &mut segments);
        segments.into_iter().map(|segment| *segment).collect()
    }
}

/// The edges that are not placed yet.
struct Rest<'a> {
    gathered: &'a Gathered,
    /// The index of the next list. The next field is the number of its targets that are placed.
    list: usize,
    taken: usize,
    /// The index of the next target.
    at: usize,
}

impl Rest<'_> {
    fn words(&self) -> usize {
        self.gathered.targets.len() - self.at + 2 * (self.gathered.lists.len() - self.list)
    }

    /// Returns the fence before the next edge. At the start of a list, all keys of its source are behind the
    /// fence.
    fn next_key(&self) -> Option<u64> {
        let (v, _) = *self.gathered.lists.get(self.list)?;
        Some(if self.taken == 0 { key(v, 0) } else { key(v, self.gathered.targets[self.at].0) })
    }

    /// Fills both sides of a segment with at most `share` words.
    fn fill(&mut self, segment: &mut Segment, share: usize) {
        let words = Arc::make_mut(&mut segment.words);
        let mut weights = segment.weights.as_mut().map(Arc::make_mut);
        let left = self.side(words, weights.as_deref_mut(), 0..share.div_ceil(2));
        let end = self.side(words, weights.as_deref_mut(), left..share);
        let right = words.len() - (end - left);
        words.copy_within(left..end, right);
        if let Some(weights) = weights {
            weights.copy_within(left..end, right);
        }
        segment.set_sides(left, right);
    }

    /// Writes lists to a range of words. Returns the end of the written words.
    fn side(&mut self, words: &mut [VertexId], mut weights: Option<&mut [f64]>, room: Range<usize>) -> usize {
        let mut to = room.start;
        while let Some(&(v, count)) = self.gathered.lists.get(self.list) {
            if to + 3 > room.end {
                break;
            }
            let count = count as usize;
            let some = (count - self.taken).min(room.end - to - 2);
            words[to] = VertexId(v | HEAD);
            words[to + 1] = VertexId(some as u32);
            let from = self.at..self.at + some;
            words[to + 2..to + 2 + some].copy_from_slice(&self.gathered.targets[from.clone()]);
            if let Some(weights) = &mut weights {
                weights[to + 2..to + 2 + some].copy_from_slice(&self.gathered.weights[from]);
            }
            to += 2 + some;
            self.at += some;
            self.taken += some;
            if self.taken == count {
                (self.list, self.taken) = (self.list + 1, 0);
            }
        }
        to
    }
}
