//! Reads of a snapshot over the edges of all labels, and the labels that have edges.

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_catalog::schema::LabelRef;
use hedgerow_core::{Direction, LabelId, SubgraphId, VertexId, VertexKeyRef};
use hedgerow_pager::pager::pages::Wanted;

use crate::read::selection::EdgeSelection;
use crate::read::snapshot::Snapshot;
use crate::state::edge_key::EdgeKey;

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
/// assert!(tx.contains_edge((1, 2))?);
/// tx.commit()?;
/// let snapshot = graph.snapshot()?;
/// assert!(snapshot.contains_edge(EdgePattern::between(1, 2).label("calls"))?);
/// assert!(!snapshot.contains_edge(EdgePattern::between(1, 2).label(""))?);
/// assert!(!snapshot.contains_edge(EdgePattern::between(1, 2).rank(0))?);
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

impl<'a, S, D> From<(S, D)> for EdgePattern<'a>
where
    S: Into<VertexKeyRef<'a>>,
    D: Into<VertexKeyRef<'a>>,
{
    #[inline]
    fn from((src, dst): (S, D)) -> EdgePattern<'a> {
        EdgePattern::between(src, dst)
    }
}

impl<'a> From<EdgeKey<'a>> for EdgePattern<'a> {
    fn from(edge: EdgeKey<'a>) -> EdgePattern<'a> {
        EdgePattern { src: edge.src, dst: edge.dst, label: Some(edge.label), rank: Some(edge.rank) }
    }
}

impl Snapshot {
    /// True if an edge with this pattern exists: `(src, dst)` is an edge of any label and rank between two
    /// vertices, an [`EdgeKey`] is just that edge, an [`EdgePattern`] names what it names. O(labels * log
    /// degree); in a `multi` label without a named rank also one step for each edge between the two vertices.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`].
    #[inline]
    pub fn contains_edge<'a>(&self, edges: impl Into<EdgePattern<'a>>) -> Result<bool> {
        let edges = edges.into();
        if edges.label.is_none() && edges.rank.is_none() && !self.engine().pager.labels.has_edges() {
            return match self.look_up_edge(edges.src, edges.dst)? {
                [Some(src), Some(dst)] => self.contains_edge_by_id(src, dst),
                _ => Ok(false),
            };
        }
        self.contains_pattern(edges)
    }

    fn contains_pattern(&self, edges: EdgePattern<'_>) -> Result<bool> {
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

    /// Returns the labels that were defined when the snapshot was taken.
    pub(super) fn label_ids(&self) -> impl Iterator<Item = LabelId> + use<> {
        let schema = self.engine().catalog.schema.load();
        let defined = schema.labels().partition_point(|label| label.defined() <= self.timestamp());
        (0..defined as u16).map(LabelId)
    }

    /// True if labels other than the default one were defined when the snapshot was taken, with or without
    /// edges. O(1).
    #[inline]
    pub(crate) fn has_labels(&self) -> bool {
        let schema = self.engine().catalog.schema.load();
        schema.labels().get(1).is_some_and(|label| label.defined() <= self.timestamp())
    }

    /// Does what [`EdgeSelection::labels_with_edges`] says, for all labels.
    pub(crate) fn labels_with_edges(&self) -> Result<Vec<LabelId>> {
        self.used_labels().collect()
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
}

impl EdgeSelection<'_> {
    /// Returns the labels of the selection that have edges in a snapshot, by ascending id; its ranks and
    /// conditions do not matter. O(1) if no label but the default one is defined; else O(subgraphs) for each
    /// label without edges, and less for the others.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`]; the errors of every [read](Snapshot).
    pub fn labels_with_edges(&self, snapshot: &Snapshot) -> Result<Vec<LabelId>> {
        if !self.names_labels() {
            return snapshot.labels_with_edges();
        }
        snapshot.engine().check_owner()?;
        let mut labels = Vec::new();
        for label in self.labels(&snapshot.schema_seen())? {
            if snapshot.has_edges(label)? {
                labels.push(label);
            }
        }
        Ok(labels)
    }

    /// Returns the only label of the selection that has edges in a snapshot, or its first label if none has.
    /// Costs as [`labels_with_edges`](Self::labels_with_edges).
    ///
    /// # Errors
    /// [`ArgumentError::SeveralLabels`], which lists them, if edges have different labels;
    /// [`ArgumentError::NoSuchLabel`]; [`StateError::Forked`](crate::StateError::Forked) in a forked child.
    pub fn only_label(&self, snapshot: &Snapshot) -> Result<LabelId> {
        snapshot.engine().check_owner()?;
        match self.names_labels() {
            true => snapshot.only_label_of(&self.labels(&snapshot.schema_seen())?),
            false => snapshot.only_of(snapshot.used_labels(), LabelId::DEFAULT),
        }
    }
}
