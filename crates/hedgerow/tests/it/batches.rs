//! Reads of many edges, and of all vertices within some hops, in one call. The tests compare them with reads
//! of single edges and single lists.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow::{
    ArgumentError, Comparison, Direction, Durability, EdgeDirection, EdgeKey, EdgePattern, EdgeSelection,
    Error, Graph, KHopOptions, KeyKind, LEAST_MEMORY_LIMIT, MissingVertex, Snapshot, StateError, VertexKey,
};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::SplitMix64;

use crate::columns::for_all_graphs;
use crate::common;

/// Returns the vertices within `hops` of `sources` with their distances, in the order of the call. It reads
/// the lists one by one.
fn within(
    snapshot: &Snapshot,
    selection: &EdgeSelection<'_>,
    sources: &[VertexKey],
    hops: u32,
) -> (Vec<VertexKey>, Vec<u32>) {
    let mut distances: BTreeMap<VertexKey, u32> = sources.iter().map(|key| (key.clone(), 0)).collect();
    for hop in 1..=hops {
        let level: Vec<VertexKey> =
            distances.iter().filter(|(_, d)| **d == hop - 1).map(|(key, _)| key.clone()).collect();
        for key in level {
            let list = snapshot.edge_list(&key, selection).unwrap().expect("a vertex");
            list.into_iter().for_each(|(other, ..)| _ = distances.entry(other).or_insert(hop));
        }
    }
    let mut ordered: Vec<(u32, VertexKey)> = distances.into_iter().map(|(key, d)| (d, key)).collect();
    ordered.sort_unstable();
    ordered.into_iter().map(|(d, key)| (key, d)).unzip()
}

fn k_hop_agrees(snapshot: &Snapshot, selection: &EdgeSelection<'_>, sources: &[VertexKey], hops: u32) {
    let expected = within(snapshot, selection, sources, hops);
    let size = expected.0.len() as u64;
    let options = KHopOptions::new(hops).limit(size);
    let keys: Vec<&VertexKey> = sources.iter().collect();
    let found = snapshot.k_hop(&keys, selection, options).unwrap();
    assert_eq!(
        (found.vertices.to_vec(), found.distances),
        expected,
        "{selection:?} from {sources:?}, {hops}"
    );
    let refused = snapshot.k_hop(&keys, selection, options.limit(size.saturating_sub(1)));
    let refused = refused.map(|found| found.distances.len());
    match refused {
        Ok(none) => assert_eq!((none, size), (0, 0)),
        Err(Error::Argument(ArgumentError::TooLarge { limit, .. })) => assert_eq!(limit, size - 1),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn many_edges_are_there_where_each_is() {
    for_all_graphs(|snapshot, model| {
        let vertices: Vec<&VertexKey> = model.vertices().collect();
        let unknown = VertexKey::U64(u64::from(u32::MAX));
        let mut edges: Vec<(&VertexKey, &VertexKey)> =
            model.edges().flat_map(|(src, dst, _)| [(src, dst), (dst, src)]).collect();
        edges.extend(model.items().map(|(item, _)| (&item.src, &item.dst)));
        let some = || vertices.iter().copied().step_by(vertices.len() / 12 + 1).chain([&unknown]);
        edges.extend(some().flat_map(|src| some().map(move |dst| (src, dst))));
        // First one edge, for a call with few edges; then all edges, for a call that reads the view.
        for edges in [&edges[..1], &edges[..]] {
            for label in snapshot.schema().labels() {
                let found = snapshot.contains_edges(edges, label).unwrap();
                let each = edges.iter().map(|&(src, dst)| {
                    snapshot.contains_edge(EdgePattern::between(src, dst).label(label)).unwrap()
                });
                assert!(each.eq(found), "label {}", label.name());
            }
            let found = snapshot.contains_edges(edges, Direction::Out).unwrap();
            let each = edges
                .iter()
                .map(|&(src, dst)| snapshot.contains_edge(EdgePattern::between(src, dst)).unwrap());
            assert!(each.eq(found));
        }
    });
}

#[test]
fn a_neighborhood_has_what_lists_lead_to() {
    for_all_graphs(|snapshot, model| {
        let vertices: Vec<VertexKey> = model.vertices().cloned().collect();
        let schema = snapshot.schema();
        let mut selections = vec![EdgeSelection::all(), EdgeSelection::all().ranks(1..)];
        selections.extend(schema.labels().iter().map(EdgeSelection::of));
        for (at, selection) in selections.iter().enumerate() {
            for direction in [EdgeDirection::Out, EdgeDirection::In, EdgeDirection::Both] {
                let selection = selection.clone().direction(direction);
                let from = vertices.iter().skip(at).step_by(vertices.len() / 3 + 1);
                let sources: Vec<VertexKey> = from.flat_map(|key| [key.clone(), key.clone()]).collect();
                for (count, hops) in [(0, 2), (1, 0), (1, 3), (sources.len(), 2)] {
                    k_hop_agrees(snapshot, &selection, &sources[..count.min(sources.len())], hops);
                }
            }
        }
    });
}

/// A number of vertices so large that the reads take only a few of them from chains of versions.
const VERTICES: u64 = 64 * 700;

fn random_edges(rng: &mut SplitMix64, count: usize) -> Vec<(u64, u64)> {
    // Vertices with smaller numbers get longer lists.
    let mut end = || rng.below(VERTICES) * rng.below(VERTICES) / VERTICES;
    (0..count).map(|_| (end(), end())).collect()
}

#[test]
fn reads_in_batches_see_one_state_beside_writers() {
    for (directed, seed) in [(true, 1), (false, 2)] {
        let graph = common::small().directed(directed).keys(KeyKind::Dense).in_memory().unwrap();
        graph.transact(1, |tx| (0..VERTICES).try_for_each(|n| tx.insert_vertex(n).map(drop))).unwrap();
        let mut rng = SplitMix64::new(seed);
        let first = random_edges(&mut rng, 60_000);
        graph.transact(1, |tx| tx.put_edges(first.iter().copied())).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (graph, done, first) = (&graph, &done, &first);
            scope.spawn(move || {
                let mut rng = SplitMix64::new(seed + 10);
                while !done.load(Ordering::Relaxed) {
                    for ((src, dst), old) in random_edges(&mut rng, 200).into_iter().zip(first) {
                        graph.insert_edge((src, dst)).unwrap();
                        graph.remove_edge((old.0, old.1)).unwrap();
                    }
                    let label = EdgeKey::new("knows", rng.below(99), rng.below(99));
                    graph.put_edge_with(label, [("since", rng.below(30) as i64)]).unwrap();
                }
            });
            for round in 0..6 {
                beside_writers(&graph.snapshot().unwrap(), first, &mut rng, round);
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}

fn beside_writers(snapshot: &Snapshot, first: &[(u64, u64)], rng: &mut SplitMix64, round: u32) {
    let mut edges = random_edges(rng, 100);
    let from = rng.below(100) as usize;
    edges.extend(&first[from..from + 150]);
    let found = snapshot.contains_edges(&edges, "").unwrap();
    let each = edges.iter().map(|&(src, dst)| snapshot.contains_edge((src, dst)).unwrap());
    assert!(each.eq(found), "round {round}");
    let sources = [VertexKey::U64(rng.below(40)), VertexKey::U64(rng.below(VERTICES))];
    let selection = EdgeSelection::of("");
    // A read with two hops uses the view.
    for hops in [1, 2] {
        k_hop_agrees(snapshot, &selection, &sources, hops);
        k_hop_agrees(snapshot, &EdgeSelection::all().direction(EdgeDirection::Both), &sources, hops);
    }
    // The writer defines the label and its property in two steps.
    if snapshot.schema().label("knows").is_some_and(|knows| knows.property("since").is_some()) {
        let selection = EdgeSelection::of("knows").filter("since", Comparison::Greater, 10);
        k_hop_agrees(snapshot, &selection, &sources[..1], 4);
    }
}

#[test]
fn a_neighborhood_says_what_is_wrong_with_sources_and_ends_when_told() {
    let graph = Graph::in_memory().unwrap();
    graph.insert_edges([(1, 2), (2, 3), (3, 4)]).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let all = EdgeSelection::all();
    let refused = snapshot.k_hop(&[1u64, 9], &all, KHopOptions::new(1)).unwrap_err();
    assert!(matches!(&refused, Error::Argument(ArgumentError::NoSuchVertex { row: 1, .. })), "{refused}");
    let empty = KHopOptions::new(1).missing(MissingVertex::Empty);
    let found = snapshot.k_hop(&[9u64, 3], &all, empty).unwrap();
    assert_eq!((found.vertices.to_vec(), found.distances), (vec![3u64.into(), 4u64.into()], vec![0, 1]));
    let none = snapshot.k_hop(&[] as &[u64], &all, KHopOptions::new(7)).unwrap();
    assert!(none.vertices.is_empty() && none.distances.is_empty());
    let asked = Cell::new(0);
    let until = || asked.replace(asked.get() + 1) == 2;
    let cancelled = snapshot.k_hop(&[1u64], &all, KHopOptions::new(u32::MAX).until(&until)).unwrap_err();
    assert!(matches!(cancelled, Error::State(StateError::Cancelled)), "{cancelled}");
    assert_eq!(asked.get(), 3);
    assert!(snapshot.k_hop(&[1u64], &EdgeSelection::of("none"), KHopOptions::new(1)).is_err());
    let incoming = all.direction(Direction::In);
    let found = snapshot.k_hop(&[3u64], &incoming, KHopOptions::new(u32::MAX)).unwrap();
    assert_eq!(found.distances, [0, 1, 2]);
}

/// Under a memory limit, a view of one label that fits must not change the reads of another label: reads of a
/// few keys of that label still succeed.
#[test]
fn a_view_of_a_small_label_leaves_reads_of_a_large_one_as_they_are() {
    const VERTICES: u64 = 60_000;
    let (disk, mut rng) = (SimFs::new(), SplitMix64::new(3));
    let options = common::small().keys(KeyKind::Dense).durability(Durability::Manual);
    let options = options.background_settling(false);
    let graph = options.clone().open_on(disk.handle()).unwrap();
    for _ in 0..9 {
        let mut tx = graph.write().unwrap();
        for _ in 0..100_000 {
            let edge = EdgeKey::new("large", rng.below(VERTICES), rng.below(VERTICES));
            tx.put_edge_with(edge, [("share", 0.5)]).unwrap();
        }
        tx.commit().unwrap();
    }
    graph.insert_edges([(1, 4), (2, 5), (3, 6)]).unwrap();
    graph.checkpoint().unwrap();
    graph.close().unwrap();
    let graph = options.memory_limit(LEAST_MEMORY_LIMIT).open_on(disk.handle()).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let reads = || {
        let (out, empty, keys) = (Direction::Out, MissingVertex::Empty, [5_u64]);
        (
            snapshot.degrees(&keys, ("large", out), empty).unwrap(),
            snapshot.degrees(&keys, out, empty).unwrap(),
            snapshot.neighbor_lists(&keys, ("large", out), empty).unwrap().neighbors,
            snapshot.contains_edges(&[(5_u64, 9_u64), (1, 4)], Direction::Out).unwrap(),
        )
    };
    let before = reads();
    assert!(before.0[0] > 0 && before.3[1]);
    snapshot.default_label().view().unwrap();
    assert!(snapshot.view("large").is_err(), "the large label is too small for this test");
    assert_eq!(reads(), before);
}
