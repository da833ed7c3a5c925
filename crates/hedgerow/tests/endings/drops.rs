//! Drops of snapshots while commits hold latches and wait for a disk that does not answer.

use std::sync::mpsc;

use hedgerow::{Direction, Graph, KeyKind, Options, Snapshot, VertexId};
use hedgerow_testkit::{FOR_EVER, SimFs, explored, wait_until};

use crate::common::gated::gated;

const SNAPSHOTS: usize = 1_000;
/// The number of vertices. All are in one subgraph, so the waiting commits hold the latches of the versions
/// that a snapshot keeps.
const VERTICES: u64 = 64;
const WRITERS: u64 = 4;

/// Commits edges that no call with another `n` makes.
fn put_some(graph: &Graph, n: u64) -> hedgerow::Result<()> {
    let mut tx = graph.write()?;
    (0..20).try_for_each(|i| tx.put_edge(((n + i) % VERTICES, VERTICES + n)))?;
    tx.commit().map(drop)
}

/// Opens snapshots between commits, so that each keeps versions that the other snapshots do not need.
fn held(graph: &Graph) -> Vec<Snapshot> {
    let open = |n| {
        put_some(graph, n as u64).expect("the disk answers");
        graph.snapshot().expect("open")
    };
    (0..SNAPSHOTS).map(open).collect()
}

/// Opens the store on a disk with a gate and makes snapshots. Then closes the gate, and drops the snapshots
/// while every writer waits.
fn drop_beside_a_disk_that_does_not_answer(background: bool) {
    let (fs, gate) = gated(SimFs::new().handle());
    let options = Options::new().keys(KeyKind::Dense).max_unsynced_bytes(0).background_settling(background);
    let graph = options.open_on(fs).expect("a new store");
    let held = held(&graph);
    let kept = graph.stats().expect("open").old_version_bytes;
    assert!(kept > 0, "the snapshots keep versions");
    gate.close();
    let waits = graph.stats().expect("open").commit_waits;
    std::thread::scope(|scope| {
        for n in 0..WRITERS {
            let graph = &graph;
            scope.spawn(move || {
                let own = (SNAPSHOTS as u64 + 10 * n)..;
                own.take(5).for_each(|n| put_some(graph, n).expect("the gate is opened in the end"));
            });
        }
        // One commit syncs, and another commit waits in the ordering section with its latches.
        wait_until("a commit that waits", || graph.stats().is_ok_and(|stats| stats.commit_waits > waits));
        let (done, wait) = mpsc::channel();
        let last = scope.spawn(move || {
            for snapshot in held {
                snapshot.default_label().for_each_neighbor(VertexId(1), Direction::Out, |_, _| ()).unwrap();
                drop(snapshot);
            }
            let _ = done.send(());
        });
        let dropped = wait.recv_timeout(FOR_EVER);
        gate.open();
        assert_eq!(dropped, Ok(()), "a snapshot that is dropped waits for a commit");
        last.join().expect("no thread panics");
    });
    // The store still frees the versions that the snapshots kept.
    wait_until("the end of what the snapshots kept", || {
        put_some(&graph, 2 * SNAPSHOTS as u64).expect("the disk answers");
        graph.stats().is_ok_and(|stats| stats.old_version_bytes < kept / 10)
    });
    explored("snapshots dropped while commits wait for the disk", SNAPSHOTS as u64, 1_000);
}

#[test]
fn dropping_a_snapshot_never_waits_for_a_commit() {
    drop_beside_a_disk_that_does_not_answer(true);
}

#[test]
fn dropping_a_snapshot_never_waits_for_a_commit_without_a_thread_in_the_background() {
    drop_beside_a_disk_that_does_not_answer(false);
}
