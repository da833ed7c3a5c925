//! Decoding of lists from bytes, which may be hostile.

use hedgerow_core::VertexId;

use super::form::{Form, MINI_BLOCK, WIDEST};
use super::unpack::{self, SLACK};
use super::varint;
use crate::bytes::{Bytes, Fault};

/// The bytes of the largest mini-block, without its width.
const PACKED: usize = MINI_BLOCK * 4;

/// Decodes a list of `len` neighbors of `source` from `bytes`, and appends it to `out`.
///
/// For any bytes, the decoded list ascends, strictly unless `form` has repeats, and has no id above
/// [`VertexId::MAX`]. The encoding need not be the shortest: a width that is larger than necessary is
/// accepted. Refusing it would cost an instruction per neighbor and protect from nothing.
///
/// `len` may be hostile too. Before it allocates, the function checks that `bytes` has the least number of
/// bytes of such a list, 1 for 64 neighbors. So it takes at most 256 bytes of memory per input byte, or twice
/// that if `out` doubles.
///
/// # Errors
/// [`Fault`] if bytes are missing, a width is above 32, bits behind the last gap are not 0, or there is no
/// memory. Also if the first neighbor has more bytes than necessary or is no id, or if the last is above
/// [`VertexId::MAX`]. Then `out` is unchanged, and `bytes` may be anywhere in the list.
///
/// # Cost
/// O(len).
pub fn decode_list(
    bytes: &mut Bytes<'_>,
    len: usize,
    source: VertexId,
    form: Form,
    out: &mut Vec<VertexId>,
) -> Result<(), Fault> {
    let before = out.len();
    let decoded = append(bytes, len, source, form, out);
    if decoded.is_err() {
        out.truncate(before);
    }
    decoded
}

/// Skips the next list of `len` neighbors in `bytes`, without checking its content.
///
/// # Errors
/// [`Fault`] if bytes are missing, or if [`decode_list`] accepts no such width or length of the first
/// neighbor.
///
/// # Cost
/// O(len / 64): reads only the first neighbor.
pub fn skip_list(bytes: &mut Bytes<'_>, len: usize) -> Result<(), Fault> {
    let Some(mut gaps) = len.checked_sub(1) else { return Ok(()) };
    varint::take(bytes)?;
    while gaps > 0 {
        let count = gaps.min(MINI_BLOCK);
        let width = bytes.u8()?;
        bytes.require(width <= WIDEST, TOO_WIDE)?;
        bytes.take(packed_len(count, usize::from(width)))?;
        gaps -= count;
    }
    Ok(())
}

const TOO_WIDE: &str = "gaps of more than 32 bits";
const MISSING: &str = "bytes missing";

fn append(
    bytes: &mut Bytes<'_>,
    len: usize,
    source: VertexId,
    form: Form,
    out: &mut Vec<VertexId>,
) -> Result<(), Fault> {
    let Some(mut gaps) = len.checked_sub(1) else { return Ok(()) };
    // The sum of 2^32 gaps of 32 bits fits 64 bits.
    bytes.require(gaps < u32::MAX as usize, "list longer than there are ids")?;
    bytes.require(gaps.div_ceil(MINI_BLOCK) < bytes.remaining(), MISSING)?;
    out.try_reserve(len + unpack::GROUP).map_err(|_| bytes.fault("no memory for a list this long"))?;
    let number = varint::take(bytes)?;
    let mut last = form.id_of(number, source).ok_or_else(|| bytes.fault("first neighbor is no id"))?;
    out.push(VertexId(last as u32));
    // Mini-blocks are taken from a local slice, because moving the cursor for each takes as long as decoding
    // some gaps.
    let mut rest = bytes.rest();
    while gaps > 0 {
        let count = gaps.min(MINI_BLOCK);
        match mini_block(rest, count, form, last, out) {
            Ok(decoded) => (last, rest) = decoded,
            Err(what) => {
                bytes.take(bytes.remaining() - rest.len())?;
                return Err(bytes.fault(what));
            }
        }
        gaps -= count;
    }
    bytes.take(bytes.remaining() - rest.len())?;
    // Gaps are not negative, so the last neighbor is the largest.
    bytes.require(last <= u64::from(VertexId::MAX.0), "neighbor beyond the largest id")
}

/// Decodes the `count` gaps at the beginning of `block` and appends the neighbors, which follow the neighbor
/// `last`. Returns the last neighbor, and the bytes behind the mini-block.
#[inline]
fn mini_block<'a>(
    block: &'a [u8],
    count: usize,
    form: Form,
    last: u64,
    out: &mut Vec<VertexId>,
) -> Result<(u64, &'a [u8]), &'static str> {
    let (width, packed) = block.split_first().ok_or(MISSING)?;
    if *width > WIDEST {
        return Err(TOO_WIDE);
    }
    let bits = count * usize::from(*width);
    let len = bits.div_ceil(8);
    let behind = packed.get(len..).ok_or(MISSING)?;
    // If the mini-block has no bytes of gaps, this is the width byte, and none of its bits is tested.
    let end = block.get(len).copied().unwrap_or(0);
    if u32::from(end) >> (8 - (8 * len - bits)) != 0 {
        return Err("bits behind the last gap");
    }
    let last = if behind.len() >= SLACK {
        unpack::append(packed, *width, count, form, last, out)
    } else {
        append_copied(packed, *width, count, form, last, out)
    };
    Ok((last, behind))
}

/// Like [`unpack::append`], but decodes a copy that is padded with zeros, as the last lists of the bytes
/// require.
#[cold]
#[inline(never)]
fn append_copied(
    packed: &[u8],
    width: u8,
    count: usize,
    form: Form,
    last: u64,
    out: &mut Vec<VertexId>,
) -> u64 {
    let mut copy = [0; PACKED + SLACK];
    copy.iter_mut().zip(packed).for_each(|(to, from)| *to = *from);
    unpack::append(&copy, width, count, form, last, out)
}

fn packed_len(count: usize, width: usize) -> usize {
    (count * width).div_ceil(8)
}
