//! Views that are partly in files: kernels and scans in bounded memory.
//!
//! A [`View`](hedgerow_mem::View) needs all of its lists in memory. A [`TieredView`] reads them by the page:
//! a run of neighboring subgraphs of one page at a time. It reads lists in memory from versions, and other
//! lists from images (rule E6). It puts no data into the store's tables, so a scan evicts
//! nothing that others use. It drops the lists when it reads the next run.

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

pub use kernel_view::KernelView;
pub use lists::TieredBlock;

use crate::read::selection::EdgeSelection;
use crate::read::selection_ref::EdgeSelectionRef;
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::ChosenEdges;
use crate::state::store::Core;
use hedgerow_catalog::error::Result;
use hedgerow_pager::budget::For;
use hedgerow_pager::budget::taken::{Lends, Stop};
use hedgerow_pager::pager::census::Census;
use hedgerow_pager::pager::pages::Expected;
use taken::Taken;
use windows::Windows;

/// The number of vertices of a frontier that are sorted by page at a time.
const BATCH: usize = 1 << 14;

/// The graph of one label, or of chosen edges, as of a snapshot, for kernels. Its lists may be in memory or
/// in files.
///
/// Made by [`TieredView::new`]. It keeps its snapshot open.
/// It takes 12 bytes of memory for each 64 vertex ids, and 24 more if it has only the vertices of some kinds.
/// It reads all other data on request, and drops it right after.
///
/// A thread that scans holds the lists of up to 64 neighboring subgraphs (4,096 vertices) in one direction. A
/// thread that visits holds the lists of one subgraph. Each thread also holds the blocks of one read: 512
/// KiB, or one record if that is longer. The view takes at most this memory times the number of threads; a
/// hub counts with its whole list. Lists are charged to the account of the store before they are read. If the
/// memory limit can make no room for a call, it fails with
/// [`StorageError::MemoryLimit`](crate::StorageError::MemoryLimit).
///
/// If a file cannot be read, or is damaged, the call that needs it fails.
///
/// In a directed graph without incoming lists, incoming edges are found by reading all outgoing ones. Each
/// pass takes O(edges). It finds the edges into the vertices of one visit, or into as many pages as there is
/// room for: an eighth of the memory limit, or half of its free room if that is more, or 256 MiB without a
/// limit. The edges into pages are kept until other pages are needed. The same applies to any directed graph
/// if a property tests or weighs edges, because incoming lists have no properties.
pub struct TieredView {
    snapshot: Snapshot,
    /// The census of the default label, which shows which vertices exist.
    existing: Arc<Census>,
    /// The vertices of the view, unless it has all existing ones.
    mask: Option<Arc<VertexMask>>,
    /// The choice of its edges.
    taken: Taken,
    /// One more than the largest vertex id that can be live.
    bound: u32,
    edge_count: u64,
    /// The edges into some pages, if incoming edges must be searched for.
    incoming: Arc<Windows>,
}

impl TieredView {
    /// Returns the graph of the chosen edges for kernels, whose data need not be in memory: see
    /// [`TieredView`]. If all is in memory, a [view](Snapshot::view) is much faster;
    /// [`KernelView::new`] chooses between them.
    ///
    /// O(subgraphs), and a read of the directory of each page that is not in memory, in parallel on the
    /// current rayon pool. To count the edges it also scans the labels, unless labels of a directed graph are
    /// chosen wholly, or there is only one label. If edges are chosen by ranks or properties, or of several
    /// labels, a thread that visits holds the chosen edges of 16 neighboring subgraphs, not of one.
    ///
    /// # Errors
    /// The errors of [`view`](Snapshot::view), and of every [read](Snapshot).
    pub fn new<'s>(snapshot: &Snapshot, edges: impl Into<EdgeSelectionRef<'s>>) -> Result<TieredView> {
        snapshot.tiered_selection(&edges.into().selection())
    }
}

impl Snapshot {
    pub(super) fn tiered_selection(&self, selection: &EdgeSelection<'_>) -> Result<TieredView> {
        self.tiered_selected(selection.resolve(self)?, selection.weight_name())
    }

    /// Returns the graph of one label with all vertices.
    pub(crate) fn tiered(&self, label: LabelId) -> Result<TieredView> {
        self.tiered_selected(ChosenEdges::whole(label, self.engine().catalog.is_weighted(label)), "")
    }

    /// Makes a view. `weight` is the name of the weight property, if there is one.
    fn tiered_selected(&self, chosen: ChosenEdges, weight: &str) -> Result<TieredView> {
        let (core, existing) = (self.engine(), self.census()?.clone());
        let (snapshot, incoming, bound) = (self.clone(), Arc::<Windows>::default(), core.keys.ids.bound());
        let kinds = chosen.kinds.clone();
        let taken = Taken::new(self, chosen, weight, &existing)?;
        let mut view = TieredView { snapshot, existing, mask: None, taken, bound, edge_count: 0, incoming };
        view.edge_count = view.count_edges()?;
        view.restrict(kinds.as_deref())?;
        Ok(view)
    }

    /// Returns the census of a label's edges, given the `vertices` that exist.
    pub(crate) fn census_of(&self, label: LabelId, vertices: &Arc<Census>) -> Result<Arc<Census>> {
        let (core, bound) = (self.engine(), self.engine().keys.ids.bound());
        match label {
            LabelId::DEFAULT => Ok(vertices.clone()),
            _ => Census::of_label(&core.pager, label, self.timestamp(), bound, vertices).map(Arc::new),
        }
    }

    /// Returns the census of the vertices that exist, read at the first call.
    pub(crate) fn census(&self) -> Result<&Arc<Census>> {
        if let Some(census) = self.kept_census().get() {
            return Ok(census);
        }
        let core = self.engine();
        core.check_owner()?;
        // Computed outside the cell, like views.
        let census = Census::of_default(&core.pager, self.timestamp(), core.keys.ids.bound())?;
        Ok(self.kept_census().get_or_init(|| Arc::new(census)))
    }
}

impl Snapshot {
    /// Returns the vertices, ascending; from the view, if the memory limit has room for one.
    pub(crate) fn live_vertices(&self) -> Result<impl Iterator<Item = VertexId> + '_> {
        let view = self.view_if_it_fits()?;
        let census = if view.is_none() { Some(self.census()?) } else { None };
        let of_view = view.into_iter().flat_map(|view| view.vertices());
        Ok(of_view.chain(census.into_iter().flat_map(|census| census.vertices())))
    }
}

/// Returns those subgraphs of a range that are on a page.
fn of_page(page: u32, range: &Range<SubgraphId>) -> Range<u32> {
    let first = page * PAGE as u32;
    range.start.0.max(first)..range.end.0.min(first + PAGE as u32)
}

/// Returns the places of subgraphs of one page, as a mask.
fn mask_of(subgraphs: &Range<u32>) -> u64 {
    subgraphs.clone().fold(0, |mask, id| mask | 1 << (id as usize % PAGE))
}

/// Takes the next vertices of a frontier and sorts them, so that vertices of one page are consecutive.
fn take_batch(frontier: &mut impl Iterator<Item = VertexId>, batch: &mut Vec<VertexId>) {
    batch.clear();
    batch.extend(frontier.take(BATCH));
    batch.sort_unstable();
}

/// The permission of a call to wait until other calls give memory back. A call that holds memory must not
/// wait, since the others may wait for that memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Yes,
    No,
}

impl TieredView {
    fn core(&self) -> &Core {
        self.snapshot.engine()
    }

    /// Calls `read`. If it found no room, makes room and calls it again; `read` has kept no memory then. The
    /// caller has no latch and is in no walk. If it `waits`, it has taken no memory, and is within [`Lends`].
    /// The call does not wait for other threads if this thread is inside another call that lends memory.
    ///
    /// # Errors
    /// No room within the limit and, if the call waits, no other call in progress that will make room; the
    /// errors of `read`.
    fn with_room<R>(
        &self,
        waits: Waits,
        mut read: impl FnMut() -> std::result::Result<R, Stop>,
    ) -> std::result::Result<R, Stop> {
        let waits = waits == Waits::Yes && Lends::depth() <= 1;
        if waits {
            self.core().pager.budget.wait_behind_line();
        }
        self.core().pager.with_room((For::Read, waits), |_| read())
    }

    /// Returns the snapshot that the view belongs to.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Returns the live vertices, ascending. O(vertex ids / 64), without a read.
    pub fn vertices(&self) -> impl Iterator<Item = VertexId> + '_ {
        self.existing.vertices().filter(|&v| self.mask.as_ref().is_none_or(|mask| mask.contains(v)))
    }

    /// Keeps only the vertices of these kinds, if some are named. Lists are read as before, since images are
    /// checked against all existing vertices.
    pub(super) fn restrict(&mut self, kinds: Option<&[KindId]>) -> Result<()> {
        let exists = |subgraph| self.existing.present(subgraph);
        let mask = kinds.map(|kinds| self.snapshot.vertices_of_kinds(kinds, exists)).transpose()?;
        self.mask = mask;
        Ok(())
    }

    /// Calls `f` with source, destination and weight of each edge by ascending source, until it breaks; in an
    /// undirected graph once per edge, at the smaller end. Takes as much memory as a scan by one thread.
    /// O(edges).
    ///
    /// # Errors
    /// The error of a page that cannot be read, after `f` got the edges before it.
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

    /// Returns all subgraphs that may have vertices.
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
        if self.core().catalog.config.directed || entries == 0 {
            return Ok(entries);
        }
        // A self-loop has one entry, every other edge two.
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
