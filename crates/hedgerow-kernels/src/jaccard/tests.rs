//! Coefficients that are known.

use hedgerow_core::{Direction, VertexId};

use crate::testing::plain_graph;
use hedgerow_kernels::jaccard::jaccard;
use hedgerow_kernels::similarity::Compared;

fn of(edges: &[(u32, u32)], directed: bool, pairs: &[(u32, u32)]) -> Vec<f64> {
    let g = plain_graph(8, edges, directed);
    let pairs = pairs.iter().map(|&(u, v)| (VertexId(u), VertexId(v))).collect();
    jaccard(&g, &Compared::Pairs(pairs), Direction::Out).expect("live").values().to_vec()
}

/// As `jaccard_coefficient` of NetworkX 3 has them.
#[test]
fn known_coefficients() {
    let edges = [(0, 1), (0, 2), (0, 3), (4, 2), (4, 3), (4, 5), (1, 2), (6, 6)];
    let pairs = [(0, 4), (4, 0), (0, 1), (0, 7), (7, 7), (0, 0), (6, 6), (2, 3)];
    let expected = [2.0 / 4.0, 2.0 / 4.0, 1.0 / 4.0, 0.0, 0.0, 1.0, 0.0, 2.0 / 3.0];
    assert_eq!(of(&edges, false, &pairs), expected);
    // Along the edges 0 leads to 1, 2 and 3, and 4 to 2, 3 and 5.
    assert_eq!(of(&edges, true, &[(0, 4), (0, 1), (2, 3)]), [0.5, 1.0 / 3.0, 0.0]);
}

#[test]
fn the_most_similar_come_first_and_equal_ones_by_id() {
    let g = plain_graph(6, &[(0, 4), (0, 5), (3, 4), (3, 5), (1, 4), (2, 4)], false);
    let compared = Compared::Nearest { sources: vec![VertexId(0)], k: 2 };
    let found = jaccard(&g, &compared, Direction::Out).expect("live");
    let found: Vec<_> = found.iter().map(|(u, v, score)| (u.0, v.0, score)).collect();
    assert_eq!(found, [(0, 3, 1.0), (0, 1, 0.5)]);
}
