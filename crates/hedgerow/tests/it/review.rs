//! Cases that a review of the protocol found.

use hedgerow::{Direction, Isolation, Topology};
use rayon::prelude::*;

#[test]
fn a_view_asked_for_by_many_tasks_at_once_is_built() {
    let graph = crate::common::small().keys(hedgerow::KeyKind::Dense).in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    (0..40_000u64).for_each(|i| tx.put_edge((i, (i * 7) % 40_000)).unwrap());
    tx.commit().unwrap();
    // Few tasks and many workers: a worker that waits for a part of the view takes another task.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
    for round in 0..300 {
        // A change everywhere; without it the view would be the same as before.
        let mut tx = graph.write().unwrap();
        (0..40_000u64).step_by(500).for_each(|i| tx.put_edge((i, (i + round) % 40_000)).unwrap());
        tx.commit().unwrap();
        let snapshot = graph.snapshot().unwrap();
        let tasks = || {
            (0..12)
                .into_par_iter()
                .map(|_| snapshot.default_label().view().unwrap().vertex_count())
                .collect::<Vec<usize>>()
        };
        assert!(pool.install(tasks).iter().all(|&n| n == 40_000));
    }
}

#[test]
fn a_key_that_comes_and_goes_under_an_old_snapshot() {
    let graph = crate::common::small().in_memory().unwrap();
    graph.insert_edge((1, 2)).unwrap();
    let old = graph.snapshot().unwrap();
    for _ in 0..600_000 {
        let mut tx = graph.write().unwrap();
        tx.remove_vertex(1).unwrap();
        tx.insert_vertex(1).unwrap();
        tx.commit().unwrap();
    }
    assert_eq!(old.degree(1, Direction::Out).unwrap(), Some(1));
    drop(old);
    let mut tx = graph.write().unwrap();
    tx.remove_vertex(1).unwrap();
    tx.commit().unwrap();
    graph.insert_edge((1, 3)).unwrap();
    assert!(graph.check().unwrap().is_ok());
}

#[test]
fn under_snapshot_isolation_a_vertex_that_went_is_a_conflict() {
    for keys in [hedgerow::KeyKind::U64, hedgerow::KeyKind::Dense] {
        let open = || {
            let graph = crate::common::small().keys(keys).isolation(Isolation::Snapshot).in_memory().unwrap();
            graph.insert_edge((1, 2)).unwrap();
            graph
        };
        let graph = open();
        let (mut removes_edge, mut removes_vertex) = (graph.write().unwrap(), graph.write().unwrap());
        assert!(removes_edge.remove_edge((1, 2)).unwrap());
        assert!(removes_vertex.remove_vertex(1).unwrap());
        removes_vertex.commit().unwrap();
        assert!(removes_edge.commit().unwrap_err().is_conflict(), "{keys:?}");

        let graph = open();
        let (mut puts_edge, mut removes_vertex) = (graph.write().unwrap(), graph.write().unwrap());
        puts_edge.put_edge((1, 3)).unwrap();
        assert!(removes_vertex.remove_vertex(1).unwrap());
        removes_vertex.commit().unwrap();
        assert!(puts_edge.commit().unwrap_err().is_conflict(), "{keys:?}");
    }
}

#[test]
fn a_stale_read_is_a_conflict_before_it_is_a_missing_vertex() {
    let graph = crate::common::small().in_memory().unwrap();
    graph.insert_edge((1, 2)).unwrap();
    let mut tx = graph.write().unwrap();
    tx.create_endpoints(false).unwrap();
    assert!(tx.contains_vertex(1).unwrap());
    tx.put_edge((1, 2)).unwrap();
    let mut other = graph.write().unwrap();
    other.remove_vertex(1).unwrap();
    other.commit().unwrap();
    assert!(tx.commit().unwrap_err().is_conflict());
}
