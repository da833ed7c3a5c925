//! Pairs of vertices that have short lists: each is compared alone, and threads share the pairs.

use std::ops::ControlFlow;

use hedgerow_core::{Topology, VertexId};
use rayon::prelude::*;

use super::source::Comparison;
use crate::KernelError;
use crate::lists::LONG;

/// The most targets of a source that this module compares.
const MOST_TARGETS: usize = 256;

/// Sources that a thread takes at a time.
const SOURCES_TOGETHER: usize = 16;

/// A list that is more than this many times longer than another one is not read whole: each vertex of the
/// shorter list is looked up in it.
const LOOKED_UP: usize = 8;

/// A source, a target, and the place of the pair among the given pairs.
pub(super) type Pair = (VertexId, VertexId, usize);

/// The pairs that have the same source, by their targets.
pub(super) type OfSource<'o> = &'o [Pair];

/// A comparison of pairs.
pub(super) struct Short<'c, 'g, G> {
    pub(super) with: &'c Comparison<'g, G>,
}

/// The result of a thread for some sources.
#[derive(Default)]
struct Found {
    /// The scores of all their pairs, one after another.
    scores: Vec<f64>,
    /// The sources that have long lists, and no scores.
    long: Vec<usize>,
}

/// The buffers that a thread uses again for each source.
#[derive(Default)]
struct Kept {
    buffer: Vec<VertexId>,
    neighbors: Vec<VertexId>,
    targets: Vec<VertexId>,
    of_targets: Vec<f64>,
    /// True for each neighbour whose weight must be found.
    is_asked_for: Vec<bool>,
}

impl<G: Topology> Short<'_, '_, G> {
    /// True if this module compares a source with `pairs` pairs.
    pub(super) fn takes(&self, pairs: usize) -> bool {
        let Comparison { g, direction, .. } = *self.with;
        pairs <= MOST_TARGETS && g.is_stored(direction) && g.is_stored(self.with.against())
    }

    /// Writes the scores of all pairs of these sources to their places. Returns the sources that have long
    /// lists.
    pub(super) fn compare<'o>(
        &self,
        sources: &[OfSource<'o>],
        scores: &mut [f64],
    ) -> Result<Vec<OfSource<'o>>, KernelError<G::Error>> {
        let mut long = Vec::new();
        let parts = hedgerow_par::map(sources.par_chunks(SOURCES_TOGETHER), |some| self.compare_some(some));
        for (some, found) in sources.chunks(SOURCES_TOGETHER).zip(parts) {
            let found = found?;
            let places = some.iter().copied().flatten();
            places.zip(found.scores).for_each(|(&(_, _, place), score)| scores[place] = score);
            long.extend(found.long.into_iter().map(|at| some[at]));
        }
        Ok(long)
    }

    fn compare_some(&self, sources: &[OfSource<'_>]) -> Result<Found, KernelError<G::Error>> {
        let (mut found, mut kept) = (Found::default(), Kept::default());
        for (at, &of_source) in sources.iter().enumerate() {
            if !self.compare_one(of_source, &mut kept)? {
                found.long.push(at);
            }
            let score = |(_, target, _): &Pair| {
                let target = kept.targets.binary_search(target);
                target.ok().and_then(|at| kept.of_targets.get(at)).copied().unwrap_or_default()
            };
            found.scores.extend(of_source.iter().map(score));
        }
        Ok(found)
    }

    /// Compares a source with all its targets, and again after unknown weights were found. Returns false,
    /// without scores, if its list is long.
    fn compare_one(&self, of_source: OfSource<'_>, kept: &mut Kept) -> Result<bool, KernelError<G::Error>> {
        let (with, Some(&(source, ..))) = (self.with, of_source.first()) else { return Ok(true) };
        kept.of_targets.clear();
        kept.targets.clear();
        kept.targets.extend(of_source.iter().map(|(_, target, _)| *target));
        kept.targets.dedup();
        kept.neighbors.clear();
        let (neighbors, mut is_long) = (&mut kept.neighbors, false);
        with.lists.each(&mut kept.buffer, [source], with.direction, None, |_, list| {
            is_long = list.len() > LONG;
            if !is_long {
                neighbors.extend_from_slice(list);
            }
            ControlFlow::Continue(())
        })?;
        if is_long {
            return Ok(false);
        }
        self.score_targets(source, kept)?;
        if kept.is_asked_for.contains(&true) {
            let neighbors = kept.neighbors.iter().zip(&kept.is_asked_for);
            let asked_for = neighbors.filter(|(_, is_asked_for)| **is_asked_for).map(|(&w, _)| w);
            with.weights.find(asked_for, &with.lists)?;
            self.score_targets(source, kept)?;
        }
        Ok(true)
    }

    /// Computes the scores of all targets from the known weights, and marks the weights that are not known.
    fn score_targets(&self, source: VertexId, kept: &mut Kept) -> Result<(), KernelError<G::Error>> {
        let Kept { buffer, neighbors, targets, of_targets, is_asked_for } = kept;
        of_targets.clear();
        of_targets.resize(targets.len(), 0.0);
        is_asked_for.clear();
        is_asked_for.resize(neighbors.len(), false);
        let Comparison { measure, direction, ref lists, ref weights, .. } = *self.with;
        lists.each(buffer, targets.iter().copied(), direction, None, |target, list| {
            let (mut count, mut sum) = (0, 0);
            for_each_shared(neighbors, list, |at| {
                let w = neighbors[at];
                count += 1;
                if w == source || w == target {
                    return;
                }
                match weights.get(w) {
                    Some(weight) => sum += u128::from(weight),
                    None => is_asked_for[at] = true,
                }
            });
            let score = measure.score(sum, neighbors.len() + list.len() - count);
            of_targets[targets.binary_search(&target).unwrap_or_default()] = score;
            ControlFlow::Continue(())
        })
    }
}

/// Calls `f` with the place in `a` of each vertex that is in `b` too. Both are ascending.
fn for_each_shared(a: &[VertexId], b: &[VertexId], mut f: impl FnMut(usize)) {
    let (mut at_a, mut at_b) = (0, 0);
    if a.len() > LOOKED_UP * b.len() {
        for v in b {
            at_a += a[at_a..].partition_point(|w| w < v);
            if a.get(at_a) == Some(v) {
                f(at_a);
            }
        }
    } else if b.len() > LOOKED_UP * a.len() {
        for (at, v) in a.iter().enumerate() {
            at_b += b[at_b..].partition_point(|w| w < v);
            if b.get(at_b) == Some(v) {
                f(at);
            }
        }
    } else {
        while let (Some(v), Some(w)) = (a.get(at_a), b.get(at_b)) {
            if v == w {
                f(at_a);
            }
            at_a += usize::from(v <= w);
            at_b += usize::from(w <= v);
        }
    }
}
