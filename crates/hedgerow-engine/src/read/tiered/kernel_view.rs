//! What kernels run on: in memory where it fits, by the page where it does not.

use std::sync::Arc;

use hedgerow_core::{LabelId, Topology, VertexId, WeightedTopology};
use hedgerow_mem::View;

use super::TieredView;
use crate::error::{Error, Result, StorageError};
use crate::read::selection::EdgeSelection;
use crate::read::snapshot::Snapshot;
use crate::read::views::Makers;
use crate::state::selection::ChosenEdges;

/// A graph for kernels. They are compiled for each of the two: whoever runs one chooses by a `match`.
pub enum KernelView {
    /// All of it is in memory, and [`Resident`](hedgerow_core::Resident).
    Resident(Arc<View>),
    /// It is read by the page.
    Tiered(TieredView),
}

/// Asks whichever it is.
macro_rules! either {
    ($view:expr, $it:ident => $answer:expr) => {
        match $view {
            KernelView::Resident($it) => $answer,
            KernelView::Tiered($it) => $answer,
        }
    };
}

impl KernelView {
    /// One more than the largest id that can be live. O(1), as all of these, and without a read.
    pub fn vertex_bound(&self) -> usize {
        either!(self, it => it.vertex_bound())
    }

    /// The number of live vertices.
    pub fn vertex_count(&self) -> usize {
        either!(self, it => it.vertex_count())
    }

    /// The number of edges; an undirected edge counts once.
    pub fn edge_count(&self) -> u64 {
        either!(self, it => it.edge_count())
    }

    /// Whether the edges carry weights. If not, all weigh 1.
    pub fn has_weights(&self) -> bool {
        either!(self, it => it.has_weights())
    }

    /// Whether `v` is a live vertex.
    pub fn contains(&self, v: VertexId) -> bool {
        either!(self, it => it.contains(v))
    }

    /// The live vertices, ascending.
    pub fn vertices(&self) -> Box<dyn Iterator<Item = VertexId> + '_> {
        either!(self, it => Box::new(it.vertices()))
    }
}

impl Snapshot {
    /// The graph of the chosen edges for kernels, whatever the memory limit leaves room for: the [view](Self::view_selected) where it
    /// fits beside what is in memory, and without a limit always; else a [`TieredView`]. O(pages) more than that.
    ///
    /// # Errors
    /// As of [`view_selected`](Self::view_selected).
    pub fn kernel_view(&self, selection: &EdgeSelection<'_>) -> Result<KernelView> {
        if self.engine().memory_limit.is_some() {
            let chosen = selection.resolve(self)?;
            if !self.engine().has_room_for_labels(chosen.labels.iter().map(|label| label.label)) {
                return match chosen.only_whole_label() {
                    Some(label) => self.kernel_view_of_whole(label, chosen),
                    // One that was made costs nothing more.
                    None => match self.selected().find(&chosen) {
                        Some(view) => Ok(KernelView::Resident(view)),
                        None => self.tiered_view_selected(selection).map(KernelView::Tiered),
                    },
                };
            }
        }
        let chosen = self.chosen_edges(selection)?;
        if let Some(label) = chosen.only_whole_label() {
            return self.kernel_view_of_whole(label, chosen);
        }
        match self.view_selected(selection) {
            // Others took the room meanwhile.
            Err(Error::Storage(StorageError::MemoryLimit { .. })) => {
                self.tiered_view_selected(selection).map(KernelView::Tiered)
            }
            view => view.map(KernelView::Resident),
        }
    }

    /// As [`kernel_view`](Self::kernel_view), of a label, all of whose edges are chosen.
    fn kernel_view_of_whole(&self, label: LabelId, chosen: ChosenEdges) -> Result<KernelView> {
        if chosen.kinds.is_none() {
            return self.kernel_view_by_id(label);
        }
        if let Some(view) = self.selected().find(&chosen) {
            return Ok(KernelView::Resident(view));
        }
        match self.kernel_view_by_id(label)? {
            KernelView::Resident(_) => self.view_of_whole(label, chosen).map(KernelView::Resident),
            KernelView::Tiered(mut view) => {
                view.restrict(chosen.kinds.as_deref())?;
                Ok(KernelView::Tiered(view))
            }
        }
    }

    /// As [`kernel_view`](Self::kernel_view), of a label, with all vertices.
    pub(crate) fn kernel_view_by_id(&self, label: LabelId) -> Result<KernelView> {
        let is_made = label == LabelId::DEFAULT && self.made_view().is_some();
        let engine = self.engine();
        let has_left =
            || engine.eviction.page_versions.has(self.timestamp()) || !engine.has_room_for_label(label);
        if !is_made && has_left() {
            return self.tiered(label).map(KernelView::Tiered);
        }
        let view = match label {
            LabelId::DEFAULT => self.kept_view().cloned(),
            label => self.cached_view_of(label, Makers::Pool),
        };
        match view {
            // Others took the room meanwhile.
            Err(Error::Storage(StorageError::MemoryLimit { .. })) => {
                self.tiered(label).map(KernelView::Tiered)
            }
            view => view.map(KernelView::Resident),
        }
    }
}
