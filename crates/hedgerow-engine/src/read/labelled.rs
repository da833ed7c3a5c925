//! Reads of labels, ranks and properties of a snapshot.

use std::sync::Arc;

use hedgerow_catalog::error::{Error, Result, StorageError};
use hedgerow_catalog::schema::{LabelRef, Schema};
use hedgerow_core::{Direction, LabelId, SubgraphId, Topology, Value, VertexId, VertexKeyRef};
use hedgerow_mem::version::Read;
use hedgerow_mem::{ItemRef, View};
use hedgerow_pager::pager::pages::Copies;

use crate::read::properties::{Properties, named};
use crate::read::selection_ref::{EdgeSelectionRef, Lists};
use crate::read::snapshot::Snapshot;
use crate::read::views::Makers;
use crate::state::chosen_edges::ChosenLabel;
use crate::state::edge_key::{EdgeKey, WEIGHT};

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

    /// Returns the properties of an edge that have a value, in a weighted graph also its weight; `None` if
    /// the edge does not exist. O(log degree).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn edge_properties<'a>(&self, edge: impl Into<EdgeKey<'a>>) -> Result<Option<Properties>> {
        let edge = edge.into();
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
    pub fn edge_property<'a>(&self, edge: impl Into<EdgeKey<'a>>, property: &str) -> Result<Option<Value>> {
        let edge = edge.into();
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

    /// Returns the number of chosen edges; an undirected edge counts once. O(subgraphs) for each label in a
    /// directed graph if labels are chosen wholly; in an undirected one the call checks every vertex for a
    /// self-loop. Else O(edges of the labels). The direction and the weights of a selection do not matter.
    ///
    /// # Errors
    /// The errors of [`view`](Self::view).
    pub fn edge_count_of<'s>(&self, edges: impl Into<EdgeSelectionRef<'s>>) -> Result<u64> {
        match self.lists(edges.into())? {
            Lists::OfLabel(label, _) => self.count_edges(label),
            Lists::OfAll(_) => self.edge_count(),
            Lists::Chosen(chosen) => {
                chosen.edges.labels.into_iter().map(|label| self.count_chosen(label)).sum()
            }
        }
    }

    fn count_chosen(&self, chosen: ChosenLabel) -> Result<u64> {
        if chosen.is_all() {
            return self.count_edges(chosen.label);
        }
        let (mut count, all) = (0, VertexId(0)..VertexId(self.engine().keys.ids.bound()));
        self.for_each_item_of(chosen.label, all, |_, item| {
            count += u64::from(chosen.has_rank(item.rank) && chosen.passes(&item));
            Ok::<_, Error>(())
        })?;
        Ok(count)
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

    /// Calls `f` with each edge of a label whose source is in a range of vertex ids, until `f` fails. In an
    /// undirected graph calls it once per edge, at the smaller end. O(edges).
    pub(crate) fn for_each_item_of<E: From<Error>>(
        &self,
        label: LabelId,
        sources: std::ops::Range<VertexId>,
        mut f: impl FnMut(VertexId, ItemRef<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.scan_edges_of(label, sources, true)?.try_for_each(|edge| f(edge.src, edge.item))
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
