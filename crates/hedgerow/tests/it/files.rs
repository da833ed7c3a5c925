//! The effect of opening, closing and checkpoints on the files of a store.

use hedgerow::{Error, KeyKind, Options, StateError};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};

fn options() -> Options {
    crate::common::small().keys(KeyKind::Dense).log_segment_bytes(4096).background_settling(false)
}

fn logs(disk: &SimFs) -> usize {
    disk.files().keys().filter(|name| name.ends_with(".wal")).count()
}

#[test]
fn openings_that_write_nothing_leave_no_log_segments_behind() {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    graph.insert_edge((1, 2)).unwrap();
    graph.close().unwrap();
    drop(graph);
    for _ in 0..5 {
        let graph = options().open_on(disk.handle()).unwrap();
        assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 1);
        graph.close().unwrap();
    }
    assert!(logs(&disk) <= 2, "{:?}", disk.files().keys());
}

/// After a failed sync of the directory, its state after a crash is unknown: the store acknowledges no more
/// writes.
#[test]
fn a_failed_sync_of_the_directory_in_a_checkpoint_poisons() {
    let mut poisoned = 0;
    for at in 0..40 {
        let disk = SimFs::new();
        let graph = options().open_on(disk.handle()).unwrap();
        graph.insert_edge((1, 2)).unwrap();
        let fault = Fault {
            class: FaultClass::Change,
            at: disk.op_count() + at,
            site: Some("sync_dir:dir"),
            repeat: Repeat::Once,
            errno: errno::EIO,
        };
        disk.plan_fault(fault);
        let checkpoint = graph.checkpoint();
        disk.clear_faults();
        let after = graph.insert_edge((3, 4));
        if checkpoint.is_err() || after.is_err() {
            assert!(
                matches!(after, Err(Error::State(StateError::Poisoned))),
                "{checkpoint:?}, then {after:?}"
            );
            poisoned += 1;
        }
        drop(graph);
        let graph = options().open_on(disk.handle()).unwrap();
        assert!(graph.snapshot().unwrap().contains_edge((1, 2)).unwrap());
        assert!(graph.check().unwrap().is_ok());
    }
    assert!(poisoned >= 2, "{poisoned} of the syncs of a checkpoint failed");
}

/// Removed vertices at the end of the id range stay removed, though older files of a checkpoint still show
/// them.
#[test]
fn removed_vertices_at_the_end_do_not_come_back() {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    let mut tx = graph.write().unwrap();
    (0..1000u64).for_each(|v| _ = tx.insert_vertex(v).unwrap());
    tx.commit().unwrap();
    graph.checkpoint().unwrap();
    let mut tx = graph.write().unwrap();
    (100..1000u64).for_each(|v| _ = tx.remove_vertex(v).unwrap());
    tx.commit().unwrap();
    graph.checkpoint().unwrap();
    graph.close().unwrap();
    drop(graph);
    for round in 0..12u64 {
        let graph = options().open_on(disk.handle()).unwrap();
        assert_eq!(graph.snapshot().unwrap().vertex_count(), 100 + round, "round {round}");
        let mut tx = graph.write().unwrap();
        tx.insert_vertex(100 + round).unwrap();
        tx.commit().unwrap();
        graph.checkpoint().unwrap();
        assert!(graph.check().unwrap().is_ok());
        graph.close().unwrap();
    }
}

#[test]
fn a_store_that_was_removed_while_open_leaves_nothing_behind() {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    graph.insert_edge((1, 2)).unwrap();
    disk.files().keys().for_each(|name| assert!(disk.remove(name)));
    drop(graph);
    assert!(disk.files().is_empty(), "{:?}", disk.files().keys());
}
