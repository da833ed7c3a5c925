//! The suite `recovery`: the time to open a store, until the first snapshot. It opens the store from a
//! checkpoint, from its log, and from both. It also opens the store with an empty log, compared with a graph
//! of 2^16 vertices, and with a log of updates over a checkpoint.

mod small;
pub(super) mod stores;
mod updates;

use std::path::Path;
use std::time::Instant;

use hedgerow::{Direction, Topology};
use hedgerow_subjects::Engine;

use super::load;
use super::work::Work;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;
use stores::{Place, open, put, reopen_once};

/// Runs the suite.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    if !work.options.has(Engine::Hedgerow) {
        return Ok(());
    }
    let place = Place::new(&work.options.dir, "recovery")?;
    let expected = from_log(work, &place.0, recorder)?;
    from_checkpoint(work, &place.0, expected, recorder)?;
    updates::measure(work, &place.0, recorder)?;
    place.clear()?;
    if work.options.wants("both") { from_both(work, &place.0, expected, recorder) } else { Ok(()) }
}

/// Makes a store with everything in its log, and opens it. Returns the number of its edges.
fn from_log(work: &Work<'_>, path: &Path, recorder: &mut Recorder) -> Result<u64> {
    let store = open(work, path)?;
    load::insert_vertices(&store, work.graph.vertices)?;
    put(&store, &work.graph.edges)?;
    let expected = store.snapshot()?.edge_count()?;
    store.close()?;
    if work.options.wants("log") {
        let seconds = reopen(work, path, expected)?;
        // One operation per vertex and per edge; an undirected edge counts once.
        let operations = (work.graph.vertices + work.graph.edges.len()) as f64;
        let threads = work.options.threads();
        let metric = Metric { name: "log.operations_per_s", unit: "operations/s", threads };
        recorder.add("hedgerow", metric, &per_s(operations, &seconds), None)?;
        recorder.add("hedgerow", Metric { name: "log.seconds", unit: "s", threads }, &seconds, None)?;
    }
    Ok(expected)
}

/// Writes a checkpoint of the store, and opens it with an empty log.
fn from_checkpoint(work: &Work<'_>, path: &Path, expected: u64, recorder: &mut Recorder) -> Result<()> {
    let (directed, threads) = (work.graph.edges.len() as f64 * work.per_edge, work.options.threads());
    let mut add = |name: &str, unit: &str, measured: &[f64]| {
        recorder.add("hedgerow", Metric { name, unit, threads }, measured, None)
    };
    let store = open(work, path)?;
    let begun = Instant::now();
    let written = store.checkpoint()?;
    add("checkpoint_write.edges_per_s", "edges/s", &[directed / begun.elapsed().as_secs_f64()])?;
    add("checkpoint.bytes_per_edge", "bytes", &[written.bytes as f64 / directed])?;
    store.close()?;
    if work.options.wants("open_empty_log") {
        let beside = small::measure(work, || reopen_once(work, path, expected))?;
        add("open_empty_log.seconds", "s", &beside.seconds)?;
        if let Some(small) = &beside.small {
            add("open_empty_log.seconds.kron_16", "s", small)?;
        }
    }
    if work.options.wants("first") {
        let (point, view) = first_reads(work, path, expected)?;
        add("first_point_read.seconds", "s", &point)?;
        add("first_view.seconds", "s", &view)?;
        add("checkpoint.edges_per_s", "edges/s", &per_s(directed, &view))?;
    }
    Ok(())
}

/// Opens a store with half of the edges in a checkpoint, and half in the log.
fn from_both(work: &Work<'_>, path: &Path, expected: u64, recorder: &mut Recorder) -> Result<()> {
    let store = open(work, path)?;
    load::insert_vertices(&store, work.graph.vertices)?;
    let (first, second) = work.graph.edges.split_at(work.graph.edges.len() / 2);
    put(&store, first)?;
    store.checkpoint()?;
    put(&store, second)?;
    store.close()?;
    let (directed, threads) = (work.graph.edges.len() as f64 * work.per_edge, work.options.threads());
    let seconds = reopen(work, path, expected)?;
    recorder.add("hedgerow", Metric { name: "both.seconds", unit: "s", threads }, &seconds, None)?;
    let metric = Metric { name: "both.edges_per_s", unit: "edges/s", threads };
    recorder.add("hedgerow", metric, &per_s(directed, &seconds), None)
}

fn per_s(total: f64, seconds: &[f64]) -> Vec<f64> {
    seconds.iter().map(|s| total / s).collect()
}

/// Opens and closes the store, several times. Returns the seconds until the first snapshot.
fn reopen(work: &Work<'_>, path: &Path, expected: u64) -> Result<Vec<f64>> {
    (0..work.options.repeat()).map(|_| reopen_once(work, path, expected)).collect()
}

/// Opens the store and reads a degree, then everything. Returns the seconds of this degree, and the seconds
/// to open the store and read everything.
fn first_reads(work: &Work<'_>, path: &Path, expected: u64) -> Result<(Vec<f64>, Vec<f64>)> {
    let (mut point, mut view) = (Vec::new(), Vec::new());
    for round in 0..work.options.repeat() {
        let begun = Instant::now();
        let store = open(work, path)?;
        let opened = begun.elapsed();
        let snapshot = store.snapshot()?;
        let middle = (work.graph.vertices / 2 + round) as u64;
        let read = Instant::now();
        snapshot.degree(middle, Direction::Out)?;
        point.push(read.elapsed().as_secs_f64());
        let read = Instant::now();
        let found = snapshot.default_label().view()?.edge_count();
        view.push((opened + read.elapsed()).as_secs_f64());
        drop(snapshot);
        store.close()?;
        if found != expected {
            return Err(format!("{found} edges in a view after reopening, {expected} before").into());
        }
    }
    Ok((point, view))
}
