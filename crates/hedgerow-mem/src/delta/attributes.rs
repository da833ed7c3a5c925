//! The attributes of the entries of a delta: ranks and properties.

use hedgerow_core::RowRef;
use hedgerow_core::sync::Ordering;

use super::{Delta, WordProperty};
use crate::items::DeltaExtra;
use crate::op::{Attributes, Entries, Entry, Ops};

impl Delta {
    /// Prefetches the properties of the first `n` entries, if the storage has room for them.
    #[inline]
    pub(crate) fn prefetch_properties(&self, n: usize) {
        if self.word.is_some() {
            (0..n).step_by(8).for_each(|at| self.storage.prefetch_property(at));
        }
    }

    /// Sets ranks and properties of the entries from `first` on, which are not published yet.
    #[inline(never)]
    pub(super) fn set_all(&self, first: usize, ops: Ops<'_>) {
        for i in 0..ops.len() {
            match ops.attributes(i) {
                // Most edges with properties have one property, a number.
                Some(&Attributes { rank: 0, row: RowRef::Word(property, kind, word) })
                    if self.word == Some((property, kind)) =>
                {
                    self.storage.set_property(first + i, word);
                }
                attributes => {
                    let Attributes { rank, row } = *attributes.unwrap_or(&Attributes::NONE);
                    self.set_attributes(first + i, rank, row);
                }
            }
        }
    }

    /// Sets rank and properties of an entry that is not published yet.
    #[inline(never)]
    pub(super) fn set_attributes(&self, at: usize, rank: u64, row: RowRef<'_>) {
        let mut row = row.by_value();
        if let RowRef::Word(property, kind, word) = row
            && self.word == Some((property, kind))
        {
            self.storage.set_property(at, word);
            row = RowRef::Empty;
        } else if self.word.is_some() {
            self.storage.lack_property(at);
        }
        if rank != 0 {
            // Ordered by the release store of the length that publishes the entry.
            self.ranked.store(true, Ordering::Relaxed);
        }
        if rank != 0 || !matches!(row, RowRef::Empty) {
            self.extra.get_or_init(Box::default).set(at, self.capacity(), rank, row);
        }
    }

    /// Returns the ranks, and the rows that the storage cannot hold, if any entry has such attributes.
    #[inline]
    pub(crate) fn extra(&self) -> Option<&DeltaExtra> {
        self.extra.get().map(|extra| &**extra)
    }

    /// Copies the property words of the first `n` entries to `words`, and sets a bit in `valid` for each
    /// entry that has one. Returns their property and its type. `None` if the storage has no property words,
    /// or some entry has a row of another form.
    pub(crate) fn words(&self, n: usize, words: &mut Vec<u64>, valid: &mut Vec<u64>) -> Option<WordProperty> {
        let word = self.word.filter(|_| self.extra().is_none_or(|extra| !extra.has_rows()))?;
        words.clear();
        valid.clear();
        valid.resize(n.div_ceil(64), 0);
        words.extend((0..n).map(|at| {
            let found = self.storage.property(at);
            valid[at / 64] |= u64::from(found.is_some()) << (at % 64);
            found.unwrap_or(0)
        }));
        Some(word)
    }
}

impl Entries for Delta {
    #[inline]
    fn entry(&self, at: usize) -> Entry {
        Delta::entry(self, at)
    }

    #[inline]
    fn has_ranks(&self) -> bool {
        self.ranked.load(Ordering::Relaxed)
    }

    #[inline]
    fn has_rows(&self) -> bool {
        self.word.is_some() || self.extra().is_some_and(DeltaExtra::has_rows)
    }

    #[inline]
    fn rank(&self, at: usize) -> u64 {
        self.extra().map_or(0, |extra| extra.rank(at))
    }

    #[inline]
    fn row(&self, at: usize) -> RowRef<'_> {
        if let Some((property, kind)) = self.word
            && let Some(word) = self.storage.property(at)
        {
            return RowRef::Word(property, kind, word);
        }
        self.extra().map_or(RowRef::Empty, |extra| extra.row(at))
    }
}
