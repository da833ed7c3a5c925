//! The effects of a batch on one subgraph.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, InterpolationHint, LabelId, LocalVertex, VertexId};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{Attributes, EdgeOp};

use super::labels::BatchLabel;
use super::lookup::LabelOutcomes;
use super::parts::{BatchEntry, Part};
use crate::commit::op::OpKind;
use crate::state::store::Engine;

/// Gathers the effects on one subgraph: the new vertices, then the edges.
pub(super) fn gather<'j>(
    engine: &Engine,
    outcomes: LabelOutcomes<'_, 'j>,
    part: &mut Part<'j>,
    at: usize,
    hint: InterpolationHint,
) {
    let Part { label, entries, batches, latched, effects, attributes, .. } = part;
    let BatchLabel { label, attributed, directions, .. } = *label;
    let (batch, held) = (&mut batches[at], &latched[at]);
    batch.effects = [effects.len() as u32; 3];
    if label == LabelId::DEFAULT {
        // The outgoing chain has the vertices, also those that edges of the other chain create.
        let creates = entries[batch.all_entries()].iter().filter(|entry| !entry.is_kind(OpKind::Remove));
        let created = creates.fold(0, |mask, entry| mask | entry.local().bit()) & !held.present();
        if created != 0 {
            effects.extend(inserted(created));
            part.vertices += created.count_ones() as usize;
        }
    }
    let placement = engine.catalog.placement();
    for &direction in directions {
        let lost = label != LabelId::DEFAULT
            && direction == Direction::In
            && faults::is_on(PlantedFault::ReverseEdgeLost);
        let entries = if lost { &[] } else { &entries[batch.entries(direction)] };
        let (mut edges, is_outside) = (held.finder(direction, hint), batch.is_outside);
        let mut done = 0;
        for group in entries.chunk_by(BatchEntry::same_edge) {
            if attributed {
                outcomes.prefetch_rows(direction, &entries[done..]);
                done += group.len();
            }
            if group[0].is_vertex() {
                continue;
            }
            let (local, dst) = (group[0].local(), group[0].dst());
            let at = batch.subgraph.vertex(local);
            let (op, weight) = if attributed {
                let Some((op, weight, row)) = outcomes.with_row(group, (at, direction), held, &mut edges)
                else {
                    continue;
                };
                attributes.resize(effects.len(), Attributes::NONE);
                attributes.push(Attributes { rank: 0, row });
                (op, weight)
            } else {
                let effect =
                    if is_outside { outcomes.decided(group) } else { outcomes.of(group, &mut edges) };
                let Some(effect) = effect else { continue };
                effect
            };
            if placement.counts_at(direction, at, dst) {
                part.changes += 1;
                part.edges += if label == LabelId::VERTICES { 0 } else { op.growth() };
            }
            effects.push(LocalOp { local, op, dst, weight });
        }
        batch.effects[direction as usize + 1..].fill(effects.len() as u32);
    }
    if attributed {
        attributes.resize(effects.len(), Attributes::NONE);
    }
}

fn inserted(mut mask: u64) -> impl Iterator<Item = LocalOp> {
    std::iter::from_fn(move || {
        let local = LocalVertex((mask != 0).then(|| mask.trailing_zeros() as u8)?);
        mask &= mask - 1;
        Some(LocalOp { local, op: EdgeOp::Vertex, dst: VertexId(1), weight: 0.0 })
    })
}
