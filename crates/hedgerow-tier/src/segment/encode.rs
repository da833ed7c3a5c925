//! The encoding of records of neighbors, which [`topology`](super::topology) decodes.

use std::ops::Range;

use hedgerow_core::{SubgraphId, Timestamp};

use super::block::MOST_PAYLOAD;
use super::degrees::{degree_width, put_degrees};
use super::delta::DeltaRef;
use super::image::{ImageRef, PartRef};
use super::topology::{
    CUT, DELTA, MOST_HEAD, MOST_OPERATIONS, MOST_PACKED, PACKED, PACKED_NEAR, PROPERTIES, RANKS, REMOVED,
    WEIGHTS, WHOLE, piece_entries, portions, vertex,
};
use crate::id::ImageId;
use crate::packed::{self, Form};

/// Appends the record of `image`, which must have passed [`ImageRef::fault`]. Returns true if the record is
/// only a head; then [`encode_pieces`] encodes the rest.
pub(super) fn encode(image: &ImageRef<'_>, out: &mut Vec<u8>) -> bool {
    let begin = out.len();
    let most: usize =
        MOST_HEAD + parts_of(image).map(|part| part.neighbors.len() * most_of(part)).sum::<usize>();
    let head = Head { id: image.id, kind: WHOLE, as_of: image.as_of, present: image.present };
    let parts = parts_of(image).map(|part| (part.direction as u8, part));
    // An image that takes at most four blocks unpacked is packed, to find out whether it then fits in one.
    if most <= 4 * MOST_PAYLOAD {
        encode_head(&head, &[], parts.clone(), out, |part, form, out| {
            encode_entries(image.id.subgraph, part, form, 0..part.neighbors.len() as u32, out);
        });
        if out.len() - begin <= MOST_PAYLOAD {
            return false;
        }
        out.truncate(begin);
    }
    encode_head(&Head { kind: CUT, ..head }, &[], parts, out, |_, _, _| {});
    true
}

/// Appends the record of `delta`, which must have passed [`DeltaRef::fault`]. Returns false, and appends
/// nothing, if the record would be longer than a block.
pub(super) fn encode_delta(delta: &DeltaRef<'_>, out: &mut Vec<u8>) -> bool {
    let begin = out.len();
    let put = delta.put.iter().map(|part| (part.direction as u8, part));
    let parts = put.chain(delta.removed.iter().map(|part| (part.direction as u8 | REMOVED, part)));
    let parts = parts.filter(|(_, part)| !part.neighbors.is_empty());
    if parts.clone().map(|(_, part)| part.neighbors.len()).sum::<usize>() > MOST_OPERATIONS {
        return false;
    }
    let head = Head { id: delta.id, kind: DELTA, as_of: delta.as_of, present: delta.present };
    encode_head(&head, &delta.edges.to_le_bytes(), parts, out, |part, form, out| {
        encode_entries(delta.id.subgraph, part, form, 0..part.neighbors.len() as u32, out);
    });
    let fits = out.len() - begin <= MOST_PAYLOAD;
    if !fits {
        out.truncate(begin);
    }
    fits
}

/// Encodes the pieces of `image`, and passes each to `put`, in order.
pub(super) fn encode_pieces<E>(
    image: &ImageRef<'_>,
    scratch: &mut Vec<u8>,
    mut put: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    for part in parts_of(image) {
        let form = form_of(image.id.subgraph, part);
        let (entries, step) = (part.neighbors.len() as u32, piece_entries_of(part));
        for from in (0..entries).step_by(step as usize) {
            scratch.clear();
            encode_entries(
                image.id.subgraph,
                part,
                form,
                from..entries.min(from.saturating_add(step)),
                scratch,
            );
            put(scratch)?;
        }
    }
    Ok(())
}

fn parts_of<'a>(image: &ImageRef<'a>) -> impl Iterator<Item = &'a PartRef<'a>> + Clone {
    image.parts.iter().filter(|part| !part.neighbors.is_empty())
}

fn piece_entries_of(part: &PartRef<'_>) -> u32 {
    piece_entries(part.weights.is_some(), part.ranks.is_some())
}

fn most_of(part: &PartRef<'_>) -> usize {
    MOST_PACKED + 8 * usize::from(part.weights.is_some()) + 8 * usize::from(part.ranks.is_some())
}

/// The first fields of a record.
#[derive(Clone, Copy)]
struct Head {
    id: ImageId,
    kind: u8,
    as_of: Timestamp,
    present: u64,
}

/// Appends the fields of the head, `more` bytes, and the parts, each with the byte of its direction.
fn encode_head<'a, 'p: 'a>(
    head: &Head,
    more: &[u8],
    parts: impl Iterator<Item = (u8, &'a PartRef<'p>)> + Clone,
    out: &mut Vec<u8>,
    entries: impl Fn(&PartRef<'_>, Form, &mut Vec<u8>),
) {
    out.extend(head.id.subgraph.0.to_le_bytes());
    out.extend(head.id.label.0.to_le_bytes());
    out.extend([head.kind, parts.clone().count() as u8]);
    out.extend(head.as_of.0.to_le_bytes());
    out.extend(head.present.to_le_bytes());
    out.extend(more);
    for (direction, part) in parts {
        let form = form_of(head.id.subgraph, part);
        let width = degree_width(part.offsets);
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        let flags = flag(part.weights.is_some(), WEIGHTS)
            | flag(part.ranks.is_some(), RANKS)
            | flag(part.columns.is_some(), PROPERTIES);
        out.extend([direction, width, if form.relative { PACKED_NEAR } else { PACKED }, flags]);
        out.extend((part.neighbors.len() as u32).to_le_bytes());
        put_degrees(part.offsets, width, out);
        entries(part, form, out);
    }
}

/// Returns the form of a part. If neighbors have ids close to the ids of their vertices, the first neighbor
/// of each list is shorter as a distance.
fn form_of(subgraph: SubgraphId, part: &PartRef<'_>) -> Form {
    let form = |relative| Form { relative, repeats: part.ranks.is_some() };
    let (mut plain, mut near) = (0, 0);
    for (local, range) in portions(part.offsets, 0..part.neighbors.len() as u32) {
        let Some(&first) = part.neighbors.get(range.start as usize) else { continue };
        let source = vertex(subgraph, local);
        plain += packed::first_len(first, source, form(false));
        near += packed::first_len(first, source, form(true));
    }
    form(near < plain)
}

fn encode_entries(
    subgraph: SubgraphId,
    part: &PartRef<'_>,
    form: Form,
    range: Range<u32>,
    out: &mut Vec<u8>,
) {
    for (local, portion) in portions(part.offsets, range.clone()) {
        let list = part.neighbors.get(portion.start as usize..portion.end as usize).unwrap_or(&[]);
        packed::encode_list(list, vertex(subgraph, local), form, out);
    }
    let range = range.start as usize..range.end as usize;
    let weights = part.weights.and_then(|weights| weights.get(range.clone())).unwrap_or(&[]);
    out.extend(weights.iter().flat_map(|weight| weight.to_le_bytes()));
    let ranks = part.ranks.and_then(|ranks| ranks.get(range)).unwrap_or(&[]);
    out.extend(ranks.iter().flat_map(|rank| rank.to_le_bytes()));
}
