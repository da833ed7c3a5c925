//! A cache of verified directories and blocks for later point reads.
//!
//! The key of an entry is the id of its file and its position in the file. File ids are never reused and
//! segments never change, so entries cannot become stale. Only verified data is cached. A clock chooses the
//! entry to evict for a new one: its hand passes an entry once for each request of the entry, up to three. So
//! entries that were requested only once are evicted first.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use hedgerow_core::account::{Account, Charge, Purpose};
use hedgerow_core::sync::Mutex;
use hedgerow_io::FileId;

use super::block::Block;
use super::directory::Directory;

/// Number of shards of the cache, each under its own lock.
const SHARDS: usize = 4;
/// The memory of an entry without its content: its slot, its place in the index, and its reference counts.
const ENTRY_BYTES: usize = size_of::<Slot>() + 2 * size_of::<(Key, usize)>() + 2 * size_of::<usize>();

/// The most times that the hand passes an entry, also if the entry was requested more often.
const MOST_LIVES: u8 = 3;

/// A cache of directories of pages and blocks of segments, for [point
/// reads](super::SegmentReader::read_list). Its size is bounded, and charged to the account of a store. Many
/// threads may use it at once.
pub struct ReadCache {
    account: Arc<Account>,
    shards: [Mutex<Shard>; SHARDS],
    /// The bytes that the cache may always take, and the most bytes that it may take.
    sure: usize,
    most: usize,
    /// The bytes of the account that stay free when the cache takes more than the sure bytes.
    free: usize,
}

/// The position where a directory or a block begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) file: FileId,
    pub(super) at: u64,
}

#[derive(Clone)]
enum Kept {
    Directory(Arc<Directory>),
    Block(Arc<Block>),
}

struct Slot {
    key: Key,
    kept: Kept,
    bytes: usize,
    /// The number of times that the hand will still pass this entry.
    lives: u8,
}

struct Shard {
    index: HashMap<Key, usize>,
    slots: Vec<Slot>,
    hand: usize,
    bytes: usize,
    charge: Charge,
}

impl ReadCache {
    /// Makes an empty cache of at most `most` bytes. It takes more than `sure` bytes only while the account
    /// still has room for `free` bytes after that.
    pub fn new(account: &Arc<Account>, (sure, most): (usize, usize), free: usize) -> ReadCache {
        let shard = |_| {
            let charge = Charge::new(account, Purpose::Reads, 0);
            let (index, slots) = (HashMap::new(), Vec::new());
            Mutex::new(Shard { index, slots, hand: 0, bytes: 0, charge })
        };
        ReadCache { account: account.clone(), shards: std::array::from_fn(shard), sure, most, free }
    }

    /// Returns the bytes of its entries. O(1).
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().bytes).sum()
    }

    /// Evicts entries until at most the sure bytes are left, if memory is needed for something else; returns
    /// true if that freed memory. O(entries).
    pub fn shrink(&self) -> bool {
        let shrink = |shard: &Mutex<Shard>| {
            let mut shard = shard.lock();
            let before = shard.bytes;
            shard.evict_to(self.sure / SHARDS);
            let bytes = shard.bytes;
            shard.charge.set(bytes);
            bytes < before
        };
        self.shards.iter().fold(false, |freed, shard| shrink(shard) | freed)
    }

    pub(super) fn directory(&self, key: Key) -> Option<Arc<Directory>> {
        match self.get(key)? {
            Kept::Directory(directory) => Some(directory),
            Kept::Block(_) => None,
        }
    }

    pub(super) fn block(&self, key: Key) -> Option<Arc<Block>> {
        match self.get(key)? {
            Kept::Block(block) => Some(block),
            Kept::Directory(_) => None,
        }
    }

    /// Caches a verified directory.
    pub(super) fn keep_directory(&self, key: Key, directory: &Arc<Directory>) {
        self.keep(key, Kept::Directory(directory.clone()), directory.bytes());
    }

    /// Caches a verified block.
    pub(super) fn keep_block(&self, key: Key, block: &Arc<Block>) {
        self.keep(key, Kept::Block(block.clone()), block.bytes());
    }

    fn get(&self, key: Key) -> Option<Kept> {
        let mut shard = self.shard(key).lock();
        let at = *shard.index.get(&key)?;
        let slot = shard.slots.get_mut(at)?;
        slot.lives = MOST_LIVES.min(slot.lives + 1);
        Some(slot.kept.clone())
    }

    fn keep(&self, key: Key, kept: Kept, bytes: usize) {
        let bytes = bytes + ENTRY_BYTES;
        let has_room = self.account.room() >= (self.free + bytes) as u64;
        let mut shard = self.shard(key).lock();
        let most = if has_room { self.most / SHARDS } else { shard.bytes.max(self.sure / SHARDS) };
        if bytes <= most && !shard.index.contains_key(&key) {
            shard.keep_within(most, Slot { key, kept, bytes, lives: 0 });
        }
    }

    fn shard(&self, key: Key) -> &Mutex<Shard> {
        // Positions are rarely multiples of a power of two, and never equal for neighboring blocks.
        let hash = (key.at ^ key.file.0.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        &self.shards[(hash >> 60) as usize % SHARDS]
    }
}

impl fmt::Debug for ReadCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadCache").field("most", &self.most).finish_non_exhaustive()
    }
}

impl Shard {
    /// Adds a slot. Before, evicts other slots until the new one fits within `most` bytes. The hand passes
    /// the new slot. If the hand met it next, two threads that read different blocks several times each would
    /// evict the block of the other each time.
    fn keep_within(&mut self, most: usize, slot: Slot) {
        self.evict_to(most - slot.bytes);
        self.bytes += slot.bytes;
        let last = self.slots.len();
        let at = self.hand.min(last);
        self.slots.push(slot);
        self.slots.swap(at, last);
        for at in [at, last] {
            self.index.insert(self.slots[at].key, at);
        }
        self.hand = at + 1;
        self.charge.set(self.bytes);
    }

    /// Evicts slots until the others have at most `most` bytes. The caller changes the charge.
    fn evict_to(&mut self, most: usize) {
        while self.bytes > most && self.give_up_one() {}
    }

    /// Evicts the first slot from the hand on that has no life left. False if the cache has no slot.
    fn give_up_one(&mut self) -> bool {
        loop {
            if self.hand >= self.slots.len() {
                self.hand = 0;
            }
            let Some(slot) = self.slots.get_mut(self.hand) else { return false };
            let Some(left) = slot.lives.checked_sub(1) else { break };
            slot.lives = left;
            self.hand += 1;
        }
        let gone = self.slots.swap_remove(self.hand);
        self.index.remove(&gone.key);
        if let Some(moved) = self.slots.get(self.hand) {
            self.index.insert(moved.key, self.hand);
        }
        self.bytes -= gone.bytes;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::block::BlockKind;

    fn key(at: u64) -> Key {
        Key { file: FileId(3), at }
    }

    fn put(cache: &ReadCache, at: u64) {
        let block = Block::unverified(BlockKind::Topology, vec![at as u8; 1000]);
        cache.keep_block(key(at), &Arc::new(block));
    }

    fn is_there(cache: &ReadCache, at: u64) -> bool {
        cache.block(key(at)).is_some_and(|block| block.payload().iter().all(|byte| *byte == at as u8))
    }

    #[test]
    fn what_is_used_again_stays_and_the_bound_holds() {
        let account = Arc::new(Account::new(Some(1 << 20)));
        let cache = ReadCache::new(&account, (4 << 10, 64 << 10), 8 << 10);
        (0..4).for_each(|at| put(&cache, at));
        for at in 4..400 {
            put(&cache, at);
            assert!(is_there(&cache, at), "what came last is there");
            for hot in 0..4 {
                assert!(is_there(&cache, hot), "{hot} after {at}");
            }
            assert!(cache.bytes() <= 64 << 10);
            assert_eq!(account.used_for(Purpose::Reads), cache.bytes() as u64);
        }
        assert!(cache.bytes() > 32 << 10);
        assert!(!is_there(&cache, 5));
        drop(cache);
        assert_eq!(account.used(), 0);
    }

    /// In a shard of blocks that are read often, two new blocks evict each other only until the lives of the
    /// other blocks are used up.
    #[test]
    fn two_new_blocks_do_not_evict_each_other_for_long() {
        let cache = ReadCache::new(&Arc::new(Account::new(None)), (64 << 10, 64 << 10), 0);
        let mut of_shard = (0..).filter(|&at| std::ptr::eq(cache.shard(key(at)), &cache.shards[0]));
        put(&cache, of_shard.next().unwrap());
        for _ in 1..(64 << 10) / SHARDS / cache.bytes() {
            put(&cache, of_shard.next().unwrap());
        }
        let mut all = cache.shards[0].lock();
        all.slots.iter_mut().rev().skip(1).for_each(|slot| slot.lives = MOST_LIVES);
        drop(all);
        let (one, other) = (of_shard.next().unwrap(), of_shard.next().unwrap());
        let misses = [one, other].into_iter().cycle().take(100).filter(|&at| {
            let misses = !is_there(&cache, at);
            if misses {
                put(&cache, at);
            }
            misses
        });
        assert!(misses.count() <= 2 * usize::from(MOST_LIVES) + 2);
    }

    /// If other users fill the account, the cache keeps its entries, and grows only up to its guaranteed
    /// size.
    #[test]
    fn it_grows_only_into_room() {
        let account = Arc::new(Account::new(Some(1 << 20)));
        let cache = ReadCache::new(&account, (8 << 10, 64 << 10), 16 << 10);
        let all = Charge::new(&account, Purpose::Arena, 1 << 20);
        (0..100).for_each(|at| put(&cache, at));
        let sure = cache.bytes();
        assert!((1..=8 << 10).contains(&sure), "{sure}");
        drop(all);
        (100..200).for_each(|at| put(&cache, at));
        let full = cache.bytes();
        assert!(full > 32 << 10);
        account.charge(Purpose::Arena, 1 << 20);
        (200..300).for_each(|at| put(&cache, at));
        assert!(cache.bytes() <= full && is_there(&cache, 299));
        account.discharge(Purpose::Arena, 1 << 20);
        assert!(cache.shrink() && cache.bytes() <= 8 << 10 && !cache.shrink());
        assert_eq!(account.used(), cache.bytes() as u64);
    }

    #[test]
    fn files_do_not_mix() {
        let cache = ReadCache::new(&Arc::new(Account::new(None)), (0, 64 << 10), 0);
        put(&cache, 7);
        assert!(cache.block(Key { file: FileId(4), at: 7 }).is_none());
        assert!(cache.directory(key(7)).is_none() && cache.block(key(7)).is_some());
    }
}
