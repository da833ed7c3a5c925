//! The encoding of the keys of a subgraph's vertices. The layout is drawn in `docs/format/segment.md`.

use std::sync::Arc;

use hedgerow_core::{KindId, SUBGRAPH_VERTICES, SubgraphId, VertexKey};

use super::image::{ImageKeys, KeysRef, text_of};
use crate::bytes::{Bytes, Fault};

const KEYS_U64: u8 = 1;
/// Strings of at most 255 bytes: one length byte each, then the texts.
const KEYS_SHORT: u8 = 2;
/// Strings of any length: four length bytes each, then the texts.
const KEYS_LONG: u8 = 3;
/// Keys of several kinds. The record begins with two bytes for each vertex: its kind, and 1 if its key is a
/// string. The numbers follow, then the lengths of the strings in four bytes each, then the texts.
const KEYS_OF_KINDS: u8 = 4;

/// Appends the record of the keys of a subgraph. The keys of the graph must not be dense ids, which have no
/// records.
pub(super) fn encode_key_record(id: SubgraphId, keys: KeysRef<'_>, out: &mut Vec<u8>) {
    out.extend(id.0.to_le_bytes());
    match keys {
        KeysRef::Dense => {}
        KeysRef::U64(keys) => {
            out.push(KEYS_U64);
            out.extend(keys.iter().flat_map(|key| key.to_le_bytes()));
        }
        KeysRef::Str(keys) => {
            if keys.iter().all(|key| key.len() <= usize::from(u8::MAX)) {
                out.push(KEYS_SHORT);
                out.extend(keys.iter().map(|key| key.len() as u8));
            } else {
                out.push(KEYS_LONG);
                out.extend(keys.iter().flat_map(|key| (key.len() as u32).to_le_bytes()));
            }
            keys.iter().for_each(|key| out.extend_from_slice(key.as_bytes()));
        }
        KeysRef::Kinds(keys) => {
            out.push(KEYS_OF_KINDS);
            encode_keys_of_kinds(keys, out);
        }
    }
}

fn encode_keys_of_kinds(keys: &[VertexKey], out: &mut Vec<u8>) {
    let number = |key: &VertexKey| match key {
        VertexKey::U64(n) | VertexKey::KindU64(_, n) => Some(*n),
        VertexKey::Str(_) | VertexKey::KindStr(..) => None,
    };
    out.extend(keys.iter().flat_map(|key| [key.kind().0, u8::from(text_of(key).is_some())]));
    out.extend(keys.iter().filter_map(number).flat_map(u64::to_le_bytes));
    let texts = || keys.iter().filter_map(text_of);
    out.extend(texts().flat_map(|text| (text.len() as u32).to_le_bytes()));
    texts().for_each(|text| out.extend_from_slice(text.as_bytes()));
}

/// Reads the record of the keys of a subgraph with the mask `present` of live vertices.
pub(super) fn decode_key_record(
    bytes: &mut Bytes<'_>,
    id: SubgraphId,
    present: u64,
) -> Result<ImageKeys, Fault> {
    let subgraph = bytes.u32()?;
    bytes.require(subgraph == id.0, "keys of another subgraph")?;
    let count = present.count_ones() as usize;
    match bytes.u8()? {
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
