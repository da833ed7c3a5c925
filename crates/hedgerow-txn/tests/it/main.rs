//! Group commit and the reader registry with many threads. These tests run outside of the model checkers,
//! which can explore only a few threads.
#![cfg(not(feature = "model-checking"))]
#![allow(missing_docs, reason = "a test program")]

mod readers;

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use hedgerow_core::Timestamp;
use hedgerow_txn::{Clock, Counts, DurableLog, GroupCommit, NotDurable};

const THREADS: u64 = 24;
const COMMITS: u64 = 400;
/// The time after which a test fails: hundreds of times its usual duration, tens of times that on a busy
/// machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// A log with a slow sync, so that many committers sleep.
#[derive(Default)]
struct SlowLog {
    appended: AtomicU64,
    synced: AtomicU64,
    syncs: AtomicU64,
}

impl DurableLog for SlowLog {
    fn appended(&self) -> Timestamp {
        Timestamp(self.appended.load(SeqCst))
    }

    fn sync(&self) -> Result<(), NotDurable> {
        let appended = self.appended.load(SeqCst);
        std::thread::sleep(Duration::from_micros(50));
        self.syncs.fetch_add(1, SeqCst);
        self.synced.fetch_max(appended, SeqCst);
        Ok(())
    }
}

#[test]
fn nobody_of_many_sleeps_for_ever() {
    let clock = Clock::new(Timestamp(0), Counts::default(), Timestamp(0));
    let (commits, log, over) = (GroupCommit::default(), SlowLog::default(), AtomicBool::new(false));
    let together = Barrier::new(THREADS as usize);
    let client = || {
        // The threads start together, because a single committer needs a sync for each of its commits.
        together.wait();
        for _ in 0..COMMITS {
            let ts = {
                let mut order = clock.order();
                let ts = order.draw();
                log.appended.store(ts.0, SeqCst);
                ts
            };
            if clock.complete(ts, 0, 0) {
                commits.wake(&clock);
            }
            commits.wait(&clock, ts, Some(&log)).unwrap();
            assert!(log.synced.load(SeqCst) >= ts.0, "acknowledged before it was durable");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let begun = Instant::now();
            while !over.load(SeqCst) {
                if begun.elapsed() > PATIENCE {
                    // The process aborts, because the end of the scope would wait for the sleeping threads.
                    eprintln!("asleep at {:?} of {}", clock.published(), THREADS * COMMITS);
                    std::process::abort();
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let clients: Vec<_> = (0..THREADS).map(|_| scope.spawn(client)).collect();
        let ends: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
        over.store(true, SeqCst);
        ends.into_iter().for_each(|end| end.unwrap());
    });
    assert_eq!(clock.published(), Timestamp(THREADS * COMMITS));
    assert!(log.syncs.load(SeqCst) < THREADS * COMMITS / 4, "one sync serves many");
}
