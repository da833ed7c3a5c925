//! Updates of edges: a fifth removed and inserted again, temporary edges, and insertions with some removals
//! among them.

use std::collections::HashSet;
use std::time::Instant;

use hedgerow_core::VertexId;
use hedgerow_subjects::{Edge, Engine, Share, Subject};
use hedgerow_workload::rng::Rng;

use super::super::bench::{Bench, shown};
use super::latency::Latencies;
use crate::record::Record;
use crate::suite::{Measured, check_count, timed};
use hedgerow_report::failure::Result;

/// The number of rounds that remove and insert a fifth of the edges.
const ROUNDS: usize = 5;
/// The number of parts of the stream of temporary edges; each part has its own rate and memory.
const PARTS: usize = 20;
/// The numbers of insertions and removals in a hundred updates (LSMGraph's: one removal in 21).
const MIX: (usize, usize) = (95, 5);
/// The number of edges to insert, or to remove, at a stretch.
const STRETCH: usize = 64;

/// Measures the updates.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let temporary = temporary(bench)?;
    let engines = bench.engines().into_iter().map(|engine| (engine.name(), engine)).collect();
    bench.rounds("updates", bench.work.options.repeat(), engines, |name, &engine, measured| {
        let subject = bench.empty(engine)?;
        subject.insert(Share::all(&bench.edges))?;
        rounds(bench, &*subject, name, measured)?;
        check_count(&*subject, bench.edges.len(), name)?;
        with_temporary(bench, &*subject, &temporary, name, measured)?;
        check_count(&*subject, bench.edges.len(), name)?;
        drop(subject);
        few_removals(bench, engine, name, measured)
    })
}

/// Removes and inserts a fifth of the edges with all threads, in rounds.
fn rounds(
    bench: &Bench<'_>,
    subject: &dyn Subject,
    name: &'static str,
    measured: &mut Measured,
) -> Result<()> {
    let (writers, fifth) = (bench.threads(), &bench.edges[..bench.edges.len() / 5]);
    let mut seconds = 0.0;
    for round in 1..=ROUNDS {
        let removing = timed(writers, |nth| subject.remove(Share::of(fifth, nth, writers)))?;
        let inserting = timed(writers, |nth| subject.insert(Share::of(fifth, nth, writers)))?;
        seconds += removing + inserting;
        let rate = bench.directed(2 * fifth.len()) / (removing + inserting);
        measured.add(name, format!("update round={round}"), "edges/s", writers, rate);
    }
    let all = bench.directed(2 * ROUNDS * fifth.len());
    measured.add(name, "memory after updates", "bytes/edge", writers, bytes(bench, subject));
    measured.add(name, "update", "edges/s", writers, all / (seconds + shown(subject)?));
    Ok(())
}

fn bytes(bench: &Bench<'_>, subject: &dyn Subject) -> f64 {
    subject.memory_bytes() as f64 / bench.directed(bench.edges.len())
}

/// Returns as many new edges as the graph has edges, without repetition. Their ends are ends of the graph's
/// edges: their degrees are distributed like the degrees of the graph. Returns fewer edges if the graph is so
/// dense that new edges are hard to find.
fn temporary(bench: &Bench<'_>) -> Result<Vec<Edge>> {
    let csr = bench.csr()?;
    let snapshot = csr.snapshot()?;
    let edges = &bench.edges;
    let mut rng = Rng::new(11);
    let mut end = |second: bool| {
        let edge = edges[rng.below(edges.len() as u64) as usize];
        if second { edge.1 } else { edge.0 }
    };
    let (mut found, mut seen) = (Vec::with_capacity(edges.len()), HashSet::new());
    for _ in 0..4 * edges.len() {
        let (src, dst): (VertexId, VertexId) = (end(false), end(true));
        let ends = if bench.form.directed { (src, dst) } else { (src.min(dst), src.max(dst)) };
        if src != dst && snapshot.weight((src, dst)).is_none() && seen.insert(ends) {
            found.push((src, dst, 1.0));
        }
        if found.len() == edges.len() {
            break;
        }
    }
    Ok(found)
}

/// Inserts each temporary edge, and removes it a part of the stream later, with all threads. The number of
/// edges stays about the same.
fn with_temporary(
    bench: &Bench<'_>,
    subject: &dyn Subject,
    temporary: &[Edge],
    name: &'static str,
    measured: &mut Measured,
) -> Result<()> {
    let writers = bench.threads();
    let parts: Vec<&[Edge]> = temporary.chunks(temporary.len().div_ceil(PARTS).max(1)).collect();
    let mut all = 0.0;
    for (nth, &part) in parts.iter().enumerate() {
        let before: &[Edge] = if nth == 0 { &[] } else { parts[nth - 1] };
        let seconds = timed(writers, |writer| {
            let mut removed = before.chunks(STRETCH).skip(writer).step_by(writers);
            for inserted in part.chunks(STRETCH).skip(writer).step_by(writers) {
                subject.insert(Share::all(inserted))?;
                removed.next().map_or(Ok(()), |removed| subject.remove(Share::all(removed)))?;
            }
            removed.try_for_each(|removed| subject.remove(Share::all(removed)))
        })?;
        all += seconds;
        let progress = 100 * (nth + 1) / parts.len();
        let rate = bench.directed(part.len() + before.len()) / seconds;
        measured.add(name, format!("temporary update progress={progress}"), "edges/s", writers, rate);
        let memory = format!("memory progress={progress}");
        measured.add(name, memory, "bytes/edge", writers, bytes(bench, subject));
    }
    let last = parts.last().copied().unwrap_or_default();
    let count = bench.directed(2 * temporary.len() - last.len());
    measured.add(name, "temporary update", "edges/s", writers, count / (all + shown(subject)?));
    subject.remove(Share::all(last))
}

/// Inserts the last fifth of the edges, with removals of earlier edges among the insertions.
fn few_removals(
    bench: &Bench<'_>,
    engine: Engine,
    name: &'static str,
    measured: &mut Measured,
) -> Result<()> {
    let (before, after) = bench.edges.split_at(bench.edges.len() * 4 / 5);
    let subject = bench.empty(engine)?;
    subject.insert(Share::all(before))?;
    let mut removed = before.chunks(1);
    let mut latencies = Latencies::default();
    let mut updates = 0;
    let begun = Instant::now();
    let (insertions, removals) = MIX;
    for inserted in after.chunks(insertions) {
        let begun = Instant::now();
        subject.insert(Share::all(inserted))?;
        for edge in removed.by_ref().take(removals) {
            subject.remove(Share::all(edge))?;
        }
        latencies.push(begun.elapsed());
        updates += inserted.len() + removals;
    }
    let seconds = begun.elapsed().as_secs_f64() + shown(&*subject)?;
    let rate = bench.directed(updates) / seconds;
    measured.add(name, "insert and remove", "edges/s", 1, rate);
    latencies.add(name, "insert and remove", &["p99"], 1, measured);
    Ok(())
}
