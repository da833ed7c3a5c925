//! Cycles by trying all ways up to the bound.

use std::collections::BTreeSet;

use hedgerow_core::{Direction, Resident, VertexId};

use crate::paths::Paths;

/// Extends all ways by one edge each round, and gathers the ways that are cycles. Of the two ways round a
/// cycle it takes the one whose second vertex has the lesser id.
pub fn cycles_through<G: Resident>(
    g: &G,
    source: VertexId,
    length: u32,
    limit: usize,
    direction: Direction,
) -> Paths {
    let mut cycles: BTreeSet<Vec<VertexId>> = BTreeSet::new();
    let mut ways = vec![vec![source]];
    for _ in 0..length {
        let mut longer = BTreeSet::new();
        for way in &ways {
            let end = way[way.len() - 1];
            for v in g.neighbors(end, direction).iter() {
                if v != source && !way.contains(&v) {
                    longer.insert(way.iter().copied().chain([v]).collect::<Vec<_>>());
                }
                if v != source {
                    continue;
                }
                let mut round: Vec<VertexId> = vec![source];
                round.extend(way[1..].iter().rev());
                if g.is_directed() || way.len() == 1 {
                    cycles.insert(way.clone());
                } else if way.len() > 2 {
                    cycles.insert(round.min(way.clone()));
                }
            }
        }
        ways = longer.into_iter().collect();
    }
    let mut found = Paths::new();
    cycles.iter().for_each(|cycle| found.push_within(cycle, cycle.len() as f64, limit));
    found
}
