//! The vertex table: where the lists of a vertex are, its lock, and the versions of the vertex itself.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use hedgerow_core::growing::Growing;
use hedgerow_core::{Direction, VertexId};
use parking_lot::Mutex;

use super::horizon::Horizon;
use super::layout::Shape;
use super::store::{Address, Store};
use super::tel::Tel;
use crate::GraphForm;

/// The largest id: a table for more would have a directory of its chunks of more than 2 MB.
pub(super) const MOST: VertexId = VertexId((1 << 28) - 1);

/// A vertex.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) lock: Mutex<()>,
    /// Whether the vertex waits for compaction.
    pub(super) dirty: AtomicBool,
    /// The place of the vertex among those that the transaction has locked which holds the lock; else any
    /// number.
    pub(super) place: AtomicU32,
    vertex: AtomicU64,
    lists: [AtomicU64; 2],
}

impl Record {
    #[inline]
    pub(super) fn list(&self, direction: Direction) -> Address {
        Address(self.lists[direction as usize].load(Ordering::Acquire))
    }

    /// Replaces a list, under the lock. What was written to the block is seen by who reads the address.
    pub(super) fn set_list(&self, direction: Direction, address: Address) {
        self.lists[direction as usize].store(address.0, Ordering::Release);
    }

    #[inline]
    pub(super) fn presence(&self) -> Presence {
        Presence(self.vertex.load(Ordering::Acquire))
    }

    /// Replaces the versions of the vertex, under the lock.
    pub(super) fn set_presence(&self, presence: Presence) {
        self.vertex.store(presence.0, Ordering::Release);
    }
}

/// Since when a vertex exists, or not, and before (section 4, vertex operations).
///
/// 0: it never existed. An odd number: it exists since a timestamp, `at << 1 | 1`, and did not before. Else a
/// block, `address << 1`, with `at << 1 | removed` and what was before, of the same form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Presence(u64);

impl Presence {
    pub(super) const NEVER: Presence = Presence(0);

    /// The newest version: since when, and whether the vertex exists; and what was before.
    #[inline]
    fn newest(self, store: &Store) -> (u64, bool, Presence) {
        match self.0 {
            0 => (0, false, Presence::NEVER),
            inline if inline & 1 == 1 => (inline >> 1, true, Presence::NEVER),
            address => {
                let words = store.words(Address(address >> 1));
                let [stamp, before] = [0, 1].map(|i| words[i].load(Ordering::Relaxed));
                (stamp >> 1, stamp & 1 == 0, Presence(before))
            }
        }
    }

    pub(super) fn is_present(self, store: &Store) -> bool {
        self.newest(store).1
    }

    /// Whether the vertex exists at `at`.
    #[inline]
    pub(super) fn is_present_at(self, store: &Store, at: u64) -> bool {
        let mut version = self;
        loop {
            let (since, present, before) = version.newest(store);
            if since <= at {
                return present;
            }
            version = before;
        }
    }

    /// With a newer version.
    pub(super) fn followed(self, store: &Store, present: bool, at: u64) -> Presence {
        if self == Presence::NEVER && present {
            return Presence(at << 1 | 1);
        }
        let block = store.allocate(0);
        let words = store.words(block);
        words[0].store(at << 1 | u64::from(!present), Ordering::Relaxed);
        words[1].store(self.0, Ordering::Relaxed);
        Presence(block.0 << 1)
    }

    /// Whether there are versions in blocks.
    pub(super) fn has_blocks(self) -> bool {
        self.block().is_some()
    }

    fn block(self) -> Option<Address> {
        (self.0 & 1 == 0 && self.0 != 0).then_some(Address(self.0 >> 1))
    }

    /// The versions that a reader can see, in new blocks; what takes their place goes to `retired`. None if
    /// all stay.
    pub(super) fn pruned(
        self,
        store: &Store,
        horizon: &Horizon,
        retired: &mut Vec<Address>,
    ) -> Option<Presence> {
        self.block()?;
        let mut kept: Vec<(u64, bool)> = Vec::new();
        let (mut blocks, mut version, mut end) = (Vec::new(), self, u64::MAX);
        while version != Presence::NEVER {
            let (since, present, before) = version.newest(store);
            if horizon.needs(since, end) {
                kept.push((since, present));
            }
            blocks.extend(version.block());
            (version, end) = (before, since);
        }
        // That it did not exist needs no version where nothing is before.
        while kept.pop_if(|(_, present)| !*present).is_some() {}
        let fewest = kept.len().saturating_sub(1);
        if blocks.len() <= fewest {
            return None;
        }
        retired.extend(blocks);
        let follow =
            |before: Presence, &(since, present): &(u64, bool)| before.followed(store, present, since);
        Some(kept.iter().rev().fold(Presence::NEVER, follow))
    }
}

/// The vertices of a graph and their lists.
pub(super) struct Graph {
    records: Growing<Record, { MOST.0 as usize + 1 }>,
    bound: AtomicUsize,
    pub(super) store: Store,
    pub(super) shape: Shape,
    pub(super) form: GraphForm,
}

impl Graph {
    pub(super) fn new(form: GraphForm, shape: Shape) -> Graph {
        Graph {
            records: Growing::default(),
            bound: AtomicUsize::new(0),
            store: Store::default(),
            shape,
            form,
        }
    }

    /// One more than the largest id that was ever locked.
    pub(super) fn bound(&self) -> usize {
        self.bound.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn record(&self, v: VertexId) -> Option<&Record> {
        self.records.get(v.index())
    }

    /// The record of a vertex, which is made if need be.
    pub(super) fn record_or_create(&self, v: VertexId) -> &Record {
        if v.index() >= self.bound() {
            self.bound.fetch_max(v.index() + 1, Ordering::Relaxed);
        }
        self.records.get_or_create(v.index(), |_| {})
    }

    /// The log in a block; an empty one in none.
    #[inline]
    pub(super) fn tel(&self, address: Address) -> Tel<'_> {
        Tel::new(self.store.words(address), self.shape.layout(address.order()))
    }

    /// A block for so many entries, empty.
    pub(super) fn new_tel(&self, entries: usize) -> Address {
        let address = self.store.allocate(self.shape.order_for(entries));
        self.tel(address).clear();
        address
    }

    pub(super) fn bytes(&self) -> usize {
        self.records.bytes() + self.store.bytes()
    }
}
