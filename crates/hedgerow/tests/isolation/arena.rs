//! Concurrent threads on a part of a store, and the content of the store after them. The content comes from
//! memory, from the log, or from checkpoints that ran at the same time.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow::{CommitError, Error, Graph, Isolation, Options};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Damage, SimFs};

use crate::interleave::{End, store};
use crate::model::{MANY_KEYS, State};
use crate::script::{Ctx, Flow, Trace};

pub(crate) const THREADS: u64 = 8;

/// The source of the content that a test checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    Memory,
    /// The store crashes after each test and recovers from its log.
    Log,
    /// Checkpoints run concurrently with the transactions, and the store opens from the last one.
    Checkpoint,
}

pub(crate) const TIERS: [Tier; 3] = [Tier::Memory, Tier::Log, Tier::Checkpoint];

/// A store for several tests in sequence; each test has its own keys.
pub(crate) struct Arena {
    pub(crate) isolation: Isolation,
    tier: Tier,
    disk: SimFs,
    graph: Graph,
    pub(crate) offset: u64,
    rng: SplitMix64,
    /// True if each window waits until every thread has reached it.
    barriers: bool,
}

impl Arena {
    pub(crate) fn new(isolation: Isolation, tier: Tier, seed: u64) -> Arena {
        let disk = SimFs::new();
        let graph = store(isolation, (tier != Tier::Memory).then_some(&disk));
        Arena { isolation, tier, disk, graph, offset: 0, rng: SplitMix64::new(seed), barriers: true }
    }

    /// Begins another test on its own keys. Every second test has barriers.
    pub(crate) fn next(&mut self, setup: impl FnOnce(&mut Ctx<'_>)) {
        self.offset += MANY_KEYS;
        self.barriers = !self.barriers;
        let mut txn = self.graph.write().unwrap();
        setup(&mut Ctx::store(&mut txn, self.offset, &mut Trace::default()));
        txn.commit().unwrap();
    }

    /// Runs `job` `count` times on each of eight threads.
    pub(crate) fn run(&mut self, count: u64, job: impl Fn(&mut Job<'_>) + Sync) {
        let barrier = self.barriers.then(|| Barrier::new(THREADS as usize));
        let ended = AtomicBool::new(false);
        let seeds: Vec<u64> = (0..THREADS).map(|_| self.rng.next_u64()).collect();
        let (graph, offset, barrier) = (&self.graph, self.offset, barrier.as_ref());
        std::thread::scope(|scope| {
            if self.tier == Tier::Checkpoint {
                scope.spawn(|| {
                    while !ended.load(Ordering::Acquire) {
                        graph.checkpoint().unwrap();
                        std::thread::yield_now();
                    }
                });
            }
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let (job, seed) = (&job, seeds[thread as usize]);
                    scope.spawn(move || {
                        let rng = SplitMix64::new(seed);
                        let mut state = Job { graph, offset, thread, number: 0, rng, barrier };
                        for number in 0..count {
                            state.number = number;
                            // If one thread panicked, the remaining threads would wait at the barrier for
                            // ever.
                            let run = std::panic::AssertUnwindSafe(|| job(&mut state));
                            if std::panic::catch_unwind(run).is_err() {
                                std::process::abort();
                            }
                        }
                    })
                })
                .collect();
            let results: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            ended.store(true, Ordering::Release);
            results.into_iter().for_each(|result| result.unwrap());
        });
    }

    /// Returns the content of the test's keys, after recovery from the files of the tier.
    pub(crate) fn end(&mut self) -> State {
        if self.tier != Tier::Memory {
            let before = self.state();
            self.reopen();
            assert_eq!(before, self.state(), "recovery changed something");
        }
        self.state()
    }

    fn reopen(&mut self) {
        if self.tier == Tier::Checkpoint {
            self.graph.checkpoint().unwrap();
        }
        // Every commit was acknowledged, so a crash that loses all unsynced bytes loses no commit.
        self.disk = self.disk.crash_clone(Damage::LoseAll, self.offset);
        let options = Options::new().isolation(self.isolation).background_settling(false);
        self.graph = options.log_segment_bytes(1 << 16).open_on(self.disk.handle()).unwrap();
    }

    fn state(&self) -> State {
        let snapshot = self.graph.snapshot().unwrap();
        let state = State::of(&snapshot, self.offset, MANY_KEYS);
        if self.rng.clone().below(8) == 0 {
            state.agrees_with_scans(&snapshot, self.offset, MANY_KEYS);
        }
        state
    }

    pub(crate) fn check(&self) {
        let report = self.graph.check().unwrap();
        assert!(report.is_ok(), "{report:?}");
    }
}

/// One job of a thread.
pub(crate) struct Job<'a> {
    graph: &'a Graph,
    offset: u64,
    pub(crate) thread: u64,
    pub(crate) number: u64,
    pub(crate) rng: SplitMix64,
    barrier: Option<&'a Barrier>,
}

/// The moment in a transaction at which other transactions should run.
pub(crate) struct Window<'a> {
    barrier: Option<&'a Barrier>,
    left: u32,
}

impl Window<'_> {
    pub(crate) fn open(&mut self) {
        match self.barrier {
            Some(barrier) if self.left > 0 => {
                self.left -= 1;
                barrier.wait();
            }
            Some(_) => {}
            None => std::thread::yield_now(),
        }
    }
}

/// The number of windows of one transaction.
const WINDOWS: u32 = 2;

impl Job<'_> {
    pub(crate) fn is_writer(&self) -> bool {
        self.thread.is_multiple_of(2)
    }

    /// Returns the number of this job, unique among all jobs; the numbers begin at 1.
    pub(crate) fn id(&self) -> i64 {
        (self.number * THREADS + self.thread + 1) as i64
    }

    /// Makes one attempt at a transaction, which may open two windows. Each job makes exactly one attempt.
    pub(crate) fn attempt(
        &mut self,
        f: impl FnOnce(&mut Ctx<'_>, &mut Window<'_>, &mut SplitMix64) -> Flow,
    ) -> (End, Trace) {
        let mut window = Window { barrier: self.barrier, left: WINDOWS };
        let (mut txn, mut trace) = (self.graph.write().unwrap(), Trace::default());
        let flow = f(&mut Ctx::store(&mut txn, self.offset, &mut trace), &mut window, &mut self.rng);
        let end = match flow {
            Flow::Abort => {
                drop(txn);
                End::RolledBack
            }
            Flow::Go => match txn.commit() {
                Ok(_) => End::Committed,
                Err(Error::Commit(CommitError::Conflict { .. })) => End::Conflict,
                Err(Error::Commit(CommitError::NoSuchVertex { .. })) => End::NoVertex,
                Err(other) => panic!("{other}"),
            },
        };
        while self.barrier.is_some() && window.left > 0 {
            window.open();
        }
        (end, trace)
    }

    /// Returns the content of a snapshot by look-ups; one call in about four also compares it with scans.
    pub(crate) fn look(&mut self) -> State {
        let snapshot = self.graph.snapshot().unwrap();
        let state = State::of(&snapshot, self.offset, MANY_KEYS);
        if self.rng.below(4) == 0 {
            state.agrees_with_scans(&snapshot, self.offset, MANY_KEYS);
        }
        state
    }
}
