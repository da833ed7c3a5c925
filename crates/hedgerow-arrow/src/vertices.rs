//! The table of the vertices of a kind.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Field, SchemaRef};
use hedgerow::{KindId, Property, Snapshot, VertexId, VertexScan};

use crate::column::{PropertyColumn, field_of};
use crate::{BATCH_BYTES, BATCH_ROWS, Error, keys};

/// The vertices of a kind as record batches, ascending by vertex id: the column `id` with the keys, and a
/// column for each property of the kind. A property named `id` has the column `id:TYPE`.
///
/// Pulling a batch reads vertices until it has [`BATCH_ROWS`] of the kind: O(vertices up to these). Memory
/// holds one batch, and the lists of the scan.
pub struct VertexBatches {
    snapshot: Snapshot,
    kind: KindId,
    schema: SchemaRef,
    scan: VertexScan,
    ids: Vec<VertexId>,
    properties: Vec<PropertyColumn>,
    has_ended: bool,
}

impl VertexBatches {
    /// Begins the table of the vertices of a kind, with all its properties or with none. O(subgraphs) once
    /// for a snapshot.
    ///
    /// # Errors
    /// [`Error::Store`]: those of a read of the snapshot.
    pub fn new(snapshot: &Snapshot, kind: KindId, with_properties: bool) -> Result<VertexBatches, Error> {
        let schema = snapshot.schema();
        let properties: Vec<&Property> =
            schema.vertex_properties_of(kind).filter(|_| with_properties).collect();
        let mut fields =
            vec![Field::new("id", keys::type_of(&schema, snapshot.config().keys, &[kind]), false)];
        let own = fields.clone();
        fields.extend(properties.iter().map(|property| field_of(property, &own)));
        Ok(VertexBatches {
            snapshot: snapshot.clone(),
            kind,
            schema: Arc::new(arrow_schema::Schema::new(fields)),
            scan: snapshot.scan_vertices()?,
            ids: Vec::new(),
            properties: properties.into_iter().map(PropertyColumn::new).collect(),
            has_ended: false,
        })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        let VertexBatches { kind, scan, ids, properties, has_ended, .. } = self;
        let mut bytes = 0;
        while ids.len() < BATCH_ROWS && bytes < BATCH_BYTES && !*has_ended {
            let has_more = scan.next_vertex(|vertex| {
                if vertex.kind() == *kind {
                    ids.push(vertex.id());
                    bytes +=
                        properties.iter_mut().map(|column| column.push(vertex.get(column.id))).sum::<usize>();
                }
            })?;
            *has_ended = !has_more;
        }
        if ids.is_empty() {
            return Ok(None);
        }
        let keys = self.snapshot.vertex_keys(&std::mem::take(ids))?;
        let mut columns: Vec<ArrayRef> = vec![keys::array_of(keys, self.schema.field(0).data_type())?];
        columns.extend(properties.iter_mut().map(PropertyColumn::finish));
        Ok(Some(RecordBatch::try_new(self.schema.clone(), columns)?))
    }
}

impl Iterator for VertexBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(ArrowError::from).transpose()
    }
}

impl RecordBatchReader for VertexBatches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
