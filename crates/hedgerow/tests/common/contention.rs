//! Transactions that conflict on the same edges.

use crate::common::weights::Weights;
use hedgerow::{Graph, Isolation, KeyKind};

/// Increments the weights of three edges from `threads` threads, and returns the number of committed
/// increments that are missing. Each thread calls `begin` first.
pub(crate) fn lost_updates(
    isolation: Isolation,
    threads: u64,
    increments: u64,
    begin: impl Fn() + Sync,
) -> u64 {
    let graph = crate::common::small().weighted(true).isolation(isolation).in_memory().unwrap();
    let sum = |s: &hedgerow::Snapshot| {
        (0..3u64).filter_map(|i| s.default_label().weight_between(i, i + 100).unwrap()).sum::<f64>() as u64
    };
    std::thread::scope(|scope| {
        for t in 0..threads {
            let (graph, begin) = (&graph, &begin);
            scope.spawn(move || {
                begin();
                for i in 0..increments {
                    let edge = (t + i) % 3;
                    let add = |tx: &mut hedgerow::WriteTxn| {
                        let w = tx.weight(edge, edge + 100)?.unwrap_or(0.0);
                        std::thread::yield_now();
                        tx.put_edge((edge, edge + 100, w + 1.0))
                    };
                    graph.transact(1_000_000, add).unwrap();
                }
            });
        }
    });
    (threads * increments).saturating_sub(sum(&graph.snapshot().unwrap()))
}

/// Runs transactions that read an edge before another transaction writes that edge. Other writes go to
/// neighboring edges, before and after that write. They are enough for the store to merge the record of the
/// change and to reclaim its version. Returns the number of transactions, and the number of those that
/// committed.
pub(crate) fn stale_reads(isolation: Isolation) -> (u64, u64) {
    let (mut tried, mut missed) = (0, 0);
    for before in 0..12 {
        for after in 0..24 {
            let options = crate::common::small().keys(KeyKind::Dense).weighted(true).isolation(isolation);
            let graph = options.background_settling(false).in_memory().unwrap();
            graph.put_edge((0, 100, 1.0)).unwrap();
            let mut tx = graph.write().unwrap();
            let read = tx.weight(0, 100).unwrap().unwrap_or(0.0);
            let beside = |graph: &Graph, i: u64| graph.put_edge((1, 200 + i, 1.0)).unwrap();
            (0..before).for_each(|i| _ = beside(&graph, i));
            graph.put_edge((0, 100, read + 1.0)).unwrap();
            (0..after).for_each(|i| _ = beside(&graph, before + i));
            tx.put_edge((0, 100, read + 1.0)).unwrap();
            tx.put_edge((500, 600, read)).unwrap();
            tried += 1;
            missed += u64::from(!tx.commit().is_err_and(|error| error.is_conflict()));
        }
    }
    (tried, missed)
}
