//! The graph that kernels run on: in memory if it fits, else by the page.

use std::sync::Arc;

use hedgerow_catalog::error::{Error, Result, StorageError};
use hedgerow_core::{GraphConfig, LabelId, Topology, VertexId, WeightedTopology};
use hedgerow_mem::View;
use hedgerow_pager::pager::pages::Copies;

use super::TieredView;
use crate::read::selection::EdgeSelection;
use crate::read::selection_ref::EdgeSelectionRef;
use crate::read::snapshot::Snapshot;
use crate::read::views::Makers;
use crate::state::chosen_edges::{ChosenEdges, ChosenLabel, ChosenWeight};

/// A graph for kernels. Kernels are compiled for each of the two forms, and the caller chooses by a `match`.
pub enum KernelView {
    /// A graph in memory, which is [`Resident`](hedgerow_core::Resident).
    Resident(Arc<View>),
    /// A graph that is read by the page.
    Tiered(TieredView),
}

/// Evaluates an expression on either form.
macro_rules! either {
    ($view:expr, $it:ident => $answer:expr) => {
        match $view {
            KernelView::Resident($it) => $answer,
            KernelView::Tiered($it) => $answer,
        }
    };
}

impl KernelView {
    /// Returns the graph of the chosen edges for kernels, in the form for which the memory limit has room.
    /// This is the [view](Snapshot::view) if there is no limit, or if the view fits in addition to the
    /// data in memory; else a [`TieredView`]. Costs O(pages) more than that.
    ///
    /// # Errors
    /// The errors of [`Snapshot::view`].
    pub fn new<'s>(snapshot: &Snapshot, edges: impl Into<EdgeSelectionRef<'s>>) -> Result<KernelView> {
        snapshot.kernel_view(&edges.into().selection())
    }

    /// Returns one more than the largest id that can be live. O(1) and without a read, like the methods
    /// below.
    pub fn vertex_bound(&self) -> usize {
        either!(self, it => it.vertex_bound())
    }

    /// Returns the number of live vertices.
    pub fn vertex_count(&self) -> usize {
        either!(self, it => it.vertex_count())
    }

    /// Returns the number of edges; an undirected edge counts once.
    pub fn edge_count(&self) -> u64 {
        either!(self, it => it.edge_count())
    }

    /// True if the edges carry weights. If not, all weigh 1.
    pub fn has_weights(&self) -> bool {
        either!(self, it => it.has_weights())
    }

    /// True if `v` is a live vertex.
    pub fn contains(&self, v: VertexId) -> bool {
        either!(self, it => it.contains(v))
    }

    /// Returns the live vertices, ascending.
    pub fn vertices(&self) -> Box<dyn Iterator<Item = VertexId> + '_> {
        either!(self, it => Box::new(it.vertices()))
    }
}

impl Snapshot {
    /// Does what [`KernelView::new`] says.
    pub(crate) fn kernel_view(&self, selection: &EdgeSelection<'_>) -> Result<KernelView> {
        if self.engine().pager.memory_limit.is_some() {
            let chosen = selection.resolve(self)?;
            let labels = chosen.labels.iter().map(|label| label.label);
            if !self
                .engine()
                .pager
                .has_room_for_labels(labels, copies(&chosen, &self.engine().catalog.config))
            {
                return match chosen.only_whole_label() {
                    Some(label) => self.kernel_view_of_whole(label, chosen),
                    // A view that was made before costs nothing more.
                    None => match self.selected().find(&chosen) {
                        Some(view) => Ok(KernelView::Resident(view)),
                        None => self.tiered_selection(selection).map(KernelView::Tiered),
                    },
                };
            }
        }
        let chosen = self.chosen_edges(selection)?;
        if let Some(label) = chosen.only_whole_label() {
            return self.kernel_view_of_whole(label, chosen);
        }
        match self.view_of_selection(selection) {
            // Another thread took the room in the meantime.
            Err(Error::Storage(StorageError::MemoryLimit { .. })) => {
                self.tiered_selection(selection).map(KernelView::Tiered)
            }
            view => view.map(KernelView::Resident),
        }
    }

    /// Returns the [`kernel_view`](Self::kernel_view) of a label whose edges are all chosen.
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

    /// Returns the [`kernel_view`](Self::kernel_view) of a label, with all vertices.
    pub(crate) fn kernel_view_by_id(&self, label: LabelId) -> Result<KernelView> {
        let is_made = label == LabelId::DEFAULT && self.made_view().is_some();
        let engine = self.engine();
        let has_left = || {
            engine.pager.eviction.page_versions.has(self.timestamp())
                || !engine.pager.has_room_for_label(label)
        };
        if !is_made && has_left() {
            return self.tiered(label).map(KernelView::Tiered);
        }
        let view = match label {
            LabelId::DEFAULT => self.kept_view().cloned(),
            label => self.cached_view_of(label, Makers::Pool),
        };
        match view {
            // Another thread took the room in the meantime.
            Err(Error::Storage(StorageError::MemoryLimit { .. })) => {
                self.tiered(label).map(KernelView::Tiered)
            }
            view => view.map(KernelView::Resident),
        }
    }
}

/// Returns the lists that the view of the chosen edges copies, and whether it computes its incoming side.
fn copies(chosen: &ChosenEdges, config: &GraphConfig) -> (Copies, bool) {
    if chosen.only_whole_label().is_some() {
        return (Copies::Deltas, config.is_one_way());
    }
    let by_property = chosen.labels.iter().any(ChosenLabel::reads_properties);
    let weights = chosen.labels.iter().any(|label| matches!(label.weight, ChosenWeight::Property(..)));
    (Copies::All { weights }, config.directed && (config.is_one_way() || by_property))
}
