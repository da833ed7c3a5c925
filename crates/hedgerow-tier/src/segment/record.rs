//! One subgraph as bytes. The layout is drawn in `docs/format/segment.md`.

use std::sync::Arc;

use hedgerow_core::{
    Columns, Direction, GraphConfig, KindId, LabelId, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId,
    VertexKey,
};

use super::chunks::put_chunks;
use super::columns;
use super::image::{AdjacencyPart, ImageKeys, ImageRef, KeysRef, PartRef, SubgraphImage};
use super::image::{check_keys, check_order, check_part, check_vertices, text_of};
use super::index::Entry;
use crate::bytes::{Bytes, Fault};

/// The record is a whole image; deltas with tombstones will be another kind.
const KIND_FULL: u8 = 0;

const KEYS_NONE: u8 = 0;
const KEYS_U64: u8 = 1;
/// Strings of at most 255 bytes: one length byte each, then the texts.
const KEYS_SHORT: u8 = 2;
/// Strings of any length: four length bytes each, then the texts.
const KEYS_LONG: u8 = 3;
/// Of several kinds: for each vertex the kind in one byte, and whether the key is a string in another; then the numbers, then the
/// lengths of the strings in four bytes each, then the texts.
const KEYS_OF_KINDS: u8 = 4;

/// Neighbors as plain ids of four bytes.
const NEIGHBORS_PLAIN: u8 = 0;
const WEIGHTS_NONE: u8 = 0;
/// Weights as eight bytes each.
const WEIGHTS_F64: u8 = 1;

/// Part flag: ranks follow the weights.
const RANKS: u16 = 1;
/// Part flag: property columns come last.
const PROPERTIES: u16 = 2;

/// Writes `image`, which must have passed [`ImageRef::fault`], through `put`.
pub(super) fn encode<E>(
    image: &ImageRef<'_>,
    scratch: &mut Vec<u8>,
    mut put: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let parts = image.parts.iter().filter(|part| !part.neighbors.is_empty());
    scratch.clear();
    scratch.extend(image.id.0.to_le_bytes());
    scratch.extend([KIND_FULL, key_encoding(image.keys), 0, 0]);
    scratch.extend(image.as_of.0.to_le_bytes());
    scratch.extend(image.present.to_le_bytes());
    scratch.extend((parts.clone().count() as u32).to_le_bytes());
    put(scratch)?;
    encode_keys(image.keys, scratch, &mut put)?;
    for part in parts {
        scratch.clear();
        encode_part_head(part, scratch);
        put(scratch)?;
        put_chunks(part.neighbors, scratch, |v| v.0.to_le_bytes(), &mut put)?;
        put_chunks(part.weights.unwrap_or(&[]), scratch, |w| w.to_le_bytes(), &mut put)?;
        put_chunks(part.ranks.unwrap_or(&[]), scratch, |r| r.to_le_bytes(), &mut put)?;
        if let Some(columns) = part.columns {
            columns::encode(columns, scratch, &mut put)?;
        }
    }
    Ok(())
}

fn key_encoding(keys: KeysRef<'_>) -> u8 {
    match keys {
        KeysRef::Dense => KEYS_NONE,
        KeysRef::U64(_) => KEYS_U64,
        KeysRef::Str(keys) if keys.iter().all(|key| key.len() <= usize::from(u8::MAX)) => KEYS_SHORT,
        KeysRef::Str(_) => KEYS_LONG,
        KeysRef::Kinds(_) => KEYS_OF_KINDS,
    }
}

fn encode_keys<E>(
    keys: KeysRef<'_>,
    scratch: &mut Vec<u8>,
    put: &mut impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    match (keys, key_encoding(keys)) {
        (KeysRef::Dense, _) => Ok(()),
        (KeysRef::U64(keys), _) => put_chunks(keys, scratch, |key| key.to_le_bytes(), put),
        (KeysRef::Str(keys), encoding) => {
            if encoding == KEYS_SHORT {
                put_chunks(keys, scratch, |key| [key.len() as u8], put)?;
            } else {
                put_chunks(keys, scratch, |key| (key.len() as u32).to_le_bytes(), put)?;
            }
            keys.iter().try_for_each(|key| put(key.as_bytes()))
        }
        (KeysRef::Kinds(keys), _) => encode_keys_of_kinds(keys, scratch, put),
    }
}

fn encode_keys_of_kinds<E>(
    keys: &[VertexKey],
    scratch: &mut Vec<u8>,
    put: &mut impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let number = |key: &VertexKey| match key {
        VertexKey::U64(n) | VertexKey::KindU64(_, n) => Some(*n),
        VertexKey::Str(_) | VertexKey::KindStr(..) => None,
    };
    put_chunks(keys, scratch, |key| [key.kind().0, u8::from(text_of(key).is_some())], put)?;
    let numbers: Vec<u64> = keys.iter().filter_map(number).collect();
    put_chunks(&numbers, scratch, |n| n.to_le_bytes(), put)?;
    let texts: Vec<&Arc<str>> = keys.iter().filter_map(text_of).collect();
    put_chunks(&texts, scratch, |text| (text.len() as u32).to_le_bytes(), put)?;
    texts.iter().try_for_each(|text| put(text.as_bytes()))
}

fn encode_part_head(part: &PartRef<'_>, out: &mut Vec<u8>) {
    let degrees = || part.offsets.iter().zip(part.offsets.iter().skip(1)).map(|(from, to)| to - from);
    let width = match degrees().max().unwrap_or(0) {
        0..=0xff => 1u8,
        0x100..=0xffff => 2,
        _ => 4,
    };
    let mask = degrees().enumerate().fold(0u64, |mask, (i, degree)| mask | u64::from(degree > 0) << i);
    out.extend(part.label.0.to_le_bytes());
    let weights = if part.weights.is_some() { WEIGHTS_F64 } else { WEIGHTS_NONE };
    out.extend([part.direction as u8, width, NEIGHBORS_PLAIN, weights]);
    let flag = |on: bool, bit: u16| if on { bit } else { 0 };
    let flags = flag(part.ranks.is_some(), RANKS) | flag(part.columns.is_some(), PROPERTIES);
    out.extend(flags.to_le_bytes());
    out.extend((part.neighbors.len() as u32).to_le_bytes());
    out.extend(mask.to_le_bytes());
    for degree in degrees().filter(|degree| *degree > 0) {
        out.extend(degree.to_le_bytes().iter().take(usize::from(width)));
    }
}

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
    Ok(SubgraphImage { id, as_of, present, keys, parts })
}

fn decode_keys(bytes: &mut Bytes<'_>, encoding: u8, count: usize) -> Result<ImageKeys, Fault> {
    match encoding {
        KEYS_NONE => Ok(ImageKeys::Dense),
        KEYS_U64 => Ok(ImageKeys::U64(bytes.array(count, u64::from_le_bytes)?)),
        KEYS_SHORT => {
            let lengths = bytes.array(count, u8::from_le_bytes)?;
            decode_texts(bytes, lengths.into_iter().map(usize::from)).map(ImageKeys::Str)
        }
        KEYS_LONG => {
            let lengths = bytes.array(count, u32::from_le_bytes)?;
            decode_texts(bytes, lengths.into_iter().map(|length| length as usize)).map(ImageKeys::Str)
        }
        KEYS_OF_KINDS => decode_keys_of_kinds(bytes, count),
        _ => Err(bytes.fault("unknown key encoding")),
    }
}

fn decode_keys_of_kinds(bytes: &mut Bytes<'_>, count: usize) -> Result<ImageKeys, Fault> {
    let forms = bytes.array(count, |form: [u8; 2]| form)?;
    bytes.require(forms.iter().all(|[_, text]| *text <= 1), "a key that is neither number nor string")?;
    let texts = forms.iter().filter(|[_, text]| *text == 1).count();
    let mut numbers = bytes.array(count - texts, u64::from_le_bytes)?.into_iter();
    let lengths = bytes.array(texts, u32::from_le_bytes)?;
    let mut texts = decode_texts(bytes, lengths.into_iter().map(|length| length as usize))?.into_iter();
    let keys = forms.into_iter().filter_map(|[kind, text]| {
        let key = if text == 1 { VertexKey::Str(texts.next()?) } else { VertexKey::U64(numbers.next()?) };
        Some(key.with_kind(KindId(kind)))
    });
    Ok(ImageKeys::Kinds(keys.collect()))
}

fn decode_texts(bytes: &mut Bytes<'_>, lengths: impl Iterator<Item = usize>) -> Result<Vec<Arc<str>>, Fault> {
    let mut keys = Vec::with_capacity(SUBGRAPH_VERTICES);
    for length in lengths {
        let text = std::str::from_utf8(bytes.take(length)?);
        keys.push(Arc::from(text.map_err(|_| bytes.fault("key is not UTF-8"))?));
    }
    Ok(keys)
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
    let offsets = decode_offsets(bytes, width, entries)?;
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

fn decode_offsets(
    bytes: &mut Bytes<'_>,
    width: u8,
    entries: u32,
) -> Result<[u32; SUBGRAPH_VERTICES + 1], Fault> {
    let mask = bytes.u64()?;
    let mut offsets = [0u32; SUBGRAPH_VERTICES + 1];
    let mut end = 0u32;
    for (local, offset) in offsets.iter_mut().skip(1).enumerate() {
        if mask >> local & 1 == 1 {
            let degree = match width {
                1 => u32::from(bytes.u8()?),
                2 => u32::from(bytes.u16()?),
                4 => bytes.u32()?,
                _ => return Err(bytes.fault("unknown degree width")),
            };
            bytes.require(degree > 0, "degree of zero in the degree list")?;
            end = end.checked_add(degree).ok_or_else(|| bytes.fault("degrees overflow"))?;
        }
        *offset = end;
    }
    bytes.require(end == entries, "degrees do not add up to the entry count")?;
    Ok(offsets)
}
