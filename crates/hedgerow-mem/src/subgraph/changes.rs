//! What two timestamps see differently of a subgraph.

use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{
    Changes, Direction, EdgeChange, EdgeChangeKind, LocalVertex, SubgraphId, Timestamp, VertexId,
};

use super::Subgraph;
use crate::op::EdgeOp;
use crate::version::{NotInMemory, Version, load_changed};

impl Subgraph {
    /// Adds what snapshots at `from` and, later, `to` see differently of this subgraph, whose id is `id`, in the lists of a direction;
    /// both must be registered. Vertices are added where it is the outgoing side.
    ///
    /// Deltas say it as far as they reach: O(their entries after `from`). Where versions in between are gone, or operations were merged straight into
    /// a main part, the lists of the vertices that they touched are compared: O(degrees of these).
    ///
    /// # Errors
    /// [`NotInMemory`] where one of the two states is not; nothing was added then.
    pub fn changes_between(
        &self,
        id: SubgraphId,
        direction: Direction,
        (from, to): (Timestamp, Timestamp),
        found: &mut Changes,
    ) -> Result<(), NotInMemory> {
        let Some(newest) = self.version(direction, to)? else { return Ok(()) };
        let mut between = Between::walk(&newest, (from, to))?;
        let before = between.before.take();
        let before = before.as_ref().map(|version| (version, from));
        let sides = Sides { id, before, after: (&newest, to) };
        if direction == Direction::Out && between.present_may_differ {
            sides.compare_vertices(found);
        }
        between.add_known(&sides, found);
        Ok(())
    }
}

/// What the versions of a chain tell about the time between two timestamps.
struct Between {
    /// Entries about edges, newest first.
    entries: Vec<Known>,
    /// The vertices about which entries do not tell everything.
    unknown: u64,
    present_may_differ: bool,
    /// The version that the earlier snapshot sees.
    before: Option<Arc<Version>>,
}

/// An entry of a delta about an edge.
#[derive(Clone, Copy)]
struct Known {
    local: LocalVertex,
    dst: VertexId,
    /// How many entries came after it.
    age: u32,
    op: EdgeOp,
    weight: f64,
}

impl Between {
    /// Walks from the version that is seen at `to` to the one that is seen at `from`.
    fn walk(newest: &Arc<Version>, (from, to): (Timestamp, Timestamp)) -> Result<Between, NotInMemory> {
        let mut between =
            Between { entries: Vec::new(), unknown: 0, present_may_differ: false, before: None };
        let (mut version, mut upto) = (newest.clone(), to);
        loop {
            between.take_entries(&version, from, upto);
            if version.begin <= from {
                between.before = Some(version);
                return Ok(between);
            }
            // Entries behind this were carried over, and have been met. The link comes before the mask: who unlinks a version notes in
            // the mask what it changed, and then takes it out of the link.
            upto = version.begin;
            let before = version.prev.find(|_| true)?;
            if !faults::is_on(PlantedFault::UnlinkedChangesLost) {
                between.unknown |= load_changed(&version);
            }
            between.present_may_differ |= between.unknown != 0;
            match before {
                Some(before) => version = before,
                None => {
                    // The earlier snapshot sees an empty subgraph.
                    (between.unknown, between.present_may_differ) = (u64::MAX, true);
                    return Ok(between);
                }
            }
        }
    }

    /// The entries of a version's delta after `from`, up to `upto`.
    fn take_entries(&mut self, version: &Version, from: Timestamp, upto: Timestamp) {
        let delta = &version.delta;
        // A label with ranks has several edges to one neighbor: its lists are compared.
        let ranked = version.is_ranked();
        for at in (delta.visible(from)..delta.visible(upto)).rev() {
            let entry = delta.entry(at);
            match entry.op {
                EdgeOp::Vertex => self.present_may_differ = true,
                _ if ranked => self.unknown |= entry.local.bit(),
                op => {
                    let age = self.entries.len() as u32;
                    let (local, dst, weight) = (entry.local, entry.dst, entry.weight);
                    self.entries.push(Known { local, dst, age, op, weight });
                }
            }
        }
    }

    /// Adds what differs, by vertex and neighbor.
    fn add_known(mut self, sides: &Sides<'_>, found: &mut Changes) {
        let unknown = self.unknown;
        self.entries.retain(|known| unknown & known.local.bit() == 0);
        self.entries.sort_unstable_by_key(|known| (known.local.0, known.dst.0, known.age));
        let mut rest = &*self.entries;
        let touched = rest.iter().fold(unknown, |mask, known| mask | known.local.bit());
        for local in (0..64).map(LocalVertex).filter(|local| touched & local.bit() != 0) {
            if unknown & local.bit() != 0 {
                sides.compare_lists(local, found);
                continue;
            }
            let (of_local, others) = rest.split_at(rest.partition_point(|known| known.local == local));
            rest = others;
            for of_edge in of_local.chunk_by(|a, b| a.dst == b.dst) {
                let (Some(last), Some(first)) = (of_edge.first(), of_edge.last()) else { continue };
                // Only effective operations are logged: the first says whether the edge was there, the last whether it is.
                let kind = match (first.op != EdgeOp::Insert, last.op != EdgeOp::Remove) {
                    (false, true) => EdgeChangeKind::Inserted,
                    (true, false) => EdgeChangeKind::Removed,
                    (true, true) => EdgeChangeKind::Reweighted,
                    (false, false) => continue,
                };
                found.edges.push(sides.change(local, last.dst, kind, last.weight));
            }
        }
    }
}

/// A subgraph as the two snapshots see it.
struct Sides<'a> {
    id: SubgraphId,
    before: Option<(&'a Arc<Version>, Timestamp)>,
    after: (&'a Arc<Version>, Timestamp),
}

impl Sides<'_> {
    fn change(&self, local: LocalVertex, dst: VertexId, kind: EdgeChangeKind, weight: f64) -> EdgeChange {
        let weight = if kind == EdgeChangeKind::Removed { 0.0 } else { weight };
        EdgeChange { src: self.id.vertex(local), dst, kind, weight }
    }

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
