//! Walks one after another, step by step. The streams of random numbers are part of the result, so they are
//! shared with the kernel.

use std::collections::BTreeMap;
use std::rc::Rc;

use hedgerow_core::{Resident, VertexId, WeightedTopology};

use super::WalkConfig;
use crate::lengths::{Hops, Lengths, Weights};
use crate::paths::Paths;
use crate::random::Random;

/// The neighbours of a vertex with the weights of the edges, ascending by both.
type List = [(VertexId, f64)];

/// Takes each walk alone. The sources are live; `draw` picks a neighbour.
fn walks<G: Resident>(
    g: &G,
    sources: Option<&[VertexId]>,
    config: &WalkConfig,
    weights: impl Lengths<G>,
    draw: impl Fn(&List, &mut Random) -> Option<VertexId>,
) -> Paths {
    let every = (0..g.vertex_bound() as u32).map(VertexId).filter(|&v| g.contains(v)).collect::<Vec<_>>();
    let (mut known, mut paths): (BTreeMap<VertexId, Rc<List>>, _) = (BTreeMap::new(), Paths::new());
    let mut list =
        |v: VertexId| known.entry(v).or_insert_with(|| weights.list(g, v, config.direction).into()).clone();
    let sources = sources.unwrap_or(&every).iter().flat_map(|&v| (0..config.walks).map(move |_| v));
    for (number, source) in (0..).zip(sources) {
        let (mut random, mut walk) = (Random::new(config.seed, number), vec![source]);
        while walk.len() <= config.steps as usize {
            let before = walk.len().checked_sub(2).map(|at| (walk[at], list(walk[at])));
            let around = list(walk[walk.len() - 1]);
            let Some(next) = next(config, &around, before, &mut random, &draw) else { break };
            walk.push(next);
        }
        paths.push(&walk, (walk.len() - 1) as f64);
    }
    paths
}

/// Draws until a neighbour is not refused.
fn next(
    config: &WalkConfig,
    around: &List,
    before: Option<(VertexId, Rc<List>)>,
    random: &mut Random,
    draw: impl Fn(&List, &mut Random) -> Option<VertexId>,
) -> Option<VertexId> {
    let (back, far) = (1.0 / config.p, 1.0 / config.q);
    let before = before.filter(|_| (back, far) != (1.0, 1.0));
    loop {
        let drawn = draw(around, random)?;
        let chance = match &before {
            None => return Some(drawn),
            Some((before, _)) if drawn == *before => back,
            Some((_, near)) if near.binary_search_by_key(&drawn, |&(v, _)| v).is_ok() => 1.0,
            Some(_) => far,
        };
        if random.unit() * back.max(far).max(1.0) < chance {
            return Some(drawn);
        }
    }
}

/// Takes each walk alone. The sources are live.
pub fn random_walks<G: Resident>(g: &G, sources: Option<&[VertexId]>, config: &WalkConfig) -> Paths {
    walks(g, sources, config, Hops, |list, random| Some(list.get(random.below(list.len()))?.0))
}

/// Takes each walk by weights alone. The sources are live, weights finite and 0 or more.
pub fn weighted_random_walks<G: WeightedTopology + Resident>(
    g: &G,
    sources: Option<&[VertexId]>,
    config: &WalkConfig,
) -> Paths {
    walks(g, sources, config, Weights, |list, random| {
        let total = list.iter().fold(0.0, |sum, (_, weight)| sum + weight);
        let (part, mut sum) = (random.unit() * total, 0.0);
        let drawn = list.iter().find(|(_, weight)| {
            sum += weight;
            sum > part
        });
        Some(drawn?.0)
    })
}
