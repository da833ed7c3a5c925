//! A hash index of vertex ids: open addressing in buckets of one cache line.
//!
//! An entry is in the [bucket](super::bucket) that its hash selects, or in one after it. Each bucket counts
//! the entries that skipped it because it was full. A look-up ends at the first bucket that no entry skipped.
//! The index holds ids, not keys: a look-up compares tags, and its caller checks the few ids whose tags are
//! equal.
//!
//! Entries do not move. When a part has too many, its table is replaced by one a third larger, in a
//! [`GraceCell`]. So tables are three quarters to nine tenths full. At one size the parts grow by steps of
//! different lengths. From then on they grow one after another, so that the whole index does not alternate
//! between the two bounds.

use std::sync::Arc;

use hedgerow_core::VertexId;
use hedgerow_core::account::{Account, Purpose};
use hedgerow_core::simd;
use hedgerow_core::sync::{Mutex, Ordering};
use smallvec::SmallVec;

use super::bucket::{Bucket, Hash, PARTS, SLOTS};
use crate::grace::{GraceCell, ReadGuard};

/// The share of the slots, in tenths, that may be occupied before a table grows.
const MOST_OF_TEN: usize = 9;
/// Number of buckets up to which a table grows by one bucket, or by [`STEP`].
const SMALL: usize = 128;
/// Number of buckets of a segment. Tables consist of segments, so that a table that grows reuses memory that
/// another table freed. With blocks of many sizes the allocator took a quarter more memory. For the alignment
/// it also adds up to a cache line to each block.
const SEGMENT: usize = 64;
/// The distance in entries by which `put` prefetches buckets ahead.
const AHEAD: usize = 8;
/// Number of buckets whose entries are moved to a larger table together, so that the cache misses of their
/// keys overlap.
const TOGETHER: usize = 8;
/// Number of buckets from which on tables grow by multiples of this number.
const STEP: usize = 8;

/// The buckets of a part.
pub(super) struct Table {
    segments: Box<[Box<[Bucket]>]>,
    count: usize,
}

impl Table {
    fn new(count: usize) -> Table {
        let sizes = (0..count).step_by(SEGMENT).map(|from| SEGMENT.min(count - from));
        let segments = sizes.map(|size| (0..size).map(|_| Bucket::default()).collect());
        Table { segments: segments.collect(), count }
    }

    #[inline]
    fn bucket(&self, at: usize) -> &Bucket {
        &self.segments[at / SEGMENT][at % SEGMENT]
    }

    /// Returns the bucket in which a look-up of the hash begins.
    #[inline]
    pub(super) fn first(&self, hash: Hash) -> &Bucket {
        self.bucket(hash.bucket(self.count))
    }

    /// Returns the buckets in the order in which an entry of the hash tries them.
    fn tried(&self, hash: Hash) -> impl Iterator<Item = &Bucket> {
        let first = hash.bucket(self.count);
        (first..self.count).chain(0..first).map(|at| self.bucket(at))
    }

    fn bytes(&self) -> usize {
        self.count * size_of::<Bucket>() + size_of_val(&*self.segments)
    }

    /// Returns the first result of `f` among the slots with the tag of the hash, in the buckets where an
    /// entry of the hash may be.
    #[inline]
    pub(super) fn find<R>(&self, hash: Hash, mut f: impl FnMut(&Bucket, usize) -> Option<R>) -> Option<R> {
        let mut at = hash.bucket(self.count);
        for _ in 0..self.count {
            let bucket = self.bucket(at);
            if let Some(found) = bucket.find(hash.tag(), |slot| f(bucket, slot)) {
                return Some(found);
            }
            if !bucket.was_passed() {
                return None;
            }
            at = if at + 1 < self.count { at + 1 } else { 0 };
        }
        None
    }

    /// Adds an entry. Only for the thread that holds the lock of the part and has made room.
    fn add(&self, hash: Hash, id: VertexId) {
        for bucket in self.tried(hash) {
            if bucket.take(hash.tag(), id) {
                return;
            }
            // A reader that searches before this store may miss the entry, which is not published yet.
            bucket.pass(1);
        }
        debug_assert!(false, "a table grows before it is full");
    }

    /// Removes the entry of `id`, if there is one. Only for the thread that holds the lock of the part.
    fn remove(&self, hash: Hash, id: VertexId) -> bool {
        let found = self.find(hash, |bucket, slot| {
            (bucket.id(slot) == id).then(|| {
                bucket.set_tag(slot, 0);
                std::ptr::from_ref(bucket)
            })
        });
        let Some(bucket) = found else { return false };
        let passed = self.tried(hash).take_while(|&passed| !std::ptr::eq(passed, bucket));
        passed.for_each(|passed| passed.pass(u32::MAX));
        true
    }
}

#[derive(Default)]
struct Part {
    table: GraceCell<Table>,
    /// The number of entries, under the lock of a thread that changes the part.
    entries: Mutex<usize>,
}

/// A hash index of vertex ids. Look-ups take no lock; changes take the lock of the part.
pub(super) struct Index {
    parts: Box<[Part]>,
    account: Arc<Account>,
}

impl Index {
    /// Makes an index without entries.
    pub(super) fn new(account: Arc<Account>) -> Index {
        account.charge(Purpose::Keys, PARTS * size_of::<Part>());
        Index { parts: (0..PARTS).map(|_| Part::default()).collect(), account }
    }

    /// Returns the first result of `f` among the entries under the hash.
    #[inline]
    pub(super) fn find<R>(&self, hash: Hash, mut f: impl FnMut(VertexId) -> Option<R>) -> Option<R> {
        let part = &self.parts[hash.part()];
        part.table.with(|table| table.find(hash, |bucket, slot| f(bucket.id(slot)))).flatten()
    }

    /// Returns the table for entries of the hash, for a walk that reads several entries.
    #[inline]
    pub(super) fn table<'a>(&'a self, hash: Hash, walk: &'a ReadGuard) -> Option<&'a Table> {
        self.parts[hash.part()].table.load(walk)
    }

    /// Adds ids under hashes of one part. A new id replaces the entry that `replaces` accepts, if there is
    /// one. `hashes_of` calls back with the hash of each of several ids.
    pub(super) fn put<E>(
        &self,
        new: &[E],
        of: impl Fn(&E) -> (Hash, VertexId),
        replaces: impl Fn(&E, VertexId) -> bool,
        hashes_of: impl Fn(&[VertexId], &mut dyn FnMut(Hash, VertexId)),
    ) {
        let Some(first) = new.first() else { return };
        let at = of(first).0.part();
        let part = &self.parts[at];
        let mut entries = part.entries.lock();
        self.make_room(at, *entries + new.len(), hashes_of);
        part.table.with(|table| {
            for (nth, entry) in new.iter().enumerate() {
                if let Some(ahead) = new.get(nth + AHEAD) {
                    simd::prefetch(table.first(of(ahead).0));
                }
                let (hash, id) = of(entry);
                debug_assert_eq!(hash.part(), at);
                let replaced = table.find(hash, |bucket, slot| {
                    replaces(entry, bucket.id(slot)).then(|| bucket.ids[slot].store(id.0, Ordering::Release))
                });
                if replaced.is_none() {
                    table.add(hash, id);
                    *entries += 1;
                }
            }
        });
    }

    /// Makes the table of a part large enough for `more` entries, if these would make it grow several times.
    /// Otherwise the table grows as they are added: parts that grow one after another reuse each other's
    /// memory, and the heap keeps fewer free blocks.
    pub(super) fn reserve(
        &self,
        at: usize,
        more: usize,
        hashes_of: impl Fn(&[VertexId], &mut dyn FnMut(Hash, VertexId)),
    ) {
        let entries = self.parts[at].entries.lock();
        if more * 3 >= *entries {
            self.make_room(at, *entries + more, hashes_of);
        }
    }

    /// Removes the entry of `id` under the hash, if there is one.
    pub(super) fn remove(&self, hash: Hash, id: VertexId) {
        let part = &self.parts[hash.part()];
        let mut entries = part.entries.lock();
        let removed = part.table.with(|table| table.remove(hash, id));
        if removed == Some(true) {
            *entries -= 1;
        }
    }

    /// Makes the table of a part larger if it is too small for `entries` entries. The caller holds the lock
    /// of the part.
    fn make_room(
        &self,
        at: usize,
        entries: usize,
        hashes_of: impl Fn(&[VertexId], &mut dyn FnMut(Hash, VertexId)),
    ) {
        let part = &self.parts[at];
        let (before, bytes) = part.table.with(|table| (table.count, table.bytes())).unwrap_or_default();
        let mut count = before;
        while entries * 10 > count * SLOTS * MOST_OF_TEN {
            count = larger(count, at);
        }
        if count == before {
            return;
        }
        let larger = Table::new(count);
        self.account.charge(Purpose::Keys, larger.bytes() - bytes);
        part.table.with(|table| {
            let mut ids: SmallVec<[VertexId; TOGETHER * SLOTS]> = SmallVec::new();
            for buckets in table.segments.iter().flat_map(|segment| segment.chunks(TOGETHER)) {
                ids.clear();
                buckets.iter().for_each(|bucket| ids.extend(bucket.taken()));
                hashes_of(&ids, &mut |hash, id| larger.add(hash, id));
            }
        });
        part.table.replace(larger);
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| *part.entries.lock()).sum()
    }

    /// Returns the bytes of memory, without a replaced table that is still being read.
    pub(super) fn bytes(&self) -> usize {
        let tables = self.parts.iter().filter_map(|part| part.table.with(Table::bytes));
        tables.sum::<usize>() + self.parts.len() * size_of::<Part>()
    }
}

/// Returns the number of buckets of the table that replaces a table with `count` buckets. At one size parts
/// take steps of different lengths, so that from then on they grow one after another.
fn larger(count: usize, part: usize) -> usize {
    let larger = match count {
        0..STEP => return count + 1,
        STEP..SMALL => count + 1,
        SMALL => SMALL + 1 + part * SMALL / (3 * PARTS),
        _ => count + count.div_ceil(3),
    };
    larger.next_multiple_of(STEP)
}
