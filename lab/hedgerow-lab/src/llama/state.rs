//! The last snapshot and the changes since then, for one user at a time.

use std::sync::Arc;

use hedgerow_core::{Update, Written};

use super::freeze::{Merging, freeze};
use super::options::{LlamaOptions, Shape};
use super::root::Root;
use super::writer::Writer;
use crate::GraphForm;

/// The last snapshot, and the writer.
#[derive(Debug)]
pub(super) struct State {
    pub(super) root: Arc<Root>,
    writer: Writer,
    shape: Shape,
}

impl State {
    pub(super) fn new(form: GraphForm, options: LlamaOptions) -> State {
        let shape = Shape::new(form, options);
        State { root: Arc::new(Root::new(&shape)), writer: Writer::new(form, shape), shape }
    }

    /// True if there are changes that the last snapshot does not see.
    pub(super) fn is_dirty(&self) -> bool {
        self.writer.changes > 0
    }

    /// Makes a transaction, and freezes the buffer if it is full. With `COPIES`, the freeze copies the
    /// indirection table and the pages that change. Without it, they change in place, unless a snapshot holds
    /// them.
    pub(super) fn write<const COPIES: bool>(&mut self, updates: &[Update]) -> Written {
        let written = self.writer.write(updates, &self.root);
        if self.writer.changes >= self.shape.delta {
            self.freeze::<COPIES>(Merging::Due);
        }
        written
    }

    /// Returns a snapshot of all changes.
    pub(super) fn snapshot<const COPIES: bool>(&mut self) -> Arc<Root> {
        if self.is_dirty() {
            self.freeze::<COPIES>(Merging::Due);
        }
        self.root.clone()
    }

    /// Merges the levels with removed entries.
    pub(super) fn reclaim<const COPIES: bool>(&mut self) {
        if self.is_dirty() || self.root.has_garbage() {
            self.freeze::<COPIES>(Merging::Garbage);
        }
    }

    fn freeze<const COPIES: bool>(&mut self, merging: Merging) {
        if COPIES {
            let mut root = Root::clone(&self.root);
            freeze(&mut root, &mut self.writer, merging, &self.shape);
            self.root = Arc::new(root);
        } else {
            freeze(Arc::make_mut(&mut self.root), &mut self.writer, merging, &self.shape);
        }
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.root.bytes() + self.writer.bytes()
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_core::{GraphSnapshot, VertexId};

    use super::super::freeze::LAST_EPOCH;
    use super::super::snapshot::LlamaSnapshot;
    use super::*;
    use crate::planted::sound;

    /// Each snapshot, before and after the last epoch, sees one edge less than the snapshot before it.
    #[test]
    fn epochs_begin_again_after_the_last() {
        const EDGES: u32 = 8;
        let _sound = sound();
        let form = GraphForm::default();
        let edge = |i: u32| (VertexId(0), VertexId(1 + i));
        let mut state = State::new(form, LlamaOptions { growth: 0, garbage: 0, ..LlamaOptions::default() });
        Arc::make_mut(&mut state.root).epoch = LAST_EPOCH - 4;
        for i in 0..EDGES {
            let (src, dst) = edge(i);
            state.write::<true>(&[Update::InsertEdge(src, dst, 1.0)]);
        }
        let mut snapshots = vec![LlamaSnapshot::new(state.snapshot::<true>(), form)];
        let mut epochs = vec![state.root.epoch];
        for i in 0..EDGES {
            let (src, dst) = edge(i);
            state.write::<true>(&[Update::RemoveEdge(src, dst)]);
            snapshots.push(LlamaSnapshot::new(state.snapshot::<true>(), form));
            epochs.push(state.root.epoch);
        }
        assert!(
            epochs.contains(&(LAST_EPOCH - 1)) && epochs.contains(&0) && epochs.contains(&1),
            "{epochs:?}"
        );
        for (removed, snapshot) in (0..).zip(&snapshots) {
            for i in 0..EDGES {
                let (src, dst) = edge(i);
                assert_eq!(
                    snapshot.search_edge(src, dst).is_some(),
                    i >= removed,
                    "edge {i} after {removed}"
                );
            }
        }
    }
}
