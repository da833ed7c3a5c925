//! The memory that reads and commits take within the limit: the store charges it, and commits leave the slack
//! to reads.

use std::ops::ControlFlow;

use hedgerow::{
    CommitError, Direction, Durability, Error, KeyKind, LEAST_MEMORY_LIMIT, Options, TieredView, Topology,
};
use hedgerow_core::SubgraphId;
use hedgerow_testkit::SimFs;

/// The number of vertices of a path, which has one chain for each 64 vertices.
const VERTICES: u64 = 1 << 15;

fn options() -> Options {
    let options = Options::new().keys(KeyKind::Dense).directed(false).durability(Durability::Manual);
    options.background_settling(false).checkpoint_log_bytes(0)
}

fn path(from: u64) -> Vec<(u64, u64)> {
    (from..from + VERTICES).map(|v| (v, v + 1)).collect()
}

pub(crate) fn a_scan_charges_the_lists_that_it_lends() {
    let graph = options().memory_limit(LEAST_MEMORY_LIMIT).open_on(SimFs::new().handle()).unwrap();
    graph.insert_edges(path(0)).unwrap();
    graph.checkpoint().unwrap();
    assert!(graph.internals().evict().unwrap() > 0);
    let view = TieredView::new(&graph.snapshot().unwrap(), "").unwrap();
    let before = graph.memory_bytes();
    let (all, mut most) = (SubgraphId(0)..SubgraphId((VERTICES / 64) as u32), 0);
    let scanned = view.scan(all, Direction::Out, |_, _| {
        most = graph.memory_bytes().max(most);
        ControlFlow::Continue(())
    });
    scanned.unwrap();
    // A run has the lists of 4,096 vertices, with two neighbors each.
    assert!(most >= before + 4_096 * 8, "{most}, {before} before");
    assert_eq!(graph.memory_bytes(), before);
}

/// No thread writes checkpoints, so changes fill the limit.
pub(crate) fn small_reads_continue_while_commits_have_no_room() {
    let graph = options().memory_limit(LEAST_MEMORY_LIMIT).open_on(SimFs::new().handle()).unwrap();
    graph.insert_edges(path(0)).unwrap();
    graph.checkpoint().unwrap();
    assert!(graph.internals().evict().unwrap() > 0);
    let snapshot = graph.snapshot().unwrap();
    let refused = (1_u64..).find_map(|n| {
        let from = n * VERTICES;
        path(from).chunks(64).find_map(|edges| graph.insert_edges(edges).err())
    });
    let Some(Error::Commit(CommitError::MemoryLimit(shortage))) = refused else { panic!("{refused:?}") };
    assert!(shortage.dirty > LEAST_MEMORY_LIMIT / 2, "{shortage:?}");
    for v in (1..VERTICES).step_by(64) {
        assert_eq!(snapshot.neighbors(v, Direction::Out).unwrap().map(|found| found.len()), Some(2));
    }
    assert!(graph.internals().most_memory_used() <= LEAST_MEMORY_LIMIT);
}
