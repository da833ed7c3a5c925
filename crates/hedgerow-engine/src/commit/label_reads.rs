//! Reads of a transaction over the edges of all labels.
//!
//! Such a read also depends on the absence of edges in other labels. So the read set records the number of
//! labels at the time of the read, and validation checks the labels that were defined later
//! ([`ReadSet::prepare`](super::validate::ReadSet::prepare)).

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, VertexKey, VertexKeyRef};

use super::labelled_ops::EdgeRef;
use super::names::TxnKey;
use super::overlay::Between;
use super::txn::WriteTxn;
use crate::read::all_labels::EdgePattern;

impl WriteTxn {
    /// True if one of these edges exists. Reads them one by one, up to the first that exists. O(labels * log
    /// degree). If `edges` names no rank, a `multi` label adds one step for each edge from the one vertex to
    /// the other.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn contains_any_edge(&mut self, edges: EdgePattern<'_>) -> Result<bool> {
        let label = edges.label.map(|label| self.label(label)).transpose()?;
        let (src, dst) = self.engine.catalog.ends_of(label, edges.src, edges.dst)?;
        let (src, dst) = (self.key(src)?, self.key(dst)?);
        if let Some(label) = label {
            return self.reads_edge_between(label, src, dst, edges.rank);
        }
        let labels = self.labels_to_read();
        for label in 0..labels {
            if self.reads_edge_between(LabelId(label), src, dst, edges.rank)? {
                return Ok(true);
            }
        }
        let hidden = self.own().is_some_and(|own| own.hides(src) || own.hides(dst));
        if !hidden && let Some((src, dst)) = self.base_ends(src, dst)? {
            self.reads.edge_of_all(labels, src, dst);
        }
        Ok(false)
    }

    /// Returns the edges of all labels at a vertex: other endpoint, label and rank, sorted by all three, or
    /// `None` if there is no such vertex. A neighbour has one entry for each edge to it. Reads the adjacency
    /// of all labels. O(labels + degree log degree).
    ///
    /// # Errors
    /// Those of every [method](Self).
    pub fn neighbors_of_all<'a>(
        &mut self,
        key: impl Into<VertexKeyRef<'a>>,
        direction: Direction,
    ) -> Result<Option<Vec<(VertexKey, LabelId, u64)>>> {
        let key = self.key(key.into())?;
        let labels = self.labels_to_read();
        let mut found = Vec::new();
        for label in (0..labels).map(LabelId) {
            let Some(of_label) = self.reads_adjacency_of(label, key, direction)? else { return Ok(None) };
            found.extend(of_label.into_keys().map(|(other, rank)| (other, label, rank)));
        }
        let hidden = self.own().is_some_and(|own| own.hides(key));
        if !hidden && let Some(id) = self.base_id(key)? {
            let base = self.base();
            // If the read had to search for edges, the whole graph counts as read.
            let (searched, direction) = (base.has_to_search(direction), base.stored(direction));
            if !searched {
                self.reads.adjacency_of_all(labels, id, direction);
            }
        }
        found.sort_unstable();
        Ok(Some(found))
    }

    /// Counts the edges of all labels at a vertex; `None` if there is no such vertex. It calls
    /// [`neighbors_of_all`](Self::neighbors_of_all), with its costs and reads: O(labels + degree log degree).
    ///
    /// # Errors
    /// Those of every [method](Self).
    pub fn degree_of_all<'a>(
        &mut self,
        key: impl Into<VertexKeyRef<'a>>,
        direction: Direction,
    ) -> Result<Option<usize>> {
        Ok(self.neighbors_of_all(key, direction)?.map(|found| found.len()))
    }

    /// Returns the number of labels that a read of all labels visits. Takes the snapshot before it counts
    /// them: a label that is defined later has its first edge after the snapshot, where validation finds it.
    pub(super) fn labels_to_read(&mut self) -> u16 {
        self.base();
        self.engine.catalog.defined_labels().end
    }

    /// True if there is an edge of the label between the vertices, of this rank or of any.
    fn reads_edge_between(
        &mut self,
        label: LabelId,
        src: TxnKey,
        dst: TxnKey,
        rank: Option<u64>,
    ) -> Result<bool> {
        if let Some(rank) = rank {
            return Ok(self.reads_item(EdgeRef { label, src, dst, rank })?.is_some());
        }
        let gone = match self.own().map(|own| own.between(label, src, dst)) {
            Some(Between::Exists) => return Ok(true),
            Some(Between::Nothing) => return Ok(false),
            Some(Between::AllBut(gone)) => gone,
            None => Default::default(),
        };
        let Some((src, dst)) = self.base_ends(src, dst)? else { return Ok(false) };
        self.reads.edge(label, src, dst);
        self.base().has_edge_with_rank(label, src, dst, |rank| !gone.contains(&rank))
    }
}
