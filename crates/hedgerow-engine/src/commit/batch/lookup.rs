//! The effects of the operations of a large transaction. Both copies of an edge hold the same, so an edge is looked up at
//! one copy only: the one that a thread reaches first.

use hedgerow_core::sync::{AtomicU8, Ordering};
use hedgerow_core::{Direction, InterpolationHint, simd};
use hedgerow_mem::{EdgeOp, Finder, Latched};

use super::parts::{BatchEntry, SubgraphBatch};
use crate::commit::op::TxnOp;
use crate::state::change::{effective, same_weight};
use crate::state::store::Engine;

/// The effect of an operation, as a cell encodes it: 0 unknown, 1 unchanged, 2 + the number of an [`EdgeOp`].
const UNKNOWN: u8 = 0;
const NOTHING: u8 = 1;

/// The effects of the operations. All operations on one edge share the cell of the first of them, at both copies.
pub(super) struct Outcomes<'a> {
    ops: &'a [TxnOp],
    weighted: bool,
    cells: Vec<AtomicU8>,
}

impl<'a> Outcomes<'a> {
    pub(super) fn new(engine: &Engine, ops: &'a [TxnOp]) -> Outcomes<'a> {
        let cells = ops.iter().map(|_| AtomicU8::new(UNKNOWN)).collect();
        Outcomes { ops, weighted: engine.config.weighted, cells }
    }

    /// Starts loading what the look-ups of the batch read: the delta, and of the lists what is likely needed.
    pub(super) fn prefetch(
        &self,
        entries: &[BatchEntry],
        batch: &SubgraphBatch,
        held: &Latched<'_>,
        hint: InterpolationHint,
    ) {
        for direction in [Direction::Out, Direction::In] {
            let entries = &entries[batch.entries(direction)];
            if entries.is_empty() {
                continue;
            }
            held.prefetch_delta(direction, entries.len());
            for entry in entries.iter().filter(|entry| self.known(entry) == UNKNOWN) {
                held.prefetch_look(direction, entry.local(), entry.dst(), hint);
            }
        }
    }

    /// Starts loading what is known of the entries: another thread may have written that moments ago.
    pub(super) fn prefetch_known(&self, entries: &[BatchEntry]) {
        entries.iter().for_each(|entry| simd::prefetch(&raw const self.cells[entry.op()]));
    }

    #[inline]
    fn known(&self, first: &BatchEntry) -> u8 {
        self.cells[first.op()].load(Ordering::Relaxed)
    }

    /// The effect of the operations about one edge, in program order, and the weight that it leaves. Groups come in
    /// ascending order.
    #[inline]
    pub(super) fn of(&self, group: &[BatchEntry], edges: &mut Finder<'_>) -> Option<(EdgeOp, f64)> {
        let first = &group[0];
        let code = match self.known(first) {
            UNKNOWN => {
                let code = self.decide(group, edges.edge(first.local(), first.dst()));
                // Both copies come to the same: it does not matter which is first.
                self.cells[first.op()].store(code, Ordering::Relaxed);
                code
            }
            known => known,
        };
        let (op, before) = match code {
            NOTHING => return None,
            2 => (EdgeOp::Insert, None),
            3 => (EdgeOp::Remove, None),
            // It changed, so the last word does not depend on the weight before.
            _ => (EdgeOp::Update, Some(0.0)),
        };
        let weight = if self.weighted { self.after(group, before).unwrap_or(0.0) } else { 1.0 };
        Some((op, weight))
    }

    fn decide(&self, group: &[BatchEntry], before: Option<f64>) -> u8 {
        let same = |old: &f64, new: &f64| same_weight(self.weighted, *old, *new);
        let op = effective(before.as_ref(), self.after(group, before).as_ref(), same);
        op.map_or(NOTHING, |op| 2 + op as u8)
    }

    /// The state of the edge after the operations, given that before.
    #[inline]
    fn after(&self, group: &[BatchEntry], before: Option<f64>) -> Option<f64> {
        group.iter().fold(before, |state, entry| {
            let weight = || if self.weighted { self.ops[entry.op()].weight } else { 1.0 };
            entry.kind().makes(state, weight, |old| old.unwrap_or(1.0))
        })
    }
}
