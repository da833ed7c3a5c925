//! Reads of labels, ranks and properties of a snapshot.

use std::sync::Arc;

use hedgerow_catalog::error::{Error, Result, StorageError};
use hedgerow_catalog::schema::{LabelRef, Schema};
use hedgerow_core::{Direction, LabelId, SubgraphId, Topology, Value, VertexId, VertexKey, VertexKeyRef};
use hedgerow_mem::version::Read;
use hedgerow_mem::{ItemRef, View};
use hedgerow_pager::pager::pages::Copies;

use crate::read::properties::{Properties, named};
use crate::read::snapshot::Snapshot;
use crate::read::views::Makers;
use crate::state::edge_key::{EdgeKey, WEIGHT};

/// An edge of a list: the other endpoint, the rank and the properties.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeOf {
    /// The other endpoint.
    pub key: VertexKey,
    /// The rank; 0 unless the label is `multi`.
    pub rank: u64,
    /// The properties that have a value; in a weighted graph also the weight.
    pub properties: Properties,
}

impl Snapshot {
    /// Returns the labels and properties that were defined when the snapshot was taken. O(labels and
    /// properties).
    pub fn schema(&self) -> Schema {
        self.engine().catalog.schema.load().as_of(self.timestamp())
    }

    /// Returns the same schema as [`schema`](Self::schema): the shared one if it has not changed since, else
    /// a copy that is made once. The meaning of a read depends on this schema, and not on later definitions.
    pub(crate) fn schema_seen(&self) -> Arc<Schema> {
        let now = self.engine().catalog.schema.load_full();
        match now.changed() <= self.timestamp() {
            true => now,
            false => self.kept_schema().get_or_init(|| Arc::new(now.as_of(self.timestamp()))).clone(),
        }
    }

    /// Returns the id of a label that was defined when the snapshot was taken. Fails in a forked child.
    pub(super) fn label(&self, label: LabelRef<'_>) -> Result<LabelId> {
        let engine = self.engine();
        engine.check_owner()?;
        if label == LabelRef::Name("") {
            return Ok(LabelId::DEFAULT);
        }
        let schema = engine.catalog.schema.load();
        match schema.find(label).filter(|label| label.defined() <= self.timestamp()) {
            Some(label) => Ok(label.id()),
            None => Err(label.missing(&schema.as_of(self.timestamp()))),
        }
    }

    /// Looks up both endpoints, and returns them as they are stored: in an undirected graph the smaller
    /// first.
    pub(crate) fn ends(
        &self,
        src: VertexKeyRef<'_>,
        dst: VertexKeyRef<'_>,
    ) -> Result<Option<(VertexId, VertexId)>> {
        let [src, dst] = self.engine().keys.vertices_to_read(
            &self.engine().pager,
            [src, dst],
            self.timestamp(),
            |_, _, _| (),
        )?;
        Ok(src.zip(dst).map(|(src, dst)| self.engine().catalog.placement().ends(src, dst)))
    }

    /// Looks up endpoints like [`ends`](Self::ends), but for an edge whose label may state the kinds of its
    /// ends.
    fn ends_of(&self, label: LabelId, edge: &EdgeKey<'_>) -> Result<Option<(VertexId, VertexId)>> {
        let (src, dst) = self.engine().catalog.ends_of(Some(label), edge.src, edge.dst)?;
        self.ends(src, dst)
    }

    /// Looks up the vertex at which edges of a label are read. The vertex has the kind that the label states.
    pub(super) fn end_of(
        &self,
        label: LabelId,
        key: VertexKeyRef<'_>,
        direction: Direction,
    ) -> Result<Option<VertexId>> {
        self.vertex_id(self.engine().catalog.end_of(label, key, direction)?)
    }

    /// True if the edge of this label and rank exists. O(log degree). See
    /// [`contains_any_edge`](Self::contains_any_edge) for edges of any label or rank.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn contains_edge_of(&self, edge: EdgeKey<'_>) -> Result<bool> {
        let label = self.label(edge.label)?;
        let Some((src, dst)) = self.ends_of(label, &edge)? else { return Ok(false) };
        self.contains_item(label, src, dst, edge.rank)
    }

    /// Returns the properties of an edge that have a value, in a weighted graph also its weight; `None` if
    /// the edge does not exist. O(log degree).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn edge_properties(&self, edge: EdgeKey<'_>) -> Result<Option<Properties>> {
        let label = self.label(edge.label)?;
        let Some((src, dst)) = self.ends_of(label, &edge)? else { return Ok(None) };
        let found = self.item_by_id(label, src, dst, edge.rank)?;
        let weighted = self.engine().catalog.is_weighted(label);
        let schema = self.engine().catalog.schema.load();
        Ok(found.map(|(weight, row)| named(&schema, label, weighted.then_some(weight), row.as_ref())))
    }

    /// Returns one property of an edge, if the edge exists; null if it has no such property. O(log degree).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn edge_property(&self, edge: EdgeKey<'_>, property: &str) -> Result<Option<Value>> {
        let label = self.label(edge.label)?;
        let Some((src, dst)) = self.ends_of(label, &edge)? else { return Ok(None) };
        let weighted = self.engine().catalog.is_weighted(label) && property == WEIGHT;
        let id = self
            .engine()
            .catalog
            .schema
            .load()
            .label_by_id(label)
            .and_then(|l| l.property(property))
            .map(|p| p.id());
        self.with_item(label, src, dst, edge.rank, |item| match id {
            _ if weighted => Value::F64(item.weight),
            Some(id) => item.row.get(id).to_owned(),
            None => Value::Null,
        })
    }

    /// Returns the edges of a label at a vertex: other endpoints and ranks, sorted by both, or `None` if
    /// there is no such vertex. O(degree log degree).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn neighbors_of<'a>(
        &self,
        label: impl Into<LabelRef<'a>>,
        key: impl Into<VertexKeyRef<'a>>,
        direction: Direction,
    ) -> Result<Option<Vec<(VertexKey, u64)>>> {
        let label = self.label(label.into())?;
        let Some(id) = self.end_of(label, key.into(), direction)? else { return Ok(None) };
        let mut found = self.engine().keys.telling_keys(&self.engine().pager, |told| {
            let mut found = Vec::new();
            self.for_each_end(label, id, direction, |other, rank| found.push((told.of(other), rank)))?;
            Ok(found)
        })?;
        found.sort_unstable();
        Ok(Some(found))
    }

    /// Returns the edges of a label at a vertex with all their properties, sorted by other endpoint and rank,
    /// or `None` if there is no such vertex. O(degree log degree).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn edges_of<'a>(
        &self,
        label: impl Into<LabelRef<'a>>,
        key: impl Into<VertexKeyRef<'a>>,
        direction: Direction,
    ) -> Result<Option<Vec<EdgeOf>>> {
        let label = self.label(label.into())?;
        let Some(id) = self.end_of(label, key.into(), direction)? else { return Ok(None) };
        let mut edges = self.edges_by_label(label, id, direction)?;
        edges.sort_unstable_by(|a, b| (&a.key, a.rank).cmp(&(&b.key, b.rank)));
        Ok(Some(edges))
    }

    /// Returns the edges of a label at a vertex with all their properties.
    pub(crate) fn edges_by_label(
        &self,
        label: LabelId,
        id: VertexId,
        direction: Direction,
    ) -> Result<Vec<EdgeOf>> {
        let mut found = Vec::new();
        self.for_each_end(label, id, direction, |other, rank| found.push((other, rank)))?;
        let schema = self.engine().catalog.schema.load_full();
        let edge = |(other, rank)| {
            let properties = self.properties_between(&schema, label, id, other, direction, rank)?;
            Ok(EdgeOf { key: self.engine().keys.key_of(&self.engine().pager, other)?, rank, properties })
        };
        found.into_iter().map(edge).collect()
    }

    pub(super) fn properties_between(
        &self,
        schema: &Arc<Schema>,
        label: LabelId,
        at: VertexId,
        other: VertexId,
        direction: Direction,
        rank: u64,
    ) -> Result<Properties> {
        let (src, dst) = self.engine().catalog.placement().ends_of_copy(at, other, direction);
        let found = self.item_by_id(label, src, dst, rank)?;
        let Some((weight, row)) = found else { return Ok(Properties::new()) };
        let weighted = self.engine().catalog.is_weighted(label);
        Ok(named(schema, label, weighted.then_some(weight), row.as_ref()))
    }

    /// Returns the number of edges of a label at a vertex, or `None` if there is no such vertex. A self-loop
    /// counts once. O(1), and a search of the delta of 64 vertices.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn degree_of<'a>(
        &self,
        label: impl Into<LabelRef<'a>>,
        key: impl Into<VertexKeyRef<'a>>,
        direction: Direction,
    ) -> Result<Option<usize>> {
        let label = self.label(label.into())?;
        let id = self.end_of(label, key.into(), direction)?;
        id.map(|id| self.degree_by_label(label, id, direction)).transpose()
    }

    /// Returns the number of edges of a label; an undirected edge counts once. O(subgraphs) in a directed
    /// graph; in an undirected one the call checks every vertex for a self-loop.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn edge_count_of<'a>(&self, label: impl Into<LabelRef<'a>>) -> Result<u64> {
        self.count_edges(self.label(label.into())?)
    }

    pub(crate) fn count_edges(&self, label: LabelId) -> Result<u64> {
        if self.engine().pager.has_room_for_labels([label], (Copies::NoView, false)) {
            match self.count_in_memory(label) {
                // Another thread took the room in the meantime.
                Err(Error::Storage(StorageError::MemoryLimit { .. })) => {}
                counted => return counted,
            }
        }
        Ok(self.tiered(label)?.edge_count())
    }

    fn count_in_memory(&self, label: LabelId) -> Result<u64> {
        self.engine().pager.load_label(label, true)?;
        let directed = self.engine().catalog.config.directed;
        let mut entries = 0;
        let mut loops = 0;
        for subgraph in (0..self.engine().keys.ids.bound.subgraphs()).map(SubgraphId) {
            let mut count = |read: Read<'_>| {
                entries += read.edge_entries();
                if !directed {
                    loops += read.self_loops(subgraph);
                }
            };
            self.engine().pager.read_subgraph((label, subgraph), self.timestamp(), |entry| {
                entry.read(Direction::Out, self.timestamp(), &mut count)
            })?;
        }
        Ok(if directed { entries } else { (entries + loops) / 2 })
    }

    /// Calls `f` with source, destination and rank of every edge of a label, by ascending source id; in an
    /// undirected graph once per edge. O(edges).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn for_each_edge_of<'a>(
        &self,
        label: impl Into<LabelRef<'a>>,
        f: impl FnMut(VertexId, VertexId, u64),
    ) -> Result<()> {
        let bound = VertexId(self.engine().keys.ids.bound());
        self.for_each_edge_in(label, VertexId(0)..bound, f)
    }

    /// Calls `f` like [`for_each_edge_of`](Self::for_each_edge_of), but only with edges whose source is in a
    /// range of vertex ids. The cost is in proportion to that range.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn for_each_edge_in<'a>(
        &self,
        label: impl Into<LabelRef<'a>>,
        sources: std::ops::Range<VertexId>,
        mut f: impl FnMut(VertexId, VertexId, u64),
    ) -> Result<()> {
        let label = self.label(label.into())?;
        self.for_each_item_of(label, sources, |src, item| {
            f(src, item.dst, item.rank);
            Ok(())
        })
    }

    /// Calls `f` with each edge of a label whose source is in a range of vertex ids, until `f` fails. In an
    /// undirected graph calls it once per edge, at the smaller end. O(edges).
    pub(crate) fn for_each_item_of<E: From<Error>>(
        &self,
        label: LabelId,
        sources: std::ops::Range<VertexId>,
        mut f: impl FnMut(VertexId, ItemRef<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut scan = self.scan_edges_of(label, sources, true)?;
        let mut outcome = Ok(());
        while outcome.is_ok()
            && scan.next_source(|edge| {
                if outcome.is_ok() {
                    outcome = f(edge.src, edge.item);
                }
            })?
        {}
        outcome
    }

    /// Returns the graph of one label for kernels: its edges, and the vertices of the kinds that the label
    /// [states](crate::LabelOptions::ends) for its ends, or else all vertices.
    /// [`EdgeSelection::kinds`](crate::EdgeSelection::kinds) names other kinds. For the default label this is
    /// the [`view`](Self::view) that the snapshot keeps. The lists of a `multi` label have one entry for each
    /// edge.
    ///
    /// Made from the label's previous view at the cost of [`view`](Self::view), if the label is among the
    /// eight whose views were requested last; plus O(edges of the label) to count them. If the label states
    /// kinds, the first view of a snapshot reads the kinds of all vertices in O(vertices), and their keys if
    /// memory does not have them.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn view_of<'a>(&self, label: impl Into<LabelRef<'a>>) -> Result<Arc<View>> {
        let label = self.label(label.into())?;
        self.view_of_whole(label, self.whole_label(label))
    }

    /// Returns the view of a label with all vertices, for reads of lists, which may have vertices of any
    /// kind.
    pub(super) fn label_view(&self, label: LabelId) -> Result<Arc<View>> {
        match label {
            LabelId::DEFAULT => self.kept_view().cloned(),
            label => self.cached_view_of(label, Makers::Pool),
        }
    }
}
