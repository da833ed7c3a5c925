//! Reads of the remains of a damaged segment. As in other reads, all used bytes have passed their checksums.

use std::sync::Arc;

use hedgerow_core::GraphConfig;
use hedgerow_io::{Access, CorruptionKind, Dir, FileId, FormatError, HEADER_BYTES, StoreId, Vfs};

use super::assemble::PageImages;
use super::delta::SubgraphRecord;
use super::loss::SegmentLoss;
use super::paged::{PagedSegment, read_footer};
use super::source::Source;
use super::walk::{Handover, walk};
use super::{SegmentInfo, segment_name};
use crate::TierError;

/// Passes every readable record of the segment `file_id` to `found`, and every loss to `lost`. `info` is a
/// manifest's record of the segment, if there is one. `config` is the graph's configuration, if it is already
/// known. Returns the configuration that the segment itself states, if that is still readable.
///
/// If the top index is sound, each page is read independently of the others. If the directory of a page is
/// sound, each image of the page is read independently. A page without a sound directory, or a segment
/// without a sound top index, is read block by block up to the first damaged block. Memory: one page.
///
/// # Errors
/// [`TierError::File`] if the file belongs to another store, or is missing.
pub fn read_damaged(
    fs: &Arc<dyn Vfs>,
    (file_id, store): (FileId, StoreId),
    info: Option<&SegmentInfo>,
    config: Option<GraphConfig>,
    found: &mut dyn FnMut(SubgraphRecord),
    lost: &mut dyn FnMut(SegmentLoss),
) -> Result<Option<GraphConfig>, TierError> {
    let name = segment_name(file_id);
    let file = Dir::new(fs.clone()).open(&name, Access::Read)?;
    let len = file.byte_len()?;
    let source = Source { file, file_id };
    match source.read_header(store) {
        Err(error) if is_of_another_store(&error) => return Err(error),
        Err(error) => lost(SegmentLoss { image: None, error }),
        Ok(_) => {}
    }
    let stated = stated_info(&source, len, store);
    let own = stated.as_ref().ok().map(|(_, config)| *config);
    let wanted = info.copied().or_else(|| stated.ok().map(|(info, _)| info));
    let opened = match &wanted {
        Some(wanted) => PagedSegment::open(source.clone(), wanted, store),
        None => Err(source.invalid(0, "neither footer nor manifest describes the segment")),
    };
    match opened {
        Ok(segment) => {
            let config = *segment.config();
            if let Err(error) = read_key_index(&segment) {
                lost(SegmentLoss { image: None, error });
            }
            let mut handover = Handover { config: &config, found, lost };
            (0..segment.pages().len()).for_each(|page| read_damaged_page(&segment, page, &mut handover));
            return Ok(Some(config));
        }
        Err(error) => lost(SegmentLoss { image: None, error }),
    }
    if let Some(config) = config.or(own) {
        walk(&source, HEADER_BYTES as u64, len, &mut Handover { config: &config, found, lost });
    }
    Ok(own)
}

fn is_of_another_store(error: &TierError) -> bool {
    let kind = error.corruption().map(|corruption| &corruption.kind);
    matches!(kind, Some(CorruptionKind::Header(FormatError::WrongStore { .. })))
}

/// Returns the record of the segment and its configuration, as the footer of the file has them.
fn stated_info(source: &Source, len: u64, store: StoreId) -> Result<(SegmentInfo, GraphConfig), TierError> {
    let footer = read_footer(source, len)?;
    if (footer.file_id, footer.store) != (source.file_id, store) {
        return Err(source.invalid(len, "footer of another file"));
    }
    let totals = footer.totals;
    let info = SegmentInfo {
        file_id: source.file_id,
        bytes: len,
        hash: 0,
        subgraphs: totals.images,
        vertices: totals.vertices,
        edges: totals.edges,
        max_as_of: totals.max_as_of,
        pages: None,
    };
    Ok((info, footer.config))
}

/// Searches for damage in the key index. Such damage loses nothing: images have all keys.
fn read_key_index(segment: &PagedSegment) -> Result<(), TierError> {
    let index = segment.key_index()?;
    index.map_or(Ok(()), |index| index.for_each(segment.source(), |_| ()))
}

fn read_damaged_page(segment: &PagedSegment, page: usize, handover: &mut Handover<'_>) {
    let directory = match segment.directory(page) {
        Ok(directory) => directory,
        Err(error) => {
            (handover.lost)(SegmentLoss { image: None, error });
            let begin = segment.pages().get(page).map_or(0, |page| page.blocks);
            return walk(segment.source(), begin, segment.blocks_end(page), handover);
        }
    };
    let mut images = PageImages::block_by_block(segment.source(), &directory, segment.config());
    for placed in &directory.images {
        match images.read(placed) {
            Ok(image) => (handover.found)(image),
            Err(error) => {
                (handover.lost)(SegmentLoss { image: Some(placed.id(directory.label)), error });
            }
        }
    }
}
