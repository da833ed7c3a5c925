//! The encoding of the degrees of a subgraph's vertices.

use hedgerow_core::SUBGRAPH_VERTICES;

use crate::bytes::{Bytes, Fault};

/// Returns the least width of 1, 2 or 4 bytes in which each degree fits.
pub(super) fn degree_width(offsets: &[u32; SUBGRAPH_VERTICES + 1]) -> u8 {
    match degrees(offsets).max().unwrap_or(0) {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 4,
    }
}

/// Appends the mask of the vertices that have neighbors, and the degrees of these vertices.
pub(super) fn put_degrees(offsets: &[u32; SUBGRAPH_VERTICES + 1], width: u8, out: &mut Vec<u8>) {
    out.extend(degree_mask(offsets).to_le_bytes());
    for degree in degrees(offsets).filter(|degree| *degree > 0) {
        out.extend(degree.to_le_bytes().iter().take(usize::from(width)));
    }
}

/// Returns the mask of the vertices that have neighbors.
pub(super) fn degree_mask(offsets: &[u32; SUBGRAPH_VERTICES + 1]) -> u64 {
    degrees(offsets).enumerate().fold(0u64, |mask, (i, degree)| mask | u64::from(degree > 0) << i)
}

fn degrees(offsets: &[u32; SUBGRAPH_VERTICES + 1]) -> impl Iterator<Item = u32> {
    offsets.iter().zip(offsets.iter().skip(1)).map(|(from, to)| to.saturating_sub(*from))
}

/// Reads the bytes of [`put_degrees`], for `entries` neighbors in all. Returns offsets.
pub(super) fn take_degrees(
    bytes: &mut Bytes<'_>,
    width: u8,
    entries: u32,
) -> Result<[u32; SUBGRAPH_VERTICES + 1], Fault> {
    let mask = bytes.u64()?;
    let mut offsets = [0u32; SUBGRAPH_VERTICES + 1];
    let mut end = 0u32;
    for (local, offset) in offsets.iter_mut().skip(1).enumerate() {
        if mask >> local & 1 == 1 {
            let degree = match width {
                1 => u32::from(bytes.u8()?),
                2 => u32::from(bytes.u16()?),
                4 => bytes.u32()?,
                _ => return Err(bytes.fault("unknown degree width")),
            };
            bytes.require(degree > 0, "degree of zero in the degree list")?;
            end = end.checked_add(degree).ok_or_else(|| bytes.fault("degrees overflow"))?;
        }
        *offset = end;
    }
    bytes.require(end == entries, "degrees do not add up to the entry count")?;
    Ok(offsets)
}
