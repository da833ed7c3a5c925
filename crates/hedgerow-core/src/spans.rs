//! Spans of free memory pages, for an allocator that maps each large block separately. It keeps them for
//! reuse instead of returning them to the system.
//!
//! A slot has a whole span in one word, and every change is one exchange of such a word. So no lock is
//! needed: an allocator may be called in any state, also in a child that was forked while another thread ran
//! this code.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The number of low bits of a word that have the count of pages. The bits above them have the number of the
/// first page.
const BITS: u32 = 28;
/// The most spans that can be stored.
const SLOTS: usize = 256;

/// Consecutive pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The number of the first page: its address divided by the size of a page.
    pub first: usize,
    /// The number of pages.
    pub pages: usize,
}

impl Span {
    /// Returns the word for a slot; `None` if the span does not fit in a word.
    fn word(self) -> Option<u64> {
        let fits = self.pages > 0 && self.pages < 1 << BITS && self.first < 1 << (u64::BITS - BITS);
        fits.then_some((self.first as u64) << BITS | self.pages as u64)
    }

    fn of(word: u64) -> Option<Span> {
        let span = Span { first: (word >> BITS) as usize, pages: (word & ((1 << BITS) - 1)) as usize };
        (word != 0).then_some(span)
    }

    /// Returns both as one span, if they are adjacent.
    fn joined(self, other: Span) -> Option<Span> {
        let pages = self.pages + other.pages;
        match (self.first + self.pages == other.first, other.first + other.pages == self.first) {
            (true, _) => Some(Span { first: self.first, pages }),
            (_, true) => Some(Span { first: other.first, pages }),
            _ => None,
        }
    }
}

/// Free spans, with a limit of `most` pages together.
pub struct Spans {
    /// The words of spans; zero in an empty slot.
    slots: [AtomicU64; SLOTS],
    /// The number of pages that are stored, or are about to be.
    pages: AtomicUsize,
    most: usize,
}

impl Spans {
    /// Makes a collection without spans that takes at most `most` pages.
    pub const fn new(most: usize) -> Spans {
        Spans { slots: [const { AtomicU64::new(0) }; SLOTS], pages: AtomicUsize::new(0), most }
    }

    /// Takes `pages` pages from the smallest span that has them, and returns the number of the first page.
    /// From now on they belong to the caller. Cost: a pass over the slots.
    pub fn take(&self, pages: usize) -> Option<usize> {
        if pages == 0 || self.pages.load(Ordering::Relaxed) < pages {
            return None;
        }
        loop {
            let found = self.slots.iter().filter_map(|slot| {
                let word = slot.load(Ordering::Relaxed);
                Some((slot, word, Span::of(word).filter(|span| span.pages >= pages)?))
            });
            let (slot, word, span) = found.min_by_key(|(_, _, span)| span.pages)?;
            let rest = Span { first: span.first + pages, pages: span.pages - pages };
            let left = rest.word().unwrap_or(0);
            // Acquires: the former owner's accesses to the pages happen before the caller's accesses.
            if slot.compare_exchange(word, left, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                self.pages.fetch_sub(pages, Ordering::Relaxed);
                return Some(span.first);
            }
        }
    }

    /// Stores pages that the caller does not need any more, joined to adjacent spans. Cost: passes over the
    /// slots.
    ///
    /// # Errors
    /// The span does not fit: the pages belong to the caller, with the adjacent spans that were joined to
    /// them.
    pub fn put(&self, span: Span) -> Result<(), Span> {
        let before = self.pages.fetch_add(span.pages, Ordering::Relaxed);
        let has_room = before.checked_add(span.pages).is_some_and(|sum| sum <= self.most);
        let mut whole = span;
        while has_room && self.join_neighbor(&mut whole) {}
        let word = whole.word().filter(|_| has_room);
        let free = |word| {
            let into =
                |slot: &AtomicU64| slot.compare_exchange(0, word, Ordering::Release, Ordering::Relaxed);
            self.slots.iter().any(|slot| into(slot).is_ok())
        };
        if word.is_some_and(free) {
            return Ok(());
        }
        self.pages.fetch_sub(whole.pages, Ordering::Relaxed);
        Err(whole)
    }

    /// Removes an adjacent span from its slot and joins both; false if no slot has one.
    fn join_neighbor(&self, whole: &mut Span) -> bool {
        self.slots.iter().any(|slot| {
            let word = slot.load(Ordering::Relaxed);
            let Some(joined) = Span::of(word).and_then(|other| whole.joined(other)) else { return false };
            let is_ours = joined.word().is_some()
                && slot.compare_exchange(word, 0, Ordering::Acquire, Ordering::Relaxed).is_ok();
            if is_ours {
                *whole = joined;
            }
            is_ours
        })
    }

    /// Takes all spans, one after another.
    pub fn drain(&self) -> impl Iterator<Item = Span> {
        self.slots.iter().filter_map(|slot| {
            let span = Span::of(slot.swap(0, Ordering::Acquire))?;
            self.pages.fetch_sub(span.pages, Ordering::Relaxed);
            Some(span)
        })
    }
}

#[cfg(test)]
mod tests;
