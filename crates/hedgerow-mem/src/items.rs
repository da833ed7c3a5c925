//! Attributes of edges: ranks (of `multi` labels) and property rows.
//!
//! A subgraph without ranks and rows pays nothing for them: its main part has no [`Extra`], its delta no
//! [`DeltaExtra`]. Lists of ranked edges ascend by (neighbour, rank), and a neighbour may occur several
//! times.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

use hedgerow_core::sync::{AtomicU64, Ordering};
use hedgerow_core::{Columns, Row, RowRef, VertexId};

/// The attributes of the edges of a main part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// The rank of each edge; `None` if all are 0.
    pub ranks: Option<Box<[u64]>>,
    /// The properties.
    pub columns: Columns,
}

impl Extra {
    /// Shares the attributes; `None` if no edge has any.
    pub(crate) fn shared(self) -> Option<Arc<Extra>> {
        (self.ranks.is_some() || !self.columns.is_empty()).then(|| Arc::new(self))
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<Extra>() + self.ranks.as_ref().map_or(0, |r| r.len() * 8) + self.columns.bytes()
    }
}

/// The growth of a delta in bytes after which its version is charged again.
const CHARGED_AT_ONCE: usize = 256;

/// The attributes of the entries of a delta, except property words, which are in the block of the delta. Each
/// array is allocated when the first entry needs it. A place is written before its entry is published, and
/// never again.
#[derive(Default)]
pub(crate) struct DeltaExtra {
    rows: OnceLock<Box<[OnceLock<Row>]>>,
    ranks: OnceLock<Box<[AtomicU64]>>,
    /// The bytes of the arrays and of the rows.
    held: AtomicUsize,
    /// The value of [`bytes`](Self::bytes) when [`has_grown`](Self::has_grown) was last true.
    told: AtomicUsize,
}

impl DeltaExtra {
    /// Sets rank and row of the entry at `at`, which is not published yet.
    pub(crate) fn set(&self, at: usize, capacity: usize, rank: u64, row: RowRef<'_>) {
        if rank != 0 {
            let ranks = self.ranks.get_or_init(|| {
                self.hold(capacity * size_of::<AtomicU64>());
                (0..capacity).map(|_| AtomicU64::new(0)).collect()
            });
            // Ordered by the release store of the length that publishes the entry.
            ranks[at].store(rank, Ordering::Relaxed);
        }
        if let Some(row) = row.to_row() {
            let rows = self.rows.get_or_init(|| {
                self.hold(capacity * size_of::<OnceLock<Row>>());
                (0..capacity).map(|_| OnceLock::new()).collect()
            });
            self.hold(row.bytes());
            let set = rows[at].set(row);
            debug_assert!(set.is_ok(), "an entry is written once");
        }
    }

    /// Returns the bytes that the arrays of a delta with room for `capacity` entries take, in addition to
    /// those of `present`, once the delta has rows, or ranks.
    pub(crate) fn missing_bytes(
        present: Option<&DeltaExtra>,
        capacity: usize,
        (rows, ranks): (bool, bool),
    ) -> usize {
        let lacks_rows = rows && present.is_none_or(|extra| !extra.has_rows());
        let lacks_ranks = ranks && present.is_none_or(|extra| extra.ranks.get().is_none());
        let own = if present.is_some() { 0 } else { size_of::<DeltaExtra>() };
        let array = |lacks: bool, size: usize| if lacks { capacity * size } else { 0 };
        own + array(lacks_rows, size_of::<OnceLock<Row>>()) + array(lacks_ranks, size_of::<AtomicU64>())
    }

    /// Counts bytes. One thread at a time writes, so this needs no locked instruction.
    fn hold(&self, bytes: usize) {
        self.held.store(self.held.load(Ordering::Relaxed) + bytes, Ordering::Relaxed);
    }

    /// True if [`bytes`](Self::bytes) has grown by 256 or more after the last call that returned true. Only
    /// for the writer. O(1).
    pub(crate) fn has_grown(&self) -> bool {
        // Includes the bytes of `self`, which was allocated with the first growth.
        let held = self.bytes();
        let grown = held >= self.told.load(Ordering::Relaxed) + CHARGED_AT_ONCE;
        if grown {
            self.told.store(held, Ordering::Relaxed);
        }
        grown
    }

    pub(crate) fn has_rows(&self) -> bool {
        self.rows.get().is_some()
    }

    #[inline]
    pub(crate) fn rank(&self, at: usize) -> u64 {
        self.ranks.get().and_then(|ranks| ranks.get(at)).map_or(0, |rank| rank.load(Ordering::Relaxed))
    }

    #[inline]
    pub(crate) fn row(&self, at: usize) -> RowRef<'_> {
        let row = self.rows.get().and_then(|rows| rows.get(at)?.get());
        row.map_or(RowRef::Empty, RowRef::Row)
    }

    /// Returns the bytes of memory, with `self`. O(1).
    pub(crate) fn bytes(&self) -> usize {
        size_of::<DeltaExtra>() + self.held.load(Ordering::Relaxed)
    }
}

/// One edge of a version.
#[derive(Clone, Copy, Debug)]
pub struct ItemRef<'a> {
    /// The other endpoint.
    pub dst: VertexId,
    /// The rank; 0 unless the label is `multi`.
    pub rank: u64,
    /// The weight; 1 in a graph without weights.
    pub weight: f64,
    /// The properties.
    pub row: RowRef<'a>,
}

#[cfg(all(test, not(feature = "loom")))]
mod tests;
