//! What a key names, by timestamp.
//!
//! # Protocol
//! * One thread at a time changes the bindings of a key: the holder of its latch, which draws its timestamp and changes
//!   them before it releases the latch, so timestamps ascend.
//! * Readers load the newest binding and walk to the one of their timestamp. Bindings never change; a change replaces
//!   the newest one.
//! * What ended at or before the oldest timestamp that any reader can see, now or later, is left out when the newest is
//!   replaced (invariant I23 in `docs/design/protocol.md`).

use std::sync::Arc;

use hedgerow_core::sync::ArcCell;
use hedgerow_core::{Timestamp, VertexId};

/// A key, bound to a vertex id for a span of commits: from `born` up to, not including, `died`.
#[derive(Debug)]
struct Binding {
    id: VertexId,
    born: Timestamp,
    died: Timestamp,
    older: Option<Arc<Binding>>,
}

/// The vertex ids that one key was bound to. Read without locks.
pub struct Bindings(ArcCell<Binding>);

impl Binding {
    fn newest(id: VertexId, born: Timestamp, older: Option<Arc<Binding>>) -> Arc<Binding> {
        Arc::new(Binding { id, born, died: Timestamp::INFINITY, older })
    }

    /// Without what ended at or before `oldest`, where that is this one itself, or the one before it.
    fn still_seen(&self, oldest: Timestamp) -> Option<Arc<Binding>> {
        (self.died > oldest).then(|| {
            let older = self.older.clone().filter(|older| older.died > oldest);
            self.with(self.died, older)
        })
    }

    /// This binding with another end and other predecessors.
    fn with(&self, died: Timestamp, older: Option<Arc<Binding>>) -> Arc<Binding> {
        Arc::new(Binding { id: self.id, born: self.born, died, older })
    }
}

impl Bindings {
    /// Those of a key that is bound for the first time, to `id` as of `ts`.
    pub fn new(id: VertexId, ts: Timestamp) -> Bindings {
        Bindings(ArcCell::new(Some(Binding::newest(id, ts, None))))
    }

    /// The id that the key names for a snapshot at `t`. O(bindings since `t`).
    #[inline]
    pub fn at(&self, t: Timestamp) -> Option<VertexId> {
        let newest = self.0.load();
        let mut binding = Option::as_deref(&*newest)?;
        loop {
            if binding.born <= t {
                return (t < binding.died).then_some(binding.id);
            }
            binding = binding.older.as_deref()?;
        }
    }

    /// When the key was last bound or unbound; `None` if never.
    pub fn changed(&self) -> Option<Timestamp> {
        let newest = self.0.load();
        let binding = Option::as_deref(&*newest)?;
        Some(if binding.died == Timestamp::INFINITY { binding.born } else { binding.died })
    }

    /// Whether the key was bound to `id` last, and is not any more.
    pub fn is_over(&self, id: VertexId) -> bool {
        Option::as_deref(&*self.0.load()).is_none_or(|b| b.id == id && b.died != Timestamp::INFINITY)
    }

    /// Binds the key to `id` as of `ts`, and drops what ended at or before `oldest`, the oldest timestamp that any reader
    /// can see, now or later. Only for the holder of the key's latch.
    pub fn bind(&self, id: VertexId, ts: Timestamp, oldest: Timestamp) {
        let older = self.0.load_full().and_then(|newest| newest.still_seen(oldest));
        self.0.store(Some(Binding::newest(id, ts, older)));
    }

    /// Ends the newest binding as of `ts`. Only for the holder of the key's latch.
    pub fn unbind(&self, ts: Timestamp) {
        let ended = self.0.load_full().map(|newest| newest.with(ts, newest.older.clone()));
        self.0.store(ended);
    }

    /// The bytes of one binding.
    pub const fn bytes_each() -> usize {
        size_of::<Binding>()
    }
}

impl Drop for Binding {
    /// One by one: a key that came and went often under an old snapshot has a long chain.
    fn drop(&mut self) {
        let mut next = self.older.take();
        while let Some(binding) = next {
            match Arc::try_unwrap(binding) {
                Ok(mut binding) => next = binding.older.take(),
                Err(_) => break,
            }
        }
    }
}
