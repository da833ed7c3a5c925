//! Reads of a transaction over chosen edges.
//!
//! A read of the edges of all labels also depends on the absence of edges in other labels. So the read set
//! records the number of labels at the time of the read, and validation checks the labels that were defined
//! later ([`ReadSet::prepare`](super::validate::ReadSet::prepare)).

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, Row, VertexKey, VertexKeyRef};

use super::names::TxnKey;
use super::op::EdgeRef;
use super::overlay::Between;
use super::txn::WriteTxn;
use crate::read::all_labels::EdgePattern;
use crate::read::selection::EdgeSelection;
use crate::read::selection_ref::EdgeSelectionRef;
use crate::state::chosen_edges::{ChosenLabel, EdgeDirection};

/// Other endpoint, label and rank of an edge at a vertex.
type Listed = (VertexKey, LabelId, u64);

impl WriteTxn {
    /// True if one of these edges exists, as [`Snapshot::contains_edge`](crate::Snapshot::contains_edge)
    /// says. Reads them one by one, up to the first that exists. O(labels * log degree). If `edges` names no
    /// rank, a `multi` label adds one step for each edge from the one vertex to the other.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn contains_edge<'a>(&mut self, edges: impl Into<EdgePattern<'a>>) -> Result<bool> {
        let edges = edges.into();
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

    /// Returns the other endpoints of the chosen edges at a vertex, sorted by key, or `None` if there is no
    /// such vertex. A neighbor has one entry for each edge to it. Reads the adjacency of the labels; if edges
    /// are chosen by properties, also these edges. O(labels + degree log degree).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel), and the errors of
    /// [`Snapshot::neighbors`](crate::Snapshot::neighbors).
    pub fn neighbors<'a, 's>(
        &mut self,
        key: impl Into<VertexKeyRef<'a>>,
        edges: impl Into<EdgeSelectionRef<'s>>,
    ) -> Result<Option<Vec<VertexKey>>> {
        let found = self.edge_list(key, edges)?;
        Ok(found.map(|found| found.into_iter().map(|(other, ..)| other).collect()))
    }

    /// Counts the chosen edges at a vertex; `None` if there is no such vertex. This is the length of
    /// [`neighbors`](Self::neighbors), and reads the same. O(labels + degree log degree).
    ///
    /// # Errors
    /// The errors of [`neighbors`](Self::neighbors).
    pub fn degree<'a, 's>(
        &mut self,
        key: impl Into<VertexKeyRef<'a>>,
        edges: impl Into<EdgeSelectionRef<'s>>,
    ) -> Result<Option<usize>> {
        Ok(self.edge_list(key, edges)?.map(|found| found.len()))
    }

    /// Returns other endpoint, label and rank of the chosen edges at a vertex, sorted by all three, otherwise
    /// like [`neighbors`](Self::neighbors).
    ///
    /// # Errors
    /// The errors of [`neighbors`](Self::neighbors).
    pub fn edge_list<'a, 's>(
        &mut self,
        key: impl Into<VertexKeyRef<'a>>,
        edges: impl Into<EdgeSelectionRef<'s>>,
    ) -> Result<Option<Vec<Listed>>> {
        let (key, edges) = (key.into(), edges.into());
        let mut found = match edges.whole_one_way(&self.engine.catalog.config) {
            Some((Some(label), direction)) => {
                let label = self.label(label)?;
                let key = self.engine.catalog.end_of(label, key, direction)?;
                let key = self.key(key)?;
                self.reads_list(label, key, direction)?
            }
            Some((None, direction)) => {
                let key = self.key(key)?;
                self.reads_lists_of_all(key, direction)?
            }
            None => self.reads_chosen(&edges.selection(), key)?,
        };
        if let Some(found) = &mut found {
            found.sort_unstable();
        }
        Ok(found)
    }

    fn reads_list(
        &mut self,
        label: LabelId,
        key: TxnKey,
        direction: Direction,
    ) -> Result<Option<Vec<Listed>>> {
        let found = self.reads_adjacency_of(label, key, direction)?;
        Ok(found.map(|found| found.into_keys().map(|(other, rank)| (other, label, rank)).collect()))
    }

    fn reads_lists_of_all(&mut self, key: TxnKey, direction: Direction) -> Result<Option<Vec<Listed>>> {
        let labels = self.labels_to_read();
        let mut found = Vec::new();
        for label in (0..labels).map(LabelId) {
            let Some(of_label) = self.reads_list(label, key, direction)? else { return Ok(None) };
            found.extend(of_label);
        }
        self.note_lists_of_all(labels, key, direction)?;
        Ok(Some(found))
    }

    /// Records that the edges of the vertex in all labels were read, also in labels that are defined later.
    fn note_lists_of_all(&mut self, labels: u16, key: TxnKey, direction: Direction) -> Result<()> {
        let hidden = self.own().is_some_and(|own| own.hides(key));
        if !hidden && let Some(id) = self.base_id(key)? {
            let base = self.base();
            // If the read had to search for edges, the whole graph counts as read.
            let (searched, direction) = (base.has_to_search(direction), base.stored(direction));
            if !searched {
                self.reads.adjacency_of_all(labels, id, direction);
            }
        }
        Ok(())
    }

    /// Reads the lists of a selection of several labels, of ranks, of properties, or in both directions.
    /// Every label of the selection counts as read: one without the property may get it before the commit.
    /// With a condition each listed edge counts as read too, since the list of an incoming edge does not
    /// change with its properties.
    fn reads_chosen(
        &mut self,
        selection: &EdgeSelection<'_>,
        key: VertexKeyRef<'_>,
    ) -> Result<Option<Vec<Listed>>> {
        for label in selection.named_labels() {
            self.label(label)?;
        }
        let all = self.labels_to_read();
        let schema = self.engine.catalog.schema.load_full();
        let labels = selection.labels(&schema)?;
        let named = selection.named(&schema)?;
        let key = selection.end_of_labels(&self.engine.catalog, &schema, named.as_deref(), key)?;
        let key = self.key(key)?;
        // Another commit may define the property that no label has.
        let chosen = selection.chosen_labels(&self.engine, &schema).inspect_err(|_| self.reads.whole())?;
        let directions: &[Direction] = match selection.stored_direction(&self.engine.catalog.config) {
            EdgeDirection::Out => &[Direction::Out],
            EdgeDirection::In => &[Direction::In],
            EdgeDirection::Both => &[Direction::Out, Direction::In],
        };
        let mut found = Vec::new();
        for label in labels {
            let chosen = chosen.iter().find(|chosen| chosen.label == label);
            for &direction in directions {
                let Some(of_label) = self.reads_list(label, key, direction)? else { return Ok(None) };
                let again = direction == Direction::In && directions.len() == 2;
                for edge in of_label {
                    let other = self.key(edge.0.as_ref())?;
                    // A self-loop is in both lists.
                    let is_new = !(again && other == key);
                    let ends = if direction == Direction::Out { (key, other) } else { (other, key) };
                    if is_new && self.reads_whether_chosen(selection, chosen, ends, &edge)? {
                        found.push(edge);
                    }
                }
            }
        }
        if !selection.names_labels() {
            for &direction in directions {
                self.note_lists_of_all(all, key, direction)?;
            }
        }
        Ok(Some(found))
    }

    /// True if a listed edge is among the chosen edges of its label. Reads the edge if the selection has
    /// conditions, also in a label in which no edge meets them now.
    fn reads_whether_chosen(
        &mut self,
        selection: &EdgeSelection<'_>,
        chosen: Option<&ChosenLabel>,
        (src, dst): (TxnKey, TxnKey),
        &(_, label, rank): &Listed,
    ) -> Result<bool> {
        let has_rank = chosen.is_some_and(|chosen| chosen.has_rank(rank));
        if !selection.has_conditions() {
            return Ok(has_rank);
        }
        let item = self.reads_item(EdgeRef { label, src, dst, rank })?;
        let passes = |(chosen, (weight, row)): (&ChosenLabel, (f64, Option<Row>))| {
            chosen.passes_row(weight, row.as_ref())
        };
        Ok(has_rank && chosen.zip(item).is_some_and(passes))
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
            return self.reads_existence(EdgeRef { label, src, dst, rank });
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
