//! From bytes, which may be hostile, to lists.

use hedgerow_core::VertexId;

use super::form::{Form, MINI_BLOCK, WIDEST};
use super::unpack::{self, SLACK};
use super::varint;
use crate::bytes::{Bytes, Fault};

/// Bytes of the largest mini-block, behind its width.
const PACKED: usize = MINI_BLOCK * 4;

/// Appends the `len` neighbors of `source` that come next in `bytes` to `out`.
///
/// The list ascends, strictly unless `form` has repeats, and holds no id above [`VertexId::MAX`], whatever the bytes
/// are. It need not be the shortest encoding: a width that is larger than its gaps need is accepted, since refusing it
/// would take an instruction for each neighbor and protect nothing.
///
/// `len` may come from the same hostile bytes. Memory is taken only after as many bytes are known to be there as a list
/// of that length takes at least, 1 for 64 neighbors: at most 256 bytes of memory for each of `bytes`, or twice that
/// where `out` doubles.
///
/// # Errors
/// [`Fault`] if bytes are missing, a width is above 32, bits behind the last gap are not 0, the first neighbor takes more
/// bytes than it need or is no id, the last is beyond [`VertexId::MAX`], or there is no memory. `out` is as before then;
/// `bytes` may be anywhere in the list.
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

/// Passes over the list of `len` neighbors that comes next in `bytes`. What it holds is not checked.
///
/// # Errors
/// [`Fault`] if bytes are missing, or a width or the first neighbor's length is none that [`decode_list`] accepts.
///
/// # Cost
/// O(len / 64): of the neighbors only the first is looked at.
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
    // Mini-blocks are cut from a slice of their own: to move the cursor for each takes as long as to decode some gaps.
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
    // Gaps are not negative, so that the last neighbor is the largest.
    bytes.require(last <= u64::from(VertexId::MAX.0), "neighbor beyond the largest id")
}

/// Appends the neighbors of the `count` gaps at the beginning of `block`, which follow upon `last`; returns the last of
/// them, and what is behind the mini-block.
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
    // Without a byte of gaps this is the width, of which no bit is looked at.
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

/// As [`unpack::append`], from a copy with zeros behind it: for the last lists of the bytes.
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
