//! Checking labels and properties.

use hedgerow_core::{Direction, InterpolationHint, LabelId, Row, VertexId};
use hedgerow_mem::ItemRef;

use super::CheckReport;
use crate::error::Result;
use crate::graph::Graph;
use crate::read::snapshot::Snapshot;
use crate::state::schema::{Label, Schema};

/// An edge in one of its two lists.
struct Listed {
    dst: VertexId,
    rank: u64,
    weight: f64,
    row: Option<Row>,
}

impl Listed {
    fn of(item: ItemRef<'_>) -> Listed {
        Listed { dst: item.dst, rank: item.rank, weight: item.weight, row: item.row.to_row() }
    }
}

impl Graph {
    /// Checks the edges of all labels: order, endpoints, both copies, properties against the schema; and the properties
    /// of vertices. Of the default label only what has to do with properties: the rest is checked elsewhere.
    pub(super) fn check_labels(&self, snapshot: &Snapshot, report: &mut CheckReport) -> Result<()> {
        let schema = snapshot.schema();
        for (label, table) in self.engine.tables() {
            let Some(defined) = schema.label_by_id(label) else {
                // Defined after the snapshot: it must not see an edge of it.
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

    fn check_definitions(&self, schema: &Schema, report: &mut CheckReport) {
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
        let shown = || format!("label {}, vertex {}, {direction:?}", label.id().0, v.0);
        if !list.is_sorted_by(|a, b| (a.dst, a.rank) < (b.dst, b.rank)) {
            report.problem(format!("{}: edges out of order", shown()));
        }
        if !list.is_empty() && !snapshot.contains_id(v)? {
            report.problem(format!("{}: {} edges, and no vertex", shown(), list.len()));
        }
        for edge in &list {
            if let Some(what) = self.fault(snapshot, label, v, direction, edge)? {
                report.problem(format!("{}: edge with {} rank {}: {what}", shown(), edge.dst.0, edge.rank));
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
        if !snapshot.contains_id(edge.dst)? {
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
        if self.engine.config.is_one_way() {
            return Ok(None);
        }
        if directed && direction == Direction::In && edge.row.is_some() {
            return Ok(Some("properties in the incoming copy"));
        }
        let other_way = match (directed, direction) {
            (true, Direction::Out) => Direction::In,
            _ => Direction::Out,
        };
        let back = snapshot.read_of(label.id(), edge.dst, other_way, |read| {
            read.item(edge.dst.local(), v, edge.rank, InterpolationHint::UNKNOWN).map(Listed::of)
        })?;
        let Some(back) = back.flatten() else { return Ok(Some("it has no other copy")) };
        let fixed = |row: &Option<Row>| row.as_ref().and_then(Row::fixed_only);
        if back.weight.to_bits() != edge.weight.to_bits() {
            return Ok(Some("its copies have different weights"));
        }
        if !directed && fixed(&back.row) != fixed(&edge.row) {
            return Ok(Some("its copies have different properties"));
        }
        Ok((!directed && v > edge.dst && fixed(&edge.row) != edge.row).then_some("text in its second copy"))
    }
}
