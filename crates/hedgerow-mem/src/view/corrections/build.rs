//! The collection of corrections, and the choice of their form.

use std::sync::Arc;

use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, VertexId};
use smallvec::SmallVec;

use super::logged::Reduced;
use super::small_patch::SmallPatch;
use super::{Corrected, Corrections, IndexedPatch, Masks, Pending};
use crate::op::EdgeOp;

/// A collector of corrections by ascending source.
#[derive(Default)]
pub(super) struct Builder {
    touched: u64,
    reweighted: u64,
    reduced: u64,
    added: Vec<VertexId>,
    added_from: Vec<LocalVertex>,
    added_weights: Vec<f64>,
    removed: Vec<VertexId>,
    removed_from: Vec<LocalVertex>,
    updated: Vec<(u32, f64)>,
}

impl Builder {
    pub(super) fn clear(&mut self) {
        (self.touched, self.reweighted, self.reduced) = (0, 0, 0);
        self.added.clear();
        self.added_from.clear();
        self.added_weights.clear();
        self.removed.clear();
        self.removed_from.clear();
        self.updated.clear();
    }

    #[inline]
    pub(super) fn add(&mut self, pending: &Pending<'_>, edge: &Reduced) {
        let (local, weighted) = (edge.local, pending.weighted);
        let weight = || pending.version.delta().entry(edge.entry).weight;
        match (edge.first == EdgeOp::Insert, edge.last == EdgeOp::Remove) {
            (true, false) => self.add_neighbor(local, edge.dst, weighted.then(weight)),
            (false, true) => self.remove_neighbor(local, edge.dst),
            (false, false) if weighted => {
                if let Some(at) = pending.find(local, edge.dst) {
                    self.reweight(local, at, weight());
                }
            }
            _ => {}
        }
    }

    #[inline]
    pub(super) fn add_neighbor(&mut self, local: LocalVertex, dst: VertexId, weight: Option<f64>) {
        self.touched |= local.bit();
        self.added.push(dst);
        self.added_from.push(local);
        if let Some(weight) = weight {
            self.added_weights.push(weight);
        }
    }

    #[inline]
    pub(super) fn reweight(&mut self, local: LocalVertex, at: usize, weight: f64) {
        self.reweighted |= local.bit();
        self.updated.push((at as u32, weight));
    }

    #[inline]
    pub(super) fn remove_neighbor(&mut self, local: LocalVertex, dst: VertexId) {
        self.touched |= local.bit();
        self.reduced |= local.bit();
        self.removed.push(dst);
        self.removed_from.push(local);
    }

    pub(super) fn finish(&self, weighted: bool, present: u64, few: &mut SmallPatch) -> Corrected {
        let masks = Masks { touched: self.touched, reduced: self.reduced };
        let counts = (self.added.len(), self.removed.len());
        let mut is_few = false;
        let corrections = match (self.added_from.as_slice(), self.removed_from.as_slice()) {
            _ if masks.touched | self.reweighted == 0 => Corrections::None,
            _ if weighted => self.many(),
            (&[from], &[]) => Corrections::One(from, self.added[0]),
            (&[], &[from]) => Corrections::One(from, self.removed[0]),
            (added, removed) => {
                is_few = few.fill((added, &self.added), (removed, &self.removed));
                if is_few { Corrections::None } else { self.many() }
            }
        };
        Corrected { corrections, few: is_few, masks, present, counts }
    }

    fn many(&self) -> Corrections {
        // Patches have at most 32 Ki changes, deltas some hundreds.
        debug_assert!(self.added.len().max(self.removed.len()) <= usize::from(u16::MAX));
        Corrections::IndexedPatch(Arc::new(IndexedPatch {
            added: SmallVec::from_slice(&self.added),
            removed: SmallVec::from_slice(&self.removed),
            reweighted: self.reweighted,
            added_at: starts(&self.added_from),
            removed_at: starts(&self.removed_from),
            added_from: SmallVec::from_slice(&self.added_from),
            added_weights: self.added_weights.as_slice().into(),
            updated: self.updated.as_slice().into(),
        }))
    }
}

/// Returns the index at which the entries of each vertex begin, and the end of the last ones. `sources` has
/// the vertex of each entry, ascending.
#[inline]
fn starts(sources: &[LocalVertex]) -> [u16; SUBGRAPH_VERTICES + 1] {
    let mut starts = [0; SUBGRAPH_VERTICES + 1];
    if let &[local] = sources {
        starts[local.index() + 1..].fill(1);
        return starts;
    }
    if !sources.is_empty() {
        sources.iter().for_each(|local| starts[local.index() + 1] += 1);
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
    }
    starts
}
