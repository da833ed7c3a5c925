//! The loading of graphs into stores.

use std::time::Instant;

use hedgerow::{EdgeKey, Graph, KeyKind, Options, Value};
use hedgerow_workload::LoadedGraph;

use super::work::Work;
use hedgerow_report::failure::Result;

/// The number of vertices that one transaction inserts.
const VERTEX_BATCH: usize = 1 << 16;

/// The way to write edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One edge, one transaction, through `Graph::insert_edge`.
    Single,
    /// The same as `Single`, through `Graph::pipeline`.
    Pipelined,
    /// This number of edges in a transaction, through `WriteTxn::put_edges`.
    Batch(usize),
    /// The same as `Single`, each edge with one property, through `Graph::insert_edge_with`.
    SingleWithProperty,
    /// The same as `Batch`, each edge with one property, through `WriteTxn::put_edges_with`.
    BatchWithProperty(usize),
}

/// Returns a weight from 1 to 255 for each edge, as in the GAP suite. The ends of an edge determine its
/// weight; in an undirected graph their order does not matter.
pub(crate) fn weights(graph: &LoadedGraph) -> Vec<f64> {
    graph.edges.iter().map(|edge| weight(graph.directed, edge)).collect()
}

/// Returns the weight of one edge by its ends.
pub(super) fn weight(directed: bool, &(u, v): &(u32, u32)) -> f64 {
    let (low, high) = if directed { (u, v) } else { (u.min(v), u.max(v)) };
    let seed = u64::from(low) << 32 | u64::from(high);
    (1 + hedgerow_workload::rng::Rng::new(seed).below(255)) as f64
}

/// Returns the options of a store for the graph: dense ids, no weights, and settling only if a suite requests
/// it.
pub(crate) fn options(directed: bool) -> Options {
    Options::new().directed(directed).keys(KeyKind::Dense).background_settling(false)
}

/// Makes a store without files that has the vertices and no edges: isolated vertices are part of the graph.
pub(crate) fn empty_store(directed: bool, vertices: usize) -> Result<Graph> {
    let store = options(directed).in_memory()?;
    insert_vertices(&store, vertices)?;
    Ok(store)
}

/// Makes a store like [`empty_store`], with weights if `graph` has weights.
pub(crate) fn store_for(graph: &LoadedGraph) -> Result<Graph> {
    let store = options(graph.directed).weighted(graph.weights.is_some()).in_memory()?;
    insert_vertices(&store, graph.vertices)?;
    Ok(store)
}

/// Writes all edges of a weighted graph, each in its own transaction. Returns the seconds.
pub(crate) fn write_weighted(store: &Graph, graph: &LoadedGraph) -> Result<f64> {
    let begun = Instant::now();
    for (&(u, v), &weight) in graph.edges.iter().zip(graph.weights.iter().flatten()) {
        store.insert_edge((u64::from(u), u64::from(v), weight))?;
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

/// Inserts one edge in its own transaction, with its weight if the work has weights.
pub(super) fn insert_one(store: &Graph, work: &Work<'_>, edge: &(u32, u32)) -> Result<()> {
    let (u, v) = (u64::from(edge.0), u64::from(edge.1));
    if work.graph.weights.is_some() {
        store.insert_edge((u, v, weight(work.graph.directed, edge)))?;
    } else {
        store.insert_edge((u, v))?;
    }
    Ok(())
}

/// Writes all edges with `writers` threads; each writes every `writers`-th transaction. Returns the seconds.
pub(crate) fn write(store: &Graph, graph: &LoadedGraph, mode: Mode, writers: usize) -> Result<f64> {
    write_edges(store, &graph.edges, mode, writers)
}

/// Does the same as [`write`], for these edges.
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
                store.insert_edge((u64::from(u), u64::from(v)))?;
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

/// Returns the property of an edge, for the modes with a property.
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
