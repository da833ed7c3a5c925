//! Views of snapshots: snapshots share them, the store makes one from another, a few point reads build none,
//! and views do not stay for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow::{
    Direction, EdgeKey, Graph, KeyKind, Resident, Snapshot, Stats, Topology, Value, VertexId, View,
};
use hedgerow_workload::rng::Rng;

const VERTICES: u64 = 20_000;

fn random_graph(directed: bool, weighted: bool, seed: u64) -> (Graph, Rng) {
    let graph = crate::common::small()
        .keys(KeyKind::Dense)
        .directed(directed)
        .weighted(weighted)
        .background_settling(false)
        .in_memory()
        .unwrap();
    let mut rng = Rng::new(seed);
    let mut tx = graph.write().unwrap();
    for _ in 0..60_000 {
        tx.put_edge((rng.below(VERTICES), rng.below(VERTICES))).unwrap();
    }
    tx.commit().unwrap();
    (graph, rng)
}

/// Compares the lists of the view with point reads of the same snapshot.
fn compare(snapshot: &Snapshot, vertices: impl Iterator<Item = u64>) {
    let view = snapshot.default_label().view().unwrap();
    for v in vertices {
        let id = VertexId(v as u32);
        assert_eq!(view.contains(id), snapshot.contains_vertex(v).unwrap(), "vertex {v}");
        for direction in [Direction::Out, Direction::In] {
            let (mut of_view, mut read) = (Vec::new(), Vec::new());
            view.for_each_weighted(id, direction, |u, w| of_view.push((u, w)));
            snapshot.default_label().for_each_neighbor(id, direction, |u, w| read.push((u, w))).unwrap();
            assert_eq!(of_view, read, "vertex {v} {direction:?}");
            assert_eq!(view.degree(id, direction), read.len());
        }
    }
}

fn check_whole(snapshot: &Snapshot) {
    compare(snapshot, 0..VERTICES);
    let view = snapshot.default_label().view().unwrap();
    assert_eq!(view.vertex_count() as u64, snapshot.vertex_count());
    let mut edges = 0;
    snapshot.default_label().for_each_edge(|_, _, _| edges += 1).unwrap();
    assert_eq!(edges, snapshot.edge_count().unwrap());
}

pub(crate) fn reads_by_id_agree_with_and_without_a_view() {
    for directed in [false, true] {
        let (graph, mut rng) = random_graph(directed, true, 8);
        for _ in 0..20 {
            (0..50).for_each(|_| change(&graph, &mut rng));
            let (plain, viewed) = (graph.snapshot().unwrap(), graph.snapshot().unwrap());
            plain.default_label().set_views_by_reads(false);
            viewed.default_label().view().unwrap();
            let mut found = 0;
            for u in 0..VERTICES {
                let (a, b) = (VertexId(u as u32), VertexId(rng.below(VERTICES) as u32));
                let edge = plain.default_label().contains_edge(a, b).unwrap();
                assert_eq!(
                    (edge, edge),
                    (
                        viewed.default_label().contains_edge(a, b).unwrap(),
                        plain.contains_edge((u, u64::from(b.0))).unwrap()
                    )
                );
                plain
                    .default_label()
                    .for_each_neighbor(a, Direction::Out, |v, _| {
                        assert!(
                            plain.default_label().contains_edge(a, v).unwrap()
                                && viewed.default_label().contains_edge(a, v).unwrap()
                        );
                        found += 1;
                    })
                    .unwrap();
                for direction in [Direction::Out, Direction::In] {
                    let degree = plain.degree(u, direction).unwrap().unwrap_or(0);
                    assert_eq!(plain.default_label().degree(a, direction).unwrap(), degree);
                    assert_eq!(viewed.default_label().degree(a, direction).unwrap(), degree);
                }
            }
            assert!(found > 0);
        }
    }
}

/// The list of a hub has patches in addition to its main part: a read by id must find the neighbors in all of
/// them.
pub(crate) fn reads_by_id_find_every_neighbor_of_a_hub() {
    let options = crate::common::small().directed(false).keys(hedgerow::KeyKind::Dense);
    let graph = options.background_settling(false).in_memory().unwrap();
    let hub = 40_000u64;
    let insert = |tx: &mut hedgerow::WriteTxn| (0..=hub).try_for_each(|v| tx.insert_vertex(v).map(drop));
    graph.transact(1, insert).unwrap();
    let mut rng = Rng::new(5);
    let mut neighbors: Vec<u64> = (0..hub).collect();
    hedgerow_workload::shuffle(&mut neighbors, rng.next_u64());
    let (kept, absent) = neighbors.split_at(30_000);
    kept.iter().for_each(|&v| assert!(graph.insert_edge((hub, v)).unwrap()));
    for view in [false, true] {
        let snapshot = graph.snapshot().unwrap();
        snapshot.default_label().set_views_by_reads(false);
        if view {
            snapshot.default_label().view().unwrap();
        }
        let id = |v: u64| VertexId(v as u32);
        assert!(
            kept.iter().all(|&v| snapshot.default_label().contains_edge(id(hub), id(v)).unwrap()),
            "view {view}"
        );
        assert!(
            !absent.iter().any(|&v| snapshot.default_label().contains_edge(id(hub), id(v)).unwrap()),
            "view {view}"
        );
        assert_eq!(snapshot.default_label().degree(id(hub), Direction::Out).unwrap(), kept.len());
    }
}

/// Makes one random commit; some of the commits remove a vertex.
fn change(graph: &Graph, rng: &mut Rng) {
    let (u, v) = (rng.below(VERTICES), rng.below(VERTICES));
    let (kind, weight) = (rng.below(8), rng.below(9) as f64);
    let change = |tx: &mut hedgerow::WriteTxn| match kind {
        0 => tx.remove_vertex(u).map(drop),
        1..4 => tx.remove_edge((u, v)).map(drop),
        4 if graph.config().weighted => tx.put_edge((u, v, weight)),
        _ => tx.put_edge((u, v)),
    };
    // Two writers may conflict.
    graph.transact(1000, change).unwrap();
}

pub(crate) fn snapshots_of_one_timestamp_share_a_view() {
    let (graph, _) = random_graph(false, false, 1);
    let (a, b) = (graph.snapshot().unwrap(), graph.snapshot().unwrap());
    assert!(std::ptr::eq(a.default_label().view().unwrap(), b.default_label().view().unwrap()));
    graph.insert_edge((1, 2)).unwrap();
    let c = graph.snapshot().unwrap();
    assert!(!std::ptr::eq(a.default_label().view().unwrap(), c.default_label().view().unwrap()));
    let stats = graph.stats().unwrap();
    assert_eq!((stats.views_built, stats.views_refreshed), (1, 1));
    assert!(stats.view_bytes > 0);
}

pub(crate) fn a_few_point_reads_build_no_view() {
    let (graph, mut rng) = random_graph(true, true, 2);
    for _ in 0..100 {
        change(&graph, &mut rng);
        let snapshot = graph.snapshot().unwrap();
        let (u, v) = (rng.below(VERTICES), rng.below(VERTICES));
        snapshot.contains_vertex(u).unwrap();
        snapshot.contains_edge((u, v)).unwrap();
        snapshot.default_label().weight_between(u, v).unwrap();
        snapshot.degree(u, Direction::In).unwrap();
        snapshot.neighbors(u, Direction::Out).unwrap();
        snapshot.default_label().weighted_neighbors(u, Direction::In).unwrap();
        snapshot.vertex_id(u).unwrap().map(|id| snapshot.vertex_key(id).unwrap());
        assert!(snapshot.vertex_count() > 0 && snapshot.edge_count().unwrap() > 0);
        let mut tx = graph.write().unwrap();
        tx.contains_edge((u, v)).unwrap();
        tx.degree(u, Direction::Out).unwrap();
    }
    let stats = graph.stats().unwrap();
    assert_eq!((stats.views_built, stats.views_refreshed, stats.view_bytes), (0, 0, 0));
}

pub(crate) fn refreshed_views_agree_with_point_reads() {
    for (directed, weighted) in [(false, false), (true, false), (false, true), (true, true)] {
        let (graph, mut rng) = random_graph(directed, weighted, 3);
        let mut old: Vec<Snapshot> = Vec::new();
        for round in 0..30 {
            for _ in 0..rng.below(200) {
                change(&graph, &mut rng);
            }
            if round % 7 == 3 {
                graph.settle().unwrap();
            }
            let snapshot = graph.snapshot().unwrap();
            check_whole(&snapshot);
            // A snapshot without a view yet: later its view is made from a newer view.
            old.push(graph.snapshot().unwrap());
            change(&graph, &mut rng);
            old.push(graph.snapshot().unwrap());
            if old.len() > 5 {
                check_whole(&old.remove(rng.below(5) as usize));
            }
        }
        let stats = graph.stats().unwrap();
        assert!(stats.views_refreshed > 30, "{stats:?}");
        assert!(graph.check().unwrap().is_ok());
    }
}

/// The refresh has several parts, on one thread and on several.
pub(crate) fn a_refresh_of_many_subgraphs_reads_all_that_changed() {
    const SUBGRAPHS: u64 = 1500;
    let graph = crate::common::small().keys(KeyKind::Dense).directed(false).in_memory().unwrap();
    let put = |edges: &[(u64, u64)]| {
        let mut tx = graph.write().unwrap();
        tx.put_edges(edges).unwrap();
        tx.commit().unwrap();
    };
    put(&(1..SUBGRAPHS * 64).map(|v| (v - 1, v)).collect::<Vec<_>>());
    let mut rng = Rng::new(6);
    let mut held = Vec::new();
    for round in 0..6 {
        // In half of the rounds another snapshot still uses the view that is made into the next one.
        let snapshot = graph.snapshot().unwrap();
        snapshot.default_label().view().unwrap();
        held.extend((round % 2 == 0).then_some(snapshot));
        let mut vertex = |subgraph: u64| subgraph * 64 + rng.below(64);
        let changed = 300 * (round + 1).min(4);
        let edges: Vec<_> = (0..changed / 2).map(|i| (vertex(i), vertex(SUBGRAPHS - 1 - i))).collect();
        put(&edges);
        compare(&graph.snapshot().unwrap(), 0..SUBGRAPHS * 64);
    }
    held.iter().for_each(|snapshot| compare(snapshot, 0..SUBGRAPHS * 64));
    assert!(graph.stats().unwrap().views_refreshed >= 6);
}

pub(crate) fn views_beside_writers_are_of_one_timestamp() {
    let (graph, _) = random_graph(false, false, 4);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for seed in 0..2 {
            let (graph, stop) = (&graph, &stop);
            scope.spawn(move || {
                let mut rng = Rng::new(100 + seed);
                while !stop.load(Ordering::Relaxed) {
                    change(graph, &mut rng);
                }
            });
        }
        let readers: Vec<_> = (0..2)
            .map(|seed| {
                let graph = &graph;
                scope.spawn(move || {
                    let mut rng = Rng::new(200 + seed);
                    let mut held = Vec::new();
                    for _ in 0..150 {
                        let snapshot = graph.snapshot().unwrap();
                        // Edges and degrees must agree within the view, and with the counts of the snapshot.
                        assert_eq!(
                            snapshot.default_label().view().unwrap().vertex_count() as u64,
                            snapshot.vertex_count()
                        );
                        compare(&snapshot, (0..200).map(|_| rng.below(VERTICES)));
                        held.push(snapshot);
                        if rng.below(3) == 0 {
                            held.swap_remove(rng.below(held.len() as u64) as usize);
                        }
                    }
                    held.iter().for_each(|s| compare(s, (0..50).map(|_| rng.below(VERTICES))));
                })
            })
            .collect();
        let results: Vec<_> = readers.into_iter().map(|r| r.join()).collect();
        stop.store(true, Ordering::Relaxed);
        results.into_iter().for_each(|r| r.unwrap());
    });
    assert!(graph.check().unwrap().is_ok());
}

pub(crate) fn a_settled_graph_gets_a_settled_view_at_the_same_timestamp() {
    let (graph, mut rng) = random_graph(false, false, 5);
    (0..2000).for_each(|_| change(&graph, &mut rng));
    let corrected = |snapshot: &Snapshot| {
        let view = snapshot.default_label().view().unwrap();
        let lists = (0..VERTICES as u32).map(|v| view.neighbors(VertexId(v), Direction::Out));
        lists.filter(|list| list.as_slice().is_none()).count()
    };
    assert!(corrected(&graph.snapshot().unwrap()) > 0);
    graph.settle().unwrap();
    assert_eq!(corrected(&graph.snapshot().unwrap()), 0);
    // A few edges in each subgraph, so that the view copies hardly any lists.
    for _ in 0..600 {
        graph.insert_edge((rng.below(VERTICES), rng.below(VERTICES))).unwrap();
    }
    assert!(corrected(&graph.snapshot().unwrap()) > 500);
    graph.settle().unwrap();
    assert_eq!(corrected(&graph.snapshot().unwrap()), 0);
}

pub(crate) fn a_view_that_keeps_many_old_lists_is_given_up() {
    let (graph, mut rng) = random_graph(false, false, 6);
    graph.snapshot().unwrap().default_label().view().unwrap();
    let kept = graph.snapshot().unwrap();
    kept.default_label().view().unwrap();
    // Enough merges to replace every list several times.
    while graph.stats().unwrap().views_kept > 0 {
        let mut tx = graph.write().unwrap();
        for _ in 0..20_000 {
            tx.put_edge((rng.below(VERTICES), rng.below(VERTICES))).unwrap();
        }
        tx.commit().unwrap();
        assert!(graph.snapshot().unwrap().edge_count().unwrap() < 3_000_000, "the view was never given up");
    }
    // A snapshot that uses the view still has it, and the store still makes the next view.
    compare(&kept, 0..2000);
    check_whole(&graph.snapshot().unwrap());
}

/// Returns the edges of the label in the view, by source and destination. An undirected edge comes in both
/// directions.
fn listed(view: &View) -> Vec<(u32, u32)> {
    let mut edges = Vec::new();
    for v in view.vertices() {
        view.for_each_weighted(v, Direction::Out, |u, _| edges.push((v.0, u.0)));
    }
    edges
}

pub(crate) fn views_of_labels_are_kept_and_made_of_one_another() {
    const LABELS: u64 = 10;
    let graph = crate::common::small()
        .keys(KeyKind::Dense)
        .directed(true)
        .background_settling(false)
        .in_memory()
        .unwrap();
    let mut rng = Rng::new(17);
    let mut change = |graph: &Graph, label: u64| {
        let mut tx = graph.write().unwrap();
        let name = format!("l{label}");
        for i in 0..40 {
            let key = EdgeKey::new(&name, rng.below(2000), rng.below(2000));
            if i > 0 && rng.below(4) == 0 {
                tx.remove_edge(key).unwrap();
            } else {
                tx.put_edge_with(key, [] as [(&str, Value); 0]).unwrap();
            }
        }
        tx.commit().unwrap();
    };
    (0..LABELS).for_each(|label| change(&graph, label));
    for round in 0..30 {
        // Two labels in turns, and sometimes all labels: the store does not keep the views of all of them.
        let labels = if round % 10 == 9 { 0..LABELS } else { round % 2..round % 2 + 1 };
        for label in labels {
            (0..3).for_each(|other| change(&graph, (label + other) % LABELS));
            let (name, before) = (format!("l{label}"), graph.stats().unwrap());
            let old = graph.snapshot().unwrap();
            change(&graph, label);
            let snapshot = graph.snapshot().unwrap();
            let view = snapshot.view(&*name).unwrap();
            let mut expected = Vec::new();
            snapshot.for_each_edge(&*name, |e| expected.push((e.src().0, e.dst().0))).unwrap();
            assert_eq!(listed(&view), expected, "{name} in round {round}");
            assert_eq!(view.edge_count(), expected.len() as u64);
            assert!(Arc::ptr_eq(&view, &snapshot.view(&*name).unwrap()), "one timestamp, one view");
            let after = graph.stats().unwrap();
            let made = |s: &Stats| (s.views_built, s.views_refreshed);
            let (built, refreshed) = made(&before);
            let again = if round < 9 && round > 1 { (built, refreshed + 1) } else { made(&after) };
            assert_eq!(made(&after), again, "round {round}");
            // The view of an older snapshot, made from the newer view.
            let mut earlier = Vec::new();
            old.for_each_edge(&*name, |e| earlier.push((e.src().0, e.dst().0))).unwrap();
            assert_eq!(listed(&old.view(&*name).unwrap()), earlier);
        }
        if round == 20 {
            graph.settle().unwrap();
            assert_eq!(graph.stats().unwrap().views_kept, 0, "given up");
        }
    }
    graph.forget_views();
    // Another thread frees the views that settling released.
    hedgerow_testkit::wait_until("the end of the views", || graph.stats().unwrap().view_bytes == 0);
}
