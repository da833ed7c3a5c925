//! The kinds of the vertices in the graph of chosen edges: the kinds that the labels state, or the kinds that
//! the call names.

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_catalog::schema::Schema;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Changes, KindId, LabelId, VertexKeyRef};
use hedgerow_mem::View;

use crate::read::selection::{EdgeSelection, VertexKinds};
use crate::read::snapshot::Snapshot;

impl EdgeSelection<'_> {
    /// Returns the kinds of the vertices in the graph of these edges, ascending; `None` for all vertices.
    /// `labels` are the named labels, or all labels.
    pub(super) fn vertex_kinds(
        &self,
        snapshot: &Snapshot,
        schema: &Schema,
        labels: &[LabelId],
    ) -> Result<Option<Vec<KindId>>> {
        match self.kinds_of_vertices() {
            VertexKinds::Stated if self.names_labels() => Ok(stated_by(schema, labels)),
            VertexKinds::Stated | VertexKinds::All => Ok(None),
            VertexKinds::Of(kinds) if self.names_labels() => checked(schema, kinds, labels),
            VertexKinds::Of(kinds) => checked(schema, kinds, &snapshot.labels_with_edges()?),
        }
    }

    /// Refuses a vertex of a kind that the graph of these edges does not have. O(labels).
    pub(super) fn check_has_kind_of(&self, snapshot: &Snapshot, key: VertexKeyRef<'_>) -> Result<()> {
        let schema = snapshot.schema_seen();
        let kinds = self.vertex_kinds(snapshot, &schema, &self.labels(&schema)?)?;
        let Some(kinds) = kinds.filter(|kinds| !kinds.contains(&key.kind())) else { return Ok(()) };
        let (vertex, of) = (key.split().1, schema.named_kind(key.kind()));
        let has: Vec<String> = kinds.iter().map(|&kind| schema.named_kind(kind)).collect();
        let message = format!(
            "vertex {vertex} is of {of}, and the graph has vertices of {}: name the kind in kinds",
            has.join(", ")
        );
        Err(ArgumentError::Invalid(message).into())
    }
}

/// Returns the kinds that these labels state for their ends; `None` if one of them states none, or if
/// together they state all kinds.
fn stated_by(schema: &Schema, labels: &[LabelId]) -> Option<Vec<KindId>> {
    if schema.kinds().is_empty() || faults::is_on(PlantedFault::OtherKindsKept) {
        return None;
    }
    let ends = labels.iter().map(|&label| schema.label_by_id(label)?.ends());
    let kinds = ends.collect::<Option<Vec<[KindId; 2]>>>()?.concat();
    some_of(schema, kinds)
}

/// Returns these kinds, each once, ascending; `None` if they are all kinds of the graph.
fn some_of(schema: &Schema, mut kinds: Vec<KindId>) -> Option<Vec<KindId>> {
    kinds.sort_unstable();
    kinds.dedup();
    // The schema's list of kinds does not have the default kind.
    (kinds.len() <= schema.kinds().len()).then_some(kinds)
}

/// Returns the kinds that a call names. Refuses them unless they include the kinds at both ends of all edges
/// of these labels.
fn checked(schema: &Schema, kinds: &[KindId], labels: &[LabelId]) -> Result<Option<Vec<KindId>>> {
    if kinds.is_empty() {
        return Err(ArgumentError::Invalid(
            "the list of kinds is empty: name a kind, or give no list".into(),
        )
        .into());
    }
    kinds.iter().try_for_each(|&kind| schema.check_kind(kind))?;
    let Some(kinds) = some_of(schema, kinds.to_vec()) else { return Ok(None) };
    for label in labels.iter().filter_map(|&label| schema.label_by_id(label)) {
        let edges = match &**label.name() {
            "" => "edges of the default label".to_owned(),
            name => format!("edges of label {name}"),
        };
        let Some(ends) = label.ends() else {
            let message = format!("{edges} end at vertices of any kind: kinds must include every kind");
            return Err(ArgumentError::Invalid(message).into());
        };
        if let Some(&missing) = ends.iter().find(|kind| !kinds.contains(kind)) {
            let missing = schema.named_kind(missing);
            let message = format!("{edges} end at vertices of {missing}: kinds must include this kind");
            return Err(ArgumentError::Invalid(message).into());
        }
    }
    Ok(Some(kinds))
}

impl Snapshot {
    /// Returns the kinds of the vertices in the graph of one label; `None` for all vertices.
    pub(super) fn kinds_of_label(&self, label: LabelId) -> Option<Vec<KindId>> {
        if label == LabelId::DEFAULT { None } else { stated_by(&self.schema_seen(), &[label]) }
    }

    /// Returns the view restricted to the vertices of these kinds, if some are named.
    pub(super) fn in_kinds(&self, view: View, kinds: Option<&[KindId]>) -> Result<View> {
        let Some(kinds) = kinds else { return Ok(view) };
        let mask = self.vertices_of_kinds(kinds, |subgraph| view.present(subgraph))?;
        Ok(view.restricted(mask))
    }

    /// Removes changed vertices of other kinds from the changes. The earlier snapshot of the changes is still
    /// open, so each id names the same vertex as in that snapshot. O(changed vertices).
    pub(super) fn keep_kinds(&self, changes: &mut Changes, kinds: &[KindId]) -> Result<()> {
        let mut kept = Vec::with_capacity(changes.vertices.len());
        for &(v, inserted) in &changes.vertices {
            if kinds.contains(&self.engine().keys.kind_of(&self.engine().pager, v)?) {
                kept.push((v, inserted));
            }
        }
        changes.vertices = kept;
        Ok(())
    }
}
