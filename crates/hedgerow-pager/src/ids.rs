//! The map from external ids to vertex ids and back, versioned.
//!
//! Look-ups take no lock. Memory may not know all keys ([`stored`]). Bindings change only under the latch of
//! the key ([`IdMap::latch`]), in commits that also latch the vertex's subgraph. Dense graphs have none.

mod bound;
pub mod stored;

use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::FixedState;
use hedgerow_core::account::Account;
use hedgerow_core::fork;
use hedgerow_core::sync::{Mutex, MutexGuard};
use hedgerow_core::{
    KeyKind, KindId, SUBGRAPH_VERTICES, SubgraphId, TextColumn, Timestamp, VertexId, VertexKey, VertexKeyRef,
};
use hedgerow_mem::KeyTable;
use hedgerow_mem::keys::Moment;
use hedgerow_txn::{FreeId, FreeIds};

pub use bound::VertexBound;
use stored::Stored;

/// The number of latches; smaller under the controlled scheduler, so that keys share latches.
const LATCHES: usize = if cfg!(feature = "shuttle") { 4 } else { 256 };

/// The id map of a graph.
pub struct IdMap {
    /// The key table; `None` in a dense graph.
    keys: Option<KeyTable>,
    latches: Box<[Mutex<()>]>,
    free: FreeIds,
    /// Ids that are reserved for kinds other than the default one.
    stretches: Mutex<Vec<Range<u32>>>,
    /// The bound of vertex ids.
    pub bound: Arc<VertexBound>,
    /// The keys that may be only in segments.
    pub stored: Stored,
}

/// A latched key range.
pub type KeyLatch<'a> = MutexGuard<'a, ()>;

impl IdMap {
    /// Makes a map without vertices. The memory of keys is charged to `account`.
    pub fn new(kind: KeyKind, account: Arc<Account>) -> IdMap {
        // The first table of a process makes the seed of all hashers, and others wait: no fork may occur.
        let _whole = fork::hold_off();
        IdMap {
            keys: (kind != KeyKind::Dense).then(|| KeyTable::charging(kind == KeyKind::Str, account)),
            latches: (0..LATCHES).map(|_| Mutex::new(())).collect(),
            free: FreeIds::default(),
            stretches: Mutex::new(Vec::new()),
            bound: Arc::default(),
            stored: Stored::default(),
        }
    }

    /// True if memory knows the binding of `id`, or knows that `id` has none.
    #[inline]
    pub fn knows(&self, id: VertexId) -> bool {
        self.keys.as_ref().is_none_or(|keys| keys.knows(id))
    }

    /// Binds keys from segments, all under the latch number `latch`, to ids that memory does not know. Takes
    /// the latch: the caller must hold none.
    pub fn learn<'k>(&self, latch: usize, found: impl IntoIterator<Item = (VertexKeyRef<'k>, VertexId)>) {
        let Some(keys) = &self.keys else { return };
        let _latched = self.latch(latch);
        let unknown = found.into_iter().filter(|&(_, id)| !keys.knows(id));
        keys.bind_all(unknown, self.stored.since(), Timestamp::INFINITY);
    }

    /// Returns one more than the largest id that was assigned.
    #[inline]
    pub fn bound(&self) -> u32 {
        self.bound.get()
    }

    /// Raises the bound to include `id`.
    #[inline]
    pub fn include(&self, id: VertexId) {
        self.bound.include(id);
    }

    /// True if keys are ids.
    #[inline]
    pub fn is_dense(&self) -> bool {
        self.keys.is_none()
    }

    /// Returns the vertex that `key` names for a snapshot at `t`. In a dense graph the vertex need not exist.
    #[inline]
    pub fn lookup(&self, key: VertexKeyRef<'_>, t: Timestamp) -> Option<VertexId> {
        match (&self.keys, key) {
            (Some(keys), key) => keys.at(key, t),
            (None, key) => IdMap::dense_id(key),
        }
    }

    /// Returns the vertex that `key` names in a dense graph.
    #[inline(always)]
    pub fn dense_id(key: VertexKeyRef<'_>) -> Option<VertexId> {
        match key {
            VertexKeyRef::U64(n) => u32::try_from(n).ok().map(VertexId),
            _ => None,
        }
    }

    /// Like [`lookup`](Self::lookup), but for several keys, whose cache misses overlap. During the look-up,
    /// calls `likely` with the index of a key and the vertex that it probably names.
    #[inline]
    pub fn lookup_all<const N: usize>(
        &self,
        keys: [VertexKeyRef<'_>; N],
        t: Timestamp,
        likely: impl FnMut(Moment, usize, VertexId),
    ) -> [Option<VertexId>; N] {
        match &self.keys {
            Some(table) => table.at_all(keys, t, likely),
            None => {
                let mut ids = [None; N];
                for (id, &key) in ids.iter_mut().zip(&keys) {
                    *id = IdMap::dense_id(key);
                }
                ids
            }
        }
    }

    /// Returns the vertices that keys probably name now, unchecked: callers must check with latches held that
    /// the vertices [carry](Self::carries) the keys. `None` if the first probe of the table does not suffice,
    /// and in a dense graph. Calls `likely` with each vertex as soon as it is found.
    #[inline]
    pub fn guess<const N: usize>(
        &self,
        keys: &[VertexKeyRef<'_>; N],
        likely: impl FnMut(Moment, usize, VertexId),
    ) -> Option<[VertexId; N]> {
        self.keys.as_ref()?.guess(keys, likely)
    }

    /// Returns when `key` was last bound or unbound; zero if never.
    pub fn last_change(&self, key: VertexKeyRef<'_>) -> Timestamp {
        self.keys.as_ref().and_then(|keys| keys.changed(key)).unwrap_or(Timestamp::ZERO)
    }

    /// Returns the key of a vertex that is live in the snapshot of the caller.
    #[inline]
    pub fn key_of(&self, id: VertexId) -> VertexKey {
        match &self.keys {
            None => VertexKey::U64(u64::from(id.0)),
            Some(keys) => keys.key_of(id),
        }
    }

    /// Writes the keys of `ids`, which a snapshot at `t` sees, into `numbers`, which has the same length. Not
    /// for texts. In a dense graph the vertex need not exist.
    ///
    /// # Errors
    /// The first vertex whose key memory does not know.
    pub fn numbers_of(&self, ids: &[VertexId], t: Timestamp, numbers: &mut [u64]) -> Result<(), VertexId> {
        let mut places = numbers.iter_mut();
        let put = |number| places.next().into_iter().for_each(|place| *place = number);
        match &self.keys {
            Some(keys) => keys.numbers_at(ids, t, put),
            None => {
                ids.iter().map(|id| u64::from(id.0)).for_each(put);
                Ok(())
            }
        }
    }

    /// Adds the text of each id, which a snapshot at `t` sees, to a column. Only for texts.
    ///
    /// # Errors
    /// The first vertex whose key memory does not know.
    pub fn texts_of(&self, ids: &[VertexId], t: Timestamp, texts: &mut TextColumn) -> Result<(), VertexId> {
        self.keys.iter().try_for_each(|keys| keys.texts_at(ids, t, texts))
    }

    /// Returns the key of each id, of any kind, which a snapshot at `t` sees.
    ///
    /// # Errors
    /// The first vertex whose key memory does not know.
    pub fn keys_of(&self, ids: &[VertexId], t: Timestamp) -> Result<Vec<VertexKey>, VertexId> {
        let mut found = Vec::with_capacity(ids.len());
        self.keys.iter().try_for_each(|keys| keys.keys_at(ids, t, |key| found.push(key)))?;
        Ok(found)
    }

    /// True if `id` carries `key`; stable while the latch of the vertex's subgraph is held.
    #[inline]
    pub fn carries(&self, id: VertexId, key: VertexKeyRef<'_>) -> bool {
        match &self.keys {
            None => key == VertexKeyRef::U64(u64::from(id.0)),
            Some(keys) => keys.carries(id, key),
        }
    }

    /// True if `key` names `id` in the newest state; stable while the latch of the vertex's subgraph is held.
    /// In a dense graph the vertex need not exist.
    #[inline]
    pub fn names(&self, id: VertexId, key: VertexKeyRef<'_>) -> bool {
        match &self.keys {
            None => key == VertexKeyRef::U64(u64::from(id.0)),
            Some(keys) => keys.names(id, key),
        }
    }

    /// True if `id`, which a commit found for `key` before it latched, still carries it. If memory does not
    /// know `id`, it does (rule K5). Stable while the latch of the vertex's subgraph is held.
    #[inline]
    pub fn still_carries(&self, id: VertexId, key: VertexKeyRef<'_>) -> bool {
        self.carries(id, key) || !self.knows(id)
    }

    /// Like [`still_carries`](Self::still_carries), but for the newest state: the binding has not ended.
    #[inline]
    pub fn still_names(&self, id: VertexId, key: VertexKeyRef<'_>) -> bool {
        self.names(id, key) || !self.knows(id)
    }

    /// Looks `key` up under its latch. If memory does not know the vertex found `before`, that is the result.
    pub fn latched_lookup(&self, key: VertexKeyRef<'_>, before: Option<VertexId>) -> Option<VertexId> {
        self.lookup(key, Timestamp(u64::MAX - 1)).or(before.filter(|&id| !self.knows(id)))
    }

    /// Adds a kind before the schema knows it. Keys of its vertices are texts if `is_text`, else numbers.
    pub fn add_kind(&self, kind: KindId, is_text: bool) {
        self.keys.iter().for_each(|keys| keys.add_kind(kind, is_text));
    }

    /// Returns the kind of a vertex that is live in the snapshot of the caller.
    #[inline]
    pub fn kind_of(&self, id: VertexId) -> KindId {
        self.keys.as_ref().map_or(KindId::DEFAULT, |keys| keys.kind_of(id))
    }

    /// Calls `f` with each [kind](Self::kind_of) of these vertices, and its vertices. Not for dense graphs.
    pub fn kinds_of(&self, subgraph: SubgraphId, vertices: u64, f: impl FnMut(KindId, u64)) {
        if let Some(keys) = &self.keys {
            keys.kinds_of(subgraph, vertices, f);
        }
    }

    /// Returns the index of the latch that guards the bindings of `key`.
    pub fn latch_of(&self, key: VertexKeyRef<'_>) -> usize {
        let hash = match key {
            VertexKeyRef::U64(n) => n,
            VertexKeyRef::Str(s) => FixedState::default().hash_one(s),
            VertexKeyRef::KindU64(kind, n) => n ^ u64::from(kind.0) << 56,
            VertexKeyRef::KindStr(kind, s) => FixedState::default().hash_one((kind, s)),
        };
        (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % LATCHES
    }

    /// Takes a latch. Take several in ascending order, and before any latch of a subgraph.
    pub fn latch(&self, index: usize) -> KeyLatch<'_> {
        self.latches[index].lock()
    }

    /// Takes a latch if it is free.
    pub fn try_latch(&self, index: usize) -> Option<KeyLatch<'_>> {
        self.latches[index].try_lock()
    }

    /// Allocates an id for a new vertex. Kinds other than the default one reserve the ids of a subgraph at a
    /// time: so edges of a label between two kinds are in few subgraphs. Calls `oldest` (the oldest timestamp
    /// that readers see) only for ids of removed vertices. `None` when all 2^32 - 1 ids are in use.
    pub fn allocate(&self, kind: KindId, oldest: impl FnOnce() -> Option<Timestamp>) -> Option<VertexId> {
        match self.free.take(oldest) {
            Some(FreeId::Unused(id)) => return Some(id),
            Some(FreeId::Removed(id)) => {
                self.forget(id);
                return Some(id);
            }
            None => {}
        }
        if kind == KindId::DEFAULT {
            return self.next_ids(1).map(|ids| VertexId(ids.start));
        }
        let mut stretches = self.stretches.lock();
        let at = usize::from(kind.0) - 1;
        if stretches.len() <= at {
            stretches.resize(at + 1, 0..0);
        }
        if let Some(id) = stretches[at].next() {
            return Some(VertexId(id));
        }
        stretches[at] = self.next_ids(SUBGRAPH_VERTICES as u32)?;
        stretches[at].next().map(VertexId)
    }

    /// Takes ids that were never given out: up to `count`, and none beyond the next multiple of `count`.
    fn next_ids(&self, count: u32) -> Option<Range<u32>> {
        let end = |next: u32| {
            let end = u64::from(next) / u64::from(count) * u64::from(count) + u64::from(count);
            end.min(u64::from(VertexId::MAX.0) + 1) as u32
        };
        self.bound.raise(|next| (next <= VertexId::MAX.0).then(|| end(next))).map(|next| next..end(next))
    }

    /// Takes back an id that a commit took and did not use.
    pub fn give_back(&self, id: VertexId) {
        self.free.unused(id, VertexId(id.0 + 1));
    }

    /// Binds `key` to `id` as of `ts`, dropping older bindings that ended at or before `oldest`, the oldest
    /// timestamp that any reader can see. The caller holds the latches of the key and of the vertex's
    /// subgraph.
    pub fn bind(&self, key: VertexKeyRef<'_>, id: VertexId, ts: Timestamp, oldest: Timestamp) {
        self.include(id);
        if let Some(keys) = &self.keys {
            keys.bind(key, id, ts, oldest);
        }
    }

    /// Makes room in one index part for its share of `keys` keys of a kind that are about to be bound.
    pub fn reserve(&self, kind: KindId, part: usize, keys: usize) {
        self.keys.iter().for_each(|table| table.reserve(kind, part, keys));
    }

    /// Like [`bind`](Self::bind), but for several keys.
    pub fn bind_all<'k>(
        &self,
        new: impl Iterator<Item = (VertexKeyRef<'k>, VertexId)>,
        ts: Timestamp,
        oldest: Timestamp,
    ) {
        if let Some(keys) = &self.keys {
            keys.bind_all(new.inspect(|&(_, id)| self.include(id)), ts, oldest);
        }
    }

    /// Ends the binding of `key` as of `ts`; the id is reused once no reader can see the vertex. The caller
    /// holds the latches of the key and of the vertex's subgraph.
    pub fn unbind(&self, key: VertexKeyRef<'_>, id: VertexId, ts: Timestamp) {
        debug_assert!(self.carries(id, key));
        if let Some(keys) = &self.keys {
            keys.unbind(id, ts);
        }
        self.free.removed(id, ts);
    }

    /// Like [`unbind`](Self::unbind), but for a replayed removal of a vertex, whose key memory may not know.
    pub fn unbind_replayed(&self, id: VertexId, ts: Timestamp) {
        match &self.keys {
            Some(keys) if keys.knows(id) => keys.unbind(id, ts),
            Some(keys) => keys.set_unbound(id),
            None => {}
        }
        self.free.removed(id, ts);
    }

    /// Marks the ids from `first` up to, not including, `end` as free: at opening, for ids without a vertex.
    /// Ranges come in descending order, so that the least id is given out first.
    pub fn add_unused(&self, first: VertexId, end: VertexId) {
        self.free.unused(first, end);
    }

    /// Returns the number of keys that are or were bound, unless the graph is dense.
    pub fn bound_keys(&self) -> Option<usize> {
        self.keys.as_ref().map(KeyTable::len)
    }

    /// Drops the notes of replay about removed vertices, whose ids are already in the list of unused ids.
    pub fn forget_removed(&self) {
        self.free.take_removed().for_each(|id| self.forget(id));
    }

    /// Drops the binding of `id`, which no reader can see any more. Called before the id is reused.
    pub fn forget(&self, id: VertexId) {
        self.keys.iter().for_each(|keys| keys.forget(id));
    }

    /// Returns the bytes of the keys, with those of slots and rows without a key.
    pub fn bytes(&self) -> usize {
        self.keys.as_ref().map_or(0, KeyTable::bytes)
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
