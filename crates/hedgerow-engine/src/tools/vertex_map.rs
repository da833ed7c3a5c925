//! The vertices of a damaged store by their old ids, in a file if memory has no room for them.

use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::{KindId, VertexId, VertexKey, VertexKeyRef};
use hedgerow_io::codec::{PutLe, Reader};
use hedgerow_tier::temporary::TemporaryDirectory;

use super::paged_bytes::PagedBytes;

#[cfg(test)]
mod tests;

/// The size of the record of an id in bytes: an era, then the vertex. A file page has a whole number of
/// records.
const RECORD_BYTES: u64 = 32;
const ERA_BYTES: u64 = 4;
const VERTEX_BYTES: usize = 28;

/// Flags in the first byte of a vertex. If an id has no vertex, all bytes of its record are zeros.
const PRESENT: u8 = 1;
const TEXT: u8 = 2;
const BARE: u8 = 4;
const PROPERTIES: u8 = 8;

/// A vertex that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundVertex {
    pub(super) kind: KindId,
    pub(super) era: u32,
    /// The era in which its properties were last written, if it has any. Known only after the pass over the
    /// edges.
    pub(super) properties: Option<u32>,
    /// True if only edges prove that it exists.
    pub(super) bare: bool,
    /// Its id in the new store.
    pub(super) id: VertexId,
    key: StoredKey,
}

/// The key of a vertex within its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoredKey {
    Number(u64),
    /// A text: its number of bytes, and its offset among the texts.
    Text(u32, u64),
}

impl FoundVertex {
    pub(super) fn has_text_key(&self) -> bool {
        matches!(self.key, StoredKey::Text(..))
    }

    /// Returns a key of the same form and kind: the vertex's own key if it is a number, else an empty text.
    pub(super) fn key_like_its_own(&self) -> VertexKey {
        let plain = match self.key {
            StoredKey::Number(n) => VertexKey::U64(n),
            StoredKey::Text(..) => VertexKey::from(""),
        };
        plain.with_kind(self.kind)
    }

    fn encode(&self) -> Vec<u8> {
        let flag = |on: bool, flag: u8| if on { flag } else { 0 };
        let (bytes, number) = match self.key {
            StoredKey::Number(n) => (0, n),
            StoredKey::Text(bytes, at) => (bytes, at),
        };
        let mut raw = Vec::with_capacity(VERTEX_BYTES);
        raw.put_u8(
            PRESENT
                | flag(self.has_text_key(), TEXT)
                | flag(self.bare, BARE)
                | flag(self.properties.is_some(), PROPERTIES),
        );
        raw.put_u8(self.kind.0);
        raw.put_u16(0);
        for n in [self.era, self.properties.unwrap_or(0), self.id.0, bytes] {
            raw.put_u32(n);
        }
        raw.put_u64(number);
        raw
    }

    /// Decodes a vertex; `None` if there is none.
    fn decode(raw: &[u8; VERTEX_BYTES]) -> Option<FoundVertex> {
        let mut r = Reader::new(raw);
        let flags = r.u8().ok()?;
        if flags & PRESENT == 0 {
            return None;
        }
        let kind = KindId(r.u8().ok()?);
        r.u16().ok()?;
        let mut n = || r.u32().ok();
        let (era, properties, id, bytes) = (n()?, n()?, VertexId(n()?), n()?);
        let number = r.u64().ok()?;
        let key = if flags & TEXT == 0 { StoredKey::Number(number) } else { StoredKey::Text(bytes, number) };
        let properties = Some(properties).filter(|_| flags & PROPERTIES != 0);
        Some(FoundVertex { kind, era, properties, bare: flags & BARE != 0, id, key })
    }
}

/// Vertices by id, and for each id the era in which it began to belong to another vertex.
#[derive(Debug)]
pub(super) struct VertexMap {
    records: PagedBytes,
    /// The texts of keys, one after another, also the keys of removed vertices.
    texts: PagedBytes,
    text_bytes: u64,
    vertices: u64,
}

impl VertexMap {
    /// Returns a map that takes `memory` bytes, half of them for texts, and 48 bytes for each file page of
    /// 128 ids or of texts.
    pub(super) fn new(directory: &Arc<TemporaryDirectory>, memory: usize) -> VertexMap {
        let half = || PagedBytes::new(directory, memory / 2);
        VertexMap { records: half(), texts: half(), text_bytes: 0, vertices: 0 }
    }

    /// Returns the number of vertices.
    pub(super) fn len(&self) -> u64 {
        self.vertices
    }

    /// Returns the vertex that has an id.
    ///
    /// # Errors
    /// The errors of the temporary files, which every method may return.
    pub(super) fn get(&mut self, id: u32) -> Result<Option<FoundVertex>> {
        let mut raw = [0; VERTEX_BYTES];
        self.records.read(record(id) + ERA_BYTES, &mut raw)?;
        Ok(FoundVertex::decode(&raw))
    }

    /// Writes a vertex back that was read and changed.
    pub(super) fn update(&mut self, id: u32, vertex: &FoundVertex) -> Result<()> {
        self.records.write(record(id) + ERA_BYTES, &vertex.encode())
    }

    /// Adds a vertex. Replaces the vertex that has the id, if there is one.
    pub(super) fn insert(&mut self, id: u32, key: VertexKeyRef<'_>, era: u32, bare: bool) -> Result<()> {
        let (kind, plain) = key.split();
        let key = match plain {
            VertexKeyRef::U64(n) | VertexKeyRef::KindU64(_, n) => StoredKey::Number(n),
            VertexKeyRef::Str(text) | VertexKeyRef::KindStr(_, text) => {
                let at = self.text_bytes;
                self.texts.write(at, text.as_bytes())?;
                self.text_bytes += text.len() as u64;
                StoredKey::Text(text.len() as u32, at)
            }
        };
        self.vertices += u64::from(self.get(id)?.is_none());
        self.update(id, &FoundVertex { kind, era, properties: None, bare, id: VertexId(0), key })
    }

    /// Removes the vertex that has an id; true if there was one.
    pub(super) fn remove(&mut self, id: u32) -> Result<bool> {
        if self.get(id)?.is_none() {
            return Ok(false);
        }
        self.vertices -= 1;
        self.records.write(record(id) + ERA_BYTES, &[0; VERTEX_BYTES])?;
        Ok(true)
    }

    /// Returns the key of a vertex.
    pub(super) fn key(&mut self, vertex: &FoundVertex) -> Result<VertexKey> {
        let StoredKey::Text(bytes, at) = vertex.key else { return Ok(vertex.key_like_its_own()) };
        let mut text = vec![0; bytes as usize];
        self.texts.read(at, &mut text)?;
        // The text is valid UTF-8, as when it was written: file pages have checksums.
        Ok(VertexKey::from(&*String::from_utf8_lossy(&text)).with_kind(vertex.kind))
    }

    /// Returns the era in which the id began to belong to its present vertex. Edges of the id that were last
    /// written before that era are gone, together with the earlier vertex.
    pub(super) fn begun(&mut self, id: u32) -> Result<u32> {
        let mut era = [0; ERA_BYTES as usize];
        self.records.read(record(id), &mut era)?;
        Ok(u32::from_le_bytes(era))
    }

    pub(super) fn set_begun(&mut self, id: u32, era: u32) -> Result<()> {
        self.records.write(record(id), &era.to_le_bytes())
    }
}

/// Returns the offset of the record of an id.
fn record(id: u32) -> u64 {
    u64::from(id) * RECORD_BYTES
}

/// A pass over the vertices by ascending ids. The caller may change vertices during the pass.
#[derive(Debug, Default)]
pub(super) struct VertexCursor {
    next: u64,
}

impl VertexCursor {
    /// Returns the next vertex, with its id.
    pub(super) fn next(&mut self, vertices: &mut VertexMap) -> Result<Option<(u32, FoundVertex)>> {
        while let Some(at) = vertices.records.first_written(self.next)
            && let Ok(id) = u32::try_from(at / RECORD_BYTES)
        {
            self.next = record(id) + RECORD_BYTES;
            if let Some(vertex) = vertices.get(id)? {
                return Ok(Some((id, vertex)));
            }
        }
        Ok(None)
    }
}
