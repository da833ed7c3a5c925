//! The vertex table: the lists of each vertex, its lock, and the versions of the vertex itself.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use hedgerow_core::growing::Growing;
use hedgerow_core::{Direction, VertexId};
use parking_lot::Mutex;

use super::horizon::Horizon;
use super::layout::Shape;
use super::store::{Address, Store};
use super::tel::Tel;
use crate::GraphForm;

/// The largest id. A table for larger ids would have a chunk directory of more than 2 MB.
pub(super) const MOST: VertexId = VertexId((1 << 28) - 1);

/// The record of a vertex.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) lock: Mutex<()>,
    /// Whether the vertex waits for compaction.
    pub(super) dirty: AtomicBool,
    /// The index of the vertex among the locked vertices of the transaction that holds the lock; any number
    /// if no transaction holds it.
    pub(super) place: AtomicU32,
    vertex: AtomicU64,
    lists: [AtomicU64; 2],
}

impl Record {
    #[inline]
    pub(super) fn list(&self, direction: Direction) -> Address {
        Address(self.lists[direction as usize].load(Ordering::Acquire))
    }

    /// Replaces a list. Called under the lock. A reader that reads the address also sees the content of the
    /// block.
    pub(super) fn set_list(&self, direction: Direction, address: Address) {
        self.lists[direction as usize].store(address.0, Ordering::Release);
    }

    #[inline]
    pub(super) fn presence(&self) -> Presence {
        Presence(self.vertex.load(Ordering::Acquire))
    }

    /// Replaces the versions of the vertex. Called under the lock.
    pub(super) fn set_presence(&self, presence: Presence) {
        self.vertex.store(presence.0, Ordering::Release);
    }
}

/// The versions of a vertex: the newest one says whether the vertex exists, and since when (section 4, vertex
/// operations).
///
/// 0: the vertex never existed. An odd number, `at << 1 | 1`: it exists since `at`, and did not exist before.
/// Else `address << 1` of a block, which holds `at << 1 | removed` and the older versions in the same form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Presence(u64);

impl Presence {
    pub(super) const NEVER: Presence = Presence(0);

    /// Returns the newest version: its timestamp, whether the vertex exists, and the older versions.
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

    /// True if the vertex exists at `at`.
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

    /// Returns the versions with a newer one added.
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

    /// True if there are versions in blocks.
    pub(super) fn has_blocks(self) -> bool {
        self.block().is_some()
    }

    fn block(self) -> Option<Address> {
        (self.0 & 1 == 0 && self.0 != 0).then_some(Address(self.0 >> 1))
    }

    /// Copies the versions that a reader can see to new blocks. Adds the replaced blocks to `retired`.
    /// Returns none if all versions stay.
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
        // The oldest kept version is not needed if it says that the vertex does not exist: without versions,
        // the vertex does not exist either.
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

    /// Returns one more than the largest id that was ever locked.
    pub(super) fn bound(&self) -> usize {
        self.bound.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn record(&self, v: VertexId) -> Option<&Record> {
        self.records.get(v.index())
    }

    /// Returns the record of a vertex. Makes a missing record.
    pub(super) fn record_or_create(&self, v: VertexId) -> &Record {
        if v.index() >= self.bound() {
            self.bound.fetch_max(v.index() + 1, Ordering::Relaxed);
        }
        self.records.get_or_create(v.index(), |_| {})
    }

    /// Returns the log in a block; an empty log if there is no block.
    #[inline]
    pub(super) fn tel(&self, address: Address) -> Tel<'_> {
        Tel::new(self.store.words(address), self.shape.layout(address.order()))
    }

    /// Allocates an empty block for `entries` entries.
    pub(super) fn new_tel(&self, entries: usize) -> Address {
        let address = self.store.allocate(self.shape.order_for(entries));
        self.tel(address).clear();
        address
    }

    pub(super) fn bytes(&self) -> usize {
        self.records.bytes() + self.store.bytes()
    }
}
