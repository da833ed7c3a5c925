//! A running ingestion: the state that the writers, the analyst and the reporting threads share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hedgerow::Graph;
use hedgerow::io::IoCounters;

use super::message::Sample;

/// The interval at which the state is checked.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The shared state of one ingestion.
pub(crate) struct Ingestion {
    pub(crate) graph: Graph,
    /// The start of the process.
    pub(crate) start: Instant,
    pub(super) counters: Arc<IoCounters>,
    pub(super) commits: AtomicU64,
    pub(super) events: AtomicU64,
    /// Events of the whole stream.
    pub(super) total_events: u64,
    pub(super) conflicts: AtomicU64,
    pub(super) done: AtomicBool,
}

impl Ingestion {
    /// Returns the seconds since the process began.
    pub(crate) fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// True if the writers have ended.
    pub(crate) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// Sleeps for `time`, or until the next of `parts` equal parts of the stream, or the whole stream, was
    /// ingested.
    pub(crate) fn sleep_unless_ahead(&self, time: Duration, parts: u64) {
        let end = Instant::now() + time;
        let events = self.events.load(Ordering::Relaxed) + (self.total_events / parts).max(1);
        while !self.is_done() && Instant::now() < end && self.events.load(Ordering::Relaxed) < events {
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Sleeps for `time`, or until the writers have ended.
    pub(crate) fn sleep(&self, time: Duration) {
        let end = Instant::now() + time;
        while !self.is_done() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20).min(time));
        }
    }

    /// Returns the present state.
    pub(super) fn sample(&self) -> Sample {
        let commits = self.commits.load(Ordering::SeqCst);
        Sample {
            at: self.now(),
            commits,
            syncs: self.counters.file_syncs.load(Ordering::SeqCst),
            conflicts: self.conflicts.load(Ordering::Relaxed),
            resident_bytes: hedgerow_report::resident_bytes().unwrap_or(0),
            store_bytes: self.graph.memory_bytes(),
        }
    }
}
