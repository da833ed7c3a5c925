//! Settling, by request and in the background: it changes the layout, not the content.

use std::time::Duration;

use hedgerow::{Direction, Graph, KeyKind, Snapshot, Stats};
use hedgerow_testkit::{SimFs, wait_until};
use hedgerow_workload::rng::Rng;

const VERTICES: u64 = 500;

/// Inserts and removes edges; returns the most entries of deltas that it saw meanwhile.
fn fill(graph: &Graph, edges: usize) -> u64 {
    let (mut rng, mut entries) = (Rng::new(11), 0);
    for n in 0..edges {
        let (u, v) = (rng.below(VERTICES), rng.below(VERTICES));
        if rng.below(5) == 0 {
            graph.remove_edge((u, v)).unwrap();
        } else {
            graph.insert_edge((u, v)).unwrap();
        }
        if n % 512 == 511 {
            entries = entries.max(graph.stats().unwrap().delta_entries);
        }
    }
    entries
}

fn content(snapshot: &Snapshot) -> Vec<Vec<u64>> {
    let keys = |v| snapshot.neighbors(v, Direction::Out).unwrap().unwrap_or_default().into_iter();
    (0..VERTICES).map(|v| keys(v).map(|key| format!("{key:?}").len() as u64).collect()).collect()
}

#[test]
fn idle_subgraphs_are_settled_in_the_background_and_read_the_same() {
    let graph = crate::common::small().directed(false).keys(KeyKind::Dense).in_memory().unwrap();
    // `fill` reads this number while it writes: if this thread stops for a while, all deltas may be settled
    // by now.
    assert!(fill(&graph, 20_000) > 0);
    let old = graph.snapshot().unwrap();
    let before = content(&old);
    wait_until("the end of settling", || graph.stats().unwrap().delta_entries == 0);
    assert_eq!(content(&old), before);
    assert_eq!(content(&graph.snapshot().unwrap()), before);
    assert!(graph.check().unwrap().is_ok());
}

#[test]
fn a_store_can_be_opened_again_at_once_whatever_settles_in_the_background() {
    let disk = SimFs::new();
    for round in 0..40 {
        let graph = crate::common::small().keys(KeyKind::Dense).open_on(disk.handle()).unwrap();
        fill(&graph, 300 + round);
        // A drop of the last handle closes the store, also while the thread works.
        std::thread::sleep(Duration::from_millis(round as u64 * 3));
    }
}

/// Returns the figures once no walk of another test in the same process delays the release of old versions.
fn without_old_versions(graph: &Graph) -> Stats {
    let mut stats = graph.stats().unwrap();
    wait_until("the end of old versions", || {
        stats = graph.stats().unwrap();
        stats.old_version_bytes == 0
    });
    stats
}

#[test]
fn the_accounts_explain_every_byte_of_the_arena() {
    for weighted in [false, true] {
        let options =
            crate::common::small().keys(KeyKind::Dense).weighted(weighted).background_settling(false);
        let graph = options.in_memory().unwrap();
        fill(&graph, 30_000);
        for settled in [false, true] {
            if settled {
                graph.settle().unwrap();
            }
            let stats = without_old_versions(&graph);
            assert_eq!(stats.arena_block_bytes, stats.arena_bytes - stats.arena_free_bytes);
            assert!(stats.arena_bytes > 100_000 && stats.arena_free_bytes < stats.arena_bytes);
        }
    }
}
