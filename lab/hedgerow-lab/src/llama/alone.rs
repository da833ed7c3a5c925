//! The same levels, for one user at a time.

use hedgerow_core::{Capability, DynamicGraph, Update, Written};
use parking_lot::Mutex;

use super::MOST;
use super::options::LlamaOptions;
use super::snapshot::LlamaSnapshot;
use super::state::State;
use crate::change;
use crate::{GraphForm, LabError};

/// The same levels for one user at a time. With `COPIES`, each snapshot copies the indirection table and the
/// pages that change, as the whole container does. Without it, they change in place, unless a snapshot holds
/// them. This gives the cost of the structure alone.
pub struct LlamaAlone<const COPIES: bool> {
    state: Mutex<State>,
    form: GraphForm,
}

/// Levels whose pages change in place.
pub type PlainLlama = LlamaAlone<false>;
/// Levels whose pages are copied for each snapshot.
pub type VersionedLlama = LlamaAlone<true>;

impl<const COPIES: bool> LlamaAlone<COPIES> {
    /// Returns an empty graph with the default parameters.
    pub fn new(form: GraphForm) -> Self {
        Self::with_options(form, LlamaOptions::default())
    }

    /// Returns an empty graph.
    pub fn with_options(form: GraphForm, options: LlamaOptions) -> Self {
        LlamaAlone { state: Mutex::new(State::new(form, options)), form }
    }
}

impl<const COPIES: bool> DynamicGraph for LlamaAlone<COPIES> {
    type Error = LabError;
    type Snapshot = LlamaSnapshot;

    const LACKS: &'static [Capability] = &[Capability::ParallelWriters];

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, MOST)?;
        Ok(self.state.lock().write::<COPIES>(updates))
    }

    fn snapshot(&self) -> Result<LlamaSnapshot, LabError> {
        Ok(LlamaSnapshot::new(self.state.lock().snapshot::<COPIES>(), self.form))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        self.state.lock().reclaim::<COPIES>();
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.state.lock().bytes()
    }
}
