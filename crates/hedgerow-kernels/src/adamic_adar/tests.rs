//! Scores that are known.

use hedgerow_core::{Direction, VertexId};

use crate::testing::plain_graph;
use hedgerow_kernels::adamic_adar::{adamic_adar, verify};
use hedgerow_kernels::similarity::Compared;

/// As `adamic_adar_index` of NetworkX 3 has them.
#[test]
fn known_scores() {
    let g = plain_graph(8, &[(0, 1), (0, 2), (0, 3), (4, 2), (4, 3), (4, 5), (1, 2), (6, 3), (3, 3)], false);
    let pairs = [(0, 4), (0, 1), (0, 7), (5, 7), (2, 3), (1, 1), (5, 5)];
    let pairs = pairs.map(|(u, v)| (VertexId(u), VertexId(v))).to_vec();
    let found = adamic_adar(&g, &Compared::Pairs(pairs), Direction::Out).expect("live");
    let part = |degree: f64| 1.0 / degree.ln();
    // Vertex 3 has three neighbours and a loop, which counts twice.
    let expected = [part(3.0) + part(5.0), part(3.0), 0.0, 0.0, 2.0 * part(3.0), 2.0 * part(3.0), part(3.0)];
    for (found, expected) in found.values().iter().zip(expected) {
        assert!((found - expected).abs() < 1e-15, "{found} for {expected}");
    }
}

/// In a directed graph a shared neighbour counts by how many lead to it; one of degree 1 counts nothing.
#[test]
fn degrees_of_a_directed_graph() {
    let g = plain_graph(6, &[(0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (3, 5), (2, 5)], true);
    let score = |u, v, direction| {
        let pair = Compared::Pairs(vec![(VertexId(u), VertexId(v))]);
        adamic_adar(&g, &pair, direction).expect("live").values()[0]
    };
    assert!((score(0, 1, Direction::Out) - (1.0 / 3f64.ln() + 1.0 / 2f64.ln())).abs() < 1e-15);
    // Vertices 0 and 1 lead to both; each leads to two vertices.
    assert!((score(3, 4, Direction::In) - 2.0 / 2f64.ln()).abs() < 1e-15);
    let alone = plain_graph(2, &[(0, 1)], true);
    let itself = Compared::Pairs(vec![(VertexId(0), VertexId(0))]);
    assert_eq!(adamic_adar(&alone, &itself, Direction::Out).expect("live").values(), [0.0]);
}

/// Two shared neighbours of degree 4 count for as much as one of degree 2: the score is the same, whatever else is added, and the least vertex
/// is the first.
#[test]
fn equal_scores_of_unequal_degrees_are_equal_numbers() {
    // The source is 0; it shares neighbours of degrees 3, 4, 4, 5, 6 with vertex 1, of degrees 2, 3, 5, 6 with vertex 2.
    let (mut edges, mut next) = (Vec::new(), 3);
    for (target, degrees) in [(1, &[3, 4, 4, 5, 6][..]), (2, &[2, 3, 5, 6])] {
        for degree in degrees {
            let shared = next;
            edges.extend([(shared, 0), (shared, target)]);
            edges.extend((1..=degree - 2).map(|other| (shared, shared + other)));
            next += degree - 1;
        }
    }
    let g = plain_graph(next as usize, &edges, false);
    let nearest = Compared::Nearest { sources: vec![VertexId(0)], k: 2 };
    let found = adamic_adar(&g, &nearest, Direction::Out).expect("live");
    assert_eq!(found.values()[0].to_bits(), found.values()[1].to_bits());
    assert_eq!(found, verify::adamic_adar(&g, &nearest, Direction::Out));
    assert_eq!(found.to(), [VertexId(1), VertexId(2)]);
}
