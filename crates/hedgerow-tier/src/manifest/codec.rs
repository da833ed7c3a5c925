//! The encoding of a manifest. The layout is drawn in `docs/format/manifest.md`.

use hedgerow_core::{LabelId, Timestamp};
use hedgerow_io::{FileId, Lsn, StoreId};

use super::{LevelSegment, LogSegmentRef, Manifest, Section};
use crate::bytes::{Bytes, Fault};
use crate::{PageId, SegmentInfo, config};

/// The flag of a required section: a reader that does not know the section must refuse the store.
const SECTION_REQUIRED: u16 = 1;

/// The first and the last page of a segment without pages.
const NO_PAGE: PageId = PageId { label: LabelId(0), page: 0 };

/// The sizes of the entry of a segment, the entry of a log segment, and a section without content.
const SEGMENT_BYTES: usize = 104;
const LOG_BYTES: usize = 16;
const SECTION_BYTES: usize = 16;

/// Encodes everything between the file header and the hash at the end.
pub(super) fn encode_body(manifest: &Manifest, out: &mut Vec<u8>) {
    out.extend(manifest.sequence.to_le_bytes());
    out.extend(config::encode(manifest.config));
    out.extend(manifest.next_vertex.to_le_bytes());
    out.extend(manifest.checkpoint.0.to_le_bytes());
    out.extend(manifest.durable_lsn.0.to_le_bytes());
    out.extend(manifest.next_file_id.0.to_le_bytes());
    for count in [manifest.segments.len(), manifest.logs.len(), manifest.sections.len()] {
        out.extend((count as u32).to_le_bytes());
    }
    out.extend([0; 4]);
    for segment in &manifest.segments {
        encode_segment(segment, out);
    }
    for log in &manifest.logs {
        out.extend(log.id.0.to_le_bytes());
        out.extend(log.first_lsn.0.to_le_bytes());
    }
    for section in &manifest.sections {
        out.extend(section.tag.to_le_bytes());
        out.extend(section.version.to_le_bytes());
        out.extend(if section.required { SECTION_REQUIRED } else { 0 }.to_le_bytes());
        out.extend((section.bytes.len() as u64).to_le_bytes());
        out.extend(&section.bytes);
    }
}

fn encode_segment(segment: &LevelSegment, out: &mut Vec<u8>) {
    let info = &segment.info;
    out.extend(info.file_id.0.to_le_bytes());
    out.extend([segment.level, 0, 0, 0, 0, 0, 0, 0]);
    out.extend(info.bytes.to_le_bytes());
    out.extend(info.hash.to_le_bytes());
    for field in [info.subgraphs, info.vertices, info.edges, info.max_as_of.0] {
        out.extend(field.to_le_bytes());
    }
    let (first, last) = info.pages.unwrap_or((NO_PAGE, NO_PAGE));
    for page in [first, last] {
        out.extend(page.label.0.to_le_bytes());
        out.extend([0; 2]);
        out.extend(page.page.to_le_bytes());
    }
    out.extend([0; 16]);
}

/// Decodes the bytes of [`encode_body`]; `body` must have no other bytes.
pub(super) fn decode_body(body: &[u8], store: StoreId) -> Result<Manifest, Fault> {
    let mut bytes = Bytes::new(body);
    let sequence = bytes.u64()?;
    let config = config::decode(bytes.fixed()?);
    let config = config.ok_or_else(|| bytes.fault("unknown graph configuration"))?;
    let next_vertex = bytes.u32()?;
    let checkpoint = Timestamp(bytes.u64()?);
    let durable_lsn = Lsn(bytes.u64()?);
    let next_file_id = FileId(bytes.u64()?);
    let [segments, logs, sections, reserved] = [bytes.u32()?, bytes.u32()?, bytes.u32()?, bytes.u32()?];
    bytes.require(reserved == 0, "reserved bytes in use")?;
    let manifest = Manifest {
        store,
        config,
        sequence,
        checkpoint,
        durable_lsn,
        next_vertex,
        next_file_id,
        segments: list(&mut bytes, segments, SEGMENT_BYTES, decode_segment)?,
        logs: list(&mut bytes, logs, LOG_BYTES, |bytes| {
            Ok(LogSegmentRef { id: FileId(bytes.u64()?), first_lsn: Lsn(bytes.u64()?) })
        })?,
        sections: list(&mut bytes, sections, SECTION_BYTES, decode_section)?,
    };
    bytes.require(bytes.is_empty(), "bytes left over in a manifest")?;
    bytes.refuse(manifest.fault())?;
    Ok(manifest)
}

/// Reads `count` items of at least `least` bytes each. Checks the count against the remaining bytes before it
/// allocates.
fn list<T>(
    bytes: &mut Bytes<'_>,
    count: u32,
    least: usize,
    mut item: impl FnMut(&mut Bytes<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let count = count as usize;
    bytes.require(count <= bytes.remaining() / least, "more entries than the file has room for")?;
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(|_| bytes.fault("no memory for this many entries"))?;
    for _ in 0..count {
        items.push(item(bytes)?);
    }
    Ok(items)
}

fn decode_segment(bytes: &mut Bytes<'_>) -> Result<LevelSegment, Fault> {
    let file_id = FileId(bytes.u64()?);
    let [level, reserved @ ..] = bytes.fixed::<8>()?;
    bytes.require(reserved == [0; 7], "reserved bytes in use")?;
    let mut info = SegmentInfo {
        file_id,
        bytes: bytes.u64()?,
        hash: bytes.u128()?,
        subgraphs: bytes.u64()?,
        vertices: bytes.u64()?,
        edges: bytes.u64()?,
        max_as_of: Timestamp(bytes.u64()?),
        pages: None,
    };
    let pages = (decode_page(bytes)?, decode_page(bytes)?);
    let reserved = bytes.fixed()? == [0; 16];
    bytes.require(reserved, "reserved bytes in use")?;
    bytes.require(pages.0 <= pages.1, "pages of a segment out of order")?;
    if info.subgraphs > 0 {
        info.pages = Some(pages);
    } else {
        bytes.require(pages == (NO_PAGE, NO_PAGE), "pages of a segment that has none")?;
    }
    Ok(LevelSegment { level, info })
}

fn decode_page(bytes: &mut Bytes<'_>) -> Result<PageId, Fault> {
    let label = LabelId(bytes.u16()?);
    let reserved = bytes.u16()?;
    bytes.require(reserved == 0, "reserved bytes in use")?;
    Ok(PageId { label, page: bytes.u32()? })
}

fn decode_section(bytes: &mut Bytes<'_>) -> Result<Section, Fault> {
    let tag = bytes.u32()?;
    let version = bytes.u16()?;
    let flags = bytes.u16()?;
    bytes.require(flags & !SECTION_REQUIRED == 0, "unknown section flags")?;
    let len = usize::try_from(bytes.u64()?).map_err(|_| bytes.fault("length overflows"))?;
    let content = bytes.take(len)?.to_vec();
    Ok(Section { tag, version, required: flags & SECTION_REQUIRED != 0, bytes: content })
}
