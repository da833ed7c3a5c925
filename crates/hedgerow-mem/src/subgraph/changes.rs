//! The differences between two states of a subgraph.

use std::sync::Arc;

use hedgerow_core::{
    Changes, Direction, EdgeChange, EdgeChangeKind, LocalVertex, SubgraphId, Timestamp, VertexId,
};

use smallvec::SmallVec;

use super::Subgraph;
use crate::grace::ReadGuard;
use crate::op::EdgeOp;
use crate::version::{NotInMemory, Version, load_changed, version_at};

mod many;

pub use many::changes_of_many;

impl Subgraph {
    /// Adds the differences between two snapshots, at `from` and at the later `to`, in the lists of one
    /// direction of this subgraph, whose id is `id`. For outgoing lists it adds vertices too. Both timestamps
    /// must be registered.
    ///
    /// Reads the entries of deltas after `from`. If a version in between was unlinked, or operations were
    /// merged into a main part without an entry, it compares the lists of the vertices that changed there:
    /// O(their degrees).
    ///
    /// # Errors
    /// [`NotInMemory`] if one of the two states is not in memory; then nothing was added.
    pub fn changes_between(
        &self,
        id: SubgraphId,
        direction: Direction,
        (from, to): (Timestamp, Timestamp),
        found: &mut Changes,
    ) -> Result<(), NotInMemory> {
        if self.add_logged(id, direction, (from, to), found)? {
            return Ok(());
        }
        let Some(newest) = self.version(direction, to)? else { return Ok(()) };
        let mut logged = LoggedChanges::walk(&newest, (from, to))?;
        let before = logged.before.take();
        let before = before.as_ref().map(|version| (version, from));
        let states = BothStates { id, before, after: (&newest, to) };
        if direction == Direction::Out && logged.present_may_differ {
            states.compare_vertices(found);
        }
        logged.add_to(found, &states);
        Ok(())
    }

    /// Adds the differences in the common case that both snapshots see one version, and its later entries are
    /// all about edges. Takes no counted reference and allocates little. False if this is not the common
    /// case.
    fn add_logged(
        &self,
        id: SubgraphId,
        direction: Direction,
        (from, to): (Timestamp, Timestamp),
        found: &mut Changes,
    ) -> Result<bool, NotInMemory> {
        let walk = ReadGuard::begin();
        let Some(version) = version_at(&self.heads[direction as usize], to, &walk)? else { return Ok(true) };
        if version.begin > from || version.is_ranked() {
            return Ok(false);
        }
        let delta = &version.delta;
        let mut entries = SmallVec::<[(u64, usize); 8]>::new();
        for at in (0..delta.visible(to)).rev() {
            let entry = delta.entry(at);
            if entry.ts <= from {
                break;
            }
            if entry.op == EdgeOp::Vertex {
                return Ok(false);
            }
            entries.push((u64::from(entry.local.0) << 32 | u64::from(entry.dst.0), at));
        }
        // A stable sort: the newest entry about each edge stays the first.
        entries.sort_by_key(|&(edge, _)| edge);
        for of_edge in entries.chunk_by(|a, b| a.0 == b.0) {
            let (Some(&(_, last)), Some(&(_, first))) = (of_edge.first(), of_edge.last()) else { continue };
            let last = delta.entry(last);
            if let Some(kind) = kind_of(delta.source(first).1, last.op) {
                found.edges.push(change_of(id.vertex(last.local), last.dst, kind, last.weight));
            }
        }
        Ok(true)
    }
}

/// Returns the change of an edge, given its first and its last entry. Deltas log effective operations only.
/// So the first entry shows whether the edge existed, the last whether it exists.
fn kind_of(first: EdgeOp, last: EdgeOp) -> Option<EdgeChangeKind> {
    match (first != EdgeOp::Insert, last != EdgeOp::Remove) {
        (false, true) => Some(EdgeChangeKind::Inserted),
        (true, false) => Some(EdgeChangeKind::Removed),
        (true, true) => Some(EdgeChangeKind::Reweighted),
        (false, false) => None,
    }
}

fn change_of(src: VertexId, dst: VertexId, kind: EdgeChangeKind, weight: f64) -> EdgeChange {
    let weight = if kind == EdgeChangeKind::Removed { 0.0 } else { weight };
    EdgeChange { src, dst, kind, weight }
}

/// The changes between two timestamps that the deltas of a chain have logged.
struct LoggedChanges {
    /// Entries about edges, newest first.
    entries: Vec<LoggedEdge>,
    /// The vertices whose lists must be compared: no delta has all their changes.
    to_compare: u64,
    present_may_differ: bool,
    /// The version that the earlier snapshot sees.
    before: Option<Arc<Version>>,
}

/// A delta entry about an edge.
#[derive(Clone, Copy)]
struct LoggedEdge {
    local: LocalVertex,
    dst: VertexId,
    /// The number of later entries.
    age: u32,
    op: EdgeOp,
    weight: f64,
}

impl LoggedChanges {
    /// Walks from the version that the snapshot at `to` sees to the version that the snapshot at `from` sees.
    fn walk(newest: &Arc<Version>, (from, to): (Timestamp, Timestamp)) -> Result<LoggedChanges, NotInMemory> {
        let mut logged =
            LoggedChanges { entries: Vec::new(), to_compare: 0, present_may_differ: false, before: None };
        let (mut version, mut upto) = (newest.clone(), to);
        loop {
            logged.take_entries(&version, from, upto);
            if version.begin <= from {
                logged.before = Some(version);
                return Ok(logged);
            }
            // A merge carried later entries over to the next version, so this walk has read them. It loads
            // the link before the mask: unlinking a version sets its changes in the mask before it replaces
            // the link.
            upto = version.begin;
            let before = version.prev.find(|_| true)?;
            logged.to_compare |= load_changed(&version);
            logged.present_may_differ |= logged.to_compare != 0;
            match before {
                Some(before) => version = before,
                None => {
                    // The earlier snapshot sees no version: the subgraph was empty.
                    (logged.to_compare, logged.present_may_differ) = (u64::MAX, true);
                    return Ok(logged);
                }
            }
        }
    }

    /// Adds the entries of a version's delta after `from`, up to `upto`.
    fn take_entries(&mut self, version: &Version, from: Timestamp, upto: Timestamp) {
        let delta = &version.delta;
        // With ranks, several edges may lead to one neighbor, and only whole lists show how many.
        let ranked = version.is_ranked();
        for at in (delta.visible(from)..delta.visible(upto)).rev() {
            let entry = delta.entry(at);
            match entry.op {
                EdgeOp::Vertex => self.present_may_differ = true,
                _ if ranked => self.to_compare |= entry.local.bit(),
                op => {
                    let age = self.entries.len() as u32;
                    let (local, dst, weight) = (entry.local, entry.dst, entry.weight);
                    self.entries.push(LoggedEdge { local, dst, age, op, weight });
                }
            }
        }
    }

    /// Adds the differences, by vertex and neighbor.
    fn add_to(mut self, found: &mut Changes, states: &BothStates<'_>) {
        let to_compare = self.to_compare;
        self.entries.retain(|edge| to_compare & edge.local.bit() == 0);
        self.entries.sort_unstable_by_key(|edge| (edge.local.0, edge.dst.0, edge.age));
        let mut rest = &*self.entries;
        let touched = rest.iter().fold(to_compare, |mask, edge| mask | edge.local.bit());
        for local in (0..64).map(LocalVertex).filter(|local| touched & local.bit() != 0) {
            if to_compare & local.bit() != 0 {
                states.compare_lists(local, found);
                continue;
            }
            let (of_local, others) = rest.split_at(rest.partition_point(|edge| edge.local == local));
            rest = others;
            for of_edge in of_local.chunk_by(|a, b| a.dst == b.dst) {
                let (Some(last), Some(first)) = (of_edge.first(), of_edge.last()) else { continue };
                if let Some(kind) = kind_of(first.op, last.op) {
                    found.edges.push(change_of(states.id.vertex(local), last.dst, kind, last.weight));
                }
            }
        }
    }
}

/// A subgraph as both snapshots see it.
struct BothStates<'a> {
    id: SubgraphId,
    before: Option<(&'a Arc<Version>, Timestamp)>,
    after: (&'a Arc<Version>, Timestamp),
}

impl BothStates<'_> {
    fn compare_vertices(&self, found: &mut Changes) {
        let before = self.before.map_or(0, |(version, t)| version.at(t).present());
        let after = self.after.0.at(self.after.1).present();
        let differ = (0..64).map(LocalVertex).filter(|local| (before ^ after) & local.bit() != 0);
        found.vertices.extend(differ.map(|local| (self.id.vertex(local), after & local.bit() != 0)));
    }

    /// Compares the two lists of a vertex.
    fn compare_lists(&self, local: LocalVertex, found: &mut Changes) {
        let list = |(version, t): (&Arc<Version>, Timestamp)| {
            let mut list = Vec::new();
            version.at(t).for_each_neighbor(local, |dst, weight| list.push((dst, weight)));
            list
        };
        let (before, after) = (self.before.map(list).unwrap_or_default(), list(self.after));
        found.add_difference(self.id.vertex(local), &before, &after);
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
