//! The page that is being written.

use std::sync::Arc;

use hedgerow_core::{GraphConfig, KeyKind, LabelId, Timestamp};

use super::block::{BlockKind, FULL_PAYLOAD, MOST_PAYLOAD};
use super::columns;
use super::delta::DeltaRef;
use super::directory::{self, ImageEntry};
use super::encode::{encode, encode_delta, encode_pieces};
use super::image::ImageRef;
use super::keys::encode_key_record;
use super::records::Records;
use super::sink::Sink;
use super::top::PageEntry;
use crate::TierError;
use crate::id::{ImageId, PageId};
use crate::temporary::TemporaryDirectory;

/// The images of one page. Their neighbors are already in the sink; keys and properties are written at the
/// end of the page.
#[derive(Debug)]
pub(super) struct OpenPage {
    id: PageId,
    begin: u64,
    images: Vec<ImageEntry>,
    blocks: Blocks,
    keys: Records,
    columns: Records,
}

impl OpenPage {
    /// Makes the page of the image `id`; the next block of the sink is its first. Up to `most` bytes of keys
    /// and of properties stay in memory, the others are in temporary files.
    pub(super) fn new(
        id: ImageId,
        sink: &Sink,
        (directory, most): (&Arc<TemporaryDirectory>, usize),
    ) -> OpenPage {
        OpenPage {
            id: id.page(),
            begin: sink.position(),
            images: Vec::new(),
            blocks: Blocks::default(),
            keys: Records::new(directory, most),
            columns: Records::new(directory, most),
        }
    }

    pub(super) fn holds(&self, id: ImageId) -> bool {
        self.id == id.page()
    }

    /// True if the page has no record yet.
    pub(super) fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let blocks = self.blocks.lengths.capacity() * 2 + self.blocks.open.capacity();
        self.images.capacity() * size_of::<ImageEntry>()
            + blocks
            + self.keys.memory_bytes()
            + self.columns.memory_bytes()
    }

    /// Appends an image, which must have passed [`ImageRef::fault`] and be above the images before. Returns
    /// the bytes of its records, as its summary has them.
    pub(super) fn put(
        &mut self,
        image: &ImageRef<'_>,
        config: &GraphConfig,
        sink: &mut Sink,
        scratch: &mut Vec<u8>,
    ) -> Result<u64, TierError> {
        scratch.clear();
        let is_cut = encode(image, scratch);
        let topology = scratch.len() as u16;
        self.blocks.put_record(scratch, BlockKind::Topology, sink)?;
        let (pieces, piece_bytes) = if is_cut { self.put_pieces(image, sink, scratch)? } else { (0, 0) };
        let (keys, columns) = self.gather(image, config)?;
        self.images.push(ImageEntry {
            subgraph: image.id.subgraph,
            as_of: image.as_of,
            present: image.present,
            edges: image.edge_count(),
            topology,
            keys,
            columns,
            pieces,
            delta: None,
        });
        Ok(u64::from(topology) + piece_bytes + u64::from(keys) + columns)
    }

    /// Appends a delta, which must have passed [`DeltaRef::fault`] and be above the records before. Returns
    /// the bytes of its record; `None`, and appends nothing, if the record would be longer than a block.
    pub(super) fn put_delta(
        &mut self,
        delta: &DeltaRef<'_>,
        sink: &mut Sink,
        scratch: &mut Vec<u8>,
    ) -> Result<Option<u64>, TierError> {
        scratch.clear();
        if !encode_delta(delta, scratch) {
            return Ok(None);
        }
        let topology = scratch.len() as u16;
        self.blocks.put_record(scratch, BlockKind::Topology, sink)?;
        self.images.push(ImageEntry {
            subgraph: delta.id.subgraph,
            as_of: delta.as_of,
            present: delta.present,
            edges: delta.entries(),
            topology,
            keys: 0,
            columns: 0,
            pieces: 0,
            delta: Some(delta.edges),
        });
        Ok(Some(u64::from(topology)))
    }

    /// Completes the block of the head and appends the pieces, each in a block. Returns their number and the
    /// bytes of these blocks.
    fn put_pieces(
        &mut self,
        image: &ImageRef<'_>,
        sink: &mut Sink,
        scratch: &mut Vec<u8>,
    ) -> Result<(u32, u64), TierError> {
        self.blocks.close(BlockKind::Topology, sink)?;
        let (before, begin) = (self.blocks.lengths.len(), sink.position());
        encode_pieces(image, scratch, |piece| {
            self.blocks.lengths.push(piece.len() as u16);
            sink.put_block(BlockKind::Piece, piece)
        })?;
        Ok(((self.blocks.lengths.len() - before) as u32, sink.position() - begin))
    }

    /// Gathers the records of keys and properties until the end of the page. Returns their lengths.
    fn gather(&mut self, image: &ImageRef<'_>, config: &GraphConfig) -> Result<(u32, u64), TierError> {
        let has_keys =
            image.id.label == LabelId::DEFAULT && config.keys != KeyKind::Dense && image.present != 0;
        let keys = self.keys.push(|to| {
            if has_keys {
                encode_key_record(image.id.subgraph, image.keys, to);
            }
        })?;
        let parts = image.parts.iter().filter(|part| !part.neighbors.is_empty());
        let mut with_columns = parts.filter_map(|part| part.columns).peekable();
        let columns = self.columns.push(|to| {
            if with_columns.peek().is_some() {
                to.extend(image.id.subgraph.0.to_le_bytes());
            }
            with_columns.for_each(|columns| columns::encode(columns, to));
        })?;
        Ok((keys as u32, columns))
    }

    /// Completes the page and appends its directory to `directories`. Returns its entry of the top index, in
    /// which the directory's position is not set yet.
    pub(super) fn finish(
        mut self,
        sink: &mut Sink,
        directories: &mut Vec<u8>,
    ) -> Result<PageEntry, TierError> {
        self.blocks.close(BlockKind::Topology, sink)?;
        let OpenPage { id, begin: blocks_begin, images, mut blocks, keys, columns, .. } = self;
        for (records, kind) in [(keys, BlockKind::Keys), (columns, BlockKind::Columns)] {
            records.for_each(|record| blocks.put_record(record, kind, sink))?;
            blocks.close(kind, sink)?;
        }
        let begin = directories.len();
        directory::encode(&blocks.lengths, &images, directories);
        Ok(PageEntry {
            id,
            images: images.len() as u8,
            deltas: images.iter().filter(|image| image.delta.is_some()).count() as u8,
            vertices: images.iter().map(|image| image.vertices(id.label)).sum(),
            edges: images.iter().map(|image| image.edges).sum(),
            as_of: images.iter().map(|image| image.as_of).max().unwrap_or(Timestamp::ZERO),
            blocks: blocks_begin,
            directory: 0,
            directory_len: (directories.len() - begin) as u32,
        })
    }
}

/// The blocks of a page.
#[derive(Debug, Default)]
struct Blocks {
    /// The lengths of the payloads of the completed blocks.
    lengths: Vec<u16>,
    /// The payload of the open block.
    open: Vec<u8>,
}

impl Blocks {
    /// Appends a record to the open block, or to a new one. A record that is longer than a block gets
    /// separate blocks.
    fn put_record(&mut self, record: &[u8], kind: BlockKind, sink: &mut Sink) -> Result<(), TierError> {
        if self.open.len() + record.len() > MOST_PAYLOAD {
            self.close(kind, sink)?;
        }
        let is_long = record.len() > MOST_PAYLOAD;
        for part in record.chunks(MOST_PAYLOAD) {
            self.open.extend_from_slice(part);
            if is_long || self.open.len() >= FULL_PAYLOAD {
                self.close(kind, sink)?;
            }
        }
        Ok(())
    }

    fn close(&mut self, kind: BlockKind, sink: &mut Sink) -> Result<(), TierError> {
        if !self.open.is_empty() {
            self.lengths.push(self.open.len() as u16);
            sink.put_block(kind, &self.open)?;
            self.open.clear();
        }
        Ok(())
    }
}
