//! Copies of a view as compressed rows, shared by callers who ask for the same one while any of them uses it.

use std::sync::{Arc, Weak};

use hedgerow_core::sync::Mutex;
use hedgerow_core::{Direction, KeyColumn, LabelId, Timestamp, VertexId};

/// The edges of one label in one direction as compressed rows, a row for each vertex: plain arrays that other
/// libraries take as they are.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Csr {
    /// The vertex of each row.
    pub vertices: Vec<VertexId>,
    /// The key of each row.
    pub keys: KeyColumn,
    /// Offsets, one more than rows: the neighbours of row `r` are those from `offsets[r]` up to, not
    /// including, `offsets[r + 1]`.
    pub offsets: Vec<i64>,
    /// Neighbours as rows, ascending within a row; one entry for each edge of a `multi` label.
    pub targets: Vec<u32>,
    /// The weights of the edges; `None` where they have none.
    pub weights: Option<Vec<f64>>,
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// The order of vertex ids, as of [`vertices`](crate::Snapshot::vertices). The quickest to make.
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

    /// Sets the direction: along the edges or against them; the same in an undirected graph.
    pub fn direction(mut self, direction: Direction) -> CsrOptions {
        self.direction = direction;
        self
    }

    /// Sets the order of rows.
    pub fn order(mut self, order: RowOrder) -> CsrOptions {
        self.order = order;
        self
    }

    /// Sets the property that is the weight of an edge, as
    /// [`EdgeSelection::weighted_by`](crate::EdgeSelection::weighted_by) takes it: every edge must have it.
    pub fn weight(mut self, property: impl Into<String>) -> CsrOptions {
        self.weight = Some(property.into());
        self
    }
}

/// The identity of a copy.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct CsrKey {
    pub(crate) label: LabelId,
    pub(crate) ts: Timestamp,
    pub(crate) options: CsrOptions,
}

/// The copies in use. The cache keeps none alive.
#[derive(Default)]
pub(crate) struct CsrCache {
    copies: Mutex<Vec<(CsrKey, Weak<Csr>)>>,
}

impl CsrCache {
    /// Returns the copy, if it is in use.
    pub(crate) fn get(&self, key: &CsrKey) -> Option<Arc<Csr>> {
        self.copies.lock().iter().find(|(of, _)| of == key)?.1.upgrade()
    }

    /// Shares a copy. Returns the one to use: another thread may have made the same.
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
