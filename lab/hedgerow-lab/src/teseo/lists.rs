//! The lists of a subgraph, in the form in which a range scan over segments finds them (section 6.1).
//!
//! A scan holds no latch while a kernel reads a list: it holds references to the words of segments. A writer
//! that finds such a reference changes a copy. The last segment of one subgraph is usually also the first
//! segment of the next one. The scan does not read this segment again.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};

use super::index::{Hint, keys};
use super::segment::{HEAD, Segment, source, target};
use super::shared::Store;

/// The edges of a segment that a snapshot sees, in words with the format of a segment.
#[derive(Debug)]
struct Piece {
    words: Arc<[VertexId]>,
    left: usize,
    right: usize,
    /// The place of the header of the next list.
    at: usize,
    high: u64,
}

impl Piece {
    /// Makes a piece of the edges from the key `from` on.
    fn new(segment: &Segment, from: u64, at: u64) -> Piece {
        let high = segment.high;
        if segment.is_clean(at) && (segment.low >= from || target(from) == 0) {
            let words = segment.words.clone();
            let mut piece = Piece { words, left: segment.left, right: segment.right, at: 0, high };
            while let Some((v, targets)) = piece.next()
                && v < source(from)
            {
                piece.at = targets.end;
            }
            return piece;
        }
        let mut words: Vec<VertexId> = Vec::with_capacity(segment.used());
        let mut header = usize::MAX;
        segment.for_each_visible(from..high, at, |key, _| {
            let id = VertexId(source(key) | HEAD);
            if words.get(header) != Some(&id) {
                header = words.len();
                words.extend([id, VertexId(0)]);
            }
            words[header + 1].0 += 1;
            words.push(VertexId(target(key)));
        });
        Piece { left: words.len(), right: words.len(), words: words.into(), at: 0, high }
    }

    /// Returns the next list: its source and the places of its targets.
    #[inline]
    fn next(&mut self) -> Option<(u32, Range<usize>)> {
        if self.at == self.left {
            self.at = self.right;
        }
        let header = self.words.get(self.at..self.at + 2)?;
        let first = self.at + 2;
        Some((header[0].0 & !HEAD, first..first + header[1].0 as usize))
    }
}

/// A part of a list.
#[derive(Clone, Copy, Debug)]
struct Run {
    piece: u32,
    start: u32,
    end: u32,
}

/// The lists of the current subgraph of a scan.
#[derive(Debug)]
pub(super) struct Lists {
    pieces: Vec<Piece>,
    runs: Vec<Run>,
    /// The index of the first run of each vertex, and then the end of the last run.
    first: [u32; SUBGRAPH_VERTICES + 1],
}

impl Lists {
    pub(super) fn new() -> Lists {
        Lists { pieces: Vec::new(), runs: Vec::new(), first: [0; SUBGRAPH_VERTICES + 1] }
    }

    /// Moves to the lists of `subgraph`, which comes after all earlier subgraphs.
    pub(super) fn fill(&mut self, store: &impl Store, direction: Direction, subgraph: SubgraphId, at: u64) {
        let vertices = u64::from(subgraph.0) * 64..(u64::from(subgraph.0) + 1) * 64;
        let keys = keys(vertices.start, vertices.end);
        self.runs.clear();
        let last = self.pieces.pop();
        self.pieces.clear();
        self.pieces.extend(last.filter(|piece| piece.high > keys.start));
        // The number of vertices with a known first run.
        let mut known = 0;
        let mut from = keys.start;
        while from < keys.end {
            if self.pieces.last().is_none_or(|piece| piece.high <= from) {
                let piece = |segment: &Segment, _| Piece::new(segment, from, at);
                self.pieces.push(store.read(direction, Hint::default(), from, piece));
            }
            let place = self.pieces.len() as u32 - 1;
            let piece = &mut self.pieces[place as usize];
            from = piece.high;
            while let Some((v, targets)) = piece.next() {
                if u64::from(v) >= vertices.end {
                    from = keys.end;
                    break;
                }
                piece.at = targets.end;
                if u64::from(v) >= vertices.start {
                    let local = (u64::from(v) - vertices.start) as usize;
                    if known <= local {
                        self.first[known..=local].fill(self.runs.len() as u32);
                        known = local + 1;
                    }
                    self.runs.push(Run {
                        piece: place,
                        start: targets.start as u32,
                        end: targets.end as u32,
                    });
                }
            }
        }
        self.first[known..].fill(self.runs.len() as u32);
    }

    #[inline]
    fn runs(&self, local: LocalVertex) -> &[Run] {
        let i = local.index();
        &self.runs[self.first[i] as usize..self.first[i + 1] as usize]
    }

    #[inline]
    fn targets(&self, run: &Run) -> &[VertexId] {
        &self.pieces[run.piece as usize].words[run.start as usize..run.end as usize]
    }
}

/// The lists of one subgraph.
#[derive(Clone, Copy, Debug)]
pub struct TeseoBlock<'a>(pub(super) &'a Lists);

impl Block for TeseoBlock<'_> {
    #[inline]
    fn degree(&self, local: LocalVertex) -> usize {
        self.0.runs(local).iter().map(|run| (run.end - run.start) as usize).sum()
    }

    #[inline]
    fn for_each_run(
        &self,
        local: LocalVertex,
        mut f: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self.0.runs(local) {
            [] => f(&[]),
            runs => runs.iter().try_for_each(|run| f(self.0.targets(run))),
        }
    }

    #[inline]
    fn main(&self, local: LocalVertex) -> Option<&[VertexId]> {
        Some(self.0.runs(local).first().map_or(&[], |run| self.0.targets(run)))
    }
}
