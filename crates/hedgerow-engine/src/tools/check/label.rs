//! The check of the lists of one label. One pass reads every list. If copies of edges differ, further passes
//! read the lists again.

use std::fmt::Display;
use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_catalog::label::Label;
use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::{Direction, LabelId, VertexId};
use hedgerow_mem::ItemRef;
use hedgerow_mem::view::VertexMask;

use super::list_walk::{Lists, Met};
use super::report::{CheckReport, MAX_PROBLEMS};
use super::sides::{Copied, Sides};
use crate::read::snapshot::Snapshot;
use crate::state::placement::Placement;

/// The divisor of the memory limit. The quotient is the approximate memory for copies of edges that are
/// compared one by one; without a limit it is [`BYTES`].
const SHARE: u64 = 32;
const BYTES: u64 = 64 << 20;

/// The check of one label.
pub(super) struct LabelCheck<'a> {
    lists: Lists<'a>,
    label: &'a Label,
    placement: Placement,
    /// The vertices that may be sources, and those that may be destinations; `None` if every vertex may be
    /// both.
    ends: Option<[Arc<VertexMask>; 2]>,
    /// `None` if the label has no second copies of edges.
    sides: Option<Sides>,
    edges: u64,
    incoming: u64,
    /// The state of the list that is read.
    list: ListSoFar,
}

#[derive(Default)]
struct ListSoFar {
    entries: u64,
    last: Option<(VertexId, u64)>,
    out_of_order: bool,
}

impl<'a> LabelCheck<'a> {
    /// Prepares the check of a label. If the label prescribes kinds of ends, reads the kinds of all vertices.
    pub(super) fn new(snapshot: &Snapshot, lists: Lists<'a>, label: &'a Label) -> Result<LabelCheck<'a>> {
        let core = lists.core;
        let of_kind = |kind| snapshot.vertices_of_kinds(&[kind], |id| lists.census.present(id));
        let ends = match label.ends() {
            Some([src, dst]) => Some([of_kind(src)?, of_kind(dst)?]),
            None => None,
        };
        let has_second = label.id() != LabelId::VERTICES && !core.catalog.config.is_one_way();
        let edges = snapshot.edge_count()?;
        let (placement, sides) = (core.catalog.placement(), has_second.then(|| Sides::new(core, edges)));
        let list = ListSoFar::default();
        Ok(LabelCheck { lists, label, placement, ends, sides, edges: 0, incoming: 0, list })
    }

    /// Reads the lists, adds the number of edges to the report, and reports problems.
    pub(super) fn run(mut self, report: &mut CheckReport) -> Result<()> {
        let (lists, label) = (self.lists, self.label.id());
        lists.of_label(label, &mut |v, direction, met| match met {
            Met::Edge(item) => self.edge(v, direction, &item, report),
            Met::End => self.end(v, direction, report),
        })?;
        if label != LabelId::VERTICES {
            report.edges += self.edges;
        }
        let Some(sides) = &self.sides else { return Ok(()) };
        if self.placement.is_directed() && self.incoming != self.edges {
            let (label, edges, incoming) = (self.label.shown(), self.edges, self.incoming);
            report.problem(format!("{label}: {edges} outgoing edges, but {incoming} incoming edges"));
        }
        self.name_differences(sides, report)
    }

    fn exists(&self, v: VertexId) -> bool {
        self.lists.census.present(v.subgraph()) & v.local().bit() != 0
    }

    fn edge(&mut self, v: VertexId, direction: Direction, edge: &ItemRef<'_>, report: &mut CheckReport) {
        let here = Some((edge.dst, edge.rank));
        self.list.out_of_order |= self.list.last >= here;
        (self.list.last, self.list.entries) = (here, self.list.entries + 1);
        self.edges += u64::from(self.placement.counts_at(direction, v, edge.dst));
        self.incoming += u64::from(direction == Direction::In);
        if let Some(sides) = &mut self.sides {
            sides.note(v, direction, edge);
        }
        if let Some(what) = self.fault(v, direction, edge) {
            report.problem(self.edge_shown((v, direction), edge.dst, edge.rank, what));
        }
    }

    /// Returns the fault of an edge in the list of `v`, without regard to the other copy.
    fn fault(&self, v: VertexId, direction: Direction, edge: &ItemRef<'_>) -> Option<&'static str> {
        let (mut fits, mut has_text) = (true, false);
        edge.row.for_each(|id, value| {
            let defined = self.label.property_by_id(id).map(|property| property.property_type());
            fits &= defined == value.property_type();
            has_text |= value.to_word().is_none();
        });
        if !fits {
            return Some("a property that is not defined, or of another type");
        }
        if edge.rank != 0 && !self.label.is_multi() {
            return Some("a rank in a label that has none");
        }
        if self.label.id() == LabelId::VERTICES {
            let is_own = edge.dst == v && !edge.row.is_empty();
            return (!is_own).then_some("not the properties of this vertex");
        }
        if !self.exists(edge.dst) {
            return Some("its other end does not exist");
        }
        if let Some([sources, destinations]) = &self.ends {
            let (src, dst) = self.placement.ends_of_copy(v, edge.dst, direction);
            let may_lead = |src, dst| sources.contains(src) && destinations.contains(dst);
            if !may_lead(src, dst) && (self.placement.is_directed() || !may_lead(dst, src)) {
                return Some("an end of another kind than its label says");
            }
        }
        if !self.placement.keeps_rows(direction) {
            return (!edge.row.is_empty()).then_some("properties in the incoming copy");
        }
        let is_second = !self.placement.counts_at(direction, v, edge.dst);
        (is_second && has_text).then_some("text in its second copy")
    }

    fn end(&mut self, v: VertexId, direction: Direction, report: &mut CheckReport) {
        let ListSoFar { entries, out_of_order, .. } = std::mem::take(&mut self.list);
        if out_of_order {
            report.problem(format!("{}: edges out of order", self.list_shown(v, direction)));
        }
        if entries > 0 && !self.exists(v) {
            report.problem(format!("{}: {entries} edges, and no vertex", self.list_shown(v, direction)));
        }
    }

    /// Reads the lists again for the edges of sums that are not zero, and names edges whose copies differ.
    fn name_differences(&self, sides: &Sides, report: &mut CheckReport) -> Result<()> {
        let core = self.lists.core;
        let differing = sides.differing();
        let (looked_at, others) = differing.split_at(differing.len().min(MAX_PROBLEMS));
        let at_once = sides.at_once(core.pager.memory_limit.map_or(BYTES, |limit| limit / SHARE));
        for chosen in looked_at.chunks(at_once) {
            if report.problems.len() >= MAX_PROBLEMS {
                report.more = true;
                break;
            }
            let mut charge = Charge::new(core.pager.account(), Purpose::Views, 0);
            let mut copies: Vec<Copied> = Vec::new();
            self.lists.of_label(self.label.id(), &mut |v, direction, met| {
                let Met::Edge(item) = met else { return };
                copies.extend(sides.chosen(chosen, v, direction, &item));
                charge.set(copies.capacity() * size_of::<Copied>());
            })?;
            copies.sort_by_key(|copy| (copy.edge, copy.second));
            copies.chunk_by(|a, b| a.edge == b.edge).for_each(|copies| self.compare(copies, report));
        }
        if !others.is_empty() {
            report.problem(format!(
                "{}: more edges have copies that differ; the report omits them",
                self.label.shown()
            ));
        }
        Ok(())
    }

    /// Compares the two copies of one edge; one of them may be missing.
    fn compare(&self, copies: &[Copied], report: &mut CheckReport) {
        let of = |second: bool| copies.iter().find(|copy| copy.second == second);
        for (copy, other) in [(of(false), of(true)), (of(true), of(false))] {
            let Some(copy) = copy else { continue };
            if let Some(what) = copy.difference(other, self.placement.is_directed()) {
                let (src, dst, rank) = copy.edge;
                let (list, other) = match copy.second {
                    false => ((src, Direction::Out), dst),
                    true => ((dst, self.placement.second_direction()), src),
                };
                report.problem(self.edge_shown(list, other, rank, &what));
            }
        }
    }

    fn list_shown(&self, v: VertexId, direction: Direction) -> String {
        format!("{}, vertex number {}, {direction:?}", self.label.shown(), v.0)
    }

    /// Describes a fault of an edge of a list.
    fn edge_shown(
        &self,
        (v, direction): (VertexId, Direction),
        other: VertexId,
        rank: u64,
        what: impl Display,
    ) -> String {
        format!("{}: edge with {} rank {rank}: {what}", self.list_shown(v, direction), other.0)
    }
}

#[cfg(test)]
mod tests;
