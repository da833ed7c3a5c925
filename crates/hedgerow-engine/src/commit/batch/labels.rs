//! The operations of a large transaction by label: each label has its own chains, and its own round of work.
//! The default label comes first: its entries include all vertices that the operations name.

use hedgerow_catalog::directions::directions_of;
use hedgerow_core::{Direction, LabelId};

use crate::commit::op::TxnOp;
use crate::state::store::Engine;

/// A label, and the attributes that its edges may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BatchLabel {
    pub(super) label: LabelId,
    /// True if its edges have weights.
    pub(super) weighted: bool,
    /// True if its edges may have properties.
    pub(super) attributed: bool,
    /// The directions of the chains that hold its edges.
    pub(super) directions: &'static [Direction],
}

/// The labels of a transaction, ascending.
pub(super) struct ByLabel {
    labels: Vec<LabelOps>,
}

struct LabelOps {
    label: BatchLabel,
    /// The places of its operations in the program, ascending. Empty for the default label, which goes
    /// through all operations.
    places: Vec<u32>,
}

impl ByLabel {
    /// Groups `ops` by label. `attributed`: edges of the default label may have properties.
    pub(super) fn of(engine: &Engine, ops: &[TxnOp], attributed: bool) -> ByLabel {
        let of = |label, attributed| BatchLabel {
            label,
            weighted: engine.catalog.is_weighted(label),
            attributed,
            directions: directions_of(&engine.catalog.config, label),
        };
        let mut labels = vec![LabelOps { label: of(LabelId::DEFAULT, attributed), places: Vec::new() }];
        if ops.iter().any(|op| op.label != LabelId::DEFAULT) {
            let places = (0u32..).zip(ops).filter(|(_, op)| op.label != LabelId::DEFAULT);
            let mut places: Vec<(LabelId, u32)> = places.map(|(at, op)| (op.label, at)).collect();
            places.sort_unstable();
            for one in places.chunk_by(|a, b| a.0 == b.0) {
                let places = one.iter().map(|&(_, at)| at).collect();
                labels.push(LabelOps { label: of(one[0].0, true), places });
            }
        }
        ByLabel { labels }
    }

    /// Returns the labels, with the number of operations to visit for each; for the default label all of
    /// `ops`.
    pub(super) fn each(&self, ops: usize) -> Vec<(BatchLabel, usize)> {
        let looked_at =
            |of: &LabelOps| if of.label.label == LabelId::DEFAULT { ops } else { of.places.len() };
        self.labels.iter().map(|of| (of.label, looked_at(of))).collect()
    }

    /// Returns the place in the program of operation `at` of the label number `nth`.
    #[inline]
    pub(super) fn place(&self, nth: usize, at: usize) -> usize {
        self.labels[nth].places.get(at).map_or(at, |&place| place as usize)
    }
}

/// True if operation `at` sets the properties of the vertex that the operation before it inserts.
#[inline]
pub(super) fn follows_its_vertex(ops: &[TxnOp], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| &ops[before]) else { return false };
    ops[at].label == LabelId::VERTICES && !before.is_edge() && before.src == ops[at].src
}
