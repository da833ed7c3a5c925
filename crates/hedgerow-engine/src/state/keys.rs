//! Look-ups of keys, and of the keys of ids, where segments hold some that memory does not know: what `state::ids` says first, and
//! segments where it says nothing. No file is read with a latch, or in a walk over versions.

use hedgerow_core::{KindId, LabelId, Timestamp, VertexId, VertexKey, VertexKeyRef};
use hedgerow_mem::keys::Moment;

use crate::error::{Result, StorageError};
use crate::state::pages::{KEY_BYTES, StoredKeys, fits_kind, invalid, page_of};
use crate::state::store::Core;

/// The vertices of a page.
const PAGE_VERTICES: u64 = 4096;

impl Core {
    /// The vertex that `key` names for a snapshot at `t`. Of a dense graph the existence of the vertex is not looked at. O(1); where
    /// memory does not know the key a read of a block for each segment.
    ///
    /// # Errors
    /// Those of a read: damage, the system's errors, a limit without room.
    #[inline]
    pub(crate) fn vertex_of(&self, key: VertexKeyRef<'_>, t: Timestamp) -> Result<Option<VertexId>> {
        match self.ids.lookup(key, t) {
            None if self.ids.stored.are_there() => self.stored_vertex_of(key, t),
            found => Ok(found),
        }
    }

    /// As [`vertex_of`](Self::vertex_of), of several keys, whose cache misses overlap; `likely` as in
    /// [`IdMap::lookup_all`](crate::state::ids::IdMap::lookup_all).
    #[inline]
    pub(crate) fn vertices_of<const N: usize>(
        &self,
        keys: [VertexKeyRef<'_>; N],
        t: Timestamp,
        likely: impl FnMut(Moment, usize, VertexId),
    ) -> Result<[Option<VertexId>; N]> {
        let mut found = self.ids.lookup_all(keys, t, likely);
        if self.ids.stored.are_there() {
            for (found, &key) in found.iter_mut().zip(&keys) {
                if found.is_none() {
                    *found = self.stored_vertex_of(key, t)?;
                }
            }
        }
        Ok(found)
    }

    /// What memory did not find may have been learned since.
    #[cold]
    #[inline(never)]
    fn stored_vertex_of(&self, key: VertexKeyRef<'_>, t: Timestamp) -> Result<Option<VertexId>> {
        self.learn(key)?;
        Ok(self.ids.lookup(key, t))
    }

    /// Has memory know what a key names: from then on it alone decides, with the key's latch too. All keys are read once that costs no
    /// more than the look-ups did, where the limit has room for them.
    ///
    /// # Errors
    /// As of [`vertex_of`](Self::vertex_of).
    pub(crate) fn learn(&self, key: VertexKeyRef<'_>) -> Result<()> {
        if self.ids.stored.all_known() || !fits_kind(&self.schema.load(), self.config.keys, key) {
            return Ok(());
        }
        self.check_owner()?;
        if self.ids.stored.note_look() {
            // Where a page cannot be read others can, and this key perhaps too.
            if self.has_room_for_keys() && self.learn_all().is_ok() {
                return Ok(());
            }
        }
        self.check_room_for_keys(1)?;
        self.with_stored(|stored| stored.learn(key))
    }

    /// Has memory know all keys. O(vertices) once, then O(1).
    ///
    /// # Errors
    /// As of [`vertex_of`](Self::vertex_of).
    pub(crate) fn learn_all(&self) -> Result<()> {
        if self.ids.stored.all_known() {
            return Ok(());
        }
        self.check_owner()?;
        self.check_room_for_keys(self.ids.stored.count())?;
        self.with_stored(|stored| stored.learn_all())
    }

    /// Has memory know the keys of vertices, as far as they have any. O(ids), and a page for each that it does not know.
    ///
    /// # Errors
    /// As of [`vertex_of`](Self::vertex_of).
    pub(crate) fn learn_keys_of(&self, ids: &[VertexId]) -> Result<()> {
        if self.ids.stored.all_known() {
            return Ok(());
        }
        // Side by side where most are wanted. What cannot be read may be of others.
        let most = ids.len() as u64 >= self.ids.stored.count() / 8;
        if most && self.has_room_for_keys() && self.learn_all().is_ok() {
            return Ok(());
        }
        ids.iter().filter(|&&id| !self.ids.knows(id)).try_for_each(|&id| self.learn_key_of(id))
    }

    /// Reads the keys of the vertices of a page, unless the one of `id` is known by now.
    #[cold]
    fn learn_key_of(&self, id: VertexId) -> Result<()> {
        if self.ids.knows(id) {
            return Ok(());
        }
        self.check_owner()?;
        self.check_room_for_keys(PAGE_VERTICES)?;
        self.with_stored(|stored| stored.learn_page(page_of(LabelId::DEFAULT, id.subgraph())))
    }

    fn with_stored(&self, f: impl FnOnce(&StoredKeys<'_>) -> Result<()>) -> Result<()> {
        let (sources, schema) = (self.pages.sources(), self.schema.load_full());
        f(&StoredKeys { ids: &self.ids, sources: &sources, schema: &schema, config: self.config })
    }

    /// Whether the limit has room for all keys, beside what is used.
    fn has_room_for_keys(&self) -> bool {
        self.memory_limit.is_none()
            || self.account().room() / 2 >= self.ids.stored.count().saturating_mul(KEY_BYTES)
    }

    fn check_room_for_keys(&self, keys: u64) -> Result<()> {
        let Some(limit) = self.memory_limit else { return Ok(()) };
        let needed = keys.saturating_mul(KEY_BYTES);
        if self.has_room_to_read(limit, needed) {
            return Ok(());
        }
        Err(StorageError::MemoryLimit { limit, used: self.account().used(), needed }.into())
    }

    /// Whether the key of an id can be told without reading files.
    #[inline]
    fn tells_key_of(&self, id: VertexId) -> bool {
        !self.ids.stored.are_there() || self.ids.knows(id)
    }

    /// The key of a vertex that is live in a snapshot that is being read.
    ///
    /// # Errors
    /// As of [`vertex_of`](Self::vertex_of).
    #[inline]
    pub(crate) fn key_of(&self, id: VertexId) -> Result<VertexKey> {
        if !self.tells_key_of(id) {
            self.must_learn_key_of(id)?;
        }
        Ok(self.ids.key_of(id))
    }

    /// The kind of a vertex that is live in a snapshot that is being read.
    ///
    /// # Errors
    /// As of [`vertex_of`](Self::vertex_of).
    #[inline]
    pub(crate) fn kind_of(&self, id: VertexId) -> Result<KindId> {
        if !self.tells_key_of(id) {
            self.must_learn_key_of(id)?;
        }
        Ok(self.ids.kind_of(id))
    }

    #[cold]
    #[inline(never)]
    fn must_learn_key_of(&self, id: VertexId) -> Result<()> {
        self.learn_key_of(id)?;
        match self.ids.knows(id) {
            true => Ok(()),
            false => {
                let sources = self.pages.sources();
                let newest = sources.segments().next().map_or("", |segment| segment.name.as_str());
                Err(invalid(newest, "a vertex without a key"))
            }
        }
    }

    /// What `read` makes of keys of vertices that it meets in walks over versions, where no file is read: it is called again once those
    /// are known that it could not be told.
    ///
    /// # Errors
    /// Those of `read`, and as of [`vertex_of`](Self::vertex_of).
    pub(crate) fn telling_keys<R>(&self, mut read: impl FnMut(&mut KeyTeller<'_>) -> Result<R>) -> Result<R> {
        loop {
            let mut keys = KeyTeller { core: self, untold: Vec::new() };
            let made = read(&mut keys)?;
            if keys.untold.is_empty() {
                return Ok(made);
            }
            let untold = std::mem::take(&mut keys.untold);
            untold.into_iter().try_for_each(|id| self.must_learn_key_of(id))?;
        }
    }
}

/// Tells keys of vertices, and remembers of which it could not.
pub(crate) struct KeyTeller<'a> {
    core: &'a Core,
    untold: Vec<VertexId>,
}

impl KeyTeller<'_> {
    /// The key of a vertex that is live in a snapshot that is being read; any key if it is not known yet.
    #[inline]
    pub(crate) fn of(&mut self, id: VertexId) -> VertexKey {
        if !self.core.tells_key_of(id) {
            self.untold.push(id);
            return VertexKey::U64(0);
        }
        self.core.ids.key_of(id)
    }
}
