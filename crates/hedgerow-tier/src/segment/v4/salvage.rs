//! Reading what is left of a damaged segment of format 1 to 4.

use std::sync::Arc;

use hedgerow_core::GraphConfig;
use hedgerow_io::{HEADER_BYTES, StoreId, Vfs};

use super::block::{BLOCK_BYTES, CHECKSUM_BYTES, block_checksum, block_offset};
use super::index::{ENTRY_BYTES, FOOTER_BODY, FOOTER_BYTES, FOOTER_MAGIC, Footer};
use super::record::decode_next;
use crate::TierError;
use crate::bytes::Bytes;
use crate::segment::SegmentInfo;
use crate::segment::image::SubgraphImage;
use crate::segment::loss::SegmentLoss;
use crate::segment::reader::{Layout, SegmentReader};
use crate::segment::source::Source;

/// Reads what is left of the segment in `source`, of `len` bytes, which has a sound header. Returns the configuration that the
/// segment itself states, if it still does.
///
/// With a sound index each image stands for itself; without one images are read from the beginning up to the first
/// damaged block. Memory: about the size of the file where there is no index, else one image.
pub(in crate::segment) fn read_damaged(
    fs: &Arc<dyn Vfs>,
    source: Source,
    (store, len): (StoreId, u64),
    info: Option<&SegmentInfo>,
    config: Option<GraphConfig>,
    found: &mut dyn FnMut(SubgraphImage),
    lost: &mut dyn FnMut(SegmentLoss),
) -> Option<GraphConfig> {
    let stated = stated_info(&source, len);
    let wanted = info.copied().or_else(|| stated.as_ref().ok().map(|(info, _)| *info));
    let opened = match &wanted {
        Some(wanted) => SegmentReader::open(fs.clone(), wanted, store),
        None => Err(source.invalid(0, "neither footer nor manifest describes the segment")),
    };
    let error = match &opened {
        Ok(reader) => match reader.layout() {
            Layout::Stream(stream) => {
                read_images(stream, found, lost);
                return Some(stream.config());
            }
            Layout::Paged(_) => None,
        },
        Err(_) => opened.err(),
    };
    lost_whole(error, lost);
    let own = stated.ok().map(|(_, config)| config);
    if let (Some(wanted), Some(config)) = (wanted, config.or(own)) {
        walk(&source, len, &wanted, &config, found, lost);
    }
    own
}

fn lost_whole(error: Option<TierError>, lost: &mut dyn FnMut(SegmentLoss)) {
    if let Some(error) = error {
        lost(SegmentLoss { image: None, error });
    }
}

fn read_images(
    stream: &super::SegmentV4,
    found: &mut dyn FnMut(SubgraphImage),
    lost: &mut dyn FnMut(SegmentLoss),
) {
    for i in 0..stream.len() {
        let image = stream.summary(i).map(|summary| summary.id);
        match stream.read(i) {
            Ok(image) => found(image),
            Err(error) => lost(SegmentLoss { image, error }),
        }
    }
}

/// Whether the file, of `len` bytes, ends as a segment of format 1 to 4 does.
pub(in crate::segment) fn has_footer(source: &Source, len: u64) -> bool {
    let mut magic = [0; FOOTER_MAGIC.len()];
    let offset = len.checked_sub(FOOTER_MAGIC.len() as u64);
    offset.is_some_and(|offset| source.read(&mut magic, offset).is_ok()) && magic == FOOTER_MAGIC
}

/// What the footer of the file itself says of it.
fn stated_info(source: &Source, len: u64) -> Result<(SegmentInfo, GraphConfig), TierError> {
    let offset = len.checked_sub(FOOTER_BYTES).ok_or_else(|| source.invalid(0, "no footer"))?;
    let mut footer = [0; FOOTER_BYTES as usize];
    source.read(&mut footer, offset)?;
    let body = footer.get(..FOOTER_BODY).unwrap_or(&[]);
    let footer = Footer::decode_body(body, len).map_err(|fault| source.invalid(offset, fault.what))?;
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

/// Reads record after record from the beginning of the stream, whose length follows from the size of the whole file.
fn walk(
    source: &Source,
    len: u64,
    info: &SegmentInfo,
    config: &GraphConfig,
    found: &mut dyn FnMut(SubgraphImage),
    lost: &mut dyn FnMut(SegmentLoss),
) {
    let around = info.subgraphs.checked_mul(ENTRY_BYTES).and_then(|index| index.checked_add(FOOTER_BYTES));
    let blocks = around.and_then(|around| info.bytes.checked_sub(around + HEADER_BYTES as u64)).unwrap_or(0);
    let end = (HEADER_BYTES as u64 + blocks).min(len);
    let mut stream: Vec<u8> = Vec::new();
    let mut number = 0;
    while block_offset(number) < end {
        match read_block(source, number, end) {
            Ok(payload) => stream.extend(payload),
            Err(error) => {
                lost(SegmentLoss { image: None, error });
                break;
            }
        }
        number += 1;
    }
    let mut bytes = Bytes::new(&stream);
    while !bytes.is_empty() {
        match decode_next(&mut bytes, None, config) {
            Ok(image) => found(image),
            Err(fault) => {
                let error = source.invalid(super::block::file_offset(fault.position as u64), fault.what);
                return lost(SegmentLoss { image: None, error });
            }
        }
    }
}

/// The payload of one block, verified. The blocks end at `end` in the file.
fn read_block(source: &Source, number: u64, end: u64) -> Result<Vec<u8>, TierError> {
    let offset = block_offset(number);
    let size = (end - offset).min(BLOCK_BYTES);
    let mut raw = vec![0; size as usize];
    source.read(&mut raw, offset)?;
    let split = size.checked_sub(CHECKSUM_BYTES).and_then(|at| raw.split_at_checked(at as usize));
    let Some((payload, sum)) = split else {
        return Err(source.invalid(offset, "block without checksum"));
    };
    let stored = sum.first_chunk().map_or(0, |sum| u64::from_le_bytes(*sum));
    source.check(offset, stored, block_checksum(source.file_id, number, payload))?;
    Ok(payload.to_vec())
}
