//! The table of the edges of a label.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchReader, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use hedgerow::{EdgeScan, KeyColumn, KindId, LabelRef, Property, Schema, Snapshot, VertexId};

use crate::column::{PropertyColumn, field_of};
use crate::{BATCH_BYTES, BATCH_ROWS, Error, keys};

/// The edges of a label as record batches, in the order of [`Snapshot::scan_edges`].
///
/// The columns are `src` and `dst` (the keys of the ends), `src_kind` and `dst_kind` if the store has kinds
/// and the label does not state those of its ends, `rank` of a `multi` label, `weight` of the default label
/// of a weighted store, and the properties. A property with the name of such a column is named `NAME:TYPE`.
/// Keys are texts if any kind among them has texts. Pulling a batch reads the edges of its sources: O(edges
/// of a batch). A batch never has more than [`BATCH_ROWS`] rows; memory holds the edges of one source, or of
/// one batch if that is more, and the lists of the scan.
pub struct EdgeBatches {
    snapshot: Snapshot,
    label: Label,
    schema: SchemaRef,
    scan: EdgeScan,
    /// The rows that are gathered for the next batch.
    src: Vec<VertexId>,
    dst: Vec<VertexId>,
    ranks: Vec<u64>,
    weights: Vec<f64>,
    properties: Vec<PropertyColumn>,
    value_bytes: usize,
    /// The batches of the source that was read last.
    ready: VecDeque<RecordBatch>,
    has_ended: bool,
}

/// The facts about a label that decide its columns.
struct Label {
    has_kinds: bool,
    is_multi: bool,
    is_weighted: bool,
    /// The kinds of the ends, if the label states them.
    ends: Option<[KindId; 2]>,
}

impl EdgeBatches {
    /// Begins the table of a label's edges, with all its properties or with none. Reads nothing.
    ///
    /// # Errors
    /// [`Error::Store`]: no such label.
    pub fn new<'a>(
        snapshot: &Snapshot,
        label: impl Into<LabelRef<'a>>,
        with_properties: bool,
    ) -> Result<EdgeBatches, Error> {
        let schema = snapshot.schema();
        let of = schema.find_label(label)?;
        let scan = snapshot.scan_edges(of.id())?;
        let config = snapshot.config();
        let label = Label {
            has_kinds: of.ends().is_none() && !schema.kinds().is_empty(),
            is_multi: of.is_multi(),
            is_weighted: config.weighted && of.name().is_empty(),
            ends: of.ends(),
        };
        let properties: Vec<&Property> = of.properties().iter().filter(|_| with_properties).collect();
        let fields = label.fields(&schema, config.keys, &properties);
        Ok(EdgeBatches {
            snapshot: snapshot.clone(),
            label,
            schema: Arc::new(arrow_schema::Schema::new(fields)),
            scan,
            src: Vec::new(),
            dst: Vec::new(),
            ranks: Vec::new(),
            weights: Vec::new(),
            properties: properties.into_iter().map(PropertyColumn::new).collect(),
            value_bytes: 0,
            ready: VecDeque::new(),
            has_ended: false,
        })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if self.has_ended {
                return Ok(None);
            }
            while self.src.len() < BATCH_ROWS && self.value_bytes < BATCH_BYTES && !self.has_ended {
                self.read_source()?;
            }
            self.finish()?;
        }
    }

    /// Adds the edges of the next source.
    fn read_source(&mut self) -> Result<(), Error> {
        let EdgeBatches { label, scan, src, dst, ranks, weights, properties, value_bytes, .. } = self;
        let has_more = scan.next_source(|edge| {
            src.push(edge.src());
            dst.push(edge.dst());
            if label.is_multi {
                ranks.push(edge.rank());
            }
            if label.is_weighted {
                weights.push(edge.weight());
            }
            *value_bytes +=
                properties.iter_mut().map(|property| property.push(edge.get(property.id))).sum::<usize>();
        })?;
        self.has_ended = !has_more;
        Ok(())
    }

    /// Makes batches of the gathered rows.
    fn finish(&mut self) -> Result<(), Error> {
        if self.src.is_empty() {
            return Ok(());
        }
        let [src, dst] = [std::mem::take(&mut self.src), std::mem::take(&mut self.dst)];
        let rows = src.len();
        let [src, dst] = [self.snapshot.vertex_keys(&src)?, self.snapshot.vertex_keys(&dst)?];
        let [src, dst] = self.label.in_order(src, dst);
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        let kinds = self.label.has_kinds.then(|| {
            let schema = self.snapshot.schema();
            [keys::kinds_of(&src, &schema), keys::kinds_of(&dst, &schema)]
        });
        columns.push(keys::array_of(src, self.schema.field(0).data_type())?);
        columns.push(keys::array_of(dst, self.schema.field(1).data_type())?);
        columns.extend(kinds.into_iter().flatten());
        if self.label.is_multi {
            columns.push(Arc::new(UInt64Array::from(std::mem::take(&mut self.ranks))));
        }
        if self.label.is_weighted {
            columns.push(Arc::new(Float64Array::from(std::mem::take(&mut self.weights))));
        }
        columns.extend(self.properties.iter_mut().map(PropertyColumn::finish));
        self.value_bytes = 0;
        let whole = RecordBatch::try_new(self.schema.clone(), columns)?;
        let part = |from: usize| whole.slice(from, BATCH_ROWS.min(rows - from));
        self.ready.extend((0..rows).step_by(BATCH_ROWS).map(part));
        Ok(())
    }
}

impl Label {
    fn fields(&self, schema: &Schema, default: hedgerow::KeyKind, properties: &[&Property]) -> Vec<Field> {
        let all: Vec<KindId> = std::iter::once(KindId::DEFAULT)
            .chain(schema.kinds().iter().map(hedgerow::Kind::id))
            .filter(|_| self.has_kinds)
            .collect();
        let of_end = |at: usize| match self.ends {
            Some(ends) => keys::type_of(schema, default, &[ends[at]]),
            None if self.has_kinds => keys::type_of(schema, default, &all),
            None => keys::type_of(schema, default, &[KindId::DEFAULT]),
        };
        let mut fields = vec![Field::new("src", of_end(0), false), Field::new("dst", of_end(1), false)];
        if self.has_kinds {
            fields.extend(["src_kind", "dst_kind"].map(|name| Field::new(name, DataType::LargeUtf8, false)));
        }
        fields.extend(self.is_multi.then(|| Field::new("rank", DataType::UInt64, false)));
        fields.extend(self.is_weighted.then(|| Field::new("weight", DataType::Float64, false)));
        let own = fields.clone();
        fields.extend(properties.iter().map(|property| field_of(property, &own)));
        fields
    }

    /// Returns the keys of both ends in the order in which the label states their kinds. A scan passes an
    /// undirected edge at its smaller id, which may be the other end.
    fn in_order(&self, src: KeyColumn, dst: KeyColumn) -> [KeyColumn; 2] {
        let mut keys = [src, dst];
        if let (Some(ends), [KeyColumn::Kinds(src), KeyColumn::Kinds(dst)]) = (self.ends, &mut keys) {
            for (src, dst) in src.iter_mut().zip(dst) {
                let found = [src.kind(), dst.kind()];
                if found != ends && [found[1], found[0]] == ends {
                    std::mem::swap(src, dst);
                }
            }
        }
        keys
    }
}

impl Iterator for EdgeBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(ArrowError::from).transpose()
    }
}

impl RecordBatchReader for EdgeBatches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
