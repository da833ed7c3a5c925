//! The same tree for one user at a time.

use std::sync::Arc;

use hedgerow_core::{Capability, DynamicGraph, Timestamp, Update, VertexId, Written};
use parking_lot::Mutex;

use super::root::Root;
use super::shape::{AspenOptions, Shape};
use super::snapshot::AspenSnapshot;
use crate::change;
use crate::{GraphForm, LabError};

/// The same tree for one user at a time. With `COPIES`, each transaction copies paths, as the whole container
/// does. Without it, a transaction changes nodes in place, unless a snapshot holds them. This gives the cost
/// of the structure alone.
pub struct AspenAlone<const COPIES: bool> {
    root: Mutex<Arc<Root>>,
    form: GraphForm,
    shape: Shape,
}

/// A tree whose nodes change in place.
pub type PlainAspen = AspenAlone<false>;
/// A tree in which each transaction copies paths.
pub type CopyingAspen = AspenAlone<true>;

impl<const COPIES: bool> AspenAlone<COPIES> {
    /// Returns an empty graph with the paper's parameters.
    pub fn new(form: GraphForm) -> Self {
        Self::with_options(form, AspenOptions::default())
    }

    /// Returns an empty graph.
    pub fn with_options(form: GraphForm, options: AspenOptions) -> Self {
        AspenAlone { root: Mutex::default(), form, shape: Shape::new(form, options) }
    }
}

impl<const COPIES: bool> DynamicGraph for AspenAlone<COPIES> {
    type Error = LabError;
    type Snapshot = AspenSnapshot;

    const LACKS: &'static [Capability] = &[Capability::ParallelWriters];

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, VertexId::MAX)?;
        let mut root = self.root.lock();
        let written = if COPIES {
            let mut new = Root::clone(&root);
            let written = new.write(updates, self.form, self.shape);
            if written.is_some() {
                *root = Arc::new(new);
            }
            written
        } else {
            Arc::make_mut(&mut root).write(updates, self.form, self.shape)
        };
        Ok(written.unwrap_or_else(|| Written { timestamp: Timestamp(root.at), vertices: 0, edges: 0 }))
    }

    fn snapshot(&self) -> Result<AspenSnapshot, LabError> {
        Ok(AspenSnapshot::new(self.root.lock().clone(), self.form, self.shape))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.root.lock().bytes()
    }
}
