//! Single operations on edges of any label, each in a transaction of its own.

use hedgerow_catalog::error::Result;
use hedgerow_core::{LabelId, Row, Value};

use super::Graph;
use crate::commit::labelled_ops::split_weight;
use crate::commit::op::{Given, OpKind};
use crate::commit::request::Outcome;
use crate::commit::{RemoveOptions, WriteTxn, autocommit};
use crate::read::selection::EdgeSelection;
use crate::state::edge_key::{EdgeKey, EdgeToWrite};

impl Graph {
    /// Makes sure that the edge exists with exactly these properties, in a transaction of its own. Replaces
    /// the properties of an existing edge, creates absent endpoints, and defines a new label and new
    /// properties. Returns true if the edge was new. The outcome is decided at commit: the call reads no
    /// snapshot and cannot conflict.
    ///
    /// In a weighted graph the property `weight` of an edge of the default label is its weight (1 if not
    /// given).
    ///
    /// O(log degree) if both ends exist and the edge is of the default label, else the cost of a transaction
    /// of one operation; now and then O(edges of 64 vertices) for a merge. Blocks for other committers of the
    /// same subgraphs, and for the disk if the store is durable.
    ///
    /// # Errors
    /// Those of [`WriteTxn::put_edge_with`](crate::WriteTxn::put_edge_with) and of a commit.
    pub fn put_edge_with<'a, N: AsRef<str>, V: Into<Value>>(
        &self,
        edge: impl Into<EdgeKey<'a>>,
        properties: impl IntoIterator<Item = (N, V)>,
    ) -> Result<bool> {
        self.make(OpKind::Put, edge.into(), properties)
    }

    /// Inserts the edge with these properties, in a transaction of its own. Returns true if it was new, and
    /// leaves an existing edge as it is. Otherwise as [`put_edge_with`](Self::put_edge_with).
    ///
    /// # Errors
    /// Those of [`WriteTxn::insert_edge_with`](crate::WriteTxn::insert_edge_with) and of a commit.
    pub fn insert_edge_with<'a, N: AsRef<str>, V: Into<Value>>(
        &self,
        edge: impl Into<EdgeKey<'a>>,
        properties: impl IntoIterator<Item = (N, V)>,
    ) -> Result<bool> {
        self.make(OpKind::Insert, edge.into(), properties)
    }

    #[inline]
    fn make<N: AsRef<str>, V: Into<Value>>(
        &self,
        kind: OpKind,
        edge: EdgeKey<'_>,
        properties: impl IntoIterator<Item = (N, V)>,
    ) -> Result<bool> {
        if !edge.is_default() || self.engine.catalog.config.weighted {
            let (label, src, dst) = self.engine.edge_for_writing(&edge)?;
            return self.make_with(kind, label, EdgeKey { src, dst, ..edge }, properties);
        }
        self.engine.check_key(edge.src)?;
        self.engine.check_key(edge.dst)?;
        let mut properties = properties.into_iter();
        match (properties.next(), properties.next()) {
            (Some((name, value)), None) => self.make_with_one(kind, edge, name.as_ref(), value.into()),
            (first, second) => {
                let properties = first.into_iter().chain(second).chain(properties);
                self.make_with(kind, LabelId::DEFAULT, edge, properties)
            }
        }
    }

    /// Makes an edge whose label and ends were checked.
    fn make_with<N: AsRef<str>, V: Into<Value>>(
        &self,
        kind: OpKind,
        label: LabelId,
        edge: EdgeKey<'_>,
        properties: impl IntoIterator<Item = (N, V)>,
    ) -> Result<bool> {
        let (weight, cells) = split_weight(&self.engine, label, properties)?;
        let row = Row::new(cells);
        let given = Given::row(row.as_ref().into());
        Ok(self.one(kind, label, edge, weight.unwrap_or(1.0), &given)?.edges > 0)
    }

    /// Makes an edge of the default label with one property, the usual case of edges with properties. A value
    /// of fixed width is passed by value all the way to the delta.
    #[inline]
    fn make_with_one(&self, kind: OpKind, edge: EdgeKey<'_>, name: &str, value: Value) -> Result<bool> {
        let Some((of, word)) = value.as_ref().to_word() else {
            return self.make_with(kind, LabelId::DEFAULT, edge, [(name, value)]);
        };
        let id = match self.engine.catalog.schema.of_default(name, of) {
            Some(id) => id,
            None => self.engine.property_for_writing(LabelId::DEFAULT, name, of)?,
        };
        let done = autocommit::edge_with_word(&self.engine, kind, edge.src, edge.dst, (id, of, word))?;
        Ok(done.edges > 0)
    }

    /// Sets the given properties of an edge and keeps its others, in a transaction of its own; a null removes
    /// a property. Returns true if the edge exists. The outcome is decided at commit: the call reads no
    /// snapshot and cannot conflict. Costs and blocks as [`put_edge_with`](Self::put_edge_with).
    ///
    /// # Errors
    /// Those of [`WriteTxn::update_edge`](crate::WriteTxn::update_edge) and of a commit.
    pub fn update_edge<'a, N: AsRef<str>, V: Into<Value>>(
        &self,
        edge: impl Into<EdgeKey<'a>>,
        properties: impl IntoIterator<Item = (N, V)>,
    ) -> Result<bool> {
        let (label, edge) = self.known_edge(edge.into())?;
        let cells = self.engine.cells(label, properties)?;
        Ok(self.one(OpKind::Update, label, edge, 1.0, &Given::patch(&cells))?.applied > 0)
    }

    /// Makes an edge without properties.
    #[inline]
    pub(super) fn write_edge(&self, kind: OpKind, edge: EdgeToWrite<'_>) -> Result<bool> {
        let EdgeToWrite { key, weight } = edge;
        if let Some(weight) = weight {
            self.engine.check_weight(weight)?;
        }
        if !key.is_default() {
            return self.make(kind, key, std::iter::empty::<(&str, Value)>());
        }
        Ok(autocommit::edge(&self.engine, kind, key.src, key.dst, weight.unwrap_or(1.0))?.edges > 0)
    }

    /// Removes an edge that is not of the default label.
    pub(super) fn remove_named(&self, edge: EdgeKey<'_>) -> Result<bool> {
        let (label, edge) = self.known_edge(edge)?;
        Ok(self.one(OpKind::Remove, label, edge, 0.0, &Given::NONE)?.edges < 0)
    }

    /// Removes the chosen edges in transactions of at most [`RemoveOptions::batch`] edges, and returns their
    /// number. The selection's direction has no effect.
    ///
    /// **Each batch is a transaction, and the call is not**: if the call fails or is cancelled, the edges of
    /// committed batches stay removed, and a snapshot taken meanwhile sees some of the batches. Each removed
    /// edge satisfies the condition when its batch commits: if another commit changed an edge meanwhile, the
    /// batch conflicts and the call searches it again. Edges that others add during the call may or may not
    /// be removed.
    ///
    /// Blocks for each batch as a commit does. O(edges of the labels + removed edges log degree), and memory
    /// for one batch.
    ///
    /// ```
    /// use hedgerow::{EdgeKey, EdgeSelection, Graph, LabelOptions, RemoveOptions};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.define_label("saw", LabelOptions::new().multi(true))?;
    /// let mut tx = graph.write()?;
    /// for day in 0..5 {
    ///     tx.put_edge_with(EdgeKey::new("saw", 1, 2).rank(day), [("seconds", 30)])?;
    /// }
    /// tx.commit()?;
    /// let old = EdgeSelection::of("saw").ranks(..3);
    /// assert_eq!(graph.remove_edges_where(&old, RemoveOptions::new())?, 3);
    /// assert_eq!(graph.snapshot()?.edge_count_of("saw")?, 2);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel) and the other errors of a selection;
    /// [`StateError::Cancelled`](crate::StateError::Cancelled) once `until` of the options is true; those of
    /// a commit.
    pub fn remove_edges_where(
        &self,
        selection: &EdgeSelection<'_>,
        options: RemoveOptions<'_>,
    ) -> Result<u64> {
        let (mut removed, mut behind, mut options) = (0, None, options);
        loop {
            let batch = |txn: &mut WriteTxn| txn.remove_chosen(selection, behind, &options);
            let (count, next) = match self.transact(options.retries, batch) {
                Err(error) if error.is_out_of_memory() && options.batch > 1 => {
                    options = options.batch(options.batch / 2);
                    continue;
                }
                batch => batch?.0,
            };
            removed += count;
            match next {
                Some(place) => behind = Some(place),
                None => return Ok(removed),
            }
        }
    }

    /// Returns the label of an edge, and the edge with the kinds of its ends. The edge need not exist.
    fn known_edge<'a>(&self, edge: EdgeKey<'a>) -> Result<(LabelId, EdgeKey<'a>)> {
        let label = self.engine.label(edge.label)?;
        let (src, dst) = self.engine.catalog.ends_of(Some(label), edge.src, edge.dst)?;
        Ok((label, EdgeKey { src, dst, ..edge }))
    }

    fn one(
        &self,
        kind: OpKind,
        label: LabelId,
        edge: EdgeKey<'_>,
        weight: f64,
        given: &Given<'_>,
    ) -> Result<Outcome> {
        autocommit::edge_of(&self.engine, kind, label, edge, weight, given)
    }
}
