//! Writing a segment of format 4: for tests alone.

use std::sync::Arc;

use hedgerow_core::GraphConfig;
use hedgerow_io::{Dir, FileHeader, FileId, FileKind, StoreId, Vfs};

use super::block::region_checksum;
use super::encode::encode;
use super::index::{Entry, FOOTER_MAGIC, Footer};
use super::sink::Sink;
use crate::TierError;
use crate::id::ImageId;
use crate::segment::image::{ImageRef, check_keys, check_order, check_part, check_vertices};
use crate::segment::totals::Totals;
use crate::segment::{SegmentInfo, segment_name};

/// Writes one segment, subgraph by subgraph.
///
/// Memory is bounded: about 1 MiB of buffer, and 40 bytes for each subgraph written. After an error every further
/// call fails; dropping the writer then, or at any time before [`finish`](Self::finish), leaves a stray file that no
/// manifest names.
#[derive(Debug)]
pub(super) struct SegmentWriter {
    sink: Sink,
    store: StoreId,
    config: GraphConfig,
    entries: Vec<Entry>,
    totals: Totals,
    scratch: Vec<u8>,
}

impl SegmentWriter {
    /// Creates the file of the segment `file_id`, which must never have been used before.
    ///
    /// # Errors
    /// [`TierError::File`], also where a file of that name exists.
    pub(super) fn create(
        fs: Arc<dyn Vfs>,
        file_id: FileId,
        store: StoreId,
        config: GraphConfig,
    ) -> Result<SegmentWriter, TierError> {
        let file = Dir::new(fs).create(&segment_name(file_id))?;
        let header = FileHeader { major: 4, ..FileHeader::new(FileKind::Segment, store, file_id, 0) };
        let sink = Sink::new(file, file_id, &header.encode());
        Ok(SegmentWriter {
            sink,
            store,
            config,
            entries: Vec::new(),
            totals: Totals::default(),
            scratch: Vec::new(),
        })
    }

    /// Appends the image of one subgraph, whose id must be above that of every image before. Cost: linear in the
    /// image; blocks on file writes, does not sync.
    ///
    /// # Errors
    /// [`TierError::OutOfOrder`] and [`TierError::InvalidImage`] before anything is written, so the writer stays
    /// usable; [`TierError::File`] ends its use.
    pub(super) fn write(&mut self, image: &ImageRef<'_>) -> Result<(), TierError> {
        if let Some(last) = self.entries.last().filter(|last| last.id >= image.id.subgraph) {
            return Err(TierError::OutOfOrder {
                previous: ImageId { subgraph: last.id, ..image.id },
                found: image.id,
            });
        }
        if let Some(reason) = fault(image, &self.config) {
            return Err(TierError::InvalidImage { image: image.id, reason });
        }
        let offset = self.sink.stream_len();
        let sink = &mut self.sink;
        encode(image, &mut self.scratch, |bytes| sink.put(bytes))?;
        let entry = Entry {
            id: image.id.subgraph,
            vertices: image.present.count_ones() as u8,
            offset,
            len: self.sink.stream_len() - offset,
            as_of: image.as_of,
            edges: image.edge_count(),
        };
        // 2^26 subgraphs of at most 2^32 entries per part: memory ends long before these counts do.
        let totals = self.totals.add(1, u64::from(entry.vertices), entry.edges, entry.as_of);
        self.totals = totals.ok_or(TierError::InvalidImage { image: image.id, reason: "too many edges" })?;
        self.entries.push(entry);
        Ok(())
    }

    /// Writes index and footer and syncs the file. The directory is not synced: the caller does that once for all
    /// files that the next manifest names, before it writes the manifest.
    ///
    /// # Errors
    /// [`TierError::File`]; the file is then a stray one and must not be named by any manifest.
    pub(super) fn finish(mut self) -> Result<SegmentInfo, TierError> {
        self.sink.end_stream()?;
        let index_offset = self.sink.position();
        let mut index = region_checksum(self.sink.file_id(), index_offset);
        for entry in &self.entries {
            self.scratch.clear();
            entry.encode(&mut self.scratch);
            index.update(&self.scratch);
            self.sink.put_raw(&self.scratch)?;
        }
        let footer = Footer {
            file_id: self.sink.file_id(),
            store: self.store,
            stream_len: self.sink.stream_len(),
            index_offset,
            totals: self.totals,
            config: self.config,
            index_checksum: index.digest64(),
        };
        self.put_footer(&footer)?;
        let (bytes, hash) = self.sink.close()?;
        Ok(SegmentInfo {
            file_id: footer.file_id,
            bytes,
            hash,
            subgraphs: self.totals.images,
            vertices: self.totals.vertices,
            edges: self.totals.edges,
            max_as_of: self.totals.max_as_of,
            pages: None,
        })
    }

    fn put_footer(&mut self, footer: &Footer) -> Result<(), TierError> {
        self.scratch.clear();
        footer.encode_body(&mut self.scratch);
        let mut sum = region_checksum(footer.file_id, self.sink.position());
        sum.update(&self.scratch);
        self.scratch.extend(sum.digest64().to_le_bytes());
        self.scratch.extend(FOOTER_MAGIC);
        self.sink.put_raw(&self.scratch)
    }
}

/// The first rule of an image of all labels that this one breaks.
pub(super) fn fault(image: &ImageRef<'_>, config: &GraphConfig) -> Option<&'static str> {
    check_vertices(image.id.subgraph, image.present)
        .or_else(|| check_keys(image.keys, image.present, config.keys))
        .or_else(|| check_order(image.parts.iter().map(|part| (part.label, part.direction))))
        .or_else(|| image.parts.iter().find_map(|part| check_part(part, image.present, config)))
}
