//! Reading a segment.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use hedgerow_core::{GraphConfig, SubgraphId, Timestamp};
use hedgerow_io::checksum::Checksum;
use hedgerow_io::{Access, Corruption, CorruptionKind, Dir, StoreId, Vfs};

use super::block::file_offset;
use super::cursor::Cursor;
use super::image::SubgraphImage;
use super::index::Entry;
use super::record::decode;
use super::source::Source;
use super::{SegmentInfo, segment_name};
use crate::TierError;

/// How much of the file is hashed at a time.
const HASH_BYTES: usize = 1024 * 1024;

/// An open segment. All methods may be called from several threads at once; each call reads for itself.
#[derive(Debug)]
pub struct SegmentReader {
    source: Source,
    info: SegmentInfo,
    config: GraphConfig,
    entries: Vec<Entry>,
}

/// What can be said of a subgraph in a segment without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubgraphSummary {
    /// Which subgraph.
    pub id: SubgraphId,
    /// The image holds every commit up to this timestamp.
    pub as_of: Timestamp,
    /// The number of live vertices.
    pub vertices: u32,
    /// The number of outgoing neighbor entries.
    pub edges: u64,
    /// The size of the image in the file, in bytes.
    pub bytes: u64,
}

impl SegmentReader {
    /// Opens the segment that a manifest describes by `info`, and checks header, size, footer and index. Cost: one
    /// read of the index, 40 bytes for each subgraph, which stay in memory. Images are not read;
    /// [`verify_whole`](Self::verify_whole) does that.
    ///
    /// # Errors
    /// [`TierError::File`]: damage for anything that is not this segment of this store, a missing file included; a
    /// format that this version does not know; a failure of the file system.
    pub fn open(fs: Arc<dyn Vfs>, info: &SegmentInfo, store: StoreId) -> Result<SegmentReader, TierError> {
        let name = segment_name(info.file_id);
        let file = Dir::new(fs).open(&name, Access::Read).map_err(|error| match error.source.kind() {
            io::ErrorKind::NotFound => Corruption::new(name, 0, CorruptionKind::Missing).into(),
            _ => TierError::from(error),
        })?;
        let source = Source { file, file_id: info.file_id };
        source.check_head(info, store)?;
        let footer = source.read_footer(info, store)?;
        let entries = source.read_index(&footer)?;
        Ok(SegmentReader { source, info: *info, config: footer.config, entries })
    }

    /// What the manifest says of this segment.
    pub fn info(&self) -> &SegmentInfo {
        &self.info
    }

    /// The graph configuration that the segment was written under.
    pub fn config(&self) -> GraphConfig {
        self.config
    }

    /// The number of subgraphs.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What the index says of subgraph number `i`, counted from 0 in ascending order of ids.
    pub fn summary(&self, i: usize) -> Option<SubgraphSummary> {
        self.entries.get(i).map(|entry| SubgraphSummary {
            id: entry.id,
            as_of: entry.as_of,
            vertices: u32::from(entry.vertices),
            edges: entry.edges,
            bytes: entry.len,
        })
    }

    /// The number of subgraph `id`, if it is in the segment. O(log of their count).
    pub fn position(&self, id: SubgraphId) -> Option<usize> {
        self.entries.binary_search_by_key(&id, |entry| entry.id).ok()
    }

    /// Reads subgraph number `i`. Cost: the blocks that hold it, at least 64 KiB; blocks on the read.
    ///
    /// # Errors
    /// [`TierError::File`], and [`TierError::NoSuchSubgraph`] if `i` is not below
    /// [`len`](Self::len).
    pub fn read(&self, i: usize) -> Result<SubgraphImage, TierError> {
        let mut image = None;
        self.read_range(i..i.saturating_add(1), |found| {
            image = Some(found);
            Ok::<(), TierError>(())
        })?;
        image.ok_or(TierError::NoSuchSubgraph { index: i, len: self.len() })
    }

    /// Reads the subgraphs numbered `range` in order, each block once, about 1 MiB at a time, and gives each image to
    /// `f`; stops at the first error of either.
    ///
    /// # Errors
    /// As [`read`](Self::read), and whatever `f` returns.
    pub fn read_range<E: From<TierError>>(
        &self,
        range: Range<usize>,
        f: impl FnMut(SubgraphImage) -> Result<(), E>,
    ) -> Result<(), E> {
        self.read_where(range, |_| true, f)
    }

    /// As [`read_range`](Self::read_range), of the subgraphs for which `wanted` says so: of the others the checksums are
    /// verified and nothing else.
    ///
    /// # Errors
    /// As of that.
    pub fn read_where<E: From<TierError>>(
        &self,
        range: Range<usize>,
        wanted: impl Fn(SubgraphId) -> bool,
        mut f: impl FnMut(SubgraphImage) -> Result<(), E>,
    ) -> Result<(), E> {
        let beyond = TierError::NoSuchSubgraph { index: range.end.max(1) - 1, len: self.len() };
        let entries = self.entries.get(range).ok_or(beyond)?;
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return Ok(());
        };
        let mut cursor = Cursor::new(&self.source, first.offset, last.offset + last.len, self.stream_len());
        for entry in entries {
            let record = cursor.next(entry.len)?;
            if !wanted(entry.id) {
                continue;
            }
            let image = decode(record, entry, &self.config).map_err(|fault| {
                self.source.invalid(file_offset(entry.offset + fault.position as u64), fault.what)
            })?;
            f(image)?;
        }
        Ok(())
    }

    /// Reads the whole file and compares its hash with the manifest's. Cost: one sequential read.
    ///
    /// # Errors
    /// [`TierError::File`].
    pub fn verify_whole(&self) -> Result<(), TierError> {
        let mut hash = Checksum::new();
        let mut buffer = vec![0; HASH_BYTES.min(usize::try_from(self.info.bytes).unwrap_or(HASH_BYTES))];
        let mut at = 0;
        while at < self.info.bytes {
            let now = (self.info.bytes - at).min(buffer.len() as u64);
            let chunk = buffer.get_mut(..now as usize).unwrap_or(&mut []);
            self.source.read(chunk, at)?;
            hash.update(chunk);
            at += now;
        }
        let (expected, found) = (self.info.hash, hash.digest128());
        if expected == found {
            return Ok(());
        }
        Err(self.source.corrupt(0, CorruptionKind::FileChecksum { expected, found }))
    }

    fn stream_len(&self) -> u64 {
        self.entries.last().map_or(0, |last| last.offset + last.len)
    }
}
