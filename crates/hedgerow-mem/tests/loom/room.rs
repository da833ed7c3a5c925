//! Room that writers make before they draw their timestamp. They fold the published entries of a delta, or
//! build the next version ahead, concurrent with readers, other writers and reclamation.

use std::sync::{Arc, Mutex};

use hedgerow_core::{Direction, Timestamp, VertexId};
use hedgerow_mem::Ops;
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{EdgeOp, Pin, VersionPins};
use hedgerow_txn::Registration;
use loom::thread;

use crate::versions::{Store, V, store};

/// The effects of the commits by timestamp, counted from 1. The checker does not explore it. Commits write it
/// in the ordering section, and readers read only entries that were published before they registered.
#[derive(Clone, Default)]
struct History(Arc<Mutex<Vec<Vec<LocalOp>>>>);

impl History {
    /// Returns the neighbors at `t`.
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

/// Returns a subgraph with edges to `dsts`, one commit each. Under the checker the delta has room for two
/// entries.
fn run(dsts: &[u32]) -> Run {
    let run = Run { store: store(), history: History::default() };
    dsts.iter().for_each(|&dst| run.single(insert(dst)));
    run
}

/// Checks a model with three threads. With the usual bound it takes a quarter of a minute, and this bound was
/// enough to find planted faults.
fn three(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// Asserts that replaced versions are dead or wait for readers, because only published entries are folded.
fn not_for_publication(pins: VersionPins) {
    assert!(pins.into_iter().all(|pin| !matches!(pin, Pin::Unpublished(_))));
}

impl Run {
    fn draw(&self, ops: &[LocalOp]) -> Timestamp {
        let mut order = self.store.clock.order();
        self.history.0.lock().unwrap().push(ops.to_vec());
        order.draw()
    }

    /// Commits as single operations do: makes room first, then draws the timestamp.
    fn single(&self, op: LocalOp) {
        let mut latched = self.store.subgraph().latch();
        not_for_publication(latched.make_room(Direction::Out, 1, &self.store.horizon()));
        let ts = self.draw(&[op]);
        let _ = latched.apply(Direction::Out, Ops::plain(&[op]), ts, &self.store.horizon());
        drop(latched);
        self.store.clock.complete(ts, 0, 0);
    }

    /// Commits as large transactions do: if the operations do not fit, builds the next version ahead. Returns
    /// whether it did.
    fn large(&self, ops: &[LocalOp]) -> bool {
        let mut latched = self.store.subgraph().latch();
        let (built, pins) = latched.prepare(Direction::Out, Ops::plain(ops), &self.store.horizon());
        not_for_publication(pins);
        let ahead = built.is_some();
        let ts = self.draw(ops);
        let _ = latched.apply_ahead(Direction::Out, Ops::plain(ops), built, ts, &self.store.horizon());
        drop(latched);
        self.store.clock.complete(ts, 0, 0);
        ahead
    }

    /// Prepares a large commit and fails before it draws a timestamp.
    fn refused(&self, ops: &[LocalOp]) {
        let mut latched = self.store.subgraph().latch();
        drop(latched.prepare(Direction::Out, Ops::plain(ops), &self.store.horizon()));
    }

    fn check(&self, registration: &Registration) {
        assert_eq!(self.store.read(registration.ts()), self.history.at(registration.ts()));
    }

    /// Registers a reader, reads, and closes the reader.
    fn read(&self) {
        let registration = self.store.register();
        self.check(&registration);
        self.store.readers.close(registration);
    }

    /// Checks the end state, after all other threads have ended.
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
        // Now one version is newer than that of the snapshot, and its delta is full.
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
        // The delta has room for one more entry. The second writer makes room, possibly before the entry of
        // the first one is published.
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
        // The two operations fit once the other commit is published. Before that, they are built ahead.
        let other = thread::spawn(move || second.large(&[remove(1), insert(4)]));
        run.read();
        one.join().unwrap();
        other.join().unwrap();
        run.end();
    });
}
