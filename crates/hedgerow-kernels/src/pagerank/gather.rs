//! Sums of what the neighbours of a vertex give.

use std::ops::ControlFlow;

use hedgerow_core::{Block, LocalVertex, SUBGRAPH_VERTICES, VertexId};

use super::Score;
use crate::cancel::{Cancel, Meter};

/// Lists from this length on are added in four sums: each addition of one sum waits for the one before.
const LONG: usize = 32;

/// The neighbours of the vertices of one subgraph.
pub(super) struct Gathering<'a, S, B> {
    block: B,
    given: &'a [S],
    /// Whether all neighbours of a vertex are in its first run and in `added`.
    additive: bool,
    added: [S; SUBGRAPH_VERTICES],
}

impl<'a, S: Score, B: Block> Gathering<'a, S, B> {
    #[inline]
    pub(super) fn new(block: B, given: &'a [S]) -> Self {
        // What is added to a block is taken first, in one loop: vertex by vertex, whether there is any would be a guess that the
        // processor often gets wrong.
        let (additive, mut added) = (block.is_additive(), [S::ZERO; SUBGRAPH_VERTICES]);
        if additive {
            block.for_each_added(|v, u| added[v.index()] = added[v.index()] + given[u.index()]);
        }
        Gathering { block, given, additive, added }
    }

    /// The sum for one vertex.
    ///
    /// Subtracting removed neighbours from a sum over the main list would spare the merge, but a large removed share could cancel
    /// all digits of a small remainder.
    #[inline(always)]
    pub(super) fn gather(&self, local: LocalVertex, meter: &mut Meter<'_>) -> S {
        if !self.additive {
            return self.gather_runs(local, meter);
        }
        let list = self.block.main(local).unwrap_or(&[]);
        add_list(list, self.given, self.added[local.index()], meter)
    }

    /// Not inlined, as [`add_long`].
    #[cold]
    #[inline(never)]
    fn gather_runs(&self, local: LocalVertex, meter: &mut Meter<'_>) -> S {
        let (mut sum, mut unmetered) = (S::ZERO, Cancel::SHORT_LIST);
        let _goes_on = self.block.for_each_run(local, |run| {
            let is_short = run.len() <= unmetered;
            unmetered -= if is_short { run.len() } else { 0 };
            if is_short {
                sum = add_run(run, self.given, sum);
            } else {
                meter.parts(run, |part| sum = add_run(part, self.given, sum));
            }
            ControlFlow::Continue(())
        });
        sum
    }
}

/// `start` and what the neighbours of one list give.
#[inline(always)]
fn add_list<S: Score>(list: &[VertexId], given: &[S], start: S, meter: &mut Meter<'_>) -> S {
    if list.len() < LONG { add_short(list, given, start) } else { add_long(list, given, start, meter) }
}

#[inline(always)]
fn add_short<S: Score>(list: &[VertexId], given: &[S], start: S) -> S {
    list.iter().fold(start, |sum, u| sum + given[u.index()])
}

/// Not inlined: the loop over vertices is to keep in registers what short lists need.
#[cold]
#[inline(never)]
fn add_long<S: Score>(list: &[VertexId], given: &[S], start: S, meter: &mut Meter<'_>) -> S {
    if list.len() <= Cancel::SHORT_LIST {
        return add_run(list, given, start);
    }
    let mut sum = start;
    meter.parts(list, |part| sum = add_run(part, given, sum));
    sum
}

#[inline]
fn add_run<S: Score>(run: &[VertexId], given: &[S], start: S) -> S {
    if run.len() < LONG {
        return add_short(run, given, start);
    }
    let (fours, rest) = run.as_chunks::<4>();
    let mut sums = [S::ZERO; 4];
    for four in fours {
        for (sum, u) in sums.iter_mut().zip(four) {
            *sum = *sum + given[u.index()];
        }
    }
    add_short(rest, given, start + ((sums[0] + sums[1]) + (sums[2] + sums[3])))
}
