//! What edges have beside neighbour and weight: ranks (of `multi` labels) and property rows.
//!
//! A subgraph without ranks and rows pays nothing for them: its main part has no [`Extra`], its delta no [`DeltaExtra`].
//! Lists of ranked edges ascend by (neighbour, rank) and may name a neighbour several times.

use std::sync::{Arc, OnceLock};

use hedgerow_core::sync::{AtomicU32, AtomicU64, Ordering};
use hedgerow_core::{Columns, PropertyId, PropertyType, Row, RowRef, VertexId};

/// What the edges of a main part have beside neighbour and weight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// The rank of each edge; absent if all are 0.
    pub ranks: Option<Box<[u64]>>,
    /// The properties.
    pub columns: Columns,
}

impl Extra {
    /// What a main part keeps of it: nothing where no edge has any.
    pub(crate) fn shared(self) -> Option<Arc<Extra>> {
        (self.ranks.is_some() || !self.columns.is_empty()).then(|| Arc::new(self))
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<Extra>() + self.ranks.as_ref().map_or(0, |r| r.len() * 8) + self.columns.bytes()
    }
}

/// What the entries of a delta have beside destination and weight. Each array is allocated when the first entry needs
/// it. A place is written before its entry is published, and never again.
#[derive(Default)]
pub(crate) struct DeltaExtra {
    ranks: OnceLock<Box<[AtomicU64]>>,
    /// Rows of one value of fixed width, as most are.
    words: OnceLock<Words>,
    /// Other rows.
    rows: OnceLock<Box<[OnceLock<Row>]>>,
}

/// Rows of one value of fixed width: what each says, and the bits of the value.
struct Words {
    /// The property in the upper 24 bits, its type in the lower 8; 0 for an entry without such a row.
    kinds: Box<[AtomicU32]>,
    bits: Box<[AtomicU64]>,
}

impl Words {
    fn new(capacity: usize) -> Words {
        let (mut kinds, mut bits) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
        kinds.resize_with(capacity, || AtomicU32::new(0));
        bits.resize_with(capacity, || AtomicU64::new(0));
        Words { kinds: kinds.into_boxed_slice(), bits: bits.into_boxed_slice() }
    }

    /// Sets a row that is not published yet: ordered by the release store of the length that publishes the entry.
    #[inline]
    fn set(&self, at: usize, id: PropertyId, (kind, word): (PropertyType, u64)) {
        self.bits[at].store(word, Ordering::Relaxed);
        self.kinds[at].store(u32::from(id.0) << 8 | u32::from(kind as u8), Ordering::Relaxed);
    }

    #[inline]
    fn get(&self, at: usize) -> Option<RowRef<'static>> {
        let kind = self.kinds.get(at)?.load(Ordering::Relaxed);
        let word = self.bits.get(at)?.load(Ordering::Relaxed);
        Some(RowRef::Word(PropertyId((kind >> 8) as u16), PropertyType::from_byte(kind as u8)?, word))
    }
}

impl DeltaExtra {
    /// Sets rank and row of the entry at `at`, which is not published yet.
    pub(crate) fn set(&self, at: usize, capacity: usize, rank: u64, row: RowRef<'_>) {
        if rank != 0 {
            let ranks = self.ranks.get_or_init(|| (0..capacity).map(|_| AtomicU64::new(0)).collect());
            // Ordered by the release store of the length that publishes the entry.
            ranks[at].store(rank, Ordering::Relaxed);
        }
        let word = match row {
            RowRef::Word(id, kind, word) => Some((id, (kind, word))),
            RowRef::Row(row) | RowRef::Fixed(row) if let [(id, value)] = row.cells() => {
                value.as_ref().to_word().map(|word| (*id, word))
            }
            _ => None,
        };
        if let Some((id, word)) = word {
            self.words.get_or_init(|| Words::new(capacity)).set(at, id, word);
        } else if let Some(row) = row.to_row() {
            let rows = self.rows.get_or_init(|| (0..capacity).map(|_| OnceLock::new()).collect());
            let set = rows[at].set(row);
            debug_assert!(set.is_ok(), "an entry is written once");
        }
    }

    pub(crate) fn has_ranks(&self) -> bool {
        self.ranks.get().is_some()
    }

    pub(crate) fn has_rows(&self) -> bool {
        self.words.get().is_some() || self.rows.get().is_some()
    }

    #[inline]
    pub(crate) fn rank(&self, at: usize) -> u64 {
        self.ranks.get().and_then(|ranks| ranks.get(at)).map_or(0, |rank| rank.load(Ordering::Relaxed))
    }

    #[inline]
    pub(crate) fn row(&self, at: usize) -> RowRef<'_> {
        if let Some(row) = self.words.get().and_then(|words| words.get(at)) {
            return row;
        }
        let row = self.rows.get().and_then(|rows| rows.get(at)?.get());
        row.map_or(RowRef::Empty, RowRef::Row)
    }

    pub(crate) fn bytes(&self) -> usize {
        let rows = self.rows.get().map_or(0, |rows| {
            let held = rows.iter().filter_map(OnceLock::get).map(Row::bytes);
            rows.len() * size_of::<OnceLock<Row>>() + held.sum::<usize>()
        });
        let words = self.words.get().map_or(0, |words| words.bits.len() * 12);
        size_of::<DeltaExtra>() + self.ranks.get().map_or(0, |ranks| ranks.len() * 8) + words + rows
    }
}

/// One edge as it lies in a version.
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
