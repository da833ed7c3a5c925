//! Both measures against sets of neighbours, for pairs and for the most similar; graphs that are stored in one direction; what cannot be.

use hedgerow_core::{Direction, Topology, VertexId};
use hedgerow_workload::Csr;

use crate::testing::{graphs, plain_graph, random_graph, sources, with_threads};
use hedgerow_kernels::{Cancel, Compared, KernelError, Pairs, adamic_adar, jaccard, registry};

/// A list of more entries is long.
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
        Measure::Jaccard => jaccard::verify::jaccard(g, compared, direction),
        Measure::AdamicAdar => adamic_adar::verify::adamic_adar(g, compared, direction),
    }
}

#[test]
fn pairs_and_the_most_similar_as_by_sets() {
    for (at, g) in graphs().into_iter().enumerate() {
        let (live, direction) = (sources(&g, 40), [Direction::Out, Direction::In][at % 2]);
        // Pairs in no order, some twice, some of a vertex with itself.
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

/// More candidates than are looked at together, all, and none.
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

/// Lists that are too long for one of many threads, sources with more targets than are compared one by one, and sources that threads share.
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
