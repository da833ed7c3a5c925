//! The table of the edges of a label.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchOptions, RecordBatchReader, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use hedgerow::{
    EdgeRow, EdgeScan, EdgeSelection, Expansion, KeyColumn, KindId, LabelId, Property, Schema, Snapshot,
    VertexId,
};

use crate::column::{PropertyColumn, field_of};
use crate::options::TableOptions;
use crate::{BATCH_BYTES, BATCH_ROWS, Error, keys};

/// Chosen edges of a label as record batches: all of them in the order of [`Snapshot::scan_edges`], or those
/// of given vertices in the order of [`Snapshot::expand`].
///
/// The columns are `src` and `dst` (the keys of the ends), `src_kind` and `dst_kind` if the store has kinds
/// and the label does not state those of its ends, `rank` of a `multi` label, `weight` of the default label
/// of a weighted store (the weights of the selection, if it names a property as weight), and the properties.
/// A property with the name of such a column is named `NAME:TYPE`. Keys are texts if any kind among them has
/// texts. Pulling a batch reads the edges of its sources: O(edges of these sources). A batch never has more
/// than [`BATCH_ROWS`] rows; memory holds the edges of one source, or of one batch if that is more, and the
/// lists of the scan.
pub struct EdgeBatches {
    snapshot: Snapshot,
    label: Label,
    schema: SchemaRef,
    /// The content of each column.
    columns: Vec<Content>,
    edges: Edges,
    rows: Rows,
    /// The batches of the source that was read last.
    ready: VecDeque<RecordBatch>,
    has_ended: bool,
}

/// The read from which the edges come.
enum Edges {
    Scan(Box<EdgeScan>),
    OfVertices(Expansion),
}

impl Edges {
    /// Calls `f` with the edges of the next source, or of the next given vertex. False if none was left.
    fn next(&mut self, f: impl FnMut(EdgeRow<'_>)) -> hedgerow::Result<bool> {
        match self {
            Edges::Scan(scan) => scan.next_source(f),
            Edges::OfVertices(expansion) => expansion.next_vertex(f),
        }
    }
}

/// The rows that are gathered for the next batch.
#[derive(Default)]
struct Rows {
    count: usize,
    /// The sources, each with the number of consecutive edges that it has.
    sources: Vec<(VertexId, usize)>,
    dst: Vec<VertexId>,
    ranks: Vec<u64>,
    weights: Vec<f64>,
    /// The columns of the wanted properties.
    properties: Vec<PropertyColumn>,
    value_bytes: usize,
}

/// The content of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Key(usize),
    Kind(usize),
    Rank,
    Weight,
    /// The property with this place among the wanted ones.
    Property(usize),
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
    /// Begins the table of the edges that a selection takes, all of one label. Reads nothing, or as little as
    /// [`Snapshot::scan_edges`].
    ///
    /// # Errors
    /// [`Error::Store`]: those of [`Snapshot::scan_edges`]. [`Error::Column`]: a column that the table does
    /// not have.
    pub fn new(
        snapshot: &Snapshot,
        selection: &EdgeSelection<'_>,
        options: &TableOptions,
    ) -> Result<EdgeBatches, Error> {
        let mut scan = snapshot.scan_edges(selection)?;
        if let Some(sources) = &options.within {
            scan = scan.within(sources.clone());
        }
        let label = scan.label();
        EdgeBatches::of(snapshot, label, Edges::Scan(Box::new(scan)), options)
    }

    /// Begins the table of the chosen edges of given vertices, all of one label: the rows of an
    /// [`Expansion`]. Costs as [`Expansion::only_label`].
    ///
    /// ```
    /// use hedgerow::{Direction, Graph, MissingVertex};
    /// use hedgerow_arrow::{EdgeBatches, TableOptions};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edges(&[(1, 2), (1, 3), (4, 1)])?;
    /// let edges = graph.snapshot()?.expand(&[1u64], Direction::Out, MissingVertex::Refuse)?;
    /// let mut batches = EdgeBatches::expand(edges, &TableOptions::new())?;
    /// assert_eq!(batches.next().expect("there are edges")?.num_rows(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Store`]: those of [`Expansion::only_label`]. [`Error::Column`]: a column that the table does
    /// not have. [`Error::Table`]: the options name a part of the graph.
    pub fn expand(expansion: Expansion, options: &TableOptions) -> Result<EdgeBatches, Error> {
        if options.within.is_some() {
            return Err(Error::Table("a table of given vertices has no part of the graph".to_owned()));
        }
        let (label, snapshot) = (expansion.only_label()?, expansion.snapshot().clone());
        EdgeBatches::of(&snapshot, label, Edges::OfVertices(expansion), options)
    }

    fn of(
        snapshot: &Snapshot,
        label: LabelId,
        edges: Edges,
        options: &TableOptions,
    ) -> Result<EdgeBatches, Error> {
        let (schema, config) = (snapshot.schema(), snapshot.config());
        let of = schema.find_label(label)?;
        let label = Label {
            has_kinds: of.ends().is_none() && !schema.kinds().is_empty(),
            is_multi: of.is_multi(),
            is_weighted: config.weighted && of.name().is_empty(),
            ends: of.ends(),
        };
        let (fields, contents) = label.columns(&schema, config.keys, of.properties());
        let keys = fields.len() - of.properties().len();
        let (mut columns, mut rows) = (Vec::new(), Rows::default());
        let places = options.places(&fields, keys)?;
        for &place in &places {
            columns.push(match contents[place] {
                Content::Property(at) => {
                    rows.properties.push(PropertyColumn::new(&of.properties()[at]));
                    Content::Property(rows.properties.len() - 1)
                }
                other => other,
            });
        }
        let fields: Vec<Field> = places.into_iter().map(|place| fields[place].clone()).collect();
        let schema = Arc::new(arrow_schema::Schema::new(fields));
        let (snapshot, ready) = (snapshot.clone(), VecDeque::new());
        Ok(EdgeBatches { snapshot, label, schema, columns, edges, rows, ready, has_ended: false })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if self.has_ended {
                return Ok(None);
            }
            let (has_ranks, has_weights) = (self.has(Content::Rank), self.has(Content::Weight));
            let Rows { count, sources, dst, ranks, weights, properties, value_bytes } = &mut self.rows;
            while *count < BATCH_ROWS && *value_bytes < BATCH_BYTES && !self.has_ended {
                let has_more = self.edges.next(|edge| {
                    match sources.last_mut() {
                        Some((last, edges)) if *last == edge.src() => *edges += 1,
                        _ => sources.push((edge.src(), 1)),
                    }
                    *count += 1;
                    dst.push(edge.dst());
                    if has_ranks {
                        ranks.push(edge.rank());
                    }
                    if has_weights {
                        weights.push(edge.weight());
                    }
                    for property in &mut *properties {
                        *value_bytes += property.push(edge.get(property.id));
                    }
                })?;
                self.has_ended = !has_more;
            }
            self.finish()?;
        }
    }

    fn has(&self, content: Content) -> bool {
        self.columns.contains(&content)
    }

    /// Makes batches of the gathered rows.
    fn finish(&mut self) -> Result<(), Error> {
        let rows = std::mem::take(&mut self.rows.count);
        let sources = std::mem::take(&mut self.rows.sources);
        let dst = std::mem::take(&mut self.rows.dst);
        self.rows.value_bytes = 0;
        if rows == 0 {
            return Ok(());
        }
        let mut keys = self.keys(&sources, &dst)?;
        let kinds = match self.has(Content::Kind(0)) || self.has(Content::Kind(1)) {
            true => {
                let schema = self.snapshot.schema();
                keys.each_ref().map(|keys| keys.as_ref().map(|keys| keys::kinds_of(keys, &schema)))
            }
            false => [None, None],
        };
        let lost = || Error::Table("a column was not read".to_owned());
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for (content, field) in self.columns.iter().zip(self.schema.fields()) {
            columns.push(match *content {
                Content::Key(end) => keys::array_of(keys[end].take().ok_or_else(lost)?, field.data_type())?,
                Content::Kind(end) => kinds[end].clone().ok_or_else(lost)?,
                Content::Rank => Arc::new(UInt64Array::from(std::mem::take(&mut self.rows.ranks))),
                Content::Weight => Arc::new(Float64Array::from(std::mem::take(&mut self.rows.weights))),
                Content::Property(at) => self.rows.properties.get_mut(at).ok_or_else(lost)?.finish(),
            });
        }
        let counted = RecordBatchOptions::new().with_row_count(Some(rows));
        let whole = RecordBatch::try_new_with_options(self.schema.clone(), columns, &counted)?;
        let part = |from: usize| whole.slice(from, BATCH_ROWS.min(rows - from));
        self.ready.extend((0..rows).step_by(BATCH_ROWS).map(part));
        Ok(())
    }

    /// Returns the keys of the sources and of the destinations, if a column needs them.
    fn keys(&self, sources: &[(VertexId, usize)], dst: &[VertexId]) -> Result<[Option<KeyColumn>; 2], Error> {
        let needs = |end| self.has(Content::Key(end)) || self.has(Content::Kind(end));
        // Which end is the source may depend on the kinds of both.
        let is_ordered = self.label.ends.is_some() && (needs(0) || needs(1));
        let (mut src_keys, mut dst_keys) = (None, None);
        if needs(0) || is_ordered {
            let ids: Vec<VertexId> = sources.iter().map(|(id, _)| *id).collect();
            let counts = sources.iter().map(|(_, count)| *count);
            src_keys = Some(keys::repeated(self.snapshot.vertex_keys(&ids)?, counts));
        }
        if needs(1) || is_ordered {
            dst_keys = Some(self.snapshot.vertex_keys(dst)?);
        }
        Ok(match (src_keys, dst_keys) {
            (Some(src), Some(dst)) => self.label.in_order(src, dst).map(Some),
            (src, dst) => [src, dst],
        })
    }
}

impl Label {
    /// Returns the columns of the label, and the content of each.
    fn columns(
        &self,
        schema: &Schema,
        default: hedgerow::KeyKind,
        properties: &[Property],
    ) -> (Vec<Field>, Vec<Content>) {
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
        let mut contents = vec![Content::Key(0), Content::Key(1)];
        if self.has_kinds {
            fields.extend(["src_kind", "dst_kind"].map(|name| Field::new(name, DataType::LargeUtf8, false)));
            contents.extend([Content::Kind(0), Content::Kind(1)]);
        }
        if self.is_multi {
            fields.push(Field::new("rank", DataType::UInt64, false));
            contents.push(Content::Rank);
        }
        if self.is_weighted {
            fields.push(Field::new("weight", DataType::Float64, false));
            contents.push(Content::Weight);
        }
        let own = fields.clone();
        fields.extend(properties.iter().map(|property| field_of(property, &own)));
        contents.extend((0..properties.len()).map(Content::Property));
        (fields, contents)
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
        let batch = self.next_batch();
        // The rows of a batch that failed are gone, so no later batch may follow.
        self.has_ended |= batch.is_err();
        batch.map_err(ArrowError::from).transpose()
    }
}

impl RecordBatchReader for EdgeBatches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
