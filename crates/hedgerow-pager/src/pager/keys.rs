//! Look-ups of keys, and of the keys of ids, if segments have keys that memory does not know.
//! [`ids`](crate::ids) decides first, and segments decide if it knows nothing. No file is read with a latch,
//! or in a walk over versions.

mod teller;

use std::collections::HashMap;

use hedgerow_catalog::error::{Error, Result, StorageError};
use hedgerow_core::account::Purpose;
use hedgerow_core::{KindId, LabelId, Timestamp, VertexId, VertexKey, VertexKeyRef};
use hedgerow_mem::keys::Moment;

use crate::budget::taken::Taken;
use crate::budget::{For, Need};
use crate::ids::IdMap;
use crate::pager::Pager;
use crate::pager::pages::{KEY_BYTES, StoredKeys, fits_kind, invalid};
use crate::sources::page_of;

/// The number of vertices of a page.
const PAGE_VERTICES: u64 = 4096;
/// The share of a memory limit up to which keys from reads are kept. Keys that commits bind and unbind are
/// always kept.
const KEPT_SHARE: u64 = 4;
/// The greatest number of keys that are read at a time if memory keeps none of them. It is so small that they
/// can be read even when memory is full.
const READ_TOGETHER: usize = 2048;

/// The part of a store that knows the keys of vertices.
pub struct Keys {
    /// The keys and ids in memory.
    pub ids: IdMap,
    /// The bytes of keys in memory up to which looked-up keys are kept. A memory limit may lower this number.
    pub kept: u64,
}

impl Keys {
    /// Returns the vertex that `key` names for a snapshot at `t`, for a commit that may end the binding:
    /// memory knows the binding from then on (rule K2). In a dense graph the vertex need not exist. O(1); if
    /// memory does not know the key, also the read of a block of each segment.
    ///
    /// # Errors
    /// Damage, the system's errors; [`StorageError::MemoryLimit`] if the limit has no room to keep the key,
    /// which a commit [turns into its own](Error::of_commit).
    #[inline]
    pub fn vertex_of(&self, pager: &Pager, key: VertexKeyRef<'_>, t: Timestamp) -> Result<Option<VertexId>> {
        match self.ids.lookup(key, t) {
            None if self.ids.stored.are_there() => self.learned_vertex_of(pager, key, t),
            found => Ok(found),
        }
    }

    /// Like [`vertex_of`](Self::vertex_of), but for a read, or for a commit that does not change the binding.
    /// If the limit has no room for the key, memory does not know it afterwards (rule K5).
    ///
    /// # Errors
    /// Damage, the system's errors.
    #[inline]
    pub fn vertex_to_read(
        &self,
        pager: &Pager,
        key: VertexKeyRef<'_>,
        t: Timestamp,
    ) -> Result<Option<VertexId>> {
        match self.ids.lookup(key, t) {
            None if self.ids.stored.are_there() => self.stored_vertex_of(pager, key, t),
            found => Ok(found),
        }
    }

    /// Like [`vertex_to_read`](Self::vertex_to_read), but for several keys, whose cache misses overlap;
    /// `likely` is called as in [`IdMap::lookup_all`](crate::ids::IdMap::lookup_all).
    ///
    /// # Errors
    /// Damage, the system's errors.
    #[inline]
    pub fn vertices_to_read<const N: usize>(
        &self,
        pager: &Pager,
        keys: [VertexKeyRef<'_>; N],
        t: Timestamp,
        likely: impl FnMut(Moment, usize, VertexId),
    ) -> Result<[Option<VertexId>; N]> {
        let mut found = self.ids.lookup_all(keys, t, likely);
        if self.ids.stored.are_there() {
            for (found, &key) in found.iter_mut().zip(&keys) {
                if found.is_none() {
                    *found = self.stored_vertex_of(pager, key, t)?;
                }
            }
        }
        Ok(found)
    }

    /// Learns the key and looks it up again: memory may have learned it since the first look-up.
    #[cold]
    #[inline(never)]
    fn learned_vertex_of(
        &self,
        pager: &Pager,
        key: VertexKeyRef<'_>,
        t: Timestamp,
    ) -> Result<Option<VertexId>> {
        self.learn(pager, key)?;
        Ok(self.ids.lookup(key, t))
    }

    #[cold]
    #[inline(never)]
    fn stored_vertex_of(
        &self,
        pager: &Pager,
        key: VertexKeyRef<'_>,
        t: Timestamp,
    ) -> Result<Option<VertexId>> {
        if self.keeps_keys(pager) || self.knows_all_keys_that_are_worth_it(pager)? {
            let learned = self.learned_vertex_of(pager, key, t);
            if !has_no_room(&learned) {
                return learned;
            }
        }
        if !fits_kind(&pager.schema.load(), pager.config.keys, key) {
            return Ok(None);
        }
        if let Some(id) = self.reading_stored(pager, 1, |stored| stored.find(key))?
            && !self.ids.knows(id)
        {
            // The binding is valid since the checkpoint that the store was opened from (rule K3).
            return Ok(Some(id));
        }
        // Memory alone decides (rule K1); a thread that is binding the key is awaited first.
        drop(self.ids.latch(self.ids.latch_of(key)));
        Ok(self.ids.lookup(key, t))
    }

    /// True if memory keeps the keys that reads look up in segments. Kept keys are never evicted: if they
    /// take much of the limit, keys that are used once would displace data that is read often.
    fn keeps_keys(&self, pager: &Pager) -> bool {
        let of_limit = pager.memory_limit.map_or(u64::MAX, |limit| limit / KEPT_SHARE);
        pager.account().used_for(Purpose::Keys) <= of_limit.min(self.kept)
    }

    /// Counts a look-up in segments. Makes memory learn all keys when that costs no more than the look-ups so
    /// far, and the limit has room for them. Returns whether memory knows all keys.
    fn knows_all_keys_that_are_worth_it(&self, pager: &Pager) -> Result<bool> {
        if self.ids.stored.all_known() {
            return Ok(true);
        }
        pager.check_owner()?;
        // An unreadable page makes `learn_all` fail, but perhaps not the look-up of this key.
        Ok(self.ids.stored.note_look() && self.has_room_for_keys(pager) && self.learn_all(pager).is_ok())
    }

    /// Makes memory learn the binding of a key: from then on memory alone decides, with the key's latch too.
    /// Reads all keys when that costs no more than the look-ups so far, and the limit has room for them.
    ///
    /// # Errors
    /// Those of [`vertex_of`](Self::vertex_of).
    pub fn learn(&self, pager: &Pager, key: VertexKeyRef<'_>) -> Result<()> {
        if self.ids.stored.all_known() || !fits_kind(&pager.schema.load(), pager.config.keys, key) {
            return Ok(());
        }
        if self.knows_all_keys_that_are_worth_it(pager)? {
            return Ok(());
        }
        self.with_stored(pager, 1, |stored| stored.learn(key))
    }

    /// Makes memory learn all keys. O(vertices) once, then O(1).
    ///
    /// # Errors
    /// Those of [`vertex_of`](Self::vertex_of).
    fn learn_all(&self, pager: &Pager) -> Result<()> {
        if self.ids.stored.all_known() {
            return Ok(());
        }
        pager.check_owner()?;
        self.with_stored(pager, self.ids.stored.count(), |stored| stored.learn_all())
    }

    /// Makes memory learn all keys, if it has room for them; returns whether it knows them. Costs like
    /// `learn_all`.
    pub fn knows_all_with_room(&self, pager: &Pager) -> bool {
        self.ids.stored.all_known() || self.has_room_for_keys(pager) && self.learn_all(pager).is_ok()
    }

    /// Makes memory learn the keys of those vertices that have one; `false` if it does not keep all of them,
    /// or has no room for them. O(ids), and a page for each id that memory does not know.
    ///
    /// # Errors
    /// Those of [`vertex_to_read`](Self::vertex_to_read).
    pub fn learn_keys_of(&self, pager: &Pager, ids: &[VertexId]) -> Result<bool> {
        if self.ids.stored.all_known() {
            return Ok(true);
        }
        // If many keys are requested, all are learned at once. Errors are ignored: they may concern keys that
        // were not requested.
        if self.ids.stored.note_requested(ids.len() as u64) && self.knows_all_with_room(pager) {
            return Ok(true);
        }
        for &id in ids.iter().filter(|&&id| !self.ids.knows(id)) {
            if !self.keeps_keys(pager) {
                return Ok(false);
            }
            let learned = self.learn_key_of(pager, id);
            if has_no_room(&learned) {
                return Ok(false);
            }
            learned?;
        }
        Ok(true)
    }

    /// Reads the keys of the vertices of a page, unless memory knows the key of `id` by now.
    #[cold]
    fn learn_key_of(&self, pager: &Pager, id: VertexId) -> Result<()> {
        if self.ids.knows(id) {
            return Ok(());
        }
        pager.check_owner()?;
        self.with_stored(pager, PAGE_VERTICES, |stored| {
            stored.learn_page(page_of(LabelId::DEFAULT, id.subgraph()))
        })
    }

    /// Reserves room for `keys` keys, and calls `f`, which learns them.
    fn with_stored(
        &self,
        pager: &Pager,
        keys: u64,
        f: impl FnOnce(&StoredKeys<'_>) -> Result<()>,
    ) -> Result<()> {
        let bytes = keys.saturating_mul(KEY_BYTES);
        if !pager.find_room(&Need::new(For::Commit, bytes).with_block(bytes)) {
            return Err(StorageError::MemoryLimit(pager.shortage(bytes, For::Commit)).into());
        }
        self.with_sources(pager, f)
    }

    /// Calls `f`, which reads `keys` keys that memory does not keep. They are charged during the call. If no
    /// room can be made, they are read nevertheless, like small lists: they are few.
    fn reading_stored<R>(
        &self,
        pager: &Pager,
        keys: u64,
        f: impl FnOnce(&StoredKeys<'_>) -> Result<R>,
    ) -> Result<R> {
        let bytes = if pager.memory_limit.is_some() { keys.saturating_mul(KEY_BYTES) } else { 0 };
        let mut taken = Taken::new(&pager.budget, For::Read);
        if !taken.set(bytes) && pager.find_room(&Need::new(For::Read, bytes)) {
            taken.set(bytes);
        }
        self.with_sources(pager, f)
    }

    fn with_sources<R>(&self, pager: &Pager, f: impl FnOnce(&StoredKeys<'_>) -> Result<R>) -> Result<R> {
        let (sources, schema) = (pager.pages.sources(), pager.schema.load_full());
        f(&StoredKeys { ids: &self.ids, sources: &sources, schema: &schema, config: pager.config })
    }

    /// True if the limit has room for all keys, in addition to the used memory.
    fn has_room_for_keys(&self, pager: &Pager) -> bool {
        let needed = self.ids.stored.count().saturating_mul(KEY_BYTES);
        let has_room = pager.memory_limit.is_none() || pager.account().room() / 2 >= needed;
        has_room && needed <= self.kept
    }

    /// True if the key of an id can be found without reading files.
    #[inline]
    fn tells_key_of(&self, id: VertexId) -> bool {
        !self.ids.stored.are_there() || self.ids.knows(id)
    }

    /// Returns the key of a vertex that is live in the snapshot of the caller.
    ///
    /// # Errors
    /// Those of [`vertex_of`](Self::vertex_of).
    #[inline]
    pub fn key_of(&self, pager: &Pager, id: VertexId) -> Result<VertexKey> {
        if self.tells_key_of(id) { Ok(self.ids.key_of(id)) } else { self.stored_key_of(pager, id) }
    }

    /// Returns the kind of a vertex that is live in the snapshot of the caller.
    ///
    /// # Errors
    /// Those of [`vertex_of`](Self::vertex_of).
    #[inline]
    pub fn kind_of(&self, pager: &Pager, id: VertexId) -> Result<KindId> {
        if self.tells_key_of(id) {
            return Ok(self.ids.kind_of(id));
        }
        Ok(self.stored_key_of(pager, id)?.kind())
    }

    #[cold]
    #[inline(never)]
    fn stored_key_of(&self, pager: &Pager, id: VertexId) -> Result<VertexKey> {
        match self.stored_keys_of(pager, vec![id])?.remove(&id) {
            Some(key) => Ok(key),
            None => Ok(self.ids.key_of(id)),
        }
    }

    /// Returns the keys of these vertices, except for keys that memory has learned.
    #[cold]
    fn stored_keys_of(&self, pager: &Pager, ids: Vec<VertexId>) -> Result<HashMap<VertexId, VertexKey>> {
        if self.keeps_keys(pager) {
            let learned = ids.iter().try_for_each(|&id| self.must_learn_key_of(pager, id));
            if !has_no_room(&learned) {
                return learned.map(|()| HashMap::new());
            }
        }
        let found = self.find_keys_of(pager, &ids)?;
        match ids.iter().find(|id| !found.contains_key(id) && !self.ids.knows(**id)) {
            None => Ok(found),
            Some(_) => Err(self.vertex_without_key(pager)),
        }
    }

    /// Returns the keys of those vertices that memory does not know, if they have one; memory does not learn
    /// them. O(ids), and the keys of each page that has one of the vertices.
    ///
    /// # Errors
    /// Those of [`vertex_to_read`](Self::vertex_to_read).
    pub fn find_keys_of(&self, pager: &Pager, ids: &[VertexId]) -> Result<HashMap<VertexId, VertexKey>> {
        pager.check_owner()?;
        let mut ids: Vec<VertexId> = ids.iter().copied().filter(|&id| !self.ids.knows(id)).collect();
        ids.sort_unstable();
        let mut found = HashMap::with_capacity(ids.len());
        let page_of_id = |id: &VertexId| page_of(LabelId::DEFAULT, id.subgraph());
        let of_pages = ids.chunk_by(|a, b| page_of_id(a) == page_of_id(b));
        for ids in of_pages.flat_map(|of_page| of_page.chunks(READ_TOGETHER)) {
            self.reading_stored(pager, ids.len() as u64, |stored| {
                stored.find_keys(page_of_id(&ids[0]), ids, &mut found)
            })?;
        }
        // If memory knows a binding by now, memory decides (rule K1), even if it did not know the binding
        // before.
        found.retain(|id, _| !self.ids.knows(*id));
        Ok(found)
    }

    fn vertex_without_key(&self, pager: &Pager) -> Error {
        let sources = pager.pages.sources();
        let newest = sources.segments().next().map_or("", |segment| segment.name.as_str());
        invalid(newest, "a vertex without a key")
    }

    #[cold]
    #[inline(never)]
    fn must_learn_key_of(&self, pager: &Pager, id: VertexId) -> Result<()> {
        self.learn_key_of(pager, id)?;
        if self.ids.knows(id) { Ok(()) } else { Err(self.vertex_without_key(pager)) }
    }
}

/// True if the limit had no room for the keys that memory was to learn. The caller then reads them from
/// segments.
fn has_no_room<T>(learned: &Result<T>) -> bool {
    matches!(learned, Err(Error::Storage(StorageError::MemoryLimit { .. })))
}
