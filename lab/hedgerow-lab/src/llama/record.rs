//! The record of each vertex in the vertex table: the place of its newest fragment, and its degree.

use std::ops::Range;

use hedgerow_core::VertexId;

/// A flag in the level of a fragment: a continuation record follows its entries.
const CONTINUES: u32 = 1 << 31;
/// A flag in the degree of a record: the vertex exists.
const PRESENT: u32 = 1 << 31;
/// A flag in the degree of a record: an entry of its fragments is removed.
const MARKED: u32 = 1 << 30;

/// The part of a list in one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fragment {
    level: u32,
    start: u32,
    len: u32,
}

impl Fragment {
    /// The fragment of a vertex without a list.
    pub(super) const NONE: Fragment = Fragment { level: 0, start: 0, len: 0 };
    /// The number of places that a continuation record takes in an edge table.
    pub(super) const WORDS: usize = 3;

    /// Makes the fragment at a place of a level.
    ///
    /// # Panics
    /// If `start` is 2^32 or more. Levels have fewer places, because merges keep them below that.
    pub(super) fn new(level: usize, start: usize, len: usize, continues: bool) -> Fragment {
        let start = u32::try_from(start).expect("an edge table has fewer than 2^32 places");
        let flag = if continues { CONTINUES } else { 0 };
        Fragment { level: level as u32 | flag, start, len: len as u32 }
    }

    #[inline]
    pub(super) fn is_none(self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(super) fn len(self) -> usize {
        self.len as usize
    }

    #[inline]
    pub(super) fn level(self) -> usize {
        (self.level & !CONTINUES) as usize
    }

    #[inline]
    pub(super) fn continues(self) -> bool {
        self.level & CONTINUES != 0
    }

    #[inline]
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }

    /// Returns the fragment as a continuation record.
    pub(super) fn words(self) -> [VertexId; Fragment::WORDS] {
        [self.level, self.start, self.len].map(VertexId)
    }

    #[inline]
    pub(super) fn of_words([level, start, len]: [VertexId; Fragment::WORDS]) -> Fragment {
        Fragment { level: level.0, start: start.0, len: len.0 }
    }
}

/// An element of the vertex table: 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    newest: Fragment,
    /// The number of neighbours, and two flags.
    degree: u32,
}

impl Record {
    pub(super) fn new(newest: Fragment, degree: usize, present: bool, marked: bool) -> Record {
        let flags = if present { PRESENT } else { 0 } | if marked { MARKED } else { 0 };
        Record { newest, degree: degree as u32 | flags }
    }

    #[inline]
    pub(super) fn newest(&self) -> Fragment {
        self.newest
    }

    #[inline]
    pub(super) fn degree(&self) -> usize {
        (self.degree & !(PRESENT | MARKED)) as usize
    }

    #[inline]
    pub(super) fn is_present(&self) -> bool {
        self.degree & PRESENT != 0
    }

    #[inline]
    pub(super) fn is_marked(&self) -> bool {
        self.degree & MARKED != 0
    }

    pub(super) fn set_present(&mut self, present: bool) {
        self.degree = if present { self.degree | PRESENT } else { self.degree & !PRESENT };
    }

    /// Counts one entry as removed. A list without remaining entries has no fragments.
    pub(super) fn lose_one(&mut self) {
        let degree = self.degree() - 1;
        *self = match degree {
            0 => Record::new(Fragment::NONE, 0, self.is_present(), false),
            _ => Record::new(self.newest, degree, self.is_present(), true),
        };
    }

    /// Makes the list empty.
    pub(super) fn lose_all(&mut self) {
        *self = Record::new(Fragment::NONE, 0, self.is_present(), false);
    }
}
