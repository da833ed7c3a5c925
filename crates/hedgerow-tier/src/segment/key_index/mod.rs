//! The key index of a segment: its keys in the order of a hash, each with the vertex that it names. So a read
//! of one block finds the vertex of a key. The layout is drawn in `docs/format/segment.md`.
//!
//! An entry has all bytes of its key, so a look-up compares keys, not only hashes. An entry is valid while no
//! newer segment has an image of its vertex's subgraph. Masks list the subgraphs with an image in this
//! segment.

mod entry;
mod search;
mod verify;
mod walk;
mod write;

pub use walk::IndexedKey;
pub(super) use walk::walk;
pub(super) use write::KeyEntries;

use hedgerow_core::{LabelId, SubgraphId};
use hedgerow_io::HEADER_BYTES;

use super::block::index_checksum;
use super::source::Source;
use super::top::{Footer, PageEntry};
use crate::TierError;
use crate::bytes::{Bytes, Fault};
use crate::id::PAGE_SUBGRAPHS;

/// The bit for a key index among the incompatible features in the header of a segment.
pub(super) const FEATURE: u32 = 1;
/// The bound of a payload: a block ends before the entry that would exceed it. With its checksum a block has
/// at most 4 KiB, unless a text or the entries of one hash are longer.
const FULL_PAYLOAD: usize = 4096 - CHECKSUM_BYTES;
/// The length of the checksum behind each block, and behind the head.
const CHECKSUM_BYTES: usize = 8;
/// The number of bytes of the head before masks and blocks.
const HEAD_BYTES: usize = 16;

/// A block of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IndexBlock {
    /// The hash of its first entry; greater than the hash of the last entry in the block before.
    first: u64,
    /// The position in the file.
    position: u64,
}

/// The head of the index of one segment, in memory: 16 bytes for each block of about 290 numbers, and 16 for
/// each page of 4,096 vertices.
#[derive(Debug)]
pub(super) struct KeyIndex {
    /// The pages of the default label, each with the mask of its subgraphs that have an image in the segment.
    masks: Vec<(u32, u64)>,
    blocks: Vec<IndexBlock>,
    /// The end of the last block, where the head begins.
    end: u64,
}

impl KeyIndex {
    /// Reads the head of the index of a segment whose top index was read; `None` if the segment has no index.
    pub(super) fn open(
        source: &Source,
        footer: &Footer,
        pages: &[PageEntry],
    ) -> Result<Option<KeyIndex>, TierError> {
        let Some(head) = footer.key_head else { return Ok(None) };
        let raw = source.read_region(head, footer.top_index - head)?;
        let Some((body, sum)) = raw.split_last_chunk::<CHECKSUM_BYTES>() else {
            return Err(source.invalid(head, "key index without checksum"));
        };
        let mut found = index_checksum(source.file_id, head);
        found.update(body);
        source.check(head, u64::from_le_bytes(*sum), found.digest64())?;
        let begin = pages.last().and_then(PageEntry::directory_end).unwrap_or(HEADER_BYTES as u64);
        let decoded = KeyIndex::decode(body, footer, pages, begin..head);
        decoded.map(Some).map_err(|fault| source.invalid(head + fault.position as u64, fault.what))
    }

    fn decode(
        body: &[u8],
        footer: &Footer,
        pages: &[PageEntry],
        blocks: std::ops::Range<u64>,
    ) -> Result<KeyIndex, Fault> {
        let mut bytes = Bytes::new(body);
        let (entries, count, masks) = (bytes.u64()?, bytes.u32()? as usize, bytes.u32()? as usize);
        bytes.require(entries == footer.totals.vertices, "number of keys and of vertices differ")?;
        let pages = || pages.iter().filter(|page| page.id.label == LabelId::DEFAULT);
        bytes.require(masks == pages().count(), "masks of other pages than the segment has")?;
        let masks = bytes.array(masks, u64::from_le_bytes)?;
        let fits = pages()
            .zip(&masks)
            .all(|(page, mask)| mask.count_ones() + u32::from(page.deltas) == u32::from(page.images));
        bytes.require(fits, "masks of other images than the segment has")?;
        let stated = bytes.array(count, |raw: [u8; 12]| {
            let [first @ .., a, b, c, d] = raw;
            (u64::from_le_bytes(first), u32::from_le_bytes([a, b, c, d]))
        })?;
        bytes.require(bytes.is_empty(), "bytes left over in the head of the key index")?;
        bytes.require((count == 0) == (entries == 0), "keys without blocks, or blocks without keys")?;
        let mut placed = Vec::with_capacity(count);
        let mut position = blocks.start;
        for (first, payload) in stated {
            let ascends = placed.last().is_none_or(|last: &IndexBlock| last.first < first);
            bytes.require(ascends, "blocks of the key index out of order")?;
            bytes.require(payload as usize >= entry::LEAST_BYTES, "a block of the key index without keys")?;
            placed.push(IndexBlock { first, position });
            position = position.saturating_add(u64::from(payload)).saturating_add(CHECKSUM_BYTES as u64);
            bytes.require(position <= blocks.end, "key index beyond its room")?;
        }
        bytes.require(position == blocks.end, "key index that does not fill its room")?;
        let masks = pages().map(|page| page.id.page).zip(masks).collect();
        Ok(KeyIndex { masks, blocks: placed, end: blocks.end })
    }

    /// True if the segment has an image of a subgraph's vertices. O(log pages).
    pub(super) fn has_vertices_of(&self, id: SubgraphId) -> bool {
        let (page, place) = (id.0 / PAGE_SUBGRAPHS, id.0 % PAGE_SUBGRAPHS);
        let found = self.masks.binary_search_by_key(&page, |&(page, _)| page);
        found.ok().and_then(|at| self.masks.get(at)).is_some_and(|&(_, mask)| mask >> place & 1 == 1)
    }

    /// Returns the head's bytes of memory.
    pub(super) fn memory_bytes(&self) -> usize {
        self.masks.capacity() * size_of::<(u32, u64)>() + self.blocks.capacity() * size_of::<IndexBlock>()
    }
}
