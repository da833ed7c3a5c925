//! Readers concurrent with writers on an engine of any kind. Each reader opens snapshots and ranks their
//! vertices. Each writer removes and inserts its own edges.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hedgerow_subjects::{Edge, Kernel, Share, Subject};

use super::super::mixed::PHASE;
use super::super::work::Work;
use super::threads::timed;
use hedgerow_report::failure::Result;
use hedgerow_report::figures::median;

/// The number of edges that a writer removes, or inserts, before it checks whether the phase is over.
const STRETCH: usize = 64;

/// The seconds of a reader for one snapshot, and the updates of all writers per second; `None` without
/// readers or without writers.
pub(crate) struct Phase {
    pub(crate) reader: Option<f64>,
    pub(crate) updates_per_s: Option<f64>,
}

/// Runs this number of readers and writers for [`PHASE`] or longer, but for less on a small graph. The
/// writers share `edges`, all of which the engine has before and after.
pub(crate) fn phase(
    work: &Work<'_>,
    subject: &dyn Subject,
    edges: &[Edge],
    (readers, writers): (usize, usize),
) -> Result<Phase> {
    let least = work.while_of(PHASE);
    let (reading, written) = (AtomicUsize::new(readers), AtomicUsize::new(0));
    let times = Mutex::new(Vec::new());
    let seconds = timed(readers + writers, |nth| {
        if nth < readers {
            let _leaving = Leaving(&reading);
            return read(subject, least, &times);
        }
        let own = edges.chunks(edges.len().div_ceil(writers).max(1)).nth(nth - readers).unwrap_or_default();
        let begun = Instant::now();
        let is_over = || match readers {
            0 => begun.elapsed() >= least,
            _ => reading.load(Ordering::Relaxed) == 0,
        };
        written.fetch_add(write(subject, own, is_over)?, Ordering::Relaxed);
        Ok(())
    })?;
    let times = times.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let rate = written.into_inner() as f64 / seconds;
    Ok(Phase { reader: (readers > 0).then(|| median(&times)), updates_per_s: (writers > 0).then_some(rate) })
}

/// A guard that counts a reader until the reader ends, with or without an error. Writers continue until no
/// reader is left.
struct Leaving<'a>(&'a AtomicUsize);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Ranks new snapshots with one thread, at least once, until the phase is long enough.
fn read(subject: &dyn Subject, least: Duration, times: &Mutex<Vec<f64>>) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let phase = Instant::now();
    loop {
        let begun = Instant::now();
        // The store makes its view when a snapshot opens. This thread makes it too.
        pool.install(|| subject.snapshot()?.run(Kernel::PageRank, &[]).map(drop))?;
        let taken = begun.elapsed().as_secs_f64();
        times.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(taken);
        if phase.elapsed() >= least {
            return Ok(());
        }
    }
}

/// Removes and inserts edges, stretch by stretch. Returns the number of updates. The engine has all edges at
/// the end.
fn write(subject: &dyn Subject, edges: &[Edge], is_over: impl Fn() -> bool) -> Result<usize> {
    let mut made = 0;
    while !is_over() && !edges.is_empty() {
        for stretch in edges.chunks(STRETCH) {
            subject.remove(Share::all(stretch))?;
            subject.insert(Share::all(stretch))?;
            made += 2 * stretch.len();
            if is_over() {
                break;
            }
        }
    }
    Ok(made)
}
