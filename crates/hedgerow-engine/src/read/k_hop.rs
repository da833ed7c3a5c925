//! The neighborhood of some vertices: the vertices within some hops of them.
//!
//! The search goes level by level. It reads the lists of one level one after another, and prefetches later
//! ones. The vertices that it has not reached before form the next level. Its memory is in proportion to the
//! reached vertices.

use std::ops::Range;

use hedgerow_catalog::error::{ArgumentError, Result, StateError};
use hedgerow_core::{Direction, KeyColumn, LabelId, LocalVertex, Resident, Topology, VertexId, VertexKeyRef};
use hedgerow_mem::{Hold, Subgraph, SubgraphTable, View};

use crate::read::many::MissingVertex;
use crate::read::selection::EdgeSelection;
use crate::read::selection_ref::EdgeSelectionRef;
use crate::read::snapshot::Snapshot;
use crate::read::tiered::{KernelView, TieredView};
use crate::state::chosen_edges::ChosenEdges;

mod reached;

use reached::{End, Reached};

/// The number of vertices by which each step of the way to a list is ahead of the next step.
const STEP: usize = 8;

/// Options of [`Snapshot::k_hop`]: its distance, and the conditions that end it.
#[derive(Clone, Copy)]
#[must_use]
pub struct KHopOptions<'f> {
    hops: u32,
    limit: u64,
    is_partial: bool,
    missing: MissingVertex,
    until: Option<&'f dyn Fn() -> bool>,
}

impl<'f> KHopOptions<'f> {
    /// Returns options for a search along at most `hops` edges.
    pub fn new(hops: u32) -> KHopOptions<'f> {
        KHopOptions { hops, limit: u64::MAX, is_partial: false, missing: MissingVertex::Refuse, until: None }
    }

    /// Limits the result to this many vertices, sources included. If a neighborhood is larger, the search
    /// fails once it reaches one vertex more. Without a limit the search returns all vertices.
    pub fn limit(mut self, vertices: u64) -> KHopOptions<'f> {
        self.limit = vertices;
        self
    }

    /// Makes the search stop at the limit without an error: the result has the vertices that the search
    /// reached first, and its field [`more`](Neighborhood::more) is true.
    pub fn partial(mut self, partial: bool) -> KHopOptions<'f> {
        self.is_partial = partial;
        self
    }

    /// Sets the treatment of a source that names no vertex: by default an error, else the search ignores it.
    pub fn missing(mut self, missing: MissingVertex) -> KHopOptions<'f> {
        self.missing = missing;
        self
    }

    /// Calls `until` before each level and about every 100,000 edges, and fails with
    /// [`StateError::Cancelled`] once `until` returns true.
    /// A kernel's flag is passed as `&|| cancel.is_cancelled()`.
    pub fn until(mut self, until: &'f dyn Fn() -> bool) -> KHopOptions<'f> {
        self.until = Some(until);
        self
    }
}

/// The vertices within some hops of others, level by level.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Neighborhood {
    /// The keys of the vertices, each once: by ascending distance, then by ascending key.
    pub vertices: KeyColumn,
    /// The least number of edges from a source to each vertex; 0 for the sources.
    pub distances: Vec<u32>,
    /// True if the search stopped [at its limit](KHopOptions::partial). The result then has all vertices
    /// closer than its last vertex, and some vertices at the distance of the last; it is not specified which.
    pub more: bool,
}

impl Snapshot {
    /// Returns the vertices within some hops of `sources` over chosen edges (their k-hop neighborhood), with
    /// their distances. A repeated source counts once.
    ///
    /// Runs on the calling thread. O(edges of the vertices that are reached in fewer hops + vertices log
    /// vertices), and memory for the reached vertices: neither grows with the graph. If the neighborhood is
    /// most of the graph, the kernel `bfs` is faster.
    ///
    /// Once a level has as many vertices as there are subgraphs, lists are read from the
    /// [view](Self::view), which the call makes and keeps (in parallel on the current rayon pool).
    /// In a graph without incoming lists a search against the edges always reads the view. If the memory
    /// limit has no room for the view, lists are read [by the page](TieredView::new).
    ///
    /// ```
    /// use hedgerow::{Direction, Graph, KHopOptions, KeyColumn};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edges(&[(1, 3), (1, 2), (3, 4), (4, 5)])?;
    /// let near = graph.snapshot()?.k_hop(&[1u64], Direction::Out, KHopOptions::new(2))?;
    /// assert_eq!(near.vertices, KeyColumn::U64(vec![1, 2, 3, 4]));
    /// assert_eq!(near.distances, [0, 1, 1, 2]);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError::TooLarge`] if there are more vertices than the limit and the options do not allow a
    /// [partial result](KHopOptions::partial); [`ArgumentError::NoSuchVertex`] if the options refuse unknown
    /// sources; [`StateError::Cancelled`] if `until` returned true; and the errors of
    /// [`view`](Self::view).
    pub fn k_hop<'a, 's, K: Into<VertexKeyRef<'a>> + Copy>(
        &self,
        sources: &[K],
        edges: impl Into<EdgeSelectionRef<'s>>,
        options: KHopOptions<'_>,
    ) -> Result<Neighborhood> {
        let selection = &*edges.into().selection();
        let chosen = selection.resolve_lists(self)?;
        let mut reached = Reached::new(self.engine().keys.ids.bound(), options.limit, options.until);
        let schema = self.schema_seen();
        let named = selection.named(&schema)?;
        for (row, &key) in sources.iter().enumerate() {
            let end =
                selection.end_of_labels(&self.engine().catalog, &schema, named.as_deref(), key.into())?;
            match self.vertex_id(end)? {
                Some(id) => reached.take(&[id]),
                None if options.missing == MissingVertex::Empty => {}
                None => {
                    return Err(ArgumentError::NoSuchVertex { key: key.into().to_string(), row }.into());
                }
            }
        }
        let (mut begin, mut ends) = (0, vec![reached.len()]);
        for _ in 0..options.hops {
            reached.poll();
            let level = begin..reached.len();
            if level.is_empty() || reached.end().is_some() {
                break;
            }
            begin = level.end;
            self.expand_level(selection, &chosen, level, &mut reached)?;
            ends.push(reached.len());
        }
        let more = reached.end() == Some(End::Limit);
        match reached.end() {
            Some(End::Limit) if !options.is_partial => {
                let what = format!("the neighborhood within {} hops", options.hops);
                return Err(ArgumentError::TooLarge { what, limit: options.limit }.into());
            }
            Some(End::Cancelled) => return Err(StateError::Cancelled.into()),
            Some(End::Limit) | None => {}
        }
        let vertices = self.keys_of_lists(self.key_form(), reached.ids(), &ends)?;
        let mut distances = Vec::with_capacity(reached.len());
        for (&end, distance) in ends.iter().zip(0..) {
            distances.resize(end, distance);
        }
        Ok(Neighborhood { vertices, distances, more })
    }

    /// Adds the neighbors of the vertices of a level to the reached vertices.
    fn expand_level(
        &self,
        selection: &EdgeSelection<'_>,
        chosen: &ChosenEdges,
        level: Range<usize>,
        reached: &mut Reached<'_>,
    ) -> Result<()> {
        let searches = chosen.directions().iter().any(|&direction| self.has_to_search(direction));
        let subgraphs = u64::from(self.engine().keys.ids.bound.subgraphs());
        if !chosen.labels.iter().all(|label| label.is_all()) {
            // Making a view of edges that a property chooses reads all edges.
            if searches || level.len() as u64 >= subgraphs {
                // This view is reversed already, so its outgoing lists are read. Lists do not depend on the
                // kinds of vertices.
                let view = self.kernel_view(&selection.clone().of_all_vertices().without_weights())?;
                return expand_in_view(&view, Direction::Out, level, reached);
            }
            return self.expand_chosen(chosen, level, reached);
        }
        let by_view = searches || self.reads_by_view(level.len());
        for label in chosen.labels.iter().map(|label| label.label) {
            for &direction in chosen.directions() {
                if by_view {
                    expand_in_view(&self.kernel_view_by_id(label)?, direction, level.clone(), reached)?;
                } else {
                    self.expand_in_chains(label, direction, level.clone(), reached)?;
                }
            }
        }
        Ok(())
    }

    fn expand_chosen(
        &self,
        chosen: &ChosenEdges,
        level: Range<usize>,
        reached: &mut Reached<'_>,
    ) -> Result<()> {
        for at in level {
            let Some(v) = reached.at(at) else { break };
            self.for_each_chosen(chosen, v, |_, _, other, _| reached.take(&[other]))?;
        }
        Ok(())
    }

    fn expand_in_chains(
        &self,
        label: LabelId,
        direction: Direction,
        level: Range<usize>,
        reached: &mut Reached<'_>,
    ) -> Result<()> {
        let Some(table) = self.engine().pager.table(label) else { return Ok(()) };
        let (end, stored) = (level.end, self.stored(direction));
        fn ahead<'a>(
            (table, hold): (&'a SubgraphTable, &'a Hold),
            reached: &Reached<'_>,
            at: usize,
            end: usize,
        ) -> Option<(&'a Subgraph, LocalVertex)> {
            let v = reached.at(at).filter(|_| at < end)?;
            Some((table.get(v.subgraph(), hold)?, v.local()))
        }
        for at in level {
            let hold = table.hold();
            let ahead = |reached: &Reached<'_>, at: usize| ahead((table, &hold), reached, at, end);
            if let Some((subgraph, _)) = ahead(reached, at + 3 * STEP) {
                Subgraph::prefetch_header(subgraph);
            }
            if let Some((subgraph, local)) = ahead(reached, at + 2 * STEP) {
                subgraph.prefetch_head(stored, local);
            }
            if let Some((subgraph, local)) = ahead(reached, at + STEP) {
                subgraph.prefetch_neighbors(stored, local);
            }
            // Reads of files wait for memory, and a thread that waits has no hold.
            drop(hold);
            let Some(v) = reached.at(at) else { break };
            if label == LabelId::DEFAULT {
                self.for_each_neighbor(v, direction, |other, _| reached.take(&[other]))?;
            } else {
                self.for_each_end(label, v, direction, |other, _| reached.take(&[other]))?;
            }
        }
        Ok(())
    }
}

fn expand_in_view(
    view: &KernelView,
    direction: Direction,
    level: Range<usize>,
    reached: &mut Reached<'_>,
) -> Result<()> {
    match view {
        KernelView::Resident(view) => expand_in_memory(view, direction, level, reached),
        KernelView::Tiered(view) => {
            let mut rest = level;
            while !rest.is_empty() {
                let together = rest.clone().take(TieredView::VISITED_TOGETHER);
                let part: Vec<VertexId> = together.map_while(|at| reached.at(at)).collect();
                if part.is_empty() {
                    break;
                }
                rest.start += part.len();
                view.visit(part, direction, |_, run| reached.take(run))?;
            }
        }
    }
    Ok(())
}

fn expand_in_memory(view: &View, direction: Direction, level: Range<usize>, reached: &mut Reached<'_>) {
    let end = level.end;
    let ahead = |reached: &Reached<'_>, at: usize| reached.at(at).filter(|_| at < end);
    for at in level {
        if let Some(v) = ahead(reached, at + 2 * STEP) {
            view.prefetch_place(v, direction);
        }
        if let Some(v) = ahead(reached, at + STEP) {
            view.prefetch_list(v, direction);
        }
        let Some(v): Option<VertexId> = reached.at(at) else { break };
        view.neighbors(v, direction).for_each_run(|run| reached.take(run));
    }
}
