//! Writing and reading edges with ranks and rows under the latch.

use hedgerow_core::{Direction, InterpolationHint, LocalVertex, Row, Timestamp, VertexId};

use super::{Latched, Subgraph};
use crate::delta::Delta;
use crate::fold;
use crate::grace::ReadGuard;
use crate::items::ItemRef;
use crate::op::ItemOp;
use crate::reclaim::{Horizon, Pin};
use crate::version::Read;

impl Subgraph {
    /// Whether nothing was ever applied in this direction.
    pub fn is_untouched(&self, direction: Direction) -> bool {
        self.heads[direction as usize].is_none()
    }

    /// Reads everything applied, published or not, without the latch. It shows at least what was applied before the
    /// caller got a latch that its writer held too; whether there is more, only the holder of this latch knows.
    pub fn read_latest<R>(&self, direction: Direction, f: impl FnOnce(Read<'_>) -> R) -> Option<R> {
        let walk = ReadGuard::begin();
        Some(f(self.heads[direction as usize].load(&walk)?.latest()))
    }
}

impl Latched<'_> {
    /// Weight and properties of the edge with this destination and rank, everything applied included.
    pub fn item(
        &self,
        direction: Direction,
        local: LocalVertex,
        dst: VertexId,
        rank: u64,
    ) -> Option<(f64, Option<Row>)> {
        let head = self.writer.heads[direction as usize].as_ref()?;
        if head.is_plain() {
            return if rank == 0 {
                head.latest().edge(local, dst, InterpolationHint::UNKNOWN).map(|weight| (weight, None))
            } else {
                None
            };
        }
        head.latest().item(local, dst, rank).map(|item| (item.weight, item.row.to_row()))
    }

    /// The number of edges of a vertex, everything applied included.
    pub fn degree(&self, direction: Direction, local: LocalVertex) -> usize {
        self.writer.heads[direction as usize].as_ref().map_or(0, |head| head.latest().degree(local))
    }

    /// Calls `f` with each edge, everything applied included, ascending by destination and rank.
    pub fn for_each_item(&self, direction: Direction, local: LocalVertex, f: impl FnMut(ItemRef<'_>)) {
        if let Some(version) = &self.writer.heads[direction as usize] {
            version.latest().for_each_item(local, f);
        }
    }

    /// As [`apply`](Self::apply), of edges with ranks and rows among them.
    pub fn apply_items(
        &mut self,
        direction: Direction,
        ops: &[ItemOp],
        ts: Timestamp,
        weighted: bool,
        horizon: &impl Horizon,
        mut pinned: impl FnMut(Pin),
    ) {
        debug_assert!(ts >= self.last_ts());
        ops.iter().for_each(|op| self.note_vertex(&op.op));
        self.subgraph.note_applied(ts);
        let mut head = self.head(direction, weighted);
        if head.patch.is_some() {
            let plain = head.without_patch(weighted, self.subgraph.memory().arena());
            self.replace(direction, head, plain, horizon, &mut pinned);
            head = self.head(direction, weighted);
        }
        if head.delta.accepts(ops.len(), ts) {
            push_all(&head.delta, ops, ts);
            return;
        }
        let next = match fold::published(
            &head,
            ops.len(),
            ts,
            weighted,
            horizon.published(),
            self.subgraph.memory().arena(),
        ) {
            Some(next) => {
                // The fold of a plain head may have made a patch, which has no room for ranks and rows.
                let arena = self.subgraph.memory().arena();
                let next = if next.patch.is_some() { next.without_patch(weighted, arena) } else { next };
                push_all(&next.delta, ops, ts);
                next
            }
            None => fold::all_items(
                &head,
                ops.iter().map(|op| op.entry(ts)),
                ts,
                weighted,
                self.subgraph.memory().arena(),
            ),
        };
        self.replace(direction, head, next, horizon, pinned);
    }
}

fn push_all(delta: &Delta, ops: &[ItemOp], ts: Timestamp) {
    for ItemOp { op, rank, row } in ops {
        delta.push_item(op.local, op.op, op.dst, ts, op.weight, (*rank, row.clone()));
    }
}
