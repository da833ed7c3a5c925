//! Tests of both measures against sets of neighbors, for pairs and for the most similar vertices; of known
//! scores; of graphs that are stored in one direction; and of refused input.

use hedgerow_core::{Direction, Topology, VertexId};
use hedgerow_workload::Csr;

use crate::testing::{graphs, plain_graph, random_graph, sources, with_threads};
use hedgerow_kernels::{Cancel, Compared, KernelError, Pairs, adamic_adar, jaccard, registry, verify};

/// A list with more entries is long.
const LONG: u32 = 1 << 14;

/// The kernels of both measures.
const MEASURES: [Measure; 2] = [Measure::Jaccard, Measure::AdamicAdar];

#[derive(Clone, Copy)]
enum Measure {
    Jaccard,
    AdamicAdar,
}

fn found(g: &Csr, compared: &Compared, measure: Measure, direction: Direction) -> Pairs {
    let found = match measure {
        Measure::Jaccard => jaccard(g, compared, direction),
        Measure::AdamicAdar => adamic_adar(g, compared, direction),
    };
    found.expect("live")
}

fn expected(g: &Csr, compared: &Compared, measure: Measure, direction: Direction) -> Pairs {
    match measure {
        Measure::Jaccard => verify::jaccard(g, compared, direction),
        Measure::AdamicAdar => verify::adamic_adar(g, compared, direction),
    }
}

#[test]
fn pairs_and_the_most_similar_as_by_sets() {
    for (at, g) in graphs().into_iter().enumerate() {
        let (live, direction) = (sources(&g, 40), [Direction::Out, Direction::In][at % 2]);
        // The pairs are not sorted. Some occur twice, and some have the same vertex twice.
        let pairs = (0..60).map(|i| (live.get(i * 7 % 31), live.get(i * i % 37)));
        let pairs: Vec<_> = pairs.filter_map(|(u, v)| Some((*u?, *v?))).collect();
        let few = if g.vertex_bound() < 5000 { 3 } else { 1 };
        let sources = live.into_iter().take(few).collect();
        for compared in [Compared::Pairs(pairs), Compared::Nearest { sources, k: 4 }] {
            for measure in MEASURES {
                let expected = expected(&g, &compared, measure, direction);
                let found = found(&g, &compared, measure, direction);
                assert!(found.agrees_with(&expected, 1e-12), "{found:?} {expected:?}");
            }
        }
    }
}

/// There are more candidates than the kernel compares together. The test requests one vertex, some, and more
/// than exist.
#[test]
fn the_bound_leaves_no_similar_vertex_out() {
    for seed in 0..10 {
        let g = random_graph(3000, 40_000, seed % 2 == 0, 0.1, seed);
        let sources = sources(&g, 3);
        for k in [1, 20, 5000] {
            let compared = Compared::Nearest { sources: sources.clone(), k };
            for measure in MEASURES {
                let expected = expected(&g, &compared, measure, Direction::Out);
                assert!(found(&g, &compared, measure, Direction::Out).agrees_with(&expected, 1e-12));
            }
        }
    }
}

/// Some lists are so long that threads share them. A source has more targets than the kernel compares one by
/// one, and threads share the sources.
#[test]
fn long_lists_and_many_targets_are_shared_by_any_number_of_threads() {
    let leaves = 2 * LONG;
    let hubs =
        (2..leaves).flat_map(|v| [(0, v), (1, v)].into_iter().filter(move |(hub, _)| hub * v % 3 == 0));
    let edges: Vec<(u32, u32)> =
        hubs.chain((3..leaves).map(|v| (v - 1, v))).chain([(0, 1), (0, 0)]).collect();
    let pairs: Vec<(u32, u32)> =
        (2..400).map(|v| (5, v * 2)).chain([(0, 1), (1, 7), (3, 0), (0, 0)]).collect();
    let vertex = |(u, v)| (VertexId(u), VertexId(v));
    for (directed, direction) in [(false, Direction::Out), (true, Direction::In)] {
        let g = plain_graph(leaves as usize, &edges, directed);
        for measure in MEASURES {
            let compared = Compared::Pairs(pairs.iter().copied().map(vertex).collect());
            let expected = expected(&g, &compared, measure, direction);
            let near = |count: usize| Compared::Nearest {
                sources: [6, 0, 1, 9].map(VertexId)[..count].into(),
                k: 70,
            };
            let of = |compared: &Compared| found(&g, compared, measure, direction);
            let alone = with_threads(1, || [near(1), near(4)].map(|near| of(&near)));
            assert!(alone.iter().all(|pairs| !pairs.is_empty()));
            for threads in [1, 2, 3, 8] {
                let pairs = with_threads(threads, || of(&compared));
                assert!(pairs.agrees_with(&expected, 1e-12), "{threads} threads, directed {directed}");
                let again = with_threads(threads, || [near(1), near(4)].map(|near| of(&near)));
                assert!(again == alone, "{threads} threads, directed {directed}");
            }
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let g = plain_graph(3, &[(0, 1)], true);
    let run = |compared| jaccard(&g, &compared, Direction::Out);
    let (far, here) = (VertexId(9), VertexId(0));
    assert_eq!(
        run(Compared::Pairs(vec![(here, here), (far, here)])),
        Err(KernelError::SourceNotLive { source: far, vertex_bound: 3 })
    );
    assert_eq!(
        run(Compared::Pairs(vec![(here, far)])),
        Err(KernelError::TargetNotLive { target: far, vertex_bound: 3 })
    );
    let refused = run(Compared::Nearest { sources: vec![here], k: 0 }).expect_err("none").to_string();
    assert_eq!(refused, "k must be 1 to 4294967295, found 0");
    let mut arguments = registry::find("jaccard").expect("listed").arguments();
    arguments.set("sources", vec![here, here]).expect("vertices");
    arguments.set("targets", vec![here]).expect("vertices");
    let refused = arguments.run(&g, &Cancel::new()).expect_err("one is missing").to_string();
    assert_eq!(refused, "targets must be as many vertices as sources, found 1");
}

fn coefficients(edges: &[(u32, u32)], directed: bool, pairs: &[(u32, u32)]) -> Vec<f64> {
    let g = plain_graph(8, edges, directed);
    let pairs = pairs.iter().map(|&(u, v)| (VertexId(u), VertexId(v))).collect();
    jaccard(&g, &Compared::Pairs(pairs), Direction::Out).expect("live").values().to_vec()
}

/// The results of `jaccard_coefficient` in NetworkX 3.
#[test]
fn known_coefficients() {
    let edges = [(0, 1), (0, 2), (0, 3), (4, 2), (4, 3), (4, 5), (1, 2), (6, 6)];
    let pairs = [(0, 4), (4, 0), (0, 1), (0, 7), (7, 7), (0, 0), (6, 6), (2, 3)];
    let expected = [2.0 / 4.0, 2.0 / 4.0, 1.0 / 4.0, 0.0, 0.0, 1.0, 0.0, 2.0 / 3.0];
    assert_eq!(coefficients(&edges, false, &pairs), expected);
    // Edges lead from 0 to 1, 2 and 3, and from 4 to 2, 3 and 5.
    assert_eq!(coefficients(&edges, true, &[(0, 4), (0, 1), (2, 3)]), [0.5, 1.0 / 3.0, 0.0]);
}

#[test]
fn the_most_similar_come_first_and_equal_ones_by_id() {
    let g = plain_graph(6, &[(0, 4), (0, 5), (3, 4), (3, 5), (1, 4), (2, 4)], false);
    let compared = Compared::Nearest { sources: vec![VertexId(0)], k: 2 };
    let found = jaccard(&g, &compared, Direction::Out).expect("live");
    let found: Vec<_> = found.iter().map(|(u, v, score)| (u.0, v.0, score)).collect();
    assert_eq!(found, [(0, 3, 1.0), (0, 1, 0.5)]);
}

/// The results of `adamic_adar_index` in NetworkX 3.
#[test]
fn known_scores_of_adamic_and_adar() {
    let g = plain_graph(8, &[(0, 1), (0, 2), (0, 3), (4, 2), (4, 3), (4, 5), (1, 2), (6, 3), (3, 3)], false);
    let pairs = [(0, 4), (0, 1), (0, 7), (5, 7), (2, 3), (1, 1), (5, 5)];
    let pairs = pairs.map(|(u, v)| (VertexId(u), VertexId(v))).to_vec();
    let found = adamic_adar(&g, &Compared::Pairs(pairs), Direction::Out).expect("live");
    let part = |degree: f64| 1.0 / degree.ln();
    // Vertex 3 has three neighbors and a loop, which counts twice.
    let expected = [part(3.0) + part(5.0), part(3.0), 0.0, 0.0, 2.0 * part(3.0), 2.0 * part(3.0), part(3.0)];
    for (found, expected) in found.values().iter().zip(expected) {
        assert!((found - expected).abs() < 1e-15, "{found} for {expected}");
    }
}

/// In a directed graph, the degree of a shared neighbor is the number of edges to it. A neighbor of degree 1
/// adds nothing.
#[test]
fn degrees_of_a_directed_graph() {
    let g = plain_graph(6, &[(0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (3, 5), (2, 5)], true);
    let score = |u, v, direction| {
        let pair = Compared::Pairs(vec![(VertexId(u), VertexId(v))]);
        adamic_adar(&g, &pair, direction).expect("live").values()[0]
    };
    assert!((score(0, 1, Direction::Out) - (1.0 / 3f64.ln() + 1.0 / 2f64.ln())).abs() < 1e-15);
    // Vertices 0 and 1 lead to both. Each of them leads to two vertices.
    assert!((score(3, 4, Direction::In) - 2.0 / 2f64.ln()).abs() < 1e-15);
    let alone = plain_graph(2, &[(0, 1)], true);
    let itself = Compared::Pairs(vec![(VertexId(0), VertexId(0))]);
    assert_eq!(adamic_adar(&alone, &itself, Direction::Out).expect("live").values(), [0.0]);
}

/// Two shared neighbors of degree 4 add as much as one of degree 2. The scores are equal, whatever else is
/// added, and the vertex with the least id comes first.
#[test]
fn equal_scores_of_unequal_degrees_are_equal_numbers() {
    // The source is 0. It shares neighbors of degrees 3, 4, 4, 5, 6 with vertex 1, and of degrees 2, 3, 5, 6
    // with vertex 2.
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
