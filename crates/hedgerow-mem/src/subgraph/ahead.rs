//! The work that a large commit does ahead of its timestamp.

use std::sync::Arc;

use hedgerow_core::account::Charge;
use hedgerow_core::{Direction, Timestamp};

use super::Latched;
use crate::fold;
use crate::op::Ops;
use crate::reclaim::{Horizon, VersionPins};
use crate::version::Version;

/// A version into which the operations of a commit are merged. It is linked when the timestamp of the commit
/// is drawn. Until then no other thread knows it, and dropping it undoes everything.
pub struct Ahead {
    head: Arc<Version>,
    /// The version in its final block. A temporary block would leave a gap next to each version.
    next: Arc<Version>,
    /// The charge for `next` until it is linked. The retire list discharges a version that was linked.
    charge: Charge,
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
        horizon: &impl Horizon,
    ) -> (Option<Ahead>, VersionPins) {
        if ops.is_empty() || self.has_room(direction, ops.len()) {
            return (None, VersionPins::default());
        }
        let pins = self.fold_ahead(direction, ops.len(), horizon);
        let built = (!self.has_room(direction, ops.len())).then(|| self.build(direction, ops));
        (built, pins)
    }

    /// True if the delta of a chain has room for `count` operations, so that they cause no merge. O(1).
    #[inline]
    pub fn has_room(&self, direction: Direction, count: usize) -> bool {
        let head = self.writer.heads[direction as usize].as_ref();
        head.is_some_and(|head| head.delta.len() + count <= head.delta.capacity())
    }

    #[cold]
    fn build(&mut self, direction: Direction, ops: Ops<'_>) -> Ahead {
        let head = self.head(direction);
        // Timestamps only place the operations behind the entries of the delta. They are there anyway, so any
        // timestamp is right.
        let next =
            fold::all(&head, ops, head.begin, self.subgraph.is_weighted(), self.subgraph.memory().arena());
        let charge = self.subgraph.memory().charge_unlinked(&next);
        Ahead { head, next: Arc::new(next), charge }
    }

    /// Like [`apply`](Self::apply), but with the result of [`prepare`](Self::prepare) for the same
    /// operations.
    #[inline]
    pub fn apply_ahead(
        &mut self,
        direction: Direction,
        ops: Ops<'_>,
        built: Option<Ahead>,
        ts: Timestamp,
        horizon: &impl Horizon,
    ) -> VersionPins {
        let Some(Ahead { head, mut next, charge }) = built else {
            return self.apply(direction, ops, ts, horizon);
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
        charge.keep();
        self.replace(direction, head, next, horizon)
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use hedgerow_core::account::Purpose;
    use hedgerow_core::{LocalVertex, VertexId};

    use super::*;
    use crate::op::{Attributes, EdgeOp, LocalOp};
    use crate::{Memory, Pin, Subgraph};

    struct NoReaders;

    impl Horizon for NoReaders {
        fn published(&self) -> Timestamp {
            Timestamp::ZERO
        }

        fn pin_in(&self, _: Timestamp, _: Timestamp) -> Option<Pin> {
            None
        }
    }

    /// A version takes its memory when it is built, so it is charged from then on, and not only when it is
    /// linked.
    #[test]
    fn a_version_is_charged_when_it_is_built() {
        const EDGES: usize = 5_000;
        let memory = Memory::default();
        let subgraph = Subgraph::new(memory.clone());
        let op = |edge| LocalOp {
            local: LocalVertex(0),
            op: EdgeOp::Insert,
            dst: VertexId(edge as u32),
            weight: 0.0,
        };
        let ops: Vec<LocalOp> = (0..EDGES).map(op).collect();
        let ranks: Vec<Attributes<'_>> =
            (0..EDGES).map(|_| Attributes { rank: 7, ..Attributes::NONE }).collect();
        let ops = Ops::with(&ops, &ranks);
        let used = || memory.account().used_for(Purpose::Versions) as usize;
        let mut latched = subgraph.latch();
        let build = |latched: &mut Latched<'_>| {
            let (built, _) = latched.prepare(Direction::Out, ops, &NoReaders);
            built.expect("the operations fit no delta")
        };
        let built = build(&mut latched);
        let with_version = used();
        drop(built);
        let without = used();
        assert!(with_version - without >= EDGES * size_of::<u64>(), "{with_version} {without}");
        let built = build(&mut latched);
        assert_eq!(used(), with_version);
        let _ = latched.apply_ahead(Direction::Out, ops, Some(built), Timestamp(1), &NoReaders);
        drop(latched);
        assert_eq!(
            subgraph.read(Direction::Out, Timestamp(1), |read| read.degree(LocalVertex(0))),
            Ok(Some(EDGES))
        );
        memory.retire_list().drain();
        assert!(
            (with_version - without..=with_version).contains(&used()),
            "with or without the version before"
        );
    }
}
