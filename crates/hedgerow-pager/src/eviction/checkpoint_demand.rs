//! Checkpoints that a shortage of memory demands, and commits that wait for one (rule B2
//! of `docs/design/budget.md`).
//!
//! Changes since the last checkpoint cannot be evicted. If they fill the limit, a commit waits here for the
//! end of a checkpoint, before it takes any latch. One lock guards all state here; it is held for a few
//! instructions.

use std::time::{Duration, Instant};

use hedgerow_core::sync::{AtomicU64, Condvar, Mutex, Ordering};

/// The time after a failed attempt in which a commit without room demands no other: on a full disk each
/// attempt would write until the disk is full again.
const REST: Duration = Duration::from_millis(100);

/// The demand for a checkpoint in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// No demand.
    Nothing,
    /// Memory becomes scarce: evict clean data, and if that is not enough, write a checkpoint, which makes
    /// more data clean.
    Room,
    /// Commits wait: write a checkpoint.
    Checkpoint,
}

/// The outcome of a wait for a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// A checkpoint succeeded.
    Held,
    /// An attempt failed, perhaps because the disk is full.
    Failed { disk_full: bool },
    /// No thread writes a checkpoint: the store is being closed, or has no thread for this duty.
    Nobody,
}

#[derive(Clone, Copy, Debug)]
struct Failure {
    at: Instant,
    disk_full: bool,
}

struct State {
    wanted: Wanted,
    /// The numbers of attempts that began and ended, on any thread. There is one attempt at a time.
    begun: u64,
    ended: u64,
    /// The failure of the last attempt, if it failed.
    failure: Option<Failure>,
    /// The number of waiting threads.
    waiting: u64,
    closing: bool,
}

/// The state that commits, checkpoints and the thread in the background share.
pub struct CheckpointDemand {
    state: Mutex<State>,
    changed: Condvar,
    /// The end of the log at the last demand for room: the next demand needs something new to write.
    asked_at: AtomicU64,
}

impl CheckpointDemand {
    pub(crate) fn new() -> CheckpointDemand {
        let state =
            State { wanted: Wanted::Nothing, begun: 0, ended: 0, failure: None, waiting: 0, closing: false };
        CheckpointDemand { state: Mutex::new(state), changed: Condvar::new(), asked_at: AtomicU64::new(0) }
    }

    /// True if a commit that lacks memory should ask for room now: the log, which ends at `end`, has grown by
    /// `step` bytes since the last request. Of concurrent callers, only one gets true.
    pub(crate) fn should_ask(&self, end: u64, step: u64) -> bool {
        let before = self.asked_at.load(Ordering::Relaxed);
        let due = end >= before.saturating_add(step);
        due && self.asked_at.compare_exchange(before, end, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Makes the thread in the background find room at its next wake-up.
    pub(crate) fn want_room(&self) {
        let mut state = self.state.lock();
        state.wanted = state.wanted.max(Wanted::Room);
    }

    /// Takes the demand, for the thread in the background, which then meets it.
    pub fn take(&self) -> Wanted {
        std::mem::replace(&mut self.state.lock().wanted, Wanted::Nothing)
    }

    /// True if commits wait for a checkpoint.
    pub fn is_waited_for(&self) -> bool {
        self.state.lock().waiting > 0
    }

    /// True if an attempt is in progress, or, if `is_a_thread`, the thread in the background has a demand to
    /// meet.
    pub(crate) fn is_making_room(&self, is_a_thread: bool) -> bool {
        let state = self.state.lock();
        state.begun > state.ended || (is_a_thread && state.wanted != Wanted::Nothing)
    }

    /// Notes that an attempt begins. It ends when the returned guard is dropped.
    pub fn begin(&self) -> Attempt<'_> {
        self.state.lock().begun += 1;
        Attempt { demand: self, failure: Some(false) }
    }

    /// Records that the thread in the background could not even begin an attempt.
    pub fn failed_to_begin(&self) {
        drop(self.begin());
    }

    /// Wakes all waiting threads, and makes later waits return at once: the store is being closed.
    pub fn end(&self) {
        self.state.lock().closing = true;
        self.changed.notify_all();
    }

    /// Waits until an attempt has ended: with `any` the one in progress, if there is one; else one that
    /// begins after this call. `wake` makes the thread in the background begin one, and returns whether that
    /// thread exists; it is called without the lock. The caller must hold nothing that a checkpoint waits
    /// for.
    #[cold]
    pub(crate) fn wait(&self, any: bool, wake: impl FnOnce() -> bool) -> Waited {
        let mut state = self.state.lock();
        if let Some(failure) = state.failure.filter(|failure| failure.at.elapsed() < REST) {
            return Waited::Failed { disk_full: failure.disk_full };
        }
        let under_way = any && state.begun > state.ended;
        let awaited = if under_way { state.begun } else { state.begun + 1 };
        if !under_way {
            state.wanted = Wanted::Checkpoint;
        }
        state.waiting += 1;
        drop(state);
        let has_thread = wake();
        let mut state = self.state.lock();
        while has_thread && state.ended < awaited && !state.closing {
            self.changed.wait(&mut state);
        }
        state.waiting -= 1;
        match state.failure {
            _ if state.ended < awaited => Waited::Nobody,
            Some(failure) => Waited::Failed { disk_full: failure.disk_full },
            None => Waited::Held,
        }
    }
}

/// An attempt to write a checkpoint. It ends when this is dropped, also in a panic.
pub struct Attempt<'a> {
    demand: &'a CheckpointDemand,
    /// The failure, unless the attempt succeeds; true if the disk was full.
    failure: Option<bool>,
}

impl Attempt<'_> {
    /// Records the result; an attempt without this call failed.
    pub fn ends(&mut self, failure: Option<bool>) {
        self.failure = failure;
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let failure = self.failure.map(|disk_full| Failure { at: Instant::now(), disk_full });
        let mut state = self.demand.state.lock();
        state.ended += 1;
        state.failure = failure;
        drop(state);
        self.demand.changed.notify_all();
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

    use super::*;

    /// Waits on a separate thread. Calls `then` once that thread waits.
    fn while_it_waits(demand: &CheckpointDemand, any: bool, then: impl FnOnce()) -> Waited {
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| demand.wait(any, || true));
            while !demand.is_waited_for() {
                std::thread::yield_now();
            }
            then();
            waiter.join().unwrap()
        })
    }

    #[test]
    fn a_wait_ends_with_an_attempt_that_began_after_it_unless_any_will_do() {
        let demand = CheckpointDemand::new();
        let mut under_way = demand.begin();
        under_way.ends(None);
        let second = AtomicBool::new(false);
        let waited = while_it_waits(&demand, false, || {
            drop(under_way);
            assert_eq!(demand.take(), Wanted::Checkpoint, "the next one is asked for");
            let mut next = demand.begin();
            assert!(demand.is_waited_for(), "the one that was under way does not do");
            second.store(true, SeqCst);
            next.ends(None);
        });
        assert_eq!((waited, second.into_inner()), (Waited::Held, true));
        let mut under_way = demand.begin();
        under_way.ends(None);
        assert_eq!(while_it_waits(&demand, true, || drop(under_way)), Waited::Held);
        assert_eq!(demand.take(), Wanted::Nothing, "it was under way already");
    }

    #[test]
    fn a_failure_ends_all_waits_and_those_right_after_it() {
        let demand = CheckpointDemand::new();
        // Repeats the test if this thread was delayed for so long that a second demand is not too soon any
        // more.
        loop {
            let begun = Instant::now();
            let waited = while_it_waits(&demand, false, || demand.begin().ends(Some(true)));
            assert_eq!(waited, Waited::Failed { disk_full: true });
            let mut asked = false;
            let again = demand.wait(false, || {
                asked = true;
                false
            });
            if begun.elapsed() < REST {
                assert!(!asked && again == waited, "a second demand so soon");
                break;
            }
        }
        std::thread::sleep(REST);
        let waited = while_it_waits(&demand, false, || demand.begin().ends(None));
        assert_eq!(waited, Waited::Held);
        assert_eq!(
            while_it_waits(&demand, false, || demand.failed_to_begin()),
            Waited::Failed { disk_full: false }
        );
    }

    #[test]
    fn nobody_waits_for_a_thread_that_there_is_not_nor_at_the_end() {
        let demand = CheckpointDemand::new();
        assert_eq!(demand.wait(false, || false), Waited::Nobody);
        assert_eq!(while_it_waits(&demand, false, || demand.end()), Waited::Nobody);
        assert_eq!(demand.wait(true, || true), Waited::Nobody);
    }

    #[test]
    fn scarce_memory_asks_once_for_so_much_log() {
        let demand = CheckpointDemand::new();
        assert!(demand.should_ask(100, 50) && !demand.should_ask(149, 50) && demand.should_ask(150, 50));
        demand.want_room();
        assert_eq!((demand.take(), demand.take()), (Wanted::Room, Wanted::Nothing));
    }
}
