//! Walks one after another, step by step. The streams of random numbers are part of the result, so they are
//! shared with the kernel.

use hedgerow_core::{Resident, VertexId};

use super::WalkConfig;
use crate::paths::Paths;
use crate::random::Random;

/// Takes each walk alone. The sources are live.
pub fn random_walks<G: Resident>(g: &G, sources: Option<&[VertexId]>, config: &WalkConfig) -> Paths {
    let every = (0..g.vertex_bound() as u32).map(VertexId).filter(|&v| g.contains(v)).collect::<Vec<_>>();
    let (mut paths, mut number) = (Paths::new(), 0);
    for &source in sources.unwrap_or(&every) {
        for _ in 0..config.walks {
            let mut random = Random::new(config.seed, number);
            number += 1;
            let mut walk = vec![source];
            while walk.len() <= config.steps as usize {
                let Some(next) = next(g, &walk, config, &mut random) else { break };
                walk.push(next);
            }
            paths.push(&walk, (walk.len() - 1) as f64);
        }
    }
    paths
}

fn next<G: Resident>(g: &G, walk: &[VertexId], config: &WalkConfig, random: &mut Random) -> Option<VertexId> {
    let list = |v: VertexId| {
        let mut list: Vec<VertexId> = g.neighbors(v, config.direction).iter().collect();
        list.sort();
        list
    };
    let neighbors = list(walk[walk.len() - 1]);
    loop {
        let drawn = *neighbors.get(random.below(neighbors.len()))?;
        if walk.len() == 1 || (config.p, config.q) == (1.0, 1.0) {
            return Some(drawn);
        }
        let before = walk[walk.len() - 2];
        let weight = match drawn {
            v if v == before => 1.0 / config.p,
            v if list(before).contains(&v) => 1.0,
            _ => 1.0 / config.q,
        };
        if random.unit() * (1.0 / config.p).max(1.0 / config.q).max(1.0) < weight {
            return Some(drawn);
        }
    }
}
