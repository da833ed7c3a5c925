//! LLAMA: Macko, Marathe, Margo and Seltzer, "LLAMA: efficient graph analytics using large multiversioned
//! arrays" (ICDE 2015).
//!
//! A multi-version CSR, as the study (Su et al.) describes it in section 4.1.5. Each snapshot has a vertex
//! table in pages behind an indirection table, and shares pages with other snapshots. A page is copied when a
//! record in it changes. A record leads to the newest fragment of a list, in the edge table of the snapshot
//! that added the fragment (a level). A continuation record after the fragment leads to the next older
//! fragment. Deletion vectors mark removed entries. One writer at a time collects changes in a
//! write-optimised buffer, which becomes the next level. The newest levels are merged, so that lists have few
//! fragments. [`Llama`] is the whole container; [`LlamaAlone`] has the same levels for one user at a time.
//! Parameters and deviations: `docs/design/lab/llama.md`.

use std::mem;
use std::sync::Arc;

use hedgerow_core::sync::Mutex;
use hedgerow_core::{Capability, DynamicGraph, Update, VertexId, Written};

use crate::change;
use crate::planted::{Planted, is_on};
use crate::{GraphForm, LabError};

mod alone;
mod buffer;
mod freeze;
mod level;
mod lists;
mod options;
mod record;
mod root;
mod snapshot;
mod state;
mod table;
mod writer;

pub use alone::{LlamaAlone, PlainLlama, VersionedLlama};
pub use options::LlamaOptions;
use root::Root;
pub use snapshot::{LlamaBlock, LlamaSnapshot};
use state::State;

/// The largest id. An indirection table for larger ids would have more than 8 MB.
const MOST: VertexId = VertexId((1 << 28) - 1);

/// A multi-version CSR with one writer at a time.
pub struct Llama {
    /// The state behind the writer's lock; a thread that freezes the buffer holds the lock too.
    state: Mutex<State>,
    /// The last snapshot. Its lock is held only while a pointer is copied.
    published: Mutex<Published>,
    form: GraphForm,
}

struct Published {
    root: Arc<Root>,
    /// Whether the snapshot contains every transaction that has returned.
    is_current: bool,
}

impl Llama {
    /// Returns an empty graph with the default parameters.
    pub fn new(form: GraphForm) -> Llama {
        Llama::with_options(form, LlamaOptions::default())
    }

    /// Returns an empty graph.
    pub fn with_options(form: GraphForm, options: LlamaOptions) -> Llama {
        let state = State::new(form, options);
        let published = Published { root: state.root.clone(), is_current: true };
        Llama { state: Mutex::new(state), published: Mutex::new(published), form }
    }

    /// Returns the number of levels of the last snapshot. No list has more pieces than this.
    pub fn levels(&self) -> usize {
        self.published.lock().root.lists.iter().map(|lists| lists.levels.len()).max().unwrap_or(0)
    }

    /// Returns the last snapshot, if it contains all transactions.
    #[inline]
    fn current(&self) -> Option<Arc<Root>> {
        let published = self.published.lock();
        published.is_current.then(|| published.root.clone())
    }

    /// Publishes a snapshot to readers. Called under the writer's lock.
    fn publish(&self, root: Arc<Root>) {
        let next = Published { root, is_current: true };
        let before = mem::replace(&mut *self.published.lock(), next);
        // Frees the old snapshot outside the lock, so that readers do not wait.
        drop(before);
    }
}

impl DynamicGraph for Llama {
    type Error = LabError;
    type Snapshot = LlamaSnapshot;

    const LACKS: &'static [Capability] = &[Capability::ParallelWriters];

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, MOST)?;
        let mut state = self.state.lock();
        let (before, was_dirty) = (state.root.epoch, state.is_dirty());
        let written = state.write::<true>(updates);
        if state.root.epoch != before {
            self.publish(state.root.clone());
        } else if state.is_dirty() && !was_dirty {
            self.published.lock().is_current = false;
        }
        Ok(written)
    }

    fn snapshot(&self) -> Result<LlamaSnapshot, LabError> {
        let root = self.current().unwrap_or_else(|| {
            let mut state = self.state.lock();
            let root = state.snapshot::<true>();
            if is_on(Planted::PublishedOutsideLock) {
                drop(state);
                // Gives other threads enough time to write.
                (0..20).for_each(|_| std::thread::yield_now());
            }
            self.publish(root.clone());
            root
        });
        Ok(LlamaSnapshot::new(root, self.form))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        let mut state = self.state.lock();
        state.reclaim::<true>();
        self.publish(state.root.clone());
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.state.lock().bytes()
    }
}
