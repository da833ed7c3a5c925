//! Benchmarks of one subgraph: appending to its delta, merging it, looking up edges, scanning its lists.

use std::hint::black_box;

use divan::Bencher;
use divan::counter::ItemsCount;
use hedgerow_core::{Direction, InterpolationHint, LocalVertex, Timestamp, VertexId};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{Arena, EdgeOp, Horizon, Memory, Ops, Pin, Subgraph};

/// The numbers of neighbors of each of the 64 vertices: a road network, a social network, a subgraph with
/// hubs.
const DEGREES: [u32; 3] = [3, 16, 256];
/// The number of vertices. The neighbors are drawn from them.
const VERTICES: u32 = 1 << 20;
/// The number of edges that one sample appends. The smallest delta of this benchmark has room for them.
const APPENDS: u32 = 32;
const LOOK_UPS: u32 = 1024;

fn main() {
    divan::main();
}

/// A horizon without open snapshots. All applied commits are published.
struct NoReaders(Timestamp);

impl Horizon for NoReaders {
    fn published(&self) -> Timestamp {
        self.0
    }

    fn pin_in(&self, _: Timestamp, _: Timestamp) -> Option<Pin> {
        None
    }
}

/// Returns the `n`th neighbor of a vertex. Its id is even, and the ids are spread over all vertices.
fn neighbor(local: u8, n: u32) -> VertexId {
    VertexId((u32::from(local) * 7919 + n).wrapping_mul(0x9e37_79b1) % (VERTICES / 2) * 2)
}

fn insert(local: u8, dst: VertexId) -> LocalOp {
    LocalOp { local: LocalVertex(local), op: EdgeOp::Insert, dst, weight: 0.0 }
}

/// Applies each operation as a commit of its own, from `ts` on.
fn apply(subgraph: &Subgraph, ops: &[LocalOp], ts: u64) {
    for (ts, op) in (ts..).map(Timestamp).zip(ops) {
        let (ops, readers) = (Ops::plain(std::slice::from_ref(op)), NoReaders(Timestamp(ts.0 - 1)));
        let _ = subgraph.latch().apply(Direction::Out, ops, ts, &readers);
    }
}

fn settle(subgraph: &Subgraph, published: u64) {
    let readers = NoReaders(Timestamp(published));
    let _ = subgraph.latch().settle(Direction::Out, false, &readers);
}

/// Returns a settled subgraph in which all vertices have about `degree` neighbors, as of timestamp 1.
fn settled(memory: &Memory, degree: u32) -> Subgraph {
    let subgraph = Subgraph::new(memory.clone());
    let mut edges: Vec<(u8, VertexId)> =
        (0..64).flat_map(|local| (0..degree).map(move |n| (local, neighbor(local, n)))).collect();
    edges.sort_unstable();
    edges.dedup();
    let ops: Vec<LocalOp> = edges.into_iter().map(|(local, dst)| insert(local, dst)).collect();
    let _ = subgraph.latch().apply(Direction::Out, Ops::plain(&ops), Timestamp(1), &NoReaders(Timestamp(0)));
    settle(&subgraph, 1);
    subgraph
}

/// Returns new edges, with odd destinations.
fn new_edges(count: u32) -> Vec<LocalOp> {
    (0..count).map(|n| insert((n * 37 % 64) as u8, VertexId(neighbor(3, n).0 | 1))).collect()
}

/// Returns a subgraph with room in its delta. The delta has one new edge, inserted at timestamp 2.
fn with_room(memory: &Memory, degree: u32) -> Subgraph {
    let subgraph = settled(memory, degree);
    apply(&subgraph, &[insert(63, VertexId(1))], 2);
    subgraph
}

#[divan::bench(args = DEGREES)]
fn append(bencher: Bencher<'_, '_>, degree: u32) {
    let (memory, ops) = (Memory::new(Arena::new()), new_edges(APPENDS));
    bencher.counter(ItemsCount::new(APPENDS)).with_inputs(|| with_room(&memory, degree)).bench_refs(
        |subgraph| {
            apply(subgraph, &ops, 3);
        },
    );
}

/// Measures a merge of a main part with `degree` neighbors per vertex and a delta of 33 edges.
#[divan::bench(args = DEGREES)]
fn merge(bencher: Bencher<'_, '_>, degree: u32) {
    let (memory, ops) = (Memory::new(Arena::new()), new_edges(APPENDS));
    let full = || {
        let subgraph = with_room(&memory, degree);
        apply(&subgraph, &ops, 3);
        let waiting = subgraph.versions(Direction::Out)[0].delta().len();
        assert_eq!(waiting, ops.len() + 1, "all operations wait in the delta");
        subgraph
    };
    bencher.with_inputs(full).bench_refs(|subgraph| settle(subgraph, 2 + u64::from(APPENDS)));
}

/// Looks up edges of the vertices in turn. The edges exist if `odd` is 0.
fn look_up(bencher: Bencher<'_, '_>, subgraph: &Subgraph, degree: u32, odd: u32) {
    let edges: Vec<(LocalVertex, VertexId)> = (0..LOOK_UPS)
        .map(|n| ((n * 37 % 64) as u8, n * 5 % degree))
        .map(|(local, n)| (LocalVertex(local), VertexId(neighbor(local, n).0 | odd)))
        .collect();
    let (t, hint) = (Timestamp(100), InterpolationHint::over(VERTICES));
    let found = |&(local, dst): &(LocalVertex, VertexId)| {
        subgraph.edge(Direction::Out, t, local, dst, hint).is_ok_and(|edge| edge.is_some())
    };
    assert!(edges.iter().all(|edge| found(edge) == (odd == 0)), "the edges are what they should be");
    bencher
        .counter(ItemsCount::new(LOOK_UPS))
        .bench_local(|| edges.iter().filter(|edge| found(black_box(edge))).count());
}

#[divan::bench(args = DEGREES)]
fn look_up_hit(bencher: Bencher<'_, '_>, degree: u32) {
    look_up(bencher, &settled(&Memory::new(Arena::new()), degree), degree, 0);
}

#[divan::bench(args = DEGREES)]
fn look_up_miss(bencher: Bencher<'_, '_>, degree: u32) {
    look_up(bencher, &settled(&Memory::new(Arena::new()), degree), degree, 1);
}

#[divan::bench(args = DEGREES)]
fn look_up_hit_beside_a_delta(bencher: Bencher<'_, '_>, degree: u32) {
    let subgraph = with_room(&Memory::new(Arena::new()), degree);
    apply(&subgraph, &new_edges(APPENDS), 3);
    look_up(bencher, &subgraph, degree, 0);
}

/// Adds up all neighbors of all vertices.
#[divan::bench(args = DEGREES)]
fn scan_settled(bencher: Bencher<'_, '_>, degree: u32) {
    let subgraph = settled(&Memory::new(Arena::new()), degree);
    let edges = subgraph.versions(Direction::Out)[0].main().edges().len();
    bencher.counter(ItemsCount::new(edges)).bench_local(|| {
        subgraph.read(Direction::Out, Timestamp(100), |read| {
            let mut sum = 0;
            for local in (0..64).map(LocalVertex) {
                read.for_each_neighbor(local, |dst, _| sum += u64::from(dst.0));
            }
            sum
        })
    });
}
