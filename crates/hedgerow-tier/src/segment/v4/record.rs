//! One subgraph as bytes. The layout is drawn in `docs/format/segment-4.md`.

use hedgerow_core::{Columns, Direction, GraphConfig, LabelId, SubgraphId, Timestamp, VertexId};

use super::index::Entry;
use crate::bytes::{Bytes, Fault};
use crate::segment::columns;
use crate::segment::degrees::take_degrees;
use crate::segment::image::{AdjacencyPart, ImageScope, SubgraphImage};
use crate::segment::image::{check_keys, check_order, check_part, check_vertices};
use crate::segment::keys::decode_keys;

/// The record is a whole image; deltas with tombstones will be another kind.
pub(super) const KIND_FULL: u8 = 0;

/// Neighbors as plain ids of four bytes.
pub(super) const NEIGHBORS_PLAIN: u8 = 0;
pub(super) const WEIGHTS_NONE: u8 = 0;
/// Weights as eight bytes each.
pub(super) const WEIGHTS_F64: u8 = 1;

/// Part flag: ranks follow the weights.
pub(super) const RANKS: u16 = 1;
/// Part flag: property columns come last.
pub(super) const PROPERTIES: u16 = 2;

/// Reads one record, which must fill `record` exactly and satisfy every rule of an image.
///
/// The bytes have passed their checksums, but may still be forged: every length is checked against the bytes that are left
/// before it is used, so what this allocates is at most proportional to `record`.
pub(super) fn decode(record: &[u8], expected: &Entry, config: &GraphConfig) -> Result<SubgraphImage, Fault> {
    let mut bytes = Bytes::new(record);
    let image = decode_next(&mut bytes, Some(expected), config)?;
    bytes.require(bytes.is_empty(), "bytes left over in a record")?;
    bytes.require(image.edge_count() == expected.edges, "edge count differs from the index")?;
    Ok(image)
}

/// Reads the record that comes next, however long it is: where there is no index to say.
pub(super) fn decode_next(
    bytes: &mut Bytes<'_>,
    expected: Option<&Entry>,
    config: &GraphConfig,
) -> Result<SubgraphImage, Fault> {
    let id = SubgraphId(bytes.u32()?);
    let kind = bytes.u8()?;
    let key_encoding = bytes.u8()?;
    let reserved = bytes.u16()?;
    let as_of = Timestamp(bytes.u64()?);
    let present = bytes.u64()?;
    let part_count = bytes.u32()?;
    let fits = expected.is_none_or(|entry| id == entry.id && as_of == entry.as_of);
    bytes.require(fits, "record differs from its index entry")?;
    bytes.require(kind == KIND_FULL, "unknown record kind")?;
    bytes.require(reserved == 0, "reserved bytes in use")?;
    let fits = expected.is_none_or(|entry| present.count_ones() == u32::from(entry.vertices));
    bytes.require(fits, "vertex count differs from the index")?;
    bytes.refuse(check_vertices(id, present))?;
    let keys = decode_keys(bytes, key_encoding, present.count_ones() as usize)?;
    bytes.refuse(check_keys(keys.as_ref(), present, config.keys))?;
    // Grows as parts are found: the count alone is no reason to allocate.
    let mut parts = Vec::new();
    for _ in 0..part_count {
        let part = decode_part(bytes)?;
        bytes.refuse(check_part(&part.as_ref(), present, config))?;
        parts.push(part);
    }
    bytes.refuse(check_order(parts.iter().map(|part| (part.label, part.direction))))?;
    Ok(SubgraphImage { id, scope: ImageScope::AllLabels, as_of, present, keys, parts })
}

fn decode_part(bytes: &mut Bytes<'_>) -> Result<AdjacencyPart, Fault> {
    let label = LabelId(bytes.u16()?);
    let direction = match bytes.u8()? {
        0 => Direction::Out,
        1 => Direction::In,
        _ => return Err(bytes.fault("unknown direction")),
    };
    let width = bytes.u8()?;
    let neighbor_encoding = bytes.u8()?;
    let weight_encoding = bytes.u8()?;
    let flags = bytes.u16()?;
    let entries = bytes.u32()?;
    bytes.require(neighbor_encoding == NEIGHBORS_PLAIN, "unknown neighbor encoding")?;
    bytes.require(flags & !(RANKS | PROPERTIES) == 0, "unknown part flags")?;
    bytes.require(entries > 0, "part without neighbors")?;
    let offsets = take_degrees(bytes, width, entries)?;
    let neighbors = bytes.array(entries as usize, |raw| VertexId(u32::from_le_bytes(raw)))?;
    let weights = match weight_encoding {
        WEIGHTS_NONE => None,
        WEIGHTS_F64 => Some(bytes.array(entries as usize, f64::from_le_bytes)?),
        _ => return Err(bytes.fault("unknown weight encoding")),
    };
    let ranks = match flags & RANKS {
        0 => None,
        _ => Some(bytes.array(entries as usize, u64::from_le_bytes)?),
    };
    let columns = match flags & PROPERTIES {
        0 => Columns::default(),
        _ => columns::decode(bytes, entries as usize)?,
    };
    Ok(AdjacencyPart { label, direction, offsets, neighbors, weights, ranks, columns })
}
