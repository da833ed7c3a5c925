//! Room that writers make before they draw their timestamp, by folding what is published of a delta or by
//! building the next version ahead, beside readers, other writers and reclamation.

use std::sync::{Arc, Mutex};

use hedgerow_core::{Direction, Timestamp, VertexId};
use hedgerow_mem::Ops;
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{EdgeOp, Pin};
use hedgerow_txn::Registration;
use loom::thread;

use crate::versions::{Store, V, store};

/// What was committed: the effects by timestamp, counted from 1. No part of what the checker explores: it is
/// written in the ordering section, and readers look at what was published before they registered.
#[derive(Clone, Default)]
struct History(Arc<Mutex<Vec<Vec<LocalOp>>>>);

impl History {
    /// The neighbors at `t`.
    fn at(&self, t: Timestamp) -> Vec<u32> {
        let mut neighbors = std::collections::BTreeSet::new();
        for op in self.0.lock().unwrap()[..t.0 as usize].iter().flatten() {
            match op.op {
                EdgeOp::Insert => neighbors.insert(op.dst.0),
                _ => neighbors.remove(&op.dst.0),
            };
        }
        neighbors.into_iter().collect()
    }
}

struct Run {
    store: Arc<Store>,
    history: History,
}

impl Clone for Run {
    fn clone(&self) -> Run {
        Run { store: self.store.clone(), history: self.history.clone() }
    }
}

fn insert(dst: u32) -> LocalOp {
    LocalOp { local: V, op: EdgeOp::Insert, dst: VertexId(dst), weight: 0.0 }
}

fn remove(dst: u32) -> LocalOp {
    LocalOp { op: EdgeOp::Remove, ..insert(dst) }
}

/// A subgraph with edges to these, one commit each. The delta has room for two entries under the checker.
fn run(dsts: &[u32]) -> Run {
    let run = Run { store: store(), history: History::default() };
    dsts.iter().for_each(|&dst| run.single(insert(dst)));
    run
}

/// Three threads beside each other: at the usual bound they take a quarter of a minute, and what was broken
/// on purpose was found at this one.
fn three(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// Room is made of what is published: what that replaces is dead, or waits for readers.
fn not_for_publication(pin: Pin) {
    assert!(!matches!(pin, Pin::Unpublished(_)), "{pin:?}");
}

impl Run {
    fn draw(&self, ops: &[LocalOp]) -> Timestamp {
        let mut order = self.store.clock.order();
        self.history.0.lock().unwrap().push(ops.to_vec());
        order.draw()
    }

    /// A commit as single operations make it: room first, then the timestamp.
    fn single(&self, op: LocalOp) {
        let mut latched = self.store.subgraph().latch();
        latched.make_room(Direction::Out, 1, false, &self.store.horizon(), not_for_publication);
        let ts = self.draw(&[op]);
        latched.apply(Direction::Out, Ops::plain(&[op]), ts, false, &self.store.horizon(), |_| ());
        drop(latched);
        self.store.clock.complete(ts, 0, 0);
    }

    /// A commit as large transactions make it: what does not fit is built ahead. Says whether it was.
    fn large(&self, ops: &[LocalOp]) -> bool {
        let mut latched = self.store.subgraph().latch();
        let built = latched.prepare(
            Direction::Out,
            Ops::plain(ops),
            false,
            &self.store.horizon(),
            not_for_publication,
        );
        let ahead = built.is_some();
        let ts = self.draw(ops);
        latched.apply_ahead(Direction::Out, Ops::plain(ops), built, ts, false, &self.store.horizon(), |_| ());
        drop(latched);
        self.store.clock.complete(ts, 0, 0);
        ahead
    }

    /// A large commit that fails before it draws a timestamp.
    fn refused(&self, ops: &[LocalOp]) {
        let mut latched = self.store.subgraph().latch();
        drop(latched.prepare(Direction::Out, Ops::plain(ops), false, &self.store.horizon(), |_| ()));
    }

    fn check(&self, registration: &Registration) {
        assert_eq!(self.store.read(registration.ts()), self.history.at(registration.ts()));
    }

    /// A reader that comes, reads, and goes.
    fn read(&self) {
        let registration = self.store.register();
        self.check(&registration);
        self.store.readers.close(registration);
    }

    /// What must hold once everybody has gone.
    fn end(&self) {
        self.read();
        assert!(self.store.reclaim().is_empty());
        assert_eq!(self.store.versions(), 1, "nobody needs older versions");
    }
}

#[test]
fn a_registering_reader_beside_a_writer_that_makes_room() {
    loom::model(|| {
        let run = run(&[1, 2]);
        let writer = run.clone();
        let writes = thread::spawn(move || writer.single(insert(3)));
        let registration = run.store.register();
        run.check(&registration);
        run.check(&registration);
        run.store.readers.close(registration);
        writes.join().unwrap();
        run.end();
    });
}

#[test]
fn an_old_snapshot_walks_over_a_version_that_room_is_made_of() {
    loom::model(|| {
        let run = run(&[1]);
        let old = run.store.register();
        run.single(insert(2));
        run.single(remove(1));
        run.single(insert(3));
        // Now there is one version since that of the snapshot, and it is full.
        assert_eq!(run.store.versions(), 2);
        let writer = run.clone();
        let writes = thread::spawn(move || writer.single(insert(1)));
        run.check(&old);
        run.check(&old);
        writes.join().unwrap();
        assert_eq!(run.store.versions(), 2, "that of the snapshot, and the head");
        run.check(&old);
        run.store.readers.close(old);
        run.end();
    });
}

#[test]
fn entries_that_are_not_published_are_carried_over() {
    three(|| {
        let run = run(&[1, 2, 3]);
        // The delta has room for one more: the second writer makes room while the entry of the first may not
        // be published.
        let (first, second) = (run.clone(), run.clone());
        let one = thread::spawn(move || first.single(remove(2)));
        let other = thread::spawn(move || second.single(insert(4)));
        run.read();
        one.join().unwrap();
        other.join().unwrap();
        run.end();
    });
}

#[test]
fn room_made_beside_reclamation() {
    three(|| {
        let run = run(&[1, 2]);
        let (writer, reclaimer) = (run.clone(), run.clone());
        let writes = thread::spawn(move || writer.single(insert(3)));
        let reclaims = thread::spawn(move || {
            reclaimer.store.reclaim();
            reclaimer.store.memory.retire_list().drain();
        });
        run.read();
        writes.join().unwrap();
        reclaims.join().unwrap();
        run.end();
    });
}

#[test]
fn a_reader_beside_a_version_built_ahead() {
    loom::model(|| {
        let run = run(&[1, 2]);
        let writer = run.clone();
        let writes = thread::spawn(move || assert!(writer.large(&[remove(1), insert(3), insert(4)])));
        run.read();
        writes.join().unwrap();
        run.end();
    });
}

#[test]
fn a_version_built_ahead_of_a_commit_that_is_refused_changes_nothing() {
    loom::model(|| {
        let run = run(&[1, 2]);
        let writer = run.clone();
        let writes = thread::spawn(move || {
            writer.refused(&[remove(1), insert(3), insert(4)]);
            writer.single(insert(5));
        });
        run.read();
        writes.join().unwrap();
        run.end();
    });
}

#[test]
fn a_large_commit_beside_one_that_is_not_published() {
    three(|| {
        let run = run(&[1, 2, 3]);
        let (first, second) = (run.clone(), run.clone());
        let one = thread::spawn(move || first.single(remove(2)));
        // Two operations fit once the other commit is published; before, they are built ahead.
        let other = thread::spawn(move || second.large(&[remove(1), insert(4)]));
        run.read();
        one.join().unwrap();
        other.join().unwrap();
        run.end();
    });
}
