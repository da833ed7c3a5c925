//! The chosen edges of given vertices with their properties, one vertex at a time.

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, RowRef, VertexId};
use hedgerow_mem::ItemRef;

use crate::read::rows::EdgeRow;
use crate::read::selection_ref::EdgeSelectionRef;
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::{ChosenEdges, ChosenLabel, EdgeDirection};

/// The chosen edges of given vertices. The caller pulls one vertex at a time. Made by [`Snapshot::expand`].
/// While it exists, the store keeps the versions of its snapshot. Between two calls it holds no list.
pub struct Expansion {
    snapshot: Snapshot,
    chosen: ChosenEdges,
    vertices: std::vec::IntoIter<VertexId>,
}

impl Snapshot {
    /// Begins a read of the chosen edges of given vertices, in the order of these vertices; a repeated vertex
    /// is read again. Reads nothing yet: O(labels). An id that names no vertex has no edges.
    ///
    /// ```
    /// use hedgerow::{Direction, Graph};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edges(&[(1, 2), (1, 3), (4, 1)])?;
    /// let snapshot = graph.snapshot()?;
    /// let one = snapshot.vertex_id(1)?.expect("there is a vertex 1");
    /// let (mut edges, mut found) = (snapshot.expand(vec![one], Direction::Out)?, Vec::new());
    /// while edges.next_vertex(|edge| found.push((edge.src(), edge.dst())))? {}
    /// assert_eq!(found.len(), 2);
    /// assert!(found.iter().all(|(src, _)| *src == one));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`view`](Self::view).
    pub fn expand<'s>(
        &self,
        vertices: Vec<VertexId>,
        edges: impl Into<EdgeSelectionRef<'s>>,
    ) -> Result<Expansion> {
        let chosen = edges.into().selection().resolve_lists(self)?;
        Ok(Expansion { snapshot: self.clone(), chosen, vertices: vertices.into_iter() })
    }
}

impl Expansion {
    /// Calls `f` with the chosen edges of the next vertex: label after label, outgoing edges before incoming
    /// ones, each ascending by the other end and rank. A self-loop is passed once. In a directed graph source
    /// and destination are those of the edge, in an undirected one the vertex is the source. False if no
    /// vertex was left.
    ///
    /// O(degree) for outgoing edges of a directed graph; other lists lack properties, so each of their edges
    /// takes one more look-up, in O(log degree of its other end).
    ///
    /// # Errors
    /// The errors of every [read](Snapshot). `f` may have been called with some edges before an error.
    pub fn next_vertex(&mut self, mut f: impl FnMut(EdgeRow<'_>)) -> Result<bool> {
        self.snapshot.engine().check_owner()?;
        let Some(id) = self.vertices.next() else { return Ok(false) };
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
