//! Spans of free pages, kept to be used again: what an allocator that maps large blocks by themselves keeps back from the system.
//!
//! A slot holds a whole span in one word, and every change is one exchange of such a word. So no lock is taken: an allocator is called
//! in every state of a process, also in a child that was forked while another thread was in here.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Bits of a number of pages; the number of the first page stands above them.
const BITS: u32 = 28;
/// How many spans there can be.
const SLOTS: usize = 256;

/// Pages that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The number of the first: its address by the size of a page.
    pub first: usize,
    /// How many there are.
    pub pages: usize,
}

impl Span {
    /// The word of a slot; `None` if the span does not fit one.
    fn word(self) -> Option<u64> {
        let fits = self.pages > 0 && self.pages < 1 << BITS && self.first < 1 << (u64::BITS - BITS);
        fits.then_some((self.first as u64) << BITS | self.pages as u64)
    }

    fn of(word: u64) -> Option<Span> {
        let span = Span { first: (word >> BITS) as usize, pages: (word & ((1 << BITS) - 1)) as usize };
        (word != 0).then_some(span)
    }

    /// Both, if one ends where the other begins.
    fn joined(self, other: Span) -> Option<Span> {
        let pages = self.pages + other.pages;
        match (self.first + self.pages == other.first, other.first + other.pages == self.first) {
            (true, _) => Some(Span { first: self.first, pages }),
            (_, true) => Some(Span { first: other.first, pages }),
            _ => None,
        }
    }
}

/// Free spans, at most so many pages together.
pub struct Spans {
    /// Zero where there is none.
    slots: [AtomicU64; SLOTS],
    /// Pages that are here, or about to be.
    pages: AtomicUsize,
    most: usize,
}

impl Spans {
    /// Without spans; it will take `most` pages.
    pub const fn new(most: usize) -> Spans {
        Spans { slots: [const { AtomicU64::new(0) }; SLOTS], pages: AtomicUsize::new(0), most }
    }

    /// The number of the first of so many pages, which are the caller's from now on: of the smallest span that has them.
    /// O(1), the slots.
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
            // What the one who gave the pages did with them comes before what the caller does.
            if slot.compare_exchange(word, left, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                self.pages.fetch_sub(pages, Ordering::Relaxed);
                return Some(span.first);
            }
        }
    }

    /// Keeps pages that the caller has no use for any more, joined to spans beside them. O(1), the slots.
    ///
    /// # Errors
    /// There is no room: the pages stay the caller's, with those of spans that they were joined to.
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

    /// Takes a span beside this one out of its slot and joins both; false if there is none.
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

    /// Takes all spans, one after the other.
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
