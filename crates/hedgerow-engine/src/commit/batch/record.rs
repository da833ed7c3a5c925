//! The log record of a large transaction, and the vertices that it creates.

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, KeyKind, LabelId, RowRef, VertexId};
use hedgerow_mem::EdgeOp;
use hedgerow_mem::subgraph::LocalOp;

use super::key_lookups::Resolved;
use super::parts::Part;
use crate::commit::encode::Encoder;
use crate::commit::names::TxnKey;
use crate::commit::request::Request;
use crate::files::log::Record;
use crate::state::store::Engine;

/// An effect on an outgoing chain: the label, the vertex, the effect, the properties.
type OutgoingEffect<'a> = (LabelId, VertexId, &'a LocalOp, RowRef<'a>);

/// Returns all effects on outgoing chains.
fn effects<'a>(parts: &'a [Part<'_>]) -> impl Iterator<Item = OutgoingEffect<'a>> {
    let batches = parts.iter().flat_map(|part| part.batches.iter().map(move |batch| (part, batch)));
    batches.flat_map(|(part, batch)| {
        batch.effects(Direction::Out).map(move |at| {
            let (effect, attributes) = (&part.effects[at], part.attributes.get(at));
            let row = attributes.map_or(RowRef::Empty, |attributes| attributes.row);
            (part.label.label, batch.subgraph.vertex(effect.local), effect, row)
        })
    })
}

/// Returns the vertices that the transaction creates, ascending.
pub(super) fn created(parts: &[Part<'_>]) -> impl Iterator<Item = VertexId> {
    let parts = parts.iter().filter(|part| part.vertices > 0);
    parts
        .flat_map(|part| effects(std::slice::from_ref(part)))
        .filter_map(|(_, id, effect, _)| (effect.op == EdgeOp::Vertex).then_some(id))
}

/// Makes the log record; an undirected edge is in it once.
pub(super) fn encode(
    engine: &Engine,
    request: &Request<'_>,
    keys: &Resolved<'_>,
    parts: &[Part<'_>],
) -> Result<Record> {
    let mut encoder = Encoder::new(engine);
    let edges = || {
        let placement = engine.catalog.placement();
        let edges = effects(parts).filter(|(_, _, e, _)| e.op != EdgeOp::Vertex);
        edges.filter(move |(_, src, e, _)| placement.counts_at(Direction::Out, *src, e.dst))
    };
    for (label, src, effect, _) in edges().filter(|(_, _, e, _)| e.op == EdgeOp::Remove) {
        encoder.remove(label, (src, effect.dst), 0)?;
    }
    if engine.catalog.config.keys == KeyKind::Dense {
        for id in created(parts) {
            encoder.insert_vertex(id, request.keys, TxnKey(u64::from(id.0)))?;
        }
    } else {
        for fresh in keys.fresh() {
            encoder.insert_vertex(fresh.id, request.keys, fresh.key)?;
        }
    }
    for (label, src, effect, row) in edges().filter(|(_, _, e, _)| e.op != EdgeOp::Remove) {
        encoder.put(label, (src, effect.dst), 0, effect.weight, row)?;
    }
    Ok(encoder.finish())
}
