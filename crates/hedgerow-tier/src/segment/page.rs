//! The page that is being written.

use hedgerow_core::{GraphConfig, KeyKind, LabelId, Timestamp};

use super::block::{BlockKind, FULL_PAYLOAD, MOST_PAYLOAD};
use super::columns;
use super::directory::{self, ImageEntry};
use super::image::ImageRef;
use super::keys::encode_key_record;
use super::sink::Sink;
use super::top::PageEntry;
use super::topology;
use crate::TierError;
use crate::id::{ImageId, PageId};

/// The images of one page. Their neighbors are already in the sink; keys and properties are written at the
/// end of the page.
#[derive(Debug)]
pub(super) struct OpenPage {
    id: PageId,
    begin: u64,
    images: Vec<ImageEntry>,
    /// The lengths of the payloads of the completed blocks.
    blocks: Vec<u16>,
    /// The payload of the open block.
    open: Vec<u8>,
    keys: Vec<u8>,
    columns: Vec<u8>,
}

impl OpenPage {
    /// Makes the page of the image `id`; the next block of the sink is its first.
    pub(super) fn new(id: ImageId, sink: &Sink) -> OpenPage {
        OpenPage {
            id: id.page(),
            begin: sink.position(),
            images: Vec::new(),
            blocks: Vec::new(),
            open: Vec::new(),
            keys: Vec::new(),
            columns: Vec::new(),
        }
    }

    pub(super) fn holds(&self, id: ImageId) -> bool {
        self.id == id.page()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let images = self.images.capacity() * size_of::<ImageEntry>() + self.blocks.capacity() * 2;
        images + self.open.capacity() + self.keys.capacity() + self.columns.capacity()
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
        let is_cut = topology::encode(image, scratch);
        let topology = scratch.len() as u16;
        self.put_record(scratch, BlockKind::Topology, sink)?;
        let (pieces, piece_bytes) = if is_cut { self.put_pieces(image, sink, scratch)? } else { (0, 0) };
        let (keys, columns) = self.gather(image, config);
        self.images.push(ImageEntry {
            subgraph: image.id.subgraph,
            as_of: image.as_of,
            present: image.present,
            edges: image.edge_count(),
            topology,
            keys,
            columns,
            pieces,
        });
        Ok(u64::from(topology) + piece_bytes + u64::from(keys) + columns)
    }

    /// Completes the block of the head and appends the pieces, each in a block. Returns their number and the
    /// bytes of these blocks.
    fn put_pieces(
        &mut self,
        image: &ImageRef<'_>,
        sink: &mut Sink,
        scratch: &mut Vec<u8>,
    ) -> Result<(u32, u64), TierError> {
        self.close(BlockKind::Topology, sink)?;
        let (before, begin) = (self.blocks.len(), sink.position());
        topology::encode_pieces(image, scratch, |piece| {
            self.blocks.push(piece.len() as u16);
            sink.put_block(BlockKind::Piece, piece)
        })?;
        Ok(((self.blocks.len() - before) as u32, sink.position() - begin))
    }

    /// Buffers the records of keys and properties until the end of the page. Returns their lengths.
    fn gather(&mut self, image: &ImageRef<'_>, config: &GraphConfig) -> (u32, u64) {
        let has_keys =
            image.id.label == LabelId::DEFAULT && config.keys != KeyKind::Dense && image.present != 0;
        let begin = self.keys.len();
        if has_keys {
            encode_key_record(image.id.subgraph, image.keys, &mut self.keys);
        }
        let keys = (self.keys.len() - begin) as u32;
        let begin = self.columns.len();
        for columns in
            image.parts.iter().filter(|part| !part.neighbors.is_empty()).filter_map(|part| part.columns)
        {
            if self.columns.len() == begin {
                self.columns.extend(image.id.subgraph.0.to_le_bytes());
            }
            columns::encode(columns, &mut self.columns);
        }
        (keys, (self.columns.len() - begin) as u64)
    }

    /// Completes the page and appends its directory to `directories`. Returns its entry of the top index, in
    /// which the directory's position is not set yet.
    pub(super) fn finish(
        mut self,
        sink: &mut Sink,
        directories: &mut Vec<u8>,
    ) -> Result<PageEntry, TierError> {
        self.close(BlockKind::Topology, sink)?;
        let (keys, columns) = (std::mem::take(&mut self.keys), std::mem::take(&mut self.columns));
        let (of_keys, of_columns): (Vec<u64>, Vec<u64>) =
            self.images.iter().map(|image| (u64::from(image.keys), image.columns)).unzip();
        self.put_gathered(&keys, &of_keys, BlockKind::Keys, sink)?;
        self.put_gathered(&columns, &of_columns, BlockKind::Columns, sink)?;
        let begin = directories.len();
        directory::encode(&self.blocks, &self.images, directories);
        let vertices: u32 = self.images.iter().map(|image| image.present.count_ones()).sum();
        Ok(PageEntry {
            id: self.id,
            images: self.images.len() as u8,
            vertices: if self.id.label == LabelId::DEFAULT { vertices } else { 0 },
            edges: self.images.iter().map(|image| image.edges).sum(),
            as_of: self.images.iter().map(|image| image.as_of).max().unwrap_or(Timestamp::ZERO),
            blocks: self.begin,
            directory: 0,
            directory_len: (directories.len() - begin) as u32,
        })
    }

    fn put_gathered(
        &mut self,
        mut bytes: &[u8],
        lengths: &[u64],
        kind: BlockKind,
        sink: &mut Sink,
    ) -> Result<(), TierError> {
        for &length in lengths {
            let (record, rest) = bytes.split_at_checked(length as usize).unwrap_or((bytes, &[]));
            self.put_record(record, kind, sink)?;
            bytes = rest;
        }
        self.close(kind, sink)
    }

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
            self.blocks.push(self.open.len() as u16);
            sink.put_block(kind, &self.open)?;
            self.open.clear();
        }
        Ok(())
    }
}
