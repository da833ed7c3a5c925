//! Readers beside writers: each reader opens snapshots and ranks their vertices, each writer removes and inserts edges of its own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hedgerow_core::Capability;
use hedgerow_subjects::{Edge, Kernel, Share, Subject};

use super::super::bench::Bench;
use crate::failure::Result;
use crate::figures::median;
use crate::record::Record;
use crate::suite::{Measured, timed};

/// How long a phase lasts, at least.
const PHASE: Duration = Duration::from_millis(400);
/// Edges that a writer removes, or inserts, before it looks whether the phase is over.
const STRETCH: usize = 64;

/// Measures them.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let mut subjects = bench.filled("mixed", &bench.edges);
    subjects.retain(|(name, subject)| bench.is_able("mixed", name, &**subject, Capability::Versions));
    bench.rounds("mixed", bench.work.options.repeat(), subjects, |name, subject, measured| {
        for (readers, writers) in pairs(&bench.thread_counts()) {
            phase(bench, &**subject, (readers, writers), name, measured)?;
        }
        Ok(())
    })
}

/// So many readers and writers at a time: each alone, and beside the others.
fn pairs(counts: &[usize]) -> Vec<(usize, usize)> {
    let with_none = || [0].into_iter().chain(counts.iter().copied());
    with_none()
        .flat_map(|readers| with_none().map(move |writers| (readers, writers)))
        .filter(|&(readers, writers)| readers + writers > 0)
        .collect()
}

fn phase(
    bench: &Bench<'_>,
    subject: &dyn Subject,
    (readers, writers): (usize, usize),
    name: &'static str,
    measured: &mut Measured,
) -> Result<()> {
    let (reading, written) = (AtomicUsize::new(readers), AtomicUsize::new(0));
    let times = Mutex::new(Vec::new());
    let (fifth, least) = (&bench.edges[..bench.edges.len() / 5], bench.while_of(PHASE));
    let seconds = timed(readers + writers, |nth| {
        if nth < readers {
            let _leaving = Leaving(&reading);
            return read(subject, least, &times);
        }
        let own = fifth.chunks(fifth.len().div_ceil(writers).max(1)).nth(nth - readers).unwrap_or_default();
        let begun = Instant::now();
        let is_over = || match readers {
            0 => begun.elapsed() >= least,
            _ => reading.load(Ordering::Relaxed) == 0,
        };
        written.fetch_add(write(subject, own, is_over)?, Ordering::Relaxed);
        Ok(())
    })?;
    let times = times.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let label = |who: &str| format!("{who} readers={readers} writers={writers}");
    let threads = readers + writers;
    if readers > 0 {
        measured.add(name, label("pr"), "s", threads, median(&times));
    }
    if writers > 0 {
        let rate = bench.directed(written.into_inner()) / seconds;
        measured.add(name, label("write"), "edges/s", threads, rate);
    }
    Ok(())
}

/// A reader, who is counted until it ends, whatever ends it: writers go on until there is none.
struct Leaving<'a>(&'a AtomicUsize);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Ranks new snapshots by one thread, once and until the phase is long enough.
fn read(subject: &dyn Subject, least: Duration, times: &Mutex<Vec<f64>>) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let phase = Instant::now();
    loop {
        let begun = Instant::now();
        // The store makes its view when a snapshot is opened: by this thread, too.
        pool.install(|| subject.snapshot()?.run(Kernel::PageRank, &[]).map(drop))?;
        let taken = begun.elapsed().as_secs_f64();
        times.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(taken);
        if phase.elapsed() >= least {
            return Ok(());
        }
    }
}

/// Removes and inserts edges, stretch by stretch. Returns how many updates were made; all edges are there at the end.
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
