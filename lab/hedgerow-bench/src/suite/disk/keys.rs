//! Look-ups of vertices by name within a quarter of the memory. A counting file system counts the blocks that
//! a look-up reads of a segment.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use hedgerow::io::{CountingFs, IoCounters, RealFs};
use hedgerow::{Durability, Graph, LEAST_MEMORY_LIMIT, Options, Snapshot, VertexKeyRef};
use hedgerow_workload::rng::Rng;

use super::super::load;
use super::super::recovery::stores::Place;
use super::super::vertices::{Name, Naming};
use super::super::work::Work;
use super::store::{BATCH, LEAST_SHARE};
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;

/// The number of vertices to look up in a store.
const LOOKUPS: usize = 20_000;
/// The number of segments of the store: the first one, and further ones with new edges of some vertices each.
const RUNS: u64 = 3;
/// The number of edges that a further segment changes.
const CHANGED: usize = 60;
/// The distance from the vertices of a further segment to the vertices of the segment before it.
const STEP: usize = 4096;
const NAMINGS: [(&str, Naming); 2] = [("u64", Naming::U64), ("str", Naming::Str)];

/// The counts of one store.
struct Counted {
    /// The number of segments of the store.
    runs: u64,
    /// The maximum number of blocks of each segment that a look-up reads; in `mean`, the mean.
    most: f64,
    mean: f64,
    /// The number of reads of the look-up that reads all keys, if the limit has room for them. No later
    /// look-up reads a file.
    all_keys: Option<f64>,
    per_s: f64,
    told: f64,
}

/// Makes a store with each kind of names, with one segment and with several, and looks up vertices.
pub(super) fn measure(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let threads = work.options.threads();
    for (label, naming) in NAMINGS {
        let place = Place::new(&work.options.dir, "disk-keys")?;
        let names: Vec<Name> = (0..work.graph.vertices as u64).map(|v| naming.name(v)).collect();
        let whole = fill(work, naming, &names, &place.0)?;
        let limit = (whole * LEAST_SHARE / 100).max(LEAST_MEMORY_LIMIT);
        for further in [false, true] {
            if further {
                add_runs(work, naming, &names, &place.0)?;
            }
            let counted = look_up((work, naming, &names), &place.0, limit)?;
            let runs = counted.runs;
            if further && runs == 1 {
                // A checkpoint of a small graph merges all segments.
                continue;
            }
            let values = [
                ("blocks_per_lookup.most", "blocks", counted.most),
                ("blocks_per_lookup.mean", "blocks", counted.mean),
                ("lookups_per_s", "look-ups/s", counted.per_s),
                ("budget.peak_ratio", "x", counted.told),
            ];
            for (metric, unit, value) in values {
                let name = format!("keys.{label}.runs_{runs}.{metric}");
                recorder.add("hedgerow", Metric { name: &name, unit, threads }, &[value], None)?;
            }
            if let Some(reads) = counted.all_keys {
                let name = format!("keys.{label}.runs_{runs}.all_keys.reads");
                recorder.add("hedgerow", Metric { name: &name, unit: "reads", threads }, &[reads], None)?;
            }
        }
    }
    Ok(())
}

fn options(work: &Work<'_>, naming: Naming) -> Options {
    load::options(work.graph.directed).keys(naming.keys()).durability(Durability::Manual)
}

/// Makes the store with one segment. Returns its bytes once all of it is in memory.
fn fill(work: &Work<'_>, naming: Naming, names: &[Name], path: &Path) -> Result<u64> {
    let store = options(work, naming).open(path)?;
    for batch in names.chunks(BATCH) {
        let mut tx = store.write()?;
        batch.iter().try_for_each(|name| tx.insert_vertex(name).map(drop))?;
        tx.commit()?;
    }
    work.graph.edges.chunks(BATCH).try_for_each(|batch| put(&store, names, batch))?;
    store.compact()?;
    store.settle()?;
    let whole = store.memory_bytes();
    store.close()?;
    Ok(whole)
}

fn put(store: &Graph, names: &[Name], edges: &[(u32, u32)]) -> Result<()> {
    let name = |v: u32| VertexKeyRef::from(&names[v as usize]);
    let mut tx = store.write()?;
    tx.put_edges(edges.iter().map(|&(u, v)| (name(u), name(v))))?;
    tx.commit()?;
    Ok(())
}

/// Adds segments to the store, each with a part of the vertices.
fn add_runs(work: &Work<'_>, naming: Naming, names: &[Name], path: &Path) -> Result<()> {
    let store = options(work, naming).open(path)?;
    let step = STEP.min(names.len());
    for run in 1..RUNS as usize {
        // Edges between neighbors change few subgraphs, so that the next checkpoint leaves the earlier
        // segments as they are.
        let from = run * step % names.len();
        let edges: Vec<(u32, u32)> = (0..CHANGED.min(names.len() - from - 1))
            .map(|i| ((from + i) as u32, (from + i + 1) as u32))
            .collect();
        let mut tx = store.write()?;
        let name = |v: u32| VertexKeyRef::from(&names[v as usize]);
        for &(u, v) in &edges {
            tx.remove_edge((name(u), name(v)))?;
        }
        tx.commit()?;
        put(&store, names, &edges)?;
        store.checkpoint()?;
    }
    Ok(store.close()?)
}

fn look_up((work, naming, names): (&Work<'_>, Naming, &[Name]), path: &Path, limit: u64) -> Result<Counted> {
    let fs = CountingFs::new(Arc::new(RealFs::open_dir(path)?));
    let counters = fs.counters();
    let store = options(work, naming).memory_limit(limit).open_on(Arc::new(fs))?;
    let runs = store.stats()?.segments.max(1);
    let snapshot = store.snapshot()?;
    let (mut rng, mut reads, mut told) = (Rng::new(17), Vec::with_capacity(LOOKUPS), 0);
    let begun = Instant::now();
    for _ in 0..LOOKUPS {
        reads.push(find(&snapshot, &names[rng.below(names.len() as u64) as usize], &counters)?);
        told = store.memory_bytes().max(told);
    }
    let seconds = begun.elapsed().as_secs_f64();
    drop(snapshot);
    store.close()?;
    let all_keys = take_all_keys(&mut reads);
    let (most, all) = (reads.iter().max().copied().unwrap_or(0), reads.iter().sum::<u64>());
    Ok(Counted {
        runs,
        most: most as f64 / runs as f64,
        mean: all as f64 / reads.len().max(1) as f64 / runs as f64,
        all_keys,
        per_s: LOOKUPS as f64 / seconds,
        told: told as f64 / limit as f64,
    })
}

/// Removes from `reads` the look-up that reads all keys, and all later look-ups, which read no file. Returns
/// the number of reads of this look-up.
fn take_all_keys(reads: &mut Vec<u64>) -> Option<f64> {
    let last = reads.iter().rposition(|&reads| reads > 0)?;
    if reads.len() - last <= LOOKUPS / 20 {
        return None;
    }
    let all = reads.get(last).copied();
    reads.truncate(last);
    all.map(|reads| reads as f64)
}

/// Looks up a vertex that exists. Returns the number of its reads.
fn find(snapshot: &Snapshot, name: &Name, counters: &IoCounters) -> Result<u64> {
    let before = counters.reads.load(Relaxed);
    if !snapshot.contains_vertex(name)? {
        return Err("a vertex is not found by its name".into());
    }
    Ok(counters.reads.load(Relaxed) - before)
}
