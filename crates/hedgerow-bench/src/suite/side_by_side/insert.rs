//! Ingestion into engines of any kind.

use std::time::Instant;

use hedgerow_core::{DynamicGraph, Topology};

use super::super::work::Work;
use super::edges::{Edge, insert_vertices};
use super::measured::Measured;
use crate::failure::{Failure, Result};

/// Batch sizes in edges as given.
const BATCHES: [usize; 2] = [1_000, 100_000];

const UNIT: &str = "edges/s";

fn directed(work: &Work<'_>, edges: usize) -> f64 {
    edges as f64 * work.per_edge
}

/// All edges known at once.
pub(super) fn build(work: &Work<'_>, measured: &mut Measured) -> Result<()> {
    let begun = Instant::now();
    let csr = work.csr()?;
    let seconds = begun.elapsed().as_secs_f64();
    let edges = directed(work, work.graph.edges.len());
    measured.add("csr", "build.edges_per_s", UNIT, work.options.threads(), edges / seconds);
    measured.add("csr", "accounted_bytes_per_edge.loaded", "bytes", 1, csr.bytes() as f64 / edges);
    Ok(())
}

/// Single edges by one and more writers, and batches by one.
pub(super) fn all<G: DynamicGraph>(
    work: &Work<'_>,
    edges: &[Edge],
    name: &'static str,
    new: impl Fn() -> Result<G>,
    measured: &mut Measured,
) -> Result<()> {
    let count = directed(work, edges.len());
    let empty = || -> Result<G> {
        let engine = new()?;
        insert_vertices(work, &engine)?;
        Ok(engine)
    };
    for writers in 1..=work.options.threads() {
        let engine = empty()?;
        let seconds = single(&engine, edges, writers)?;
        measured.add(name, "single.edges_per_s", UNIT, writers, count / seconds);
        // Before a snapshot is opened: that of the store keeps a view.
        let bytes = engine.memory_bytes() as f64 / count;
        check_count(&engine, edges, name)?;
        if writers == 1 {
            measured.add(name, "accounted_bytes_per_edge.loaded", "bytes", 1, bytes);
            removals(work, &engine, &edges[..edges.len() / 10], name, measured)?;
        }
    }
    for size in BATCHES {
        let engine = empty()?;
        let begun = Instant::now();
        edges.chunks(size).try_for_each(|batch| engine.insert_edges(batch))?;
        let rate = count / begun.elapsed().as_secs_f64();
        measured.add(name, format!("batch_{size}.edges_per_s"), UNIT, 1, rate);
        check_count(&engine, edges, name)?;
    }
    Ok(())
}

fn check_count<G: DynamicGraph>(engine: &G, edges: &[Edge], name: &str) -> Result<()> {
    let found = engine.snapshot()?.edge_count();
    if found == edges.len() as u64 {
        return Ok(());
    }
    Err(format!("{name}: {found} edges after {} were written", edges.len()).into())
}

/// The seconds that single edges take, shared out among writers.
fn single<G: DynamicGraph>(engine: &G, edges: &[Edge], writers: usize) -> Result<f64> {
    let begun = Instant::now();
    let write = |writer: usize| -> Result<()> {
        for &(src, dst, weight) in edges.iter().skip(writer).step_by(writers) {
            engine.insert_edge(src, dst, weight)?;
        }
        Ok(())
    };
    let write = &write;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..writers).map(|writer| scope.spawn(move || write(writer))).collect();
        let failed = |_| -> Failure { "a writer panicked".into() };
        threads.into_iter().try_for_each(|thread| thread.join().map_err(failed)?)
    })?;
    Ok(begun.elapsed().as_secs_f64())
}

/// Removes single edges and inserts them again.
fn removals<G: DynamicGraph>(
    work: &Work<'_>,
    engine: &G,
    edges: &[Edge],
    name: &'static str,
    measured: &mut Measured,
) -> Result<()> {
    let begun = Instant::now();
    for &(src, dst, _) in edges {
        engine.remove_edge(src, dst)?;
    }
    for &(src, dst, weight) in edges {
        engine.insert_edge(src, dst, weight)?;
    }
    let rate = directed(work, 2 * edges.len()) / begun.elapsed().as_secs_f64();
    measured.add(name, "remove_and_insert.edges_per_s", UNIT, 1, rate);
    Ok(())
}
