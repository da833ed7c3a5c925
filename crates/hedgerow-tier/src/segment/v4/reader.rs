//! Reading a segment of format 1 to 4.

use std::ops::Range;

use hedgerow_core::{GraphConfig, LabelId, SubgraphId};
use hedgerow_io::{HEADER_BYTES, StoreId};

use super::block::file_offset;
use super::cursor::Cursor;
use super::index::{Entry, FOOTER_BYTES};
use super::record::decode;
use crate::TierError;
use crate::id::ImageId;
use crate::segment::SegmentInfo;
use crate::segment::image::SubgraphImage;
use crate::segment::source::Source;
use crate::segment::summary::ImageSummary;

/// An open segment whose images are of all labels and lie in one stream. Its index is in memory, 40 bytes for each image.
#[derive(Debug)]
pub(in crate::segment) struct SegmentV4 {
    source: Source,
    config: GraphConfig,
    entries: Vec<Entry>,
}

impl SegmentV4 {
    /// Checks size, footer and index of a file whose header was checked.
    pub(in crate::segment) fn open(
        source: Source,
        info: &SegmentInfo,
        store: StoreId,
    ) -> Result<SegmentV4, TierError> {
        source.check_size(info, HEADER_BYTES as u64 + FOOTER_BYTES)?;
        let footer = source.read_footer_v4(info, store)?;
        let entries = source.read_index_v4(&footer)?;
        Ok(SegmentV4 { source, config: footer.config, entries })
    }

    pub(in crate::segment) fn source(&self) -> &Source {
        &self.source
    }

    pub(in crate::segment) fn config(&self) -> GraphConfig {
        self.config
    }

    /// The number of subgraphs.
    pub(in crate::segment) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What the index says of subgraph number `i`, counted from 0 in ascending order of ids.
    pub(in crate::segment) fn summary(&self, i: usize) -> Option<ImageSummary> {
        self.entries.get(i).map(|entry| ImageSummary {
            id: ImageId { label: LabelId::DEFAULT, subgraph: entry.id },
            as_of: entry.as_of,
            present: 0,
            vertices: u32::from(entry.vertices),
            edges: entry.edges,
            bytes: entry.len,
        })
    }

    /// Reads subgraph number `i`. Cost: the blocks that hold it, at least 64 KiB; blocks on the read.
    ///
    /// # Errors
    /// [`TierError::File`], and [`TierError::NoSuchPage`] if `i` is not below
    /// [`len`](Self::len).
    pub(in crate::segment) fn read(&self, i: usize) -> Result<SubgraphImage, TierError> {
        let mut image = None;
        self.read_range(i..i.saturating_add(1), |found| {
            image = Some(found);
            Ok::<(), TierError>(())
        })?;
        image.ok_or(TierError::NoSuchPage { index: i, len: self.len() })
    }

    /// Reads the subgraphs numbered `range` in order, each block once, about 1 MiB at a time, and gives each image to
    /// `f`; stops at the first error of either.
    ///
    /// # Errors
    /// As [`read`](Self::read), and whatever `f` returns.
    pub(in crate::segment) fn read_range<E: From<TierError>>(
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
    pub(in crate::segment) fn read_where<E: From<TierError>>(
        &self,
        range: Range<usize>,
        wanted: impl Fn(SubgraphId) -> bool,
        mut f: impl FnMut(SubgraphImage) -> Result<(), E>,
    ) -> Result<(), E> {
        let beyond = TierError::NoSuchPage { index: range.end.max(1) - 1, len: self.len() };
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

    fn stream_len(&self) -> u64 {
        self.entries.last().map_or(0, |last| last.offset + last.len)
    }
}
