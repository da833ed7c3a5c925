//! Benchmarks of reads at one vertex, by each form of the choice of edges: all edges of a graph without
//! labels, one label, a selection without conditions, and a selection with one.

use divan::Bencher;
use divan::counter::ItemsCount;
use hedgerow_engine::{Comparison, Direction, EdgeKey, EdgeSelection, Graph, Snapshot};

/// The numbers of vertices and of edges.
const VERTICES: u64 = 200_000;
const EDGES: u64 = 400_000;
/// The number of keys that one sample reads.
const READS: u64 = 1 << 14;
const LABEL: &str = "pays";

fn main() {
    divan::main();
}

fn ends(n: u64) -> (u64, u64) {
    let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 40) % VERTICES, (mixed >> 13) % VERTICES)
}

/// Returns a snapshot of a graph of plain edges, or of edges of one label with a property.
fn snapshot(has_label: bool) -> Snapshot {
    let graph = Graph::in_memory().expect("a graph in memory");
    for from in (0..EDGES).step_by(50_000) {
        let mut tx = graph.write().expect("an open graph");
        for n in from..from + 50_000 {
            let (src, dst) = ends(n);
            if has_label {
                tx.put_edge_with(EdgeKey::new(LABEL, src, dst), [("amount", n as i64)]).expect("an edge");
            } else {
                tx.put_edge((src, dst)).expect("an edge");
            }
        }
        tx.commit().expect("nothing else is committed");
    }
    graph.settle().expect("an open graph");
    let snapshot = graph.snapshot().expect("an open graph");
    snapshot.default_label().set_views_by_reads(false);
    snapshot
}

/// Reads at keys that are spread over the graph.
fn read(bencher: Bencher<'_, '_>, has_label: bool, of: impl Fn(&Snapshot, u64) -> usize) {
    let snapshot = snapshot(has_label);
    let keys: Vec<u64> = (0..READS).map(|n| ends(n * 7).0).collect();
    bencher
        .counter(ItemsCount::new(READS))
        .bench_local(|| keys.iter().map(|&key| of(&snapshot, key)).sum::<usize>());
}

#[divan::bench]
fn degree(bencher: Bencher<'_, '_>) {
    read(bencher, false, |s, key| s.degree(key, Direction::Out).expect("in memory").unwrap_or(0));
}

#[divan::bench]
fn degree_of_label(bencher: Bencher<'_, '_>) {
    read(bencher, true, |s, key| s.degree(key, LABEL).expect("in memory").unwrap_or(0));
}

#[divan::bench]
fn degree_of_selection(bencher: Bencher<'_, '_>) {
    let selection = EdgeSelection::of(LABEL);
    read(bencher, true, |s, key| s.degree(key, &selection).expect("in memory").unwrap_or(0));
}

#[divan::bench]
fn degree_with_a_condition(bencher: Bencher<'_, '_>) {
    let selection = EdgeSelection::of(LABEL).filter("amount", Comparison::Greater, EDGES as i64 / 2);
    read(bencher, true, |s, key| s.degree(key, &selection).expect("in memory").unwrap_or(0));
}

#[divan::bench]
fn contains_edge(bencher: Bencher<'_, '_>) {
    read(bencher, false, |s, key| usize::from(s.contains_edge((key, key / 2)).expect("in memory")));
}

#[divan::bench]
fn neighbors(bencher: Bencher<'_, '_>) {
    let length =
        |s: &Snapshot, key| s.neighbors(key, Direction::Out).expect("in memory").map(|all| all.len());
    read(bencher, false, |s, key| length(s, key).unwrap_or(0));
}

#[divan::bench]
fn edges_of_label(bencher: Bencher<'_, '_>) {
    read(bencher, true, |s, key| s.edges(key, LABEL).expect("in memory").map_or(0, |all| all.len()));
}
