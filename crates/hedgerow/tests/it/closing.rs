//! The checkpoint at a close: `close` writes it if it costs less than the replay that it saves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hedgerow::{Durability, Graph, KeyKind, LEAST_MEMORY_LIMIT, Options};
use hedgerow_testkit::{Damage, SimFs};

use crate::common;

/// A number of edges whose replay takes longer than their checkpoint, and a number whose replay takes less
/// time.
const MANY: u64 = 200_000;
const FEW: u64 = 1_000;

fn options() -> Options {
    Options::new().keys(KeyKind::Dense).background_settling(false)
}

/// Commits the next `edges` edges of a graph in which each vertex has ten.
fn put(graph: &Graph, edges: u64) {
    let from = graph.snapshot().unwrap().edge_count().unwrap();
    let edges: Vec<(u64, u64)> = (from..from + edges).map(|n| (n / 10, n * 7_919 % 20_011)).collect();
    graph.insert_edges(&edges).unwrap();
}

fn segments(disk: &SimFs) -> usize {
    disk.files().keys().filter(|name| name.ends_with(".csr")).count()
}

fn log_bytes(disk: &SimFs) -> usize {
    disk.files().iter().filter(|(name, _)| name.ends_with(".wal")).map(|(_, bytes)| bytes.len()).sum()
}

/// Opens the store, checks that it has `edges` edges, and leaves its files as they are.
fn holds(disk: &SimFs, edges: u64) {
    let graph = options().read_only(true).open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), edges);
    common::sound(&graph).unwrap();
}

#[test]
fn a_long_log_becomes_a_checkpoint_when_the_program_closes_the_store() {
    for durability in [Durability::Sync, Durability::Manual, Durability::Group(Duration::from_secs(3_600))] {
        let disk = SimFs::new();
        let graph = options().durability(durability).open_on(disk.handle()).unwrap();
        put(&graph, MANY);
        // Other handles are closed too, and snapshots stay readable.
        let (other, held) = (graph.clone(), graph.snapshot().unwrap());
        graph.close().unwrap();
        assert!(other.write().is_err() && held.edge_count().unwrap() == MANY);
        assert!(held.contains_edge((0_u64, 7_919_u64)).unwrap());
        assert!(segments(&disk) == 1 && log_bytes(&disk) < 10_000, "{durability:?}");
        holds(&disk.crash_clone(Damage::LoseAll, 1), MANY);
        // The log has nothing new, so the close writes no checkpoint.
        let graph = options().open_on(disk.handle()).unwrap();
        graph.close().unwrap();
        graph.close().unwrap();
        assert!(segments(&disk) == 1 && graph.checkpoint_error().is_none());
        holds(&disk, MANY);
    }
}

#[test]
fn a_log_that_is_replayed_sooner_than_a_checkpoint_is_written_stays() {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    put(&graph, FEW);
    graph.close().unwrap();
    assert!(segments(&disk) == 0 && log_bytes(&disk) > 2_000);
    holds(&disk, FEW);
}

/// The other ways to end leave a log of many edges to the next opening, without a checkpoint.
#[test]
fn only_a_call_of_close_writes_a_checkpoint_and_only_where_the_options_want_some() {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    put(&graph, MANY);
    drop(graph);
    assert_eq!(segments(&disk), 0, "the drop of the last handle");
    let graph = options().read_only(true).open_on(disk.handle()).unwrap();
    graph.close().unwrap();
    assert_eq!(segments(&disk), 0, "a store that is only read");
    let graph = options().checkpoint_log_bytes(0).open_on(disk.handle()).unwrap();
    graph.close().unwrap();
    assert_eq!(segments(&disk), 0, "no checkpoints but those that the program requests");
    // A close also counts the log that earlier openings left.
    options().open_on(disk.handle()).unwrap().close().unwrap();
    assert_eq!(segments(&disk), 1);
    holds(&disk, MANY);
}

#[test]
fn a_poisoned_store_is_closed_without_a_checkpoint() {
    use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    put(&graph, MANY);
    let (class, repeat) = (FaultClass::Change, Repeat::Once);
    disk.plan_fault(Fault { class, at: 0, site: Some("sync_data:wal"), repeat, errno: errno::EIO });
    assert!(graph.insert_edge((1, 900_u64)).is_err());
    disk.clear_faults();
    assert!(graph.close().is_err() && graph.close().is_err());
    assert_eq!(segments(&disk), 0);
    drop(options().open_on(disk.handle()).unwrap());
}

/// If the disk has no room for the checkpoint, `close` still seals the log, and a program can open the
/// directory again at once.
#[test]
fn a_full_disk_leaves_the_log_to_the_next_opening() {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    put(&graph, MANY);
    disk.set_quota(Some(disk.used_bytes() + 10_000));
    graph.close().unwrap();
    let why = graph.checkpoint_error().expect("a reason");
    assert!(why.contains("full") || why.contains("space"), "{why}");
    assert_eq!(segments(&disk), 0, "what was begun is removed");
    assert!(graph.close().is_ok(), "closing again says the same");
    disk.set_quota(None);
    holds(&disk.crash_clone(Damage::LoseAll, 1), MANY);
    let graph = options().open_on(disk.handle()).unwrap();
    graph.close().unwrap();
    assert!(segments(&disk) == 1 && graph.checkpoint_error().is_none());
    holds(&disk, MANY);
}

/// The caller cancels the checkpoint: before it begins, or once its file exists. `close` removes the
/// unfinished file.
#[test]
fn a_checkpoint_that_is_not_wanted_any_more_ends_without_effect() {
    for moment in [None, Some("create:csr")] {
        let disk = SimFs::new();
        let graph = options().open_on(disk.handle()).unwrap();
        put(&graph, MANY);
        let (seen, closing) = (Arc::new(AtomicU64::new(0)), graph.clone());
        if let Some(moment) = moment {
            let seen = seen.clone();
            disk.set_observer(Some(Box::new(move |event, _| {
                if &*event.site == moment {
                    seen.fetch_add(1, Ordering::Relaxed);
                    closing.internals().skip_checkpoint_at_close();
                }
            })));
        } else {
            graph.internals().skip_checkpoint_at_close();
        }
        graph.close().unwrap();
        disk.set_observer(None);
        assert_eq!(seen.load(Ordering::Relaxed) > 0, moment.is_some(), "the checkpoint had begun");
        assert_eq!((segments(&disk), graph.checkpoint_error()), (0, None), "{moment:?}");
        holds(&disk, MANY);
    }
}

/// The buffers of the checkpoint fit the memory limit, however much is loaded.
#[test]
fn closing_stays_within_the_memory_limit() {
    let disk = SimFs::new();
    let limited = || options().memory_limit(LEAST_MEMORY_LIMIT).durability(Durability::Manual);
    let graph = limited().open_on(disk.handle()).unwrap();
    for _ in 0..40 {
        put(&graph, MANY / 8);
    }
    graph.internals().most_memory_used();
    graph.close().unwrap();
    assert_eq!(graph.checkpoint_error(), None);
    let most = graph.internals().most_memory_used();
    assert!(most <= LEAST_MEMORY_LIMIT, "{most} bytes");
    assert!(segments(&disk) > 0 && log_bytes(&disk) < 1 << 20, "{} bytes of log", log_bytes(&disk));
    let graph = limited().open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 5 * MANY);
}
