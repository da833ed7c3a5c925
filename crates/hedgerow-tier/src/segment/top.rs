//! The end of a segment: the top index, with the positions of each page, and the footer.

use hedgerow_core::{GraphConfig, KeyKind, LabelId, Timestamp, VertexId};
use hedgerow_io::{FileId, HEADER_BYTES, StoreId};

use super::block::MOST_BLOCK;
use super::totals::Totals;
use crate::bytes::{Bytes, Fault};
use crate::config;
use crate::id::{PAGE_SUBGRAPHS, PageId};

/// The bytes of an entry of the top index.
pub(super) const PAGE_BYTES: u64 = 48;
/// The bytes of the footer, magic included.
pub(super) const FOOTER_BYTES: u64 = 128;
/// The number of bytes of the footer before checksum and magic; the checksum covers them.
pub(super) const FOOTER_BODY: usize = 112;
/// The last bytes of a complete segment.
pub(super) const FOOTER_MAGIC: [u8; 8] = *b"HGSEGMT5";
/// The length of the checksum behind a directory.
pub(super) const DIRECTORY_CHECKSUM: u64 = 8;
/// The length of the fixed fields of a directory.
const DIRECTORY_HEAD: u64 = 16;
/// The least number of bytes of an image in a directory.
const DIRECTORY_ENTRY: u64 = 24;
/// The most pages of a segment: 2^20 for each label.
const MOST_PAGES: u64 = 1 << 36;

/// A page of a segment: the images of up to 64 neighboring subgraphs in one label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageEntry {
    pub(super) id: PageId,
    /// The number of its records, images and deltas, 1 to 64.
    pub(super) images: u8,
    /// The number of deltas among them.
    pub(super) deltas: u8,
    pub(super) vertices: u32,
    pub(super) edges: u64,
    pub(super) as_of: Timestamp,
    /// The position of its first block.
    pub(super) blocks: u64,
    pub(super) directory: u64,
    /// The length of the directory, without its checksum.
    pub(super) directory_len: u32,
}

impl PageEntry {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.id.label.0.to_le_bytes());
        out.extend([self.images, self.deltas]);
        out.extend(self.id.page.to_le_bytes());
        out.extend(self.blocks.to_le_bytes());
        out.extend(self.directory.to_le_bytes());
        out.extend(self.directory_len.to_le_bytes());
        out.extend(self.vertices.to_le_bytes());
        out.extend(self.edges.to_le_bytes());
        out.extend(self.as_of.0.to_le_bytes());
    }

    fn decode(bytes: &mut Bytes<'_>) -> Result<PageEntry, Fault> {
        let label = LabelId(bytes.u16()?);
        let [images, deltas] = bytes.fixed::<2>()?;
        let page = bytes.u32()?;
        let blocks = bytes.u64()?;
        let directory = bytes.u64()?;
        let directory_len = bytes.u32()?;
        let vertices = bytes.u32()?;
        let edges = bytes.u64()?;
        let as_of = Timestamp(bytes.u64()?);
        bytes.require((1..=PAGE_SUBGRAPHS as u8).contains(&images), "number of images out of range")?;
        bytes.require(deltas <= images, "more deltas than records")?;
        bytes.require(
            deltas == 0 || label == LabelId::DEFAULT,
            "a delta in another label than the default one",
        )?;
        bytes.require(page <= VertexId::MAX.subgraph().0 / PAGE_SUBGRAPHS, "page out of range")?;
        bytes.require(
            u64::from(directory_len) >= DIRECTORY_HEAD + u64::from(images) * DIRECTORY_ENTRY,
            "directory too short",
        )?;
        Ok(PageEntry {
            id: PageId { label, page },
            images,
            deltas,
            vertices,
            edges,
            as_of,
            blocks,
            directory,
            directory_len,
        })
    }

    /// Returns the position behind the directory and its checksum.
    pub(super) fn directory_end(&self) -> Option<u64> {
        self.directory.checked_add(u64::from(self.directory_len))?.checked_add(DIRECTORY_CHECKSUM)
    }
}

/// The footer: the fixed fields at the end of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Footer {
    pub(super) file_id: FileId,
    pub(super) store: StoreId,
    /// The position where the blocks end and the directories begin.
    pub(super) directories: u64,
    pub(super) top_index: u64,
    /// The position of the head of the key index, directly before the top index; `None` without a key index.
    pub(super) key_head: Option<u64>,
    pub(super) pages: u64,
    pub(super) totals: Totals,
    pub(super) config: GraphConfig,
    pub(super) top_checksum: u64,
}

impl Footer {
    /// Appends the bytes before the checksum and the magic.
    pub(super) fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend(self.file_id.0.to_le_bytes());
        out.extend(self.store.0);
        for field in [self.directories, self.top_index, self.pages] {
            out.extend(field.to_le_bytes());
        }
        let Totals { images, vertices, edges, max_as_of } = self.totals;
        for field in [images, vertices, edges, max_as_of.0] {
            out.extend(field.to_le_bytes());
        }
        out.extend(config::encode(self.config));
        out.extend((MOST_BLOCK as u32).to_le_bytes());
        out.extend(self.top_checksum.to_le_bytes());
        out.extend(self.key_head.unwrap_or(0).to_le_bytes());
        out.extend([0; 8]);
    }

    /// Reads the bytes before the checksum. They must describe a file of exactly `file_len` bytes.
    pub(super) fn decode_body(body: &[u8], file_len: u64) -> Result<Footer, Fault> {
        let mut bytes = Bytes::new(body);
        let file_id = FileId(bytes.u64()?);
        let store = StoreId(bytes.fixed()?);
        let directories = bytes.u64()?;
        let top_index = bytes.u64()?;
        let pages = bytes.u64()?;
        let (images, vertices, edges) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
        let max_as_of = Timestamp(bytes.u64()?);
        let config = config::decode(bytes.fixed()?);
        let config = config.ok_or_else(|| bytes.fault("unknown graph configuration"))?;
        let block = bytes.u32()?;
        let top_checksum = bytes.u64()?;
        let key_head = Some(bytes.u64()?).filter(|at| *at != 0);
        let reserved = bytes.fixed()? == [0; 8];
        bytes.require(reserved, "reserved bytes of the footer in use")?;
        bytes.require(block as usize == MOST_BLOCK, "unknown block size")?;
        let ascending = HEADER_BYTES as u64 <= directories && directories <= top_index;
        bytes.require(ascending, "parts of the file out of order")?;
        let has_room = key_head.is_none_or(|at| (directories..top_index).contains(&at));
        bytes.require(has_room, "parts of the file out of order")?;
        bytes.require(key_head.is_none() || config.keys != KeyKind::Dense, "a key index without keys")?;
        bytes.require(pages <= MOST_PAGES, "more pages than there are ids")?;
        let end = pages
            .checked_mul(PAGE_BYTES)
            .and_then(|len| top_index.checked_add(len)?.checked_add(FOOTER_BYTES));
        bytes.require(end == Some(file_len), "footer describes a file of another size")?;
        let totals = Totals { images, vertices, edges, max_as_of };
        Ok(Footer { file_id, store, directories, top_index, key_head, pages, totals, config, top_checksum })
    }
}

/// Reads the top index. Checks that pages ascend strictly by label and number, that their blocks and
/// directories are adjacent, and that counts add up to the footer's.
pub(super) fn decode_top_index(index: &[u8], footer: &Footer) -> Result<Vec<PageEntry>, Fault> {
    let mut bytes = Bytes::new(index);
    let mut pages: Vec<PageEntry> = Vec::new();
    let reserved = pages.try_reserve_exact(index.len() / PAGE_BYTES as usize);
    reserved.map_err(|_| bytes.fault("no memory for an index of this size"))?;
    let mut totals = Totals::default();
    let (mut blocks, mut directory) = (HEADER_BYTES as u64, footer.directories);
    let end = footer.key_head.unwrap_or(footer.top_index);
    while !bytes.is_empty() {
        let page = PageEntry::decode(&mut bytes)?;
        let ascending = pages.last().is_none_or(|last| last.id < page.id);
        bytes.require(ascending, "pages out of order in the top index")?;
        let grows = if pages.is_empty() { page.blocks == blocks } else { page.blocks > blocks };
        bytes.require(grows && page.blocks < footer.directories, "blocks of pages out of order")?;
        bytes.require(page.directory == directory, "directories not side by side")?;
        blocks = page.blocks;
        directory = page.directory_end().ok_or_else(|| bytes.fault("directory beyond the file"))?;
        bytes.require(directory <= end, "directory beyond the file")?;
        let (images, vertices) = (u64::from(page.images), u64::from(page.vertices));
        totals = totals
            .add(images, vertices, page.edges, page.as_of)
            .ok_or_else(|| bytes.fault("counts overflow"))?;
        pages.push(page);
    }
    let filled = directory == end || footer.key_head.is_some();
    bytes.require(filled, "bytes between directories and top index")?;
    let no_blocks = !pages.is_empty() || footer.directories == HEADER_BYTES as u64;
    bytes.require(no_blocks, "blocks that belong to no page")?;
    bytes.require(totals == footer.totals, "counts of top index and footer differ")?;
    Ok(pages)
}
