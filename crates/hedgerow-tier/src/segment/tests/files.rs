//! Segments in a simulated file system.

use hedgerow_core::GraphConfig;
use hedgerow_io::{Access, Dir, FileId, StoreId};
use hedgerow_testkit::SimFs;

use crate::TierError;
use crate::segment::paged::PagedSegment;
use crate::segment::source::Source;
use crate::segment::testing::{FILE, STORE};
use crate::segment::{SegmentInfo, SegmentReader, SegmentWriter, SubgraphImage, segment_name};

/// Writes `images` as segment [`FILE`] of [`STORE`].
pub(super) fn write(fs: &SimFs, config: GraphConfig, images: &[SubgraphImage]) -> SegmentInfo {
    write_as(fs, FILE, STORE, config, images)
}

pub(super) fn write_as(
    fs: &SimFs,
    file: FileId,
    store: StoreId,
    config: GraphConfig,
    images: &[SubgraphImage],
) -> SegmentInfo {
    let mut writer = SegmentWriter::create(fs.handle(), file, store, config).unwrap();
    for image in images {
        image.with_ref(|image| writer.write(image)).unwrap();
    }
    writer.finish().unwrap()
}

/// Opens the segment and reads all its images in order, with its directories and key index.
pub(super) fn read_all(fs: &SimFs, info: &SegmentInfo) -> Result<Vec<SubgraphImage>, TierError> {
    let reader = SegmentReader::open(fs.handle(), info, STORE)?;
    let mut images = Vec::new();
    reader.read_all(|image| {
        images.push(image);
        Ok::<(), TierError>(())
    })?;
    assert_eq!(reader.summaries()?.len(), images.len());
    let paged = open_paged(fs, info);
    if let Some(index) = paged.key_index()? {
        index.for_each(paged.source(), |_| ())?;
    }
    Ok(images)
}

/// Returns the bytes of segment [`FILE`].
pub(super) fn bytes_of(fs: &SimFs) -> Vec<u8> {
    fs.file(&segment_name(FILE)).unwrap()
}

/// Opens the segment without a check of its header.
pub(super) fn open_paged(fs: &SimFs, info: &SegmentInfo) -> PagedSegment {
    let file = Dir::new(fs.handle()).open(&segment_name(info.file_id), Access::Read).unwrap();
    PagedSegment::open(Source { file, file_id: info.file_id }, info, STORE).unwrap()
}
