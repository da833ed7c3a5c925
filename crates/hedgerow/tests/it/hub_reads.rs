//! The tests count the reads of hubs. A list in pieces takes one read for each piece, and one edge takes a
//! search, however many other segments there are.

use hedgerow::{Direction, Graph, Snapshot};
use hedgerow_testkit::SimFs;

use crate::cold::{counted, options, reads_of};

/// The hub, and two vertices with records in its image: one has few neighbors, one has none.
const HUB: u64 = 7;
const SMALL: u64 = 9;
const NONE: u64 = 11;
/// A vertex in another subgraph of the page, for changes in later segments.
const BESIDE: u64 = 100;
const DEGREE: u64 = 70_000;
/// The number of edges into the hub, smaller than the number of edges out of it.
const INCOMING: u64 = 30_000;

/// A graph with and a graph without weights, each with the number of neighbors of a piece.
const KINDS: [(bool, u64); 2] = [(false, 13_104), (true, 5_040)];

fn insert(graph: &Graph, edges: impl Iterator<Item = (u64, u64)>) {
    graph.insert_edges(edges.collect::<Vec<_>>()).unwrap();
}

/// Opens the store and makes the first read of the page. Returns the number of file reads without
/// directories, and the result. There is one directory for each of the `segments` segments.
fn first_read<R>(disk: &SimFs, weighted: bool, segments: u64, f: impl FnOnce(&Snapshot) -> R) -> (u64, R) {
    let (graph, counters) = counted(disk, options(true).weighted(weighted));
    let snapshot = graph.snapshot().unwrap();
    let (reads, found) = reads_of(&counters, || f(&snapshot));
    (reads.checked_sub(segments).expect("a directory of each segment"), found)
}

/// Checks every kind of read of a store with the page in this many segments; the oldest one has the image of
/// the hub.
fn check(disk: &SimFs, (weighted, most): (bool, u64), segments: u64) {
    let lists = [(Direction::Out, DEGREE), (Direction::In, INCOMING)];
    for (direction, length) in lists {
        let list = |s: &Snapshot| s.neighbors(HUB, direction).unwrap().map(|list| list.len() as u64);
        let found = first_read(disk, weighted, segments, list);
        assert_eq!(found, (1 + length.div_ceil(most), Some(length)), "{direction:?}: head and pieces");
        let degree = |s: &Snapshot| s.degree(HUB, direction).unwrap();
        assert_eq!(first_read(disk, weighted, segments, degree), (1, Some(length as usize)), "the head");
    }
    let small = |s: &Snapshot| s.neighbors(SMALL, Direction::Out).unwrap().map(|list| list.len());
    assert_eq!(first_read(disk, weighted, segments, small), (2, Some(3)), "the head and the last piece");
    let none = |s: &Snapshot| s.neighbors(NONE, Direction::Out).unwrap().map(|list| list.len());
    assert_eq!(first_read(disk, weighted, segments, none), (1, Some(0)), "the head says so");
    let searched = u64::from(DEGREE.div_ceil(most).next_power_of_two().ilog2());
    for dst in [0, 1, most - 1, most, DEGREE / 2, DEGREE - 1, DEGREE, 5 * DEGREE] {
        let edge = |s: &Snapshot| s.contains_edge((HUB, dst)).unwrap();
        let (reads, found) = first_read(disk, weighted, segments, edge);
        assert!(reads <= 1 + searched && found == (dst < DEGREE), "{reads} reads for the edge to {dst}");
    }
}

#[test]
fn reads_of_a_hub_are_counted_in_several_segments_and_after_a_compaction() {
    for kind in KINDS {
        let disk = SimFs::new();
        let options = || options(true).weighted(kind.0);
        let graph = options().open_on(disk.handle()).unwrap();
        insert(&graph, (0..DEGREE).map(|v| (HUB, v)));
        // All vertices except the hub, so that the lists of the two directions differ in length.
        insert(
            &graph,
            (0..=INCOMING).filter(|v| *v != HUB).map(|v| (v + DEGREE, HUB)).take(INCOMING as usize - 1),
        );
        insert(&graph, (0..3).map(|v| (SMALL, v * 1000)));
        graph.compact().unwrap();
        graph.close().unwrap();
        check(&disk, kind, 1);
        for round in 0..3 {
            let graph = options().open_on(disk.handle()).unwrap();
            insert(&graph, [(BESIDE, BESIDE + round)].into_iter());
            graph.checkpoint().unwrap();
            graph.close().unwrap();
        }
        let segments = disk.files().keys().filter(|name| name.ends_with(".csr")).count() as u64;
        assert!(segments > 1, "{segments} segments");
        check(&disk, kind, segments);
        let graph = options().open_on(disk.handle()).unwrap();
        insert(&graph, [(HUB, DEGREE)].into_iter());
        assert!(graph.remove_edge((HUB, DEGREE)).unwrap());
        graph.checkpoint().unwrap();
        graph.close().unwrap();
        check(&disk, kind, 1);
        options().open_on(disk.handle()).unwrap().compact().unwrap();
        check(&disk, kind, 1);
    }
}
