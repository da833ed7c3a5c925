//! The effects of the operations of a large transaction. Both copies of an edge agree on whether it exists,
//! so the edge is looked up at one copy only, the first one that a thread visits. Only properties of an edge
//! that exists and stays may differ between the copies, and each copy checks them separately.

use hedgerow_core::sync::{AtomicU8, Ordering};
use hedgerow_core::{Direction, InterpolationHint, RowRef, VertexId, simd};
use hedgerow_mem::{EdgeOp, Finder, Latched};

use super::labels::BatchLabel;
use super::parts::{BatchEntry, SubgraphBatch};
use crate::commit::attributes::AttributesTable;
use crate::commit::op::TxnOp;
use crate::commit::request::Request;
use crate::state::change::{effective, same_weight};
use crate::state::placement::Placement;
use crate::state::store::Engine;

/// The codes of effects in cells: 0 unknown, 1 unchanged, 2 + the number of an [`EdgeOp`]. [`STAYS`]: the
/// edge exists and stays, and each copy must check whether its properties change.
const UNKNOWN: u8 = 0;
const NOTHING: u8 = 1;
const INSERT: u8 = 2 + EdgeOp::Insert as u8;
const REMOVE: u8 = 2 + EdgeOp::Remove as u8;
const STAYS: u8 = 6;
/// The distance, in entries, of prefetches of properties. Operations, which have the places of properties,
/// are prefetched at twice this distance.
const ROWS_AHEAD: usize = 12;

/// The number of operations whose effects one thread keeps in its nearest cache.
const NEAR: usize = 1 << 11;

/// The effects of the operations. All operations on one edge share the cell of the first of them, at both
/// copies.
pub(super) struct Outcomes<'a> {
    ops: &'a [TxnOp],
    attributes: AttributesTable<'a>,
    placement: Placement,
    cells: Vec<AtomicU8>,
}

/// The effects of the operations on the edges of one label.
#[derive(Clone, Copy)]
pub(super) struct LabelOutcomes<'o, 'a> {
    all: &'o Outcomes<'a>,
    label: BatchLabel,
}

impl<'a> Outcomes<'a> {
    pub(super) fn new(engine: &Engine, request: &Request<'a>) -> Outcomes<'a> {
        let ops = request.ops;
        let cells = (0..ops.len()).map(|_| AtomicU8::new(UNKNOWN)).collect();
        Outcomes { ops, attributes: request.attributes, placement: engine.catalog.placement(), cells }
    }

    pub(super) fn of_label(&self, label: BatchLabel) -> LabelOutcomes<'_, 'a> {
        LabelOutcomes { all: self, label }
    }
}

impl<'a> LabelOutcomes<'_, 'a> {
    /// Prefetches the data that the look-ups of the batch read: the delta, and the likely parts of the lists.
    pub(super) fn prefetch(
        &self,
        entries: &[BatchEntry],
        batch: &SubgraphBatch,
        held: &Latched<'_>,
        hint: InterpolationHint,
    ) {
        for &direction in self.label.directions {
            let entries = &entries[batch.entries(direction)];
            if entries.is_empty() {
                continue;
            }
            held.prefetch_delta(direction, entries.len());
            for entry in entries
                .iter()
                .filter(|entry| !entry.is_vertex() && matches!(self.known(entry), UNKNOWN | STAYS))
            {
                held.prefetch_look(direction, entry.local(), entry.dst(), hint);
            }
            if self.label.attributed && self.all.placement.keeps_rows(direction) {
                let first = entries.iter().take(ROWS_AHEAD);
                first.for_each(|entry| self.all.attributes.prefetch(self.all.ops[entry.op()].attributes));
            }
        }
    }

    /// Prefetches the known effects of the entries: another thread may have written them moments ago. If
    /// edges have properties, which each copy reads separately, prefetches the operations too.
    pub(super) fn prefetch_known(&self, entries: &[BatchEntry]) {
        if self.all.cells.len() <= NEAR {
            return;
        }
        if self.label.attributed {
            let first = entries.iter().take(ROWS_AHEAD * 2);
            first.for_each(|entry| simd::prefetch(&raw const self.all.ops[entry.op()]));
        }
        entries.iter().for_each(|entry| simd::prefetch(&raw const self.all.cells[entry.op()]));
    }

    #[inline]
    fn known(&self, first: &BatchEntry) -> u8 {
        self.all.cells[first.op()].load(Ordering::Relaxed)
    }

    /// Returns the effect of the operations on one edge, in program order, and the weight after them. The
    /// caller passes groups in ascending order.
    #[inline]
    pub(super) fn of(&self, group: &[BatchEntry], edges: &mut Finder<'_>) -> Option<(EdgeOp, f64)> {
        let first = &group[0];
        let code = match self.known(first) {
            UNKNOWN => {
                let code = self.decide(group, edges.edge(first.local(), first.dst()));
                // Both copies have the same effect, so either may be the first.
                self.all.cells[first.op()].store(code, Ordering::Relaxed);
                code
            }
            known => known,
        };
        self.effect(group, code)
    }

    /// True if the effect of the operations on the edge of a group is known.
    #[inline]
    pub(super) fn is_decided(&self, group: &[BatchEntry]) -> bool {
        self.known(&group[0]) != UNKNOWN
    }

    /// Decides the effect of the operations on an edge, whose weight before them is given.
    pub(super) fn decide_by(&self, group: &[BatchEntry], before: Option<f64>) {
        self.all.cells[group[0].op()].store(self.decide(group, before), Ordering::Relaxed);
    }

    /// Like [`of`](Self::of), but for an edge whose effect is [decided](Self::is_decided).
    pub(super) fn decided(&self, group: &[BatchEntry]) -> Option<(EdgeOp, f64)> {
        let code = self.known(&group[0]);
        debug_assert!(code != UNKNOWN, "decided before");
        self.effect(group, code)
    }

    #[inline]
    fn effect(&self, group: &[BatchEntry], code: u8) -> Option<(EdgeOp, f64)> {
        let (op, before) = match code {
            NOTHING => return None,
            INSERT => (EdgeOp::Insert, None),
            REMOVE => (EdgeOp::Remove, None),
            // The edge changed, so the final state does not depend on the weight before.
            _ => (EdgeOp::Update, Some(0.0)),
        };
        let weight = if self.label.weighted { self.after(group, before).unwrap_or(0.0) } else { 1.0 };
        Some((op, weight))
    }

    /// Prefetches operations and properties of entries some places after the first of `entries`.
    #[inline]
    pub(super) fn prefetch_rows(&self, direction: Direction, entries: &[BatchEntry]) {
        if !self.label.attributed || !self.all.placement.keeps_rows(direction) {
            return;
        }
        if let Some(entry) = entries.get(ROWS_AHEAD * 2) {
            simd::prefetch(&raw const self.all.ops[entry.op()]);
        }
        if let Some(entry) = entries.get(ROWS_AHEAD) {
            self.all.attributes.prefetch(self.all.ops[entry.op()].attributes);
        }
    }

    /// Like [`of`](Self::of), but for the copy in `direction` at `at`. Returns also the properties that this
    /// copy keeps afterwards.
    pub(super) fn with_row(
        &self,
        group: &[BatchEntry],
        (at, direction): (VertexId, Direction),
        held: &Latched<'_>,
        edges: &mut Finder<'_>,
    ) -> Option<(EdgeOp, f64, RowRef<'a>)> {
        let (local, dst) = (group[0].local(), group[0].dst());
        let known = self.known(&group[0]);
        let found = match known {
            NOTHING => return None,
            REMOVE => return Some((EdgeOp::Remove, 0.0, RowRef::Empty)),
            INSERT => None,
            _ => edges.edge(local, dst),
        };
        // The state of the edge: the weight, and the handle of the attributes, if an operation gave it some.
        let before: Option<(f64, Option<u32>)> = found.map(|weight| (weight, None));
        let after = group.iter().fold(before, |state, entry| {
            let op = &self.all.ops[entry.op()];
            let new = || (self.weight(op), Some(op.attributes));
            entry.kind().makes(state, new, |old| old.unwrap_or((1.0, None)))
        });
        let placement = self.all.placement;
        let row = |given: u32| placement.row_at(direction, at, dst, self.all.attributes.row(given));
        let is_there = |row: RowRef<'_>| {
            let found = held.item(direction, local, dst, 0, InterpolationHint::UNKNOWN);
            found.map_or(RowRef::Empty, |edge| edge.row).is_same(row)
        };
        // The second copy of an undirected edge lacks texts, which may change: it cannot show that nothing
        // changes.
        let tells = !placement.keeps_rows(direction) || placement.counts_at(direction, at, dst);
        let same = |(old, _): &(f64, Option<u32>), (new, given): &(f64, Option<u32>)| match *given {
            None => true,
            Some(given) => tells && same_weight(self.label.weighted, *old, *new) && is_there(row(given)),
        };
        if known == UNKNOWN {
            let code = existence(before.is_some(), after.as_ref().map(|(_, given)| given.is_some()));
            self.all.cells[group[0].op()].store(code, Ordering::Relaxed);
        }
        let op = effective(before.as_ref(), after.as_ref(), same)?;
        let (weight, given) = after.unwrap_or((0.0, None));
        // By value, so that the row is not accessed again once it has left the caches.
        Some((op, weight, given.map_or(RowRef::Empty, |given| row(given).by_value())))
    }

    /// Returns the weight that an operation gives to an edge.
    #[inline]
    fn weight(&self, op: &TxnOp) -> f64 {
        if self.label.weighted { op.weight } else { 1.0 }
    }

    fn decide(&self, group: &[BatchEntry], before: Option<f64>) -> u8 {
        let same = |old: &f64, new: &f64| same_weight(self.label.weighted, *old, *new);
        let op = effective(before.as_ref(), self.after(group, before).as_ref(), same);
        op.map_or(NOTHING, |op| 2 + op as u8)
    }

    /// Returns the state of the edge after the operations, given the state before.
    #[inline]
    fn after(&self, group: &[BatchEntry], before: Option<f64>) -> Option<f64> {
        group.iter().fold(before, |state, entry| {
            let weight = || self.weight(&self.all.ops[entry.op()]);
            entry.kind().makes(state, weight, |old| old.unwrap_or(1.0))
        })
    }
}

/// Returns the effect that both copies of an edge share. `before`: the edge existed. `after`: `Some` if it
/// exists afterwards; true if an operation gave it its weight and row.
fn existence(before: bool, after: Option<bool>) -> u8 {
    match (before, after) {
        (false, Some(_)) => INSERT,
        (true, None) => REMOVE,
        (false, None) | (true, Some(false)) => NOTHING,
        (true, Some(true)) => STAYS,
    }
}
