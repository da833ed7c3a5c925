//! Concurrent threads: no lost update, no write skew, no torn snapshot.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hedgerow::{Direction, Graph, Isolation, Snapshot, VertexKey, WriteTxn};
use hedgerow_testkit::explored;
use hedgerow_testkit::sim_fs::SplitMix64;

use crate::common;
use crate::common::weights::Weights;

const RETRIES: u32 = 1_000_000;
/// The least number of snapshots that a test looks at.
const LOOKS: u64 = 10;

/// Sets the flag when it is dropped, also by a panic.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs `write` on `threads` threads while one more thread looks at snapshots; returns the number of
/// snapshots. If that thread does not get a processor, `write` runs again, until the thread has seen enough
/// snapshots concurrent with it.
fn watched(
    graph: &Graph,
    threads: u64,
    write: impl Fn(&Graph, u64) + Sync,
    look: impl Fn(&Snapshot) + Sync,
) -> u64 {
    let (done, seen, gone) = (AtomicBool::new(false), AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _gone = End(&gone);
            while !done.load(Ordering::Acquire) {
                look(&graph.snapshot().expect("a snapshot never fails"));
                seen.fetch_add(1, Ordering::Relaxed);
            }
        });
        let writers: Vec<_> = (0..threads)
            .map(|t| {
                let (write, seen, gone) = (&write, &seen, &gone);
                scope.spawn(move || {
                    write(graph, t);
                    while seen.load(Ordering::Relaxed) < LOOKS && !gone.load(Ordering::Acquire) {
                        write(graph, t);
                    }
                })
            })
            .collect();
        let ended: Vec<_> = writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Release);
        ended.into_iter().for_each(|e| e.expect("a writer"));
    });
    let report = graph.check().expect("a check");
    assert!(report.is_ok(), "{report:?}");
    seen.into_inner()
}

#[test]
fn no_update_is_lost() {
    for isolation in [Isolation::Serializable, Isolation::Snapshot] {
        // Several short runs: the first increment of an edge that does not exist yet is the hardest case.
        for _ in 0..20 {
            assert_eq!(common::contention::lost_updates(isolation, 4, 100, || ()), 0, "{isolation:?}");
        }
    }
    explored("contended increments", 16_000, 16_000);
}

#[test]
fn a_stale_read_is_found_however_much_was_merged_since() {
    for isolation in [Isolation::Serializable, Isolation::Snapshot] {
        let (tried, missed) = common::contention::stale_reads(isolation);
        assert_eq!(missed, 0, "{isolation:?}");
        explored(&format!("stale reads among merges under {isolation:?}"), tried, 288);
    }
}

/// Returns the balance of account `i`: the weight of its self-loop.
fn balance(tx: &mut WriteTxn, i: u64) -> hedgerow::Result<f64> {
    Ok(tx.weight(i, i)?.unwrap_or(0.0))
}

#[test]
fn every_snapshot_of_a_bank_has_the_same_sum() {
    for isolation in [Isolation::Serializable, Isolation::Snapshot] {
        let graph = crate::common::small().weighted(true).isolation(isolation).in_memory().unwrap();
        let mut tx = graph.write().unwrap();
        (0..200u64).for_each(|i| tx.put_edge((i, i, 100.0)).unwrap());
        tx.commit().unwrap();
        let transfer = |graph: &Graph, t: u64| {
            let mut rng = SplitMix64::new(t);
            for _ in 0..2_000 {
                let (from, to, amount) = (rng.below(200), rng.below(200), rng.below(9) as f64);
                let mut moves = |tx: &mut WriteTxn| {
                    let (a, b) = (balance(tx, from)?, balance(tx, to)?);
                    if from != to {
                        tx.put_edge((from, from, a - amount))?;
                        tx.put_edge((to, to, b + amount))?;
                    }
                    Ok(())
                };
                graph.transact(RETRIES, &mut moves).unwrap();
            }
        };
        let look = |s: &Snapshot| {
            let mut sum = 0.0;
            s.default_label().for_each_edge(|_, _, w| sum += w).unwrap();
            assert_eq!(sum, 20_000.0, "{isolation:?} at {}", s.timestamp());
        };
        let seen = watched(&graph, 3, transfer, look);
        explored(&format!("snapshots of the bank under {isolation:?}"), seen, LOOKS);
    }
}

/// Two transactions read that an edge is absent, and write the same edge. The second one changes nothing, but
/// its read is stale.
#[test]
fn a_write_that_changes_nothing_does_not_excuse_a_stale_read() {
    for isolation in [Isolation::Serializable, Isolation::Snapshot] {
        let graph = crate::common::small().weighted(true).isolation(isolation).in_memory().unwrap();
        let (mut one, mut two) = (graph.write().unwrap(), graph.write().unwrap());
        for tx in [&mut one, &mut two] {
            assert_eq!(tx.weight(1, 2).unwrap(), None);
            tx.put_edge((1, 2, 1.0)).unwrap();
        }
        one.commit().unwrap();
        assert!(two.commit().unwrap_err().is_conflict(), "{isolation:?}");
        let (mut one, mut two) = (graph.write().unwrap(), graph.write().unwrap());
        assert!(one.insert_edge((7, 8)).unwrap() && two.insert_edge((7, 8)).unwrap());
        one.commit().unwrap();
        assert!(two.commit().unwrap_err().is_conflict(), "both say that the edge was new: {isolation:?}");
    }
}

/// Two transactions read both edges of a pair, and each writes one of them. Both may commit only under
/// snapshot isolation.
#[test]
fn write_skew_is_possible_under_snapshot_isolation_only() {
    for (isolation, possible) in [(Isolation::Serializable, false), (Isolation::Snapshot, true)] {
        let graph = crate::common::small().weighted(true).isolation(isolation).in_memory().unwrap();
        let mut skews = 0;
        for pair in 0..50u64 {
            let (a, b) = (pair * 200, pair * 200 + 100);
            let mut tx = graph.write().unwrap();
            tx.put_edge((a, a, 70.0)).unwrap();
            tx.put_edge((b, b, 80.0)).unwrap();
            tx.commit().unwrap();
            let (mut one, mut two) = (graph.write().unwrap(), graph.write().unwrap());
            for (tx, own) in [(&mut one, a), (&mut two, b)] {
                let sum = balance(tx, a).unwrap() + balance(tx, b).unwrap();
                let own_balance = balance(tx, own).unwrap();
                assert_eq!(sum, 150.0);
                tx.put_edge((own, own, own_balance - 100.0)).unwrap();
            }
            let (first, second) = (one.commit(), two.commit());
            assert!(first.is_ok());
            assert!(second.is_ok() || second.as_ref().is_err_and(hedgerow::Error::is_conflict));
            let s = graph.snapshot().unwrap();
            skews += u64::from(
                s.default_label().weight_between(a, a).unwrap().unwrap()
                    + s.default_label().weight_between(b, b).unwrap().unwrap()
                    < 0.0,
            );
            assert_eq!(
                s.default_label().weight_between(a, a).unwrap().unwrap()
                    + s.default_label().weight_between(b, b).unwrap().unwrap()
                    < 0.0,
                second.is_ok()
            );
        }
        assert_eq!(skews, if possible { 50 } else { 0 }, "{isolation:?}");
    }
}

/// A transaction rewires three edges of a ring so that one ring remains; every snapshot must show one ring.
#[test]
fn every_snapshot_of_a_ring_is_one_ring() {
    const LEN: u64 = 60;
    let graph = Graph::in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    (0..LEN).for_each(|i| tx.put_edge((i * 70, (i + 1) % LEN * 70)).unwrap());
    tx.commit().unwrap();
    let next = |tx: &mut WriteTxn, v: u64| -> hedgerow::Result<u64> {
        match tx.neighbors(v, Direction::Out)?.as_deref() {
            Some([VertexKey::U64(n)]) => Ok(*n),
            other => panic!("successors of {v}: {other:?}"),
        }
    };
    let rewire = |graph: &Graph, t: u64| {
        let mut rng = SplitMix64::new(t);
        for _ in 0..400 {
            let a = rng.below(LEN) * 70;
            // a -> b -> c -> d becomes a -> c -> b -> d.
            let swap = |tx: &mut WriteTxn| {
                let b = next(tx, a)?;
                let c = next(tx, b)?;
                let d = next(tx, c)?;
                for (src, dst) in [(a, b), (b, c), (c, d)] {
                    assert!(tx.remove_edge((src, dst))?);
                }
                [(a, c), (c, b), (b, d)].into_iter().try_for_each(|(src, dst)| tx.put_edge((src, dst)))
            };
            graph.transact(RETRIES, swap).unwrap();
        }
    };
    let look = |s: &Snapshot| {
        let (mut at, mut steps) = (0u64, 0);
        loop {
            let out = s.neighbors(at, Direction::Out).unwrap().unwrap();
            let [VertexKey::U64(n)] = out[..] else { panic!("successors of {at}: {out:?}") };
            assert_eq!(s.degree(at, Direction::In).unwrap(), Some(1));
            (at, steps) = (n, steps + 1);
            if at == 0 {
                break;
            }
        }
        assert_eq!((steps, s.edge_count().unwrap(), s.vertex_count()), (LEN, LEN, LEN));
    };
    explored("snapshots of the ring", watched(&graph, 3, rewire, look), LOOKS);
}

/// One thread removes a vertex while other threads insert edges to it. A read never finds an edge without an
/// endpoint, and never two different answers.
#[test]
fn removed_vertices_leave_no_edges() {
    let graph = crate::common::small().directed(false).in_memory().unwrap();
    let work = |graph: &Graph, t: u64| {
        let mut rng = SplitMix64::new(t);
        for _ in 0..1_500 {
            let (hub, other) = (rng.below(3), 10 + rng.below(300));
            let result = match rng.below(4) {
                0 => graph.transact(RETRIES, |tx| tx.remove_vertex(hub)).map(drop),
                1 => graph.remove_edge((hub, other)).map(drop),
                2 => graph.insert_edge((hub, other)).map(drop),
                _ => graph.transact(RETRIES, |tx| tx.put_edge((other, hub))).map(drop),
            };
            result.unwrap();
        }
    };
    let look = |s: &Snapshot| {
        let (mut vertices, mut edges) = (0, 0);
        for (id, key) in s.vertices().unwrap().map(Result::unwrap) {
            vertices += 1;
            assert_eq!(s.vertex_id(&key).unwrap(), Some(id));
        }
        s.default_label()
            .for_each_edge(|a, b, _| {
                edges += 1;
                assert!(
                    s.vertex_key(a).unwrap().is_some() && s.vertex_key(b).unwrap().is_some(),
                    "an edge without an endpoint"
                );
            })
            .unwrap();
        assert_eq!((vertices, edges), (s.vertex_count(), s.edge_count().unwrap()));
    };
    explored("snapshots beside removals", watched(&graph, 3, work, look), LOOKS);
}
