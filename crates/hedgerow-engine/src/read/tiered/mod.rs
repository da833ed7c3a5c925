//! Views of which a part is in files: kernels and scans in bounded memory.
//!
//! What a [`View`](hedgerow_mem::View) needs in memory as a whole, a [`TieredView`] reads by the page: a run of neighboring subgraphs of one
//! page at a time, what is in memory from its versions, the rest from images (`state::pages`, rule E6). Nothing is put into tables, so a scan takes
//! nothing out of memory that others use, and what it read goes when the next page comes.

mod budget;
mod census;
mod incoming;
mod joined;
mod kernel_view;
mod lists;
mod runs;
mod taken;
mod topology;
mod windows;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hedgerow_core::{
    Direction, KindId, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Topology, VertexId,
};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::view::VertexMask;

use budget::Budget;
pub(crate) use census::Census;
pub use kernel_view::KernelView;
pub use lists::TieredBlock;

use crate::error::Result;
use crate::read::selection::EdgeSelection;
use crate::read::snapshot::Snapshot;
use crate::state::pages::Expected;
use crate::state::schema::LabelRef;
use crate::state::selection::ChosenEdges;
use crate::state::store::Core;
use taken::Taken;
use windows::Windows;

/// Vertices of a frontier that are put in the order of their pages at a time.
const BATCH: usize = 1 << 14;

/// The graph of one label, or of chosen edges, as of a snapshot, for kernels, whatever is in memory of it.
///
/// Made by [`Snapshot::tiered_view_of`] and [`Snapshot::tiered_view_selected`]. It keeps its snapshot open, and in memory 12 bytes for each
/// 64 vertex ids, 24 more where it has the vertices of some kinds alone. All else is read when it is asked for, and let go of right after: a thread that scans has the lists of up to 64 neighboring
/// subgraphs (4,096 vertices) in one direction, one that visits those of one subgraph, and beside them the blocks of one read, 512 KiB or
/// one record if that is longer. So it takes at most that times the threads, and a hub counts with its whole list. Lists are charged to the
/// account of the store, beside which they may pass the memory limit.
///
/// A read of a file that fails, and damage, is the error of the call that needs it.
///
/// In a directed graph that keeps no incoming edges these are found by reading all outgoing ones: O(edges) for the pages that an eighth of the
/// memory limit, or half of what is left of it, has room for (256 MiB without one), which are kept until others are asked for; or for the vertices of one visit.
/// So are those against chosen edges of any directed graph where a property is tested or weighs: incoming lists do not keep it.
pub struct TieredView {
    budget: Budget,
    snapshot: Snapshot,
    /// Of the default label: which vertices exist.
    existing: Arc<Census>,
    /// The vertices, where they are not all that exist.
    mask: Option<Arc<VertexMask>>,
    /// Which edges it has.
    taken: Taken,
    /// One more than the largest vertex id that can be live.
    bound: u32,
    edge_count: u64,
    /// In a directed graph that keeps no incoming edges, those of some pages.
    incoming: Arc<Windows>,
}

impl Snapshot {
    /// The graph of one label for kernels, of which nothing has to be in memory: see [`TieredView`]. It costs no time where it is not
    /// needed, but where all is in memory a [`view`](Self::view_of) is quicker by far; [`kernel_view`](Self::kernel_view) chooses.
    /// O(subgraphs), and a read of the directory of each page that is not in memory, in parallel on the current rayon pool; in an undirected
    /// graph with several labels a scan of the label, to count its edges.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel); [`StateError::Forked`](crate::StateError::Forked) in a forked
    /// child; and as of every [read](Self).
    pub fn tiered_view_of<'a>(&self, label: impl Into<LabelRef<'a>>) -> Result<TieredView> {
        self.engine().check_owner()?;
        let label = self.label(label.into())?;
        self.tiered_selected(self.whole_label(label), "")
    }

    /// As [`tiered_view_of`](Self::tiered_view_of), of the chosen edges. Beside what that costs, a scan of the labels to count the edges,
    /// in parallel, unless all edges of labels of a directed graph are taken. A thread that visits has the chosen edges of 16 neighboring subgraphs, not one.
    ///
    /// # Errors
    /// As of [`view_selected`](Self::view_selected), and as of every [read](Self).
    pub fn tiered_view_selected(&self, selection: &EdgeSelection<'_>) -> Result<TieredView> {
        self.tiered_selected(selection.resolve(self)?, selection.weight_name())
    }

    /// As [`tiered_view_of`](Self::tiered_view_of), with all vertices.
    pub(crate) fn tiered(&self, label: LabelId) -> Result<TieredView> {
        self.tiered_selected(ChosenEdges::whole(label, self.engine().is_weighted(label)), "")
    }

    /// `weight`: the property that is the weight, where one was named.
    fn tiered_selected(&self, chosen: ChosenEdges, weight: &str) -> Result<TieredView> {
        let (core, existing) = (self.engine(), self.census()?.clone());
        let (snapshot, incoming, bound) = (self.clone(), Arc::<Windows>::default(), core.ids.bound());
        let kinds = chosen.kinds.clone();
        let taken = Taken::new(self, chosen, weight, &existing)?;
        let budget = Budget::new(&self.engine().core);
        let mut view =
            TieredView { budget, snapshot, existing, mask: None, taken, bound, edge_count: 0, incoming };
        view.edge_count = view.count_edges()?;
        view.restrict(kinds.as_deref())?;
        Ok(view)
    }

    /// How many edges of a label vertices have, of which these exist.
    fn census_of(&self, label: LabelId, vertices: &Arc<Census>) -> Result<Arc<Census>> {
        let (core, bound) = (self.engine(), self.engine().ids.bound());
        match label {
            LabelId::DEFAULT => Ok(vertices.clone()),
            _ => Census::of_label(core, label, self.timestamp(), bound, vertices).map(Arc::new),
        }
    }

    /// Which vertices exist, read at the first call.
    pub(crate) fn census(&self) -> Result<&Arc<Census>> {
        if let Some(census) = self.kept_census().get() {
            return Ok(census);
        }
        let core = self.engine();
        core.check_owner()?;
        // Outside the cell, as views are.
        let census = Census::of_default(core, self.timestamp(), core.ids.bound())?;
        Ok(self.kept_census().get_or_init(|| Arc::new(census)))
    }
}

impl Snapshot {
    /// The vertices, ascending: of the view, if the memory limit has room for it.
    pub(crate) fn live_vertices(&self) -> Result<impl Iterator<Item = VertexId> + '_> {
        let view = self.view_if_it_fits()?;
        let census = if view.is_none() { Some(self.census()?) } else { None };
        let of_view = view.into_iter().flat_map(|view| view.vertices());
        Ok(of_view.chain(census.into_iter().flat_map(|census| census.vertices())))
    }
}

/// The part of a page that a range of subgraphs has.
fn of_page(page: u32, range: &Range<SubgraphId>) -> Range<u32> {
    let first = page * PAGE as u32;
    range.start.0.max(first)..range.end.0.min(first + PAGE as u32)
}

/// The places of subgraphs of one page.
fn mask_of(subgraphs: &Range<u32>) -> u64 {
    subgraphs.clone().fold(0, |mask, id| mask | 1 << (id as usize % PAGE))
}

/// The next vertices of a frontier, ascending: those of one page follow each other.
fn take_batch(frontier: &mut impl Iterator<Item = VertexId>, batch: &mut Vec<VertexId>) {
    batch.clear();
    batch.extend(frontier.take(BATCH));
    batch.sort_unstable();
}

impl TieredView {
    fn core(&self) -> &Core {
        self.snapshot.engine()
    }

    /// The snapshot that it belongs to.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The live vertices, ascending. O(vertex ids / 64), without a read.
    pub fn vertices(&self) -> impl Iterator<Item = VertexId> + '_ {
        self.existing.vertices().filter(|&v| self.mask.as_ref().is_none_or(|mask| mask.contains(v)))
    }

    /// Leaves the vertices of these kinds, if some are named. Lists are read as before: images are compared with all vertices that exist.
    pub(super) fn restrict(&mut self, kinds: Option<&[KindId]>) -> Result<()> {
        let exists = |subgraph| self.existing.present(subgraph);
        let mask = kinds.map(|kinds| self.snapshot.vertices_of_kinds(kinds, exists)).transpose()?;
        self.mask = mask;
        Ok(())
    }

    /// Calls `f` with source, destination and weight of each edge by ascending source, until it breaks; of an undirected graph once per
    /// edge, at the smaller end. In the memory of a scan by one thread. O(edges).
    ///
    /// # Errors
    /// Where a page cannot be read, after `f` had the edges before it.
    pub fn try_for_each_edge(
        &self,
        mut f: impl FnMut(VertexId, VertexId, f64) -> ControlFlow<()>,
    ) -> Result<()> {
        let directed = self.is_directed();
        self.scan(self.all(), Direction::Out, |subgraph, block| {
            for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                let (src, (list, weights)) = (subgraph.vertex(local), block.weighted_neighbors(local));
                for (at, &dst) in list.iter().enumerate() {
                    if directed || src <= dst {
                        f(src, dst, weights.get(at).copied().unwrap_or(1.0))?;
                    }
                }
            }
            ControlFlow::Continue(())
        })
    }

    /// All subgraphs that may have vertices.
    fn all(&self) -> Range<SubgraphId> {
        SubgraphId(0)..SubgraphId(self.bound.div_ceil(SUBGRAPH_VERTICES as u32))
    }

    fn is_weighted(&self) -> bool {
        self.taken.weighted
    }

    fn count_edges(&self) -> Result<u64> {
        if self.taken.plain.is_none() {
            return self.count_taken();
        }
        if !self.snapshot.has_labels() {
            return self.snapshot.edge_count();
        }
        let entries = self.taken.entries();
        if self.core().config.directed || entries == 0 {
            return Ok(entries);
        }
        // A loop has one entry, every other edge two.
        let mut edges = 0;
        self.try_for_each_edge(|_, _, _| {
            edges += 1;
            ControlFlow::Continue(())
        })?;
        Ok(edges)
    }

    fn expected(&self) -> Expected<impl Fn(SubgraphId) -> u64 + '_> {
        Expected { bound: self.bound, exists: |id| self.existing.present(id) }
    }
}
