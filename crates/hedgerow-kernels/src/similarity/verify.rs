//! Comparisons by sets of neighbours.

use std::collections::BTreeSet;

use hedgerow_core::{Direction, Resident, VertexId};

use super::measure::{Compared, Measure};
use crate::pairs::Pairs;
use crate::par::reverse;

fn neighbors<G: Resident>(g: &G, v: VertexId, direction: Direction) -> BTreeSet<VertexId> {
    g.neighbors(v, direction).iter().collect()
}

/// Returns the score of a pair by its definition.
fn score<G: Resident>(g: &G, u: VertexId, v: VertexId, measure: Measure, direction: Direction) -> f64 {
    let (of_u, of_v) = (neighbors(g, u, direction), neighbors(g, v, direction));
    let shared = of_u.intersection(&of_v).filter(|&&w| w != u && w != v);
    if measure == Measure::Jaccard {
        let together = of_u.union(&of_v).count();
        return if together == 0 { 0.0 } else { shared.count() as f64 / together as f64 };
    }
    let degrees = shared
        .map(|&w| {
            let list = neighbors(g, w, reverse(direction));
            list.len() + usize::from(!g.is_directed() && list.contains(&w))
        })
        .filter(|&degree| degree > 1);
    // Added without rounding: two neighbours of degree 4 weigh as much as one of degree 2, and equal scores
    // must be equal numbers.
    let one = (1u64 << 60) as f64;
    let parts: u128 = degrees.map(|degree| (one / (degree as f64).ln()) as u128).sum();
    parts as f64 / one
}

/// Returns the scores of pairs, or the best ones of each source.
fn compare<G: Resident>(g: &G, compared: &Compared, measure: Measure, direction: Direction) -> Pairs {
    let mut found = Pairs::new();
    match compared {
        Compared::Pairs(pairs) => {
            pairs.iter().for_each(|&(u, v)| found.push(u, v, score(g, u, v, measure, direction)));
        }
        Compared::Nearest { sources, k } => {
            for &u in sources {
                let others = (0..g.vertex_bound() as u32).map(VertexId).filter(|&v| v != u);
                let scored = others.map(|v| (score(g, u, v, measure, direction), v));
                let mut scored: Vec<(f64, VertexId)> = scored.filter(|(score, _)| *score > 0.0).collect();
                scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                scored.truncate(*k as usize);
                scored.into_iter().for_each(|(score, v)| found.push(u, v, score));
            }
        }
    }
    found
}

/// Returns Jaccard's coefficients of the given pairs, or the best ones of each source. All vertices are live.
pub fn jaccard<G: Resident>(g: &G, compared: &Compared, direction: Direction) -> Pairs {
    compare(g, compared, Measure::Jaccard, direction)
}

/// Returns the scores of Adamic and Adar of the given pairs, or the best ones of each source. All vertices
/// are live.
pub fn adamic_adar<G: Resident>(g: &G, compared: &Compared, direction: Direction) -> Pairs {
    compare(g, compared, Measure::AdamicAdar, direction)
}
