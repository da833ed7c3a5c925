//! How graphs get into stores.

use std::time::Instant;

use hedgerow::{EdgeKey, Graph, KeyKind, Options, Value};
use hedgerow_workload::LoadedGraph;

use super::work::Work;
use hedgerow_report::failure::Result;

/// Vertices inserted by one transaction.
const VERTEX_BATCH: usize = 1 << 16;

/// How edges are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One edge, one transaction, through `Graph::insert_edge`.
    Single,
    /// The same through `Graph::pipeline`.
    Pipelined,
    /// So many edges to a transaction, through `WriteTxn::put_edges`.
    Batch(usize),
    /// As `Single`, each edge with one property, through `Graph::insert_edge_with`.
    SingleWithProperty,
    /// As `Batch`, each edge with one property, through `WriteTxn::put_edges_with`.
    BatchWithProperty(usize),
}

/// A weight for each edge from 1 to 255 (as the GAP suite has them), the same for the same ends in any order.
pub(crate) fn weights(graph: &LoadedGraph) -> Vec<f64> {
    graph.edges.iter().map(|edge| weight(graph.directed, edge)).collect()
}

/// The weight of one edge by its ends.
pub(super) fn weight(directed: bool, &(u, v): &(u32, u32)) -> f64 {
    let (low, high) = if directed { (u, v) } else { (u.min(v), u.max(v)) };
    let seed = u64::from(low) << 32 | u64::from(high);
    (1 + hedgerow_workload::rng::Rng::new(seed).below(255)) as f64
}

/// Options of a store for the graph: dense ids, no weights, and nothing settled but when a suite asks for it.
pub(crate) fn options(directed: bool) -> Options {
    Options::new().directed(directed).keys(KeyKind::Dense).background_settling(false)
}

/// A store without files that holds the vertices, and no edges: isolated vertices are part of the graph.
pub(crate) fn empty_store(directed: bool, vertices: usize) -> Result<Graph> {
    let store = options(directed).in_memory()?;
    insert_vertices(&store, vertices)?;
    Ok(store)
}

/// As [`empty_store`], for the weights of `graph` if it has any.
pub(crate) fn store_for(graph: &LoadedGraph) -> Result<Graph> {
    let store = options(graph.directed).weighted(graph.weights.is_some()).in_memory()?;
    insert_vertices(&store, graph.vertices)?;
    Ok(store)
}

/// Writes all edges of a weighted graph, each in a transaction of its own; returns the seconds it took.
pub(crate) fn write_weighted(store: &Graph, graph: &LoadedGraph) -> Result<f64> {
    let begun = Instant::now();
    for (&(u, v), &weight) in graph.edges.iter().zip(graph.weights.iter().flatten()) {
        store.insert_weighted_edge(u64::from(u), u64::from(v), weight)?;
    }
    Ok(begun.elapsed().as_secs_f64())
}

/// Inserts the vertices `0..vertices`.
pub(crate) fn insert_vertices(store: &Graph, vertices: usize) -> Result<()> {
    let ids: Vec<u64> = (0..vertices as u64).collect();
    for batch in ids.chunks(VERTEX_BATCH) {
        let mut tx = store.write()?;
        for &id in batch {
            tx.insert_vertex(id)?;
        }
        tx.commit()?;
    }
    Ok(())
}

/// Inserts one edge in a transaction of its own, with its weight if the work has weights.
pub(super) fn insert_one(store: &Graph, work: &Work<'_>, edge: &(u32, u32)) -> Result<()> {
    let (u, v) = (u64::from(edge.0), u64::from(edge.1));
    if work.graph.weights.is_some() {
        store.insert_weighted_edge(u, v, weight(work.graph.directed, edge))?;
    } else {
        store.insert_edge(u, v)?;
    }
    Ok(())
}

/// Writes all edges with `writers` threads, in turns of one transaction; returns the seconds it took.
pub(crate) fn write(store: &Graph, graph: &LoadedGraph, mode: Mode, writers: usize) -> Result<f64> {
    write_edges(store, &graph.edges, mode, writers)
}

/// As [`write`], these edges.
pub(crate) fn write_edges(store: &Graph, edges: &[(u32, u32)], mode: Mode, writers: usize) -> Result<f64> {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..writers)
            .map(|writer| scope.spawn(move || write_share(store, edges, mode, writer, writers)))
            .collect();
        threads.into_iter().try_for_each(|t| t.join().unwrap_or_else(|_| Err("a writer panicked".into())))
    })?;
    Ok(begun.elapsed().as_secs_f64())
}

fn write_share(store: &Graph, edges: &[(u32, u32)], mode: Mode, writer: usize, writers: usize) -> Result<()> {
    match mode {
        Mode::Single => {
            for &(u, v) in edges.iter().skip(writer).step_by(writers) {
                store.insert_edge(u64::from(u), u64::from(v))?;
            }
        }
        Mode::Pipelined => {
            let mut failed = None;
            let mut pipeline = store.pipeline(|ack| failed = failed.take().or(ack.result.err()))?;
            for &(u, v) in edges.iter().skip(writer).step_by(writers) {
                pipeline.insert_edge(u64::from(u), u64::from(v))?;
            }
            pipeline.flush()?;
            drop(pipeline);
            if let Some(error) = failed {
                return Err(error.into());
            }
        }
        Mode::Batch(size) => {
            for batch in edges.chunks(size).skip(writer).step_by(writers) {
                put_batch(store, batch)?;
            }
        }
        Mode::SingleWithProperty => {
            for &(u, v) in edges.iter().skip(writer).step_by(writers) {
                let edge = EdgeKey::new("", u64::from(u), u64::from(v));
                store.insert_edge_with(edge, [("amount", amount(u, v))])?;
            }
        }
        Mode::BatchWithProperty(size) => {
            for batch in edges.chunks(size).skip(writer).step_by(writers) {
                let mut tx = store.write()?;
                let rows = batch.iter().map(|&(u, v)| (u64::from(u), u64::from(v), [amount(u, v)]));
                tx.put_edges_with("", &["amount"], rows)?;
                tx.commit()?;
            }
        }
    }
    Ok(())
}

/// The property of an edge where edges have one.
fn amount(u: u32, v: u32) -> Value {
    Value::I64(i64::from(u ^ v))
}

/// Puts the edges in one transaction.
pub(crate) fn put_batch(store: &Graph, batch: &[(u32, u32)]) -> Result<()> {
    let mut tx = store.write()?;
    tx.put_edges(batch.iter().map(|&(u, v)| (u64::from(u), u64::from(v))))?;
    tx.commit()?;
    Ok(())
}
