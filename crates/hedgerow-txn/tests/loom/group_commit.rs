//! Group commit: an acknowledged commit is durable and published, no committer waits for ever, and a failed
//! sync reaches all committers.

use std::sync::Arc;

use hedgerow_core::Timestamp;
use hedgerow_txn::{Clock, Counts, DurableLog, GroupCommit, NotDurable};
use loom::sync::atomic::{AtomicU64, Ordering::SeqCst};
use loom::thread;

/// A log that records the last appended and the last synced timestamp.
struct FakeLog {
    appended: AtomicU64,
    synced: AtomicU64,
    syncs: AtomicU64,
    fails: bool,
}

impl DurableLog for FakeLog {
    fn appended(&self) -> Timestamp {
        Timestamp(self.appended.load(SeqCst))
    }

    fn sync(&self) -> Result<(), NotDurable> {
        let appended = self.appended.load(SeqCst);
        self.syncs.fetch_add(1, SeqCst);
        if self.fails {
            return Err(NotDurable);
        }
        self.synced.fetch_max(appended, SeqCst);
        Ok(())
    }
}

struct Store {
    clock: Clock,
    commits: GroupCommit,
    log: FakeLog,
}

fn store(fails: bool) -> Arc<Store> {
    let zero = || AtomicU64::new(0);
    Arc::new(Store {
        clock: Clock::new(Timestamp(0), Counts::default(), Timestamp(0)),
        commits: GroupCommit::default(),
        log: FakeLog { appended: zero(), synced: zero(), syncs: zero(), fails },
    })
}

fn commit(store: &Store) -> Result<Timestamp, NotDurable> {
    let ts = {
        let mut order = store.clock.order();
        let ts = order.draw();
        store.log.appended.store(ts.0, SeqCst);
        ts
    };
    if store.clock.complete(ts, 0, 0) {
        store.commits.wake(&store.clock);
    }
    store.commits.wait(&store.clock, ts, Some(&store.log))?;
    assert!(store.log.synced.load(SeqCst) >= ts.0, "acknowledged before it was durable");
    assert!(store.clock.published() >= ts, "acknowledged before it was visible");
    Ok(ts)
}

#[test]
fn an_acknowledged_commit_is_durable_and_visible() {
    loom::model(|| {
        let store = store(false);
        let other = store.clone();
        let committer = thread::spawn(move || commit(&other).unwrap());
        let mine = commit(&store).unwrap();
        let theirs = committer.join().unwrap();
        assert_ne!(mine, theirs);
        assert_eq!(store.clock.published(), Timestamp(2));
        assert!(store.log.syncs.load(SeqCst) <= 2);
    });
}

/// A commit that is appended during a sync needs another sync, and a waiting committer must lead that sync.
#[test]
fn nobody_who_comes_too_late_for_a_sync_is_forgotten() {
    let mut builder = loom::model::Builder::new();
    // With the default bound, three committers take hours.
    builder.preemption_bound = Some(1);
    builder.max_branches = 20_000;
    builder.check(|| {
        let store = store(false);
        let others: Vec<_> = (0..2)
            .map(|_| {
                let other = store.clone();
                thread::spawn(move || commit(&other).unwrap())
            })
            .collect();
        commit(&store).unwrap();
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(store.clock.published(), Timestamp(3));
        assert!(store.log.syncs.load(SeqCst) <= 3);
    });
}

#[test]
fn a_failed_sync_acknowledges_nobody() {
    loom::model(|| {
        let store = store(true);
        let other = store.clone();
        let committer = thread::spawn(move || commit(&other));
        assert_eq!(commit(&store), Err(NotDurable));
        assert_eq!(committer.join().unwrap(), Err(NotDurable));
        assert!(store.commits.is_failed());
        assert_eq!(store.clock.published(), Timestamp(0));
    });
}

/// Completes a commit without a log, and wakes the committers that this publishes.
fn complete((clock, commits): &(Clock, GroupCommit), ts: Timestamp) {
    if clock.complete(ts, 0, 0) {
        commits.wake(clock);
    }
}

#[test]
fn without_a_log_a_committer_waits_for_those_before_it() {
    loom::model(|| {
        let clock = Clock::new(Timestamp(0), Counts::default(), Timestamp::INFINITY);
        let store = Arc::new((clock, GroupCommit::default()));
        let (first, second) = {
            let mut order = store.0.order();
            (order.draw(), order.draw())
        };
        let other = store.clone();
        let slow = thread::spawn(move || complete(&other, first));
        complete(&store, second);
        store.1.wait(&store.0, second, None::<&FakeLog>).unwrap();
        assert_eq!(store.0.published(), second);
        slow.join().unwrap();
    });
}

/// Two committers wait for different commits. The publisher wakes each of them once its commit is published.
#[test]
fn those_who_wait_for_different_commits_are_all_woken() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(1);
    builder.max_branches = 20_000;
    builder.check(|| {
        let clock = Clock::new(Timestamp(0), Counts::default(), Timestamp::INFINITY);
        let store = Arc::new((clock, GroupCommit::default()));
        let drawn: Vec<Timestamp> = {
            let mut order = store.0.order();
            (0..3).map(|_| order.draw()).collect()
        };
        let (other, third) = (store.clone(), drawn[2]);
        let waiter = thread::spawn(move || {
            complete(&other, third);
            other.1.wait(&other.0, third, None::<&FakeLog>).unwrap();
        });
        let (other, second) = (store.clone(), drawn[1]);
        let slow = thread::spawn(move || complete(&other, second));
        complete(&store, drawn[0]);
        store.1.wait(&store.0, second, None::<&FakeLog>).unwrap();
        assert!(store.0.published() >= second);
        slow.join().unwrap();
        waiter.join().unwrap();
        assert_eq!(store.0.published(), third);
    });
}

/// Makes a commit without waiting for it, and requests its sync.
fn submit(store: &Store) -> Timestamp {
    let ts = {
        let mut order = store.clock.order();
        let ts = order.draw();
        store.log.appended.store(ts.0, SeqCst);
        ts
    };
    if store.clock.complete(ts, 0, 0) {
        store.commits.wake(&store.clock);
    }
    store.commits.ask(ts);
    ts
}

/// Runs the thread that syncs submitted commits, until `over` is set or a sync fails.
fn serve(store: &Store, over: &AtomicU64) {
    while let Some(ts) = store.commits.next_asked(&store.clock, || over.load(SeqCst) == 1) {
        if store.commits.wait(&store.clock, ts, Some(&store.log)).is_err() {
            return;
        }
    }
}

#[test]
fn a_submitted_commit_becomes_durable_although_its_owner_never_syncs() {
    loom::model(|| {
        let store = store(false);
        let over = Arc::new(AtomicU64::new(0));
        let (server, server_over) = (store.clone(), over.clone());
        let syncer = thread::spawn(move || serve(&server, &server_over));
        submit(&store);
        let last = submit(&store);
        // Without a log, this call leads no sync: it blocks for ever if a wake-up is lost.
        store.commits.wait(&store.clock, last, None::<&FakeLog>).unwrap();
        assert!(store.log.synced.load(SeqCst) >= last.0, "visible before it was durable");
        over.store(1, SeqCst);
        store.commits.wake_asked();
        syncer.join().unwrap();
    });
}

#[test]
fn a_failed_sync_ends_the_thread_that_syncs_for_tickets() {
    loom::model(|| {
        let store = store(true);
        let server = store.clone();
        let syncer = thread::spawn(move || serve(&server, &AtomicU64::new(0)));
        let ts = submit(&store);
        assert_eq!(store.commits.wait(&store.clock, ts, None::<&FakeLog>), Err(NotDurable));
        syncer.join().unwrap();
    });
}
