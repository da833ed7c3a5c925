//! The suite `recovery`: how long a store takes to open, until the first snapshot, from a checkpoint, from its log, and
//! from both.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hedgerow::{Direction, Durability, Graph, Topology};

use super::load;
use super::work::{Engine, Work};
use crate::failure::{Context, Result};
use crate::record::{Metric, Recorder};

/// Edges to a transaction while loading.
const BATCH: usize = 1_000;

/// Runs the suite.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    if !work.options.has(Engine::Hedgerow) {
        return Ok(());
    }
    let place = Place::new(&work.options.dir, "recovery")?;
    let (edges, directed) = (&work.graph.edges, work.graph.edges.len() as f64 * work.per_edge);
    // One operation per vertex and per edge, undirected ones once.
    let operations = (work.graph.vertices + edges.len()) as f64;

    let store = open(work, &place.0)?;
    load::insert_vertices(&store, work.graph.vertices)?;
    put(&store, edges)?;
    let expected = store.snapshot()?.edge_count()?;
    store.close()?;
    let per_s = |total: f64, seconds: Vec<f64>| -> Vec<f64> { seconds.iter().map(|s| total / s).collect() };
    let threads = work.options.threads();
    let mut add = |name: &str, unit: &str, measured: &[f64]| {
        recorder.add("hedgerow", Metric { name, unit, threads }, measured, None)
    };
    let seconds = reopen(work, &place.0, expected)?;
    add("log.seconds", "s", &seconds)?;
    add("log.operations_per_s", "operations/s", &per_s(operations, seconds))?;

    let store = open(work, &place.0)?;
    let begun = Instant::now();
    let written = store.checkpoint()?;
    add("checkpoint_write.edges_per_s", "edges/s", &[directed / begun.elapsed().as_secs_f64()])?;
    add("checkpoint.bytes_per_edge", "bytes", &[written.bytes as f64 / directed])?;
    store.close()?;
    let seconds = reopen(work, &place.0, expected)?;
    add("open_empty_log.seconds", "s", &seconds)?;
    let (point, view) = first_reads(work, &place.0, expected)?;
    add("first_point_read.seconds", "s", &point)?;
    add("first_view.seconds", "s", &view)?;
    add("checkpoint.edges_per_s", "edges/s", &per_s(directed, view))?;

    place.clear()?;
    let store = open(work, &place.0)?;
    load::insert_vertices(&store, work.graph.vertices)?;
    let (first, second) = edges.split_at(edges.len() / 2);
    put(&store, first)?;
    store.checkpoint()?;
    put(&store, second)?;
    store.close()?;
    let seconds = reopen(work, &place.0, expected)?;
    add("both.seconds", "s", &seconds)?;
    add("both.edges_per_s", "edges/s", &per_s(directed, seconds))
}

fn open(work: &Work<'_>, path: &Path) -> Result<Graph> {
    // Loading is not what is measured: one sync at the end will do.
    Ok(load::options(work.graph.directed).durability(Durability::Manual).open(path)?)
}

fn put(store: &Graph, edges: &[(u32, u32)]) -> Result<()> {
    edges.chunks(BATCH).try_for_each(|batch| load::put_batch(store, batch))
}

/// Opens and closes the store; seconds until the first snapshot.
fn reopen(work: &Work<'_>, path: &Path, expected: u64) -> Result<Vec<f64>> {
    let mut taken = Vec::new();
    for _ in 0..work.options.repeat() {
        let begun = Instant::now();
        let store = open(work, path)?;
        let edges = store.snapshot()?.edge_count()?;
        taken.push(begun.elapsed().as_secs_f64());
        store.close()?;
        if edges != expected {
            return Err(format!("{edges} edges after reopening, {expected} before").into());
        }
    }
    Ok(taken)
}

/// Opens the store and reads a degree, then everything; the seconds of that degree, and of opening and reading everything.
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
        let found = snapshot.view()?.edge_count();
        view.push((opened + read.elapsed()).as_secs_f64());
        drop(snapshot);
        store.close()?;
        if found != expected {
            return Err(format!("{found} edges in a view after reopening, {expected} before").into());
        }
    }
    Ok((point, view))
}

/// A directory of its own, removed at the end.
pub(super) struct Place(pub(super) PathBuf);

impl Place {
    pub(super) fn new(dir: &Path, suite: &str) -> Result<Place> {
        std::fs::create_dir_all(dir).context(dir.display())?;
        Ok(Place(dir.join(format!("{suite}-{}", std::process::id()))))
    }

    fn clear(&self) -> Result<()> {
        std::fs::remove_dir_all(&self.0).context(self.0.display())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A folder that stays behind is a nuisance, not a wrong figure.
        let _ = self.clear();
    }
}
