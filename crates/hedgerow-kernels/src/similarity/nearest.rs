//! The most similar vertices of one.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use hedgerow_core::{Topology, VertexId};

use super::measure::Measure;
use super::source::Source;
use crate::KernelError;
use crate::lists::{for_each_list, for_each_list_of_all};
use crate::pairs::Pairs;

/// So many candidates are looked at first; each time four times as many.
const LOOKED_AT_FIRST: usize = 64;

/// The most candidates that are looked at together.
const LOOKED_AT: usize = 1 << 14;

/// A vertex with its score.
type Scored = (f64, VertexId);

/// Adds the `k` most similar vertices. `sums` holds 0 for each id, before and after.
pub(super) fn add<G: Topology>(
    source: &mut Source<'_, G>,
    k: usize,
    sums: &mut [u128],
    found: &mut Pairs,
) -> Result<(), KernelError<G::Error>> {
    let mut candidates = candidates(source, sums)?;
    let (mut rest, mut together) = (&mut candidates[..], LOOKED_AT_FIRST);
    let mut best: Vec<Scored> = Vec::new();
    while !rest.is_empty() {
        source.cancel.check()?;
        let by_sum = |v: &VertexId| (Reverse(sums[v.index()]), *v);
        let now = together.min(rest.len());
        rest.select_nth_unstable_by_key(now - 1, by_sum);
        let (part, others) = rest.split_at_mut(now);
        // What a score can be at most falls with the sum.
        let most = part.iter().map(|v| sums[v.index()]).max().unwrap_or(0);
        if best.len() == k && best.last().is_some_and(|last| bound(source, most) < last.0) {
            break;
        }
        part.sort_unstable();
        look_at(source, part, sums, &mut best)?;
        best.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(k);
        (rest, together) = (others, (together * 4).min(LOOKED_AT));
    }
    candidates.iter().for_each(|v| sums[v.index()] = 0);
    best.into_iter().for_each(|(score, v)| found.push(source.vertex, v, score));
    Ok(())
}

/// What a vertex can score at most by the sum of what it shares.
fn bound<G: Topology>(source: &Source<'_, G>, sum: u128) -> f64 {
    source.measure.score(sum, source.neighbors.len())
}

/// The scores of some candidates, which are sorted.
fn look_at<G: Topology>(
    source: &Source<'_, G>,
    part: &[VertexId],
    sums: &[u128],
    best: &mut Vec<Scored>,
) -> Result<(), KernelError<G::Error>> {
    if source.measure == Measure::Jaccard {
        return source.compare_with(part, |v, score| best.push((score, v)));
    }
    best.extend(part.iter().map(|&v| (source.measure.score(sums[v.index()], 0), v)));
    Ok(())
}

/// The vertices that share a neighbour with the source, and in `sums` what those count for.
fn candidates<G: Topology>(
    source: &Source<'_, G>,
    sums: &mut [u128],
) -> Result<Vec<VertexId>, KernelError<G::Error>> {
    let (g, own, mut candidates) = (source.g, source.vertex, Vec::new());
    let mut share = |w: VertexId, v: VertexId| {
        let weight = source.weight(w).filter(|_| v != own && v != w && w != own);
        let Some(weight) = weight.filter(|&weight| weight > 0) else { return };
        let sum = &mut sums[v.index()];
        if *sum == 0 {
            candidates.push(v);
        }
        *sum += u128::from(weight);
    };
    if g.is_stored(source.against()) {
        for_each_list(g, source.neighbors.iter().copied(), source.against(), source.cancel, |w, list| {
            list.iter().for_each(|&v| share(w, v));
            ControlFlow::Continue(())
        })?;
    } else {
        for_each_list_of_all(g, source.direction, source.cancel, |v, list| {
            list.iter().for_each(|&w| share(w, v));
            ControlFlow::Continue(())
        })?;
    }
    Ok(candidates)
}
