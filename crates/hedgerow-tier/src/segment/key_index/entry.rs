//! One entry of the index: the hash of a key, the vertex, its kind, and the bytes of a text.

use hedgerow_core::key::MAX_KEY_BYTES;
use hedgerow_core::{KindId, VertexId, VertexKeyRef};
use hedgerow_io::StoreId;
use hedgerow_io::checksum::Checksum;

use crate::bytes::{Bytes, Fault};

/// The length of the entry of a number, and of the head of any entry.
pub(super) const LEAST_BYTES: usize = 14;
/// The form of a number, which is computed from its hash.
pub(super) const NUMBER: u8 = 0;
/// The form of a text of at most 255 bytes: its length in a byte, then the text.
const SHORT: u8 = 1;
/// The form of a longer text: four bytes of length, then the text.
const LONG: u8 = 2;
/// A numeric key is hashed after adding this constant times the number of its kind. So equal numbers of two
/// kinds have different hashes.
const KIND_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The content of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::segment) struct Entry<'a> {
    pub(super) hash: u64,
    pub(super) id: VertexId,
    pub(super) kind: KindId,
    /// The text; `None` for a number, because two numbers of one kind always have different hashes.
    pub(super) text: Option<&'a str>,
}

/// Returns the hash by which keys are ordered. For the numbers of one kind it is a permutation.
pub(super) fn hash_of(store: StoreId, key: VertexKeyRef<'_>) -> u64 {
    let kind = key.kind();
    match key {
        VertexKeyRef::U64(n) | VertexKeyRef::KindU64(_, n) => {
            mix(n.wrapping_add(u64::from(kind.0).wrapping_mul(KIND_STEP)))
        }
        // The hash covers the identity of the store, which is random. So a client that chooses keys cannot
        // choose their hashes.
        VertexKeyRef::Str(text) | VertexKeyRef::KindStr(_, text) => {
            let mut sum = Checksum::new();
            sum.update(&store.0);
            sum.update(&[kind.0]);
            sum.update(text.as_bytes());
            sum.digest64()
        }
    }
}

/// Computes the finalizer of SplitMix64, a permutation.
fn mix(n: u64) -> u64 {
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}

/// Returns the text of a key; `None` for a number.
pub(super) fn text_of(key: VertexKeyRef<'_>) -> Option<&str> {
    match key {
        VertexKeyRef::Str(text) | VertexKeyRef::KindStr(_, text) => Some(text),
        VertexKeyRef::U64(_) | VertexKeyRef::KindU64(..) => None,
    }
}

impl<'a> Entry<'a> {
    /// True if this is the entry of `key`, whose hash is `hash`.
    pub(super) fn is_of(&self, hash: u64, key: VertexKeyRef<'_>) -> bool {
        self.hash == hash && self.kind == key.kind() && self.text == text_of(key)
    }

    /// Returns the number of bytes of its encoding.
    pub(super) fn len(&self) -> usize {
        let of_text = |text: &str| text.len() + if text.len() <= usize::from(u8::MAX) { 1 } else { 4 };
        LEAST_BYTES + self.text.map_or(0, of_text)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.hash.to_le_bytes());
        out.extend(self.id.0.to_le_bytes());
        out.push(self.kind.0);
        match self.text {
            None => out.push(NUMBER),
            Some(text) if text.len() <= usize::from(u8::MAX) => out.extend([SHORT, text.len() as u8]),
            Some(text) => {
                out.push(LONG);
                out.extend((text.len() as u32).to_le_bytes());
            }
        }
        out.extend(self.text.unwrap_or_default().as_bytes());
    }

    pub(super) fn decode(bytes: &mut Bytes<'a>) -> Result<Entry<'a>, Fault> {
        let (hash, id) = (bytes.u64()?, VertexId(bytes.u32()?));
        let (kind, form) = (KindId(bytes.u8()?), bytes.u8()?);
        bytes.require(id <= VertexId::MAX, "vertex id out of range")?;
        bytes.require(kind <= KindId::MAX, "kind out of range")?;
        let length = match form {
            NUMBER => None,
            SHORT => Some(usize::from(bytes.u8()?)),
            LONG => Some(bytes.u32()? as usize).filter(|length| *length > usize::from(u8::MAX)),
            _ => return Err(bytes.fault("a key that is neither number nor text")),
        };
        bytes.require((form == NUMBER) == length.is_none(), "a short text with a long length")?;
        let Some(length) = length else { return Ok(Entry { hash, id, kind, text: None }) };
        bytes.require(length <= MAX_KEY_BYTES, "key too long")?;
        let text = std::str::from_utf8(bytes.take(length)?);
        let text = text.map_err(|_| bytes.fault("key is not UTF-8"))?;
        Ok(Entry { hash, id, kind, text: Some(text) })
    }
}
