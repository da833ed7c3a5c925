//! Operations of a transaction on labelled edges, ranks and properties.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_catalog::schema::LabelRef;
use hedgerow_core::{Cells, Direction, LabelId, Row, Value, VertexId, VertexKey, VertexKeyRef};

use super::names::TxnKey;
use super::op::{EdgeRef, OpAttributes, OpKind, TxnOp};
use super::overlay::State;
use super::txn::WriteTxn;
use crate::read::properties::{Properties, named};
use crate::state::edge_key::{EdgeKey, WEIGHT};
use crate::state::store::Engine;

impl WriteTxn {
    /// Makes sure that the edge exists with exactly these properties, which replace those of an existing
    /// edge. Reads nothing. Defines label and properties that are new.
    ///
    /// In a weighted graph the property `weight` of an edge of the default label is its weight (1 if not
    /// given). O(bytes of the properties).
    ///
    /// # Errors
    /// [`ArgumentError::PropertyType`] for a value of another type; [`ArgumentError::Invalid`] for a rank in
    /// a label that is not `multi`, or a NaN weight; [`ArgumentError::TooLarge`] for values over 16 MiB.
    pub fn put_edge_with<'a, N: AsRef<str>, V: Into<Value>>(
        &mut self,
        edge: impl Into<EdgeKey<'a>>,
        properties: impl IntoIterator<Item = (N, V)>,
    ) -> Result<()> {
        let item = self.item_for_writing(edge.into())?;
        let (weight, cells) = split_weight(&self.engine, item.label, properties)?;
        self.push_item(OpKind::Put, item, weight.unwrap_or(1.0), cells)
    }

    /// Inserts the edge with these properties. Returns whether it was new; an existing edge is left as it is.
    /// Reads the edge. O(log degree + bytes of the properties).
    ///
    /// # Errors
    /// Those of [`put_edge_with`](Self::put_edge_with).
    pub fn insert_edge_with<'a, N: AsRef<str>, V: Into<Value>>(
        &mut self,
        edge: impl Into<EdgeKey<'a>>,
        properties: impl IntoIterator<Item = (N, V)>,
    ) -> Result<bool> {
        let item = self.item_for_writing(edge.into())?;
        let (weight, cells) = split_weight(&self.engine, item.label, properties)?;
        let new = !self.reads_existence(item)?;
        if new {
            self.push_item(OpKind::Insert, item, weight.unwrap_or(1.0), cells)?;
        }
        Ok(new)
    }

    /// Sets properties of an existing edge; its others keep their values at commit. A null removes a
    /// property. Returns whether the edge exists. Reads the edge. O(log degree + bytes of the properties).
    ///
    /// # Errors
    /// Those of [`put_edge_with`](Self::put_edge_with); [`ArgumentError::NoSuchLabel`];
    /// [`ArgumentError::Invalid`] for the stored weight of a weighted graph, which only a put sets.
    pub fn update_edge<'a, N: AsRef<str>, V: Into<Value>>(
        &mut self,
        edge: impl Into<EdgeKey<'a>>,
        properties: impl IntoIterator<Item = (N, V)>,
    ) -> Result<bool> {
        let item = self.item(edge.into())?;
        let cells = self.engine.cells(item.label, properties)?;
        let exists = self.reads_existence(item)?;
        if exists {
            self.push_item(OpKind::Update, item, 1.0, cells)?;
        }
        Ok(exists)
    }

    /// Inserts the vertex unless it exists, and gives it exactly these properties. Reads nothing. O(bytes).
    ///
    /// # Errors
    /// Those of [`put_edge_with`](Self::put_edge_with).
    pub fn put_vertex_with<'a, N: AsRef<str>, V: Into<Value>>(
        &mut self,
        key: impl Into<VertexKeyRef<'a>>,
        properties: impl IntoIterator<Item = (N, V)>,
    ) -> Result<()> {
        let key = key.into();
        let (of, key) = (key.kind(), self.key(key)?);
        let cells = self.engine.cells(of, properties)?;
        self.push(OpKind::InsertVertex, key, key, 0.0)?;
        self.push_item(OpKind::Put, of_vertex(key), 1.0, cells)
    }

    /// Sets properties of an existing vertex and keeps its others; a null removes. Returns whether it exists.
    /// Reads its existence. If a null is for an undefined property, reads the properties too. O(bytes).
    ///
    /// # Errors
    /// Those of [`put_edge_with`](Self::put_edge_with).
    pub fn update_vertex<'a, N: AsRef<str>, V: Into<Value>>(
        &mut self,
        key: impl Into<VertexKeyRef<'a>>,
        properties: impl IntoIterator<Item = (N, V)>,
    ) -> Result<bool> {
        let key = key.into();
        let (of, key) = (key.kind(), self.key(key)?);
        let mut given = 0;
        let properties = properties.into_iter().inspect(|_| given += 1);
        let cells = self.engine.cells(of, properties)?;
        let exists = self.reads_vertex(key)?;
        if exists && cells.len() < given {
            // Nulls for undefined properties were left out. That is right only until the vertex gets such a
            // property.
            self.reads_item(of_vertex(key))?;
        }
        if exists {
            self.push_item(OpKind::Merge, of_vertex(key), 1.0, cells)?;
        }
        Ok(exists)
    }

    /// Returns the properties of an edge that have a value, if the edge exists. In a weighted graph the
    /// weight is among them. O(log degree + properties).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`].
    pub fn edge_properties<'a>(&mut self, edge: impl Into<EdgeKey<'a>>) -> Result<Option<Properties>> {
        let item = self.item(edge.into())?;
        let found = self.reads_item(item)?;
        let schema = self.engine.catalog.schema.load();
        let weighted = self.engine.catalog.is_weighted(item.label);
        Ok(found.map(|(weight, row)| named(&schema, item.label, weighted.then_some(weight), row.as_ref())))
    }

    /// Returns one property of an edge, if the edge exists; null if it has no such property. O(log degree +
    /// properties).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`].
    pub fn edge_property<'a>(
        &mut self,
        edge: impl Into<EdgeKey<'a>>,
        property: &str,
    ) -> Result<Option<Value>> {
        Ok(self.edge_properties(edge)?.map(|all| value_of(all, property)))
    }

    /// Returns the properties of a vertex that have a value, if the vertex exists. O(properties).
    ///
    /// # Errors
    /// Those of every [method](Self).
    pub fn vertex_properties<'a>(&mut self, key: impl Into<VertexKeyRef<'a>>) -> Result<Option<Properties>> {
        let key = self.key(key.into())?;
        if !self.reads_vertex(key)? {
            return Ok(None);
        }
        let row = self.reads_item(of_vertex(key))?.and_then(|(_, row)| row);
        Ok(Some(named(&self.engine.catalog.schema.load(), LabelId::VERTICES, None, row.as_ref())))
    }

    /// Returns one property of a vertex, if the vertex exists; null if it has no such property.
    /// O(properties).
    ///
    /// # Errors
    /// Those of every [method](Self).
    pub fn vertex_property<'a>(
        &mut self,
        key: impl Into<VertexKeyRef<'a>>,
        property: &str,
    ) -> Result<Option<Value>> {
        Ok(self.vertex_properties(key)?.map(|all| value_of(all, property)))
    }

    pub(super) fn label(&mut self, label: LabelRef<'_>) -> Result<LabelId> {
        self.engine.check_owner()?;
        let found = self.engine.label(label);
        if found.is_err() {
            // The commit checks the absence against a snapshot, which must be taken now.
            self.base();
            self.reads.no_label();
        }
        found
    }

    /// Names an edge that is read, or changed if it exists.
    pub(super) fn item(&mut self, edge: EdgeKey<'_>) -> Result<EdgeRef> {
        if edge.is_default() {
            return self.plain_item(edge);
        }
        let label = self.label(edge.label)?;
        let (src, dst) = self.engine.catalog.ends_of(Some(label), edge.src, edge.dst)?;
        Ok(EdgeRef { label, src: self.key(src)?, dst: self.key(dst)?, rank: edge.rank })
    }

    /// Names an edge of the default label, which has neither ranks nor ends of certain kinds.
    fn plain_item(&mut self, edge: EdgeKey<'_>) -> Result<EdgeRef> {
        let (src, dst) = (self.key(edge.src)?, self.key(edge.dst)?);
        Ok(EdgeRef { label: LabelId::DEFAULT, src, dst, rank: 0 })
    }

    /// Names an edge for a write, which defines its label if that is new.
    pub(super) fn item_for_writing(&mut self, edge: EdgeKey<'_>) -> Result<EdgeRef> {
        if edge.is_default() {
            return self.plain_item(edge);
        }
        let (label, src, dst) = self.engine.edge_for_writing(&edge)?;
        Ok(EdgeRef { label, src: self.keys.intern(src), dst: self.keys.intern(dst), rank: edge.rank })
    }

    pub(super) fn push_item(&mut self, kind: OpKind, item: EdgeRef, weight: f64, cells: Cells) -> Result<()> {
        let attributes = if item.rank != 0 || !cells.is_empty() {
            self.attributes.push(OpAttributes::new(kind, item.rank, cells))
        } else {
            0
        };
        self.push_op(TxnOp { kind, label: item.label, attributes, src: item.src, dst: item.dst, weight })
    }

    /// Reads weight and properties of an edge, or the properties of a vertex, with the transaction's own
    /// writes applied.
    pub(super) fn reads_item(&mut self, item: EdgeRef) -> Result<Option<(f64, Option<Row>)>> {
        let own = self.own().and_then(|own| own.item(item.label, item.src, item.dst, item.rank));
        Ok(match own {
            Some(State::Is(edge)) => edge,
            // The state depends on the snapshot, so it counts as read.
            Some(state) => state.over(self.base_item(item)?),
            None => self.base_item(item)?,
        })
    }

    fn base_item(&mut self, item: EdgeRef) -> Result<Option<(f64, Option<Row>)>> {
        let Some((src, dst)) = self.base_ends(item.src, item.dst)? else { return Ok(None) };
        self.reads.edge(item.label, src, dst);
        self.base().item_by_id(item.label, src, dst, item.rank)
    }

    /// Returns endpoints in the snapshot as they are stored: in an undirected graph the smaller one first.
    pub(super) fn base_ends(&mut self, src: TxnKey, dst: TxnKey) -> Result<Option<(VertexId, VertexId)>> {
        let Some(src) = self.base_id(src)? else { return Ok(None) };
        let Some(dst) = self.base_id(dst)? else { return Ok(None) };
        Ok(Some(self.engine.catalog.placement().ends(src, dst)))
    }

    /// Reads the other endpoint and the rank of every edge of a label at a vertex.
    pub(super) fn reads_adjacency_of(
        &mut self,
        label: LabelId,
        key: TxnKey,
        direction: Direction,
    ) -> Result<Option<BTreeMap<(VertexKey, u64), ()>>> {
        if !self.reads_vertex(key)? {
            return Ok(None);
        }
        let mut found = BTreeMap::new();
        let hidden = self.own().is_some_and(|own| own.hides(key));
        if !hidden && let Some(id) = self.base_id(key)? {
            let snapshot = self.base().clone();
            self.note_adjacency(&snapshot, label, id, direction);
            let engine = Arc::clone(&self.engine);
            found = engine.keys.telling_keys(&engine.pager, |told| {
                let mut found = BTreeMap::new();
                let add = |to, rank| _ = found.insert((told.of(to), rank), ());
                snapshot.for_each_end(label, id, direction, add)?;
                Ok(found)
            })?;
        }
        if self.own().is_none() {
            return Ok(Some(found));
        }
        let gone: Vec<_> =
            found.keys().map(|name| (self.keys.intern(name.0.as_ref()), name.clone())).collect();
        let Some(own) = self.overlay.as_ref() else { return Ok(Some(found)) };
        for (other, name) in gone {
            if own.hides(other) {
                found.remove(&name);
            }
        }
        for (other, rank, exists) in own.written(label, key, direction == Direction::Out) {
            let name = (self.keys.key(other).to_owned(), rank);
            match exists {
                true => found.insert(name, ()),
                false => found.remove(&name),
            };
        }
        Ok(Some(found))
    }
}

fn value_of(all: Properties, property: &str) -> Value {
    all.into_iter().find(|(name, _)| &**name == property).map_or(Value::Null, |found| found.1)
}

fn of_vertex(key: TxnKey) -> EdgeRef {
    EdgeRef { label: LabelId::VERTICES, src: key, dst: key, rank: 0 }
}

/// Separates the weight from the other properties of an edge.
pub(crate) fn split_weight<N: AsRef<str>, V: Into<Value>>(
    engine: &Engine,
    label: LabelId,
    properties: impl IntoIterator<Item = (N, V)>,
) -> Result<(Option<f64>, Cells)> {
    let mut weight = None;
    let mut wrong = None;
    let weighted = engine.catalog.is_weighted(label);
    if !weighted {
        return Ok((None, engine.cells(label, properties)?));
    }
    let others = properties.into_iter().filter_map(|(name, value)| {
        let value = value.into();
        if name.as_ref() != WEIGHT {
            return Some((name, value));
        }
        match value {
            Value::F64(w) => weight = Some(w),
            other => wrong = other.property_type().or(wrong),
        }
        None
    });
    let cells = engine.cells(label, others)?;
    if let Some(found) = wrong {
        let expected = hedgerow_core::PropertyType::F64;
        return Err(ArgumentError::PropertyType { property: WEIGHT.to_owned(), expected, found }.into());
    }
    if let Some(weight) = weight {
        engine.check_weight(weight)?;
    }
    Ok((weight, cells))
}
