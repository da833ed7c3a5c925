//! Threads that fight over the same edges.

use hedgerow::{Isolation, Options};

/// Counts on three edges from `threads` threads, and returns how many of the increments that committed are missing.
/// Each thread calls `begin` first.
pub(crate) fn lost_updates(
    isolation: Isolation,
    threads: u64,
    increments: u64,
    begin: impl Fn() + Sync,
) -> u64 {
    let graph = Options::new().weighted(true).isolation(isolation).in_memory().unwrap();
    let sum = |s: &hedgerow::Snapshot| (0..3u64).filter_map(|i| s.weight(i, i + 100)).sum::<f64>() as u64;
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
                        tx.put_weighted_edge(edge, edge + 100, w + 1.0)
                    };
                    graph.transact(1_000_000, add).unwrap();
                }
            });
        }
    });
    (threads * increments).saturating_sub(sum(&graph.snapshot().unwrap()))
}
