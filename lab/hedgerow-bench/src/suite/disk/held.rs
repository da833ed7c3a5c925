//! A snapshot that is held while a tenth of the edges changes, within a quarter of the memory. Its answers
//! after the change equal its answers before.

use std::path::Path;
use std::time::Instant;

use hedgerow::{Graph, WriteTxn};

use super::super::load;
use super::super::work::Work;
use super::peak::Peak;
use super::steps;
use super::store::open;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;

/// The number of edges in a transaction.
const BATCH: usize = 1_000;
/// The number of retries of a transaction before its conflict ends the suite.
const RETRIES: u32 = 100;
/// The share of ids that bounds the edges to change: both their ends are below it. In a graph with random ids
/// these are a tenth of all edges.
const CHANGED: f64 = 0.316;

/// The figures, round by round.
#[derive(Default)]
struct Figures {
    before: Vec<f64>,
    change: Vec<f64>,
    after: Vec<f64>,
    told: Vec<f64>,
}

/// Measures with the store at `path`. The store has the same edges afterwards.
pub(super) fn measure(work: &Work<'_>, path: &Path, limit: u64, recorder: &mut Recorder) -> Result<()> {
    let below = (work.graph.vertices as f64 * CHANGED) as u32;
    let edges = work.graph.edges.iter().copied();
    let mut chosen: Vec<(u32, u32)> = edges.filter(|&(u, v)| u < below && v < below).collect();
    chosen.sort_unstable();
    let mut figures = Figures::default();
    for _ in 0..work.options.repeat() {
        let store = open(work, path, Some(limit))?;
        let peak = Peak::default();
        peak.beside(&store, || hold(work, &store, &chosen, &mut figures))?;
        store.compact()?;
        store.close()?;
        figures.told.push(peak.told() as f64 / limit as f64);
    }
    let Figures { before, change, after, told } = figures;
    let threads = work.options.threads();
    let mut add = |name: &str, unit: &str, values: &[f64]| {
        recorder.add("hedgerow", Metric { name, unit, threads }, values, None)
    };
    add("held.changed_share", "x", &[chosen.len() as f64 / work.graph.edges.len() as f64])?;
    add("held.answers_before.seconds", "s", &before)?;
    add("held.change.seconds", "s", &change)?;
    add("held.answers_after.seconds", "s", &after)?;
    add("held.budget.peak_ratio", "x", &told)
}

fn hold(work: &Work<'_>, store: &Graph, chosen: &[(u32, u32)], figures: &mut Figures) -> Result<()> {
    let timed = |step: &mut dyn FnMut() -> Result<()>| -> Result<f64> {
        let begun = Instant::now();
        step()?;
        Ok(begun.elapsed().as_secs_f64())
    };
    let snapshot = store.snapshot()?;
    let (mut before, mut after) = Default::default();
    figures.before.push(timed(&mut || {
        before = steps::answers_of(work, &snapshot)?;
        Ok(())
    })?);
    figures.change.push(timed(&mut || chosen.chunks(BATCH).try_for_each(|batch| remove(store, batch)))?);
    let left = store.snapshot()?.edge_count()?;
    figures.after.push(timed(&mut || {
        after = steps::answers_of(work, &snapshot)?;
        Ok(())
    })?);
    after.must_agree_with(&before).map_err(|error| format!("a held snapshot: {error}"))?;
    let expected = snapshot.edge_count()? - chosen.len() as u64;
    if left != expected {
        return Err(format!("{left} edges after removals, {expected} expected").into());
    }
    drop(snapshot);
    chosen.chunks(BATCH).try_for_each(|batch| load::put_batch(store, batch))
}

/// Removes the edges in one transaction. A removal reads, and data that left memory between the read and the
/// commit counts as changed. The transaction then runs again.
fn remove(store: &Graph, edges: &[(u32, u32)]) -> Result<()> {
    let all = |tx: &mut WriteTxn| {
        edges.iter().try_for_each(|&(u, v)| tx.remove_edge((u64::from(u), u64::from(v))).map(drop))
    };
    Ok(store.transact(RETRIES, all).map(drop)?)
}
