//! Reads over chosen edges, compared with a model: label sets, ranks, filters, directions, weights; point
//! reads and views.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow::{
    ArgumentError, Comparison, Condition, Direction, EdgeDirection, EdgeKey, EdgeSelection, Error, Graph,
    PropertyType, Snapshot, Topology, Value, VertexId, View,
};
use hedgerow_testkit::effort::{Effort, explored};
use hedgerow_workload::rng::Rng;

mod by_page;
mod model;

use model::{Chosen, Edges, Lists, VERTICES, World, lists};

fn check(snapshot: &Snapshot, edges: &Edges, chosen: &Chosen, directed: bool) {
    let selection = chosen.selection();
    let expected = lists(edges, chosen, directed);
    for v in (0..VERTICES).step_by(7).chain([70]) {
        let list = expected.get(&v).cloned().unwrap_or_default();
        let found = snapshot.edge_list(v, &selection).unwrap().unwrap();
        let found: Vec<_> =
            found.into_iter().map(|(key, label, rank)| (key, usize::from(label.0), rank)).collect();
        let wanted: Vec<_> = list.iter().map(|e| (e.0.into(), e.1, e.2)).collect();
        assert_eq!(found, wanted, "at {v}: {chosen:?}");
        assert_eq!(snapshot.degree(v, &selection).unwrap(), Some(wanted.len()), "{chosen:?}");
        let with = snapshot.edges(v, &selection).unwrap().unwrap();
        let with: Vec<_> = with.into_iter().map(|e| (e.key, usize::from(e.label.0), e.rank)).collect();
        assert_eq!(with, wanted, "{chosen:?}");
    }
    assert_eq!(snapshot.edge_list(VERTICES, &selection).unwrap(), None);
    let taken = edges.iter().filter(|(key, edge)| chosen.takes(key, edge)).map(|(key, _)| *key);
    let mut scanned = Vec::new();
    let push = |e: hedgerow::EdgeRow<'_>| {
        scanned.push((usize::from(e.label().0), u64::from(e.src().0), u64::from(e.dst().0), e.rank()));
    };
    snapshot.for_each_edge(&selection, push).unwrap();
    assert_eq!(snapshot.edge_count_of(&selection).unwrap(), scanned.len() as u64, "{chosen:?}");
    assert_eq!(scanned, taken.clone().collect::<Vec<_>>(), "{chosen:?}");
    let view = snapshot.view(&selection).unwrap();
    check_view(&view, &expected, chosen, directed);
    assert_eq!(view.edge_count(), taken.count() as u64, "{chosen:?}");
    assert!(Arc::ptr_eq(&view, &snapshot.view(&selection).unwrap()), "{chosen:?}");
}

fn check_view(view: &View, expected: &Lists, chosen: &Chosen, directed: bool) {
    assert_eq!((view.vertex_count() as u64, view.vertices().count() as u64), (VERTICES, VERTICES));
    assert_eq!(view.is_directed(), directed && chosen.direction != EdgeDirection::Both);
    let mut against = BTreeMap::<u64, Vec<(u64, f64)>>::new();
    for v in 0..VERTICES {
        let list = expected.get(&v).into_iter().flatten();
        let wanted: Vec<(u64, f64)> = list.map(|e| (e.0, e.3)).collect();
        compare(view, v, Direction::Out, wanted.clone(), chosen);
        wanted.into_iter().for_each(|(u, weight)| against.entry(u).or_default().push((v, weight)));
    }
    if view.is_directed() {
        for v in 0..VERTICES {
            compare(view, v, Direction::In, against.remove(&v).unwrap_or_default(), chosen);
        }
    }
}

fn compare(view: &View, v: u64, direction: Direction, mut wanted: Vec<(u64, f64)>, chosen: &Chosen) {
    let mut found = Vec::new();
    view.for_each_weighted(VertexId(v as u32), direction, |u, weight| found.push((u64::from(u.0), weight)));
    assert!(found.is_sorted_by_key(|entry| entry.0), "{chosen:?}");
    assert_eq!(view.neighbors_of(v, direction), found.iter().map(|e| e.0).collect::<Vec<_>>());
    // Parallel edges have no order, and all NaNs are equal.
    let order = |a: &(u64, f64), b: &(u64, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
    found.sort_by(order);
    wanted.sort_by(order);
    let same = found.len() == wanted.len() && found.iter().zip(&wanted).all(|(a, b)| order(a, b).is_eq());
    assert!(same, "{v} {direction:?} of {chosen:?}: {found:?}, not {wanted:?}");
}

trait NeighborsOf {
    fn neighbors_of(&self, v: u64, direction: Direction) -> Vec<u64>;
}

impl NeighborsOf for View {
    fn neighbors_of(&self, v: u64, direction: Direction) -> Vec<u64> {
        let list = hedgerow::Resident::neighbors(self, VertexId(v as u32), direction);
        list.iter().map(|u| u64::from(u.0)).collect()
    }
}

#[test]
fn selections_agree_with_a_model() {
    let effort = Effort::rounds(12);
    let mut checked = 0;
    while let Some(seed) = effort.next_seed() {
        let mut rng = Rng::new(seed);
        let (directed, reverse) = [(true, true), (true, false), (false, true)][rng.below(3) as usize];
        let mut world = World::new(directed, reverse, rng.below(2) == 0, rng.next_u64());
        let mut held: Option<(Snapshot, Edges)> = None;
        for round in 0..5 {
            (0..1 + rng.below(12)).for_each(|_| world.commit());
            if rng.below(3) == 0 {
                world.graph.settle().unwrap();
            }
            let now = (world.graph.snapshot().unwrap(), world.edges.clone());
            for (snapshot, edges) in held.iter().chain([&now]) {
                for _ in 0..8 {
                    check(snapshot, edges, &Chosen::draw(&mut rng, world.weighted), directed);
                    checked += 1;
                }
            }
            if round % 2 == 0 {
                held = Some(now);
            }
        }
    }
    explored("selections of edges", checked, 100);
}

fn small() -> Graph {
    let graph = crate::common::small().background_settling(false).in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    for (label, src, dst, since) in [("knows", 1, 2, 2019), ("knows", 2, 3, 2024), ("likes", 3, 1, 2022)] {
        tx.put_edge_with(EdgeKey::new(label, src, dst), [("since", since)]).unwrap();
    }
    tx.put_edge_with(EdgeKey::new("met", 1, 3), [("since", "yesterday")]).unwrap();
    tx.commit().unwrap();
    graph
}

#[test]
fn a_view_of_chosen_edges_is_made_once_and_goes_with_its_snapshots() {
    let graph = small();
    let built = || graph.stats().unwrap().views_built;
    let both = EdgeSelection::of_labels(["knows", "likes"]);
    let (a, b) = (graph.snapshot().unwrap(), graph.snapshot().unwrap());
    let view = a.view(&both).unwrap();
    assert_eq!((built(), view.edge_count()), (1, 3));
    assert!(Arc::ptr_eq(&view, &a.clone().view(&both).unwrap()), "by the snapshot");
    assert!(Arc::ptr_eq(&view, &b.view(&EdgeSelection::of_labels(["likes", "knows"])).unwrap()));
    assert_eq!(built(), 1, "by another one of the timestamp");
    let recent = both.clone().filter("since", Comparison::Greater, 2020);
    assert_eq!((a.view(&recent).unwrap().edge_count(), built()), (2, 2), "others are chosen");
    let charged = graph.stats().unwrap().view_bytes;
    assert!(charged > 0);
    let other_value = both.clone().filter("since", Comparison::Greater, 2023);
    assert_eq!(a.view(&other_value).unwrap().edge_count(), 1);
    graph.insert_edge((8, 9)).unwrap();
    let later = graph.snapshot().unwrap();
    assert_eq!(later.view(&both).unwrap().vertex_count(), 5, "of another timestamp");
    let weak = Arc::downgrade(&view);
    drop((view, a, b));
    assert!(weak.upgrade().is_none(), "a snapshot alone keeps it");
    drop(later);
    assert_eq!(graph.stats().unwrap().view_bytes, 0);
}

#[test]
fn a_snapshot_keeps_some_views_of_chosen_edges() {
    let graph = small();
    let snapshot = graph.snapshot().unwrap();
    let knows = |since: i64| EdgeSelection::of("knows").filter("since", Comparison::Greater, since);
    let first = Arc::downgrade(&snapshot.view(&knows(0)).unwrap());
    for since in 1..8 {
        snapshot.view(&knows(since)).unwrap();
    }
    assert!(first.upgrade().is_some());
    snapshot.view(&knows(0)).unwrap(); // now the last requested view
    snapshot.view(&knows(8)).unwrap();
    assert!(first.upgrade().is_some());
    (9..17).for_each(|since| _ = snapshot.view(&knows(since)).unwrap());
    assert!(first.upgrade().is_none());
}

#[test]
fn views_are_known_by_all_their_conditions() {
    let graph = small();
    let snapshot = graph.snapshot().unwrap();
    let after = |since: i64| EdgeSelection::of("knows").filter("since", Comparison::Greater, since);
    let view = |selection: &EdgeSelection<'_>| snapshot.view(selection).unwrap();
    let count = |selection: &EdgeSelection<'_>| view(selection).edge_count();
    let between = after(2000).filter("since", Comparison::Less, 2020);
    assert_eq!((count(&after(2000)), count(&between)), (2, 1));
    assert_eq!(count(&after(2000).filter("since", Comparison::Less, 2010)), 0, "other second condition");
    let turned = EdgeSelection::of("knows").filter("since", Comparison::Less, 2020);
    assert_eq!(count(&turned), 1);
    let turned = turned.filter("since", Comparison::Greater, 2000);
    assert!(Arc::ptr_eq(&view(&between), &view(&turned)), "in another order");
    let one_of = |values: &[i64]| {
        EdgeSelection::of("knows").filter_by("since", Condition::one_of(values.iter().copied()))
    };
    assert_eq!((count(&one_of(&[2019, 2024])), count(&one_of(&[2019, 2020]))), (2, 1), "other values");
    assert!(Arc::ptr_eq(&view(&one_of(&[2024, 2019])), &view(&one_of(&[2019, 2024, 2019]))));
}

/// One of two labels has the property: an edge of the other label has no value.
#[test]
fn an_edge_of_a_label_without_the_property_has_no_value() {
    let graph = small();
    let mut tx = graph.write().unwrap();
    tx.put_edge_with(EdgeKey::new("likes", 3, 2), [("stars", 5)]).unwrap();
    tx.commit().unwrap();
    let snapshot = graph.snapshot().unwrap();
    let at_3 = |condition| {
        let selection = EdgeSelection::of_labels(["likes", "knows"]).filter_by("stars", condition);
        let point = snapshot.degree(3, &selection).unwrap().unwrap();
        (point, snapshot.view(&selection).unwrap().edge_count())
    };
    assert_eq!(at_3(Condition::NotNull), (1, 1));
    assert_eq!(at_3(Condition::Null), (1, 3), "one of likes, two of knows");
    assert_eq!(at_3(Condition::equal(5)), (1, 1));
    assert_eq!(at_3(Condition::one_of([4, 6])), (0, 0));
    assert_eq!(at_3(Condition::Compares(Comparison::NotEqual, 4.into())), (1, 1));
}

#[test]
fn the_edges_of_one_label_as_they_are_have_its_view() {
    let graph = small();
    let snapshot = graph.snapshot().unwrap();
    let known = snapshot.view("knows").unwrap();
    assert!(Arc::ptr_eq(&known, &snapshot.view(&EdgeSelection::of("knows")).unwrap()));
    let all_ranks = EdgeSelection::of_labels(["knows", "", "knows"]).ranks(..);
    assert!(Arc::ptr_eq(&known, &snapshot.view(&all_ranks).unwrap()), "the other one has no edges");
    assert_eq!(snapshot.view(&EdgeSelection::of("").ranks(3..)).unwrap().edge_count(), 0);
}

#[test]
#[allow(clippy::reversed_empty_ranges, reason = "such a range is tried")]
fn what_makes_no_sense_is_an_error_that_names_it() {
    let graph = small();
    let snapshot = graph.snapshot().unwrap();
    let refused = |selection: &EdgeSelection<'_>| {
        let of_view = snapshot.view(selection).map(|view| view.edge_count()).unwrap_err();
        let of_point = snapshot.degree(1, selection).unwrap_err();
        assert_eq!(of_view.to_string(), of_point.to_string());
        of_view
    };
    let mixed = EdgeSelection::all().filter("since", Comparison::Less, 2020);
    let error = refused(&mixed);
    assert!(matches!(error, Error::Argument(ArgumentError::FilterType {
        ref label, ref property, expected: PropertyType::Utf8, found: PropertyType::I64,
    }) if label == "met" && property == "since"));
    let text = "property since of label \"met\" has type utf8, but the value of the filter has type i64: compare the property with a \
                value of type utf8, or name labels whose property has type i64";
    assert_eq!(error.to_string(), text);
    let absent = EdgeSelection::of_labels(["knows", "likes"]).filter("until", Comparison::Less, 1);
    assert_eq!(
        refused(&absent).to_string(),
        "none of the labels \"knows\", \"likes\" has a property until: the properties are \"since\""
    );
    let since = |condition| EdgeSelection::of("knows").filter_by("since", condition);
    let text = |condition| refused(&since(condition)).to_string();
    let null = Condition::equal(Value::Null);
    assert!(text(null).contains("property since cannot be compared with null"));
    assert!(text(Condition::one_of([Value::I64(1), Value::Null])).contains("cannot be compared with null"));
    for nan in [f64::NAN, -f64::NAN] {
        assert!(text(Condition::equal(nan)).contains("property since cannot be compared with NaN"));
        assert!(text(Condition::one_of([nan, 1.0])).contains("cannot be compared with NaN"));
    }
    assert!(text(Condition::one_of([0i64; 0])).contains("property since is compared with an empty list"));
    assert!(text(Condition::one_of(0..1_i64 << 20 | 1)).contains("exceeds the limit of 1048576"));
    assert!(text(Condition::one_of([Value::I64(1), Value::from("x")])).contains("has type utf8"));
    assert!(text(Condition::prefix("2")).contains("is of type i64, and texts and bytes alone have a prefix"));
    let many = (0..1025).fold(EdgeSelection::of("knows"), |all, _| all.filter("since", Comparison::Less, 1));
    assert!(refused(&many).to_string().contains("exceeds the limit of 1024"));
    assert!(refused(&EdgeSelection::of_labels([""; 0])).to_string().contains("no label is named"));
    assert!(matches!(
        refused(&EdgeSelection::of_labels(["knows", "hates"])),
        Error::Argument(ArgumentError::NoSuchLabel { ref label, .. }) if label == "hates"
    ));
    let unweighted = EdgeSelection::of_labels(["knows", ""]).weighted_by("since", None);
    graph.insert_edge((1, 2)).unwrap();
    let later = graph.snapshot().unwrap();
    let error = later.view(&unweighted).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "the edge from 1 to 2 has no value of property since");
    assert!(later.view(&EdgeSelection::of("met").weighted_by("since", None)).is_err());
    let none = EdgeSelection::of("knows").ranks(5..3);
    assert_eq!(snapshot.degree(1, &none).unwrap(), Some(0));
    assert_eq!(snapshot.view(&none).unwrap().edge_count(), 0);
}
