//! Chunks: the ids between two heads of a list, in an immutable array that versions share.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use hedgerow_core::{VertexId, simd};

use super::codes::{self, PIECE, Place, Reader};
use super::shape::Coding;
use crate::change::{Change, Effect};
use crate::merged::Merged;

/// The largest number of ids in one read of a list.
const RUN: usize = 1024;
/// The number of ids in the first read; it is small because some kernels stop after a few.
const FIRST_RUN: usize = 64;

/// Ascending ids, and their weights.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunk {
    /// The ids as bytes, then 8 bytes for each weight in a weighted graph. None if there are no ids.
    bytes: Option<Arc<[u8]>>,
    pub(super) len: u32,
}

/// The buffers in which a writer builds chunks.
#[derive(Debug, Default)]
struct Scratch {
    before: Merged,
    after: Merged,
    bytes: Vec<u8>,
}

/// The ids of one read of a list, and their weights.
#[derive(Debug)]
pub(super) struct Run {
    targets: Box<[VertexId; RUN]>,
    weights: Box<[f64; RUN]>,
    /// The largest number of ids in the next run.
    most: usize,
}

thread_local! {
    /// The write buffers of a thread, between two uses.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
    /// The read buffer of a thread, between two uses.
    static RUN_OF_THREAD: Cell<Option<Run>> = const { Cell::new(None) };
}

fn with_scratch<T>(f: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    let made = f(&mut scratch);
    SCRATCH.set(Some(scratch));
    made
}

/// Calls `f` with a buffer of this thread; a nested use gets a buffer of its own.
#[inline]
pub(super) fn with_run<T>(f: impl FnOnce(&mut Run) -> T) -> T {
    let mut run = RUN_OF_THREAD.take().unwrap_or_else(|| Run {
        targets: Box::new([VertexId(0); RUN]),
        weights: Box::new([0.0; RUN]),
        most: 0,
    });
    run.most = FIRST_RUN;
    let made = f(&mut run);
    RUN_OF_THREAD.set(Some(run));
    made
}

impl Chunk {
    /// Returns the chunk of ascending ids; a weighted graph has one weight for each id.
    pub(super) fn of((targets, weights): (&[VertexId], &[f64]), coding: Coding) -> Chunk {
        with_scratch(|scratch| Chunk::written((targets, weights), coding, &mut scratch.bytes))
    }

    fn written((targets, weights): (&[VertexId], &[f64]), coding: Coding, bytes: &mut Vec<u8>) -> Chunk {
        if targets.is_empty() {
            return Chunk::default();
        }
        bytes.clear();
        codes::write(targets, coding.difference, bytes);
        weights.iter().for_each(|weight| bytes.extend_from_slice(&weight.to_le_bytes()));
        Chunk { bytes: Some(Arc::from(bytes.as_slice())), len: targets.len() as u32 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes of the ids, and the bytes of the weights.
    #[inline]
    fn slices(&self, coding: Coding) -> (&[u8], &[u8]) {
        let bytes = self.bytes.as_deref().unwrap_or(&[]);
        let weights = if coding.weighted { 8 * self.len as usize } else { 0 };
        bytes.split_at(bytes.len() - weights)
    }

    /// Returns a reader of the ids, and the weights.
    #[inline]
    fn parts(&self, coding: Coding) -> (Reader<'_>, &[[u8; 8]]) {
        let (ids, weights) = self.slices(coding);
        (Reader::new(ids, coding.difference), weights.as_chunks::<8>().0)
    }

    /// Appends the ids and weights to a list.
    pub(super) fn append_to(&self, list: &mut Merged, coding: Coding) {
        let (mut ids, weights) = self.parts(coding);
        let before = list.targets.len();
        list.targets.resize(before + self.len as usize, VertexId(0));
        ids.read(&mut list.targets[before..]);
        list.weights.extend(weights.iter().map(|weight| f64::from_le_bytes(*weight)));
    }

    /// Returns the weight of one id, if it is there. O(len); O(log len) without differences.
    pub(super) fn find(&self, target: VertexId, coding: Coding) -> Option<f64> {
        let (mut ids, weights) = self.parts(coding);
        let weight = |at: usize| weights.get(at).map_or(1.0, |weight| f64::from_le_bytes(*weight));
        if !coding.difference {
            let bytes = self.bytes.as_deref()?;
            let ids = &bytes.as_chunks::<4>().0[..self.len as usize];
            return ids.binary_search_by_key(&target.0, |id| u32::from_le_bytes(*id)).ok().map(weight);
        }
        let (mut here, mut before) = ([VertexId(0); PIECE], 0);
        loop {
            let read = ids.read(&mut here);
            let here = &here[..read];
            if *here.last()? >= target {
                return here.binary_search(&target).ok().map(|at| weight(before + at));
            }
            before += read;
        }
    }

    /// Applies the changes, which ascend. `split` says whether they add heads. If so, `cut` cuts the whole
    /// list into chunks, and the first of them replaces this chunk.
    pub(super) fn change(
        &mut self,
        changes: &[Change],
        split: bool,
        coding: Coding,
        cut: impl FnOnce(&Merged) -> Chunk,
    ) -> Effect {
        if let [change] = changes
            && coding.difference
            && !split
        {
            return with_scratch(|scratch| self.change_one(*change, coding, &mut scratch.bytes));
        }
        with_scratch(|scratch| {
            let Scratch { before, after, bytes } = scratch;
            before.clear();
            after.clear();
            self.append_to(before, coding);
            let effect = after.merge(before.whole(), changes, coding.weighted);
            if effect.changed {
                *self = if split { cut(after) } else { Chunk::written(after.whole(), coding, bytes) };
            }
            effect
        })
    }

    /// Applies one change. Copies all codes except the code of the id itself and the code of the next id,
    /// because the difference of the next id changes.
    fn change_one(&mut self, change: Change, coding: Coding, out: &mut Vec<u8>) -> Effect {
        let (ids, weights) = self.slices(coding);
        let target = change.target.0;
        let place = Place::of(target, ids);
        let is_there = place.next == Some(target);
        // The codes before the place stay; the weights in `replaced` do not stay.
        out.clear();
        out.extend_from_slice(&ids[..place.code.start]);
        let replaced = 8 * place.rank..8 * (place.rank + usize::from(is_there));
        match (change.weight, place.next) {
            (Some(weight), _) if is_there => {
                let is_same = weights.get(replaced.clone()).is_none_or(|old| old == weight.to_le_bytes());
                if is_same {
                    return Effect::default();
                }
                out.extend_from_slice(&ids[place.code.start..]);
            }
            (Some(_), next) => {
                codes::push(target - place.before, out);
                if let Some(next) = next {
                    codes::push(next - target, out);
                }
                out.extend_from_slice(&ids[place.code.end..]);
            }
            (None, _) if is_there => {
                let behind = &ids[place.code.end..];
                if let Some((difference, rest)) = codes::split_first(behind) {
                    codes::push(target - place.before + difference, out);
                    out.extend_from_slice(rest);
                }
            }
            (None, _) => return Effect::default(),
        }
        if coding.weighted {
            out.extend_from_slice(&weights[..replaced.start]);
            change.weight.iter().for_each(|weight| out.extend_from_slice(&weight.to_le_bytes()));
            out.extend_from_slice(&weights[replaced.end..]);
        }
        let entries = i64::from(change.weight.is_some()) - i64::from(is_there);
        let len = self.len.saturating_add_signed(entries as i32);
        *self = match len {
            0 => Chunk::default(),
            _ => Chunk { bytes: Some(Arc::from(out.as_slice())), len },
        };
        Effect { entries, changed: true }
    }

    /// Splits the chunk. Returns the ids less than `target`, the weight of `target` if it is there, and the
    /// greater ids.
    pub(super) fn split(self, target: VertexId, coding: Coding) -> (Chunk, Option<f64>, Chunk) {
        if self.is_empty() {
            return (Chunk::default(), None, Chunk::default());
        }
        with_scratch(|scratch| {
            let Scratch { before, bytes, .. } = scratch;
            before.clear();
            self.append_to(before, coding);
            let (targets, weights) = before.whole();
            let at = targets.partition_point(|&t| t < target);
            let is_there = targets.get(at) == Some(&target);
            let behind = at + usize::from(is_there);
            match (at, targets.len() - behind) {
                (0, _) if !is_there => return (Chunk::default(), None, self),
                (_, 0) if !is_there => return (self, None, Chunk::default()),
                _ => {}
            }
            let weight = is_there.then(|| weights.get(at).copied().unwrap_or(1.0));
            let first = (&targets[..at], weights.get(..at).unwrap_or(&[]));
            let last = (&targets[behind..], weights.get(behind..).unwrap_or(&[]));
            (Chunk::written(first, coding, bytes), weight, Chunk::written(last, coding, bytes))
        })
    }

    /// Appends the ids of another chunk; all of them are greater.
    pub(super) fn append(&mut self, other: &Chunk, coding: Coding) {
        match (self.is_empty(), other.is_empty()) {
            (_, true) => {}
            (true, _) => *self = other.clone(),
            _ => with_scratch(|scratch| {
                let Scratch { before, bytes, .. } = scratch;
                before.clear();
                self.append_to(before, coding);
                other.append_to(before, coding);
                *self = Chunk::written(before.whole(), coding, bytes);
            }),
        }
    }

    /// Calls `f` with the ids in runs, until `f` breaks; with the weights if they are `WANTED`. If there is a
    /// head, it is the first id of the first run.
    #[inline]
    pub(super) fn runs<const WANTED: bool>(
        &self,
        head: Option<(u32, f64)>,
        coding: Coding,
        run: &mut Run,
        f: &mut impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (mut ids, mut weights) = self.parts(coding);
        let with_weights = WANTED && coding.weighted;
        let mut len = 0;
        if let Some((target, weight)) = head {
            (run.targets[0], run.weights[0]) = (VertexId(target), weight);
            len = 1;
        }
        while len > 0 || !ids.is_done() {
            let read = ids.read(&mut run.targets[len..run.most]);
            if with_weights {
                let (here, rest) = weights.split_at(read);
                let places = run.weights[len..].iter_mut();
                places.zip(here).for_each(|(place, weight)| *place = f64::from_le_bytes(*weight));
                weights = rest;
            }
            len += read;
            f(&run.targets[..len], if with_weights { &run.weights[..len] } else { &[] })?;
            (len, run.most) = (0, RUN);
        }
        ControlFlow::Continue(())
    }

    /// Prefetches the start of the ids.
    #[inline]
    pub(super) fn prefetch(&self) {
        if let Some(bytes) = &self.bytes {
            simd::prefetch(bytes.as_ptr());
        }
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let counts = 16;
        self.bytes.as_ref().map_or(0, |bytes| counts + bytes.len().next_multiple_of(8))
    }
}
