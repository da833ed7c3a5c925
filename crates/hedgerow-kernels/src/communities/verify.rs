//! Communities by the method of the first paper: round after round over all vertices in the order of their
//! ids.

use std::collections::BTreeMap;

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

use crate::NO_COMPONENT;
use crate::grouping::Communities;
use crate::lengths::{Lengths, Weights};

/// The weights between two groups, both ways; within one, twice.
type Between = BTreeMap<u32, BTreeMap<u32, f64>>;

fn weights_of<G: WeightedTopology + Resident>(g: &G) -> Between {
    let mut between = Between::new();
    for u in (0..g.vertex_bound() as u32).map(VertexId).filter(|&u| g.contains(u)) {
        between.entry(u.0).or_default();
        let mut add = |u: u32, v: u32, weight: f64| {
            *between.entry(u).or_default().entry(v).or_insert(0.0) += weight;
        };
        Weights.each(g, u, Direction::Out, |v, weight| {
            add(u.0, v.0, weight);
            if g.is_directed() || u == v {
                add(v.0, u.0, weight);
            }
        });
    }
    between
}

fn degree(row: &BTreeMap<u32, f64>) -> f64 {
    row.values().sum()
}

/// Returns the modularity of groups, by its definition.
fn modularity(between: &Between, group: &BTreeMap<u32, u32>, resolution: f64) -> f64 {
    let total: f64 = between.values().map(degree).sum();
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (u, row) in between {
        let sum = sums.entry(group[u]).or_default();
        sum.0 += row.iter().filter(|(v, _)| group[v] == group[u]).map(|(_, weight)| weight).sum::<f64>();
        sum.1 += degree(row);
    }
    let of = |(inside, degrees): &(f64, f64)| inside / total - resolution * (degrees / total).powi(2);
    if total > 0.0 { sums.values().map(of).sum() } else { 0.0 }
}

/// Moves nodes, round after round over all of them, until none moves.
fn improved(between: &Between, resolution: f64) -> BTreeMap<u32, u32> {
    let total: f64 = between.values().map(degree).sum();
    let mut group: BTreeMap<u32, u32> = between.keys().map(|&u| (u, u)).collect();
    let mut degrees: BTreeMap<u32, f64> = between.iter().map(|(&u, row)| (u, degree(row))).collect();
    loop {
        let mut moved = false;
        for (u, row) in between {
            let (own, all) = (group[u], degree(row));
            *degrees.entry(own).or_default() -= all;
            let mut to: BTreeMap<u32, f64> = BTreeMap::from([(own, 0.0)]);
            row.iter().filter(|(v, _)| *v != u).for_each(|(v, w)| *to.entry(group[v]).or_default() += w);
            let worth = |c: &u32| to[c] - resolution * all * degrees[c] / total;
            let mut best = own;
            for c in to.keys() {
                if worth(c) > worth(&best) + 1e-9 {
                    best = *c;
                }
            }
            *degrees.entry(best).or_default() += all;
            moved |= best != own;
            group.insert(*u, best);
        }
        if !moved {
            return group;
        }
    }
}

/// Returns communities and their modularity.
pub fn louvain<G: WeightedTopology + Resident>(g: &G, resolution: f64) -> Communities {
    let whole = weights_of(g);
    let mut of: BTreeMap<u32, u32> = whole.keys().map(|&u| (u, u)).collect();
    let mut between = whole.clone();
    loop {
        let group = improved(&between, resolution);
        of.values_mut().for_each(|node| *node = group[node]);
        let mut joined = Between::new();
        for (u, row) in &between {
            let sums = joined.entry(group[u]).or_default();
            row.iter().for_each(|(v, weight)| *sums.entry(group[v]).or_insert(0.0) += weight);
        }
        if joined.len() == between.len() {
            break;
        }
        between = joined;
    }
    let mut least: BTreeMap<u32, u32> = BTreeMap::new();
    of.iter().for_each(|(&v, &group)| _ = least.entry(group).or_insert(v));
    let label = |v: u32| of.get(&v).map_or(NO_COMPONENT, |group| least[group]);
    Communities {
        labels: (0..g.vertex_bound() as u32).map(label).collect(),
        modularity: modularity(&whole, &of, resolution),
    }
}
