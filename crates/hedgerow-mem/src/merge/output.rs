//! The output of a merge: a main part that is being written.

use std::ops::Range;

use hedgerow_core::assemble::ColumnsBuilder;
use hedgerow_core::{Columns, LocalVertex, RowRef, SUBGRAPH_VERTICES, VertexId};

use crate::arena::{Arena, Builder as Array};
use crate::items::Extra;
use crate::main_part::{Main, Offsets};

/// The number of elements that a search reads first. Changes are close to each other, so that the search
/// often ends there.
const PIECE: usize = 16;

/// Returns how many elements of `list[range]` are less than `dst`. The elements in the range must be
/// ascending.
#[inline]
fn smaller(list: &[VertexId], range: std::ops::Range<usize>, dst: VertexId) -> usize {
    let Some(piece) = list[range.clone()].first_chunk::<PIECE>() else {
        return list[range].partition_point(|&x| x < dst);
    };
    // Compares all of these elements: no branch to predict.
    let count = piece.iter().map(|&x| u32::from(x < dst)).sum::<u32>() as usize;
    if count < PIECE {
        return count;
    }
    let (mut from, mut upto) = (PIECE, PIECE * 2);
    while upto < range.len() && list[range.start + upto] < dst {
        (from, upto) = (upto, upto * 2);
    }
    from + list[range.start + from..range.end.min(range.start + upto)].partition_point(|&x| x < dst)
}

/// Flags for the attributes that some edges have.
#[derive(Clone, Copy)]
pub(super) struct Kinds {
    pub(super) ranks: bool,
    pub(super) rows: bool,
}

/// A main part that is being written: a copy of an old one with changes, which are applied in order of
/// vertex, destination and rank.
pub(super) struct Output<'a> {
    main: &'a Main,
    offsets: Offsets,
    neighbors: Array<VertexId>,
    weights: Option<Array<f64>>,
    /// The other attributes of edges; `None` if no edge has any.
    attributes: Option<Attributes<'a>>,
    /// The number of old edges that are already copied or left out.
    done: usize,
    /// The first vertex whose offset is still the old one.
    vertex: usize,
}

/// Ranks and properties of the edges.
struct Attributes<'a> {
    ranks: Option<Vec<u64>>,
    columns: Option<ColumnsBuilder<'a>>,
}

impl<'a> Output<'a> {
    /// Makes an output for `main` with `len` edges. Changes have attributes of these kinds.
    pub(super) fn new(arena: &Arena, main: &'a Main, len: usize, weighted: bool, new: Kinds) -> Output<'a> {
        let ranks = (new.ranks || main.ranks().is_some()).then(|| Vec::with_capacity(len));
        let old = main.columns().unwrap_or(const { &Columns::NONE });
        let columns = (new.rows || !old.is_empty()).then(|| ColumnsBuilder::new(old, len));
        let attributes = (ranks.is_some() || columns.is_some()).then_some(Attributes { ranks, columns });
        Output { attributes, ..Output::lists(arena, main, len, weighted) }
    }

    /// Like [`new`](Self::new), but for neighbours and weights alone: ranks and properties are left out.
    pub(super) fn lists(arena: &Arena, main: &'a Main, len: usize, weighted: bool) -> Output<'a> {
        Output {
            main,
            offsets: main.offsets(),
            neighbors: arena.builder(len),
            weights: weighted.then(|| arena.builder(len)),
            attributes: None,
            done: 0,
            vertex: 0,
        }
    }

    /// Copies the old lists up to the edge. Then writes the edge with its new state, unless it is gone.
    #[inline]
    pub(super) fn put(
        &mut self,
        local: LocalVertex,
        dst: VertexId,
        rank: u64,
        state: Option<(f64, RowRef<'a>)>,
    ) {
        self.shift(local.index());
        let range = self.main.range(local);
        let begin = self.done.max(range.start);
        let at = begin + smaller(&self.main.neighbors, begin..range.end, dst);
        let at = self.main.lower_bound_of_rank(at, range.end, dst, rank);
        self.copy(at);
        if at < range.end && self.main.neighbors[at] == dst && self.main.rank_at(at) == rank {
            self.done += 1;
        }
        if let Some((weight, row)) = state {
            self.neighbors.push(dst);
            if let Some(weights) = &mut self.weights {
                weights.push(weight);
            }
            if let Some(attributes) = &mut self.attributes {
                attributes.push(rank, row);
            }
        }
    }

    /// Moves the offsets of the vertices up to `vertex` by the number of edges added so far minus the number
    /// left out.
    #[inline]
    fn shift(&mut self, vertex: usize) {
        if vertex >= self.vertex {
            let by = (self.neighbors.len() as u32).wrapping_sub(self.done as u32);
            self.offsets[self.vertex..=vertex].iter_mut().for_each(|at| *at = at.wrapping_add(by));
            self.vertex = vertex + 1;
        }
    }

    #[inline]
    fn copy(&mut self, end: usize) {
        let (main, range) = (self.main, self.done..end);
        self.neighbors.extend_few(&main.neighbors[self.done..], range.len());
        if let (Some(weights), Some(from)) = (&mut self.weights, &main.weights) {
            weights.extend(&from[range.clone()]);
        }
        if let Some(attributes) = &mut self.attributes {
            attributes.copy(main.ranks(), range);
        }
        self.done = end;
    }

    pub(super) fn finish(mut self, present: u64) -> Main {
        self.shift(SUBGRAPH_VERTICES);
        self.copy(self.main.neighbors.len());
        let (neighbors, weights) = (self.neighbors.finish(), self.weights.map(Array::finish));
        let extra = self.attributes.map_or_else(Extra::default, Attributes::finish);
        Main::new(present, &self.offsets, neighbors, weights, extra)
    }
}

impl<'a> Attributes<'a> {
    #[inline]
    fn push(&mut self, rank: u64, row: RowRef<'a>) {
        if let Some(ranks) = &mut self.ranks {
            ranks.push(rank);
        }
        if let Some(columns) = &mut self.columns {
            columns.push(row);
        }
    }

    #[inline]
    fn copy(&mut self, ranks: Option<&[u64]>, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        if let Some(all) = &mut self.ranks {
            match ranks {
                Some(ranks) => all.extend_from_slice(&ranks[range.clone()]),
                None => all.resize(all.len() + range.len(), 0),
            }
        }
        if let Some(columns) = &mut self.columns {
            columns.copy(range);
        }
    }

    fn finish(self) -> Extra {
        let columns = self.columns.map_or_else(Columns::default, ColumnsBuilder::finish);
        Extra { ranks: self.ranks.map(Vec::into_boxed_slice), columns }
    }
}
