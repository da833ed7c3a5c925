//! Ingestion: single edges and batches with more and more threads, the latency of single edges while the
//! graph grows, and memory.

use hedgerow_subjects::{Edge, Engine, Share, Subject};
use std::time::Instant;

use super::super::bench::{Bench, shown};
use super::latency::Latencies;
use crate::record::Record;
use crate::suite::{Measured, check_count, timed};
use hedgerow_report::failure::Result;

/// The number of insertions in one latency, the same as in the study.
pub(super) const TOGETHER: usize = 100;
/// The number of parts of the ingestion; each part has its own latency.
const PARTS: usize = 10;
/// The numbers of edges in a batch, as powers of two.
const BATCHES: [u32; 5] = [2, 4, 8, 10, 16];

/// Measures ingestion.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let engines = bench.engines().into_iter().map(|engine| (engine.name(), engine)).collect();
    let mut records =
        bench.rounds("ingest", bench.work.options.repeat(), engines, |name, &engine, measured| {
            singles(bench, engine, name, measured)?;
            batches(bench, engine, name, measured)
        })?;
    let mut fixed = Measured::default();
    let bytes = bench.csr()?.memory_bytes() as f64 / bench.directed(bench.edges.len());
    fixed.add("csr", "memory", "bytes/edge", 1, bytes);
    for record in records.iter_mut().filter(|record| record.metric == "memory") {
        record.ratio = Some(("csr".to_owned(), record.value / bytes));
    }
    records.extend(bench.records("ingest", &fixed)?);
    Ok(records)
}

fn singles(bench: &Bench<'_>, engine: Engine, name: &'static str, measured: &mut Measured) -> Result<()> {
    let (edges, count) = (&bench.edges, bench.directed(bench.edges.len()));
    for writers in bench.thread_counts() {
        let subject = bench.empty(engine)?;
        let seconds = if writers == 1 {
            one_writer(&*subject, &bench.edges, name, measured)?
        } else {
            timed(writers, |nth| subject.insert(Share::of(edges, nth, writers)))?
        };
        // Memory is measured before a snapshot opens: a snapshot of the store keeps a view.
        let bytes = subject.memory_bytes() as f64 / count;
        measured.add(name, "insert", "edges/s", writers, count / (seconds + shown(&*subject)?));
        if writers == 1 {
            measured.add(name, "memory", "bytes/edge", 1, bytes);
        }
        check_count(&*subject, bench.edges.len(), name)?;
    }
    Ok(())
}

/// Inserts the edges with one writer, and measures the latency of each hundred. Returns the total seconds.
fn one_writer(
    subject: &dyn Subject,
    edges: &[Edge],
    name: &'static str,
    measured: &mut Measured,
) -> Result<f64> {
    let mut all = Latencies::default();
    let mut seconds = 0.0;
    for (part, edges) in edges.chunks(edges.len().div_ceil(PARTS).max(1)).enumerate() {
        let mut of_part = Latencies::default();
        for hundred in edges.chunks(TOGETHER) {
            let begun = Instant::now();
            subject.insert(Share::all(hundred))?;
            let taken = begun.elapsed();
            seconds += taken.as_secs_f64();
            if hundred.len() == TOGETHER {
                of_part.push(taken);
                all.push(taken);
            }
        }
        let progress = 100 * (part + 1) / PARTS;
        of_part.add(name, &format!("insert progress={progress}"), &["mean"], 1, measured);
    }
    all.add(name, "insert", &["p50", "p99"], 1, measured);
    Ok(seconds)
}

fn batches(bench: &Bench<'_>, engine: Engine, name: &'static str, measured: &mut Measured) -> Result<()> {
    let (edges, writers) = (&bench.edges, bench.threads());
    let count = bench.directed(edges.len());
    // Each writer has at least one batch.
    for power in BATCHES.into_iter().filter(|power| writers << power <= edges.len()) {
        let subject = bench.empty(engine)?;
        let seconds = timed(writers, |nth| {
            let mut batches = edges.chunks(1 << power).skip(nth).step_by(writers);
            batches.try_for_each(|batch| subject.insert_batch(batch))
        })?;
        let rate = count / (seconds + shown(&*subject)?);
        measured.add(name, format!("insert batch={}", 1 << power), "edges/s", writers, rate);
        check_count(&*subject, bench.edges.len(), name)?;
    }
    Ok(())
}
