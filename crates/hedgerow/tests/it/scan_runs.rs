//! Scans of edges and vertices in runs, beside commits, evictions and checkpoints.

use std::collections::BTreeMap;

use hedgerow::{
    Durability, EdgeKey, EdgeSelection, Graph, KeyKind, KindId, LabelOptions, PropertyType, Snapshot, Value,
    ValueRef,
};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::SplitMix64;

use crate::common;

/// Several pages, with absent pages between them.
const VERTICES: u64 = 5 * 4096;

/// The edges of the label `calls` by source, destination and rank, with the property `seconds`.
type Calls = BTreeMap<(u32, u32, u64), Option<i64>>;
/// The vertices with the property `name`.
type Named = BTreeMap<u32, Option<String>>;

struct World {
    graph: Graph,
    directed: bool,
    rng: SplitMix64,
    calls: Calls,
    named: Named,
}

impl World {
    fn new(directed: bool) -> World {
        let options = common::small().keys(KeyKind::Dense).directed(directed).background_settling(false);
        let disk = SimFs::new();
        let graph = options.durability(Durability::Manual).open_on(disk.handle()).unwrap();
        graph
            .define_label("calls", LabelOptions::new().multi(true).property("seconds", PropertyType::I64))
            .unwrap();
        graph.define_vertex_property(KindId::DEFAULT, "name", PropertyType::Utf8).unwrap();
        World { graph, directed, rng: SplitMix64::new(5), calls: Calls::new(), named: Named::new() }
    }

    /// Returns a vertex on the first, third or fifth page.
    fn vertex(&mut self) -> u64 {
        let (page, at) = (self.rng.below(3) * 2, self.rng.below(4096));
        (page * 4096 + at).min(VERTICES - 1)
    }

    fn commit(&mut self) {
        let mut tx = self.graph.write().unwrap();
        for n in 0..1_500 {
            let (a, b, rank) = (self.vertex(), self.vertex(), self.rng.below(3));
            let (src, dst) = if self.directed { (a, b) } else { (a.min(b), a.max(b)) };
            let at = (src as u32, dst as u32, rank);
            [a, b].into_iter().for_each(|v| _ = self.named.entry(v as u32).or_default());
            let key = EdgeKey::new("calls", a, b).rank(rank);
            let seconds = (n % 3 > 0).then_some((a * 31 + b) as i64);
            tx.put_edge_with(key, [("seconds", seconds.map_or(Value::Null, Value::I64))]).unwrap();
            self.calls.insert(at, seconds);
            if n % 16 == 0 {
                let name = format!("{a}!");
                tx.put_vertex_with(a, [("name", Value::from(&*name))]).unwrap();
                self.named.insert(a as u32, Some(name));
            }
        }
        let removed: Vec<_> = self.calls.keys().copied().step_by(11).collect();
        for at in removed {
            assert!(
                tx.remove_edge(EdgeKey::new("calls", u64::from(at.0), u64::from(at.1)).rank(at.2)).unwrap()
            );
            self.calls.remove(&at);
        }
        tx.commit().unwrap();
    }
}

/// Scans in runs; calls `between` after each run.
fn scanned(snapshot: &Snapshot, mut between: impl FnMut()) -> (Calls, Named) {
    let schema = snapshot.schema();
    let seconds = schema.label("calls").unwrap().property("seconds").unwrap().id();
    let name = schema.vertex_property(KindId::DEFAULT, "name").unwrap().id();
    let (mut calls, mut named, mut last) = (Calls::new(), Named::new(), None);
    let mut edges = snapshot.scan_edges(&EdgeSelection::of("calls")).unwrap();
    let mut page = None;
    while edges
        .next_source(|edge| {
            let at = (edge.src().0, edge.dst().0, edge.rank());
            assert!(last < Some(at), "{at:?} after {last:?}");
            last = Some(at);
            let seconds = match edge.get(seconds) {
                ValueRef::I64(n) => Some(n),
                other => {
                    assert_eq!(other, ValueRef::Null);
                    None
                }
            };
            calls.insert(at, seconds);
        })
        .unwrap()
    {
        // Some changes come in the middle of a page, and some before a page is read.
        let of = last.map(|(src, ..)| src / 2_500);
        if page != of {
            page = of;
            between();
        }
    }
    assert!(!edges.next_source(|_| panic!("no edge is left")).unwrap());
    let mut vertices = snapshot.scan_vertices().unwrap();
    while vertices
        .next_vertex(|vertex| {
            let name = match vertex.get(name) {
                ValueRef::Utf8(text) => Some(text.to_owned()),
                _ => None,
            };
            assert!(named.insert(vertex.id().0, name).is_none());
        })
        .unwrap()
    {
        if named.len() % 2_000 == 0 {
            between();
        }
    }
    (calls, named)
}

#[test]
fn a_scan_in_runs_sees_one_snapshot_beside_commits_and_evictions() {
    for directed in [true, false] {
        let mut world = World::new(directed);
        for round in 0..8 {
            world.commit();
            if round % 3 == 1 {
                world.graph.checkpoint().unwrap();
            }
            if round % 3 == 2 {
                assert!(world.graph.internals().evict().unwrap() > 0 || round == 2);
            }
            let snapshot = world.graph.snapshot().unwrap();
            let expected = (world.calls.clone(), world.named.clone());
            let found = scanned(&snapshot, || {
                world.commit();
                if round % 2 == 0 {
                    world.graph.checkpoint().unwrap();
                    world.graph.internals().evict().unwrap();
                }
            });
            assert!(found == expected, "{directed}, round {round}: other edges or vertices");
        }
    }
}

#[test]
fn a_scan_without_edges_ends_at_once() {
    let graph = Graph::in_memory().unwrap();
    let snapshot = graph.snapshot().unwrap();
    assert!(
        !snapshot.scan_edges(&EdgeSelection::of("")).unwrap().next_source(|_| panic!("no edge")).unwrap()
    );
    assert!(!snapshot.scan_vertices().unwrap().next_vertex(|_| panic!("no vertex")).unwrap());
    assert!(snapshot.scan_edges(&EdgeSelection::of("roads")).is_err());
    let mut tx = graph.write().unwrap();
    tx.insert_vertex(3u64).unwrap();
    tx.commit().unwrap();
    let mut found = Vec::new();
    let mut scan = graph.snapshot().unwrap().scan_vertices().unwrap();
    while scan.next_vertex(|vertex| found.push(vertex.id().0)).unwrap() {}
    assert_eq!(found, [0]);
    assert!(!snapshot.scan_vertices().unwrap().next_vertex(|_| panic!("a later vertex")).unwrap());
}
