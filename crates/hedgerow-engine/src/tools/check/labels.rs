//! The check of labels and properties.

use hedgerow_core::{Direction, InterpolationHint, LabelId, Row, VertexId};
use hedgerow_mem::ItemRef;

use super::CheckReport;
use crate::error::Result;
use crate::graph::Graph;
use crate::read::snapshot::Snapshot;
use crate::state::pages::Wanted;
use crate::state::schema::{Label, Schema};

/// An edge in one of its two lists.
pub(super) struct Listed {
    pub(super) dst: VertexId,
    pub(super) rank: u64,
    pub(super) weight: f64,
    pub(super) row: Option<Row>,
}

impl Listed {
    pub(super) fn of(item: ItemRef<'_>) -> Listed {
        Listed { dst: item.dst, rank: item.rank, weight: item.weight, row: item.row.to_row() }
    }

    /// Describes a fault of an edge of a list.
    pub(super) fn shown(&self, label: &Label, v: VertexId, direction: Direction, what: &str) -> String {
        format!("{}: edge with {} rank {}: {what}", list_shown(label, v, direction), self.dst.0, self.rank)
    }
}

pub(super) fn list_shown(label: &Label, v: VertexId, direction: Direction) -> String {
    format!("{}, vertex number {}, {direction:?}", label.shown(), v.0)
}

/// Returns the difference of two copies of an edge, in the data that both copies have.
pub(super) fn difference(edge: &Listed, other: Option<&Listed>, directed: bool) -> Option<&'static str> {
    let Some(other) = other else { return Some("it has no other copy") };
    if other.weight.to_bits() != edge.weight.to_bits() {
        return Some("its copies have different weights");
    }
    let fixed = |edge: &Listed| edge.row.as_ref().and_then(Row::fixed_only);
    (!directed && fixed(other) != fixed(edge)).then_some("its copies have different properties")
}

/// Returns the fault of the copy of an edge in the list of `v` that does not depend on the other copy. If the
/// two copies also differ, the difference is reported instead.
pub(super) fn misplaced(edge: &Listed, v: VertexId, directed: bool) -> Option<&'static str> {
    let row = edge.row.as_ref().filter(|_| !directed && v > edge.dst)?;
    (row.fixed_only().as_ref() != Some(row)).then_some("text in its second copy")
}

impl Graph {
    /// Checks the edges of all labels: order, endpoints, both copies, properties against the schema; and the
    /// properties of vertices. For the default label it checks only properties, since other functions check
    /// the rest.
    pub(super) fn check_labels(&self, snapshot: &Snapshot, report: &mut CheckReport) -> Result<()> {
        let schema = snapshot.schema();
        for (label, table) in self.engine.tables() {
            let Some(defined) = schema.label_by_id(label) else {
                // The label was defined after the snapshot, which must not see an edge of it.
                if snapshot.count_edges(label)? > 0 {
                    report.problem(format!("edges of label {}, which is not defined", label.0));
                }
                continue;
            };
            if label == LabelId::DEFAULT && defined.properties().is_empty() {
                continue;
            }
            for v in self.possible_vertices(table) {
                for &direction in self.engine.directions_of(label) {
                    self.check_list(snapshot, defined, v, direction, report)?;
                }
            }
        }
        self.check_definitions(&schema, report);
        Ok(())
    }

    pub(super) fn check_definitions(&self, schema: &Schema, report: &mut CheckReport) {
        let mut again = Schema::default();
        for (ts, op) in schema.definitions() {
            if let Err(what) = again.add(ts, op) {
                report.problem(format!("schema: {what}"));
            }
        }
    }

    fn check_list(
        &self,
        snapshot: &Snapshot,
        label: &Label,
        v: VertexId,
        direction: Direction,
        report: &mut CheckReport,
    ) -> Result<()> {
        let mut list = Vec::new();
        snapshot.for_each_item(label.id(), v, direction, |item| list.push(Listed::of(item)))?;
        let shown = || list_shown(label, v, direction);
        if !list.is_sorted_by(|a, b| (a.dst, a.rank) < (b.dst, b.rank)) {
            report.problem(format!("{}: edges out of order", shown()));
        }
        if !list.is_empty() && !snapshot.contains_id(v)? {
            report.problem(format!("{}: {} edges, and no vertex", shown(), list.len()));
        }
        for edge in &list {
            if let Some(what) = self.fault(snapshot, label, v, direction, edge)? {
                report.problem(edge.shown(label, v, direction, what));
            }
        }
        if direction == Direction::Out && !matches!(label.id(), LabelId::VERTICES | LabelId::DEFAULT) {
            let placement = self.engine.placement();
            report.edges += list.iter().filter(|e| placement.counts_at(direction, v, e.dst)).count() as u64;
        }
        Ok(())
    }

    fn fault(
        &self,
        snapshot: &Snapshot,
        label: &Label,
        v: VertexId,
        direction: Direction,
        edge: &Listed,
    ) -> Result<Option<&'static str>> {
        let exists = |id| snapshot.contains_id(id);
        if let Some(what) = self.own_fault(label, v, direction, edge, exists)? {
            return Ok(Some(what));
        }
        if label.id() == LabelId::VERTICES || self.engine.config.is_one_way() {
            return Ok(None);
        }
        let directed = self.engine.config.directed;
        let other_way = match (directed, direction) {
            (true, Direction::Out) => Direction::In,
            _ => Direction::Out,
        };
        let wanted = Wanted::edge(label.id(), edge.dst, other_way, v).with_rows();
        let back = snapshot.read_of(wanted, |read| {
            read.item(edge.dst.local(), v, edge.rank, InterpolationHint::UNKNOWN).map(Listed::of)
        })?;
        let what = difference(edge, back.flatten().as_ref(), directed);
        Ok(what.or_else(|| misplaced(edge, v, directed)))
    }

    /// Returns the fault of an edge in the list of `v`, without regard to the other copy.
    pub(super) fn own_fault(
        &self,
        label: &Label,
        v: VertexId,
        direction: Direction,
        edge: &Listed,
        exists: impl FnOnce(VertexId) -> Result<bool>,
    ) -> Result<Option<&'static str>> {
        let fits = |(id, value): &(hedgerow_core::PropertyId, hedgerow_core::Value)| {
            label.property_by_id(*id).map(|p| p.property_type()) == value.property_type()
        };
        if !edge.row.as_ref().map_or(&[][..], Row::cells).iter().all(fits) {
            return Ok(Some("a property that is not defined, or of another type"));
        }
        if edge.rank != 0 && !label.is_multi() {
            return Ok(Some("a rank in a label that has none"));
        }
        if label.id() == LabelId::VERTICES {
            return Ok((edge.dst != v || edge.row.is_none()).then_some("not the properties of this vertex"));
        }
        if !exists(edge.dst)? {
            return Ok(Some("its other end does not exist"));
        }
        let directed = self.engine.config.directed;
        if let Some([src, dst]) = label.ends() {
            let found = [self.engine.kind_of(v)?, self.engine.kind_of(edge.dst)?];
            let as_said = direction == Direction::Out && found == [src, dst];
            if !as_said && ((directed && direction == Direction::Out) || found != [dst, src]) {
                return Ok(Some("an end of another kind than its label says"));
            }
        }
        let bare = directed && direction == Direction::In && !self.engine.config.is_one_way();
        Ok((bare && edge.row.is_some()).then_some("properties in the incoming copy"))
    }
}
