//! The vertex that each key names, in a file if memory has no room: a hash table whose entries do not contain
//! the keys.
//!
//! An entry is the hash of a key, and the id of a vertex. It is valid while this vertex has the key, so no
//! entry is ever removed. The upper bits of its hash give a place, and the entry is in the first place from
//! there that was free. So a search stops at a free place, and the order of entries is the same in a table
//! twice as large.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::VertexKeyRef;
use hedgerow_tier::temporary::TemporaryDirectory;

use super::paged_bytes::PagedBytes;
use super::vertex_map::VertexMap;

#[cfg(test)]
mod tests;

/// The size of an entry in bytes. A file page has a whole number of entries.
const ENTRY_BYTES: u64 = 16;
/// The binary logarithm of the least number of places.
const LEAST_BITS: u32 = 8;

/// One place of the table. Zeros mark a free place.
#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u64,
    id: u32,
}

/// The ids by key. The keys themselves are stored with the vertices in a [`VertexMap`].
#[derive(Debug)]
pub(super) struct IdsByKey<S = RandomState> {
    directory: Arc<TemporaryDirectory>,
    memory: usize,
    table: PagedBytes,
    /// The binary logarithm of the number of places.
    bits: u32,
    taken: u64,
    hasher: S,
}

impl<S: BuildHasher + Default> IdsByKey<S> {
    /// Returns a table without keys, with places for `keys` of them. It takes `memory` bytes (twice as many
    /// while it grows), and 48 bytes for each file page of 256 places.
    pub(super) fn new(directory: &Arc<TemporaryDirectory>, memory: usize, keys: u64) -> IdsByKey<S> {
        let mut bits = LEAST_BITS;
        while is_full(keys, bits) {
            bits += 1;
        }
        let table = PagedBytes::new(directory, memory);
        IdsByKey { directory: directory.clone(), memory, table, bits, taken: 0, hasher: S::default() }
    }

    /// Makes `key` name `id`. The vertex `id` must have the key before the next call. Returns the id that the
    /// key named before.
    ///
    /// # Errors
    /// The errors of the temporary files, which every method may return.
    pub(super) fn insert(
        &mut self,
        key: VertexKeyRef<'_>,
        id: u32,
        vertices: &mut VertexMap,
    ) -> Result<Option<u32>> {
        let hash = self.hasher.hash_one(key);
        let (at, before) = self.find(hash, key, vertices)?;
        if self.entry(at)?.is_some() {
            self.write(at, Some(Entry { hash, id }))?;
            return Ok(before);
        }
        if is_full(self.taken + 1, self.bits) {
            self.grow()?;
        }
        self.taken += 1;
        self.add(Entry { hash, id })?;
        Ok(None)
    }

    /// Returns the place of a key, and the id that it names. If it names none, returns a place for it: the
    /// place of an outdated entry with the same hash, or else a free place. So a key that is removed and
    /// added again has only one entry.
    fn find(
        &mut self,
        hash: u64,
        key: VertexKeyRef<'_>,
        vertices: &mut VertexMap,
    ) -> Result<(u64, Option<u32>)> {
        let (mut at, mut outdated) = (self.place_of(hash), None);
        while let Some(entry) = self.entry(at)? {
            if entry.hash == hash {
                let named = vertices.get(entry.id)?.map(|vertex| vertices.key(&vertex)).transpose()?;
                match named {
                    Some(named) if named.as_ref() == key => return Ok((at, Some(entry.id))),
                    Some(named) if self.hasher.hash_one(named.as_ref()) == hash => {}
                    _ => outdated = Some(at),
                }
            }
            at = self.behind(at);
        }
        Ok((outdated.unwrap_or(at), None))
    }

    /// Adds an entry for a key without one.
    fn add(&mut self, entry: Entry) -> Result<()> {
        let mut at = self.place_of(entry.hash);
        while self.entry(at)?.is_some() {
            at = self.behind(at);
        }
        self.write(at, Some(entry))
    }

    fn grow(&mut self) -> Result<()> {
        let larger = PagedBytes::new(&self.directory, self.memory);
        let mut before = std::mem::replace(&mut self.table, larger);
        self.bits += 1;
        let mut next = 0;
        while let Some(at) = before.first_written(next) {
            next = at + ENTRY_BYTES;
            if let Some(entry) = read_entry(&mut before, at)? {
                self.add(entry)?;
            }
        }
        Ok(())
    }

    fn places(&self) -> u64 {
        1 << self.bits
    }

    fn place_of(&self, hash: u64) -> u64 {
        hash >> (u64::BITS - self.bits)
    }

    fn behind(&self, place: u64) -> u64 {
        (place + 1) & (self.places() - 1)
    }

    fn entry(&mut self, place: u64) -> Result<Option<Entry>> {
        read_entry(&mut self.table, place * ENTRY_BYTES)
    }

    fn write(&mut self, place: u64, entry: Option<Entry>) -> Result<()> {
        let raw = entry.map_or(0, |Entry { hash, id }| u128::from(hash) | (u128::from(id) + 1) << 64);
        self.table.write(place * ENTRY_BYTES, &raw.to_le_bytes())
    }
}

/// True if this many keys take more than three quarters of the places.
fn is_full(keys: u64, bits: u32) -> bool {
    keys > (1 << bits) / 4 * 3
}

fn read_entry(table: &mut PagedBytes, at: u64) -> Result<Option<Entry>> {
    let mut raw = [0; ENTRY_BYTES as usize];
    table.read(at, &mut raw)?;
    let raw = u128::from_le_bytes(raw);
    let id = ((raw >> 64) as u64).checked_sub(1);
    Ok(id.map(|id| Entry { hash: raw as u64, id: id as u32 }))
}
