//! The lists of some subgraphs of a page, in memory while they are scanned.

use std::ops::ControlFlow;

use hedgerow_core::{Block, LocalVertex, SUBGRAPH_VERTICES, VertexId};
use hedgerow_mem::version::Read;
use hedgerow_pager::pager::pages::StoredLists;

/// The lists of one subgraph in one direction: copied from versions, or in the form of an image.
pub(super) struct Lists {
    offsets: [u32; SUBGRAPH_VERTICES + 1],
    neighbors: Vec<VertexId>,
    /// Empty if all edges weigh 1.
    weights: Vec<f64>,
}

impl Default for Lists {
    fn default() -> Lists {
        Lists { offsets: [0; SUBGRAPH_VERTICES + 1], neighbors: Vec::new(), weights: Vec::new() }
    }
}

impl From<StoredLists> for Lists {
    fn from(stored: StoredLists) -> Lists {
        let (offsets, neighbors, weights) = stored.into_arrays();
        Lists { offsets, neighbors, weights }
    }
}

impl Lists {
    /// Returns lists without edges, with this capacity.
    pub(super) fn with_capacity(neighbors: usize, weights: usize) -> Lists {
        let (neighbors, weights) = (Vec::with_capacity(neighbors), Vec::with_capacity(weights));
        Lists { neighbors, weights, ..Lists::default() }
    }

    /// Gives unused capacity back, if it is large.
    pub(super) fn shrink(&mut self) {
        if self.neighbors.len() < self.neighbors.capacity() / 2 {
            self.neighbors.shrink_to_fit();
            self.weights.shrink_to_fit();
        }
    }

    /// Copies the lists that a reader sees in a version. O(edges + delta).
    pub(super) fn copy(read: Read<'_>, weighted: bool) -> Lists {
        let entries = read.edge_entries() as usize;
        let mut lists = Lists::with_capacity(entries, if weighted { entries } else { 0 });
        for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
            read.for_each_run(local, |run, weights| {
                lists.neighbors.extend_from_slice(run);
                if weighted {
                    lists.weights.extend_from_slice(weights);
                }
            });
            lists.offsets[local.index() + 1] = lists.neighbors.len() as u32;
        }
        lists
    }

    /// Ends the list of a vertex at the present number of neighbors. The caller ends the lists of vertices in
    /// ascending order.
    pub(super) fn end_list(&mut self, local: LocalVertex) {
        self.offsets[local.index() % SUBGRAPH_VERTICES + 1] = self.neighbors.len() as u32;
    }

    /// Adds an edge to the list that is ended next.
    #[inline]
    pub(super) fn push(&mut self, neighbor: VertexId, weight: Option<f64>) {
        self.neighbors.push(neighbor);
        self.weights.extend(weight);
    }

    /// Merges the lists of `a` and `b` in order; of `b` takes only the neighbors to `keep`. If one has
    /// weights, the other has weights too, or is empty.
    pub(super) fn merged(
        a: TieredBlock<'_>,
        b: TieredBlock<'_>,
        keep: impl Fn(LocalVertex, VertexId) -> bool,
    ) -> Lists {
        let bytes_of =
            |block: TieredBlock<'_>| block.0.map_or((0, 0), |of| (of.neighbors.len(), of.weights.len()));
        let ((neighbors, weights), (more, more_weights)) = (bytes_of(a), bytes_of(b));
        let mut lists = Lists::with_capacity(neighbors + more, weights + more_weights);
        for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
            let mut of_a = entries(a, local).peekable();
            for (neighbor, weight) in entries(b, local).filter(|(v, _)| keep(local, *v)) {
                while let Some((before, weight)) = of_a.next_if(|(v, _)| *v <= neighbor) {
                    lists.push(before, weight);
                }
                lists.push(neighbor, weight);
            }
            of_a.for_each(|(neighbor, weight)| lists.push(neighbor, weight));
            lists.end_list(local);
        }
        lists
    }

    pub(super) fn bytes(&self) -> usize {
        self.neighbors.capacity() * size_of::<VertexId>() + self.weights.capacity() * size_of::<f64>()
    }

    /// Returns the neighbors of a vertex and the weights of the edges to them; no weights if all edges weigh
    /// 1.
    #[inline]
    pub(super) fn list(&self, local: LocalVertex) -> (&[VertexId], &[f64]) {
        list_of(&self.offsets, &self.neighbors, &self.weights, local)
    }

    /// Makes lists of edges whose vertices come in any order; the edges of one vertex keep their order.
    /// `weights` has one weight for each edge, or is empty if all edges weigh 1.
    pub(super) fn of_edges(edges: &[(LocalVertex, VertexId)], weights: &[f64]) -> Lists {
        let mut lists = Lists::default();
        for (local, _) in edges {
            lists.offsets[local.index() % SUBGRAPH_VERTICES + 1] += 1;
        }
        for at in 0..SUBGRAPH_VERTICES {
            lists.offsets[at + 1] += lists.offsets[at];
        }
        let mut places = lists.offsets;
        lists.neighbors = vec![VertexId(0); edges.len()];
        lists.weights = vec![0.0; weights.len()];
        for (at, &(local, neighbor)) in edges.iter().enumerate() {
            let place = &mut places[local.index() % SUBGRAPH_VERTICES];
            lists.neighbors[*place as usize] = neighbor;
            if let Some(&weight) = weights.get(at) {
                lists.weights[*place as usize] = weight;
            }
            *place += 1;
        }
        lists
    }
}

#[inline]
pub(super) fn list_of<'a>(
    offsets: &[u32; SUBGRAPH_VERTICES + 1],
    neighbors: &'a [VertexId],
    weights: &'a [f64],
    local: LocalVertex,
) -> (&'a [VertexId], &'a [f64]) {
    let at = local.index() % SUBGRAPH_VERTICES;
    let range = offsets[at] as usize..offsets[at + 1] as usize;
    (neighbors.get(range.clone()).unwrap_or(&[]), weights.get(range).unwrap_or(&[]))
}

/// Returns the neighbors of a vertex, each with the weight of the edge to it if edges have weights.
fn entries(block: TieredBlock<'_>, local: LocalVertex) -> impl Iterator<Item = (VertexId, Option<f64>)> + '_ {
    let (neighbors, weights) = block.0.map_or((&[][..], &[][..]), |lists| lists.list(local));
    neighbors.iter().enumerate().map(|(at, &neighbor)| (neighbor, weights.get(at).copied()))
}

/// The lists of neighboring subgraphs.
pub(super) struct Page {
    /// The lists of each subgraph, in order.
    lists: Vec<Lists>,
    bytes: usize,
}

impl Page {
    /// Returns the bytes that this many subgraphs take without edges.
    pub(super) fn bytes_of(subgraphs: usize) -> u64 {
        (subgraphs * size_of::<Lists>()) as u64
    }

    /// Returns this many subgraphs without edges.
    pub(super) fn new(subgraphs: usize) -> Page {
        let lists = std::iter::repeat_with(Lists::default).take(subgraphs).collect();
        Page { lists, bytes: subgraphs * size_of::<Lists>() }
    }

    /// Returns the bytes that [`add`](Self::add) takes temporarily, for lists of `bytes`.
    pub(super) fn bytes_to_add(&self, at: usize, bytes: usize) -> usize {
        let there = self.lists.get(at).map_or(0, Lists::bytes);
        if there == 0 { 0 } else { there + bytes }
    }

    /// Adds lists to the lists of a subgraph.
    pub(super) fn add(&mut self, at: usize, lists: Lists) {
        let Some(slot) = self.lists.get_mut(at) else { return };
        let lists = match slot.neighbors.is_empty() {
            true => lists,
            false => Lists::merged(TieredBlock(Some(slot)), TieredBlock(Some(&lists)), |_, _| true),
        };
        self.bytes = self.bytes + lists.bytes() - slot.bytes();
        *slot = lists;
    }

    pub(super) fn get(&self, at: usize) -> Option<&Lists> {
        self.lists.get(at)
    }

    /// Returns the bytes that the page takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The lists of one subgraph of a [`TieredView`](super::TieredView), without corrections.
#[derive(Clone, Copy)]
pub struct TieredBlock<'a>(pub(super) Option<&'a Lists>);

impl TieredBlock<'_> {
    /// Returns the bytes that a copy of these lists takes.
    pub(super) fn bytes(&self) -> usize {
        self.0.map_or(0, Lists::bytes)
    }

    /// Returns the neighbours of the vertex at `local`, ascending, and the weights of the edges to them. The
    /// weights are empty if all edges weigh 1.
    #[inline]
    pub fn weighted_neighbors(&self, local: LocalVertex) -> (&[VertexId], &[f64]) {
        self.0.map_or((&[], &[]), |lists| lists.list(local))
    }
}

impl Block for TieredBlock<'_> {
    #[inline]
    fn degree(&self, local: LocalVertex) -> usize {
        self.weighted_neighbors(local).0.len()
    }

    #[inline]
    fn for_each_run(
        &self,
        local: LocalVertex,
        mut f: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        f(self.weighted_neighbors(local).0)
    }

    #[inline]
    fn main(&self, local: LocalVertex) -> Option<&[VertexId]> {
        Some(self.weighted_neighbors(local).0)
    }

    #[inline]
    fn is_additive(&self) -> bool {
        true
    }
}
