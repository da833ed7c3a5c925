//! A commit to many subgraphs needs all of them in memory at once, and memory has room for little more. Two
//! such commits also run at the same moment. A commit succeeds even if its list changes and is evicted at
//! each read.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Barrier, Mutex, OnceLock};

use hedgerow::io::CountingFs;
use hedgerow::{CommitError, Durability, Error, Graph, KeyKind, LEAST_MEMORY_LIMIT, Options, WriteTxn};
use hedgerow_testkit::SimFs;

use crate::common::gated::with_calling_reads;

/// The number of vertices of a subgraph, and the number of subgraphs, of 7 kB each.
pub(crate) const SUBGRAPH: u64 = 64;
pub(crate) const SUBGRAPHS: u64 = 3_000;
pub(crate) const EDGES: u64 = 9;
/// A commit changes one subgraph in each group of this size. All changed subgraphs, with the results of their
/// merges, take half of the limit.
const STEP: u64 = 6;
/// The most bytes that one commit may read from files, including the checkpoints that it waits for. A commit
/// that reads the same data again and again exceeds this number.
const MOST_READ: u64 = 60 << 20;

pub(crate) fn options() -> Options {
    let options = Options::new().keys(KeyKind::Dense).directed(true).reverse(false).weighted(true);
    options.durability(Durability::Manual).background_settling(false)
}

pub(crate) fn destination(source: u64, round: u64) -> u64 {
    (source * 31 + round * 104_729) % (SUBGRAPHS * SUBGRAPH)
}

/// Returns a copy of the store; only the first call builds it.
pub(crate) fn store() -> SimFs {
    static FILES: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
    SimFs::from_files(FILES.get_or_init(|| {
        let disk = SimFs::new();
        let graph = options().open_on(disk.handle()).unwrap();
        for round in 0..EDGES {
            let edges: Vec<_> = (0..SUBGRAPHS * SUBGRAPH).map(|v| (v, destination(v, round))).collect();
            graph.insert_edges(&edges).unwrap();
        }
        graph.compact().unwrap();
        graph.close().unwrap();
        disk.files()
    }))
}

/// Removes one edge from every `step`-th subgraph; returns the number of removed edges.
fn remove(graph: &Graph, step: u64, round: u64) -> hedgerow::Result<u64> {
    let subgraphs = (round % step..SUBGRAPHS).step_by(step as usize);
    graph
        .transact(3, |tx: &mut WriteTxn| {
            subgraphs.clone().map(|subgraph| subgraph * SUBGRAPH + round).try_fold(0, |removed, v| {
                Ok::<_, Error>(removed + u64::from(tx.remove_edge((v, destination(v, round)))?))
            })
        })
        .map(|(removed, _)| removed)
}

pub(crate) fn a_commit_to_many_subgraphs_has_room_for_all_of_them_made_at_once() {
    let disk = store();
    let fs = CountingFs::new(disk.handle());
    let counters = fs.counters();
    let graph = options().memory_limit(LEAST_MEMORY_LIMIT).open_on(Arc::new(fs)).unwrap();
    // The snapshot keeps the old versions of all changed lists, too.
    let held = graph.snapshot().unwrap();
    let edges = held.edge_count().unwrap();
    for round in 0..4 {
        let before = counters.read_bytes.load(Relaxed);
        assert_eq!(remove(&graph, STEP, round).unwrap(), SUBGRAPHS / STEP);
        let read = counters.read_bytes.load(Relaxed) - before;
        assert!(read <= MOST_READ, "{read} bytes read");
    }
    // A commit to all subgraphs needs more than the limit.
    let refused = remove(&graph, 1, 5);
    assert!(matches!(refused, Err(Error::Commit(CommitError::MemoryLimit { .. }))), "{refused:?}");
    assert_eq!(remove(&graph, SUBGRAPHS, 5).unwrap(), 1);
    assert_eq!(held.edge_count().unwrap(), edges);
}

/// Two commits begin at the same moment, and each changes one subgraph in each group of this size. These take
/// a quarter of the limit, and as much again once they are merged, with a delta for each.
const LARGE_STEP: u64 = 5;
const DELTA: u64 = 72 * 16;
const _: () =
    assert!((SUBGRAPHS / LARGE_STEP) * (2 * SUBGRAPH * EDGES * 12 + DELTA) > LEAST_MEMORY_LIMIT / 2);
/// The most bytes that both commits together may read from files; measured: 22 to 34 MB, with the
/// checkpoints.
const MOST_READ_BY_BOTH: u64 = 48 << 20;

/// Returns edges from one vertex to the next, within each `LARGE_STEP`-th subgraph.
fn within_subgraphs(residue: u64) -> impl Iterator<Item = (u64, u64)> {
    let subgraphs = (residue..SUBGRAPHS).step_by(LARGE_STEP as usize);
    subgraphs.map(|subgraph| (subgraph * SUBGRAPH + 7, subgraph * SUBGRAPH + 8))
}

/// Without pins (rule B3) each commit would evict the data that the other commit has read.
pub(crate) fn two_commits_that_need_more_than_half_of_the_memory_each_are_both_made() {
    let disk = store();
    let fs = CountingFs::new(disk.handle());
    let counters = fs.counters();
    let graph = options().memory_limit(LEAST_MEMORY_LIMIT).open_on(Arc::new(fs)).unwrap();
    let edges = graph.snapshot().unwrap().edge_count().unwrap();
    graph.internals().most_memory_used();
    let (begin, mut new) = (Barrier::new(2), 0);
    for residues in [[0, 1], [2, 3]] {
        let before = counters.read_bytes.load(Relaxed);
        std::thread::scope(|scope| {
            for residue in residues {
                let (graph, begin) = (&graph, &begin);
                scope.spawn(move || {
                    let mut tx = graph.write().unwrap();
                    tx.put_edges(within_subgraphs(residue)).unwrap();
                    begin.wait();
                    tx.commit().unwrap();
                });
            }
        });
        let read = counters.read_bytes.load(Relaxed) - before;
        let all = || residues.into_iter().flat_map(within_subgraphs);
        new += all().filter(|&(v, w)| !(0..EDGES).any(|round| destination(v, round) == w)).count() as u64;
        let snapshot = graph.snapshot().unwrap();
        assert!(all().all(|(v, w)| snapshot.contains_edge((v, w)).unwrap()));
        assert_eq!(snapshot.edge_count().unwrap(), edges + new);
        assert!(read <= MOST_READ_BY_BOTH, "{read} bytes read");
    }
    let most = graph.internals().most_memory_used();
    assert!(most <= LEAST_MEMORY_LIMIT, "{most} bytes");
}

/// The estimate counts lists again for each checkpoint that wrote them. So the later commits here need more
/// than the limit by the estimate, and less in truth. The commit before each of them fills half of the limit.
/// Its lists cannot leave memory before a checkpoint has written them.
pub(crate) fn a_commit_of_more_than_the_limit_by_estimate_waits_for_what_others_have_changed() {
    let graph = options().memory_limit(LEAST_MEMORY_LIMIT).open_on(store().handle()).unwrap();
    for round in 0..2 {
        for residue in 0..LARGE_STEP {
            let edges: Vec<_> = within_subgraphs(residue).map(|(v, w)| (v + round, w + round)).collect();
            let mut tx = graph.write().unwrap();
            tx.put_edges(edges).unwrap();
            tx.commit().unwrap();
        }
    }
    assert!(graph.check().unwrap().is_ok());
}

/// Case 10 of `docs/design/disk-cases.md`: during every read of a list, another commit changes the list, and
/// a checkpoint writes it, and the store evicts it.
pub(crate) fn a_commit_whose_list_changes_at_each_read_of_it_is_made() {
    for limit in [None, Some(LEAST_MEMORY_LIMIT)] {
        let (disk, busy) = (SimFs::new(), Arc::new(Mutex::new(None::<Graph>)));
        let others = busy.clone();
        let fs = with_calling_reads(disk.handle(), move || {
            let Some(graph) = others.lock().unwrap().clone() else { return };
            graph.put_edge((5_u64, 600)).unwrap();
            graph.remove_edge((5_u64, 600)).unwrap();
            graph.checkpoint().unwrap();
            graph.internals().evict().unwrap();
        });
        let options = options().checkpoint_log_bytes(0);
        let graph = limit.into_iter().fold(options, Options::memory_limit).open_on(fs).unwrap();
        let edges: Vec<(u64, u64)> = (0..640).map(|v| (v, (v + 1) % 640)).collect();
        graph.insert_edges(&edges).unwrap();
        graph.checkpoint().unwrap();
        assert!(graph.internals().evict().unwrap() > 0);
        *busy.lock().unwrap() = Some(graph.clone());
        assert!(graph.insert_edge((5_u64, 630)).unwrap(), "{limit:?}: what the commit has loaded stays");
        *busy.lock().unwrap() = None;
        assert!(graph.check().unwrap().is_ok());
    }
}
