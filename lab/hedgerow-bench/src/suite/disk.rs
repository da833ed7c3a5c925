//! The suite `disk`: a store with a memory limit below the size of its graph, compared with the same store
//! without a limit.
//!
//! The graph is loaded and compacted without a limit. Then the store opens without a limit, which gives the
//! graph's size in memory and the answers. It also opens with limits of a half and a quarter of this size.
//! Each store does the same work, and a different answer ends the suite. Meanwhile a thread reads the account
//! of the store and the memory of the process every millisecond.
//!
//! Three parts run within a quarter of the memory. One holds a snapshot while a tenth of the edges changes
//! (`--only held`). One inserts a fifth of the edges in random order (`--only ingest`). One looks up vertices
//! by name (`--only keys`).

mod held;
mod ingest;
mod keys;
mod peak;
mod steps;
mod store;

use std::path::Path;

use hedgerow::LEAST_MEMORY_LIMIT;
use hedgerow_subjects::Engine;

use super::load;
use super::recovery::stores::Place;
use super::work::Work;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;
use hedgerow_report::resident_bytes;
use peak::Peak;
use steps::{Answers, Seconds};
use store::{BATCH, LEAST_SHARE, open};

/// The limits, in hundredths of the graph's size in memory.
const SHARES: [u64; 2] = [50, LEAST_SHARE];
/// The parts that `--only` can name; its other names are kernels.
const PARTS: [&str; 3] = ["held", "ingest", "keys"];

/// The figures with one limit.
struct Figures {
    seconds: Seconds,
    /// The answers of the last round.
    answers: Answers,
    /// The maximum of the store's account in each round, in bytes; in `grown`, the maximum growth of the
    /// process outside kernels.
    told: Vec<f64>,
    grown: Vec<f64>,
}

/// Runs the suite.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    if !work.options.has(Engine::Hedgerow) {
        return Ok(());
    }
    let only = |part: &str| work.options.only == [part];
    if !only("keys") && !only("ingest") {
        limits(work, recorder)?;
    }
    // Takes minutes, so it runs only if it is named.
    if work.options.only.iter().any(|name| name == "ingest") {
        ingest::measure(work, recorder)?;
    }
    if work.options.wants("keys") { keys::measure(work, recorder) } else { Ok(()) }
}

/// Measures one store within limits.
fn limits(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let place = Place::new(&work.options.dir, "disk")?;
    let threads = work.options.threads();
    let bytes_per_edge = fill(work, &place.0)?;
    let metric = Metric { name: "neighbors.bytes_per_edge", unit: "bytes", threads };
    recorder.add("hedgerow", metric, &[bytes_per_edge], None)?;
    let whole = bytes_in_memory(work, &place.0)?;
    let metric = Metric { name: "whole.bytes", unit: "bytes", threads };
    recorder.add("hedgerow", metric, &[whole as f64], None)?;
    if !work.options.only.iter().any(|name| PARTS.contains(&name.as_str())) {
        let unlimited = measure(work, &place.0, None)?;
        record(&unlimited, None, threads, recorder)?;
        for share in SHARES {
            let limit = (whole * share / 100).max(LEAST_MEMORY_LIMIT);
            let limited = measure(work, &place.0, Some(limit))?;
            limited.answers.must_agree_with(&unlimited.answers)?;
            record(&limited, Some((share, limit, &unlimited)), threads, recorder)?;
        }
    }
    let limit = (whole * LEAST_SHARE / 100).max(LEAST_MEMORY_LIMIT);
    if work.options.wants("held") { held::measure(work, &place.0, limit, recorder) } else { Ok(()) }
}

/// Makes the store. Returns the bytes of its segment per edge.
fn fill(work: &Work<'_>, path: &Path) -> Result<f64> {
    let store = open(work, path, None)?;
    load::insert_vertices(&store, work.graph.vertices)?;
    work.graph.edges.chunks(BATCH).try_for_each(|batch| load::put_batch(&store, batch))?;
    let written = store.compact()?.bytes as f64;
    store.close()?;
    Ok(written / (work.graph.edges.len() as f64 * work.per_edge))
}

/// Returns the bytes of the store once all of it is in memory, without its view.
fn bytes_in_memory(work: &Work<'_>, path: &Path) -> Result<u64> {
    let store = open(work, path, None)?;
    store.snapshot()?.default_label().view()?;
    let stats = store.stats()?;
    store.close()?;
    Ok(stats.memory_bytes() - stats.view_bytes)
}

fn measure(work: &Work<'_>, path: &Path, limit: Option<u64>) -> Result<Figures> {
    let mut figures =
        Figures { seconds: Seconds::new(), answers: Answers::default(), told: Vec::new(), grown: Vec::new() };
    for _ in 0..work.options.repeat() {
        let before = resident_bytes().unwrap_or(0);
        let store = steps::timed(&mut figures.seconds, "open", || open(work, path, limit))?;
        let peak = Peak::default();
        figures.answers = peak.beside(&store, || steps::all(work, &store, &peak, &mut figures.seconds))?;
        // After the compaction, the next round starts from the same state as this one.
        store.compact()?;
        store.close()?;
        figures.told.push(peak.told() as f64);
        figures.grown.push(peak.resident().saturating_sub(before) as f64);
    }
    Ok(figures)
}

/// Records the figures. `limited` has the share of the limit, the limit, and the figures without a limit.
fn record(
    figures: &Figures,
    limited: Option<(u64, u64, &Figures)>,
    threads: usize,
    recorder: &mut Recorder,
) -> Result<()> {
    let suffix = limited.map_or("in_memory".to_owned(), |(share, ..)| format!("within_{share}"));
    for (step, seconds) in &figures.seconds {
        let name = format!("{step}.seconds.{suffix}");
        let reference = limited.and_then(|(_, _, unlimited)| unlimited.seconds.get(step));
        let reference = reference.map(|seconds| ("memory", seconds.as_slice()));
        recorder.add_beside("hedgerow", Metric { name: &name, unit: "s", threads }, seconds, reference)?;
    }
    let Some((_, limit, _)) = limited else { return Ok(()) };
    for (name, bytes) in [("budget.peak_ratio", &figures.told), ("resident.peak_ratio", &figures.grown)] {
        let ratios: Vec<f64> = bytes.iter().map(|bytes| bytes / limit as f64).collect();
        let name = format!("{name}.{suffix}");
        recorder.add("hedgerow", Metric { name: &name, unit: "x", threads }, &ratios, None)?;
    }
    Ok(())
}
