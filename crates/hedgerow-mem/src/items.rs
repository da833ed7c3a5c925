//! What edges have beside neighbour and weight: ranks (of `multi` labels) and property rows.
//!
//! A subgraph without ranks and rows pays nothing for them: its main part has no [`Extra`], its delta no [`DeltaExtra`].
//! Lists of ranked edges ascend by (neighbour, rank) and may name a neighbour several times.

use std::sync::{Arc, OnceLock};

use hedgerow_core::sync::{AtomicU64, Ordering};
use hedgerow_core::{Columns, PropertyId, PropertyType, Row, RowRef, VertexId, simd};

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
    /// Rows of one value of fixed width, as most are.
    words: OnceLock<Words>,
    /// Other rows.
    rows: OnceLock<Box<[OnceLock<Row>]>>,
    ranks: OnceLock<Box<[AtomicU64]>>,
}

/// Rows of one value, all of the same property, which has a fixed width.
struct Words {
    property: PropertyId,
    kind: PropertyType,
    /// Which of the first entries have such a row.
    valid: [AtomicU64; WORD_ENTRIES / 64],
    bits: Box<[AtomicU64]>,
}

/// As many entries may have rows of one word; deltas have no more.
const WORD_ENTRIES: usize = 256;

impl Words {
    fn new(property: PropertyId, kind: PropertyType, capacity: usize) -> Words {
        let mut bits = Vec::with_capacity(capacity.min(WORD_ENTRIES));
        bits.resize_with(capacity.min(WORD_ENTRIES), || AtomicU64::new(0));
        let valid = std::array::from_fn(|_| AtomicU64::new(0));
        Words { property, kind, valid, bits: bits.into_boxed_slice() }
    }

    /// Sets a row that is not published yet, if it can stand here: ordered by the release store of the length that publishes the
    /// entry.
    #[inline]
    fn set(&self, at: usize, property: PropertyId, kind: PropertyType, word: u64) -> bool {
        let place = self.bits.get(at).filter(|_| (property, kind) == (self.property, self.kind));
        let Some(place) = place else { return false };
        place.store(word, Ordering::Relaxed);
        // One thread at a time appends.
        let valid = &self.valid[at / 64];
        valid.store(valid.load(Ordering::Relaxed) | 1 << (at % 64), Ordering::Relaxed);
        true
    }

    #[inline]
    fn get(&self, at: usize) -> Option<RowRef<'static>> {
        let valid = self.valid.get(at / 64)?.load(Ordering::Relaxed) >> (at % 64) & 1 == 1;
        let word = self.bits.get(at).filter(|_| valid)?.load(Ordering::Relaxed);
        Some(RowRef::Word(self.property, self.kind, word))
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
        let row = row.by_value();
        let set = match row {
            RowRef::Word(property, kind, word) => {
                let words = self.words.get_or_init(|| Words::new(property, kind, capacity));
                words.set(at, property, kind, word)
            }
            _ => false,
        };
        if !set && let Some(row) = row.to_row() {
            let rows = self.rows.get_or_init(|| (0..capacity).map(|_| OnceLock::new()).collect());
            let set = rows[at].set(row);
            debug_assert!(set.is_ok(), "an entry is written once");
        }
    }

    /// Starts loading what tells where the row of an entry goes.
    #[inline]
    pub(crate) fn prefetch(&self) {
        simd::prefetch(self);
        simd::prefetch((&raw const *self).cast::<u8>().wrapping_add(64));
    }

    /// Starts loading where the row of the entry at `at` goes, once [`prefetch`](Self::prefetch) has loaded where that is.
    #[inline]
    pub(crate) fn prefetch_row(&self, at: usize) {
        if let Some(bits) = self.words.get().and_then(|words| words.bits.get(at)) {
            simd::prefetch(bits);
        }
    }

    /// Copies the words of the first `n` rows, and says which rows there are, a bit for each; the property that all of them have and
    /// its type. `None` where some row is not one word.
    pub(crate) fn words(
        &self,
        n: usize,
        words: &mut Vec<u64>,
        valid: &mut Vec<u64>,
    ) -> Option<(PropertyId, PropertyType)> {
        let of_words = self.words.get().filter(|_| self.rows.get().is_none())?;
        words.clear();
        words.extend(of_words.bits.get(..n)?.iter().map(|word| word.load(Ordering::Relaxed)));
        valid.clear();
        valid.extend(of_words.valid.iter().map(|valid| valid.load(Ordering::Relaxed)));
        valid.truncate(n.div_ceil(64));
        if let Some(last) = valid.last_mut().filter(|_| !n.is_multiple_of(64)) {
            *last &= (1 << (n % 64)) - 1;
        }
        Some((of_words.property, of_words.kind))
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
        let words = self.words.get().map_or(0, |words| words.bits.len() * 8);
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
