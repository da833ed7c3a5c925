//! Betweenness from the edges on shortest paths. Their vertices are sorted topologically, and shares are
//! computed vertex by vertex, from the far end.

use std::collections::HashMap;

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

use crate::estimate::Estimated;
use crate::lengths::{Hops, Lengths, Weights};
use crate::sources::Sources;
use crate::{Cancel, KernelError};

/// The edges from each vertex: the other end and the length.
type Lists = Vec<Vec<(usize, f64)>>;

/// Returns the vertices of the shortest paths in topological order, or an edge of a cycle if there is no such
/// order.
fn ordered(on_paths: &Lists, source: usize) -> Result<Vec<usize>, (usize, usize, f64)> {
    // The state of the depth-first search at each vertex: begun, or ended.
    let mut states: HashMap<usize, bool> = HashMap::from([(source, false)]);
    let (mut ended, mut stack) = (Vec::new(), vec![(source, 0)]);
    while let Some((u, at)) = stack.pop() {
        let Some(&(v, weight)) = on_paths[u].get(at) else {
            states.insert(u, true);
            ended.push(u);
            continue;
        };
        stack.push((u, at + 1));
        match states.get(&v) {
            Some(false) => return Err((u, v, weight)),
            Some(true) => {}
            None => {
                states.insert(v, false);
                stack.push((v, 0));
            }
        }
    }
    ended.reverse();
    Ok(ended)
}

/// Returns the sum of the contributions of all `sources`, times `scale`. The sources are live.
fn scores<G: Resident>(
    g: &G,
    sources: &[VertexId],
    scale: f64,
    lengths: impl Lengths<G>,
) -> Result<Vec<f64>, KernelError> {
    let mut out: Lists = vec![Vec::new(); g.vertex_bound()];
    for (u, list) in (0..).map(VertexId).zip(&mut out) {
        lengths.each(g, u, Direction::Out, |v, length| list.push((v.index(), length)));
    }
    let mut scores = vec![0.0; g.vertex_bound()];
    for source in sources.iter().map(|source| source.index()) {
        let far = lengths.distances(g, VertexId(source as u32), Direction::Out);
        let is_on_path = |u: usize, &(v, weight): &(usize, f64)| {
            let way = far[u] + weight;
            let is_same = (way - far[v]) / way.max(f64::MIN_POSITIVE) <= (-40_f64).exp2();
            u != v && far[v].is_finite() && if far[u] < far[v] { is_same } else { way == far[v] }
        };
        let on_paths: Lists = (0..out.len())
            .map(|u| out[u].iter().filter(|edge| is_on_path(u, edge)).copied().collect())
            .collect();
        let order = ordered(&on_paths, source).map_err(|(u, v, weight)| KernelError::Endless {
            from: VertexId(u as u32),
            to: VertexId(v as u32),
            weight,
        })?;
        let (mut paths, mut behind) = (vec![0.0; out.len()], vec![0.0; out.len()]);
        paths[source] = 1.0;
        for &u in &order {
            on_paths[u].iter().for_each(|&(v, _)| paths[v] += paths[u]);
        }
        for &u in order.iter().rev() {
            behind[u] = on_paths[u].iter().map(|&(v, _)| paths[u] / paths[v] * (1.0 + behind[v])).sum();
            scores[u] += if u == source { 0.0 } else { behind[u] };
        }
    }
    Ok(scores.iter().map(|score| score * scale).collect())
}

/// Returns the scores from the sources that are chosen, and the extent of the sample.
pub(super) fn estimated<G: Resident>(
    g: &G,
    sources: &Sources,
    lengths: impl Lengths<G>,
) -> Result<Estimated, KernelError> {
    let chosen = sources.choose(g, Direction::Out, &Cancel::new())?;
    let each = if g.is_directed() { 1.0 } else { 0.5 };
    Ok((scores(g, &chosen.vertices, each * chosen.scale(), lengths)?, chosen.estimate()))
}

/// Returns the sum of the contributions of all `sources`, times `scale`. The sources are live.
pub fn betweenness<G: Resident>(g: &G, sources: &[VertexId], scale: f64) -> Vec<f64> {
    // Every hop makes a path longer, so no cycle is refused.
    scores(g, sources, scale, Hops).unwrap_or_default()
}

/// Returns the same sums, with weights as lengths.
///
/// # Errors
/// [`KernelError::Endless`].
pub fn weighted_betweenness<G: WeightedTopology + Resident>(
    g: &G,
    sources: &[VertexId],
    scale: f64,
) -> Result<Vec<f64>, KernelError> {
    scores(g, sources, scale, Weights)
}
