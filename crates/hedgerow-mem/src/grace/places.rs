//! Places of pages. The page of a place is absent, only in files, or in memory (rule P6 of
//! `docs/design/pages.md`).

use hedgerow_core::growing::Growing;
use hedgerow_core::sync::{AtomicPtr, AtomicUsize, Mutex, Ordering};
use hedgerow_core::{Timestamp, faults};

use super::hold::Hold;
use super::read_guard;
use super::replaced::{Kept, Owned, Replaced};

/// The content of a place.
pub(crate) enum Found<'a, T> {
    /// No value was ever put into the place.
    Absent,
    /// The value was evicted, with this timestamp of its last change. Files have the value.
    Evicted(Timestamp),
    InMemory(&'a T),
}

/// The word of a place: zero, the address of a value, or an odd number with the timestamp of an evicted page.
/// One load of the word suffices for each decision. A word that is not zero never becomes zero again.
struct Place<T>(AtomicPtr<Kept<T>>);

impl<T> Default for Place<T> {
    fn default() -> Self {
        Place(AtomicPtr::new(std::ptr::null_mut()))
    }
}

// SAFETY: several threads may get `&T`, and any thread may drop the value.
unsafe impl<T: Send + Sync> Sync for Place<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Place<T> {}

impl<T> Drop for Place<T> {
    fn drop(&mut self) {
        let last = self.0.load(Ordering::Relaxed);
        if is_value(last) {
            // No other thread has a reference to the place, so none has its value.
            drop(Owned::new(last));
        }
    }
}

#[inline]
fn is_value<T>(word: *const Kept<T>) -> bool {
    !word.is_null() && word.addr() & 1 == 0
}

/// Returns the word of an evicted page: an odd number. A timestamp has 56 bits
/// ([`Stamp`](crate::subgraph::Stamp)), so the shift loses no bit.
fn word_of<T>(since: Timestamp) -> *mut Kept<T> {
    std::ptr::without_provenance_mut((since.0 << 1 | 1) as usize)
}

/// Returns the timestamp in the word of an evicted value.
fn since_of<T>(word: *const Kept<T>) -> Timestamp {
    Timestamp(word.addr() as u64 >> 1)
}

#[cfg(not(target_pointer_width = "64"))]
compile_error!("the words of places have timestamps of 56 bits");

/// An array of places. Threads read it without locks. If values may be evicted, a reader needs a [`Hold`].
pub(crate) struct Places<T, const MOST: usize> {
    places: Growing<Place<T>, MOST>,
    /// True if values may be evicted. Then a reader needs a hold.
    evicts: bool,
    retired: Mutex<Replaced<T>>,
    /// The number of evicted values that are not freed yet, since holds may keep them.
    waiting: AtomicUsize,
}

impl<T: Send + Sync, const MOST: usize> Places<T, MOST> {
    pub(crate) fn new(evicts: bool) -> Places<T, MOST> {
        let waiting = AtomicUsize::new(0);
        Places { places: Growing::default(), evicts, retired: Mutex::default(), waiting }
    }

    /// Returns a hold for these places: an empty one if values are never evicted.
    #[inline]
    pub(crate) fn hold(&self) -> Hold {
        if self.evicts { Hold::begin() } else { Hold::empty() }
    }

    /// Returns the content of a place.
    ///
    /// # Panics
    /// If the hold is empty and values may be evicted.
    #[inline]
    pub(crate) fn get<'a>(&'a self, index: usize, hold: &'a Hold) -> Found<'a, T> {
        assert!(!self.evicts || hold.is_active(), "a page is read without a hold");
        let Some(place) = self.places.get(index) else { return Found::Absent };
        // Acquire: the thread that stored the address had completed the value before.
        let word = place.0.load(Ordering::Acquire);
        // SAFETY: the place had this value when the word was read. If values may be evicted, `free` drops the
        // value only after the hold has ended. Otherwise the value is dropped with the places, which are
        // borrowed.
        unsafe { Self::found(word) }
    }

    /// Returns the content that a word stands for.
    ///
    /// # Safety
    /// If the word is the address of a value, no thread drops the value during `'a`.
    #[inline]
    unsafe fn found<'a>(word: *mut Kept<T>) -> Found<'a, T> {
        if is_value(word) {
            // SAFETY: the caller guarantees that no thread drops the value during `'a`.
            let kept = unsafe { &*word };
            kept.life.touch();
            Found::InMemory(&kept.value)
        } else if word.is_null() {
            Found::Absent
        } else {
            Found::Evicted(since_of(word))
        }
    }

    /// Puts a value into a place if the place has the content `before`: `None` if it must be absent, else the
    /// evicted page that it must have. If the place has other content, that content stays, and the new value
    /// is dropped. Returns true if the value was put. If the array grows, calls `taken` with the bytes of the
    /// new table chunk.
    pub(crate) fn put(
        &self,
        index: usize,
        before: Option<Timestamp>,
        value: T,
        taken: impl Fn(usize),
    ) -> bool {
        let place = self.places.get_or_create(index, taken);
        let before = before.map_or(std::ptr::null_mut(), word_of);
        let value = Kept::boxed(value);
        let put = place.0.compare_exchange(before, value, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if !put {
            // No other thread has seen the value.
            drop(Owned::new(value));
        }
        put
    }

    /// Evicts `value`, unless its place has other content by now. A later [`free`](Self::free) drops the
    /// value. The caller guarantees that files have its content. Returns true if the value was evicted.
    pub(crate) fn evict(&self, index: usize, value: &T, since: Timestamp) -> bool {
        let Some(place) = self.places.get(index).filter(|_| self.evicts) else { return false };
        let word = place.0.load(Ordering::Acquire);
        // SAFETY: as in `get`: the caller has `value` by a hold. If the place has another value, another
        // thread may drop that value. So only its address is compared, and its content is not read.
        let is_it = is_value(word) && std::ptr::eq(unsafe { &raw const (*word).value }, value);
        if !is_it
            || place.0.compare_exchange(word, word_of(since), Ordering::AcqRel, Ordering::Relaxed).is_err()
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

    /// True if there are evicted values that [`free`](Self::free) has not dropped yet.
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

    /// Returns the state of an evicted page; `None` if the place is absent or has a value in memory.
    pub(crate) fn evicted(&self, index: usize) -> Option<Timestamp> {
        let word = self.places.get(index)?.0.load(Ordering::Acquire);
        let is_evicted = !word.is_null() && !is_value(word);
        is_evicted.then(|| since_of(word))
    }

    /// True if no value was ever put into the place.
    pub(crate) fn is_absent(&self, index: usize) -> bool {
        self.places.get(index).is_none_or(|place| place.0.load(Ordering::Acquire).is_null())
    }

    /// Returns the bytes of the array, without the values.
    pub(crate) fn bytes(&self) -> usize {
        self.places.bytes()
    }
}
