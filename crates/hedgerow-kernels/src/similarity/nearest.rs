//! The vertices that are most similar to a source.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use hedgerow_core::{Direction, Topology, VertexId};
use rayon::prelude::*;

use super::candidates::candidates;
use super::measure::Measure;
use super::source::{Comparison, Source};
use crate::KernelError;
use crate::cancel::Cancel;
use crate::pairs::Pairs;

/// The number of candidates that are compared first; each later round compares four times as many.
const LOOKED_AT_FIRST: usize = 64;

/// The most candidates that are compared together.
const LOOKED_AT: usize = 1 << 14;

/// A vertex with its score.
type Scored = (f64, VertexId);

/// The most sources that threads take at the same time, each with sums for all ids. Further threads help with
/// the lists of a source.
const SOURCES_AT_ONCE: usize = 2;

/// Returns the `k` most similar vertices of each source.
pub(super) fn nearest<G: Topology>(
    g: &G,
    sources: &[VertexId],
    k: usize,
    (measure, direction): (Measure, Direction),
    cancel: &Cancel,
) -> Result<Pairs, KernelError<G::Error>> {
    let threads = hedgerow_par::threads();
    let at_once = SOURCES_AT_ONCE.min(threads).min(sources.len());
    let with = Comparison::new(g, (measure, direction), cancel, at_once < threads)?;
    let next = AtomicUsize::new(0);
    cancel.begin(sources.len() as u64);
    let some = |_| {
        let (mut source, mut sums) = (Source::new(&with), vec![0; g.vertex_bound()]);
        let mut found: Vec<(usize, Vec<Scored>)> = Vec::new();
        while let Some((at, &vertex)) =
            Some(next.fetch_add(1, Relaxed)).and_then(|at| Some((at, sources.get(at)?)))
        {
            source.choose(vertex)?;
            found.push((at, best(&source, k, &mut sums)?));
            cancel.step(1);
        }
        Ok(found)
    };
    let parts: Vec<Result<_, KernelError<G::Error>>> =
        hedgerow_par::map((0..at_once).into_par_iter().with_max_len(1), some);
    let mut of_sources: Vec<Vec<Scored>> = vec![Vec::new(); sources.len()];
    for part in parts {
        part?.into_iter().for_each(|(at, best)| of_sources[at] = best);
    }
    let mut pairs = Pairs::with_capacity(of_sources.iter().map(Vec::len).sum());
    for (&source, best) in sources.iter().zip(of_sources) {
        best.into_iter().for_each(|(score, v)| pairs.push(source, v, score));
    }
    Ok(pairs)
}

/// Returns the `k` most similar vertices of a source, best first. `sums` is 0 for each id, before and after.
fn best<G: Topology>(
    source: &Source<'_, '_, G>,
    k: usize,
    sums: &mut [u128],
) -> Result<Vec<Scored>, KernelError<G::Error>> {
    let mut candidates = candidates(source, sums)?;
    let (mut rest, mut together) = (&mut candidates[..], LOOKED_AT_FIRST);
    let mut best: Vec<Scored> = Vec::new();
    while !rest.is_empty() {
        source.with.cancel.check()?;
        let by_sum = |v: &VertexId| (Reverse(sums[v.index()]), *v);
        let now = together.min(rest.len());
        if now < rest.len() {
            rest.select_nth_unstable_by_key(now - 1, by_sum);
        }
        let (part, others) = rest.split_at_mut(now);
        hedgerow_par::sort_unstable(part);
        best.extend(scores(source, part, sums)?.into_iter().zip(part.iter().copied()));
        best.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(k);
        // The lower the sum is, the lower is the upper bound of the score.
        let least = best.get(k - 1).map_or(0.0, |last| last.0);
        let can_be =
            |v: &VertexId| source.with.measure.score(sums[v.index()], source.neighbors.len()) >= least;
        let left = to_front(others, can_be);
        (rest, together) = (&mut others[..left], (together * 4).min(LOOKED_AT));
    }
    candidates.iter().for_each(|v| sums[v.index()] = 0);
    Ok(best)
}

/// Moves the vertices that satisfy `is_first` to the front; returns their number.
fn to_front(vertices: &mut [VertexId], is_first: impl Fn(&VertexId) -> bool) -> usize {
    let mut count = 0;
    for at in 0..vertices.len() {
        if is_first(&vertices[at]) {
            vertices.swap(at, count);
            count += 1;
        }
    }
    count
}

/// Returns the scores of some candidates, which are ascending.
fn scores<G: Topology>(
    source: &Source<'_, '_, G>,
    part: &[VertexId],
    sums: &[u128],
) -> Result<Vec<f64>, KernelError<G::Error>> {
    let (with, sum) = (source.with, |v: VertexId| sums[v.index()]);
    match with.measure {
        Measure::AdamicAdar => Ok(part.iter().map(|&v| with.measure.score(sum(v), 0)).collect()),
        Measure::Jaccard if with.g.is_stored(with.direction) => {
            with.lists.map(part, with.direction, |v, list| source.coefficient(v, sum(v), list))
        }
        Measure::Jaccard => source.compare_with(part),
    }
}
