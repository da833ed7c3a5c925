//! One subgraph as bytes of format 4: for tests alone, which need files to read.

use super::record::{KIND_FULL, NEIGHBORS_PLAIN, PROPERTIES, RANKS, WEIGHTS_F64, WEIGHTS_NONE};
use crate::segment::chunks::put_chunks;
use crate::segment::columns;
use crate::segment::degrees::{degree_width, put_degrees};
use crate::segment::image::{ImageRef, PartRef};
use crate::segment::keys::{encode_keys, key_encoding};

/// Writes `image`, which must have passed [`ImageRef::fault`], through `put`.
pub(super) fn encode<E>(
    image: &ImageRef<'_>,
    scratch: &mut Vec<u8>,
    mut put: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let parts = image.parts.iter().filter(|part| !part.neighbors.is_empty());
    scratch.clear();
    scratch.extend(image.id.subgraph.0.to_le_bytes());
    scratch.extend([KIND_FULL, key_encoding(image.keys), 0, 0]);
    scratch.extend(image.as_of.0.to_le_bytes());
    scratch.extend(image.present.to_le_bytes());
    scratch.extend((parts.clone().count() as u32).to_le_bytes());
    put(scratch)?;
    encode_keys(image.keys, scratch, &mut put)?;
    for part in parts {
        scratch.clear();
        encode_part_head(part, scratch);
        put(scratch)?;
        put_chunks(part.neighbors, scratch, |v| v.0.to_le_bytes(), &mut put)?;
        put_chunks(part.weights.unwrap_or(&[]), scratch, |w| w.to_le_bytes(), &mut put)?;
        put_chunks(part.ranks.unwrap_or(&[]), scratch, |r| r.to_le_bytes(), &mut put)?;
        if let Some(columns) = part.columns {
            columns::encode(columns, scratch, &mut put)?;
        }
    }
    Ok(())
}

fn encode_part_head(part: &PartRef<'_>, out: &mut Vec<u8>) {
    let width = degree_width(part.offsets);
    out.extend(part.label.0.to_le_bytes());
    let weights = if part.weights.is_some() { WEIGHTS_F64 } else { WEIGHTS_NONE };
    out.extend([part.direction as u8, width, NEIGHBORS_PLAIN, weights]);
    let flag = |on: bool, bit: u16| if on { bit } else { 0 };
    let flags = flag(part.ranks.is_some(), RANKS) | flag(part.columns.is_some(), PROPERTIES);
    out.extend(flags.to_le_bytes());
    out.extend((part.neighbors.len() as u32).to_le_bytes());
    put_degrees(part.offsets, width, out);
}
