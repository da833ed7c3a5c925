//! Views of chosen edges, kept by the snapshots that made them.

use std::sync::Arc;

use hedgerow_catalog::error::{ArgumentError, Error, Result};
use hedgerow_core::LabelId;
use hedgerow_mem::View;

use crate::read::compose::{self, Unmade, Unweighed};
use crate::read::selection::EdgeSelection;
use crate::read::selection_ref::EdgeSelectionRef;
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::ChosenEdges;

impl Snapshot {
    /// Returns the graph of the chosen edges for kernels: one entry for each of these edges, and the vertices
    /// of the [kinds](EdgeSelection::kinds) that their labels state, or else all vertices. If the choice is
    /// the default label, this is the view of [`default_label`](Self::default_label).
    ///
    /// Other views are made once for all snapshots of a timestamp. Each of these snapshots keeps its last
    /// eight. A subgraph costs O(1) if it has edges of one label only and all of them are chosen. Others cost
    /// O(their edges): 4 bytes for each copied edge and end, and 8 more for its weight. Runs in parallel on
    /// the current rayon pool.
    ///
    /// If labels state kinds, the first view of a snapshot reads the kinds of all vertices in O(vertices),
    /// and their keys if memory does not have them.
    ///
    /// In a directed graph, a view that chooses or weighs edges by a property makes its incoming side when it
    /// is first used, in O(vertices + edges).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`], [`ArgumentError::NoSuchProperty`], [`ArgumentError::FilterType`],
    /// [`ArgumentError::NoSuchKind`]; [`ArgumentError::Invalid`] if the list of labels is empty, if edges may
    /// have ends of kinds that the call does not name, or if an edge has no number for its weight;
    /// [`StateError::Forked`](crate::StateError::Forked) in a forked child.
    pub fn view<'s>(&self, edges: impl Into<EdgeSelectionRef<'s>>) -> Result<Arc<View>> {
        self.view_of_selection(&edges.into().selection())
    }

    pub(super) fn view_of_selection(&self, selection: &EdgeSelection<'_>) -> Result<Arc<View>> {
        let chosen = self.chosen_edges(selection)?;
        match chosen.only_whole_label() {
            Some(label) => self.view_of_whole(label, chosen),
            None => self.shared_view(chosen, |chosen| self.make_view(selection, chosen)),
        }
    }

    /// Returns the view of a label whose edges are all chosen.
    pub(super) fn view_of_whole(&self, label: LabelId, chosen: ChosenEdges) -> Result<Arc<View>> {
        match chosen.kinds {
            None => self.label_view(label),
            Some(_) => self.shared_view(chosen, |_| self.label_view(label).map(Arc::unwrap_or_clone)),
        }
    }

    /// Returns the view of these edges that this snapshot or another one of its timestamp keeps. If there is
    /// none, `make` makes it with all vertices, and the result is restricted to the chosen ones.
    fn shared_view(
        &self,
        chosen: ChosenEdges,
        make: impl FnOnce(&ChosenEdges) -> Result<View>,
    ) -> Result<Arc<View>> {
        if let Some(view) = self.selected().find(&chosen) {
            return Ok(view);
        }
        let make = || self.in_kinds(make(&chosen)?, chosen.kinds.as_deref());
        let view = self.engine().views.chosen(self.timestamp(), &chosen, make)?;
        self.selected().keep(chosen, &view);
        Ok(view)
    }

    /// Resolves a selection for this snapshot; if it takes several labels, keeps those that have edges.
    pub(super) fn chosen_edges(&self, selection: &EdgeSelection<'_>) -> Result<ChosenEdges> {
        let mut chosen = selection.resolve(self)?;
        if chosen.labels.len() > 1 {
            let used = chosen.labels.iter().map(|label| self.has_edges(label.label));
            let used = used.collect::<Result<Vec<bool>>>()?;
            let mut used = used.into_iter();
            chosen.labels.retain(|_| used.next().unwrap_or(true));
        }
        Ok(chosen)
    }

    fn make_view(&self, selection: &EdgeSelection<'_>, chosen: &ChosenEdges) -> Result<View> {
        compose::view(self.engine(), chosen, self.timestamp()).map_err(|unmade| match unmade {
            Unmade::Error(error) => error,
            Unmade::NoWeight(edge) => self.no_weight(selection.weight_name(), edge),
        })
    }

    /// Returns the error for an edge whose weight property has no value.
    pub(super) fn no_weight(&self, property: &str, edge: Unweighed) -> Error {
        let Unweighed { label, ends: (src, dst) } = edge;
        let engine = self.engine();
        let (src, dst) =
            match (engine.keys.key_of(&engine.pager, src), engine.keys.key_of(&engine.pager, dst)) {
                (Ok(src), Ok(dst)) => (src, dst),
                (Err(error), _) | (_, Err(error)) => return error,
            };
        let schema = engine.catalog.schema.load();
        let label = schema.label_by_id(label).map_or("", |label| &**label.name());
        let of = if label.is_empty() { String::new() } else { format!(" of label {label:?}") };
        let message = format!("the edge from {src} to {dst} has no value of property {property}{of}");
        ArgumentError::Invalid(message).into()
    }
}
