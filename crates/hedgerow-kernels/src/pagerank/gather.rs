//! Sums of the shares that the neighbours of a vertex give.

use std::ops::ControlFlow;

use hedgerow_core::{Block, LocalVertex, SUBGRAPH_VERTICES, VertexId};

use super::Score;
use crate::cancel::{Cancel, Meter};
use crate::par::CHUNK_VERTICES;

/// The least length of a list that is added in four sums: each addition to one sum waits for the addition
/// before. In shorter lists additions of several vertices overlap anyway. If lengths are near the bound, the
/// processor would mispredict the branch.
const LONG: usize = 128;

/// The share that each vertex gives every out-neighbour.
pub(super) trait Given<S>: Copy {
    fn of(self, u: VertexId) -> S;
}

impl<S: Score> Given<S> for &[S] {
    #[inline(always)]
    fn of(self, u: VertexId) -> S {
        self[u.index()]
    }
}

/// The shares that vertices give, in the first half of `cells`.
pub(super) struct Settled<'a, S: Score> {
    pub(super) cells: &'a [S::Cell],
}

impl<S: Score> Clone for Settled<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Score> Copy for Settled<'_, S> {}

impl<S: Score> Given<S> for Settled<'_, S> {
    #[inline(always)]
    fn of(self, u: VertexId) -> S {
        S::load(&self.cells[u.index()])
    }
}

/// The shares that vertices give: of the vertices of one chunk in the second half of `cells`, of all others
/// in the first half, like [`Settled`].
pub(super) struct Near<'a, S: Score> {
    pub(super) cells: &'a [S::Cell],
    /// The first vertex of the chunk.
    pub(super) first: u32,
    /// The distance of a vertex in the second half from its place in the first.
    pub(super) further: usize,
}

impl<S: Score> Clone for Near<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Score> Copy for Near<'_, S> {}

impl<S: Score> Given<S> for Near<'_, S> {
    #[inline(always)]
    fn of(self, u: VertexId) -> S {
        // The code chooses the place, not the value: this compiles to a conditional move. A branch would
        // often be mispredicted.
        let is_own = u.0.wrapping_sub(self.first) < CHUNK_VERTICES as u32;
        S::load(&self.cells[u.index() + if is_own { self.further } else { 0 }])
    }
}

/// The neighbours of the vertices of one subgraph.
pub(super) struct Gathering<S, B> {
    block: B,
    /// True if all neighbours of a vertex are in its first run and in `added`.
    additive: bool,
    added: [S; SUBGRAPH_VERTICES],
}

impl<S: Score, B: Block> Gathering<S, B> {
    #[inline]
    pub(super) fn new(block: B, given: impl Given<S>) -> Self {
        // The neighbours added to a block are summed first, in one loop: a test vertex by vertex would be a
        // branch that the processor often mispredicts.
        let (additive, mut added) = (block.is_additive(), [S::ZERO; SUBGRAPH_VERTICES]);
        if additive {
            block.for_each_added(|v, u| added[v.index()] = added[v.index()] + given.of(u));
        }
        Gathering { block, additive, added }
    }

    /// Returns the sum for one vertex.
    ///
    /// Subtracting removed neighbours from a sum over the main list would spare the merge, but a large
    /// removed share could cancel all digits of a small remainder.
    #[inline(always)]
    pub(super) fn gather(&self, local: LocalVertex, given: impl Given<S>, meter: &mut Meter<'_>) -> S {
        if !self.additive {
            // Even then most lists are one run. Only lists of several runs call the function that is not
            // inlined.
            return match self.block.main(local) {
                Some(list) if list.len() == self.block.degree(local) => add_list(list, given, S::ZERO, meter),
                _ => self.gather_runs(local, given, meter),
            };
        }
        let list = self.block.main(local).unwrap_or(&[]);
        add_list(list, given, self.added[local.index()], meter)
    }

    /// Adds run by run. Not inlined, like [`add_long`].
    #[cold]
    #[inline(never)]
    fn gather_runs(&self, local: LocalVertex, given: impl Given<S>, meter: &mut Meter<'_>) -> S {
        let (mut sum, mut unmetered) = (S::ZERO, Cancel::SHORT_LIST);
        let _goes_on = self.block.for_each_run(local, |run| {
            let is_short = run.len() <= unmetered;
            unmetered -= if is_short { run.len() } else { 0 };
            if is_short {
                sum = add_run(run, given, sum);
            } else {
                meter.parts(run, |part| sum = add_run(part, given, sum));
            }
            ControlFlow::Continue(())
        });
        sum
    }
}

/// Returns the sum of `start` and the shares that the neighbours of one list give.
#[inline(always)]
fn add_list<S: Score>(list: &[VertexId], given: impl Given<S>, start: S, meter: &mut Meter<'_>) -> S {
    if list.len() < LONG { add_short(list, given, start) } else { add_long(list, given, start, meter) }
}

#[inline(always)]
fn add_short<S: Score>(list: &[VertexId], given: impl Given<S>, start: S) -> S {
    list.iter().fold(start, |sum, &u| sum + given.of(u))
}

/// Adds a long list. Not inlined: the loop over vertices must keep the values of short lists in registers.
#[cold]
#[inline(never)]
fn add_long<S: Score>(list: &[VertexId], given: impl Given<S>, start: S, meter: &mut Meter<'_>) -> S {
    if list.len() <= Cancel::SHORT_LIST {
        return add_run(list, given, start);
    }
    let mut sum = start;
    meter.parts(list, |part| sum = add_run(part, given, sum));
    sum
}

#[inline]
fn add_run<S: Score>(run: &[VertexId], given: impl Given<S>, start: S) -> S {
    if run.len() < LONG {
        return add_short(run, given, start);
    }
    let (fours, rest) = run.as_chunks::<4>();
    let mut sums = [S::ZERO; 4];
    for four in fours {
        for (sum, &u) in sums.iter_mut().zip(four) {
            *sum = *sum + given.of(u);
        }
    }
    add_short(rest, given, start + ((sums[0] + sums[1]) + (sums[2] + sums[3])))
}
