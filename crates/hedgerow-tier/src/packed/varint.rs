//! Numbers in as few bytes as possible, seven bits each (LEB128).

use crate::bytes::{Bytes, Fault};

/// The bytes of the longest number: an id has 32 bits, a distance with its sign 33.
pub(super) const LONGEST: usize = 5;

/// Returns the length of `number` in bytes.
pub(super) fn len(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}

/// Appends `number`, which has at most 35 bits.
pub(super) fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number. It reads all its bytes at once: lengths differ from list to list, so the end of a loop
/// over bytes would be mispredicted in almost every list.
#[inline]
pub(super) fn take(bytes: &mut Bytes<'_>) -> Result<u64, Fault> {
    let rest = bytes.rest();
    let word = u64::from_le_bytes(match rest.first_chunk() {
        Some(word) => *word,
        None => padded(rest),
    });
    let len = (!word & 0x8080_8080_8080_8080).trailing_zeros() as usize / 8 + 1;
    bytes.require(len <= LONGEST, "number longer than five bytes")?;
    bytes.take(len)?;
    let own = word & (u64::MAX >> (64 - 8 * len));
    bytes.require(len == 1 || own >> (8 * (len - 1)) != 0, "number longer than it need be")?;
    let septet = |nth: u32| own >> nth & 0x7f << (7 * nth);
    Ok(septet(0) | septet(1) | septet(2) | septet(3) | septet(4))
}

/// Returns the last bytes, padded with zeros: a number that does not end within the result is cut off.
#[cold]
fn padded(rest: &[u8]) -> [u8; 8] {
    let mut word = [0; 8];
    word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    word
}
