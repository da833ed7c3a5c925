//! The work that a large commit does ahead of its timestamp.

use std::sync::Arc;

use hedgerow_core::{Direction, Timestamp};

use super::Latched;
use crate::fold;
use crate::op::Ops;
use crate::reclaim::{Horizon, Pin};
use crate::version::Version;

/// A version into which the operations of a commit are merged. It is linked when the timestamp of the commit
/// is drawn. Until then no other thread knows it, and dropping it undoes everything.
pub struct Ahead {
    head: Arc<Version>,
    /// The version in its final block. A temporary block would leave a gap next to each version.
    next: Arc<Version>,
}

impl Latched<'_> {
    /// Does the work that [`apply_ahead`](Self::apply_ahead) needs before the timestamp is drawn. Makes room
    /// in the delta. If that is impossible, builds the version into which delta and operations are merged
    /// (rule R9 of the design). The caller holds the latch until `apply_ahead` returns. O(1) if there is
    /// room, else O(edges of the subgraph).
    #[inline]
    pub fn prepare(
        &mut self,
        direction: Direction,
        ops: Ops<'_>,
        weighted: bool,
        horizon: &impl Horizon,
        pinned: impl FnMut(Pin),
    ) -> Option<Ahead> {
        if ops.is_empty() || self.has_room(direction, ops.len()) {
            return None;
        }
        self.fold_ahead(direction, ops.len(), weighted, horizon, pinned);
        (!self.has_room(direction, ops.len())).then(|| self.build(direction, ops, weighted))
    }

    /// True if the delta of a chain has room for `count` operations, so that they cause no merge. O(1).
    #[inline]
    pub fn has_room(&self, direction: Direction, count: usize) -> bool {
        let head = self.writer.heads[direction as usize].as_ref();
        head.is_some_and(|head| head.delta.len() + count <= head.delta.capacity())
    }

    #[cold]
    fn build(&mut self, direction: Direction, ops: Ops<'_>, weighted: bool) -> Ahead {
        let head = self.head(direction, weighted);
        // Timestamps only place the operations behind the entries of the delta. They are there anyway, so any
        // timestamp is right.
        let next = fold::all(&head, ops, head.begin, weighted, self.subgraph.memory().arena());
        Ahead { head, next: Arc::new(next) }
    }

    /// Like [`apply`](Self::apply), but with the result of [`prepare`](Self::prepare) for the same
    /// operations.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    pub fn apply_ahead(
        &mut self,
        direction: Direction,
        ops: Ops<'_>,
        built: Option<Ahead>,
        ts: Timestamp,
        weighted: bool,
        horizon: &impl Horizon,
        pinned: impl FnMut(Pin),
    ) {
        let Some(Ahead { head, mut next }) = built else {
            return self.apply(direction, ops, ts, weighted, horizon, pinned);
        };
        debug_assert!(
            self.writer.heads[direction as usize].as_ref().is_some_and(|now| Arc::ptr_eq(now, &head))
        );
        ops.iter().for_each(|op| self.note_vertex(op));
        self.subgraph.note_applied(ts);
        let unshared = Arc::get_mut(&mut next);
        debug_assert!(unshared.is_some(), "nobody else knows it");
        if let Some(next) = unshared {
            next.begin = ts;
            next.delta.begin_at(ts);
        }
        self.replace(direction, head, next, horizon, pinned);
    }
}
