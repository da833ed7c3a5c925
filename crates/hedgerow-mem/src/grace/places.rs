//! Places of pages that are absent, in files, or in memory (rule P6 of `docs/design/pages.md`).

use hedgerow_core::growing::Growing;
use hedgerow_core::sync::{AtomicPtr, AtomicUsize, Mutex, Ordering};
use hedgerow_core::{Timestamp, faults};

use super::hold::Hold;
use super::read_guard;
use super::replaced::{Kept, Owned, Replaced};

/// A page that was evicted: files have its content as of `since`, the greatest stamp of its subgraphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// The timestamp of the last operation on the page.
    pub since: Timestamp,
}

/// The content of a place.
pub(crate) enum Found<'a, T> {
    /// Nothing was ever put there.
    Absent,
    Evicted(Evicted),
    InMemory(&'a T),
}

/// The word of a place, so that each decision uses one load: zero, the address of a value, or an odd number
/// with the timestamp of an evicted page. Once it is not zero, it never is again.
struct Place<T>(AtomicPtr<Kept<T>>);

impl<T> Default for Place<T> {
    fn default() -> Self {
        Place(AtomicPtr::new(std::ptr::null_mut()))
    }
}

// SAFETY: readers of several threads get `&T`, and the value may be dropped by any thread.
unsafe impl<T: Send + Sync> Sync for Place<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Place<T> {}

impl<T> Drop for Place<T> {
    fn drop(&mut self) {
        let last = self.0.load(Ordering::Relaxed);
        if is_value(last) {
            // The place is owned here alone: no thread has its value.
            drop(Owned::new(last));
        }
    }
}

#[inline]
fn is_value<T>(word: *const Kept<T>) -> bool {
    !word.is_null() && word.addr() & 1 == 0
}

/// Timestamps take 56 bits ([`Stamp`](crate::subgraph::Stamp)).
fn word_of<T>(evicted: Evicted) -> *mut Kept<T> {
    std::ptr::without_provenance_mut((evicted.since.0 << 1 | 1) as usize)
}

#[cfg(not(target_pointer_width = "64"))]
compile_error!("the words of places have timestamps of 56 bits");

/// An array of places. Any thread reads it without locks, with a [`Hold`] if values may be evicted.
pub(crate) struct Places<T, const MOST: usize> {
    places: Growing<Place<T>, MOST>,
    /// True if values are evicted. Then a reader needs a hold.
    evicts: bool,
    retired: Mutex<Replaced<T>>,
    /// The number of evicted values that wait for holds.
    waiting: AtomicUsize,
}

impl<T: Send + Sync, const MOST: usize> Places<T, MOST> {
    pub(crate) fn new(evicts: bool) -> Places<T, MOST> {
        let waiting = AtomicUsize::new(0);
        Places { places: Growing::default(), evicts, retired: Mutex::default(), waiting }
    }

    /// Returns a hold that suffices for these places.
    #[inline]
    pub(crate) fn hold(&self) -> Hold {
        if self.evicts { Hold::begin() } else { Hold::empty() }
    }

    /// Returns the content of a place.
    ///
    /// # Panics
    /// If the hold is empty and values are evicted.
    #[inline]
    pub(crate) fn get<'a>(&'a self, index: usize, hold: &'a Hold) -> Found<'a, T> {
        assert!(!self.evicts || hold.is_active(), "a page is read without a hold");
        let Some(place) = self.places.get(index) else { return Found::Absent };
        // Acquire: a value is complete when its address is stored.
        let word = place.0.load(Ordering::Acquire);
        // SAFETY: the value was the place's when the word was read, and it is dropped after the hold (see
        // `free`); or values are never evicted, and it is dropped with the places, which are borrowed.
        unsafe { Self::found(word) }
    }

    /// Returns the content that a word means.
    ///
    /// # Safety
    /// If it is the address of a value, no thread drops the value during `'a`.
    #[inline]
    unsafe fn found<'a>(word: *mut Kept<T>) -> Found<'a, T> {
        if is_value(word) {
            // SAFETY: by the caller.
            let kept = unsafe { &*word };
            kept.life.touch();
            Found::InMemory(&kept.value)
        } else if word.is_null() {
            Found::Absent
        } else {
            Found::Evicted(Evicted { since: Timestamp(word.addr() as u64 >> 1) })
        }
    }

    /// Puts a value into a place that has the content `before`: nothing, or an evicted value. Otherwise the
    /// content stays, and the value is dropped. True if the value was put. Calls `taken` with the bytes of a
    /// new chunk.
    pub(crate) fn put(&self, index: usize, before: Option<Evicted>, value: T, taken: impl Fn(usize)) -> bool {
        let place = self.places.get_or_create(index, taken);
        let before = before.map_or(std::ptr::null_mut(), word_of);
        let value = Kept::boxed(value);
        let put = place.0.compare_exchange(before, value, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if !put {
            // No other thread has seen it.
            drop(Owned::new(value));
        }
        put
    }

    /// Evicts a value, unless another one has its place; it is dropped by a later [`free`](Self::free). The
    /// caller guarantees that files have its content. True if it was evicted.
    pub(crate) fn evict(&self, index: usize, value: &T, evicted: Evicted) -> bool {
        let Some(place) = self.places.get(index).filter(|_| self.evicts) else { return false };
        let word = place.0.load(Ordering::Acquire);
        // SAFETY: as in `get`: the caller has the value by a hold. Another value of the place, which could
        // be dropped, is not read: only its address is compared.
        let is_it = is_value(word) && std::ptr::eq(unsafe { &raw const (*word).value }, value);
        if !is_it
            || place.0.compare_exchange(word, word_of(evicted), Ordering::AcqRel, Ordering::Relaxed).is_err()
        {
            return false;
        }
        self.retired.lock().push(Owned::new(word));
        self.waiting.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Drops the evicted values that no hold keeps any more; returns their number. Runs a barrier if values
    /// were evicted since the last call.
    pub(crate) fn free(&self) -> usize {
        let ignored = faults::is_on(faults::PlantedFault::HoldNotWaitedFor);
        let holds = || if ignored { Vec::new() } else { read_guard::ongoing_holds() };
        let freed = self.retired.lock().advance(holds);
        self.waiting.fetch_sub(freed, Ordering::Relaxed);
        freed
    }

    /// True if evicted values wait for holds.
    pub(crate) fn has_retired(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Returns the indices of all places with a value, in memory or evicted, ascending.
    pub(crate) fn indices(&self) -> impl Iterator<Item = usize> {
        let indexed = self.places.chunks().flat_map(|(first, places)| (first..).zip(places));
        indexed.filter(|(_, place)| !place.0.load(Ordering::Acquire).is_null()).map(|(index, _)| index)
    }

    /// True if the place has a value in memory.
    pub(crate) fn is_in_memory(&self, index: usize) -> bool {
        self.places.get(index).is_some_and(|place| is_value(place.0.load(Ordering::Acquire)))
    }

    /// Returns the evicted content of a place, if it is evicted.
    pub(crate) fn evicted(&self, index: usize) -> Option<Evicted> {
        let word = self.places.get(index)?.0.load(Ordering::Acquire);
        let is_evicted = !word.is_null() && !is_value(word);
        is_evicted.then(|| Evicted { since: Timestamp(word.addr() as u64 >> 1) })
    }

    /// True if nothing was ever put into the place.
    pub(crate) fn is_absent(&self, index: usize) -> bool {
        self.places.get(index).is_none_or(|place| place.0.load(Ordering::Acquire).is_null())
    }

    /// Returns the bytes of the array, without the values.
    pub(crate) fn bytes(&self) -> usize {
        self.places.bytes()
    }
}
