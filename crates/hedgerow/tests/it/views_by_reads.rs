//! Many single reads of a snapshot make its view, unless an option forbids it. The answers are the same in
//! both cases.

use hedgerow::{Direction, Graph, KeyKind, Options, Snapshot, VertexId};
use hedgerow_workload::rng::Rng;

const VERTICES: u64 = 4_000;
/// Far more reads than a kind of read needs to make the view of this small number of vertices.
const MANY: u64 = 400_000;

fn random_graph(options: Options) -> Graph {
    let graph = options.keys(KeyKind::Dense).background_settling(false).in_memory().unwrap();
    let mut rng = Rng::new(11);
    for _ in 0..2 {
        let mut tx = graph.write().unwrap();
        for _ in 0..20_000 {
            tx.put_edge((rng.below(VERTICES), rng.below(VERTICES))).unwrap();
        }
        tx.commit().unwrap();
    }
    graph
}

/// The name of a read, and a function that returns a number for its answer.
type Read = (&'static str, fn(&Snapshot, u64, u64) -> u64);

const READS: [Read; 10] = [
    ("contains_edge", |s, u, v| u64::from(s.contains_edge((u, v)).unwrap())),
    ("contains_edge_by_id", |s, u, v| u64::from(s.default_label().contains_edge(id(u), id(v)).unwrap())),
    ("weight", |s, u, v| {
        s.default_label().weight_between(u, v).unwrap().map_or(0, |weight| 1 + weight as u64)
    }),
    ("degree", |s, u, _| s.degree(u, Direction::Out).unwrap().unwrap_or(99) as u64),
    ("degree_by_id", |s, u, _| s.default_label().degree(id(u), Direction::In).unwrap() as u64),
    ("contains_vertex", |s, u, _| u64::from(s.contains_vertex(u).unwrap())),
    ("neighbors", |s, u, _| {
        sum_of(s.neighbors(u, Direction::Out).unwrap().unwrap_or_default().iter().map(text))
    }),
    ("for_each_neighbor", |s, u, _| {
        let mut found = Vec::new();
        s.default_label()
            .for_each_neighbor(id(u), Direction::Out, |v, w| found.push(u64::from(v.0) + w as u64))
            .unwrap();
        sum_of(found.into_iter())
    }),
    ("visit_neighbors", |s, u, _| {
        let mut found = Vec::new();
        s.default_label()
            .visit_neighbors(id(u), Direction::In, |run, _| found.extend(run.iter().map(|v| u64::from(v.0))))
            .unwrap();
        found.sort_unstable();
        sum_of(found.into_iter())
    }),
    ("neighbor_cursor", |s, u, _| {
        let (mut cursor, mut found) = (s.default_label().neighbor_cursor(Direction::Out), Vec::new());
        for u in [u, u ^ 1, (u + 64) % VERTICES] {
            cursor.visit(id(u), |run, _| found.extend(run.iter().map(|v| u64::from(v.0)))).unwrap();
        }
        found.sort_unstable();
        sum_of(found.into_iter())
    }),
];

fn id(v: u64) -> VertexId {
    VertexId(v as u32)
}

fn text(key: &hedgerow::VertexKey) -> u64 {
    key.to_string().parse().unwrap()
}

/// Returns a sum that depends on the order of the values.
fn sum_of(values: impl Iterator<Item = u64>) -> u64 {
    values.fold(1, |sum, value| sum.wrapping_mul(31).wrapping_add(value))
}

fn views(graph: &Graph) -> u64 {
    let stats = graph.stats().unwrap();
    stats.views_built + stats.views_refreshed
}

#[test]
fn many_reads_of_each_kind_make_one_view() {
    for weighted in [false, true] {
        let graph = random_graph(crate::common::small().weighted(weighted));
        let plain = graph.snapshot().unwrap();
        plain.default_label().set_views_by_reads(false);
        for (name, read) in READS {
            // A read that the view of a weighted graph cannot answer makes no view.
            if weighted && name == "weight" {
                continue;
            }
            graph.forget_views();
            let (snapshot, before, mut rng) = (graph.snapshot().unwrap(), views(&graph), Rng::new(3));
            assert_eq!(read(&snapshot, 0, 1), read(&plain, 0, 1), "{name}");
            assert_eq!(views(&graph), before, "{name}: one read makes no view");
            let mut asked = 0;
            while asked < MANY && (!asked.is_multiple_of(64) || views(&graph) == before) {
                let (u, v) = (rng.below(VERTICES + 9), rng.below(VERTICES));
                assert_eq!(read(&snapshot, u, v), read(&plain, u, v), "{name} {u} {v}");
                asked += 1;
            }
            assert!(asked < MANY, "{name} made no view");
            for _ in 0..2000 {
                let (u, v) = (rng.below(VERTICES + 9), rng.below(VERTICES));
                assert_eq!(read(&snapshot, u, v), read(&plain, u, v), "{name} {u} {v} in the view");
            }
            let other = graph.snapshot().unwrap();
            (0..MANY / 4).for_each(|u| _ = read(&other, u % VERTICES, 5));
            assert_eq!(views(&graph), before + 1, "{name}: snapshots of one timestamp share it");
            assert!(graph.stats().unwrap().view_bytes > 0);
        }
    }
}

#[test]
fn no_read_makes_a_view_where_it_may_not() {
    let graph = random_graph(crate::common::small().views_by_reads(false));
    let snapshot = graph.snapshot().unwrap();
    let pairs: Vec<_> = (0..VERTICES).map(|u| (u, (u + 1) % VERTICES)).collect();
    let all_reads = || {
        for (_, read) in READS {
            (0..50_000).for_each(|u| _ = read(&snapshot, u % VERTICES, 7));
        }
        snapshot.contains_edges(&pairs, "").unwrap()
    };
    let by_chains = all_reads();
    assert_eq!((views(&graph), graph.stats().unwrap().view_bytes), (0, 0));
    // The reads use a requested view.
    graph.snapshot().unwrap().default_label().view().unwrap();
    assert_eq!(views(&graph), 1);
    // A call can allow views by reads for one snapshot.
    snapshot.default_label().set_views_by_reads(true);
    assert_eq!(all_reads(), by_chains);
    assert_eq!(views(&graph), 1);
    graph.insert_edge((1, 1)).unwrap();
    let allowed = graph.snapshot().unwrap();
    allowed.default_label().set_views_by_reads(true);
    assert_eq!(allowed.contains_edges(&pairs, "").unwrap()[2..], by_chains[2..]);
    assert_eq!(views(&graph), 2);
}

#[test]
fn reads_of_a_transaction_make_no_view() {
    let graph = random_graph(crate::common::small());
    let mut tx = graph.write().unwrap();
    for u in 0..100_000 {
        tx.contains_edge((u % VERTICES, 5)).unwrap();
        tx.contains_vertex(u % VERTICES).unwrap();
    }
    for u in 0..20_000 {
        tx.neighbors(u % VERTICES, Direction::Out).unwrap();
    }
    assert_eq!(views(&graph), 0);
    // The snapshot of the transaction is like any other snapshot.
    let snapshot = tx.snapshot().unwrap();
    (0..MANY).for_each(|u| _ = snapshot.default_label().degree(id(u % VERTICES), Direction::Out).unwrap());
    assert_eq!(views(&graph), 1);
}

#[test]
fn threads_that_read_one_snapshot_make_one_view() {
    let graph = random_graph(crate::common::small());
    let (snapshot, plain) = (graph.snapshot().unwrap(), graph.snapshot().unwrap());
    plain.default_label().set_views_by_reads(false);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (snapshot, plain, graph) = (&snapshot, &plain, &graph);
            scope.spawn(move || {
                let mut rng = Rng::new(seed);
                for at in 0..60_000 {
                    let (name, read) = READS[(at % READS.len() as u64) as usize];
                    let (u, v) = (rng.below(VERTICES), rng.below(VERTICES));
                    assert_eq!(read(snapshot, u, v), read(plain, u, v), "{name} {u} {v}");
                    // The snapshot stays at its timestamp.
                    if at.is_multiple_of(1000) {
                        graph.insert_edge((u, v)).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(views(&graph), 1);
}

/// The callback of a read may read: then the store makes the view while the list of the outer read is in use.
#[test]
fn a_read_inside_a_read_may_make_the_view() {
    let graph = random_graph(crate::common::small());
    let (snapshot, mut two_hops) = (graph.snapshot().unwrap(), 0);
    for u in 0..VERTICES {
        let mut of_it = 0;
        let inner = |v, _| of_it += snapshot.default_label().degree(v, Direction::Out).unwrap();
        snapshot.default_label().for_each_neighbor(id(u), Direction::Out, inner).unwrap();
        two_hops += of_it;
    }
    assert_eq!(views(&graph), 1);
    let view = snapshot.default_label().view().unwrap();
    let degree = |v| hedgerow::Resident::degree(view, v, Direction::Out);
    let of = |u| hedgerow::Resident::neighbors(view, id(u), Direction::Out).iter().map(degree).sum::<usize>();
    assert_eq!((0..VERTICES).map(of).sum::<usize>(), two_hops);
}
