//! The keys of the images that are being written, and the index of them.

use hedgerow_core::{KindId, LocalVertex, SUBGRAPH_VERTICES, VertexId, VertexKey, VertexKeyRef};
use hedgerow_io::StoreId;

use super::entry::{Entry, hash_of, text_of};
use super::{FULL_PAYLOAD, HEAD_BYTES};
use crate::TierError;
use crate::id::{ImageId, PAGE_SUBGRAPHS};
use crate::segment::block::index_checksum;
use crate::segment::image::{ImageRef, KeysRef};
use crate::segment::sink::Sink;

/// What stands in place of where a text lies for a number.
const NO_TEXT: u64 = u64::MAX;

/// The keys of the images so far: 24 bytes for each, and texts.
#[derive(Debug, Default)]
pub(in crate::segment) struct KeyEntries {
    entries: Vec<Gathered>,
    texts: String,
    /// By page, the subgraphs of which there is an image.
    masks: Vec<(u32, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Gathered {
    hash: u64,
    /// Where the text begins.
    text: u64,
    id: VertexId,
    /// Of the text.
    len: u32,
    kind: KindId,
}

impl KeyEntries {
    /// Takes the keys of an image of the default label.
    pub(in crate::segment) fn add(&mut self, store: StoreId, image: &ImageRef<'_>) {
        let ImageId { subgraph, .. } = image.id;
        let (page, bit) = (subgraph.0 / PAGE_SUBGRAPHS, 1 << (subgraph.0 % PAGE_SUBGRAPHS));
        match self.masks.last_mut() {
            Some((last, mask)) if *last == page => *mask |= bit,
            _ => self.masks.push((page, bit)),
        }
        let locals = (0..SUBGRAPH_VERTICES as u8).map(LocalVertex);
        let live = locals.filter(|local| image.present & local.bit() != 0);
        let ids = live.map(|local| subgraph.vertex(local));
        match image.keys {
            KeysRef::Dense => {}
            KeysRef::U64(keys) => {
                ids.zip(keys).for_each(|(id, &n)| self.put(store, VertexKeyRef::U64(n), id))
            }
            KeysRef::Str(keys) => ids.zip(keys).for_each(|(id, s)| self.put(store, VertexKeyRef::Str(s), id)),
            KeysRef::Kinds(keys) => {
                ids.zip(keys.iter().map(VertexKey::as_ref)).for_each(|(id, key)| self.put(store, key, id));
            }
        }
    }

    fn put(&mut self, store: StoreId, key: VertexKeyRef<'_>, id: VertexId) {
        let text = text_of(key);
        let (at, len) = text.map_or((NO_TEXT, 0), |text| (self.texts.len() as u64, text.len() as u32));
        self.texts.push_str(text.unwrap_or_default());
        self.entries.push(Gathered { hash: hash_of(store, key), text: at, id, len, kind: key.kind() });
    }

    /// The bytes of memory held.
    pub(in crate::segment) fn memory_bytes(&self) -> usize {
        let masks = self.masks.capacity() * size_of::<(u32, u64)>();
        self.entries.capacity() * size_of::<Gathered>() + self.texts.capacity() + masks
    }

    fn entry(&self, gathered: &Gathered) -> Entry<'_> {
        let Gathered { hash, id, kind, text, len } = *gathered;
        let of = |at: u64| self.texts.get(at as usize..at as usize + len as usize).unwrap_or_default();
        Entry { hash, id, kind, text: (text != NO_TEXT).then(|| of(text)) }
    }

    /// Writes blocks and head. Returns where the head begins.
    pub(in crate::segment) fn finish(mut self, sink: &mut Sink) -> Result<u64, TierError> {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable_by_key(|entry| (entry.hash, entry.id));
        let (mut payload, mut blocks) = (Vec::new(), Vec::new());
        let (mut first, mut last) = (0, 0);
        for entry in entries.iter().map(|gathered| self.entry(gathered)) {
            // Entries of one hash stay together, so that a look reads one block.
            let is_full = payload.len() + entry.len() > FULL_PAYLOAD && entry.hash != last;
            if is_full && !payload.is_empty() {
                blocks.push((first, payload.len() as u32));
                put(sink, &payload)?;
                payload.clear();
            }
            if payload.is_empty() {
                first = entry.hash;
            }
            entry.encode(&mut payload);
            last = entry.hash;
        }
        if !payload.is_empty() {
            blocks.push((first, payload.len() as u32));
            put(sink, &payload)?;
        }
        let mut head = Vec::with_capacity(HEAD_BYTES + self.masks.len() * 8 + blocks.len() * 12);
        head.extend((entries.len() as u64).to_le_bytes());
        head.extend((blocks.len() as u32).to_le_bytes());
        head.extend((self.masks.len() as u32).to_le_bytes());
        head.extend(self.masks.iter().flat_map(|(_, mask)| mask.to_le_bytes()));
        for (first, len) in blocks {
            head.extend(first.to_le_bytes());
            head.extend(len.to_le_bytes());
        }
        let position = sink.position();
        put(sink, &head)?;
        Ok(position)
    }
}

/// Appends bytes and their checksum.
fn put(sink: &mut Sink, bytes: &[u8]) -> Result<(), TierError> {
    let mut sum = index_checksum(sink.file_id(), sink.position());
    sum.update(bytes);
    sink.put(bytes)?;
    sink.put(&sum.digest64().to_le_bytes())
}
