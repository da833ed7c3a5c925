//! Latching the subgraphs of a batch.

use hedgerow_core::LabelId;
use hedgerow_mem::table::{PAGE, SubgraphPage};
use hedgerow_mem::version::NotInMemory;
use hedgerow_mem::{Hold, Subgraph};
use hedgerow_pager::pager::room::commit::Merges;

use super::asked::can_be_outside;
use super::parts::{HEADERS_AHEAD, Part, SubgraphBatch};
use crate::commit::op::OpKind;
use crate::commit::validate::is_absent;
use crate::state::store::Engine;

/// Latches the subgraphs of a part. One thread at a time claims parts, in order, so the commit as a whole
/// takes latches in ascending order.
///
/// If a subgraph has no page and the part only removes from it, it needs no latch: the commit checks again
/// when it orders (invariant I28). Other missing pages are made, unless the memory limit has no room for
/// them.
pub(super) fn latch<'e>(
    engine: &'e Engine,
    hold: &'e Hold,
    part: &mut Part<'e>,
    (merges, outside): (&Merges, bool),
) {
    let (mut ahead, mut makes_pages, mut pages) = (0, false, 0);
    let Part { label, entries, batches, latched, absent, unloaded, stored, is_cut_short, .. } = part;
    latched.reserve_exact(batches.len());
    let existing = |id| engine.pager.table(label.label).and_then(|table| table.get(id, hold));
    for at in 0..batches.len() {
        while ahead < batches.len().min(at + HEADERS_AHEAD) {
            existing(batches[ahead].subgraph).inspect(|subgraph| subgraph.prefetch_header());
            ahead += 1;
        }
        let batch = &batches[at];
        let (subgraph, of_batch) = (batch.subgraph, batch.all_entries());
        // Returns true if the effects go to the inbox of the subgraph.
        let mut latch = |found: &'e Subgraph| {
            let (mut held, mut is_outside) = (found.latch(), false);
            if engine.pager.eviction.happens() && !held.is_resident() {
                let entries = &entries[of_batch.clone()];
                let can_be =
                    outside && !held.has_left() && can_be_outside(!label.attributed, entries, held.present());
                if !can_be {
                    unloaded.push(subgraph);
                    stored.extend(held.has_left().then_some(subgraph));
                } else {
                    is_outside = !engine.pager.relink_latched(&mut held);
                }
            }
            latched.push(held);
            is_outside
        };
        match existing(subgraph) {
            Some(subgraph) => batches[at].is_outside = latch(subgraph),
            None if engine.pager.is_unloaded(label.label, subgraph) => {
                unloaded.push(subgraph);
                stored.push(subgraph);
            }
            None if entries[of_batch.clone()].iter().all(|entry| entry.is_kind(OpKind::Remove)) => {
                absent.push(subgraph);
            }
            None => {
                let first = !std::mem::replace(&mut makes_pages, true);
                if first && engine.pager.memory_limit.is_some() {
                    pages = bytes_of_new_pages(engine, label.label, &batches[at..]);
                    *is_cut_short = !merges.begin(pages);
                    if *is_cut_short {
                        return;
                    }
                }
                // If the page was loaded since the look-up, the chain may have been evicted since, like any
                // other.
                match engine.pager.table_or_create(label.label).get_or_create(subgraph, hold) {
                    Ok(subgraph) => batches[at].is_outside = latch(subgraph),
                    Err(NotInMemory) => {
                        unloaded.push(subgraph);
                        stored.push(subgraph);
                    }
                }
            }
        }
    }
    merges.end(pages);
    if !absent.is_empty() {
        batches.retain(|batch| absent.binary_search(&batch.subgraph).is_err());
    }
}

/// Returns the bytes of the new pages to which `batches` are the first to write.
#[cold]
fn bytes_of_new_pages(engine: &Engine, label: LabelId, batches: &[SubgraphBatch]) -> usize {
    let new = batches.iter().map(|batch| batch.subgraph).filter(|&id| is_absent(engine, (label, id)));
    let mut pages: Vec<usize> = new.map(|id| id.index() / PAGE).collect();
    pages.dedup();
    pages.len() * SubgraphPage::bytes()
}
