//! Kernels over labels that state the kinds of their ends run on the vertices of those kinds, as if the graph
//! had no other vertices.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow::{
    ArgumentError, Comparison, CsrOptions, Direction, EdgeKey, EdgeSelection, Error, Graph, KHopOptions,
    KernelView, KeyColumn, KeyKind, KindId, LabelOptions, LabelSnapshot, MissingVertex, RowOrder, Snapshot,
    TieredView, Topology, Value, VertexId, VertexKey, VertexKeyRef, WeightedTopology,
};
use hedgerow_core::Changing;
use hedgerow_kernels::maintain::{Answer, Handle, NAMES};
use hedgerow_testkit::SimFs;

mod every_kernel;
mod world;

use world::{AIRLINES, AIRPORTS, World, options};

#[test]
fn each_snapshot_has_the_kinds_of_its_time() {
    let disk = SimFs::new();
    let mut world = World::new(&options(true), &disk);
    let components = |snapshot: &Snapshot| {
        let view = snapshot.view("route").unwrap();
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for (v, name) in hedgerow_kernels::wcc(&*view).unwrap().into_iter().enumerate() {
            if name != hedgerow_kernels::NO_COMPONENT {
                assert!(view.contains(VertexId(v as u32)));
                *counts.entry(name).or_default() += 1;
            }
        }
        counts
    };
    let early = (world.graph.snapshot().unwrap(), world.edges.len());
    let found = components(&early.0);
    assert_eq!(found.values().sum::<usize>() as u64, AIRPORTS);
    for round in 0..6 {
        // A transaction removes and inserts airports and airlines; some ids go to other vertices.
        let mut tx = world.graph.write().unwrap();
        for n in 0..40 {
            tx.remove_vertex(world.airport.key(1_000 + (round + 5) % 6 * 100 + n)).unwrap();
            tx.insert_vertex(world.airport.key(1_000 + round * 100 + n)).unwrap();
            tx.insert_vertex(world.airline.key(&*format!("new {round} {n}"))).unwrap();
            tx.remove_vertex(world.airline.key(&*format!("new {} {n}", (round + 4) % 6))).unwrap();
        }
        tx.commit().unwrap();
        world.connect(60);
        let now = world.graph.snapshot().unwrap();
        let alone = world.alone(&now, &[world.airport], &["route"], world.edges.len());
        assert_eq!(components(&now), components(&alone.snapshot().unwrap()), "round {round}");
        assert_eq!(now.view("route").unwrap().vertex_count() as u64, AIRPORTS + 40);
        assert_eq!(components(&early.0), found, "a snapshot sees what it saw");
    }
    let alone = world.alone(&early.0, &[world.airport], &["route"], early.1);
    assert_eq!(components(&alone.snapshot().unwrap()), found);
}

#[test]
fn all_graphs_of_a_label_have_the_same_vertices() {
    for directed in [true, false] {
        let disk = SimFs::new();
        let world = World::new(&options(directed), &disk);
        let snapshot = world.graph.snapshot().unwrap();
        let alone = world.alone(&snapshot, &[world.airport], &["route"], world.edges.len());
        let plain = alone.snapshot().unwrap();
        let expected: Vec<VertexId> = plain.view("route").unwrap().vertices().collect();
        let selection = EdgeSelection::of("route");
        let of_kernel = KernelView::new(&snapshot, &selection).unwrap();
        assert!(matches!(of_kernel, KernelView::Resident(_)));
        let weighted = snapshot.view(&selection.clone().weighted_by("weight", None)).unwrap();
        assert!(weighted.has_weights());
        let paged = TieredView::new(&snapshot, "route").unwrap();
        let graphs: [(&str, Vec<VertexId>, usize); 5] = [
            ("view", snapshot.view("route").unwrap().vertices().collect(), 0),
            ("view of a selection", weighted.vertices().collect(), weighted.vertex_count()),
            ("kernel_view", of_kernel.vertices().collect(), of_kernel.vertex_count()),
            ("TieredView", paged.vertices().collect(), paged.vertex_count()),
            ("csr", snapshot.csr("route", CsrOptions::new()).unwrap().vertices.clone(), 0),
        ];
        for (name, vertices, count) in graphs {
            assert_eq!(vertices, expected, "{name}");
            assert!(count == 0 || count == expected.len(), "{name}");
        }
        let outside = snapshot.vertex_id(world.airline.key("line 0")).unwrap().unwrap();
        assert!(!paged.contains(outside) && !weighted.contains(outside) && !of_kernel.contains(outside));

        // A copy of the label, by id and by key, has the same rows as a copy of the store of airports alone.
        // A copy of the default label has a row for each vertex.
        for order in [RowOrder::Id, RowOrder::Key] {
            let csr = snapshot.csr("route", CsrOptions::new().order(order).weight("weight")).unwrap();
            let same = plain.csr("route", CsrOptions::new().weight("weight")).unwrap();
            assert_eq!(csr.vertices.len(), expected.len());
            let KeyColumn::Kinds(keys) = &csr.keys else { panic!("keys of kinds") };
            let id = |row: u32| csr.vertices[row as usize];
            for (row, key) in keys.iter().enumerate() {
                assert_eq!(snapshot.vertex_id(key).unwrap(), Some(id(row as u32)));
                let of_row = |of: &hedgerow::Csr, row: usize| {
                    let range = of.offsets[row] as usize..of.offsets[row + 1] as usize;
                    let weights = of.weights.as_ref().unwrap();
                    let entry = |at: usize| (of.vertices[of.targets[at] as usize], weights[at].to_bits());
                    let mut list: Vec<(VertexId, u64)> = range.map(entry).collect();
                    list.sort_unstable();
                    list
                };
                let at = same.vertices.binary_search(&id(row as u32)).unwrap();
                assert_eq!(of_row(&csr, row), of_row(&same, at));
            }
        }
        let all = snapshot.csr("", CsrOptions::new()).unwrap();
        assert_eq!(all.vertices.len() as u64, snapshot.vertex_count());
        assert_eq!(snapshot.view("plain").unwrap().vertex_count() as u64, snapshot.vertex_count());
        assert_eq!(
            snapshot.view(&EdgeSelection::all()).unwrap().vertex_count() as u64,
            snapshot.vertex_count()
        );
    }
}

#[test]
fn views_of_kinds_are_shared_and_charged_and_go_with_their_snapshots() {
    let disk = SimFs::new();
    let world = World::new(&options(true), &disk);
    let bytes = || world.graph.stats().unwrap().view_bytes;
    let snapshot = world.graph.snapshot().unwrap();
    let unrestricted =
        EdgeSelection::of("route").kinds([KindId::DEFAULT, world.airport, world.port, world.airline]);
    snapshot.view(&unrestricted).unwrap();
    let before = bytes();
    let view = snapshot.view("route").unwrap();
    // A view takes one word for each subgraph, and 16 bytes for the kinds of its vertices.
    let subgraphs = view.vertex_bound().div_ceil(64) as u64;
    let taken = bytes() - before;
    assert!(taken >= 24 * (subgraphs - 2) && taken <= 64 * subgraphs, "{taken} bytes, {subgraphs} subgraphs");
    let other = world.graph.snapshot().unwrap();
    assert!(Arc::ptr_eq(&view, &other.view("route").unwrap()));
    assert!(Arc::ptr_eq(&view, &snapshot.view(&EdgeSelection::of("route")).unwrap()));
    let taken = bytes();
    let wide = EdgeSelection::of("route").kinds([world.airport, world.port]);
    let wide = snapshot.view(&wide).unwrap();
    assert_eq!(wide.vertex_count() as u64, 2 * AIRPORTS);
    assert_eq!(bytes() - taken, 8 * subgraphs, "a mask alone");
    drop((view, wide, other, snapshot));
    assert_eq!(bytes(), before);
}

#[test]
fn reads_of_lists_name_vertices_of_any_kind() {
    let disk = SimFs::new();
    let world = World::new(&options(true), &disk);
    let snapshot = world.graph.snapshot().unwrap();
    let keys: Vec<VertexKey> = (0..AIRLINES)
        .map(|n| world.airline.key(&*format!("line {n}")).to_owned())
        .chain((0..AIRPORTS).map(|n| world.airport.key(n).to_owned()))
        .collect();
    let keys: Vec<VertexKeyRef<'_>> = keys.iter().map(VertexKey::as_ref).collect();
    // Enough keys for the call to make a view.
    let degrees = snapshot.degrees(&keys, ("route", Direction::Out), MissingVertex::Refuse).unwrap();
    let (lines, ports) = degrees.split_at(AIRLINES as usize);
    assert!(lines.iter().all(|&degree| degree == 0) && ports.iter().any(|&degree| degree > 0));
    let lists = snapshot.neighbor_lists(&keys, ("route", Direction::Out), MissingVertex::Refuse).unwrap();
    assert_eq!(lists.offsets.len(), keys.len() + 1);
    for selection in
        [EdgeSelection::of("route"), EdgeSelection::of("route").filter("weight", Comparison::Greater, 0.0)]
    {
        let near = snapshot.k_hop(&keys, &selection, KHopOptions::new(2)).unwrap();
        assert_eq!(near.distances.len(), keys.len(), "each source is reached");
    }
}

#[test]
fn kinds_that_do_not_hold_all_ends_are_refused() {
    let disk = SimFs::new();
    let world = World::new(&options(true), &disk);
    let snapshot = world.graph.snapshot().unwrap();
    let (airport, airline) = (world.airport, world.airline);
    let of = |label| EdgeSelection::of(label);
    let refused: [(EdgeSelection<'_>, &str); 7] = [
        (
            of("route").kinds([airline]),
            "edges of label route end at vertices of kind airport: kinds must include this kind",
        ),
        (
            of("owns").kinds([airport]),
            "edges of label owns end at vertices of kind airline: kinds must include this kind",
        ),
        (
            EdgeSelection::of_labels(["route", "plain"]).kinds([airport, airline]),
            "edges of label plain end at vertices of any kind: kinds must include every kind",
        ),
        (
            of("").kinds([airport]),
            "edges of the default label end at vertices of any kind: kinds must include every kind",
        ),
        (
            EdgeSelection::all().kinds([airport]),
            "edges of label ferry end at vertices of kind port: kinds must include this kind",
        ),
        (of("route").kinds([]), "the list of kinds is empty: name a kind, or give no list"),
        (of("route").kinds([airport, KindId(9)]), "no kind number 9"),
    ];
    for (selection, expected) in &refused {
        let errors = [
            snapshot.view(selection).err(),
            KernelView::new(&snapshot, selection).err(),
            TieredView::new(&snapshot, selection).err(),
        ];
        for error in errors {
            let error = error.expect("refused").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
    // The start of a kernel must be a vertex of its graph.
    let line = airline.key("line 0");
    let error = of("route").kernel_vertex(&snapshot, line).unwrap_err();
    assert!(matches!(error, Error::Argument(ArgumentError::Invalid(_))), "{error}");
    let expected = "vertex line 0 is of kind airline, and the graph has vertices of kind airport: name the kind in kinds";
    assert!(error.to_string().contains(expected), "{error}");
    assert!(of("route").kinds([airport, airline]).kernel_vertex(&snapshot, line).unwrap().is_some());
    assert_eq!(of("route").kernel_vertex(&snapshot, 5).unwrap(), snapshot.vertex_id(airport.key(5)).unwrap());
    // In a store without kinds, the default kind has all vertices.
    let plain = Graph::in_memory().unwrap();
    plain.insert_edge((1, 2)).unwrap();
    let now = plain.snapshot().unwrap();
    assert_eq!(now.view(&of("").kinds([KindId::DEFAULT])).unwrap().vertex_count(), 2);
    assert!(now.view(&of("").kinds([KindId(1)])).is_err());
}

/// A read of all labels takes the kinds of those labels that have edges.
#[test]
fn kinds_of_all_labels_hold_the_ends_of_labels_with_edges() {
    let graph = Graph::in_memory().unwrap();
    let airport = graph.define_kind("airport", KeyKind::U64).unwrap();
    let airline = graph.define_kind("airline", KeyKind::U64).unwrap();
    graph.define_label("route", LabelOptions::new().ends(airport, airport)).unwrap();
    graph.define_label("owns", LabelOptions::new().ends(airline, airport)).unwrap();
    graph.put_edge_with(EdgeKey::new("route", 1, 2), [] as [(&str, Value); 0]).unwrap();
    graph.insert_vertex_of(airline.key(7));
    let all = EdgeSelection::all().kinds([airport]);
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(snapshot.view(&all).unwrap().vertex_count(), 2);
    assert_eq!(snapshot.view(&EdgeSelection::all()).unwrap().vertex_count(), 3);
    graph.put_edge_with(EdgeKey::new("owns", 7, 2), [] as [(&str, Value); 0]).unwrap();
    assert!(graph.snapshot().unwrap().view(&all).is_err());
    assert_eq!(snapshot.view(&all).unwrap().vertex_count(), 2);
}

trait InsertVertex {
    fn insert_vertex_of(&self, key: VertexKeyRef<'_>);
}

impl InsertVertex for Graph {
    fn insert_vertex_of(&self, key: VertexKeyRef<'_>) {
        let mut tx = self.write().unwrap();
        tx.insert_vertex(key).unwrap();
        tx.commit().unwrap();
    }
}

#[test]
fn kept_answers_of_a_label_are_of_the_vertices_of_its_kinds() {
    for directed in [true, false] {
        let disk = SimFs::new();
        let mut world = World::new(&options(directed), &disk);
        let mut handles: Vec<Handle<LabelSnapshot>> =
            NAMES.iter().map(|name| Handle::new(name).unwrap()).collect();
        for round in 0..5 {
            let snapshot = world.graph.snapshot().unwrap();
            let of_label = LabelSnapshot::new(&snapshot, "route").unwrap();
            for (handle, name) in handles.iter_mut().zip(NAMES) {
                let (kept, _) = handle.at(&of_label).unwrap();
                let mut anew: Handle<LabelSnapshot> = Handle::new(name).unwrap();
                let (anew, _) = anew.at(&of_label).unwrap();
                match (kept, anew) {
                    (Answer::Components(a), Answer::Components(b)) => {
                        assert_eq!(a.names(), b.names());
                        let view = of_label.view().unwrap();
                        let named = a.names().iter().filter(|&&name| name != hedgerow_kernels::NO_COMPONENT);
                        assert_eq!(named.count(), view.vertex_count());
                    }
                    (Answer::Triangles(a), Answer::Triangles(b)) => assert_eq!(a.count(), b.count()),
                    (Answer::Degrees(a), Answer::Degrees(b)) => assert_eq!(a, b),
                    (Answer::Ranks(a), Answer::Ranks(b)) => {
                        let far = a.scores().iter().zip(b.scores()).map(|(a, b)| (a - b).abs()).sum::<f64>();
                        assert!(far < 1e-4, "{far}");
                        assert!((a.scores().iter().sum::<f64>() - 1.0).abs() < 1e-9);
                    }
                    _ => panic!("{name}"),
                }
            }
            let mut tx = world.graph.write().unwrap();
            for n in 0..20 {
                tx.insert_vertex(world.airport.key(2_000 + round * 20 + n)).unwrap();
                tx.insert_vertex(world.airline.key(&*format!("kept {round} {n}"))).unwrap();
                tx.remove_vertex(world.airline.key(&*format!("line {}", round * 20 + n))).unwrap();
            }
            tx.remove_vertex(world.airport.key(2_000 + round * 20)).unwrap();
            tx.commit().unwrap();
            world.connect(40);
        }
    }
}
