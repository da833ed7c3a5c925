//! The promise of each durability mode: a visible commit is durable under its mode, and `flush` makes commits
//! durable.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hedgerow::Durability;
use hedgerow_testkit::{Damage, FOR_EVER, SimFs, explored};

fn edges_after_crash(disk: &SimFs) -> u64 {
    let clone = disk.crash_clone(Damage::LoseAll, 0);
    crate::common::small().open_on(clone.handle()).unwrap().snapshot().unwrap().edge_count().unwrap()
}

/// Before a sync, no snapshot shows the commit; after it, every crash keeps it.
#[test]
fn what_a_snapshot_shows_is_durable() {
    let disk = SimFs::new();
    let graph = crate::common::small().open_on(disk.handle()).unwrap();
    let (seen, torn) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let (count, bad, reader) = (seen.clone(), torn.clone(), graph.clone());
    disk.set_observer(Some(Box::new(move |_, fs| {
        let shown = reader.snapshot().map_or(0, |s| s.edge_count().unwrap());
        let kept = edges_after_crash(fs);
        count.fetch_add(1, Ordering::Relaxed);
        bad.fetch_or(kept < shown, Ordering::Relaxed);
    })));
    for i in 0..40u64 {
        graph.insert_edge((i, i + 1)).unwrap();
        assert_eq!(graph.durable_ts(), graph.published_ts());
    }
    disk.set_observer(None);
    assert!(!torn.load(Ordering::Relaxed), "a snapshot showed what a crash took");
    explored("snapshots compared with a crash", seen.load(Ordering::Relaxed), 200);
}

#[test]
fn flush_makes_everything_before_it_durable() {
    let disk = SimFs::new();
    let graph = crate::common::small().durability(Durability::Manual).open_on(disk.handle()).unwrap();
    for i in 0..10u64 {
        graph.insert_edge((i, i + 1)).unwrap();
    }
    assert_eq!((graph.durable_ts().0, edges_after_crash(&disk)), (0, 0));
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 10);
    graph.flush().unwrap();
    assert_eq!((graph.durable_ts(), edges_after_crash(&disk)), (graph.published_ts(), 10));
    graph.insert_edge((50, 51)).unwrap();
    graph.checkpoint().unwrap();
    assert_eq!(edges_after_crash(&disk), 11);
}

#[test]
fn a_group_is_durable_within_its_interval() {
    let disk = SimFs::new();
    let interval = Duration::from_millis(5);
    let graph =
        crate::common::small().durability(Durability::Group(interval)).open_on(disk.handle()).unwrap();
    let ts = graph.transact(0, |tx| tx.put_edge((1, 2))).unwrap().1;
    let began = Instant::now();
    while graph.durable_ts() < ts {
        assert!(began.elapsed() < FOR_EVER, "the group is never synced");
        std::thread::sleep(interval);
    }
    assert_eq!(edges_after_crash(&disk), 1);
}
