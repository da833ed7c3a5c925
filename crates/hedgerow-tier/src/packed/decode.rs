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
    bytes.require(gaps.div_ceil(MINI_BLOCK) < bytes.remaining(), "bytes missing")?;
    out.try_reserve(len + unpack::GROUP).map_err(|_| bytes.fault("no memory for a list this long"))?;
    let number = varint::take(bytes)?;
    let mut last = form.id_of(number, source).ok_or_else(|| bytes.fault("first neighbor is no id"))?;
    out.push(VertexId(last as u32));
    while gaps > 0 {
        let count = gaps.min(MINI_BLOCK);
        last = mini_block(bytes, count, form, last, out)?;
        gaps -= count;
    }
    // Gaps are not negative, so that the last neighbor is the largest.
    bytes.require(last <= u64::from(VertexId::MAX.0), "neighbor beyond the largest id")
}

/// Appends the neighbors of the next `count` gaps, which follow upon `last`; returns the last of them.
#[inline]
fn mini_block(
    bytes: &mut Bytes<'_>,
    count: usize,
    form: Form,
    last: u64,
    out: &mut Vec<VertexId>,
) -> Result<u64, Fault> {
    let width = bytes.u8()?;
    bytes.require(width <= WIDEST, TOO_WIDE)?;
    let bits = count * usize::from(width);
    let behind = bytes.rest();
    let packed = bytes.take(bits.div_ceil(8))?;
    let used = bits % 8;
    let spare = if used == 0 { 0 } else { packed.last().map_or(0, |byte| byte >> used) };
    bytes.require(spare == 0, "bits behind the last gap")?;
    if behind.len() >= packed.len() + SLACK {
        return Ok(unpack::append(behind, width, count, form, last, out));
    }
    Ok(unpack::append(&with_slack(packed), width, count, form, last, out))
}

/// A copy with zeros behind it, for the last lists of the bytes.
#[cold]
fn with_slack(packed: &[u8]) -> [u8; PACKED + SLACK] {
    let mut copy = [0; PACKED + SLACK];
    copy.iter_mut().zip(packed).for_each(|(to, from)| *to = *from);
    copy
}

fn packed_len(count: usize, width: usize) -> usize {
    (count * width).div_ceil(8)
}
