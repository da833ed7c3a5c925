//! Walks by weights one after another, step by step. The streams of random numbers are part of the result, so
//! they are shared with the kernel.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_core::{Resident, VertexId, WeightedTopology};

use crate::paths::Paths;
use crate::random::Random;
use crate::walks::WalkConfig;

/// The neighbours of each vertex that a walk left, with weights, ascending by both.
struct Lists<'g, G> {
    g: &'g G,
    config: &'g WalkConfig,
    known: BTreeMap<VertexId, Vec<(VertexId, f64)>>,
}

impl<G: WeightedTopology + Resident> Lists<'_, G> {
    fn of(&mut self, v: VertexId) -> &[(VertexId, f64)] {
        let (g, direction) = (self.g, self.config.direction);
        self.known.entry(v).or_insert_with(|| {
            let mut list = Vec::new();
            let Ok(()) = g.visit_weighted([v], direction, |_, run, weights| {
                list.extend(run.iter().copied().zip(weights.iter().copied().chain(std::iter::repeat(1.0))));
            });
            list.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            list
        })
    }

    fn next(&mut self, walk: &[VertexId], random: &mut Random) -> Option<VertexId> {
        let (p, q) = (self.config.p, self.config.q);
        let before = walk.len().checked_sub(2).map(|at| walk[at]);
        let near: BTreeSet<VertexId> = match before {
            Some(before) if (p, q) != (1.0, 1.0) => self.of(before).iter().map(|(v, _)| *v).collect(),
            _ => BTreeSet::new(),
        };
        let list = self.of(walk[walk.len() - 1]);
        let total = list.iter().fold(0.0, |sum, (_, weight)| sum + weight);
        loop {
            let (part, mut sum) = (random.unit() * total, 0.0);
            let drawn = list.iter().find(|(_, weight)| {
                sum += weight;
                sum > part
            })?;
            if before.is_none() || (p, q) == (1.0, 1.0) {
                return Some(drawn.0);
            }
            let chance = match drawn.0 {
                v if Some(v) == before => 1.0 / p,
                v if near.contains(&v) => 1.0,
                _ => 1.0 / q,
            };
            if random.unit() * (1.0 / p).max(1.0 / q).max(1.0) < chance {
                return Some(drawn.0);
            }
        }
    }
}

/// Takes each walk alone. The sources are live, weights finite and 0 or more.
pub fn weighted_random_walks<G: WeightedTopology + Resident>(
    g: &G,
    sources: Option<&[VertexId]>,
    config: &WalkConfig,
) -> Paths {
    let every = (0..g.vertex_bound() as u32).map(VertexId).filter(|&v| g.contains(v)).collect::<Vec<_>>();
    let (mut lists, mut paths) = (Lists { g, config, known: BTreeMap::new() }, Paths::new());
    let walks = sources.unwrap_or(&every).iter().flat_map(|&v| (0..config.walks).map(move |_| v));
    for (number, source) in (0..).zip(walks) {
        let (mut random, mut walk) = (Random::new(config.seed, number), vec![source]);
        while walk.len() <= config.steps as usize {
            let Some(next) = lists.next(&walk, &mut random) else { break };
            walk.push(next);
        }
        paths.push(&walk, (walk.len() - 1) as f64);
    }
    paths
}
