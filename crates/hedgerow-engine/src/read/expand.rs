//! The chosen edges of given vertices with their properties, one vertex at a time.

use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, RowRef, VertexId, VertexKeyRef};
use hedgerow_mem::ItemRef;

use crate::read::many::MissingVertex;
use crate::read::rows::EdgeRow;
use crate::read::selection_ref::{EdgeSelectionRef, Lists};
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::{ChosenEdges, ChosenLabel, EdgeDirection};

/// The chosen edges of given vertices. The caller pulls one vertex at a time. Made by [`Snapshot::expand`].
/// While it exists, the store keeps the versions of its snapshot. Between two calls it holds no list. A clone
/// shares the vertices, and continues at the same place.
#[derive(Clone)]
pub struct Expansion {
    snapshot: Snapshot,
    /// The labels that the selection names, or all.
    labels: Vec<LabelId>,
    chosen: ChosenEdges,
    /// The vertices; `None` for a key that names none.
    vertices: Arc<[Option<VertexId>]>,
    next: usize,
}

impl Snapshot {
    /// Looks up vertices, and begins a read of the chosen edges of each of them, in the order of the keys. A
    /// repeated key is read again. Reads no edges yet. O(keys), in parallel on the current rayon pool if
    /// there are many.
    ///
    /// ```
    /// use hedgerow::{Direction, Graph, MissingVertex};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edges(&[(1, 2), (1, 3), (4, 1)])?;
    /// let snapshot = graph.snapshot()?;
    /// let mut edges = snapshot.expand(&[1u64, 4], Direction::Out, MissingVertex::Refuse)?;
    /// let mut found = Vec::new();
    /// while edges.next_vertex(|edge| found.push((edge.src(), edge.dst())))? {}
    /// assert_eq!(found.len(), 3);
    /// assert_eq!(snapshot.vertex_key(found[2].0)?, Some(4.into()));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`degrees`](Self::degrees).
    pub fn expand<'a, 's, K: Into<VertexKeyRef<'a>> + Copy + Sync>(
        &self,
        keys: &[K],
        edges: impl Into<EdgeSelectionRef<'s>>,
        missing: MissingVertex,
    ) -> Result<Expansion> {
        let edges = edges.into();
        let (lists, selection) = (self.lists(edges)?, edges.selection());
        let labels = selection.labels(&self.schema_seen())?;
        let vertices = self.vertices_of_lists(&lists, keys, missing)?.into();
        let chosen = match lists {
            Lists::Chosen(chosen) => chosen.edges,
            Lists::OfLabel(..) | Lists::OfAll(_) => selection.resolve_lists(self)?,
        };
        Ok(Expansion { snapshot: self.clone(), labels, chosen, vertices, next: 0 })
    }
}

impl Expansion {
    /// Returns the snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Returns the only label of the selection that has edges, or its first label if none has. Costs as
    /// [`EdgeSelection::only_label`](crate::EdgeSelection::only_label).
    ///
    /// # Errors
    /// [`ArgumentError::SeveralLabels`](crate::ArgumentError::SeveralLabels), and the errors of every
    /// [read](Snapshot).
    pub fn only_label(&self) -> Result<LabelId> {
        match self.labels[..] {
            [label] => Ok(label),
            ref labels => self.snapshot.only_label_of(labels),
        }
    }

    /// Calls `f` with the chosen edges of the next vertex, which has none if its key names no vertex: label
    /// after label, outgoing edges before incoming ones, each ascending by the other end and rank. A
    /// self-loop is passed once. In a directed graph source and destination are those of the edge, in an
    /// undirected one the vertex is the source. False if no vertex was left.
    ///
    /// O(degree) for outgoing edges of a directed graph; other lists lack properties, so each of their edges
    /// takes one more look-up, in O(log degree of its other end). In a graph without incoming lists
    /// ([`Options::reverse`](crate::Options::reverse)) incoming edges are searched for, in O(vertices log
    /// degree) for each vertex.
    ///
    /// `f` may run while the list is held, so it must not read from the store.
    ///
    /// # Errors
    /// The errors of every [read](Snapshot). `f` may have been called with some edges before an error.
    pub fn next_vertex(&mut self, mut f: impl FnMut(EdgeRow<'_>)) -> Result<bool> {
        self.snapshot.engine().check_owner()?;
        let Some(&vertex) = self.vertices.get(self.next) else { return Ok(false) };
        self.next += 1;
        let Some(id) = vertex else { return Ok(true) };
        for label in &self.chosen.labels {
            for &direction in self.chosen.directions() {
                let again = direction == Direction::In && self.chosen.direction == EdgeDirection::Both;
                if direction == Direction::Out && self.snapshot.engine().catalog.config.directed {
                    // This list has the properties of its edges.
                    self.snapshot.for_each_item(label.label, id, direction, |item| {
                        pass(label, id, &item, &mut f);
                    })?;
                } else {
                    self.pass_copies(label, (id, direction), again, &mut f)?;
                }
            }
        }
        Ok(true)
    }

    /// Passes edges whose list may lack properties, which are read from the first copy of each edge.
    fn pass_copies(
        &self,
        label: &ChosenLabel,
        (id, direction): (VertexId, Direction),
        again: bool,
        f: &mut impl FnMut(EdgeRow<'_>),
    ) -> Result<()> {
        let placement = self.snapshot.engine().catalog.placement();
        let directed = self.snapshot.engine().catalog.config.directed;
        let mut found = Vec::new();
        self.snapshot.for_each_end(label.label, id, direction, |other, rank| {
            if label.has_rank(rank) && !(again && other == id) {
                found.push((other, rank));
            }
        })?;
        for (other, rank) in found {
            let (first, second) = placement.ends_of_copy(id, other, direction);
            let item = self.snapshot.item_by_id(label.label, first, second, rank)?;
            // The list that has this edge is of the same snapshot as its first copy.
            let Some((weight, row)) = item else { continue };
            let row = RowRef::from(row.as_ref());
            let (src, dst) = if directed { (first, second) } else { (id, other) };
            pass(label, src, &ItemRef { dst, rank, weight, row }, f);
        }
        Ok(())
    }
}

/// Passes an edge if it is chosen.
fn pass(label: &ChosenLabel, src: VertexId, item: &ItemRef<'_>, f: &mut impl FnMut(EdgeRow<'_>)) {
    if label.has_rank(item.rank) && label.passes(item) {
        f(EdgeRow::of(label, src, *item));
    }
}
