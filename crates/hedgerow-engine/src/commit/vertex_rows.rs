//! Many vertices of one kind with values of the same properties in one call of a transaction, by the row or
//! by the column. In both cases the transaction stores the values in columns, as subgraphs do.

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_core::assemble::ColumnBuilder;
use hedgerow_core::column::Data;
use hedgerow_core::property::MAX_VALUE_BYTES;
use hedgerow_core::{Column, Columns, KindId, LabelId, PropertyId, Value, ValueRef, VertexKeyRef};

use super::define::check_value;
use super::edge_rows::too_many_values;
use super::op::{OpKind, TxnOp};
use super::txn::WriteTxn;
use crate::state::store::Engine;

/// The values of a call by property, row by row.
struct Gathered<'a> {
    kind: KindId,
    /// The expected number of rows.
    expected: usize,
    /// Names of properties, with the values so far once a row had one.
    properties: Vec<(&'a str, Option<(PropertyId, ColumnBuilder)>)>,
}

impl<'a> Gathered<'a> {
    fn new(kind: KindId, expected: usize, names: &[&'a str]) -> Gathered<'a> {
        Gathered { kind, expected, properties: names.iter().map(|&name| (name, None)).collect() }
    }

    /// Adds the value at index `at` of a row.
    fn take(&mut self, engine: &Engine, row: usize, at: usize, value: &Value) -> Result<()> {
        let given = self.properties.len();
        let (name, column) = self.properties.get_mut(at).ok_or_else(|| too_many_values(given))?;
        let Some(kind) = value.property_type() else { return Ok(()) };
        check_value(name, value)?;
        // A value of another type is refused.
        if column.as_ref().is_none_or(|(_, builder)| builder.kind() != kind) {
            let id = engine.property_for_writing(self.kind, name, kind)?;
            *column = Some((id, ColumnBuilder::new(kind, self.expected)));
        }
        if let Some((_, builder)) = column {
            builder.nulls(row - builder.len());
            builder.push(value.as_ref());
        }
        Ok(())
    }

    /// Returns the columns of `rows` rows.
    fn finish(self, rows: usize) -> Vec<(PropertyId, Column)> {
        let columns = self.properties.into_iter().filter_map(|(_, column)| column);
        let columns = columns.map(|(id, mut builder)| {
            builder.nulls(rows - builder.len());
            builder.finish().map(|column| (id, column))
        });
        columns.flatten().collect()
    }
}

/// Sorts the columns of `rows` rows by property. Among several columns for one property, the last with a
/// value counts.
fn sorted(mut columns: Vec<(PropertyId, Column)>, rows: usize) -> Columns {
    columns.sort_by_key(|&(id, _)| id);
    columns.dedup_by(|(later, newer), (kept, older)| {
        let same = later == kept;
        if same {
            let values = (0..rows).map(|at| match newer.get(at) {
                ValueRef::Null => older.get(at),
                value => value,
            });
            if let Some(laid_over) = Column::of_values(newer.kind(), values) {
                *older = laid_over;
            }
        }
        same
    });
    Columns::from_parts(columns, rows).expect("columns of one length, ascending")
}

/// Refuses values that are too long.
fn check_column(name: &str, column: &Column) -> Result<()> {
    match column.data() {
        Data::Heap(_, heap) if heap.len() > MAX_VALUE_BYTES => {
            (0..column.len()).try_for_each(|at| check_value(name, &column.get(at).to_owned()))
        }
        _ => Ok(()),
    }
}

impl WriteTxn {
    /// Like [`put_vertex_with`](Self::put_vertex_with), but for many vertices of one kind. Each has a row of
    /// values for the `properties`, in their order. A null, or a value missing at the end of a row, sets
    /// nothing. A key that comes twice gets the last properties. Reads nothing.
    ///
    /// O(values). Looks properties up once, and defines new ones.
    ///
    /// ```
    /// use hedgerow::{Graph, KeyKind, Value};
    ///
    /// let graph = Graph::in_memory()?;
    /// let page = graph.define_kind("page", KeyKind::U64)?;
    /// let mut tx = graph.write()?;
    /// let rows = [(7, ["Birds".into(), Value::I64(3)]), (8, ["Owls".into(), Value::Null])];
    /// tx.put_vertices_with(page, &["title", "views"], rows)?;
    /// tx.commit()?;
    /// assert_eq!(graph.snapshot()?.vertex_property(page.key(7), "views")?, Some(Value::I64(3)));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `put_vertex_with`; [`ArgumentError::Invalid`] for a key of another kind, and for a row with
    /// more values than there are properties. In these cases, and if the iterator of rows panics, no vertex
    /// is added.
    pub fn put_vertices_with<'a, K, R>(
        &mut self,
        kind: KindId,
        properties: &[&str],
        rows: impl IntoIterator<Item = (K, R)>,
    ) -> Result<()>
    where
        K: Into<VertexKeyRef<'a>>,
        R: IntoIterator<Item: Into<Value>>,
    {
        let rows = rows.into_iter();
        let mut ops = self.vertex_ops(kind, rows.size_hint().0)?;
        let mut gathered = Gathered::new(kind, rows.size_hint().0, properties);
        for (nth, (key, row)) in rows.enumerate() {
            self.push_vertex(kind, key.into(), &mut ops)?;
            for (at, value) in row.into_iter().enumerate() {
                gathered.take(&self.engine, nth, at, &value.into())?;
            }
        }
        let rows = ops.len() / 2;
        self.add_vertices(ops, sorted(gathered.finish(rows), rows));
        Ok(())
    }

    /// Like [`put_vertices_with`](Self::put_vertices_with), but with the values by the column: the vertex of
    /// key number `i` gets the values at index `from + i`. So several transactions can each put a range of
    /// the columns. Reads nothing.
    ///
    /// O(vertices, and bytes of their values), with much less work for each value than by the row.
    ///
    /// ```
    /// use hedgerow::{Column, Graph, KindId, Value};
    ///
    /// let graph = Graph::in_memory()?;
    /// let (since, score) = (Column::from(vec![2001, 2010, 2020]), Column::from(vec![0.5, 1.5, 2.5]));
    /// let mut tx = graph.write()?;
    /// tx.put_vertex_columns(KindId::DEFAULT, [5, 9], &[("since", &since), ("score", &score)], 1)?;
    /// tx.commit()?;
    /// assert_eq!(graph.snapshot()?.vertex_property(9, "since")?, Some(Value::I64(2020)));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `put_vertices_with`, and [`ArgumentError::Invalid`] for a column that has no value for the
    /// last keys.
    pub fn put_vertex_columns<'a, K: Into<VertexKeyRef<'a>>>(
        &mut self,
        kind: KindId,
        keys: impl IntoIterator<Item = K>,
        columns: &[(&str, &Column)],
        from: usize,
    ) -> Result<()> {
        let keys = keys.into_iter();
        let mut ops = self.vertex_ops(kind, keys.size_hint().0)?;
        for key in keys {
            self.push_vertex(kind, key.into(), &mut ops)?;
        }
        let rows = ops.len() / 2;
        let mut taken = Vec::with_capacity(columns.len());
        for &(name, column) in columns {
            let end = from.checked_add(rows).filter(|&end| end <= column.len());
            let end = end.ok_or_else(|| {
                let found = column.len();
                let what =
                    format!("property {name} needs {rows} values from row {from} on, but has {found} values");
                ArgumentError::Invalid(what)
            })?;
            let mut builder = ColumnBuilder::new(column.kind(), rows);
            builder.copy(Some(column), from..end);
            if let Some(part) = builder.finish() {
                check_column(name, &part)?;
                taken.push((self.engine.property_for_writing(kind, name, column.kind())?, part));
            }
        }
        self.add_vertices(ops, sorted(taken, rows));
        Ok(())
    }

    /// Makes room for the operations of at least `least` vertices of a kind, if the transaction may have that
    /// many.
    fn vertex_ops(&self, kind: KindId, least: usize) -> Result<Vec<TxnOp>> {
        self.engine.check_owner()?;
        self.engine.catalog.schema.load().check_kind(kind)?;
        self.engine.catalog.check_operations(least.saturating_mul(2).saturating_add(self.ops.len()))?;
        Ok(Vec::with_capacity(least * 2))
    }

    /// Adds the operations on a vertex of the call.
    #[inline]
    fn push_vertex(&mut self, kind: KindId, given: VertexKeyRef<'_>, ops: &mut Vec<TxnOp>) -> Result<()> {
        let key = if given.kind() == KindId::DEFAULT { kind.key(given) } else { given };
        if key.kind() != kind {
            let schema = self.engine.catalog.schema.load();
            let what = format!("vertex {key}: the call is for vertices of kind {:?}", schema.kind_name(kind));
            return Err(ArgumentError::Invalid(what).into());
        }
        self.engine.check_key(key)?;
        self.engine.catalog.check_operations(self.ops.len() + ops.len() + 2)?;
        let key = self.keys.intern(key);
        ops.push(TxnOp::plain(OpKind::InsertVertex, key, key, 0.0));
        ops.push(TxnOp { label: LabelId::VERTICES, ..TxnOp::plain(OpKind::Put, key, key, 1.0) });
        Ok(())
    }

    /// Adds two operations for each vertex, with the values of its row.
    fn add_vertices(&mut self, mut ops: Vec<TxnOp>, columns: Columns) {
        // A vertex without properties has no row at all.
        let full = columns.iter().any(|(_, column)| column.valid().is_none());
        let has_some: Vec<bool> = match full {
            true => Vec::new(),
            false => (0..ops.len() / 2)
                .map(|at| columns.iter().any(|(_, column)| !column.get(at).is_null()))
                .collect(),
        };
        let places = self.attributes.push_columns(columns);
        for (at, of_vertex) in ops.chunks_exact_mut(2).enumerate() {
            if full || has_some[at] {
                of_vertex[1].attributes = self.attributes.push_place(&places, at as u32);
            }
        }
        if self.ops.is_empty() {
            self.ops = ops;
        } else {
            self.ops.append(&mut ops);
        }
    }
}
