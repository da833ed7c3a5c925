//! Aspen: Dhulipala, Blelloch and Shun, "Low-latency graph streaming using compressed purely-functional
//! trees" (PLDI 2019).
//!
//! A graph is a purely functional tree of vertices whose values are C-trees (sections 3 and 5): trees of
//! heads, with chunks of ids in difference coding. A writer makes a new version: it copies the paths to the
//! nodes that it changes, and publishes the new root (section 6). One writer runs at a time. Readers take the
//! published root; after that they neither lock nor check timestamps. A version is freed with the last
//! reference to its root. [`Aspen`] is the whole container; [`AspenAlone`] is the same for one user at a
//! time. Parameters and deviations: `docs/design/lab/aspen.md`.

use std::mem;
use std::sync::Arc;

use hedgerow_core::sync::Mutex;
use hedgerow_core::{Capability, DynamicGraph, Timestamp, Update, VertexId, Written};

use crate::change;
use crate::planted::{Planted, is_on};
use crate::{GraphForm, LabError};

mod alone;
mod chunk;
mod codes;
mod ctree;
mod flat;
mod parallel;
mod root;
mod shape;
mod snapshot;
mod tree;
mod vertices;

pub use alone::{AspenAlone, CopyingAspen, PlainAspen};
use root::Root;
pub use shape::AspenOptions;
use shape::Shape;
pub use snapshot::{AspenBlock, AspenSnapshot};

/// A purely functional tree of C-trees, with one writer at a time.
pub struct Aspen {
    /// The writer's lock.
    writer: Mutex<()>,
    /// The newest version. Its lock is held only while a pointer is copied.
    published: Mutex<Arc<Root>>,
    form: GraphForm,
    shape: Shape,
}

impl Aspen {
    /// Returns an empty graph with the paper's parameters.
    pub fn new(form: GraphForm) -> Aspen {
        Aspen::with_options(form, AspenOptions::default())
    }

    /// Returns an empty graph.
    pub fn with_options(form: GraphForm, options: AspenOptions) -> Aspen {
        Aspen {
            writer: Mutex::new(()),
            published: Mutex::new(Arc::default()),
            form,
            shape: Shape::new(form, options),
        }
    }

    #[inline]
    fn published(&self) -> Arc<Root> {
        self.published.lock().clone()
    }
}

impl DynamicGraph for Aspen {
    type Error = LabError;
    type Snapshot = AspenSnapshot;

    const LACKS: &'static [Capability] = &[Capability::ParallelWriters];

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, VertexId::MAX)?;
        let stale = is_on(Planted::BaseOfAnotherWriter).then(|| {
            let base = self.published();
            // Gives other threads enough time to write.
            (0..20).for_each(|_| std::thread::yield_now());
            base
        });
        let writer = self.writer.lock();
        let base = stale.unwrap_or_else(|| self.published());
        let mut root = Root::clone(&base);
        let Some(written) = root.write(updates, self.form, self.shape) else {
            // The writer's lock keeps other writers from changing the data that this transaction has read.
            return Ok(Written { timestamp: Timestamp(base.at), vertices: 0, edges: 0 });
        };
        // Allocates outside the lock, so that readers do not wait for the allocator.
        let root = Arc::new(root);
        let before = mem::replace(&mut *self.published.lock(), root);
        drop(writer);
        // Frees the old version after the lock, so that the next writer does not wait.
        drop((base, before));
        Ok(written)
    }

    fn snapshot(&self) -> Result<AspenSnapshot, LabError> {
        let early = is_on(Planted::TimestampReadApart).then(|| {
            let at = self.published().at;
            (0..20).for_each(|_| std::thread::yield_now());
            at
        });
        let snapshot = AspenSnapshot::new(self.published(), self.form, self.shape);
        Ok(match early {
            Some(at) => snapshot.dated(at),
            None => snapshot,
        })
    }

    /// Does nothing: the last reference frees the versions that no snapshot needs.
    fn reclaim(&self) -> Result<(), LabError> {
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.published().bytes()
    }
}
