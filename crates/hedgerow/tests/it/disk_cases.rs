//! Cases in which a plausible design of a graph on disk goes wrong. The tests cover the cases that this
//! design can meet; `docs/design/disk-cases.md` lists all cases.

use std::sync::mpsc;

use hedgerow::{
    CommitError, Direction, Durability, EdgeKey, Error, Graph, KeyKind, LabelOptions, Options, Resident,
};
use hedgerow_testkit::{FOR_EVER, SimFs};

use crate::common;
use crate::common::gated::with_gated_reads;

fn options() -> Options {
    let options = common::small().keys(KeyKind::Dense).durability(Durability::Manual);
    options.background_settling(false).checkpoint_log_bytes(0)
}

/// Makes a ring of 640 vertices, each also with an edge of another label, and evicts all of it.
fn evicted(disk: &SimFs) -> Graph {
    let graph = options().open_on(disk.handle()).unwrap();
    fill(&graph);
    graph
}

fn fill(graph: &Graph) {
    graph.define_label("calls", LabelOptions::new()).unwrap();
    let edges: Vec<(u64, u64)> = (0..640).map(|v| (v, (v + 1) % 640)).collect();
    graph.insert_edges(&edges).unwrap();
    let mut tx = graph.write().unwrap();
    for &(a, b) in &edges {
        tx.put_edge_with(EdgeKey::new("calls", a, b), [("n", 1)]).unwrap();
    }
    tx.commit().unwrap();
    checkpoint_and_evict(graph);
}

fn checkpoint_and_evict(graph: &Graph) -> usize {
    graph.checkpoint().unwrap();
    graph.internals().evict().unwrap()
}

/// Case 1: the store does not take an evicted list for an empty or unchanged list.
#[test]
fn an_evicted_list_is_neither_empty_nor_unchanged() {
    let disk = SimFs::new();
    let graph = evicted(&disk);
    assert!(!graph.insert_edge((5_u64, 6)).unwrap(), "it exists");
    assert!(graph.remove_edge((6_u64, 7)).unwrap(), "it exists");
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 1279);
    // T reads an edge, another commit removes it, and the store evicts the changed lists.
    let mut txn = graph.write().unwrap();
    assert!(txn.contains_edge((100_u64, 101)).unwrap());
    assert!(graph.remove_edge((100_u64, 101)).unwrap());
    checkpoint_and_evict(&graph);
    txn.put_edge((300_u64, 301)).unwrap();
    let refused = txn.commit();
    assert!(matches!(refused, Err(Error::Commit(CommitError::Conflict { .. }))), "{refused:?}");
    // The removal of a vertex also removes its edges of labels that are not in memory. They do not come back
    // with the id of the vertex.
    checkpoint_and_evict(&graph);
    graph.transact(0, |tx| tx.remove_vertex(200_u64)).unwrap();
    checkpoint_and_evict(&graph);
    graph.transact(0, |tx| tx.insert_vertex(200_u64)).unwrap();
    let snapshot = graph.snapshot().unwrap();
    for direction in [Direction::Out, Direction::In] {
        assert_eq!(snapshot.degree(200_u64, ("", direction)).unwrap(), Some(0));
        assert_eq!(snapshot.edge_list(200_u64, ("calls", direction)).unwrap().map(|n| n.len()), Some(0));
    }
    drop(snapshot);
    assert!(graph.check().unwrap().is_ok());
}

/// Case 3: a reader that is older than a change finds its own state after any eviction and load.
#[test]
fn a_reader_older_than_a_change_finds_what_it_saw() {
    let disk = SimFs::new();
    let graph = evicted(&disk);
    let old = graph.snapshot().unwrap();
    for round in 0..4_u64 {
        for v in (0..640).step_by(5) {
            graph.insert_edge((v, (v + 10 + round) % 640)).unwrap();
        }
        checkpoint_and_evict(&graph);
        let new = graph.snapshot().unwrap();
        for v in 0..640_u64 {
            assert_eq!(
                old.neighbors(v, ("", Direction::Out)).unwrap().map(|n| n.len()),
                Some(1),
                "vertex {v}"
            );
            let now = 1 + if v.is_multiple_of(5) { round as usize + 1 } else { 0 };
            assert_eq!(new.degree(v, ("", Direction::Out)).unwrap(), Some(now), "vertex {v}");
        }
        drop(new);
        // The chains that have older versions for the old reader stay in memory; the store evicts the rest.
        checkpoint_and_evict(&graph);
    }
    drop(old);
    // A commit frees the versions that the reader kept.
    graph.insert_edge((1_u64, 9)).unwrap();
    assert!(checkpoint_and_evict(&graph) > 0, "what only the reader held goes");
}

/// Case 3, where the state of the reader is in files alone. Chains that come back into memory and change
/// again do not affect this reader.
#[test]
fn a_reader_older_than_a_change_finds_what_it_saw_in_files() {
    let disk = SimFs::new();
    let graph = evicted(&disk);
    let mut held = Vec::new();
    for round in 0..5_u64 {
        held.push((round, graph.snapshot().unwrap()));
        for v in (0..640).step_by(5) {
            graph.insert_edge((v, (v + 10 + round) % 640)).unwrap();
        }
        graph.checkpoint().unwrap();
        graph.internals().write_page_versions().unwrap();
        assert!(graph.internals().evict().unwrap() >= 10, "what readers hold goes");
        // A later reader loads some chains, a writer loads others.
        let new = graph.snapshot().unwrap();
        (0..200_u64).for_each(|v| _ = new.degree(v, ("", Direction::Out)).unwrap());
        assert!(graph.insert_edge((1_u64, 300 + round)).unwrap());
        for (then, old) in &held {
            for v in 0..640_u64 {
                let more = if v.is_multiple_of(5) { *then as usize } else { 0 };
                let own = if v == 1 { *then as usize } else { 0 };
                assert_eq!(old.degree(v, ("", Direction::Out)).unwrap(), Some(1 + more + own), "vertex {v}");
            }
            assert_eq!(old.edge_count().unwrap(), 640 * 2 + then * 129);
        }
        // The snapshots do not close in the order of their opening.
        if round % 2 == 1 {
            held.remove(0);
        }
    }
}

/// Case 11: the data that the transaction read is in files alone.
#[test]
fn a_transaction_is_refused_whose_reads_are_in_files_alone() {
    let disk = SimFs::new();
    let graph = evicted(&disk);
    let mut txn = graph.write().unwrap();
    assert!(txn.contains_edge((100_u64, 101)).unwrap());
    assert!(graph.remove_edge((100_u64, 101)).unwrap());
    graph.checkpoint().unwrap();
    graph.internals().write_page_versions().unwrap();
    assert!(graph.internals().evict().unwrap() > 0);
    assert!(txn.contains_edge((100_u64, 101)).unwrap(), "it sees what it saw");
    graph.insert_edge((102_u64, 99)).unwrap();
    txn.put_edge((300_u64, 301)).unwrap();
    let refused = txn.commit();
    assert!(matches!(refused, Err(Error::Commit(CommitError::Conflict { .. }))), "{refused:?}");
}

/// Cases 6 and 7: a thread that reads a file holds no latch. While the reads of a commit wait, other threads
/// commit to the same subgraph.
#[test]
fn a_commit_that_reads_files_holds_no_latch() {
    let disk = SimFs::new();
    let (fs, gate) = with_gated_reads(disk.handle());
    let graph = options().open_on(fs).unwrap();
    fill(&graph);
    // The edges of the default label of the first subgraph are in memory, its edges of the other label are
    // not.
    assert_eq!(graph.snapshot().unwrap().degree(3_u64, ("", Direction::Out)).unwrap(), Some(1));
    assert_eq!(graph.snapshot().unwrap().degree(10_u64, ("", Direction::In)).unwrap(), Some(1));
    std::thread::scope(|scope| {
        gate.close();
        let removal = scope.spawn(|| graph.transact(0, |tx| tx.remove_vertex(3_u64)).map(drop));
        let reads = gate.is_waited_at() && !removal.is_finished();
        let (said, heard) = mpsc::channel();
        let other = graph.clone();
        scope.spawn(move || said.send(other.insert_edge((10_u64, 12))));
        let committed = heard.recv_timeout(FOR_EVER);
        gate.open();
        assert!(reads, "it reads the edges of the label");
        assert!(committed.expect("nobody holds the latch").unwrap());
        removal.join().unwrap().unwrap();
    });
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 1280 - 4 + 1);
    assert!(graph.check().unwrap().is_ok());
}

/// Case 9: a view keeps the data that it read, although commits change it, and the store writes and evicts
/// it.
#[test]
fn a_view_keeps_what_it_read() {
    let disk = SimFs::new();
    let graph = evicted(&disk);
    let snapshot = graph.snapshot().unwrap();
    let view = snapshot.default_label().view().unwrap();
    for round in 0..3_u64 {
        for v in 0..640_u64 {
            graph.insert_edge((v, (v + 20 + round) % 640)).unwrap();
        }
        checkpoint_and_evict(&graph);
        for v in 0..640_u32 {
            let mut found: Vec<u32> = Vec::new();
            let v = hedgerow::VertexId(v);
            found.extend(Resident::neighbors(view, v, Direction::Out).into_iter().map(|other| other.0));
            assert_eq!(found, [(v.0 + 1) % 640], "vertex {v:?} in round {round}");
        }
    }
    drop(snapshot);
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 5 * 640);
    assert!(graph.check().unwrap().is_ok());
}

/// Case 4: a relink of a cooling list hides no write to that list, and no write is lost with it.
#[test]
fn a_list_that_is_cooling_hides_no_write_and_loses_none() {
    let disk = SimFs::new();
    let graph = evicted(&disk);
    let degree = |v: u64| graph.snapshot().unwrap().degree(v, ("", Direction::Out)).unwrap();
    let mut expected = [1; 640];
    for round in 0..6_u64 {
        (0..640).for_each(|v| assert_eq!(degree(v), Some(expected[v as usize])));
        graph.checkpoint().unwrap();
        graph.internals().cool().unwrap();
        // Each of the ways of a commit writes to some lists while they cool; the test reads some.
        for v in (0..640).step_by(7) {
            expected[v as usize] += 1;
            let edge = (v, (v + 20 + round) % 640);
            match round % 3 {
                0 => assert!(graph.insert_edge((edge.0, edge.1)).unwrap()),
                1 => assert!(graph.transact(0, |tx| tx.insert_edge((edge.0, edge.1))).unwrap().0),
                _ => assert_eq!(graph.insert_edges([edge]).unwrap(), 1),
            }
        }
        (0..640).step_by(3).for_each(|v| assert_eq!(degree(v), Some(expected[v as usize])));
        // Either the store evicts the lists that still cool, and changed lists stay. Or all lists cool once
        // more, and are linked again.
        if round % 2 == 0 {
            checkpoint_and_evict(&graph);
        } else {
            graph.checkpoint().unwrap();
            graph.internals().cool().unwrap();
        }
    }
    common::account::check(&graph).unwrap();
    assert!(graph.check().unwrap().is_ok());
}

/// Case 10: reads load a list that changes all the time, and commits write to it.
#[test]
fn a_hot_list_starves_nobody() {
    a_hot_list_beside(checkpoint_and_evict);
}

/// The same case with a list that cools.
#[test]
fn a_hot_list_that_cools_starves_nobody() {
    a_hot_list_beside(|graph| {
        graph.checkpoint().unwrap();
        graph.internals().cool().unwrap()
    });
}

fn a_hot_list_beside(evict: fn(&Graph) -> usize) {
    let disk = SimFs::new();
    let graph = evicted(&disk);
    let over = std::sync::atomic::AtomicBool::new(false);
    let is_over = || over.load(std::sync::atomic::Ordering::Relaxed);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over() {
                evict(&graph);
            }
        });
        scope.spawn(|| {
            for n in (0..640_u64).cycle().take_while(|_| !is_over()) {
                graph.put_edge((0_u64, n)).unwrap();
                graph.remove_edge((0_u64, n)).unwrap();
            }
        });
        for round in 0..300_u64 {
            let degree = graph.snapshot().unwrap().degree(0_u64, ("", Direction::Out)).unwrap();
            assert!(degree.is_some_and(|degree| degree <= 2), "{degree:?}");
            graph.put_edge((1_u64, 2 + round % 600)).unwrap();
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(graph.check().unwrap().is_ok());
}
