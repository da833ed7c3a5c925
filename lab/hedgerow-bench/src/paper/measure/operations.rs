//! The operations of the study: insert the last fifth of the edges, search for a fifth of the edges, and read
//! lists that are drawn by their degree. They run with more and more threads, and all three at the same time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use hedgerow_core::VertexId;
use hedgerow_subjects::{Edge, Reader, Share, Subject};
use hedgerow_workload::rng::Rng;

use super::super::bench::{Bench, drawn_by_degree, ends, shown};
use super::ingest::TOGETHER;
use super::latency::Latencies;
use crate::record::Record;
use crate::suite::{Measured, timed};
use hedgerow_report::failure::Result;

/// The number of operations of a reader on one snapshot while a writer runs.
const ON_ONE_SNAPSHOT: usize = 100 * TOGETHER;
const FIGURES: [&str; 5] = ["p50", "p95", "p99", "max", "mean"];

/// The input of the operations.
struct Streams<'a> {
    /// The edges in the graph before the operations.
    first: &'a [Edge],
    /// The edges to insert.
    last: &'a [Edge],
    searched: Vec<(VertexId, VertexId)>,
    /// The searched edges whose source has few neighbours; in `high`, many neighbours.
    low: Vec<(VertexId, VertexId)>,
    high: Vec<(VertexId, VertexId)>,
    scanned: Vec<VertexId>,
    /// All vertices in random order.
    all: Vec<VertexId>,
}

impl<'a> Streams<'a> {
    fn draw(bench: &'a Bench<'_>) -> Result<Streams<'a>> {
        let (first, last) = bench.edges.split_at(bench.edges.len() * 4 / 5);
        let csr = bench.csr_of(first)?;
        let snapshot = csr.snapshot()?;
        let mut rng = Rng::new(5);
        let mut edge = || first[rng.below(first.len() as u64) as usize];
        let searched: Vec<Edge> = (0..bench.edges.len().div_ceil(5)).map(|_| edge()).collect();
        let searched = ends(&searched);
        let mean = snapshot.edge_count() as f64 * bench.work.per_edge / bench.work.graph.vertices as f64;
        let scanned = drawn_by_degree(first, bench.work.graph.vertices.div_ceil(5), 9);
        let is_low = |edge: &&(VertexId, VertexId)| (snapshot.degrees(&[edge.0]) as f64) <= mean;
        let is_high = |edge: &&(VertexId, VertexId)| (snapshot.degrees(&[edge.0]) as f64) > 8.0 * mean;
        let low = searched.iter().filter(is_low).copied().collect();
        let high = searched.iter().filter(is_high).copied().collect();
        let mut all: Vec<VertexId> = (0..bench.work.graph.vertices as u32).map(VertexId).collect();
        hedgerow_workload::shuffle(&mut all, 7);
        Ok(Streams { first, last, searched, low, high, scanned, all })
    }
}

/// Measures the operations.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let streams = Streams::draw(bench)?;
    let mut subjects = bench.filled("operations", streams.first);
    subjects.insert(0, ("csr", bench.csr_of(streams.first)?));
    bench.rounds("operations", bench.work.options.repeat(), subjects, |name, subject, measured| {
        reads(bench, &**subject, &streams, name, measured)?;
        if name == "csr" {
            return Ok(());
        }
        for writers in bench.thread_counts() {
            let seconds = timed(writers, |nth| subject.insert(Share::of(streams.last, nth, writers)))?;
            let rate = bench.directed(streams.last.len()) / (seconds + shown(&**subject)?);
            measured.add(name, "insert", "edges/s", writers, rate);
            subject.remove(Share::all(streams.last))?;
        }
        at_once(&**subject, &streams, name, measured)?;
        subject.remove(Share::all(streams.last))
    })
}

fn reads(
    bench: &Bench<'_>,
    subject: &dyn Subject,
    streams: &Streams<'_>,
    name: &'static str,
    measured: &mut Measured,
) -> Result<()> {
    let snapshot = subject.snapshot()?;
    // The other subjects ran since the last turn of this one. Without this scan, the first timed read would
    // be slower.
    snapshot.scan()?;
    for threads in bench.thread_counts() {
        let kinds = [
            ("search", &streams.searched),
            ("search degrees=low", &streams.low),
            ("search degrees=high", &streams.high),
        ];
        for (metric, asked) in kinds {
            if asked.is_empty() {
                continue;
            }
            let part = asked.len().div_ceil(threads);
            let seconds = timed(threads, |nth| {
                let asked = asked.chunks(part).nth(nth).unwrap_or_default();
                match snapshot.search(asked) == asked.len() {
                    true => Ok(()),
                    false => Err(format!("{name} does not find all edges").into()),
                }
            })?;
            measured.add(name, metric, "edges/s", threads, asked.len() as f64 / seconds);
        }
        let part = streams.scanned.len().div_ceil(threads);
        let read = Mutex::new(0);
        let seconds = timed(threads, |nth| {
            let vertices = streams.scanned.chunks(part).nth(nth).unwrap_or_default();
            let (count, _) = snapshot.visit(vertices)?;
            *read.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += count;
            Ok(())
        })?;
        let read = read.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        measured.add(name, "scan", "edges/s", threads, read as f64 / seconds);
    }
    let begun = Instant::now();
    let in_order = snapshot.scan()?;
    let rate = |read: usize, begun: Instant| read as f64 / begun.elapsed().as_secs_f64();
    measured.add(name, "whole scan order=sequential", "edges/s", 1, rate(in_order.0, begun));
    let begun = Instant::now();
    let at_random = snapshot.visit(&streams.all)?;
    measured.add(name, "whole scan order=random", "edges/s", 1, rate(at_random.0, begun));
    match in_order == at_random {
        true => Ok(()),
        false => Err(format!("{name}: a scan in order and one at random read different lists").into()),
    }
}

/// Runs three threads until the insertions end: one inserts, one searches and one scans. Measures the
/// latencies of a hundred operations.
fn at_once(
    subject: &dyn Subject,
    streams: &Streams<'_>,
    name: &'static str,
    measured: &mut Measured,
) -> Result<()> {
    let done = AtomicBool::new(false);
    let times: [Mutex<Latencies>; 3] = Default::default();
    let push = |of: usize, begun: Instant| {
        let taken = begun.elapsed();
        times[of].lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(taken);
    };
    timed(3, |nth| {
        // The end of one thread, with or without an error, ends all three.
        let _ends = Ends(&done);
        match nth {
            0 => insert_all(subject, streams.last, |begun| push(0, begun)),
            1 => again_and_again(subject, &streams.searched, &done, |snapshot, hundred| {
                let begun = Instant::now();
                std::hint::black_box(snapshot.search(hundred));
                push(1, begun);
                Ok(())
            }),
            _ => again_and_again(subject, &streams.scanned, &done, |snapshot, hundred| {
                let begun = Instant::now();
                snapshot.visit(hundred)?;
                push(2, begun);
                Ok(())
            }),
        }
    })?;
    for (operation, times) in ["insert", "search", "scan"].into_iter().zip(times) {
        let times = times.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        times.add(name, operation, &FIGURES, 3, measured);
    }
    Ok(())
}

/// A guard that ends all threads when one thread ends.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn insert_all(subject: &dyn Subject, edges: &[Edge], push: impl Fn(Instant)) -> Result<()> {
    for hundred in edges.chunks(TOGETHER) {
        let begun = Instant::now();
        subject.insert(Share::all(hundred))?;
        push(begun);
    }
    Ok(())
}

/// Reads by hundreds, over and over until `done`. Opens a new snapshot after [`ON_ONE_SNAPSHOT`] operations.
fn again_and_again<T>(
    subject: &dyn Subject,
    asked: &[T],
    done: &AtomicBool,
    read: impl Fn(&dyn Reader, &[T]) -> Result<()>,
) -> Result<()> {
    while !done.load(Ordering::Relaxed) {
        for part in asked.chunks(ON_ONE_SNAPSHOT) {
            let snapshot = subject.snapshot()?;
            for hundred in part.chunks_exact(TOGETHER.min(part.len())) {
                if done.load(Ordering::Relaxed) {
                    return Ok(());
                }
                read(&*snapshot, hundred)?;
            }
        }
    }
    Ok(())
}
