//! A transaction's own versions of its subgraphs. Only this transaction may change these subgraphs.

use std::sync::Arc;

use hedgerow_core::{Direction, SubgraphId, Update, VertexId};
use smallvec::SmallVec;

use super::shape::Shape;
use super::version::Version;
use crate::GraphForm;
use crate::change::{self, Change, Draft, Effect};

/// One subgraph in a transaction.
pub(super) struct SubgraphDraft {
    pub(super) subgraph: SubgraphId,
    /// The newest version before the transaction.
    pub(super) base: Option<Arc<Version>>,
    /// The version of the transaction, once it changes something. Nothing else shares it.
    pub(super) new: Option<Arc<Version>>,
}

impl SubgraphDraft {
    fn newest(&self) -> Option<&Version> {
        self.new.as_deref().or(self.base.as_deref())
    }
}

/// The subgraphs of a transaction, ascending.
pub(super) struct Drafts {
    pub(super) subgraphs: SmallVec<[SubgraphDraft; 2]>,
    pub(super) shape: Shape,
    /// Whether the transaction changes versions in place, if no snapshot holds them, instead of in a copy.
    pub(super) in_place: bool,
}

impl Drafts {
    fn of(&self, v: VertexId) -> Option<&Version> {
        let place = self.subgraphs.binary_search_by_key(&v.subgraph(), |draft| draft.subgraph).ok()?;
        self.subgraphs[place].newest()
    }

    fn change(&mut self, v: VertexId) -> &mut Version {
        let place = self.subgraphs.binary_search_by_key(&v.subgraph(), |draft| draft.subgraph);
        let draft = &mut self.subgraphs[place.expect("a transaction has the subgraphs that it touches")];
        if draft.new.is_none() {
            let is_alone =
                self.in_place && draft.base.as_mut().is_some_and(|base| Arc::get_mut(base).is_some());
            draft.new = match &draft.base {
                Some(_) if is_alone => draft.base.take(),
                Some(base) => Some(Arc::new(base.draft())),
                None => Some(Arc::default()),
            };
        }
        draft.new.as_mut().and_then(Arc::get_mut).expect("a version of this transaction alone")
    }
}

impl Draft for Drafts {
    fn set_present(&mut self, v: VertexId, present: bool) -> bool {
        let bit = v.local().bit();
        let was = self.of(v).is_some_and(|version| version.live & bit != 0);
        if was != present {
            self.change(v).live ^= bit;
        }
        was != present
    }

    fn apply(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) -> Effect {
        // A single change without effect makes no copy.
        if let [change] = changes
            && self.of(owner).and_then(|version| version.find(owner.local(), direction, change.target))
                == change.weight
        {
            return Effect::default();
        }
        let shape = self.shape;
        self.change(owner).apply(owner.local(), direction, changes, &shape)
    }

    fn has(&self, owner: VertexId, direction: Direction, target: VertexId) -> bool {
        self.of(owner).and_then(|version| version.find(owner.local(), direction, target)).is_some()
    }

    fn targets(&self, owner: VertexId, direction: Direction) -> Vec<VertexId> {
        let mut targets = Vec::new();
        if let Some(side) = self.of(owner).and_then(|version| version.side(direction)) {
            let _ = side.runs(owner.local(), |run, _| {
                targets.extend_from_slice(run);
                std::ops::ControlFlow::Continue(())
            });
        }
        targets
    }
}

/// Returns the subgraphs of the vertices that the updates name, ascending.
pub(super) fn named(updates: &[Update]) -> SmallVec<[SubgraphId; 2]> {
    let mut subgraphs: SmallVec<[SubgraphId; 2]> = change::named(updates).map(VertexId::subgraph).collect();
    subgraphs.sort_unstable();
    subgraphs.dedup();
    subgraphs
}

/// Adds the subgraphs of the neighbours of removed vertices. Returns true if some of them are new.
pub(super) fn add_neighbors(
    drafts: &Drafts,
    updates: &[Update],
    form: GraphForm,
    subgraphs: &mut SmallVec<[SubgraphId; 2]>,
) -> bool {
    let known = subgraphs.len();
    for update in updates {
        let Update::RemoveVertex(v) = *update else { continue };
        for &direction in form.directions() {
            subgraphs.extend(drafts.targets(v, direction).into_iter().map(VertexId::subgraph));
        }
    }
    subgraphs.sort_unstable();
    subgraphs.dedup();
    subgraphs.len() > known
}
