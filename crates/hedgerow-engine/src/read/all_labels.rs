//! Reads of a snapshot over the edges of all labels, and the labels that have edges.

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_catalog::schema::LabelRef;
use hedgerow_core::{Direction, LabelId, SubgraphId, VertexId, VertexKey, VertexKeyRef};
use hedgerow_pager::pager::pages::Wanted;

use crate::read::labelled::EdgeOf;
use crate::read::snapshot::Snapshot;

/// A pattern of edges from one vertex to another: edges of any label and any rank, unless the pattern names
/// them.
///
/// ```
/// use hedgerow::{EdgeKey, EdgePattern, Graph, LabelOptions};
///
/// let graph = Graph::in_memory()?;
/// graph.define_label("calls", LabelOptions::new().multi(true))?;
/// let mut tx = graph.write()?;
/// tx.put_edge_with(EdgeKey::new("calls", 1, 2).rank(7), [("seconds", 30)])?;
/// assert!(tx.contains_any_edge(EdgePattern::between(1, 2))?);
/// tx.commit()?;
/// let snapshot = graph.snapshot()?;
/// assert!(snapshot.contains_any_edge(EdgePattern::between(1, 2).label("calls"))?);
/// assert!(!snapshot.contains_any_edge(EdgePattern::between(1, 2).label(""))?);
/// assert!(!snapshot.contains_any_edge(EdgePattern::between(1, 2).rank(0))?);
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct EdgePattern<'a> {
    pub(crate) src: VertexKeyRef<'a>,
    pub(crate) dst: VertexKeyRef<'a>,
    pub(crate) label: Option<LabelRef<'a>>,
    pub(crate) rank: Option<u64>,
}

impl<'a> EdgePattern<'a> {
    /// Returns the pattern of all edges from `src` to `dst`.
    pub fn between(src: impl Into<VertexKeyRef<'a>>, dst: impl Into<VertexKeyRef<'a>>) -> EdgePattern<'a> {
        EdgePattern { src: src.into(), dst: dst.into(), label: None, rank: None }
    }

    /// Restricts the pattern to this label; the empty name is the default label.
    pub fn label(mut self, label: impl Into<LabelRef<'a>>) -> EdgePattern<'a> {
        self.label = Some(label.into());
        self
    }

    /// Restricts the pattern to this rank; edges of labels that are not `multi` have rank 0.
    pub fn rank(mut self, rank: u64) -> EdgePattern<'a> {
        self.rank = Some(rank);
        self
    }
}

impl Snapshot {
    /// Returns the labels that were defined when the snapshot was taken.
    pub(super) fn label_ids(&self) -> impl Iterator<Item = LabelId> + use<> {
        let schema = self.engine().catalog.schema.load();
        let defined = schema.labels().partition_point(|label| label.defined() <= self.timestamp());
        (0..defined as u16).map(LabelId)
    }

    /// True if labels other than the default one were defined when the snapshot was taken, with or without
    /// edges. O(1).
    pub fn has_labels(&self) -> bool {
        let schema = self.engine().catalog.schema.load();
        schema.labels().get(1).is_some_and(|label| label.defined() <= self.timestamp())
    }

    /// Returns the labels that have edges, by ascending id. O(1) if no label but the default one is defined;
    /// else O(subgraphs) for each label without edges, and less for the others.
    ///
    /// # Errors
    /// The errors of every [read](Self).
    pub fn labels_with_edges(&self) -> Result<Vec<LabelId>> {
        self.used_labels().collect()
    }

    /// Returns the label of all edges, or the default one if there are no edges. Costs as
    /// [`labels_with_edges`](Self::labels_with_edges).
    ///
    /// # Errors
    /// [`ArgumentError::SeveralLabels`], which lists them, if edges have different labels.
    pub fn only_label(&self) -> Result<LabelId> {
        self.engine().check_owner()?;
        self.only_of(self.used_labels(), LabelId::DEFAULT)
    }

    /// Returns the only one of these labels that has edges, or the first one if none has.
    pub(super) fn only_label_of(&self, labels: &[LabelId]) -> Result<LabelId> {
        let has_edges = |&label: &LabelId| self.has_edges(label).map(|has| has.then_some(label)).transpose();
        let none = labels.first().copied().unwrap_or(LabelId::DEFAULT);
        self.only_of(labels.iter().filter_map(has_edges), none)
    }

    fn only_of(&self, mut used: impl Iterator<Item = Result<LabelId>>, none: LabelId) -> Result<LabelId> {
        let first = used.next().transpose()?.unwrap_or(none);
        let Some(second) = used.next().transpose()? else { return Ok(first) };
        let others = used.collect::<Result<Vec<_>>>()?;
        let schema = self.engine().catalog.schema.load();
        let name = |id| schema.label_by_id(id).map_or_else(String::new, |label| label.name().to_string());
        Err(ArgumentError::SeveralLabels {
            labels: [first, second].into_iter().chain(others).map(name).collect(),
        }
        .into())
    }

    fn used_labels(&self) -> impl Iterator<Item = Result<LabelId>> {
        let several = self.has_labels();
        let is_used = move |label| match several {
            true => self.has_edges(label),
            false => Ok(self.edge_count()? > 0),
        };
        self.label_ids().filter_map(move |label| is_used(label).map(|used| used.then_some(label)).transpose())
    }

    /// True if the label has an edge. O(subgraphs) if it has none.
    pub(super) fn has_edges(&self, label: LabelId) -> Result<bool> {
        for id in (0..self.engine().keys.ids.bound.subgraphs()).map(SubgraphId) {
            let found = self.engine().pager.read_subgraph((label, id), self.timestamp(), |entry| {
                entry.read(Direction::Out, self.timestamp(), |read| read.edge_entries() > 0)
            })?;
            if found.flatten() == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if an edge with this pattern exists. O(labels * log degree); in a `multi` label without a named
    /// rank also one step for each edge between the two vertices.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`].
    pub fn contains_any_edge(&self, edges: EdgePattern<'_>) -> Result<bool> {
        self.engine().check_owner()?;
        let label = edges.label.map(|label| self.label(label)).transpose()?;
        let (src, dst) = self.engine().catalog.ends_of(label, edges.src, edges.dst)?;
        let Some((src, dst)) = self.ends(src, dst)? else { return Ok(false) };
        let joined = |label| match edges.rank {
            Some(rank) => self.contains_item(label, src, dst, rank),
            None => self.has_edge_with_rank(label, src, dst, |_| true),
        };
        if let Some(label) = label {
            return joined(label);
        }
        for label in self.label_ids() {
            if joined(label)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if an edge of the label between the vertices exists with a rank for which `wanted` is true. In an
    /// undirected graph `src` is the smaller vertex.
    pub(crate) fn has_edge_with_rank(
        &self,
        label: LabelId,
        src: VertexId,
        dst: VertexId,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<bool> {
        if label == LabelId::DEFAULT {
            return Ok(self.weight_by_id(src, dst)?.is_some() && wanted(0));
        }
        let found = self.read_of(Wanted::edge(label, src, Direction::Out, dst), |read| {
            let mut found = false;
            read.for_each_item_to(src.local(), dst, |item| found |= wanted(item.rank));
            found
        })?;
        Ok(found == Some(true))
    }

    /// Returns the edges of all labels at a vertex: other endpoint, label and rank, sorted by all three, or
    /// `None` if there is no such vertex. Each edge has one entry, so a neighbour with several edges is
    /// listed several times. O(labels + degree log degree).
    ///
    /// # Errors
    /// The errors of every [read](Self).
    pub fn neighbors_of_all<'a>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        direction: Direction,
    ) -> Result<Option<Vec<(VertexKey, LabelId, u64)>>> {
        let Some(id) = self.vertex_id(key)? else { return Ok(None) };
        let mut found = self.engine().keys.telling_keys(&self.engine().pager, |told| {
            let mut found = Vec::new();
            for label in self.label_ids() {
                self.for_each_end(label, id, direction, |other, rank| {
                    found.push((told.of(other), label, rank));
                })?;
            }
            Ok(found)
        })?;
        found.sort_unstable();
        Ok(Some(found))
    }

    /// Returns the number of edges of all labels at a vertex, or `None` if there is no such vertex. This is
    /// the length of [`neighbors_of_all`](Self::neighbors_of_all). A self-loop counts once. O(labels).
    ///
    /// # Errors
    /// The errors of every [read](Self).
    pub fn degree_of_all<'a>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        direction: Direction,
    ) -> Result<Option<usize>> {
        let Some(id) = self.vertex_id(key)? else { return Ok(None) };
        let degrees = self.label_ids().map(|label| self.degree_by_label(label, id, direction));
        degrees.sum::<Result<usize>>().map(Some)
    }

    /// Returns the edges of all labels at a vertex with their properties, otherwise like
    /// [`neighbors_of_all`](Self::neighbors_of_all).
    ///
    /// # Errors
    /// The errors of every [read](Self).
    pub fn edges_of_all<'a>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        direction: Direction,
    ) -> Result<Option<Vec<(LabelId, EdgeOf)>>> {
        let Some(id) = self.vertex_id(key)? else { return Ok(None) };
        let mut edges = Vec::new();
        for label in self.label_ids() {
            let of_label = self.edges_by_label(label, id, direction)?;
            edges.extend(of_label.into_iter().map(|edge| (label, edge)));
        }
        edges.sort_unstable_by(|(a_label, a), (b_label, b)| {
            (&a.key, a_label, a.rank).cmp(&(&b.key, b_label, b.rank))
        });
        Ok(Some(edges))
    }
}
