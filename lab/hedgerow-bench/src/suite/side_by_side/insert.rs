//! Ingestion into engines of any kind.

use hedgerow_subjects::{Edge, Engine, Share, Subject};
use std::time::Instant;

use super::super::work::Work;
use super::edges::empty;
use super::measured::Measured;
use super::threads::timed;
use hedgerow_report::failure::Result;

/// The batch sizes in edges of the graph.
const BATCHES: [usize; 2] = [1_000, 100_000];

const UNIT: &str = "edges/s";

pub(super) fn directed(work: &Work<'_>, edges: usize) -> f64 {
    edges as f64 * work.per_edge
}

/// Measures a CSR of all edges, which are known at once.
pub(super) fn build(work: &Work<'_>, measured: &mut Measured) -> Result<()> {
    let begun = Instant::now();
    let csr = work.csr()?;
    let seconds = begun.elapsed().as_secs_f64();
    let edges = directed(work, work.graph.edges.len());
    measured.add("csr", "build.edges_per_s", UNIT, work.options.threads(), edges / seconds);
    measured.add("csr", "accounted_bytes_per_edge.loaded", "bytes", 1, csr.bytes() as f64 / edges);
    Ok(())
}

/// Measures single edges with one and more writers, and batches with one writer.
pub(super) fn all(work: &Work<'_>, edges: &[Edge], engine: Engine, measured: &mut Measured) -> Result<()> {
    let name = engine.name();
    let count = directed(work, edges.len());
    for writers in 1..=work.options.threads() {
        let subject = empty(work, engine)?;
        let seconds = timed(writers, |nth| subject.insert(Share::of(edges, nth, writers)))?;
        measured.add(name, "single.edges_per_s", UNIT, writers, count / seconds);
        // Memory is measured before a snapshot opens: a snapshot of the store keeps a view.
        let bytes = subject.memory_bytes() as f64 / count;
        check_count(&*subject, edges.len(), name)?;
        if writers == 1 {
            measured.add(name, "accounted_bytes_per_edge.loaded", "bytes", 1, bytes);
            removals(work, &*subject, &edges[..edges.len() / 10], name, measured)?;
        }
    }
    for size in BATCHES {
        let subject = empty(work, engine)?;
        let begun = Instant::now();
        edges.chunks(size).try_for_each(|batch| subject.insert_batch(batch))?;
        let rate = count / begun.elapsed().as_secs_f64();
        measured.add(name, format!("batch_{size}.edges_per_s"), UNIT, 1, rate);
        check_count(&*subject, edges.len(), name)?;
    }
    Ok(())
}

/// Checks the number of edges: a figure of an engine that has lost edges is no figure.
pub(crate) fn check_count(subject: &dyn Subject, expected: usize, name: &str) -> Result<()> {
    let found = subject.snapshot()?.edge_count();
    if found == expected as u64 {
        return Ok(());
    }
    Err(format!("{name}: {found} edges after {expected} were written").into())
}

/// Measures the removal of single edges, and their insertion.
fn removals(
    work: &Work<'_>,
    subject: &dyn Subject,
    edges: &[Edge],
    name: &'static str,
    measured: &mut Measured,
) -> Result<()> {
    let begun = Instant::now();
    subject.remove(Share::all(edges))?;
    subject.insert(Share::all(edges))?;
    let rate = directed(work, 2 * edges.len()) / begun.elapsed().as_secs_f64();
    measured.add(name, "remove_and_insert.edges_per_s", UNIT, 1, rate);
    Ok(())
}
