//! Reads of the default label: by vertex id, the shortest reads of a snapshot, and the stored weights.

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, VertexId, VertexKey, VertexKeyRef};
use hedgerow_mem::View;

use crate::read::neighbors::NeighborCursor;
use crate::read::snapshot::Snapshot;

/// Reads of the edges of the default label. Most of them take vertex ids, for loops that do little else: they
/// look up no key, no label and no selection. Two take keys and return stored weights, which only edges of
/// this label have. Made by [`Snapshot::default_label`].
///
/// If the snapshot has made a [view](Self::view), they read it: a read of a list in the view takes no atomic
/// operation, so the cache misses of consecutive reads overlap. [After many
/// reads](crate::Options::views_by_reads) a snapshot makes the view itself.
///
/// ```
/// use hedgerow::{Direction, Graph};
///
/// let graph = Graph::in_memory()?;
/// graph.insert_edges(&[(1, 2), (1, 3)])?;
/// let snapshot = graph.snapshot()?;
/// let (edges, id) = (snapshot.default_label(), snapshot.vertex_id(1)?.expect("there is a vertex 1"));
/// let mut keys = Vec::new();
/// edges.for_each_neighbor(id, Direction::Out, |other, _weight| keys.push(other))?;
/// assert_eq!(edges.degree(id, Direction::Out)?, keys.len());
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct DefaultLabel<'a>(&'a Snapshot);

impl Snapshot {
    /// Returns the reads of the default label: those by vertex id, and those of stored weights. O(1).
    #[inline]
    pub fn default_label(&self) -> DefaultLabel<'_> {
        DefaultLabel(self)
    }
}

impl<'a> DefaultLabel<'a> {
    /// Returns the number of edges at a vertex in `direction`; 0 if there is no such vertex. A self-loop
    /// counts once. O(1), and a search of the short delta of 64 vertices.
    ///
    /// # Errors
    /// The errors of every [read](Snapshot).
    #[inline]
    pub fn degree(self, id: VertexId, direction: Direction) -> Result<usize> {
        self.0.degree_by_id(id, direction)
    }

    /// True if the edge exists. O(log degree).
    ///
    /// # Errors
    /// The errors of every [read](Snapshot).
    #[inline]
    pub fn contains_edge(self, src: VertexId, dst: VertexId) -> Result<bool> {
        self.0.contains_edge_by_id(src, dst)
    }

    /// Returns the weight of the edge if it exists; 1 in a graph without weights. O(log degree).
    ///
    /// # Errors
    /// The errors of every [read](Snapshot).
    pub fn weight(self, src: VertexId, dst: VertexId) -> Result<Option<f64>> {
        self.0.weight_by_id(src, dst)
    }

    /// Returns the weight of the edge between two keys if it exists; 1 in a graph without weights. O(log
    /// degree).
    ///
    /// # Errors
    /// The errors of every [read](Snapshot).
    pub fn weight_between<'k>(
        self,
        src: impl Into<VertexKeyRef<'k>>,
        dst: impl Into<VertexKeyRef<'k>>,
    ) -> Result<Option<f64>> {
        match self.0.look_up_edge(src.into(), dst.into())? {
            [Some(src), Some(dst)] => self.0.weight_by_id(src, dst),
            _ => Ok(None),
        }
    }

    /// Returns the neighbors and the weights in `direction`, sorted by key, or `None` if there is no such
    /// vertex. O(degree log degree).
    ///
    /// # Errors
    /// The errors of every [read](Snapshot).
    pub fn weighted_neighbors<'k>(
        self,
        key: impl Into<VertexKeyRef<'k>>,
        direction: Direction,
    ) -> Result<Option<Vec<(VertexKey, f64)>>> {
        let (snapshot, engine) = (self.0, self.0.engine());
        let Some(id) = snapshot.vertex_id(key)? else { return Ok(None) };
        let mut found = engine.keys.telling_keys(&engine.pager, |told| {
            let mut found = Vec::new();
            snapshot.for_each_neighbor(id, direction, |v, w| found.push((told.of(v), w)))?;
            Ok(found)
        })?;
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(Some(found))
    }

    /// Calls `f` with each neighbor of `id` and the weight of the edge, by ascending vertex id. O(degree),
    /// and a search of the short delta of 64 vertices.
    ///
    /// # Errors
    /// The errors of every [read](Snapshot). `f` may have been called with some neighbors before an error.
    pub fn for_each_neighbor(
        self,
        id: VertexId,
        direction: Direction,
        f: impl FnMut(VertexId, f64),
    ) -> Result<()> {
        self.0.for_each_neighbor(id, direction, f)
    }

    /// Calls `f` with the neighbors in one or more stretches, in no particular order; otherwise like
    /// [`for_each_neighbor`](Self::for_each_neighbor). Each stretch comes with the weights of its edges, or
    /// without weights in an unweighted graph. Faster for callers that can use slices, such as sums and
    /// searches.
    ///
    /// # Errors
    /// The errors of every [read](Snapshot). `f` may have been called with some neighbors before an error.
    pub fn visit_neighbors(
        self,
        id: VertexId,
        direction: Direction,
        f: impl FnMut(&[VertexId], &[f64]),
    ) -> Result<()> {
        self.0.visit_neighbors(id, direction, f)
    }

    /// Returns a cursor that reads the lists of many vertices, one after another. The cursor reads the view
    /// if there is one now. O(1).
    pub fn neighbor_cursor(self, direction: Direction) -> NeighborCursor<'a> {
        self.0.neighbor_cursor(direction)
    }

    /// Returns all vertices and the edges of the default label for kernels, like
    /// [`Snapshot::view`], as a reference to the view that the snapshot keeps while it lives. Snapshots of
    /// one timestamp share it.
    ///
    /// It is made from the view that was requested last, if there is one. This takes O(subgraphs), and
    /// O(delta entries) of subgraphs that changed since; in parallel on the current rayon pool. Lists with a
    /// large share of unmerged entries are copied, and `stats` counts them; settled lists never are.
    ///
    /// # Errors
    /// [`StateError::Forked`](crate::StateError::Forked) in a forked child, if the view was not made before
    /// the fork; and the errors of every [read](Snapshot).
    #[inline]
    pub fn view(self) -> Result<&'a View> {
        self.0.default_view()
    }

    /// Permits or forbids that reads of the snapshot and its clones make the view. Overrides
    /// [`Options::views_by_reads`](crate::Options::views_by_reads), which applies to all snapshots. Useful
    /// for a snapshot whose reads must not stall. O(1).
    pub fn set_views_by_reads(self, may_make: bool) {
        self.0.set_views_by_reads(may_make);
    }

    /// Calls `f` with source, destination and weight of every edge; in an undirected graph once per edge.
    /// Makes the view if the memory limit has room for it; else reads the edges by the page, without keeping
    /// them. O(edges).
    ///
    /// # Errors
    /// The errors of [`view`](Self::view), except the memory limit.
    pub fn for_each_edge(self, f: impl FnMut(VertexId, VertexId, f64)) -> Result<()> {
        self.0.for_each_default_edge(f)
    }
}
