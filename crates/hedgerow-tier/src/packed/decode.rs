//! Decoding of bytes, which may be hostile, to lists.

use hedgerow_core::VertexId;

use super::form::{Form, MINI_BLOCK, WIDEST};
use super::unpack::{self, SLACK};
use super::varint;
use crate::bytes::{Bytes, Fault};

/// The bytes of the largest mini-block, without its width.
const PACKED: usize = MINI_BLOCK * 4;

/// Appends the next `len` neighbors in `bytes`, those of `source`, to `out`.
///
/// For all bytes, the decoded list ascends, strictly unless `form` has repeats, and holds no id above
/// [`VertexId::MAX`]. The encoding need not be the shortest: a width larger than its gaps need is accepted. A
/// refusal would take an instruction for each neighbor and protect nothing.
///
/// `len` may come from the same hostile bytes. The function allocates only after it found the least bytes of
/// a list of that length, 1 for 64 neighbors. So it takes at most 256 bytes of memory for each of `bytes`, or
/// twice that if `out` doubles.
///
/// # Errors
/// [`Fault`] if bytes are missing, a width is above 32, bits behind the last gap are not 0, or there is no
/// memory. Also if the first neighbor takes more bytes than it needs or is no id, or if the last is beyond
/// [`VertexId::MAX`]. `out` is unchanged then; `bytes` may be anywhere in the list.
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

/// Skips the next list of `len` neighbors in `bytes`, without a check of its content.
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
    // Mini-blocks are cut from a slice of their own: a move of the cursor for each takes as long as the
    // decoding of some gaps.
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

/// Appends the neighbors of the `count` gaps at the beginning of `block`, which follow `last`. Returns the
/// last of them, and the bytes behind the mini-block.
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
    // Without a byte of gaps this is the width byte, of which no bit is tested.
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

/// Like [`unpack::append`], but works on a copy with zeros behind it: for the last lists of the bytes.
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
