//! The changes between two snapshots lead from the edges of the earlier one to the edges of the later one.

use std::collections::BTreeMap;

use hedgerow::{EdgeChangeKind, Graph, KeyKind, Snapshot, VertexId};
use hedgerow_workload::rng::Rng;

use crate::common::small;

const VERTICES: u64 = 400;

type Edges = BTreeMap<(VertexId, VertexId), f64>;

/// Returns the vertices and all entries of outgoing lists.
fn state(snapshot: &Snapshot, label: &str) -> (Vec<VertexId>, Edges) {
    let view = snapshot.view(label).unwrap();
    let mut edges = Edges::new();
    for v in view.vertices() {
        view.for_each_weighted(v, hedgerow::Direction::Out, |u, weight| _ = edges.insert((v, u), weight));
    }
    (view.vertices().collect(), edges)
}

fn must_lead(earlier: &Snapshot, later: &Snapshot, label: &str) -> usize {
    let changes = later.changes_since(earlier, label).unwrap();
    let ((mut vertices, mut edges), (after, expected)) = (state(earlier, label), state(later, label));
    for change in &changes.edges {
        let key = (change.src, change.dst);
        let was = match change.kind {
            EdgeChangeKind::Removed => edges.remove(&key),
            _ => edges.insert(key, change.weight),
        };
        assert_eq!(was.is_some(), change.kind != EdgeChangeKind::Inserted, "{change:?}");
    }
    assert!(edges == expected, "{label}: the changes lead elsewhere");
    for &(v, came) in &changes.vertices {
        assert_eq!(vertices.contains(&v), !came);
        if came { vertices.push(v) } else { vertices.retain(|&u| u != v) }
    }
    vertices.sort_unstable();
    assert_eq!(vertices, after);
    assert!(changes.edges.is_sorted_by_key(|change| (change.src, change.dst)));
    changes.edges.len()
}

fn write(graph: &Graph, rng: &mut Rng, operations: u64, label: &str) {
    let mut tx = graph.write().unwrap();
    for _ in 0..operations {
        let (src, dst) = (rng.below(VERTICES), rng.below(VERTICES));
        let edge = hedgerow::EdgeKey::new(label, src, dst);
        match rng.below(8) {
            0..4 if label.is_empty() => tx.put_edge((src, dst, rng.below(9) as f64)).unwrap(),
            0..4 => tx.put_edge_with(edge, [("since", rng.below(9) as i64)]).map(drop).unwrap(),
            4 if rng.below(20) == 0 => _ = tx.remove_vertex(src).unwrap(),
            _ => _ = tx.remove_edge(edge).unwrap(),
        }
    }
    tx.commit().unwrap();
}

/// The test keeps some snapshots open while it opens and closes more. It mixes small and large commits,
/// settling, and vertices that are removed and inserted again.
#[test]
fn changes_lead_from_each_held_snapshot_to_the_next_ones() {
    for seed in 0..6 {
        let graph = small().keys(KeyKind::U64).directed(seed % 2 == 0).weighted(true).in_memory().unwrap();
        let mut rng = Rng::new(seed);
        graph
            .write()
            .and_then(|mut tx| {
                tx.put_edge_with(hedgerow::EdgeKey::new("knows", 0, 1), [("since", 1)])?;
                tx.commit()
            })
            .unwrap();
        write(&graph, &mut rng, 300, "");
        write(&graph, &mut rng, 300, "knows");
        let mut held = vec![graph.snapshot().unwrap()];
        let mut told = 0;
        for round in 0..30 {
            let label = ["", "knows"][rng.below(2) as usize];
            write(&graph, &mut rng, [2, 20, 900][(round % 3) as usize], label);
            if rng.below(5) == 0 {
                graph.settle().unwrap();
            }
            let now = graph.snapshot().unwrap();
            for earlier in &held {
                told += must_lead(earlier, &now, "") + must_lead(earlier, &now, "knows");
            }
            match rng.below(3) {
                0 => _ = held.swap_remove(rng.below(held.len() as u64) as usize),
                _ => held.push(graph.snapshot().unwrap()),
            }
            if held.is_empty() {
                held.push(now);
            }
        }
        assert!(told > 1000, "{told} changes");
    }
}

/// In a store that was opened from files, the call does not read data that did not change.
#[test]
fn changes_of_a_store_that_was_opened_need_what_changed_alone() {
    let dir = tempfile::tempdir().unwrap();
    let options = || small().keys(KeyKind::U64).weighted(true);
    let mut rng = Rng::new(5);
    {
        let graph = options().open(dir.path()).unwrap();
        write(&graph, &mut rng, 2000, "");
        graph.compact().unwrap();
        graph.close().unwrap();
    }
    let graph = options().open(dir.path()).unwrap();
    let before = graph.snapshot().unwrap();
    write(&graph, &mut rng, 40, "");
    graph.checkpoint().unwrap();
    write(&graph, &mut rng, 40, "");
    assert!(must_lead(&before, &graph.snapshot().unwrap(), "") > 20);
}

#[test]
fn snapshots_that_do_not_fit_each_other_are_refused() {
    let (graph, other) = (Graph::in_memory().unwrap(), Graph::in_memory().unwrap());
    graph.insert_edges([(0, 1)]).unwrap();
    let before = graph.snapshot().unwrap();
    graph.insert_edges([(1, 2)]).unwrap();
    let after = graph.snapshot().unwrap();
    let error = before.changes_since(&after, "").unwrap_err().to_string();
    assert!(error.contains("timestamp"), "{error}");
    let error = after.changes_since(&other.snapshot().unwrap(), "").unwrap_err().to_string();
    assert!(error.contains("another graph"), "{error}");
    assert!(after.changes_since(&before, "nothing").is_err());
    assert!(after.changes_since(&after, "").unwrap().is_empty());
}

/// The state of the earlier snapshot is in a page version, and chains are not in memory. The call compares
/// the lists as both snapshots read them.
#[test]
fn changes_since_a_snapshot_that_left_memory_are_told_from_files() {
    let disk = hedgerow_testkit::SimFs::new();
    let options = small().keys(KeyKind::U64).weighted(true).memory_limit(hedgerow::LEAST_MEMORY_LIMIT);
    let graph = options.open_on(disk.handle()).unwrap();
    let mut rng = Rng::new(11);
    write(&graph, &mut rng, 3000, "");
    graph.checkpoint().unwrap();
    let before = graph.snapshot().unwrap();
    let copy = state(&before, "");
    write(&graph, &mut rng, 300, "");
    graph.checkpoint().unwrap();
    graph.internals().write_page_versions().unwrap();
    assert!(graph.internals().evict().unwrap() > 0);
    let after = graph.snapshot().unwrap();
    let changes = after.changes_since(&before, "").unwrap();
    assert!(changes.edges.len() > 100);
    let mut edges = copy.1;
    for change in &changes.edges {
        match change.kind {
            EdgeChangeKind::Removed => _ = edges.remove(&(change.src, change.dst)).unwrap(),
            _ => _ = edges.insert((change.src, change.dst), change.weight),
        }
    }
    assert!(edges == state(&after, "").1);
}
