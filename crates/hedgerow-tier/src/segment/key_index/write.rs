//! The keys of the images that are being written, and their index.

use std::sync::Arc;

use hedgerow_core::{KindId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId, VertexKey, VertexKeyRef};
use hedgerow_io::StoreId;

use super::entry::{Entry, hash_of, text_of};
use super::{FULL_PAYLOAD, HEAD_BYTES};
use crate::TierError;
use crate::id::{ImageId, PAGE_SUBGRAPHS};
use crate::segment::block::index_checksum;
use crate::segment::image::{ImageRef, KeysRef};
use crate::segment::sink::Sink;
use crate::sorter::{Record, Sorter};
use crate::temporary::TemporaryDirectory;

/// The bytes of the keys of one image, without texts.
const IMAGE_BYTES: usize = SUBGRAPH_VERTICES * size_of::<Gathered>();
/// The value of `text` in the entry of a number.
const NO_TEXT: u64 = u64::MAX;

/// The keys of the images so far: 32 bytes for each key, and the texts. Keys beyond a bound are written to
/// sorted files.
#[derive(Debug)]
pub(in crate::segment) struct KeyEntries {
    entries: Vec<Gathered>,
    texts: String,
    /// The masks of the subgraphs with an image, by page.
    masks: Vec<(u32, u64)>,
    /// The most bytes of gathered keys, and the sorter for further keys.
    most: usize,
    sorter: Sorter,
}

#[derive(Clone, Copy, Debug)]
struct Gathered {
    hash: u64,
    /// The position where the text begins.
    text: u64,
    id: VertexId,
    /// The length of the text.
    len: u32,
    kind: KindId,
}

impl KeyEntries {
    /// Makes an empty list, whose temporary files are in `directory`. It keeps all keys in memory.
    pub(in crate::segment) fn new(directory: &Arc<TemporaryDirectory>) -> KeyEntries {
        let (entries, texts, masks) = (Vec::new(), String::new(), Vec::new());
        KeyEntries { entries, texts, masks, most: usize::MAX, sorter: Sorter::new(directory, 0) }
    }

    /// Bounds the memory of keys to `bytes`. Half of it is for keys, in lists whose capacity may be twice
    /// their length, and half for the blocks of sorted files that are merged.
    pub(in crate::segment) fn keep_within(&mut self, bytes: usize) {
        self.most = bytes / 4;
        self.sorter.set_memory(bytes / 2);
    }

    /// Adds the keys of an image of the default label.
    ///
    /// # Errors
    /// The errors of writing a sorted file.
    pub(in crate::segment) fn add(&mut self, store: StoreId, image: &ImageRef<'_>) -> Result<(), TierError> {
        let ImageId { subgraph, .. } = image.id;
        *self.mask_of(subgraph) |= 1 << (subgraph.0 % PAGE_SUBGRAPHS);
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
        let bytes = self.entries.len() * size_of::<Gathered>() + self.texts.len();
        if bytes + IMAGE_BYTES > self.most { self.spill() } else { Ok(()) }
    }

    /// Adds a delta of the default label: its page has a mask too.
    pub(in crate::segment) fn add_delta(&mut self, subgraph: SubgraphId) {
        self.mask_of(subgraph);
    }

    /// Returns the mask of the page of a subgraph, which is the last page so far or a later one.
    fn mask_of(&mut self, subgraph: SubgraphId) -> &mut u64 {
        let page = subgraph.0 / PAGE_SUBGRAPHS;
        if self.masks.last().is_none_or(|(last, _)| *last != page) {
            self.masks.push((page, 0));
        }
        let last = self.masks.len() - 1;
        &mut self.masks[last].1
    }

    /// Writes the gathered keys into a sorted file.
    fn spill(&mut self) -> Result<(), TierError> {
        let (entries, texts) = (self.take_sorted(), std::mem::take(&mut self.texts));
        let mut encoded = Vec::new();
        self.sorter.push_sorted(|put| {
            entries.iter().try_for_each(|gathered| {
                encoded.clear();
                gathered.entry(&texts).encode(&mut encoded);
                let order = u128::from(gathered.hash) << 32 | u128::from(gathered.id.0);
                put(&order.to_be_bytes(), &encoded)
            })
        })
    }

    fn take_sorted(&mut self) -> Vec<Gathered> {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable_by_key(|entry| (entry.hash, entry.id));
        entries
    }

    fn put(&mut self, store: StoreId, key: VertexKeyRef<'_>, id: VertexId) {
        let text = text_of(key);
        let (at, len) = text.map_or((NO_TEXT, 0), |text| (self.texts.len() as u64, text.len() as u32));
        self.texts.push_str(text.unwrap_or_default());
        self.entries.push(Gathered { hash: hash_of(store, key), text: at, id, len, kind: key.kind() });
    }

    /// Returns the bytes of memory held.
    pub(in crate::segment) fn memory_bytes(&self) -> usize {
        let masks = self.masks.capacity() * size_of::<(u32, u64)>();
        let merged = if self.sorter.is_in_memory() { 0 } else { self.sorter.merge_bytes() };
        self.entries.capacity() * size_of::<Gathered>() + self.texts.capacity() + masks + merged
    }

    /// Writes blocks and head. Returns the position of the head.
    ///
    /// # Errors
    /// The errors of writing the segment, and of writing and reading sorted files.
    pub(in crate::segment) fn finish(mut self, sink: &mut Sink) -> Result<u64, TierError> {
        let mut index = IndexBlocks::default();
        if self.sorter.is_in_memory() {
            for gathered in &self.take_sorted() {
                let entry = gathered.entry(&self.texts);
                index.put(entry.hash, entry.len(), |out| entry.encode(out), sink)?;
            }
            return index.finish(&self.masks, sink);
        }
        self.spill()?;
        let sorted = self.sorter.finish()?;
        let mut merge = sorted.merge()?;
        while let Some(Record { payload: entry, .. }) = merge.next_record()? {
            let hash = entry.first_chunk().map_or(0, |hash| u64::from_le_bytes(*hash));
            index.put(hash, entry.len(), |out| out.extend_from_slice(entry), sink)?;
        }
        index.finish(&self.masks, sink)
    }
}

impl Gathered {
    fn entry<'t>(&self, texts: &'t str) -> Entry<'t> {
        let Gathered { hash, id, kind, text, len } = *self;
        let of = |at: u64| texts.get(at as usize..at as usize + len as usize).unwrap_or_default();
        Entry { hash, id, kind, text: (text != NO_TEXT).then(|| of(text)) }
    }
}

/// A writer of blocks from entries.
#[derive(Default)]
struct IndexBlocks {
    /// The payload of the block that is being filled.
    payload: Vec<u8>,
    /// The hashes of the first and the last entry of that block.
    first: u64,
    last: u64,
    entries: u64,
    /// The full blocks: for each the hash of its first entry, and its length.
    blocks: Vec<(u64, u32)>,
}

impl IndexBlocks {
    /// Adds an entry of `len` bytes, whose hash is not below that of the last entry.
    fn put(
        &mut self,
        hash: u64,
        len: usize,
        encode: impl FnOnce(&mut Vec<u8>),
        sink: &mut Sink,
    ) -> Result<(), TierError> {
        debug_assert!(hash >= self.last, "entries of a key index ascend");
        // Entries of one hash stay together, so that a look-up reads one block.
        if self.payload.len() + len > FULL_PAYLOAD && hash != self.last {
            self.end_block(sink)?;
        }
        if self.payload.is_empty() {
            self.first = hash;
        }
        encode(&mut self.payload);
        self.last = hash;
        self.entries += 1;
        Ok(())
    }

    fn end_block(&mut self, sink: &mut Sink) -> Result<(), TierError> {
        if !self.payload.is_empty() {
            self.blocks.push((self.first, self.payload.len() as u32));
            put(sink, &self.payload)?;
            self.payload.clear();
        }
        Ok(())
    }

    /// Writes the last block, and the head. Returns the position of the head.
    fn finish(mut self, masks: &[(u32, u64)], sink: &mut Sink) -> Result<u64, TierError> {
        self.end_block(sink)?;
        let mut head = Vec::with_capacity(HEAD_BYTES + masks.len() * 8 + self.blocks.len() * 12);
        head.extend(self.entries.to_le_bytes());
        head.extend((self.blocks.len() as u32).to_le_bytes());
        head.extend((masks.len() as u32).to_le_bytes());
        head.extend(masks.iter().flat_map(|(_, mask)| mask.to_le_bytes()));
        for (first, len) in self.blocks {
            head.extend(first.to_le_bytes());
            head.extend(len.to_le_bytes());
        }
        let position = sink.position();
        put(sink, &head)?;
        Ok(position)
    }
}

/// Appends bytes and their checksum to the file.
fn put(sink: &mut Sink, bytes: &[u8]) -> Result<(), TierError> {
    let mut sum = index_checksum(sink.file_id(), sink.position());
    sum.update(bytes);
    sink.put(bytes)?;
    sink.put(&sum.digest64().to_le_bytes())
}
