//! A second implementation of the encoding, bit by bit and without regard to speed. It shares no code with
//! the first.

use super::{Form, MINI_BLOCK};
use hedgerow_core::VertexId;

/// Returns the bytes of `list`.
pub(super) fn encode(list: &[VertexId], source: VertexId, form: Form) -> Vec<u8> {
    let Some(first) = list.first() else { return Vec::new() };
    let distance = i128::from(first.0) - i128::from(source.0);
    let mut number = match form.relative {
        false => i128::from(first.0),
        true if distance < 0 => -2 * distance - 1,
        true => 2 * distance,
    };
    let mut bytes = Vec::new();
    loop {
        let rest = number / 128;
        bytes.push((number % 128) as u8 + if rest > 0 { 128 } else { 0 });
        number = rest;
        if number == 0 {
            break;
        }
    }
    let less = if form.repeats { 0 } else { 1 };
    let gaps: Vec<u32> = list.windows(2).map(|pair| pair[1].0 - pair[0].0 - less).collect();
    for block in gaps.chunks(MINI_BLOCK) {
        let width = (0..=32).find(|width| block.iter().all(|gap| u64::from(*gap) < 1 << width)).unwrap();
        bytes.push(width);
        let bits: Vec<bool> =
            block.iter().flat_map(|gap| (0..width).map(move |bit| gap >> bit & 1 == 1)).collect();
        bytes.extend(
            bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |sum, bit| sum * 2 + u8::from(*bit))),
        );
    }
    bytes
}

/// Returns the list of length `len` at the beginning of `bytes` and the bytes after it, or `None` if it
/// breaks a rule.
pub(super) fn decode(
    bytes: &[u8],
    len: usize,
    source: VertexId,
    form: Form,
) -> Option<(Vec<VertexId>, &[u8])> {
    if len == 0 {
        return Some((Vec::new(), bytes));
    }
    let end = bytes.iter().position(|byte| *byte < 128)?;
    let (head, mut bytes) = bytes.split_at(end + 1);
    if head.len() > 5 || (head.len() > 1 && head.last() == Some(&0)) {
        return None;
    }
    let number = head.iter().rev().fold(0i128, |sum, byte| sum * 128 + i128::from(byte % 128));
    let mut id = match form.relative {
        false => number,
        true if number % 2 == 1 => i128::from(source.0) - (number + 1) / 2,
        true => i128::from(source.0) + number / 2,
    };
    let mut list = vec![valid(id)?];
    while list.len() < len {
        let count = (len - list.len()).min(MINI_BLOCK);
        let (width, rest) = bytes.split_first()?;
        if *width > 32 {
            return None;
        }
        let (packed, rest) = rest.split_at_checked((count * usize::from(*width)).div_ceil(8))?;
        let mut bits = packed.iter().flat_map(|byte| (0..8).map(move |bit| i128::from(byte >> bit & 1)));
        for _ in 0..count {
            let gap: i128 = (0..*width).map(|bit| bits.next().unwrap_or(0) << bit).sum();
            id += gap + if form.repeats { 0 } else { 1 };
            list.push(valid(id)?);
        }
        if bits.any(|bit| bit == 1) {
            return None;
        }
        bytes = rest;
    }
    Some((list, bytes))
}

fn valid(id: i128) -> Option<VertexId> {
    u32::try_from(id).ok().map(VertexId).filter(|id| *id <= VertexId::MAX)
}
