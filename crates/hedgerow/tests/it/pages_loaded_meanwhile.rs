//! Another thread loads a page while a commit looks for it. The commit must not take the page for one without
//! any write.

use std::sync::Barrier;

use hedgerow::{Direction, Durability, Graph, KeyKind, Options};
use hedgerow_testkit::SimFs;

use crate::common;

const VERTICES: u64 = 640;
const ROUNDS: u64 = 60;

fn options() -> Options {
    let options = common::small().keys(KeyKind::Dense).durability(Durability::Manual);
    options.background_settling(false).checkpoint_log_bytes(0)
}

/// Inserts two new edges between existing vertices of one subgraph; a second subgraph would make the commit
/// start over. True if both edges are new.
fn write(graph: &Graph, in_a_batch: bool) -> bool {
    if in_a_batch {
        return graph.insert_edges([(1, 3), (5, 9)]).unwrap() == 2;
    }
    let mut tx = graph.write().unwrap();
    // A commit that took the page for absent would report that the ends are missing.
    tx.create_endpoints(false).unwrap();
    tx.put_edge((1_u64, 3)).unwrap();
    tx.put_edge((5_u64, 9)).unwrap();
    tx.commit().is_ok()
}

#[test]
fn a_commit_beside_the_load_of_its_page_finds_what_is_there() {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    let ring: Vec<_> = (0..VERTICES).map(|v| (v, (v + 1) % VERTICES)).collect();
    graph.insert_edges(&ring).unwrap();
    graph.checkpoint().unwrap();
    graph.close().unwrap();
    let files = disk.files();
    for round in 0..ROUNDS {
        let graph = options().open_on(SimFs::from_files(&files).handle()).unwrap();
        let begin = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                begin.wait();
                assert_eq!(graph.snapshot().unwrap().degree(130_u64, Direction::Out).unwrap(), Some(1));
                // The store may evict the loaded page again before the commit has its latches.
                if round % 4 > 1 {
                    graph.internals().evict().unwrap();
                }
            });
            scope.spawn(|| {
                begin.wait();
                assert!(write(&graph, round % 2 == 0), "round {round}");
            });
        });
        let snapshot = graph.snapshot().unwrap();
        assert_eq!((snapshot.vertex_count(), snapshot.edge_count().unwrap()), (VERTICES, VERTICES + 2));
        assert_eq!(snapshot.degree(1_u64, Direction::Out).unwrap(), Some(2), "round {round}");
    }
}
