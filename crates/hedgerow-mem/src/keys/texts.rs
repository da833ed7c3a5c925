//! The bytes of text keys, in chunks that never move.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use hedgerow_core::account::{Account, Purpose};
use hedgerow_core::growing::Growing;
use hedgerow_core::simd;
use hedgerow_core::sync::{AtomicU32, Mutex, Ordering};
use smallvec::SmallVec;

/// Number of words of a chunk: the longest key fits in one.
const CHUNK: usize = if cfg!(feature = "model-checking") { 64 } else { 1 << 14 };
const CHUNKS: usize = 1 << 24;
/// Number of bits of the length in a [`Place`].
const LENGTH_BITS: u32 = 17;
const _: () = assert!(hedgerow_core::key::MAX_KEY_BYTES < 1 << LENGTH_BITS);
const _: () = assert!(cfg!(feature = "model-checking") || hedgerow_core::key::MAX_KEY_BYTES <= CHUNK * 4);

/// Texts in words of four bytes. A thread that has a [`Place`] reads without locks. The text may be freed and
/// overwritten meanwhile, so the thread must verify the bytes that it read.
pub(super) struct Texts {
    chunks: Growing<OnceLock<Box<[AtomicU32]>>, CHUNKS>,
    space: Mutex<Space>,
    account: Arc<Account>,
}

/// The free words.
#[derive(Default)]
struct Space {
    /// The first word behind all texts.
    end: u64,
    /// The first words of freed texts, by the length of the text in words.
    freed: BTreeMap<u32, Vec<u64>>,
}

/// The place of a text: the number of its first word, and its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(pub(super) u64);

impl Place {
    #[inline]
    fn length(self) -> usize {
        (self.0 & ((1 << LENGTH_BITS) - 1)) as usize
    }

    #[inline]
    fn first(self) -> u64 {
        self.0 >> LENGTH_BITS
    }

    fn words(self) -> usize {
        self.length().div_ceil(4)
    }
}

#[inline]
fn word(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    u32::from_le_bytes(word)
}

impl Texts {
    /// Makes a store without texts.
    pub(super) fn new(account: Arc<Account>) -> Texts {
        Texts { chunks: Growing::default(), space: Mutex::default(), account }
    }

    fn stretch(&self, place: Place) -> &[AtomicU32] {
        let (chunk, from) = (place.first() as usize / CHUNK, place.first() as usize % CHUNK);
        let words = self.chunks.get(chunk).and_then(OnceLock::get).map_or(&[][..], AsRef::as_ref);
        words.get(from..from + place.words()).unwrap_or(&[])
    }

    /// Stores a text of at most 64 KiB. O(length).
    pub(super) fn add(&self, text: &str) -> Place {
        let words = text.len().div_ceil(4);
        let first = self.space.lock().take(words);
        let place = Place(first << LENGTH_BITS | text.len() as u64);
        let charge = |bytes| self.account.charge(Purpose::Keys, bytes);
        let chunk = self.chunks.get_or_create(first as usize / CHUNK, charge);
        chunk.get_or_init(|| {
            charge(CHUNK * size_of::<AtomicU32>());
            (0..CHUNK).map(|_| AtomicU32::new(0)).collect()
        });
        // The place is published by a release store of the row.
        for (cell, bytes) in self.stretch(place).iter().zip(text.as_bytes().chunks(4)) {
            cell.store(word(bytes), Ordering::Relaxed);
        }
        place
    }

    /// Frees the words of a text.
    pub(super) fn free(&self, place: Place) {
        if place.words() > 0 {
            let mut space = self.space.lock();
            space.freed.entry(place.words() as u32).or_default().push(place.first());
        }
    }

    /// Prefetches the text, or the first and last line of a long one.
    #[inline]
    pub(super) fn prefetch(&self, place: Place) {
        let words = self.stretch(place);
        words.first().into_iter().chain(words.last()).for_each(|word| simd::prefetch(word));
    }

    /// True if the text at `place` is `text`.
    #[inline]
    pub(super) fn is(&self, place: Place, text: &str) -> bool {
        if place.length() != text.len() {
            return false;
        }
        let (words, rest) = text.as_bytes().as_chunks::<4>();
        let Some((cells, last)) = self.stretch(place).split_at_checked(words.len()) else { return false };
        let same =
            |(cell, word): (&AtomicU32, &[u8; 4])| cell.load(Ordering::Relaxed) == u32::from_le_bytes(*word);
        cells.iter().zip(words).all(same)
            && last.iter().all(|cell| cell.load(Ordering::Relaxed) == word(rest))
    }

    /// Returns the bytes of the text, on the heap if it has more than 64 bytes.
    pub(super) fn read(&self, place: Place) -> SmallVec<[u8; 64]> {
        let words = self.stretch(place);
        let mut bytes = SmallVec::with_capacity(words.len() * 4);
        for cell in words {
            bytes.extend_from_slice(&cell.load(Ordering::Relaxed).to_le_bytes());
        }
        bytes.truncate(place.length());
        bytes
    }

    /// Returns the bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let made = self.chunks.chunks().flat_map(|(_, chunks)| chunks).filter_map(OnceLock::get);
        self.chunks.bytes() + made.map(|chunk| size_of_val(&**chunk)).sum::<usize>()
    }
}

impl Space {
    /// Takes `words` words in one chunk, and returns the first.
    fn take(&mut self, words: usize) -> u64 {
        if words == 0 {
            return 0;
        }
        if let Some(freed) = self.freed.get_mut(&(words as u32))
            && let Some(first) = freed.pop()
        {
            return first;
        }
        let (chunk, from) = (self.end as usize / CHUNK, self.end as usize % CHUNK);
        if from + words > CHUNK {
            let rest = CHUNK - from;
            self.freed.entry(rest as u32).or_default().push(self.end);
            self.end = ((chunk + 1) * CHUNK) as u64;
        }
        let first = self.end;
        self.end += words as u64;
        first
    }
}
