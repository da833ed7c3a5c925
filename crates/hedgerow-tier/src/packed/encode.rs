//! Encoding of lists as bytes.

use hedgerow_core::VertexId;

use super::form::{Form, MINI_BLOCK};
use super::varint;

/// The bytes of the largest mini-block, and of a word that may be stored beyond its end.
const PACKED: usize = MINI_BLOCK * 4 + 8;

/// Appends `list`, the neighbors of `source`, to `out`. An empty list takes no bytes.
///
/// The list must ascend, strictly unless `form` has repeats, and have no id above [`VertexId::MAX`]. The
/// bytes of any other list decode to a different list, or to a fault. Widths are the least that hold their
/// gaps, so a list has one encoding for each form.
///
/// # Cost
/// O(list); appends [`encoded_len`] bytes.
pub fn encode_list(list: &[VertexId], source: VertexId, form: Form, out: &mut Vec<u8>) {
    let Some((&first, later)) = list.split_first() else { return };
    varint::put(form.number_of(first, source), out);
    let mut gaps = [0; MINI_BLOCK];
    let mut packed = [0; PACKED];
    for (before, block) in list.chunks(MINI_BLOCK).zip(later.chunks(MINI_BLOCK)) {
        let mut all = 0;
        for (to, gap) in gaps.iter_mut().zip(gaps_of(before, block, form)) {
            *to = gap;
            all |= gap;
        }
        let width = width_of(all);
        pack(gaps.iter().take(block.len()), width, &mut packed);
        out.push(width as u8);
        out.extend(packed.iter().take((block.len() * width).div_ceil(8)));
    }
}

/// Returns the number of bytes that [`encode_list`] appends.
///
/// # Cost
/// O(list), a fraction of the cost of encoding.
pub fn encoded_len(list: &[VertexId], source: VertexId, form: Form) -> usize {
    let Some((&first, later)) = list.split_first() else { return 0 };
    let blocks = list.chunks(MINI_BLOCK).zip(later.chunks(MINI_BLOCK));
    let block_len = |(before, block): (&[VertexId], &[VertexId])| {
        let width = width_of(gaps_of(before, block, form).fold(0, |all, gap| all | gap));
        1 + (block.len() * width).div_ceil(8)
    };
    first_len(first, source, form) + blocks.map(block_len).sum::<usize>()
}

/// Returns the number of bytes of `first`, the first neighbor of a list. The other bytes of the list do not
/// depend on `form.relative`.
pub fn first_len(first: VertexId, source: VertexId, form: Form) -> usize {
    varint::len(form.number_of(first, source))
}

/// Returns the gaps of `block` as they are written; `before` has the predecessor of each neighbor.
fn gaps_of(before: &[VertexId], block: &[VertexId], form: Form) -> impl Iterator<Item = u32> {
    let step = form.step();
    before.iter().zip(block).map(move |(before, id)| id.0.wrapping_sub(before.0).wrapping_sub(step))
}

/// Returns the least width that holds every gap; `all` is the bitwise or of the gaps.
fn width_of(all: u32) -> usize {
    (u32::BITS - all.leading_zeros()) as usize
}

/// Writes the gaps one after another, `width` bits each, with zeros behind the last. Each gap is stored by
/// writing a whole word, so that no branch tests for a full byte.
fn pack<'a>(gaps: impl Iterator<Item = &'a u32>, width: usize, out: &mut [u8; PACKED]) {
    let (mut word, mut bits, mut at) = (0u64, 0, 0);
    for gap in gaps {
        word |= u64::from(*gap) << bits;
        if let Some(place) = out.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *place = word.to_le_bytes();
        }
        bits += width;
        let full = bits / 8;
        at += full;
        word >>= 8 * full;
        bits %= 8;
    }
}
