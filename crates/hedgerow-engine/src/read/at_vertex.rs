//! Reads of the chosen edges at one vertex.

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, VertexId, VertexKey, VertexKeyRef};

use crate::read::properties::Properties;
use crate::read::selection_ref::{EdgeSelectionRef, Lists};
use crate::read::snapshot::Snapshot;

/// An edge of a list: its label, the other endpoint, the rank and the properties.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeOf {
    /// The label.
    pub label: LabelId,
    /// The other endpoint.
    pub key: VertexKey,
    /// The rank; 0 unless the label is `multi`.
    pub rank: u64,
    /// The properties that have a value; in a weighted graph also the weight.
    pub properties: Properties,
}

/// A copy of an edge at a vertex: label, direction of the list, other endpoint and rank.
pub(super) type Copy = (LabelId, Direction, VertexId, u64);

impl Snapshot {
    /// Returns the other endpoints of the chosen edges at a vertex, sorted by key, or `None` if there is no
    /// such vertex. A neighbor has one entry for each edge, and a self-loop is one edge, so the length is the
    /// [`degree`](Self::degree). O(labels + degree log degree).
    ///
    /// An edge chosen by a property takes one more look-up if its list does not have that property: incoming
    /// lists have none, and in an undirected graph one of the two copies has no text and bytes.
    ///
    /// A key without a kind gets the kind that the named labels state for their ends. It gets the default
    /// kind if a label states none, or if no label is named.
    ///
    /// # Errors
    /// The errors of [`view`](Self::view).
    pub fn neighbors<'a, 's>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        edges: impl Into<EdgeSelectionRef<'s>>,
    ) -> Result<Option<Vec<VertexKey>>> {
        let lists = self.lists(edges.into())?;
        let Some(id) = self.end_of_lists(&lists, key.into())? else { return Ok(None) };
        let mut keys = self.engine().keys.telling_keys(&self.engine().pager, |told| {
            let mut keys = Vec::new();
            match lists {
                Lists::OfLabel(LabelId::DEFAULT, direction) => {
                    self.for_each_neighbor(id, direction, |v, _| keys.push(told.of(v)))?;
                }
                _ => self.for_each_of(&lists, id, |_, _, other, _| keys.push(told.of(other)))?,
            }
            Ok(keys)
        })?;
        keys.sort_unstable();
        Ok(Some(keys))
    }

    /// Returns other endpoint, label and rank of the chosen edges at a vertex, sorted by all three, otherwise
    /// like [`neighbors`](Self::neighbors).
    ///
    /// # Errors
    /// The errors of [`view`](Self::view).
    pub fn edge_list<'a, 's>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        edges: impl Into<EdgeSelectionRef<'s>>,
    ) -> Result<Option<Vec<(VertexKey, LabelId, u64)>>> {
        let lists = self.lists(edges.into())?;
        let Some(id) = self.end_of_lists(&lists, key.into())? else { return Ok(None) };
        let mut found = self.engine().keys.telling_keys(&self.engine().pager, |told| {
            let mut found = Vec::new();
            self.for_each_of(&lists, id, |label, _, other, rank| found.push((told.of(other), label, rank)))?;
            Ok(found)
        })?;
        found.sort_unstable();
        Ok(Some(found))
    }

    /// Returns the chosen edges at a vertex with their properties, sorted like
    /// [`edge_list`](Self::edge_list). Takes one look-up more for each edge, unless they are in one outgoing
    /// list of a directed graph.
    ///
    /// # Errors
    /// The errors of [`view`](Self::view).
    pub fn edges<'a, 's>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        edges: impl Into<EdgeSelectionRef<'s>>,
    ) -> Result<Option<Vec<EdgeOf>>> {
        let lists = self.lists(edges.into())?;
        let Some(id) = self.end_of_lists(&lists, key.into())? else { return Ok(None) };
        let mut copies: Vec<Copy> = Vec::new();
        self.for_each_of(&lists, id, |label, direction, other, rank| {
            copies.push((label, direction, other, rank));
        })?;
        let mut edges = self.edges_of_copies(&lists, id, (&copies, copies.len()))?;
        edges.sort_by(|a, b| (&a.key, a.label, a.rank).cmp(&(&b.key, b.label, b.rank)));
        Ok(Some(edges))
    }

    /// Returns the number of chosen edges at a vertex, or `None` if there is no such vertex. A self-loop
    /// counts once. O(labels) and a search of the short delta of 64 vertices if labels are chosen wholly and
    /// in one direction, else O(degree).
    ///
    /// # Errors
    /// The errors of [`view`](Self::view).
    pub fn degree<'a, 's>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        edges: impl Into<EdgeSelectionRef<'s>>,
    ) -> Result<Option<usize>> {
        let edges = edges.into();
        // The shortest read, so the usual case is apart from all others, and the type of the key is known.
        match self.in_default_lists(edges) {
            Some(direction) => self.vertex_id(key)?.map(|id| self.degree_by_id(id, direction)).transpose(),
            None => self.degree_in(key.into(), edges),
        }
    }

    #[inline(never)]
    fn degree_in(&self, key: VertexKeyRef<'_>, edges: EdgeSelectionRef<'_>) -> Result<Option<usize>> {
        let lists = self.lists(edges)?;
        let Some(id) = self.end_of_lists(&lists, key)? else { return Ok(None) };
        match &lists {
            Lists::OfLabel(LabelId::DEFAULT, direction) => self.degree_by_id(id, *direction),
            Lists::OfLabel(label, direction) => self.degree_by_label(*label, id, *direction),
            Lists::OfAll(direction) => {
                self.label_ids().map(|label| self.degree_by_label(label, id, *direction)).sum()
            }
            Lists::Chosen(chosen) => match chosen.edges.whole_labels() {
                Some((labels, direction)) => {
                    labels.map(|label| self.degree_by_label(label, id, direction)).sum()
                }
                None => {
                    let mut degree = 0;
                    self.for_each_chosen(&chosen.edges, id, |_, _, _, _| degree += 1)?;
                    Ok(degree)
                }
            },
        }
        .map(Some)
    }
}
