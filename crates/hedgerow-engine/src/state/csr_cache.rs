//! Copies of a view as compressed rows. Callers that want the same copy share it while one of them uses it.

use std::sync::{Arc, Weak};

use hedgerow_core::sync::Mutex;
use hedgerow_core::{Direction, KeyColumn, Timestamp, VertexId};

use crate::state::chosen_edges::ChosenEdges;

/// Chosen edges in one direction as compressed rows, a row for each vertex: plain arrays in the
/// form that other libraries use.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Csr {
    /// The vertex of each row.
    pub vertices: Vec<VertexId>,
    /// The key of each row.
    pub keys: KeyColumn,
    /// Offsets, one more than rows: `offsets[r]` is the index of the first neighbour of row `r`, and
    /// `offsets[r + 1]` the index after the last.
    pub offsets: Vec<i64>,
    /// Neighbours, as numbers of rows, ascending within a row; one entry for each edge.
    pub targets: Vec<u32>,
    /// The weights of the edges; `None` if they have no weights.
    pub weights: Option<Vec<f64>>,
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// The order of vertex ids, as in [`vertices`](crate::Snapshot::vertices). The fastest order to make.
    #[default]
    Id,
    /// The order of keys: numbers and texts ascending, texts by their bytes.
    Key,
}

/// The options of a [`Csr`]: by default outgoing edges with the weights of the label, if it has some
/// ([`EdgeSelection::weighted`](crate::EdgeSelection::weighted)), and rows by vertex id.
///
/// ```
/// use hedgerow::{CsrOptions, Direction, RowOrder};
///
/// let options = CsrOptions::new().direction(Direction::In).order(RowOrder::Key);
/// assert_ne!(options, CsrOptions::new());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct CsrOptions {
    pub(crate) direction: Direction,
    pub(crate) order: RowOrder,
    pub(crate) weight: Option<String>,
}

impl Default for CsrOptions {
    fn default() -> CsrOptions {
        CsrOptions { direction: Direction::Out, order: RowOrder::Id, weight: None }
    }
}

impl CsrOptions {
    /// Returns the defaults.
    pub fn new() -> CsrOptions {
        CsrOptions::default()
    }

    /// Sets the direction of the rows in the graph of the chosen edges: along its edges or against them; the
    /// same in an undirected graph. A choice of incoming edges has turned the edges already.
    pub fn direction(mut self, direction: Direction) -> CsrOptions {
        self.direction = direction;
        self
    }

    /// Sets the order of rows.
    pub fn order(mut self, order: RowOrder) -> CsrOptions {
        self.order = order;
        self
    }

    /// Sets the property that is the weight of an edge, like
    /// [`EdgeSelection::weighted_by`](crate::EdgeSelection::weighted_by): every edge must have it.
    pub fn weight(mut self, property: impl Into<String>) -> CsrOptions {
        self.weight = Some(property.into());
        self
    }
}

/// The parameters by which a copy is found.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct CsrKey {
    pub(crate) chosen: ChosenEdges,
    pub(crate) ts: Timestamp,
    pub(crate) options: CsrOptions,
}

/// The copies that callers use. The cache alone keeps no copy in memory.
#[derive(Default)]
pub(crate) struct CsrCache {
    copies: Mutex<Vec<(CsrKey, Weak<Csr>)>>,
}

impl CsrCache {
    /// Returns the copy, if it is in use.
    pub(crate) fn get(&self, key: &CsrKey) -> Option<Arc<Csr>> {
        self.copies.lock().iter().find(|(of, _)| of == key)?.1.upgrade()
    }

    /// Shares a copy. Returns the copy to use: another thread may have made and shared the same one.
    pub(crate) fn offer(&self, key: CsrKey, copy: Arc<Csr>) -> Arc<Csr> {
        let mut copies = self.copies.lock();
        copies.retain(|(_, copy)| copy.strong_count() > 0);
        if let Some(same) = copies.iter().find(|(of, _)| *of == key).and_then(|(_, copy)| copy.upgrade()) {
            return same;
        }
        copies.push((key, Arc::downgrade(&copy)));
        copy
    }
}
