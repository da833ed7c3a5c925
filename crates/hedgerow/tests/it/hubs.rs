//! Vertices with more edges than one transaction may change. The store refuses their removal; several
//! transactions remove their edges.

use std::collections::BTreeSet;

use hedgerow::{
    CommitError, Direction, Durability, EdgeKey, Error, Graph, KeyKind, LEAST_MEMORY_LIMIT, LabelOptions,
    Options, Value, VertexKey, WriteTxn,
};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{SimFs, explored};

use crate::common;

/// The most operations of a transaction: a quarter of the least limit, at 64 bytes an operation.
const MOST: u64 = LEAST_MEMORY_LIMIT / 4 / 64;
const HUB: u64 = 0;

fn options(directed: bool, reverse: bool) -> Options {
    let options = common::small().keys(KeyKind::Dense).directed(directed).reverse(reverse);
    options.durability(Durability::Manual).background_settling(false).memory_limit(LEAST_MEMORY_LIMIT)
}

/// Makes a hub with this number of edges. In a directed graph, a third of them are outgoing.
fn with_hub(options: &Options, directed: bool, edges: u64) -> Graph {
    let graph = options.clone().open_on(SimFs::new().handle()).unwrap();
    let all: Vec<(u64, u64)> =
        (1..=edges).map(|v| if directed && v % 3 != 0 { (v, HUB) } else { (HUB, v) }).collect();
    all.chunks(10_000).for_each(|some| _ = graph.insert_edges(some).unwrap());
    graph
}

fn too_large(refused: Result<impl Sized, Error>) -> (u64, u64) {
    match refused.map(drop) {
        Err(Error::Commit(CommitError::TooLarge { needed, most })) => (needed, most),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_removal_of_a_vertex_counts_as_many_operations_as_it_has_edges() {
    for (directed, reverse) in [(true, true), (false, true), (true, false)] {
        let options = options(directed, reverse);
        let graph = with_hub(&options, directed, MOST - 1);
        let mut tx = graph.write().unwrap();
        assert!(tx.remove_vertex(HUB).unwrap());
        if reverse {
            // The operations of the transaction count already.
            assert_eq!(too_large(tx.put_edge((1, 2))), ((MOST + 1) * 64, MOST * 64));
        }
        // Other transactions add two edges: then the vertex has more edges than one transaction may remove.
        graph.insert_edge((HUB, MOST)).unwrap();
        graph.insert_edge((HUB, MOST + 1)).unwrap();
        let before = (graph.stats().unwrap().version_bytes, graph.published_ts());
        assert_eq!(
            too_large(tx.commit()),
            ((MOST + 1 + u64::from(reverse)) * 64, MOST * 64),
            "{directed} {reverse}"
        );
        let after = (graph.stats().unwrap().version_bytes, graph.published_ts());
        assert_eq!(after, before, "nothing was done");
        // The call refuses the removal at once if the snapshot shows the number of edges.
        let mut tx = graph.write().unwrap();
        if reverse {
            assert_eq!(too_large(tx.remove_vertex(HUB)), ((MOST + 2) * 64, MOST * 64));
            assert!(tx.operation_count() == 0);
        }
        drop(tx);
        // The largest number of edges that fits.
        graph.remove_edge((HUB, MOST)).unwrap();
        graph.remove_edge((HUB, MOST + 1)).unwrap();
        let mut tx = graph.write().unwrap();
        assert!(tx.remove_vertex(HUB).unwrap());
        tx.commit().unwrap();
        let snapshot = graph.snapshot().unwrap();
        assert_eq!((snapshot.edge_count().unwrap(), snapshot.contains_vertex(HUB).unwrap()), (0, false));
        assert!(graph.check().unwrap().is_ok());
    }
}

#[test]
fn without_a_memory_limit_a_vertex_is_removed_whatever_its_degree() {
    let options = common::small().keys(KeyKind::Dense);
    let graph = with_hub(&options, true, MOST + 10);
    let mut tx = graph.write().unwrap();
    assert!(tx.remove_vertex(HUB).unwrap());
    tx.commit().unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 0);
}

#[test]
fn a_hub_is_emptied_by_several_transactions_and_then_removed() {
    for directed in [true, false] {
        let graph = with_hub(&options(directed, true), directed, 2 * MOST);
        let mut tx = graph.write().unwrap();
        assert_eq!(too_large(tx.remove_edges_of(HUB, usize::MAX)), (2 * MOST * 64, MOST * 64));
        assert!(tx.operation_count() == 0);
        drop(tx);
        let (mut steps, mut removed) = (0, 0);
        loop {
            let mut tx = graph.write().unwrap();
            let edges = tx.remove_edges_of(HUB, MOST as usize / 2).unwrap();
            assert_eq!(edges.left, 2 * MOST as usize - removed - edges.removed);
            removed += edges.removed;
            if edges.left == 0 {
                assert!(tx.remove_vertex(HUB).unwrap());
            }
            tx.commit().unwrap();
            steps += 1;
            if edges.left == 0 {
                break;
            }
        }
        assert_eq!((steps, removed), (4, 2 * MOST as usize));
        let snapshot = graph.snapshot().unwrap();
        assert_eq!((snapshot.edge_count().unwrap(), snapshot.contains_vertex(HUB).unwrap()), (0, false));
    }
}

/// The label, both ends and the rank; in an undirected graph the smaller end comes first.
type Edges = BTreeSet<(u16, u64, u64, u64)>;

const LABELS: [&str; 3] = ["", "likes", "calls"];
const VERTICES: u64 = 7;

struct World {
    rng: SplitMix64,
    directed: bool,
    graph: Graph,
    edges: Edges,
}

impl World {
    fn new(seed: u64) -> World {
        let (directed, reverse) = [(true, true), (false, true), (true, false)][seed as usize % 3];
        let keys = if seed.is_multiple_of(2) { KeyKind::U64 } else { KeyKind::Dense };
        let graph = common::small().keys(keys).directed(directed).reverse(reverse).in_memory().unwrap();
        graph.define_label("likes", LabelOptions::new()).unwrap();
        graph.define_label("calls", LabelOptions::new().multi(true)).unwrap();
        World { rng: SplitMix64::new(seed), directed, graph, edges: Edges::new() }
    }

    fn edge(&mut self) -> (u16, u64, u64, u64) {
        let (label, a, b) = (self.rng.below(3) as u16, self.rng.below(VERTICES), self.rng.below(VERTICES));
        let rank = if label == 2 { self.rng.below(3) } else { 0 };
        let (a, b) = if self.directed { (a, b) } else { (a.min(b), a.max(b)) };
        (label, a, b, rank)
    }

    /// Makes a few writes in the transaction.
    fn write(&mut self, tx: &mut WriteTxn, edges: &mut Edges) {
        for _ in 0..self.rng.below(12) {
            let edge = self.edge();
            let (label, a, b, rank) = edge;
            let key = EdgeKey::new(LABELS[label as usize], a, b).rank(rank);
            match self.rng.below(24) {
                0 => {
                    tx.remove_vertex(a).unwrap();
                    edges.retain(|&(_, src, dst, _)| src != a && dst != a);
                }
                1..=8 => assert_eq!(tx.remove_edge(key).unwrap(), edges.remove(&edge)),
                _ => {
                    tx.put_edge_with(key, [] as [(&str, Value); 0]).unwrap();
                    edges.insert(edge);
                }
            }
        }
    }

    fn found(&self) -> Edges {
        let (snapshot, mut found) = (self.graph.snapshot().unwrap(), Edges::new());
        for v in 0..VERTICES {
            let of_v = snapshot.edge_list(v, Direction::Out).unwrap().unwrap_or_default();
            for (other, label, rank) in of_v {
                let VertexKey::U64(other) = other else { panic!("{other:?}") };
                let (a, b) = if self.directed { (v, other) } else { (v.min(other), v.max(other)) };
                found.insert((label.0, a, b, rank));
            }
        }
        found
    }

    /// Removes edges of a random vertex. Returns the number of removed edges, and 1 if the call left some
    /// edges.
    fn step(&mut self) -> (usize, usize) {
        let mut tx = self.graph.write().unwrap();
        let mut edges = self.edges.clone();
        self.write(&mut tx, &mut edges);
        let (v, most) = (self.rng.below(VERTICES), self.rng.below(9) as usize);
        let at = |edges: &Edges| edges.iter().filter(|&&(_, a, b, _)| a == v || b == v).count();
        let before = at(&edges);
        let told = tx.remove_edges_of(v, most).unwrap();
        assert_eq!(
            (told.removed, told.left),
            (before.min(most), before - before.min(most)),
            "{v}: {edges:?}"
        );
        let again = tx.remove_edges_of(v, 0).unwrap();
        assert_eq!((again.removed, again.left), (0, told.left));
        tx.commit().unwrap();
        let found = self.found();
        assert!(found.is_subset(&edges), "{found:?} of {edges:?}");
        assert_eq!((at(&found), edges.len() - found.len()), (told.left, told.removed));
        self.edges = found;
        (told.removed, usize::from(told.left > 0))
    }
}

#[test]
fn edges_of_a_vertex_are_removed_as_a_model_says() {
    let (mut removed, mut left) = (0, 0);
    for seed in 0..30 {
        let mut world = World::new(seed);
        for _ in 0..40 {
            let (more, some) = world.step();
            (removed, left) = (removed + more, left + some);
        }
        assert!(world.graph.check().unwrap().is_ok());
    }
    explored("edges of a vertex removed some at a time", removed as u64, 1_000);
    explored("calls that left some", left as u64, 200);
}

/// Another transaction adds an edge meanwhile. The removal did not report this edge, so the transaction
/// conflicts.
#[test]
fn an_edge_that_comes_meanwhile_is_a_conflict() {
    let graph = Graph::in_memory().unwrap();
    graph.define_label("likes", LabelOptions::new()).unwrap();
    graph.insert_edges([(0, 1), (2, 0)]).unwrap();
    for (src, dst, label) in [(0, 3, ""), (4, 0, ""), (0, 5, "likes")] {
        let mut tx = graph.write().unwrap();
        let edges = tx.remove_edges_of(0, 1).unwrap();
        assert_eq!(edges.removed, 1);
        let mut other = graph.write().unwrap();
        other.put_edge_with(EdgeKey::new(label, src, dst), [] as [(&str, Value); 0]).unwrap();
        other.commit().unwrap();
        assert!(matches!(tx.commit(), Err(Error::Commit(CommitError::Conflict { .. }))), "{label}");
    }
    let mut tx = graph.write().unwrap();
    assert_eq!(tx.remove_edges_of(0, 10).unwrap().removed, 5);
    tx.commit().unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count_of("likes").unwrap(), 0);
}
