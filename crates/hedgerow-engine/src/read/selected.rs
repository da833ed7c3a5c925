//! Reads of a vertex over chosen edges: several labels, ranks, both directions.

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, Row, RowRef, VertexId, VertexKeyRef};
use hedgerow_mem::ItemRef;

use crate::read::selection::EdgeSelection;
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::{ChosenEdges, ChosenLabel, ChosenWeight, EdgeDirection};

impl ChosenEdges {
    /// Returns the stored directions in which lists are read.
    pub(super) fn directions(&self) -> &'static [Direction] {
        match self.direction {
            EdgeDirection::Out => &[Direction::Out],
            EdgeDirection::In => &[Direction::In],
            EdgeDirection::Both => &[Direction::Out, Direction::In],
        }
    }

    /// Returns the labels and the direction, if labels are chosen wholly and in one direction.
    pub(super) fn whole_labels(&self) -> Option<(impl Iterator<Item = LabelId>, Direction)> {
        match self.directions() {
            [direction] if self.labels.iter().all(ChosenLabel::is_all) => {
                Some((self.labels.iter().map(|label| label.label), *direction))
            }
            _ => None,
        }
    }
}

impl Snapshot {
    /// Calls `f` with label, direction, other endpoint and rank of each chosen edge at a vertex. `f` must not
    /// read lists.
    pub(super) fn for_each_chosen(
        &self,
        chosen: &ChosenEdges,
        id: VertexId,
        mut f: impl FnMut(LabelId, Direction, VertexId, u64),
    ) -> Result<()> {
        let placement = self.engine().catalog.placement();
        let mut found = Vec::new();
        for label in &chosen.labels {
            for &direction in chosen.directions() {
                // A self-loop is in both lists.
                let again = direction == Direction::In && chosen.direction == EdgeDirection::Both;
                let is_new = |other, rank| !(again && other == id) && label.has_rank(rank);
                if label.tests.is_empty() {
                    self.for_each_end(label.label, id, direction, |other, rank| {
                        if is_new(other, rank) {
                            f(label.label, direction, other, rank);
                        }
                    })?;
                    continue;
                }
                found.clear();
                self.for_each_item(label.label, id, direction, |item| {
                    if is_new(item.dst, item.rank) {
                        found.push((item.dst, item.rank, label.passes(&item)));
                    }
                })?;
                for &(other, rank, passes) in &found {
                    let (src, dst) = placement.ends_of_copy(id, other, direction);
                    let is_first = placement.counts_at(direction, id, other);
                    let passes = if label.tests_properties() && !is_first {
                        let first =
                            self.with_item(label.label, src, dst, rank, |item| label.passes(&item))?;
                        first.unwrap_or(false)
                    } else {
                        passes
                    };
                    if passes {
                        f(label.label, direction, other, rank);
                    }
                }
            }
        }
        Ok(())
    }
}

impl EdgeSelection<'_> {
    /// Returns the vertex at which a kernel over the chosen edges begins, or `None` if there is none. Looks
    /// the key up like [`Snapshot::neighbors`]. O(labels).
    ///
    /// # Errors
    /// The errors of [`Snapshot::neighbors`];
    /// [`StateError::Forked`](crate::StateError::Forked) in a forked child;
    /// [`ArgumentError::Invalid`](crate::ArgumentError::Invalid) if the graph of these edges has no vertices
    /// of its [kind](Self::kinds).
    pub fn kernel_vertex<'a>(
        &self,
        snapshot: &Snapshot,
        key: impl Into<VertexKeyRef<'a>>,
    ) -> Result<Option<VertexId>> {
        snapshot.engine().check_owner()?;
        let key = self.end_of(snapshot, key.into())?;
        self.check_has_kind_of(snapshot, key)?;
        snapshot.vertex_id(key)
    }
}

impl ChosenLabel {
    /// True if all edges of the label are taken.
    pub(super) fn is_all(&self) -> bool {
        self.ranks.is_none() && self.tests.is_empty()
    }

    pub(super) fn weight_of(&self, item: &ItemRef<'_>) -> Option<f64> {
        match self.weight {
            ChosenWeight::Stored => Some(item.weight),
            ChosenWeight::Property(property, missing) => {
                let number = property.and_then(|property| item.row.get(property).as_number());
                number.or(missing.map(f64::from_bits))
            }
        }
    }

    pub(crate) fn has_rank(&self, rank: u64) -> bool {
        self.ranks.is_none_or(|(first, last)| (first..=last).contains(&rank))
    }

    /// True if an edge with this weight and these properties passes the tests.
    pub(crate) fn passes_row(&self, weight: f64, row: Option<&Row>) -> bool {
        self.tests.iter().all(|test| test.passes(weight, RowRef::from(row)))
    }

    /// True if this copy of an edge passes the tests of those properties that it has.
    pub(crate) fn passes(&self, item: &ItemRef<'_>) -> bool {
        self.tests.iter().all(|test| test.passes(item.weight, item.row))
    }
}
