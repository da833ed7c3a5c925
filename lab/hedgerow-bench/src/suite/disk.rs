//! The suite `disk`: a store whose memory limit is below what its graph takes, against the same store without
//! a limit.
//!
//! The graph is loaded and compacted without a limit. Then the store is opened without one, which says what
//! the graph takes in memory and what the answers are, and with limits of a half and a quarter of that. Each
//! does the same work; an answer that differs ends the suite. A thread looks at the account of the store and
//! at the process every millisecond meanwhile.
//!
//! Two parts have a quarter of the memory: a snapshot is held while a tenth of the edges changes
//! (`--only held`), and vertices are looked up by name (`--only keys`).

mod held;
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

/// Limits, in hundredths of what the graph takes in memory.
const SHARES: [u64; 2] = [50, LEAST_SHARE];
/// Parts that `--only` can name; what else it names are kernels.
const PARTS: [&str; 2] = ["held", "keys"];

/// What was measured with one limit.
struct Figures {
    seconds: Seconds,
    /// Of the last round.
    answers: Answers,
    /// Of each round: the most that the account told, and that the process grew by outside kernels, in bytes.
    told: Vec<f64>,
    grown: Vec<f64>,
}

/// Runs the suite.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    if !work.options.has(Engine::Hedgerow) {
        return Ok(());
    }
    if work.options.only != ["keys"] {
        limits(work, recorder)?;
    }
    if work.options.wants("keys") { keys::measure(work, recorder) } else { Ok(()) }
}

/// One store within limits.
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

/// Makes the store; returns the bytes of its segment by edge.
fn fill(work: &Work<'_>, path: &Path) -> Result<f64> {
    let store = open(work, path, None)?;
    load::insert_vertices(&store, work.graph.vertices)?;
    work.graph.edges.chunks(BATCH).try_for_each(|batch| load::put_batch(&store, batch))?;
    let written = store.compact()?.bytes as f64;
    store.close()?;
    Ok(written / (work.graph.edges.len() as f64 * work.per_edge))
}

/// What the store takes once all of it is in memory, without its view.
fn bytes_in_memory(work: &Work<'_>, path: &Path) -> Result<u64> {
    let store = open(work, path, None)?;
    store.snapshot()?.view()?;
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
        // The next round finds what this one found.
        store.compact()?;
        store.close()?;
        figures.told.push(peak.told() as f64);
        figures.grown.push(peak.resident().saturating_sub(before) as f64);
    }
    Ok(figures)
}

/// `limited`: the share that the limit is, the limit, and the figures without one.
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
