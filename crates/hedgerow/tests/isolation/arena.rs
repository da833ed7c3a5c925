//! Threads against each other on a part of a store, and what the store holds afterwards: as it is, as the log
//! gives it back, or from checkpoints that were made meanwhile.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow::{CommitError, Error, Graph, Isolation, Options};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Damage, SimFs};

use crate::interleave::{End, store};
use crate::model::{MANY_KEYS, State};
use crate::script::{Ctx, Flow, Trace};

pub(crate) const THREADS: u64 = 8;

/// Where the content that is checked comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    Memory,
    /// The store crashes after each test and is recovered from its log.
    Log,
    /// Checkpoints are made beside the transactions, and the store is opened from the last.
    Checkpoint,
}

pub(crate) const TIERS: [Tier; 3] = [Tier::Memory, Tier::Log, Tier::Checkpoint];

/// A store that tests run on one after the other, each with keys of its own.
pub(crate) struct Arena {
    pub(crate) isolation: Isolation,
    tier: Tier,
    disk: SimFs,
    graph: Graph,
    pub(crate) offset: u64,
    rng: SplitMix64,
    /// Whether windows are held open until every thread has come to them.
    barriers: bool,
}

impl Arena {
    pub(crate) fn new(isolation: Isolation, tier: Tier, seed: u64) -> Arena {
        let disk = SimFs::new();
        let graph = store(isolation, (tier != Tier::Memory).then_some(&disk));
        Arena { isolation, tier, disk, graph, offset: 0, rng: SplitMix64::new(seed), barriers: true }
    }

    /// Begins another test on keys of its own: every other one with barriers.
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
                            // The others would wait for ever at the barrier.
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

    /// What the store holds of the test's keys, after the way through its files.
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
        // Everything was acknowledged, so a crash that loses what was not synced loses nothing.
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

/// One of the jobs of a thread.
pub(crate) struct Job<'a> {
    graph: &'a Graph,
    offset: u64,
    pub(crate) thread: u64,
    pub(crate) number: u64,
    pub(crate) rng: SplitMix64,
    barrier: Option<&'a Barrier>,
}

/// The moment in a transaction at which others should get in.
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

/// Windows of one transaction.
const WINDOWS: u32 = 2;

impl Job<'_> {
    pub(crate) fn is_writer(&self) -> bool {
        self.thread.is_multiple_of(2)
    }

    /// Tells this job from all others, from 1.
    pub(crate) fn id(&self) -> i64 {
        (self.number * THREADS + self.thread + 1) as i64
    }

    /// One attempt at a transaction, which may open two windows. Each job makes exactly one.
    pub(crate) fn attempt(
        &mut self,
        f: impl FnOnce(&mut Ctx<'_>, &mut Window<'_>, &mut SplitMix64) -> Flow,
    ) -> (End, Trace) {
        let mut window = Window { barrier: self.barrier, left: WINDOWS };
        let (mut txn, mut trace) = (self.graph.write().unwrap(), Trace::default());
        let flow = f(&mut Ctx::store(&mut txn, self.offset, &mut trace), &mut window, &mut self.rng);
        let end = match flow {
            Flow::Abort => {
                txn.rollback();
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

    /// What a snapshot holds, by look-ups, and by scans too now and then.
    pub(crate) fn look(&mut self) -> State {
        let snapshot = self.graph.snapshot().unwrap();
        let state = State::of(&snapshot, self.offset, MANY_KEYS);
        if self.rng.below(4) == 0 {
            state.agrees_with_scans(&snapshot, self.offset, MANY_KEYS);
        }
        state
    }
}
