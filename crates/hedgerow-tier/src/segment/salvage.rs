//! Reading what is left of a damaged segment. Every byte that is used has passed its checksum all the same.

use std::sync::Arc;

use hedgerow_core::{GraphConfig, SubgraphId};
use hedgerow_io::{Access, Dir, FileHeader, FileId, FileKind, HEADER_BYTES, StoreId, Vfs};

use super::block::{BLOCK_BYTES, CHECKSUM_BYTES, block_checksum, block_offset};
use super::image::SubgraphImage;
use super::index::{ENTRY_BYTES, FOOTER_BODY, FOOTER_BYTES, Footer};
use super::reader::SegmentReader;
use super::record::decode_next;
use super::source::Source;
use super::{SegmentInfo, segment_name};
use crate::TierError;
use crate::bytes::Bytes;

/// Something of a segment that cannot be read.
#[derive(Debug)]
pub struct SegmentLoss {
    /// The subgraph, where it is known which.
    pub subgraph: Option<SubgraphId>,
    /// Why not.
    pub error: TierError,
}

/// Hands every image of the segment `file_id` that can be read to `found`, and what cannot to `lost`. `info` is what a
/// manifest says of it, if there is one, and `config` what the graph was created with, if that is known from elsewhere.
/// Returns the configuration that the segment itself states, if it still does.
///
/// With a sound index each image stands for itself; without one images are read from the beginning up to the first
/// damaged block. Memory: about the size of the file where there is no index, else one image.
///
/// # Errors
/// [`TierError::File`] if the file is of another store, or is not there.
pub fn read_damaged(
    fs: &Arc<dyn Vfs>,
    (file_id, store): (FileId, StoreId),
    info: Option<&SegmentInfo>,
    config: Option<GraphConfig>,
    found: &mut dyn FnMut(SubgraphImage),
    lost: &mut dyn FnMut(SegmentLoss),
) -> Result<Option<GraphConfig>, TierError> {
    let name = segment_name(file_id);
    let file = Dir::new(fs.clone()).open(&name, Access::Read)?;
    let len = file.byte_len()?;
    let source = Source { file, file_id };
    let stated = stated_info(&source, len, store);
    let wanted = info.copied().or_else(|| stated.as_ref().ok().map(|(info, _)| *info));
    let opened = match (&wanted, stated.as_ref()) {
        (Some(wanted), _) => SegmentReader::open(fs.clone(), wanted, store),
        (None, Err(_)) => Err(source.invalid(0, "neither footer nor manifest describes the segment")),
        (None, Ok((info, _))) => SegmentReader::open(fs.clone(), info, store),
    };
    match opened {
        Ok(reader) => {
            for i in 0..reader.len() {
                let subgraph = reader.summary(i).map(|summary| summary.id);
                match reader.read(i) {
                    Ok(image) => found(image),
                    Err(error) => lost(SegmentLoss { subgraph, error }),
                }
            }
            Ok(Some(reader.config()))
        }
        Err(error) => {
            lost(SegmentLoss { subgraph: None, error });
            let own = stated.ok().map(|(_, config)| config);
            if let (Some(wanted), Some(config)) = (wanted, config.or(own)) {
                walk(&source, len, &wanted, &config, found, lost);
            }
            Ok(own)
        }
    }
}

/// What header and footer of the file itself say of it.
fn stated_info(source: &Source, len: u64, store: StoreId) -> Result<(SegmentInfo, GraphConfig), TierError> {
    let mut raw = [0; HEADER_BYTES];
    source.read(&mut raw, 0)?;
    FileHeader::decode(&raw, FileKind::Segment)
        .and_then(|header| header.check_owner(store, source.file_id))
        .map_err(|error| TierError::header(source.file.name(), error))?;
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
        subgraphs: totals.subgraphs,
        vertices: totals.vertices,
        edges: totals.edges,
        max_as_of: totals.max_as_of,
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
                lost(SegmentLoss { subgraph: None, error });
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
                return lost(SegmentLoss { subgraph: None, error });
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
