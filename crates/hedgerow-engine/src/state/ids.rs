//! External ids to vertex ids and back, versioned.
//!
//! Lookups take no lock. [`Bindings`] change only under the latch of the key ([`IdMap::latch`]), inside a commit that also
//! holds the latch of the vertex's subgraph. A dense graph has none: the key is the id.

use std::hash::BuildHasher;
use std::sync::{Arc, OnceLock};

use foldhash::fast::FixedState;
use hedgerow_core::fork;
use hedgerow_core::growing::Growing;
use hedgerow_core::sync::{ArcCell, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering};
use hedgerow_core::{KeyKind, Timestamp, VertexId, VertexKey, VertexKeyRef};
use hedgerow_txn::{Bindings, FreeId, FreeIds};

/// Fewer under the controlled scheduler, so that keys meet at latches.
const LATCHES: usize = if cfg!(feature = "shuttle") { 4 } else { 256 };

/// Seeded per map, and several times faster on short keys than the standard library's.
type Hasher = foldhash::fast::RandomState;

/// Keys to their bindings. An entry is looked up without locks and never changes; what it holds is replaced
/// atomically. Entries come and go under a lock of the map's own, under which bindings are also added: so an entry is
/// not dropped while its key is being bound again.
type Map<K> = scc::HashIndex<K, Bindings, Hasher>;

/// The id map of a graph.
pub(crate) struct IdMap {
    kind: KeyKind,
    numbers: Map<u64>,
    strings: Map<Arc<str>>,
    keys: KeyColumn,
    latches: Box<[Mutex<()>]>,
    free: FreeIds,
    /// One more than the largest id ever assigned.
    bound: AtomicU32,
}

/// A latched key range.
pub(crate) type KeyLatch<'a> = MutexGuard<'a, ()>;

impl IdMap {
    pub(crate) fn new(kind: KeyKind) -> IdMap {
        // The first map of a process makes the seed of all hashers, for which others wait: no fork comes between.
        let _whole = fork::hold_off();
        IdMap {
            kind,
            numbers: Map::default(),
            strings: Map::default(),
            keys: KeyColumn::default(),
            latches: (0..LATCHES).map(|_| Mutex::new(())).collect(),
            free: FreeIds::default(),
            bound: AtomicU32::new(0),
        }
    }

    /// One more than the largest id that was assigned.
    #[inline]
    pub(crate) fn bound(&self) -> u32 {
        self.bound.load(Ordering::Acquire)
    }

    /// Raises the bound to include `id`.
    #[inline]
    pub(crate) fn include(&self, id: VertexId) {
        if self.bound.load(Ordering::Relaxed) <= id.0 {
            self.bound.fetch_max(id.0 + 1, Ordering::AcqRel);
        }
    }

    #[inline]
    fn with<R>(&self, key: VertexKeyRef<'_>, f: impl FnOnce(&Bindings) -> R) -> Option<R> {
        match key {
            VertexKeyRef::U64(n) => self.numbers.peek_with(&n, |_, bindings| f(bindings)),
            VertexKeyRef::Str(s) => self.strings.peek_with(s, |_, bindings| f(bindings)),
        }
    }

    /// The vertex that `key` names for a snapshot at `t`. Of a dense graph the existence of the vertex is not looked
    /// at.
    #[inline]
    pub(crate) fn lookup(&self, key: VertexKeyRef<'_>, t: Timestamp) -> Option<VertexId> {
        match (self.kind, key) {
            (KeyKind::Dense, VertexKeyRef::U64(n)) => u32::try_from(n).ok().map(VertexId),
            _ => self.with(key, |bindings| bindings.at(t)).flatten(),
        }
    }

    /// When `key` was last bound or unbound; zero if never.
    pub(crate) fn last_change(&self, key: VertexKeyRef<'_>) -> Timestamp {
        self.with(key, Bindings::changed).flatten().unwrap_or(Timestamp::ZERO)
    }

    /// The key of a vertex that is live in a snapshot that is being read.
    #[inline]
    pub(crate) fn key_of(&self, id: VertexId) -> VertexKey {
        match self.kind {
            KeyKind::Dense => VertexKey::U64(u64::from(id.0)),
            KeyKind::U64 => VertexKey::U64(self.keys.number(id)),
            KeyKind::Str => VertexKey::Str(self.keys.string(id)),
        }
    }

    /// Whether `id` carries `key`; stable while the latch of the vertex's subgraph is held.
    pub(crate) fn carries(&self, id: VertexId, key: VertexKeyRef<'_>) -> bool {
        match key {
            VertexKeyRef::U64(n) if self.kind == KeyKind::Dense => n == u64::from(id.0),
            VertexKeyRef::U64(n) => self.keys.number(id) == n,
            VertexKeyRef::Str(s) => &*self.keys.string(id) == s,
        }
    }

    /// The latch that guards the bindings of `key`.
    pub(crate) fn latch_of(&self, key: VertexKeyRef<'_>) -> usize {
        let hash = match key {
            VertexKeyRef::U64(n) => n,
            VertexKeyRef::Str(s) => FixedState::default().hash_one(s),
        };
        (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % LATCHES
    }

    /// Takes a latch. Take several in ascending order, and before any latch of a subgraph.
    pub(crate) fn latch(&self, index: usize) -> KeyLatch<'_> {
        self.latches[index].lock()
    }

    /// Takes a latch if nobody holds it.
    pub(crate) fn try_latch(&self, index: usize) -> Option<KeyLatch<'_>> {
        self.latches[index].try_lock()
    }

    /// An id for a new vertex. `oldest` is the oldest timestamp that any reader can see, asked only where ids of
    /// removed vertices are at hand. `None` when all 2^32 - 1 ids are in use.
    pub(crate) fn allocate(&self, oldest: impl FnOnce() -> Option<Timestamp>) -> Option<VertexId> {
        match self.free.take(oldest) {
            Some(FreeId::Unused(id)) => return Some(id),
            Some(FreeId::Removed(id)) => {
                self.forget(id);
                return Some(id);
            }
            None => {}
        }
        let taken = self.bound.fetch_update(Ordering::AcqRel, Ordering::Acquire, |next| {
            (next <= VertexId::MAX.0).then(|| next + 1)
        });
        taken.ok().map(VertexId)
    }

    /// Takes back an id whose commit did not happen.
    pub(crate) fn give_back(&self, id: VertexId) {
        self.free.unused(id, VertexId(id.0 + 1));
    }

    /// Binds `key` to `id` as of `ts`, dropping older bindings that ended at or before `oldest`, the oldest timestamp
    /// that any reader can see. The caller holds the latches of the key and of the vertex's subgraph.
    pub(crate) fn bind(&self, key: &VertexKey, id: VertexId, ts: Timestamp, oldest: Timestamp) {
        self.include(id);
        match key {
            VertexKey::U64(n) => {
                self.keys.set_number(id, *n);
                bind_in(&self.numbers, *n, id, ts, oldest);
            }
            VertexKey::Str(s) => {
                self.keys.set_string(id, s.clone());
                bind_in(&self.strings, s.clone(), id, ts, oldest);
            }
        }
    }

    /// Ends the binding of `key` as of `ts`; the id is reused once no reader can see the vertex. The caller holds the
    /// latches of the key and of the vertex's subgraph.
    pub(crate) fn unbind(&self, key: VertexKeyRef<'_>, id: VertexId, ts: Timestamp) {
        // Nobody else touches the entry: the key latch keeps other commits away, and a live binding is not dropped.
        self.with(key, |bindings| bindings.unbind(ts));
        self.free.removed(id, ts);
    }

    /// Marks the ids from `first` up to, not including, `end` as free: at opening, for ids without a vertex. Ranges come
    /// in descending order, so that the least id is given out first.
    pub(crate) fn add_unused(&self, first: VertexId, end: VertexId) {
        self.free.unused(first, end);
    }

    /// The number of keys that are or were bound, unless the graph is dense.
    pub(crate) fn bound_keys(&self) -> Option<usize> {
        match self.kind {
            KeyKind::Dense => None,
            KeyKind::U64 => Some(self.numbers.len()),
            KeyKind::Str => Some(self.strings.len()),
        }
    }

    /// Drops what replay noted about removed vertices: their ids are already in the list of unused ones.
    pub(crate) fn forget_removed(&self) {
        self.free.take_removed().for_each(|id| self.forget(id));
    }

    /// Drops the bindings that no reader can see any more, of the key that `id` carried: before the id is reused.
    pub(crate) fn forget(&self, id: VertexId) {
        let gone = |bindings: &Bindings| bindings.is_over(id);
        match self.kind {
            KeyKind::Dense => false,
            KeyKind::U64 => self.numbers.remove_if_sync(&self.keys.number(id), gone),
            KeyKind::Str => self.strings.remove_if_sync(&*self.keys.string(id), gone),
        };
    }

    /// The bytes held, with those of slots without a key, as common allocators round them.
    pub(crate) fn bytes(&self) -> usize {
        let mut texts = 0;
        self.strings.iter_sync(|k, _| {
            // The text, and the cell by which its vertex finds it.
            texts += allocated(COUNTS + k.len()) + allocated(COUNTS + size_of::<Arc<str>>());
            true
        });
        self.keys.bytes() + bytes_of(&self.numbers) + bytes_of(&self.strings) + texts
    }
}

/// A map that is dropped takes a lock of each thread that ever changed one in this process. So forks wait until it has: a
/// child could not take the lock of the thread that goes on in it. And a forked child does not drop maps, also its own ones,
/// whose memory stays: the threads that it lacks may have had locks of theirs.
impl Drop for IdMap {
    fn drop(&mut self) {
        let _whole = fork::hold_off();
        // What takes the locks goes with the maps; empty ones, which take their places, have none.
        let maps = (std::mem::take(&mut self.numbers), std::mem::take(&mut self.strings));
        if fork::generation() == 0 { drop(maps) } else { std::mem::forget(maps) }
    }
}

/// The two counts of references before the content of an [`Arc`].
const COUNTS: usize = 16;

/// What a map keeps of a slot besides key and bindings: part of the hash, and its share of the header of 32 slots.
const SLOT_HEADER: usize = 2;

/// The bytes that an allocation of `bytes` takes: most allocators round up, or add a header.
fn allocated(bytes: usize) -> usize {
    (bytes + 8).next_multiple_of(16)
}

/// The bytes of a map: of all slots, and of the binding of each key.
fn bytes_of<K: Eq + std::hash::Hash + 'static>(map: &Map<K>) -> usize {
    let slots = map.capacity() * (size_of::<(K, Bindings)>() + SLOT_HEADER);
    slots + map.len() * allocated(COUNTS + Bindings::bytes_each())
}

/// Binds `key` to `id`: see [`Bindings::bind`].
fn bind_in<K: Clone + Eq + std::hash::Hash + 'static>(
    map: &Map<K>,
    key: K,
    id: VertexId,
    ts: Timestamp,
    oldest: Timestamp,
) {
    match map.entry_sync(key) {
        scc::hash_index::Entry::Occupied(entry) => entry.get().bind(id, ts, oldest),
        scc::hash_index::Entry::Vacant(entry) => drop(entry.insert_entry(Bindings::new(id, ts))),
    }
}

/// Keys per page.
const KEY_PAGE: usize = 512;
/// Pages up to the largest vertex id.
const KEY_PAGES: usize = 1 << 23;

type StringCell = ArcCell<Arc<str>>;
type KeyPage<T> = OnceLock<Box<[T]>>;

/// The keys by vertex id: grows without moving, read without locks. Of ids far apart each costs a page.
#[derive(Default)]
struct KeyColumn {
    numbers: Growing<KeyPage<AtomicU64>, KEY_PAGES>,
    strings: Growing<KeyPage<StringCell>, KEY_PAGES>,
}

#[inline]
fn locate(id: VertexId) -> (usize, usize) {
    (id.index() / KEY_PAGE, id.index() % KEY_PAGE)
}

impl KeyColumn {
    #[inline]
    fn number(&self, id: VertexId) -> u64 {
        let (page, place) = locate(id);
        self.numbers.get(page).and_then(OnceLock::get).map_or(0, |keys| keys[place].load(Ordering::Acquire))
    }

    fn set_number(&self, id: VertexId, key: u64) {
        let (page, place) = locate(id);
        let page = self.numbers.get_or_create(page);
        let keys = page.get_or_init(|| (0..KEY_PAGE).map(|_| AtomicU64::new(0)).collect());
        keys[place].store(key, Ordering::Release);
    }

    fn string(&self, id: VertexId) -> Arc<str> {
        let (page, place) = locate(id);
        let keys = self.strings.get(page).and_then(OnceLock::get);
        let found = keys.and_then(|keys| keys[place].load().as_ref().map(|s| (**s).clone()));
        found.unwrap_or_else(|| Arc::from(""))
    }

    fn set_string(&self, id: VertexId, key: Arc<str>) {
        let (page, place) = locate(id);
        let page = self.strings.get_or_create(page);
        let keys = page.get_or_init(|| (0..KEY_PAGE).map(|_| ArcCell::default()).collect());
        keys[place].store(Some(Arc::new(key)));
    }

    fn bytes(&self) -> usize {
        fn pages<T>(pages: &Growing<KeyPage<T>, KEY_PAGES>) -> usize {
            let made = pages.chunks().flat_map(|(_, pages)| pages).filter(|page| page.get().is_some());
            pages.bytes() + made.count() * KEY_PAGE * size_of::<T>()
        }
        pages(&self.numbers) + pages(&self.strings)
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
