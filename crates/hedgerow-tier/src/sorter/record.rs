//! The encoding of records as bytes.

use hedgerow_io::codec::{PutLe, Reader};

/// The mark of a long payload. The head of a record, before its key, has the length of the key and the length
/// of the payload. That is one byte, or this mark and four bytes.
const LONG: u8 = u8::MAX;
/// The most bytes of the head of a record.
pub(super) const LARGEST_HEAD: usize = 6;
/// A record in a chunk or block. Its slices are empty if the bytes are cut short, which checksums exclude.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The bytes that order records.
    pub key: &'a [u8],
    /// The bytes that belong to the key.
    pub payload: &'a [u8],
    /// The encoded length of the record.
    pub(super) bytes: usize,
}

impl<'a> Record<'a> {
    pub(super) fn at(bytes: &'a [u8], at: usize) -> Record<'a> {
        Record::read(bytes.get(at..).unwrap_or(&[])).unwrap_or(Record { key: &[], payload: &[], bytes: 0 })
    }

    fn read(bytes: &'a [u8]) -> Option<Record<'a>> {
        let mut r = Reader::new(bytes);
        let (key, payload) = (usize::from(r.u8().ok()?), r.u8().ok()?);
        let payload = if payload == LONG { r.u32().ok()? as usize } else { usize::from(payload) };
        let (key, payload) = (r.bytes(key).ok()?, r.bytes(payload).ok()?);
        Some(Record { key, payload, bytes: r.position() })
    }
}

/// Appends a record.
pub(super) fn put_record(bytes: &mut Vec<u8>, key: &[u8], payload: &[u8]) {
    debug_assert!(key.len() <= usize::from(u8::MAX));
    bytes.put_u8(key.len() as u8);
    if payload.len() < usize::from(LONG) {
        bytes.put_u8(payload.len() as u8);
    } else {
        bytes.put_u8(LONG);
        bytes.put_u32(payload.len() as u32);
    }
    bytes.put_bytes(key);
    bytes.put_bytes(payload);
}

/// Appends a number so that bytes sort like numbers. Small numbers, which are most frequent, take few bytes.
pub fn put_ordered(bytes: &mut Vec<u8>, number: u64) {
    let all = number.to_be_bytes();
    let skipped = number.leading_zeros() as usize / 8;
    bytes.put_u8((all.len() - skipped) as u8);
    bytes.put_bytes(all.get(skipped..).unwrap_or(&[]));
}

/// Takes a number that [`put_ordered`] wrote from the front of `bytes`.
pub fn take_ordered(bytes: &mut &[u8]) -> Option<u64> {
    let (len, rest) = bytes.split_first()?;
    let (number, rest) = rest.split_at_checked(usize::from(*len))?;
    *bytes = rest;
    Some(number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Returns the number of bytes that [`put_record`] appends.
pub(super) fn record_bytes(key: &[u8], payload: &[u8]) -> usize {
    let head = if payload.len() < usize::from(LONG) { 2 } else { LARGEST_HEAD };
    head + key.len() + payload.len()
}
