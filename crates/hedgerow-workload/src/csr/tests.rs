//! Tests of compressed rows against sets of pairs.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_core::{Direction, Resident, Topology, VertexId};

use super::{Csr, CsrError, CsrOptions, Duplicates};
use crate::rng::Rng;

fn neighbors(g: &Csr, v: u32, direction: Direction) -> Vec<u32> {
    g.neighbors(VertexId(v), direction).iter().map(|u| u.0).collect()
}

#[test]
fn rows_hold_the_edges() {
    for seed in 0..30 {
        let mut rng = Rng::new(seed);
        let n = 1 + rng.below(200) as usize;
        let edges: Vec<(u32, u32)> =
            (0..rng.below(2000)).map(|_| (rng.below(n as u64) as u32, rng.below(n as u64) as u32)).collect();
        for directed in [false, true] {
            for drop_self_loops in [false, true] {
                let options = CsrOptions { directed, drop_self_loops, ..CsrOptions::default() };
                let g = Csr::from_edges(n, &edges, &options).expect("in range");
                let kept = edges.iter().copied().filter(|e| !(drop_self_loops && e.0 == e.1));
                let mut set: BTreeSet<(u32, u32)> = kept.collect();
                if !directed {
                    let pairs: BTreeSet<(u32, u32)> =
                        set.iter().map(|&(u, v)| (u.min(v), u.max(v))).collect();
                    assert_eq!(g.edge_count() as usize, pairs.len());
                    set.extend(set.clone().into_iter().map(|(u, v)| (v, u)));
                } else {
                    assert_eq!(g.edge_count() as usize, set.len());
                }
                for v in 0..n as u32 {
                    let out: Vec<u32> = set.iter().filter(|e| e.0 == v).map(|e| e.1).collect();
                    let into: Vec<u32> = set.iter().filter(|e| e.1 == v).map(|e| e.0).collect();
                    assert_eq!(neighbors(&g, v, Direction::Out), out);
                    assert_eq!(neighbors(&g, v, Direction::In), into);
                    assert_eq!(g.degree(VertexId(v), Direction::Out), out.len());
                }
            }
        }
    }
}

#[test]
fn the_last_weight_wins() {
    let mut rng = Rng::new(5);
    let edges: Vec<(u32, u32)> = (0..500).map(|_| (rng.below(20) as u32, rng.below(20) as u32)).collect();
    let weights: Vec<f64> = (0..500).map(f64::from).collect();
    let options = CsrOptions { directed: true, ..CsrOptions::default() };
    let g = Csr::from_weighted_edges(20, &edges, &weights, &options).expect("in range");
    let expected: BTreeMap<(u32, u32), f64> = edges.iter().copied().zip(weights.iter().copied()).collect();
    for v in 0..20 {
        let weights_of = |direction| g.weights(VertexId(v), direction).to_vec();
        let out: Vec<f64> = expected.iter().filter(|(e, _)| e.0 == v).map(|(_, w)| *w).collect();
        let into: Vec<f64> = expected.iter().filter(|(e, _)| e.1 == v).map(|(_, w)| *w).collect();
        assert_eq!((weights_of(Direction::Out), weights_of(Direction::In)), (out, into));
    }
    let g = Csr::from_weighted_edges(20, &edges, &weights, &CsrOptions::default()).expect("in range");
    for (u, v) in [(3, 4), (7, 7), (19, 0)] {
        let at = |u: u32, v: u32| neighbors(&g, u, Direction::Out).iter().position(|&x| x == v);
        let weight = |u, v| at(u, v).map(|i| g.weights(VertexId(u), Direction::Out)[i]);
        assert_eq!(weight(u, v), weight(v, u), "both sides of {u} {v}");
    }
}

#[test]
fn multigraphs_masks_and_empty_graphs() {
    let keep = CsrOptions { directed: true, duplicates: Duplicates::Keep, ..CsrOptions::default() };
    let g = Csr::from_edges(3, &[(0, 1), (0, 1), (2, 2)], &keep).expect("in range");
    assert_eq!((g.edge_count(), neighbors(&g, 0, Direction::Out)), (3, vec![1, 1]));
    let masked = CsrOptions { live: Some(vec![true, false, true]), ..CsrOptions::default() };
    let g = Csr::from_edges(3, &[(0, 2)], &masked).expect("live ends");
    assert_eq!((g.vertex_count(), g.vertex_bound()), (2, 3));
    assert!(!g.contains(VertexId(1)) && !g.contains(VertexId(3)));
    let empty = Csr::from_edges(0, &[], &CsrOptions::default()).expect("empty");
    assert_eq!((empty.vertex_count(), empty.edge_count(), empty.bytes()), (0, 0, 8));
    assert!(empty.neighbors(VertexId(0), Direction::Out).is_empty());
    assert!(empty.neighbors(VertexId(u32::MAX), Direction::In).is_empty());
    let loops = Csr::from_edges(2, &[(0, 0), (0, 1), (1, 1)], &CsrOptions::default()).expect("in range");
    assert_eq!((loops.edge_count(), neighbors(&loops, 0, Direction::Out)), (3, vec![0, 1]));
}

#[test]
fn bad_input_is_refused() {
    let plain = CsrOptions::default();
    let endpoint = Csr::from_edges(2, &[(0, 1), (1, 2)], &plain).map(|_| ());
    assert_eq!(endpoint, Err(CsrError::Endpoint { index: 1, src: 1, dst: 2, vertices: 2 }));
    let masked = CsrOptions { live: Some(vec![true, false]), ..CsrOptions::default() };
    assert!(matches!(Csr::from_edges(2, &[(0, 1)], &masked), Err(CsrError::Endpoint { .. })));
    assert!(matches!(Csr::from_edges(3, &[], &masked), Err(CsrError::Length { what: "live mask", .. })));
    let weights = Csr::from_weighted_edges(2, &[(0, 1)], &[], &plain).map(|_| ());
    assert_eq!(weights, Err(CsrError::Length { what: "weights", expected: 1, found: 0 }));
    let many = Csr::from_edges(1 << 33, &[], &plain).map(|_| ());
    assert_eq!(many, Err(CsrError::TooManyVertices { vertices: 1 << 33 }));
}
