//! Every kernel of the registry, in memory and on tiered views.

use hedgerow::{
    Comparison, EdgeDirection, EdgeKey, EdgeSelection, KernelView, KeyKind, KindId, LabelOptions, Options,
    PropertyType, Snapshot, Thresholds, TieredView, Topology, VertexId,
};
use hedgerow_kernels::Cancel;
use hedgerow_kernels::registry::{self, Kernel, Outcome};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::SplitMix64;

use super::world::{World, options};

fn is_same(a: &Outcome, b: &Outcome) -> bool {
    match (a, b) {
        // Two partitions may be equally good and still differ, so this compares labels.
        (Outcome::Communities(a), Outcome::Communities(b)) => a.labels == b.labels,
        (a, b) => a.agrees_with(b, 1e-12),
    }
}

/// Compares the result of a kernel on the chosen edges, in memory and on a tiered view, with the result on
/// the same edges of another snapshot. True if the kernel returned a result.
fn same_result(
    kernel: &'static Kernel,
    (snapshot, selection): (&Snapshot, &EdgeSelection<'_>),
    (plain, of_plain): (&Snapshot, &EdgeSelection<'_>),
    ends: [VertexId; 2],
) -> bool {
    let arguments = kernel.trial(ends[0], ends[1]);
    let (selection, of_plain) = (selection.clone().weighted(), of_plain.clone().weighted());
    let expected = plain.view(&of_plain).unwrap();
    let expected = hedgerow_analytics::run_resident(&arguments, &expected, &Cancel::new());
    let expected = expected.map_err(|error| error.to_string());
    let view = snapshot.view(&selection).unwrap();
    let resident = hedgerow_analytics::run_resident(&arguments, &view, &Cancel::new());
    let mut found = vec![resident.map_err(|error| error.to_string())];
    if !kernel.needs_resident {
        let paged = TieredView::new(snapshot, &selection).unwrap();
        let by_page = hedgerow_analytics::run_by_page(&arguments, &paged, &Cancel::new());
        found.push(by_page.map_err(|error| error.to_string()));
    }
    for found in &found {
        let same = match (found, &expected) {
            (Ok(found), Ok(expected)) => is_same(found, expected),
            (found, expected) => found.as_ref().err() == expected.as_ref().err(),
        };
        assert!(same, "{}: {selection:?}", kernel.name);
    }
    expected.is_ok()
}

/// Returns the vertices at both ends of the first edge of a label.
fn ends_of(world: &World, snapshot: &Snapshot, label: &str) -> [VertexId; 2] {
    let edge = world.edges.iter().find(|edge| edge.label == label).unwrap();
    [&edge.src, &edge.dst].map(|key| snapshot.vertex_id(key).unwrap().unwrap())
}

/// The labels of a call, the kinds if the call names them, and the kinds of the vertices of the graph.
type Case = (&'static [&'static str], Option<Vec<KindId>>, Vec<KindId>);

#[test]
fn every_kernel_runs_on_the_vertices_of_the_kinds_that_labels_state() {
    for directed in [true, false] {
        let disk = SimFs::new();
        let mut world = World::new(&options(directed), &disk);
        // The scan of keys meets keys in files, if memory keeps none, and keys in memory.
        world.graph.checkpoint().unwrap();
        let World { graph, airport, port, airline, edges, rng } = world;
        graph.close().unwrap();
        let keys_kept = if directed { 0 } else { u64::MAX };
        let thresholds = Thresholds { keys_kept, ..Thresholds::SMALL };
        let graph = options(directed).thresholds(thresholds).open_on(disk.handle()).unwrap();
        world = World { graph, airport, port, airline, edges, rng };
        world.connect(400);
        let snapshot = world.graph.snapshot().unwrap();
        let all: Vec<KindId> = vec![KindId::DEFAULT, airport, port, airline];
        let named = |labels: &'static [&'static str]| EdgeSelection::of_labels(labels.iter().copied());
        let cases: [Case; 7] = [
            (&["route"], None, vec![airport]),
            (&["owns"], None, vec![airport, airline]),
            (&["route", "ferry"], None, vec![airport, port]),
            (&["route"], Some(vec![airport, airline]), vec![airport, airline]),
            (&["route", "owns"], Some(vec![airline, airport, airport]), vec![airport, airline]),
            (&["route", "plain"], None, all.clone()),
            (&["route"], Some(all.clone()), all),
        ];
        for (labels, given, kinds) in cases {
            let alone = world.alone(&snapshot, &kinds, labels, world.edges.len());
            let plain = alone.snapshot().unwrap();
            let selection = match given {
                None => named(labels),
                Some(given) => named(labels).kinds(given),
            };
            let expected: u64 =
                kinds.iter().map(|&kind| snapshot.scan_vertices().unwrap().count_of(kind).unwrap()).sum();
            assert_eq!(snapshot.view(&selection).unwrap().vertex_count() as u64, expected, "{selection:?}");
            let ends = ends_of(&world, &snapshot, labels[0]);
            let mut tried = 0;
            for kernel in registry::KERNELS {
                tried +=
                    u32::from(same_result(kernel, (&snapshot, &selection), (&plain, &named(labels)), ends));
            }
            assert!(tried >= 25, "{tried} kernels");
        }
        // Views of some of the edges, and in other directions.
        let parts: [fn(EdgeSelection<'static>) -> EdgeSelection<'static>; 3] = [
            |selection| selection.direction(EdgeDirection::In),
            |selection| selection.direction(EdgeDirection::Both),
            |selection| selection.filter("weight", Comparison::Greater, 2.0),
        ];
        let alone = world.alone(&snapshot, &[airport], &["route"], world.edges.len());
        let plain = alone.snapshot().unwrap();
        let ends = ends_of(&world, &snapshot, "route");
        for part in parts {
            for name in ["wcc", "pagerank", "bfs", "degrees", "closeness", "louvain"] {
                let Ok(kernel) = registry::find(name) else { continue };
                let (of, of_plain) = (part(named(&["route"])), part(named(&["route"])));
                same_result(kernel, (&snapshot, &of), (&plain, &of_plain), ends);
            }
        }
        assert_eq!(world.graph.check().unwrap().problems, [] as [String; 0]);
    }
}

/// The limit has no room for the label, so the kernel uses a tiered view, with the vertices of the kinds of
/// the label.
#[test]
fn kernels_on_kinds_within_a_limit_give_what_they_give_in_memory() {
    const AIRPORTS: u64 = 12_000;
    let disk = SimFs::new();
    let graph = options(true).open_on(disk.handle()).unwrap();
    let airport = graph.define_kind("airport", KeyKind::U64).unwrap();
    let airline = graph.define_kind("airline", KeyKind::U64).unwrap();
    let label = LabelOptions::new().ends(airport, airport).property("weight", PropertyType::F64);
    graph.define_label("route", label).unwrap();
    let mut tx = graph.write().unwrap();
    (0..20_000_u64).for_each(|n| _ = tx.insert_vertex(airline.key(n)).unwrap());
    (0..AIRPORTS).for_each(|n| _ = tx.insert_vertex(airport.key(n)).unwrap());
    tx.commit().unwrap();
    let mut rng = SplitMix64::new(3);
    for _ in 0..120 {
        let mut tx = graph.write().unwrap();
        for _ in 0..10_000 {
            let route = EdgeKey::new("route", rng.below(AIRPORTS), rng.below(AIRPORTS));
            tx.put_edge_with(route, [("weight", 1.0)]).unwrap();
        }
        tx.commit().unwrap();
    }
    graph.compact().unwrap();
    graph.close().unwrap();
    let answers = |options: Options| {
        let graph = options.open_on(disk.handle()).unwrap();
        let snapshot = graph.snapshot().unwrap();
        let view = KernelView::new(&snapshot, "route").unwrap();
        let from = snapshot.vertex_id(airport.key(1)).unwrap().unwrap();
        let outcomes = ["bfs", "pagerank", "wcc"].map(|name| {
            let arguments = registry::find(name).unwrap().trial(from, from);
            hedgerow_analytics::run(&arguments, &view, &Cancel::new()).unwrap()
        });
        assert_eq!(view.vertex_count() as u64, AIRPORTS);
        (matches!(view, KernelView::Tiered(_)), view.vertices().collect::<Vec<VertexId>>(), outcomes)
    };
    let (resident, paged) =
        (answers(options(true)), answers(options(true).memory_limit(hedgerow::LEAST_MEMORY_LIMIT)));
    assert!(!resident.0 && paged.0, "which of the two fits");
    assert_eq!((resident.1.len() as u64, &resident.1), (AIRPORTS, &paged.1));
    for (resident, paged) in resident.2.iter().zip(&paged.2) {
        assert!(paged.agrees_with(resident, 1e-9), "{:?}", resident.kind());
    }
}
