//! The demo's store: how it is opened, and how events become writes.

use std::path::Path;
use std::sync::Arc;

use hedgerow::io::{CountingFs, IoCounters, RealFs};
use hedgerow::{Durability, Graph, KeyKind, Options, Snapshot, Value, WriteTxn};
use hedgerow_workload::{Event, State, Transaction};

use hedgerow_report::failure::{Context, Result};

/// The size of log segments. It is small so that even a short stream fills several, which checkpoints then
/// remove.
const LOG_SEGMENT_BYTES: u64 = 8 << 20;

/// Opens the durable store in `path`, creating it if absent, on a file system that counts operations.
///
/// # Errors
/// The errors of [`Options::open_on`] and of creating the directory.
pub fn open(path: &Path, keys: KeyKind) -> Result<(Graph, Arc<IoCounters>)> {
    let real = if path.is_dir() { RealFs::open_dir(path) } else { RealFs::create_dir(path) };
    let fs = CountingFs::new(Arc::new(real.context(path.display())?));
    let counters = fs.counters();
    let options = Options::new()
        .directed(true)
        .weighted(true)
        .keys(keys)
        .durability(Durability::Sync)
        .log_segment_bytes(LOG_SEGMENT_BYTES);
    Ok((options.open_on(Arc::new(fs))?, counters))
}

/// Writes the events of one transaction of the stream. An upsert reads the weight and writes it plus one.
///
/// # Errors
/// The errors of the transaction's reads and writes.
pub fn apply(tx: &mut WriteTxn, transaction: &Transaction) -> hedgerow::Result<()> {
    for event in &transaction.events {
        match event {
            Event::Upsert { src, dst } => {
                let weight = match tx.edge_property((src, dst), "weight")? {
                    Some(Value::F64(weight)) => weight,
                    _ => 0.0,
                };
                tx.put_edge((src, dst, weight + 1.0))?;
            }
            Event::InsertVertex { vertex } => {
                tx.insert_vertex(vertex)?;
            }
            Event::RemoveEdge { src, dst } => {
                tx.remove_edge((src, dst))?;
            }
            Event::RemoveVertex { vertex, by } => {
                if let Some(by) = by {
                    tx.insert_vertex(by)?;
                }
                tx.remove_vertex(vertex)?;
            }
        }
    }
    Ok(())
}

/// Returns the whole content of a snapshot in the form of the replay model.
pub(crate) fn observe(snapshot: &Snapshot) -> Result<State> {
    let vertices = snapshot.vertices()?.collect::<hedgerow::Result<Vec<_>>>()?;
    let mut keys = vec![None; vertices.last().map_or(0, |(id, _)| id.index() + 1)];
    vertices.into_iter().for_each(|(id, key)| keys[id.index()] = Some(key));
    let mut edges = Vec::with_capacity(snapshot.edge_count()? as usize);
    let mut dangling = 0u64;
    let key_of = |id: hedgerow::VertexId| keys.get(id.index()).cloned().flatten();
    snapshot.default_label().for_each_edge(|src, dst, weight| match (key_of(src), key_of(dst)) {
        (Some(src), Some(dst)) => edges.push((src, dst, weight)),
        _ => dangling += 1,
    })?;
    if dangling > 0 {
        return Err(format!("{dangling} edges of the store have an end that is no vertex").into());
    }
    Ok(State::from_parts(keys.iter().flatten().cloned(), edges))
}
