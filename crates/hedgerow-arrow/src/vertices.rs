//! The table of the vertices of a kind.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, Field, SchemaRef};
use hedgerow::{KindId, Property, Snapshot, VertexId, VertexScan};

use crate::column::{PropertyColumn, field_of};
use crate::options::TableOptions;
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
    /// The place of the column of keys, if the table has it.
    keys: Option<usize>,
    scan: VertexScan,
    ids: Vec<VertexId>,
    properties: Vec<PropertyColumn>,
    has_ended: bool,
}

impl VertexBatches {
    /// Begins the table of the vertices of a kind. O(subgraphs) once for a snapshot.
    ///
    /// # Errors
    /// [`Error::Store`]: those of a read of the snapshot. [`Error::Column`]: a column that the table does not
    /// have.
    pub fn new(snapshot: &Snapshot, kind: KindId, options: &TableOptions) -> Result<VertexBatches, Error> {
        let schema = snapshot.schema();
        let properties: Vec<&Property> = schema.vertex_properties_of(kind).collect();
        let mut fields =
            vec![Field::new("id", keys::type_of(&schema, snapshot.config().keys, &[kind]), false)];
        let own = fields.clone();
        fields.extend(properties.iter().map(|property| field_of(property, &own)));
        let places = options.places(&fields, 1)?;
        let keys = places.iter().position(|&place| place == 0);
        let wanted = places.iter().filter_map(|place| properties.get(place.checked_sub(1)?));
        let properties = wanted.map(|property| PropertyColumn::new(property)).collect();
        let fields: Vec<Field> = places.into_iter().map(|place| fields[place].clone()).collect();
        let mut scan = snapshot.scan_vertices()?;
        if let Some(ids) = &options.within {
            scan = scan.within(ids.clone());
        }
        let (snapshot, ids) = (snapshot.clone(), Vec::new());
        let schema = Arc::new(arrow_schema::Schema::new(fields));
        Ok(VertexBatches { snapshot, kind, schema, keys, scan, ids, properties, has_ended: false })
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
        let ids = std::mem::take(ids);
        if ids.is_empty() {
            return Ok(None);
        }
        let mut columns: Vec<ArrayRef> = properties.iter_mut().map(PropertyColumn::finish).collect();
        if let Some(place) = self.keys {
            let keys = self.snapshot.vertex_keys(&ids)?;
            columns.insert(place, keys::array_of(keys, self.schema.field(place).data_type())?);
        }
        let counted = RecordBatchOptions::new().with_row_count(Some(ids.len()));
        Ok(Some(RecordBatch::try_new_with_options(self.schema.clone(), columns, &counted)?))
    }
}

impl Iterator for VertexBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.next_batch();
        // The rows of a batch that failed are gone, so no later batch may follow.
        self.has_ended |= batch.is_err();
        batch.map_err(ArrowError::from).transpose()
    }
}

impl RecordBatchReader for VertexBatches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
