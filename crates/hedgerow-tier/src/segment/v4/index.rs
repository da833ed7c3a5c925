//! The index and the footer at the end of a segment.

use hedgerow_core::{GraphConfig, SubgraphId, Timestamp, VertexId};
use hedgerow_io::{FileId, HEADER_BYTES, StoreId};

use super::block::{BLOCK_BYTES, blocks_len};
use crate::bytes::{Bytes, Fault};
use crate::config;
use crate::segment::totals::Totals;

/// The bytes of one index entry.
pub(super) const ENTRY_BYTES: u64 = 40;
/// The bytes of the footer, magic included.
pub(super) const FOOTER_BYTES: u64 = 112;
/// The last bytes of a complete segment.
pub(super) const FOOTER_MAGIC: [u8; 8] = *b"HGSEGEND";
/// The bytes of the footer that its checksum covers; checksum and magic follow.
pub(super) const FOOTER_BODY: usize = 96;

/// As many subgraphs as there are ids.
const MOST_SUBGRAPHS: u64 = 1 << 26;

/// The smallest [record](super::record): its fixed fields and nothing else.
const MIN_RECORD: u64 = 28;

/// The entry stands for a whole image.
const KIND_FULL: u8 = 0;

/// Where one subgraph lies in the stream, and what can be said of it without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: SubgraphId,
    pub(super) vertices: u8,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) as_of: Timestamp,
    pub(super) edges: u64,
}

impl Entry {
    #[cfg(test)]
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.id.0.to_le_bytes());
        out.extend([KIND_FULL, self.vertices, 0, 0]);
        for field in [self.offset, self.len, self.as_of.0, self.edges] {
            out.extend(field.to_le_bytes());
        }
    }

    fn decode(bytes: &mut Bytes<'_>) -> Result<Entry, Fault> {
        let id = SubgraphId(bytes.u32()?);
        let kind = bytes.u8()?;
        let vertices = bytes.u8()?;
        let reserved = bytes.u16()?;
        let offset = bytes.u64()?;
        let len = bytes.u64()?;
        let as_of = Timestamp(bytes.u64()?);
        let edges = bytes.u64()?;
        bytes.require(kind == KIND_FULL, "unknown index entry kind")?;
        bytes.require(reserved == 0, "reserved index bytes in use")?;
        bytes.require(id <= VertexId::MAX.subgraph(), "subgraph id out of range")?;
        Ok(Entry { id, vertices, offset, len, as_of, edges })
    }
}

/// The fixed end of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Footer {
    pub(super) file_id: FileId,
    pub(super) store: StoreId,
    pub(super) stream_len: u64,
    pub(super) index_offset: u64,
    pub(super) totals: Totals,
    pub(super) config: GraphConfig,
    pub(super) index_checksum: u64,
}

impl Footer {
    /// The bytes before the checksum and the magic.
    #[cfg(test)]
    pub(super) fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend(self.file_id.0.to_le_bytes());
        out.extend(self.store.0);
        out.extend(self.stream_len.to_le_bytes());
        out.extend(self.index_offset.to_le_bytes());
        out.extend((self.totals.images * ENTRY_BYTES).to_le_bytes());
        out.extend(self.totals.images.to_le_bytes());
        out.extend(self.totals.vertices.to_le_bytes());
        out.extend(self.totals.edges.to_le_bytes());
        out.extend(self.totals.max_as_of.0.to_le_bytes());
        out.extend(config::encode(self.config));
        out.extend((BLOCK_BYTES as u32).to_le_bytes());
        out.extend(self.index_checksum.to_le_bytes());
    }

    /// Reads the bytes before the checksum; they must describe a file of `file_len` bytes exactly.
    pub(super) fn decode_body(body: &[u8], file_len: u64) -> Result<Footer, Fault> {
        let mut bytes = Bytes::new(body);
        let file_id = FileId(bytes.u64()?);
        let store = StoreId(bytes.fixed()?);
        let stream_len = bytes.u64()?;
        let index_offset = bytes.u64()?;
        let index_len = bytes.u64()?;
        let subgraphs = bytes.u64()?;
        let vertices = bytes.u64()?;
        let edges = bytes.u64()?;
        let max_as_of = Timestamp(bytes.u64()?);
        let config = config::decode(bytes.fixed()?);
        let config = config.ok_or_else(|| bytes.fault("unknown graph configuration"))?;
        let block_bytes = bytes.u32()?;
        let index_checksum = bytes.u64()?;
        bytes.require(u64::from(block_bytes) == BLOCK_BYTES, "unknown block size")?;
        bytes.require(
            subgraphs.checked_mul(ENTRY_BYTES) == Some(index_len),
            "index length and count differ",
        )?;
        bytes.require(subgraphs <= MOST_SUBGRAPHS, "more subgraphs than there are ids")?;
        bytes.require(
            subgraphs.checked_mul(MIN_RECORD).is_some_and(|least| least <= stream_len),
            "more subgraphs than the stream has room for",
        )?;
        let blocks_end = blocks_len(stream_len).and_then(|len| len.checked_add(HEADER_BYTES as u64));
        bytes.require(blocks_end == Some(index_offset), "index is not where the blocks end")?;
        let end = index_offset.checked_add(index_len).and_then(|end| end.checked_add(FOOTER_BYTES));
        bytes.require(end == Some(file_len), "footer describes a file of another size")?;
        let totals = Totals { images: subgraphs, vertices, edges, max_as_of };
        Ok(Footer { file_id, store, stream_len, index_offset, totals, config, index_checksum })
    }
}

/// Reads the index of a segment: ids strictly ascending, records side by side from the start of the stream to its
/// end, counts that add up to the footer's.
pub(super) fn decode_index(index: &[u8], footer: &Footer) -> Result<Vec<Entry>, Fault> {
    let mut bytes = Bytes::new(index);
    let mut entries: Vec<Entry> = Vec::new();
    let reserved = entries.try_reserve_exact(index.len() / ENTRY_BYTES as usize);
    reserved.map_err(|_| bytes.fault("no memory for an index of this size"))?;
    let mut totals = Totals::default();
    let mut end = 0u64;
    while !bytes.is_empty() {
        let entry = Entry::decode(&mut bytes)?;
        let ascending = entries.last().is_none_or(|last| last.id < entry.id);
        bytes.require(ascending, "subgraphs out of order in the index")?;
        bytes.require(
            entry.offset == end && entry.len >= MIN_RECORD,
            "index entries do not tile the stream",
        )?;
        end = end.checked_add(entry.len).ok_or_else(|| bytes.fault("stream position overflows"))?;
        bytes.require(end <= footer.stream_len, "index entry beyond the stream")?;
        totals = totals
            .add(1, u64::from(entry.vertices), entry.edges, entry.as_of)
            .ok_or_else(|| bytes.fault("counts overflow"))?;
        entries.push(entry);
    }
    bytes.require(end == footer.stream_len, "stream longer than its index says")?;
    bytes.require(totals == footer.totals, "counts of index and footer differ")?;
    Ok(entries)
}
