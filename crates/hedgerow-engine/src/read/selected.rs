//! Reads of a vertex over chosen edges: several labels, ranks, both directions.

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, VertexId, VertexKey, VertexKeyRef};
use hedgerow_mem::ItemRef;

use crate::read::labelled::EdgeOf;
use crate::read::selection::EdgeSelection;
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::{ChosenEdges, ChosenLabel, ChosenWeight, EdgeDirection};

impl ChosenEdges {
    /// Returns the stored directions in which lists are read.
    pub(super) fn directions(&self) -> &'static [Direction] {
        match self.direction {
            EdgeDirection::Out => &[Direction::Out],
            EdgeDirection::In => &[Direction::In],
            EdgeDirection::Both => &[Direction::Out, Direction::In],
        }
    }
}

impl Snapshot {
    /// Returns the chosen edges at a vertex: other endpoint, label and rank, sorted by all three, or `None`
    /// if there is no such vertex. Each edge has one entry, even a self-loop. O(labels + degree log degree).
    ///
    /// An edge chosen by a property takes one more look-up if its list does not have that property: incoming
    /// lists have none, and in an undirected graph one of the two copies has no text and bytes.
    ///
    /// # Errors
    /// The errors of [`view_selected`](Self::view_selected).
    pub fn neighbors_selected<'a>(
        &self,
        selection: &EdgeSelection<'_>,
        key: impl Into<VertexKeyRef<'a>>,
    ) -> Result<Option<Vec<(VertexKey, LabelId, u64)>>> {
        let chosen = selection.resolve_lists(self)?;
        let Some(id) = self.vertex_id_selected(selection, key)? else { return Ok(None) };
        let mut found = self.engine().keys.telling_keys(&self.engine().pager, |told| {
            let mut found = Vec::new();
            self.for_each_chosen(&chosen, id, |label, _, other, rank| {
                found.push((told.of(other), label, rank));
                Ok(())
            })?;
            Ok(found)
        })?;
        found.sort_unstable();
        Ok(Some(found))
    }

    /// Returns the number of chosen edges at a vertex, or `None` if there is no such vertex. This is the
    /// length of [`neighbors_selected`](Self::neighbors_selected). O(labels) if labels are chosen wholly and
    /// in one direction, else O(degree).
    ///
    /// # Errors
    /// The errors of [`view_selected`](Self::view_selected).
    pub fn degree_selected<'a>(
        &self,
        selection: &EdgeSelection<'_>,
        key: impl Into<VertexKeyRef<'a>>,
    ) -> Result<Option<usize>> {
        let chosen = selection.resolve_lists(self)?;
        let Some(id) = self.vertex_id_selected(selection, key)? else { return Ok(None) };
        if let [direction] = chosen.directions()
            && chosen.labels.iter().all(|label| label.is_all())
        {
            let degrees = chosen.labels.iter().map(|label| self.degree_by_label(label.label, id, *direction));
            return degrees.sum::<Result<usize>>().map(Some);
        }
        let mut degree = 0;
        self.for_each_chosen(&chosen, id, |_, _, _, _| {
            degree += 1;
            Ok(())
        })?;
        Ok(Some(degree))
    }

    /// Returns the chosen edges with their properties, otherwise like
    /// [`neighbors_selected`](Self::neighbors_selected).
    ///
    /// # Errors
    /// The errors of [`view_selected`](Self::view_selected).
    pub fn edges_selected<'a>(
        &self,
        selection: &EdgeSelection<'_>,
        key: impl Into<VertexKeyRef<'a>>,
    ) -> Result<Option<Vec<(LabelId, EdgeOf)>>> {
        let chosen = selection.resolve_lists(self)?;
        let Some(id) = self.vertex_id_selected(selection, key)? else { return Ok(None) };
        let schema = self.engine().catalog.schema.load_full();
        let mut edges = Vec::new();
        self.for_each_chosen(&chosen, id, |label, direction, other, rank| {
            let properties = self.properties_between(&schema, label, id, other, direction, rank)?;
            edges.push((
                label,
                EdgeOf { key: self.engine().keys.key_of(&self.engine().pager, other)?, rank, properties },
            ));
            Ok(())
        })?;
        edges.sort_by(|(a_label, a), (b_label, b)| (&a.key, a_label, a.rank).cmp(&(&b.key, b_label, b.rank)));
        Ok(Some(edges))
    }

    /// Returns the vertex at which chosen edges are read, or `None` if there is none. If the key names no
    /// kind, it takes the kind that all named labels state for their ends in the direction of the selection.
    /// It takes the default kind if a label states none, or if no label is named. O(labels).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel);
    /// [`ArgumentError::Invalid`](crate::ArgumentError::Invalid) if the labels state several kinds;
    /// [`StateError::Forked`](crate::StateError::Forked) in a forked child.
    pub fn vertex_id_selected<'a>(
        &self,
        selection: &EdgeSelection<'_>,
        key: impl Into<VertexKeyRef<'a>>,
    ) -> Result<Option<VertexId>> {
        self.engine().check_owner()?;
        self.vertex_id(selection.end_of(self, key.into())?)
    }

    /// Returns the vertex at which a kernel over the chosen edges begins, or `None` if there is none. Looks
    /// the key up like [`vertex_id_selected`](Self::vertex_id_selected). O(labels).
    ///
    /// # Errors
    /// The errors of [`vertex_id_selected`](Self::vertex_id_selected);
    /// [`StateError::Forked`](crate::StateError::Forked) in a forked child;
    /// [`ArgumentError::Invalid`](crate::ArgumentError::Invalid) if the graph of these edges has no vertices
    /// of its [kind](EdgeSelection::kinds).
    pub fn kernel_vertex<'a>(
        &self,
        selection: &EdgeSelection<'_>,
        key: impl Into<VertexKeyRef<'a>>,
    ) -> Result<Option<VertexId>> {
        self.engine().check_owner()?;
        let key = selection.end_of(self, key.into())?;
        selection.check_has_kind_of(self, key)?;
        self.vertex_id(key)
    }

    /// Calls `f` with label, source, destination, rank and weight of every chosen edge, label after label,
    /// each by ascending source id. An undirected edge is passed once, a directed edge from source to
    /// destination, whatever the direction of the selection. The weight is NaN if the property chosen as
    /// weight has no value. O(edges of the labels).
    ///
    /// # Errors
    /// The errors of [`view_selected`](Self::view_selected).
    pub fn for_each_edge_selected(
        &self,
        selection: &EdgeSelection<'_>,
        mut f: impl FnMut(LabelId, VertexId, VertexId, u64, f64),
    ) -> Result<()> {
        let chosen = selection.resolve_lists(self)?;
        let all = VertexId(0)..VertexId(self.engine().keys.ids.bound());
        for label in &chosen.labels {
            self.for_each_item_of(label.label, all.clone(), |src, item| {
                if label.has_rank(item.rank) && label.passes(&item) {
                    f(label.label, src, item.dst, item.rank, label.weight_of(&item).unwrap_or(f64::NAN));
                }
                Ok::<_, hedgerow_catalog::error::Error>(())
            })?;
        }
        Ok(())
    }

    /// Calls `f` with label, direction, other endpoint and rank of each chosen edge at a vertex.
    pub(super) fn for_each_chosen(
        &self,
        chosen: &ChosenEdges,
        id: VertexId,
        mut f: impl FnMut(LabelId, Direction, VertexId, u64) -> Result<()>,
    ) -> Result<()> {
        let placement = self.engine().catalog.placement();
        let mut found = Vec::new();
        for label in &chosen.labels {
            for &direction in chosen.directions() {
                found.clear();
                self.for_each_item(label.label, id, direction, |item| {
                    // A self-loop is in both lists.
                    let again = direction == Direction::In
                        && item.dst == id
                        && chosen.direction == EdgeDirection::Both;
                    if !again && label.has_rank(item.rank) {
                        found.push((item.dst, item.rank, label.passes(&item)));
                    }
                })?;
                for &(other, rank, passes) in &found {
                    let (src, dst) = placement.ends_of_copy(id, other, direction);
                    let is_first = placement.counts_at(direction, id, other);
                    let passes = if label.tests_properties() && !is_first {
                        let first =
                            self.with_item(label.label, src, dst, rank, |item| label.passes(&item))?;
                        first.unwrap_or(false)
                    } else {
                        passes
                    };
                    if passes {
                        f(label.label, direction, other, rank)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl ChosenLabel {
    /// True if all edges of the label are taken.
    pub(super) fn is_all(&self) -> bool {
        self.ranks.is_none() && self.tests.is_empty()
    }

    fn weight_of(&self, item: &ItemRef<'_>) -> Option<f64> {
        match self.weight {
            ChosenWeight::Stored => Some(item.weight),
            ChosenWeight::Property(property, missing) => {
                let number = property.and_then(|property| item.row.get(property).as_number());
                number.or(missing.map(f64::from_bits))
            }
        }
    }

    pub(crate) fn has_rank(&self, rank: u64) -> bool {
        self.ranks.is_none_or(|(first, last)| (first..=last).contains(&rank))
    }

    /// True if this copy of an edge passes the tests of those properties that it has.
    pub(crate) fn passes(&self, item: &ItemRef<'_>) -> bool {
        self.tests.iter().all(|test| test.passes(item.weight, item.row))
    }
}
