//! Application of operations under the latch: to the delta of the newest version, or by a merge into a new
//! version.

use std::sync::Arc;

use hedgerow_core::{Direction, RowRef, Timestamp};

use super::Latched;
use crate::arena::Counted;
use crate::delta::Delta;
use crate::fold;
use crate::items::DeltaExtra;
use crate::main_part::Main;
use crate::op::{EdgeOp, LocalOp, Ops};
use crate::reclaim::{Horizon, Merged, VersionPins};
use crate::version::Version;

impl Latched<'_> {
    /// Applies effective operations of the commit `ts`. They are invisible until `ts` is published.
    ///
    /// Operations must name each edge at most once, and a commit makes one call per direction. Returns the
    /// pins of versions that must stay for now. O(operations), and O(edges of the subgraph) for a merge,
    /// which happens once per delta capacity.
    #[inline]
    pub fn apply(
        &mut self,
        direction: Direction,
        ops: Ops<'_>,
        ts: Timestamp,
        horizon: &impl Horizon,
    ) -> VersionPins {
        debug_assert!(ts >= self.last_ts());
        ops.iter().for_each(|op| self.note_vertex(op));
        self.subgraph.note_applied(ts);
        if let Some(head) = &self.writer.heads[direction as usize]
            && head.delta.accepts(ops.len(), ts)
        {
            head.delta.push_all(ops, ts);
            if ops.have_attributes() {
                self.charge_rows(head);
            }
            return VersionPins::default();
        }
        self.apply_with_merge(direction, ops, ts, horizon)
    }

    /// Updates the mask of existing vertices.
    #[inline]
    pub(super) fn note_vertex(&mut self, op: &LocalOp) {
        if op.op == EdgeOp::Vertex {
            let bit = op.local.bit();
            self.writer.present =
                if op.dst.0 != 0 { self.writer.present | bit } else { self.writer.present & !bit };
        }
    }

    /// Makes room for `count` operations, if the published part of the delta can be folded. A commit calls it
    /// before it draws its timestamp, so that no publication waits for the merge; [`apply`](Self::apply)
    /// makes room itself if it must. O(1) if there is room, else O(edges of the subgraph).
    #[inline]
    pub fn make_room(&mut self, direction: Direction, count: usize, horizon: &impl Horizon) -> VersionPins {
        let Some(head) = &self.writer.heads[direction as usize] else { return VersionPins::default() };
        if head.delta.len() + count > head.delta.capacity() {
            self.fold_ahead(direction, count, horizon)
        } else {
            VersionPins::default()
        }
    }

    /// Returns an upper bound of the bytes that the merge for `count` operations takes in addition to the
    /// present ones, or the first version of a chain; 0 if the delta has room. O(properties of an edge).
    pub fn bytes_to_merge(&self, direction: Direction, count: usize) -> usize {
        let (edges, present) = match &self.writer.heads[direction as usize] {
            None => (0, size_of::<Version>()),
            Some(head) if head.delta.len() + count <= head.delta.capacity() => return 0,
            Some(head) => (head.main.edges().len(), head.bytes()),
        };
        // The next version has an empty delta, with its Bloom filter.
        let entries = count.saturating_add(fold::delta_capacity(edges));
        present.saturating_add(entries.saturating_mul(size_of::<LocalOp>() + 8))
    }

    /// Returns an upper bound of the bytes that the ranks and properties of operations take when they are
    /// applied, in addition to those of the [merge](Self::bytes_to_merge). Leaves out the texts of outgoing
    /// lists, which a commit counts with its operations. O(operations), and O(1) if they have neither.
    pub fn bytes_of_attributes(&self, direction: Direction, ops: Ops<'_>) -> usize {
        if !ops.have_attributes() {
            return 0;
        }
        let head = self.writer.heads[direction as usize].as_ref();
        let (present, capacity, word) = match head {
            Some(head) if head.delta.len() + ops.len() <= head.delta.capacity() => {
                (head.delta.extra(), head.delta.capacity(), head.delta.word())
            }
            Some(head) => {
                let edges = head.main.edges().len().saturating_add(ops.len());
                (None, fold::delta_capacity(edges), fold::word_of(head))
            }
            None => (None, fold::delta_capacity(ops.len()), None),
        };
        // A delta has its word property in its block.
        let is_outside = |row: &RowRef<'_>| match row.by_value() {
            RowRef::Empty => false,
            RowRef::Word(property, kind, _) => word != Some((property, kind)),
            _ => true,
        };
        let has_rows = ops.rows().any(|row| is_outside(&row));
        let bytes = |row: RowRef<'_>| match direction {
            Direction::Out => row.owned_bytes().saturating_sub(row.variable_bytes()),
            Direction::In => row.owned_bytes(),
        };
        DeltaExtra::missing_bytes(present, capacity, (has_rows, ops.has_ranks()))
            + ops.rows().filter(is_outside).map(bytes).sum::<usize>()
    }

    #[cold]
    pub(super) fn fold_ahead(
        &mut self,
        direction: Direction,
        count: usize,
        horizon: &impl Horizon,
    ) -> VersionPins {
        let (head, published) = (self.head(direction), horizon.published());
        let next = fold::published(
            &head,
            count,
            published.max(head.begin),
            self.subgraph.is_weighted(),
            published,
            self.subgraph.memory().arena(),
        );
        next.map_or_else(VersionPins::default, |next| self.replace(direction, head, next, horizon))
    }

    /// Applies operations that do not fit the delta of the head.
    #[cold]
    fn apply_with_merge(
        &mut self,
        direction: Direction,
        ops: Ops<'_>,
        ts: Timestamp,
        horizon: &impl Horizon,
    ) -> VersionPins {
        let head = self.head(direction);
        if head.delta.accepts(ops.len(), ts) {
            head.delta.push_all(ops, ts);
            self.charge_rows(&head);
            return VersionPins::default();
        }
        let next = match fold::published(
            &head,
            ops.len(),
            ts,
            self.subgraph.is_weighted(),
            horizon.published(),
            self.subgraph.memory().arena(),
        ) {
            Some(next) => {
                next.delta.push_all(ops, ts);
                next
            }
            None => fold::all(&head, ops, ts, self.subgraph.is_weighted(), self.subgraph.memory().arena()),
        };
        self.replace(direction, head, next, horizon)
    }

    /// Merges the published part of the delta, so that an idle subgraph becomes a plain CSR. With `relocate`
    /// the main part moves even if there is nothing to merge: see
    /// [`Arena::evacuate`](crate::Arena::evacuate). Returns `None` if it made no version, else the pins of
    /// versions that must stay for now.
    #[must_use = "the versions stay until the chain is reclaimed for these pins"]
    pub fn settle(
        &mut self,
        direction: Direction,
        relocate: bool,
        horizon: &impl Horizon,
    ) -> Option<VersionPins> {
        let head = self.writer.heads[direction as usize].clone()?;
        if head.delta.capacity() == 0 && !relocate {
            return None;
        }
        let (weighted, arena) = (self.subgraph.is_weighted(), self.subgraph.memory().arena());
        let next = fold::settle(&head, horizon.published(), relocate, weighted, arena);
        let pins = self.replace(direction, head, next, horizon);
        self.subgraph.note_settled();
        Some(pins)
    }

    /// Installs an image from a checkpoint as the first version, when the store is opened.
    pub fn install(&mut self, direction: Direction, main: Main, as_of: Timestamp) {
        if direction == Direction::Out {
            self.writer.present = main.present;
        }
        self.subgraph.note_applied(self.last_ts().max(as_of));
        let delta = Delta::new(as_of, 0, self.subgraph.is_weighted(), self.subgraph.memory().arena());
        self.push(direction, Version::new(as_of, main, delta, 0));
    }

    /// Charges rows and ranks that were added to the delta of a version outside the arena.
    fn charge_rows(&self, head: &Version) {
        if head.delta.extra().is_some_and(DeltaExtra::has_grown) {
            self.subgraph.memory().charge(head);
        }
    }

    pub(super) fn head(&mut self, direction: Direction) -> Arc<Version> {
        if let Some(head) = &self.writer.heads[direction as usize] {
            return head.clone();
        }
        assert!(
            self.subgraph.heads[direction as usize].is_in_memory(),
            "what was evicted is loaded before it changes"
        );
        let weighted = self.subgraph.is_weighted();
        let main = Main { weights: weighted.then(Counted::default), ..Main::default() };
        let delta = Delta::new(Timestamp::ZERO, fold::MIN_DELTA, weighted, self.subgraph.memory().arena());
        let mut version = Version::new(Timestamp::ZERO, main, delta, 0);
        // As in `reload`: a chain that was loaded as empty had versions before, which views may have.
        version.number = self.subgraph.stamp().0;
        self.push(direction, version)
    }

    /// Makes `next` the head, counts a main part that it replaces, and unlinks dead versions behind it.
    pub(super) fn replace(
        &mut self,
        direction: Direction,
        head: Arc<Version>,
        next: impl Into<Arc<Version>>,
        horizon: &impl Horizon,
    ) -> VersionPins {
        // A main part that gets a patch is part of the new version too, so it does not count as replaced.
        let next = next.into();
        if !next.main.neighbors.is_same(&head.main.neighbors) {
            self.merged += Merged { main_parts: 1, bytes: head.main.heap_bytes() };
        }
        self.push(direction, next);
        drop(head);
        self.reclaim_recent(direction, horizon)
    }

    /// Makes `next` the head. A release store: a reader that loads it sees all of it.
    pub(super) fn push(&mut self, direction: Direction, next: impl Into<Arc<Version>>) -> Arc<Version> {
        let next = self.subgraph.heads[direction as usize].push(next);
        self.subgraph.memory().charge(&next);
        self.writer.heads[direction as usize] = Some(next.clone());
        next
    }
}
