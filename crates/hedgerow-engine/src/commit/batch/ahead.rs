//! Versions that a large transaction builds before its timestamp is drawn (rule R9).

use std::ops::Range;

use hedgerow_core::Direction;
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{Attributes, Ops};
use hedgerow_pager::pager::room::commit::Merges;
use hedgerow_pager::tables::PartitionKey;

use super::parts::Part;
use crate::state::store::Engine;

/// Returns the effects in a range, with their attributes if edges may have any.
pub(super) fn ops<'a>(
    effects: &'a [LocalOp],
    attributes: &'a [Attributes<'_>],
    range: Range<usize>,
) -> Ops<'a> {
    Ops::with(&effects[range.clone()], attributes.get(range).unwrap_or(&[]))
}

/// Makes room for the effects on a chain, or builds the version in which they are merged. False if the memory
/// limit has no room for that, or had none for another merge of the commit. The commit has the memory of the
/// attributes until it has applied them.
#[cold]
pub(super) fn merge_ahead(
    engine: &Engine,
    part: &mut Part<'_>,
    (at, direction): (usize, Direction),
    merges: &Merges,
) -> bool {
    let Part { label, batches, latched, effects, attributes, ahead, .. } = part;
    let (batch, held) = (&batches[at], &mut latched[at]);
    let ops = ops(effects, attributes, batch.effects(direction));
    let bytes = engine.pager.memory_limit.map_or(0, |_| held.bytes_to_merge(direction, ops.len()));
    let of_attributes = engine.pager.memory_limit.map_or(0, |_| held.bytes_of_attributes(direction, ops));
    if !merges.begin(bytes + of_attributes) {
        return false;
    }
    let chain = PartitionKey { label: label.label, subgraph: batch.subgraph, direction };
    let (built, pins) = held.prepare(direction, ops, &engine.order.horizon());
    engine.pager.keep(chain, pins);
    ahead.extend(built.map(|built| (at as u32, direction, built)));
    if bytes > 0 {
        merges.end(bytes);
    }
    true
}
