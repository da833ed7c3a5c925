//! The meaning of a read depends on the call and on the snapshot. It does not depend on which labels have
//! edges now, or on later definitions and writes elsewhere.

use hedgerow::{
    Comparison, Durability, EdgeDirection, EdgeKey, EdgeSelection, Graph, KHopOptions, KeyKind, KindId,
    LabelOptions, Options, PropertyType, Snapshot, TieredView, Value, VertexKey,
};
use hedgerow_kernels::Cancel;
use hedgerow_kernels::registry::{self, Outcome};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::{Damage, SplitMix64};

mod again;

fn of_kind(kind: KindId, n: u64) -> VertexKey {
    kind.key(n).to_owned()
}

/// No properties.
const NONE: [(&str, Value); 0] = [];

fn put(graph: &Graph, edge: EdgeKey<'_>) {
    graph.put_edge_with(edge, NONE).unwrap();
}

/// Makes a store with vertex 7 of the default kind, without edges, and with page 7, which has an edge.
fn pages(options: Options) -> (Graph, KindId) {
    let graph = options.in_memory().unwrap();
    let page = graph.define_kind("page", KeyKind::U64).unwrap();
    let typed = LabelOptions::new().multi(true).ends(page, page).property("x", PropertyType::I64);
    graph.define_label("typed", typed).unwrap();
    graph.define_label("plain", LabelOptions::new()).unwrap();
    let mut tx = graph.write().unwrap();
    tx.insert_vertex(7).unwrap();
    tx.put_edge_with(EdgeKey::new("typed", 7, 8).rank(5), [("x", 9)]).unwrap();
    tx.commit().unwrap();
    (graph, page)
}

/// Returns the results of reads of several labels, and of all labels, for a vertex without a kind in its key.
fn of_seven(snapshot: &Snapshot) -> Vec<String> {
    let both = EdgeSelection::of_labels(["plain", "typed"]);
    let selections = [
        EdgeSelection::all(),
        EdgeSelection::all().direction(EdgeDirection::Both),
        EdgeSelection::all().filter("x", Comparison::Greater, 0),
        EdgeSelection::all().ranks(1..),
        both.clone(),
        both.clone().direction(EdgeDirection::In),
        both.clone().filter("x", Comparison::Greater, 0),
        both.ranks(1..),
    ];
    let mut found = Vec::new();
    for selection in &selections {
        found.push(format!("{:?}", snapshot.edge_list(7, selection)));
        found.push(format!("{:?}", snapshot.degree(7, selection)));
        found.push(format!("{:?}", snapshot.edges(7, selection)));
        let near = snapshot.k_hop(&[7_u64], selection, KHopOptions::new(3)).unwrap();
        found.push(format!("{:?} {:?}", near.vertices, near.distances));
        found.push(format!("{:?}", snapshot.degree(7, selection)));
    }
    found
}

#[test]
fn what_a_key_names_depends_on_the_labels_that_the_call_names() {
    for directed in [true, false] {
        let (graph, page) = pages(Options::new().directed(directed));
        let snapshot = graph.snapshot().unwrap();
        let found = of_seven(&snapshot);
        for of_selection in found.chunks(5) {
            assert_eq!(
                of_selection[..3],
                ["Ok(Some([]))", "Ok(Some(0))", "Ok(Some([]))"],
                "vertex 7 has no edges"
            );
        }
        // Later and elsewhere, a commit writes the first edge of a label.
        put(&graph, EdgeKey::new("plain", 100, 101));
        assert_eq!(of_seven(&snapshot), found);
        assert_eq!(of_seven(&graph.snapshot().unwrap()), found);
        // If all labels of a call have the same kind of end, the key names a vertex of this kind, with edges
        // or without.
        graph.define_label("other", LabelOptions::new().ends(page, page)).unwrap();
        let typed = EdgeSelection::of_labels(["typed", "other"]);
        let expected = Some(vec![of_kind(page, 8)]);
        for _ in 0..2 {
            let now = graph.snapshot().unwrap();
            let found = now.edge_list(7, &typed).unwrap();
            assert_eq!(found.map(|list| list.into_iter().map(|entry| entry.0).collect()), expected);
            put(&graph, EdgeKey::new("other", 1000, 1001));
        }
    }
}

#[test]
fn labels_that_say_several_kinds_ask_for_the_kind() {
    let graph = Graph::in_memory().unwrap();
    let (user, page) =
        (graph.define_kind("user", KeyKind::U64).unwrap(), graph.define_kind("page", KeyKind::U64).unwrap());
    graph.define_label("read", LabelOptions::new().ends(user, page)).unwrap();
    graph.define_label("knows", LabelOptions::new().ends(user, user)).unwrap();
    graph.define_label("links", LabelOptions::new().ends(page, page)).unwrap();
    put(&graph, EdgeKey::new("read", 1, 2));
    let snapshot = graph.snapshot().unwrap();
    let (read, out) = (EdgeSelection::of("read"), EdgeSelection::of_labels(["read", "knows"]));
    assert_eq!(snapshot.degree(1, &out).unwrap(), Some(1), "users are at the beginning of both");
    assert_eq!(snapshot.degree(2, &read.clone().turned()).unwrap(), Some(1));
    let refused = [
        (
            read.direction(EdgeDirection::Both),
            "an edge of label read joins vertices of kind user and of kind page",
        ),
        (
            EdgeSelection::of_labels(["read", "links"]),
            "edges of label read are read at vertices of kind user",
        ),
        (out.turned(), "edges of label read are read at vertices of kind page"),
    ];
    for (selection, expected) in refused {
        let error = snapshot.degree(1, &selection).unwrap_err().to_string();
        assert!(error.contains(expected) && error.ends_with("say the kind of vertex 1"), "{error}");
        assert!(snapshot.degree(user.key(1_u64), &selection).is_ok());
    }
}

#[test]
fn kernels_take_the_weights_that_labels_have() {
    let graph = Options::new().weighted(true).in_memory().unwrap();
    let options = || LabelOptions::new().property("weight", PropertyType::F64);
    graph.define_label("road", options()).unwrap();
    graph.define_label("rail", options()).unwrap();
    graph.define_label("path", LabelOptions::new()).unwrap();
    graph.define_label("whole", LabelOptions::new().property("weight", PropertyType::I64)).unwrap();
    graph.define_label("note", LabelOptions::new().property("weight", PropertyType::Utf8)).unwrap();
    let mut tx = graph.write().unwrap();
    for (a, b, weight) in [(1, 2, 5.0), (1, 3, 20.0), (2, 3, 6.0)] {
        tx.put_edge_with(EdgeKey::new("road", a, b), [("weight", weight)]).unwrap();
    }
    tx.put_edge_with(EdgeKey::new("rail", 1, 3), [("weight", 8.0)]).unwrap();
    tx.put_edge_with(EdgeKey::new("whole", 1, 3), [("weight", 7)]).unwrap();
    tx.commit().unwrap();
    let distance = |selection: &EdgeSelection<'_>| {
        let (snapshot, kernel) = (graph.snapshot().unwrap(), registry::find("sssp").unwrap());
        let view = hedgerow::kernels::view(&snapshot, kernel, selection)?;
        let [from, to] = [1, 3].map(|key| snapshot.vertex_id(key).unwrap().unwrap());
        let mut arguments = kernel.arguments();
        arguments.set("source", from).unwrap();
        let outcome = hedgerow::kernels::run(&arguments, &view, &Cancel::new()).unwrap();
        let Outcome::Distances(far) = outcome else { panic!("distances") };
        Ok::<f64, hedgerow::Error>(far[to.0 as usize])
    };
    assert_eq!(distance(&EdgeSelection::of("road")).unwrap(), 11.0);
    assert_eq!(distance(&EdgeSelection::of("whole")).unwrap(), 7.0);
    assert_eq!(distance(&EdgeSelection::of_labels(["road", "rail"])).unwrap(), 8.0);
    assert_eq!(distance(&EdgeSelection::all()).unwrap(), 7.0, "labels without edges have no say");
    let error = distance(&EdgeSelection::of("note")).unwrap_err().to_string();
    assert!(error.contains("a weight must be a number"), "{error}");
    put(&graph, EdgeKey::new("path", 1, 3));
    let mixed = [EdgeSelection::of_labels(["road", "path"]), EdgeSelection::all()];
    for selection in &mixed {
        let error = distance(selection).unwrap_err().to_string();
        assert!(error.contains("have weights") && error.contains("\"path\" have none"), "{error}");
    }
    assert_eq!(distance(&mixed[0].clone().weighted_by("weight", Some(2.0))).unwrap(), 2.0);
    assert_eq!(distance(&EdgeSelection::of("path")).unwrap(), 1.0);
    let (mut listed, by_weight) =
        (Vec::new(), EdgeSelection::of_labels(["road", "path"]).weighted_by("weight", Some(-1.0)));
    graph.snapshot().unwrap().for_each_edge(&by_weight, |edge| listed.push(edge.weight())).unwrap();
    assert_eq!(listed, [5.0, 20.0, 6.0, -1.0]);
}

#[test]
fn definitions_are_published_and_durable_when_they_return() {
    let disk = SimFs::new();
    let graph = Options::new().durability(Durability::Sync).open_on(disk.handle()).unwrap();
    let page = graph.define_kind("page", KeyKind::U64).unwrap();
    assert_eq!(graph.snapshot().unwrap().scan_vertices().unwrap().count_of(page).unwrap(), 0);
    graph.define_label("links", LabelOptions::new().ends(page, page)).unwrap();
    assert!(graph.snapshot().unwrap().schema().label("links").is_some());
    graph.define_edge_property("links", "at", PropertyType::I64).unwrap();
    graph.define_vertex_property(page, "name", PropertyType::Utf8).unwrap();
    graph.define_vertex_property(KindId::DEFAULT, "age", PropertyType::I64).unwrap();
    let schema = graph.snapshot().unwrap().schema();
    assert_eq!(&schema, &*graph.schema());
    // The state on the disk at this point survives the loss of all unsynced data.
    let after = disk.crash_clone(Damage::LoseAll, 0);
    let reopened = Options::new().open_on(after.handle()).unwrap();
    assert_eq!(&*reopened.schema(), &schema);
}

/// The results of kernels on chosen edges do not depend on the source of the lists: memory, with several runs
/// of each list, or pages.
#[test]
fn kernels_on_chosen_edges_in_memory_and_by_the_page_agree() {
    const VERTICES: u64 = 600;
    for directed in [true, false] {
        let options = crate::common::small().keys(KeyKind::Dense).directed(directed);
        let graph = options.open_on(SimFs::new().handle()).unwrap();
        graph.define_label("a", LabelOptions::new().property("weight", PropertyType::F64)).unwrap();
        let multi = LabelOptions::new().multi(true).property("weight", PropertyType::F64);
        graph.define_label("b", multi).unwrap();
        let mut rng = SplitMix64::new(5);
        for round in 0..4 {
            let mut tx = graph.write().unwrap();
            for _ in 0..900 {
                let (src, most) = (rng.below(VERTICES), rng.below(VERTICES));
                let dst = rng.below(1 + most);
                let key = match rng.below(2) {
                    0 => EdgeKey::new("a", src, dst),
                    _ => EdgeKey::new("b", src, dst).rank(rng.below(3)),
                };
                tx.put_edge_with(key, [("weight", 0.1 + rng.below(9) as f64)]).unwrap();
            }
            tx.commit().unwrap();
            if round == 2 {
                graph.checkpoint().unwrap();
            }
        }
        let snapshot = graph.snapshot().unwrap();
        let selection = EdgeSelection::of_labels(["a", "b"]).weighted();
        let (view, paged) =
            (snapshot.view(&selection).unwrap(), TieredView::new(&snapshot, &selection).unwrap());
        let mut tried = 0;
        for kernel in registry::KERNELS.iter().filter(|kernel| !kernel.needs_resident) {
            let [from, to] = [1, 2].map(|key| snapshot.vertex_id(key).unwrap().unwrap());
            let arguments = kernel.trial(from, to);
            let resident = hedgerow_analytics::run_resident(&arguments, &view, &Cancel::new());
            let by_page = hedgerow_analytics::run_by_page(&arguments, &paged, &Cancel::new());
            match (resident, by_page) {
                (Ok(resident), Ok(by_page)) => {
                    let is_same = match (&by_page, &resident) {
                        // Two partitions may be equally good and still differ, so this compares labels.
                        (Outcome::Communities(a), Outcome::Communities(b)) => a.labels == b.labels,
                        (a, b) => a.agrees_with(b, 1e-12),
                    };
                    assert!(is_same, "{}, directed: {directed}", kernel.name);
                    tried += 1;
                }
                (resident, by_page) => assert_eq!(
                    resident.map(drop).map_err(|error| error.to_string()),
                    by_page.map(drop).map_err(|error| error.to_string()),
                    "{}",
                    kernel.name
                ),
            }
        }
        assert!(tried >= 20, "{tried} kernels");
    }
}

/// A read without weights succeeds at an edge without a weight, in each way to read.
#[test]
fn a_neighborhood_needs_no_weights() {
    let graph = Graph::in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    tx.put_edge_with(EdgeKey::new("e", 1, 2), [("x", Value::I64(5)), ("weight", Value::F64(1.0))]).unwrap();
    tx.put_edge_with(EdgeKey::new("e", 2, 3), [("x", Value::I64(5))]).unwrap();
    tx.commit().unwrap();
    let snapshot = graph.snapshot().unwrap();
    let edges = EdgeSelection::of("e").filter("x", Comparison::Greater, 1);
    let weighed = edges.clone().weighted_by("weight", None);
    let near = |edges: &EdgeSelection<'_>| snapshot.k_hop(&[1u64], edges, KHopOptions::new(2)).unwrap();
    assert_eq!(near(&weighed).vertices, near(&edges).vertices);
    assert!(snapshot.view(&weighed).is_err(), "a view needs them");
}

/// Several edges have no number for their weight. The error names the same edge before and after a merge, and
/// on tiered views.
#[test]
fn an_error_names_the_least_edge_without_a_weight() {
    let options = Options::new().background_settling(false).durability(Durability::Manual);
    let disk = SimFs::new();
    let graph = options.open_on(disk.handle()).unwrap();
    // The vertices come in another order than the edges, so a delta begins with another edge than the merged
    // list.
    for v in [5u64, 7, 9] {
        graph.transact(0, |tx| tx.insert_vertex(v)).unwrap();
    }
    for dst in [9u64, 5, 7] {
        put(&graph, EdgeKey::new("e", 1, dst));
    }
    // This edge is in another subgraph, which a tiered read meets later.
    graph.transact(0, |tx| (100..200u64).try_for_each(|v| tx.insert_vertex(v).map(drop))).unwrap();
    put(&graph, EdgeKey::new("e", 199, 100));
    graph.transact(0, |tx| tx.put_edge_with(EdgeKey::new("e", 8, 5), [("weight", 1.5)])).unwrap();
    let said = || {
        let snapshot = graph.snapshot().unwrap();
        let edges = EdgeSelection::of("e").weighted_by("weight", None);
        let resident = snapshot.view(&edges).err().map(|error| error.to_string());
        let by_page = TieredView::new(&snapshot, &edges);
        (resident, by_page.err().map(|error| error.to_string()))
    };
    let before = said();
    assert!(before.0.as_ref().is_some_and(|message| message.contains("from 1 to 5")), "{before:?}");
    assert_eq!(before.0, before.1);
    graph.settle().unwrap();
    assert_eq!(said(), before);
    graph.checkpoint().unwrap();
    graph.internals().evict().unwrap();
    assert_eq!(said(), before);
}
