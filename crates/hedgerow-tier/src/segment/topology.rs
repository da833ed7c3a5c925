//! The record of the neighbors of one subgraph in one label, and its decoding. The layout is drawn in
//! `docs/format/segment.md`.

use hedgerow_core::{Columns, Direction, LabelId, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId};

use super::block::MOST_PAYLOAD;
use super::degrees::take_degrees;
use super::image::AdjacencyPart;
use super::read_memory::{HasMemory, ReadMemory, ask};
use crate::TierError;
use crate::bytes::{Bytes, Fault};
use crate::id::ImageId;
use crate::packed::{self, Form};

/// The kind of a record with a whole image.
pub(super) const WHOLE: u8 = 0;
/// The kind of the head of an image whose neighbors follow in pieces, each in a block.
pub(super) const CUT: u8 = 1;
/// The kind of a record with a delta, which is never cut.
pub(super) const DELTA: u8 = 2;

/// A bit beside the direction of a part: its edges are removed. Only in a delta.
pub(super) const REMOVED: u8 = 2;

/// The encoding of packed neighbors in which the first neighbor of each list is written unchanged.
pub(super) const PACKED: u8 = 1;
/// The encoding of packed neighbors in which the first neighbor of each list is written as its distance from
/// the vertex.
pub(super) const PACKED_NEAR: u8 = 2;

/// Flags of a part: weights follow the neighbors; ranks follow the weights; properties are in the record of
/// columns.
pub(super) const WEIGHTS: u8 = 1;
pub(super) const RANKS: u8 = 2;
pub(super) const PROPERTIES: u8 = 4;

/// The most bytes of a neighbor in [`packed`]: five for the first of a list, four and its share of the width
/// byte for others.
pub(super) const MOST_PACKED: usize = 5;

/// The most operations of a delta, in both directions: those that fit in four blocks without packing. So the
/// memory of their decoded form is bounded too.
pub(super) const MOST_OPERATIONS: usize = 4 * MOST_PAYLOAD / MOST_PACKED;

/// The error of lists for which the allocator has no memory.
pub(super) const NO_MEMORY: &str = "no memory for lists this long";

/// The least length of a record: its fixed fields.
pub(super) const HEAD_BYTES: usize = 24;
/// The longest head: fixed fields, and two parts with degrees of four bytes.
pub(super) const MOST_HEAD: usize = HEAD_BYTES + 2 * (16 + 4 * SUBGRAPH_VERTICES);

/// The neighbors of a subgraph, as far as they have been read.
#[derive(Debug)]
pub(super) struct Topology {
    pub(super) id: ImageId,
    pub(super) as_of: Timestamp,
    pub(super) present: u64,
    /// True if the neighbors follow in pieces.
    pub(super) is_cut: bool,
    /// The number of outgoing neighbor entries after the operations of a delta; `None` for an image.
    pub(super) delta: Option<u64>,
    pub(super) parts: Vec<Part>,
}

/// The neighbors of one direction.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) adjacency: AdjacencyPart,
    /// True for edges that a delta removes.
    pub(super) is_removed: bool,
    pub(super) has_columns: bool,
    pub(super) entries: u32,
    pub(super) form: Form,
}

/// Returns how many neighbors a piece has: the number that always fits in a block. The last piece of a part
/// may have fewer.
pub(super) fn piece_entries(weights: bool, ranks: bool) -> u32 {
    (MOST_PAYLOAD / (MOST_PACKED + 8 * usize::from(weights) + 8 * usize::from(ranks))) as u32
}

impl Part {
    /// Returns how many neighbors a piece of this part has.
    pub(super) fn piece_entries(&self) -> u32 {
        piece_entries(self.adjacency.weights.is_some(), self.adjacency.ranks.is_some())
    }

    /// Asks the caller for memory for all entries of the part.
    ///
    /// # Errors
    /// [`TierError::NoRoom`] if `has_memory` returns false.
    pub(super) fn ask(&self, has_memory: HasMemory<'_>) -> Result<(), TierError> {
        self.ask_for(self.entries, has_memory)
    }

    /// Like [`ask`](Self::ask), but for only `entries` entries.
    pub(super) fn ask_for(&self, entries: u32, has_memory: HasMemory<'_>) -> Result<(), TierError> {
        let count = u64::from(entries) + packed::DECODED_BESIDE as u64;
        let weight = if self.adjacency.weights.is_some() { size_of::<f64>() } else { 0 };
        ask(has_memory, ReadMemory::Image(count * (size_of::<VertexId>() + weight) as u64))?;
        match self.adjacency.ranks {
            Some(_) => ask(has_memory, ReadMemory::Values(count * size_of::<u64>() as u64)),
            None => Ok(()),
        }
    }

    /// Refuses more entries than the remaining bytes can contain, because a mere count does not justify a
    /// request for memory. A byte contains the gaps of at most 64 neighbors, or begins a list.
    pub(super) fn check_length(&self, bytes: &Bytes<'_>) -> Result<(), Fault> {
        let most = bytes.remaining().saturating_mul(packed::MINI_BLOCK + 1);
        bytes.require(self.entries as usize <= most, "bytes missing")
    }

    /// Reserves memory for the neighbors of all entries.
    fn reserve(&mut self) -> Result<(), &'static str> {
        let entries = self.entries as usize + packed::DECODED_BESIDE;
        self.adjacency.neighbors.try_reserve_exact(entries).map_err(|_| NO_MEMORY)
    }

    /// Reserves memory for neighbors, weights and ranks, which are read piece by piece.
    fn reserve_all(&mut self) -> Result<(), &'static str> {
        self.reserve()?;
        let (entries, part) = (self.entries as usize, &mut self.adjacency);
        let weights = part.weights.as_mut().map_or(Ok(()), |weights| weights.try_reserve_exact(entries));
        let ranks = part.ranks.as_mut().map_or(Ok(()), |ranks| ranks.try_reserve_exact(entries));
        weights.and(ranks).map_err(|_| NO_MEMORY)
    }

    /// Returns the number of pieces of the part in a cut image.
    pub(super) fn pieces(&self) -> u32 {
        self.entries.div_ceil(self.piece_entries())
    }
}

impl Topology {
    /// Returns the number of pieces that follow the head.
    pub(super) fn pieces(&self) -> u64 {
        if self.is_cut { self.parts.iter().map(|part| u64::from(part.pieces())).sum() } else { 0 }
    }
}

pub(super) fn vertex(subgraph: SubgraphId, local: usize) -> VertexId {
    VertexId((subgraph.0 << 6) | local as u32)
}

/// Returns, for each list with neighbors in `range`, its vertex and these neighbors.
pub(super) fn portions(
    offsets: &[u32; SUBGRAPH_VERTICES + 1],
    range: std::ops::Range<u32>,
) -> impl Iterator<Item = (usize, std::ops::Range<u32>)> {
    let lists = offsets.iter().zip(offsets.iter().skip(1)).enumerate();
    let cut = lists.map(move |(local, (&from, &to))| (local, from.max(range.start)..to.min(range.end)));
    cut.filter(|(_, portion)| !portion.is_empty())
}

/// Reads the next record. The bytes have passed their checksum, but may still be forged. So allocations are
/// in proportion to the bytes: at most 64 neighbors for each byte.
pub(super) fn decode(bytes: &mut Bytes<'_>) -> Result<Topology, Fault> {
    decode_with(bytes, |bytes, subgraph, part| {
        let all = 0..part.entries;
        decode_entries(bytes, subgraph, part, all)
    })
}

/// Like [`decode`], but calls `has_memory` with each part before it takes memory for the part's entries. If
/// that returns false, the result is some fault. [`Topology::reserve_pieces`] asks for the memory of entries
/// that follow in pieces.
pub(super) fn decode_within(
    bytes: &mut Bytes<'_>,
    mut has_memory: impl FnMut(&Part) -> bool,
) -> Result<Topology, Fault> {
    decode_with(bytes, |bytes, subgraph, part| {
        part.check_length(bytes)?;
        bytes.require(has_memory(part), "no memory")?;
        bytes.refuse(part.reserve().err())?;
        let all = 0..part.entries;
        decode_entries(bytes, subgraph, part, all)
    })
}

/// Like [`decode`], but calls `entries` to read the entries of each part whose entries are in the record.
pub(super) fn decode_with(
    bytes: &mut Bytes<'_>,
    mut entries: impl FnMut(&mut Bytes<'_>, SubgraphId, &mut Part) -> Result<(), Fault>,
) -> Result<Topology, Fault> {
    let subgraph = SubgraphId(bytes.u32()?);
    let label = LabelId(bytes.u16()?);
    let kind = bytes.u8()?;
    let parts = bytes.u8()?;
    let as_of = Timestamp(bytes.u64()?);
    let present = bytes.u64()?;
    bytes.require(matches!(kind, WHOLE | CUT | DELTA), "unknown record kind")?;
    let most = if kind == DELTA { 4 } else { 2 };
    bytes.require(parts <= most, "more parts than there are directions")?;
    let id = ImageId { label, subgraph };
    let delta = if kind == DELTA { Some(bytes.u64()?) } else { None };
    let mut topology = Topology { id, as_of, present, is_cut: kind == CUT, delta, parts: Vec::new() };
    let mut operations = 0usize;
    for _ in 0..parts {
        let mut part = decode_part(bytes)?;
        bytes.require(kind == DELTA || !part.is_removed, "removed edges in an image")?;
        operations = operations.saturating_add(part.entries as usize);
        let fits = kind != DELTA || operations <= MOST_OPERATIONS;
        bytes.require(fits, "more operations than a delta may have")?;
        if kind != CUT {
            entries(bytes, subgraph, &mut part)?;
        }
        topology.parts.push(part);
    }
    bytes.require(kind == WHOLE || parts > 0, "a head without neighbors")?;
    Ok(topology)
}

fn decode_part(bytes: &mut Bytes<'_>) -> Result<Part, Fault> {
    let (direction, is_removed) = match bytes.u8()? {
        0 => (Direction::Out, false),
        1 => (Direction::In, false),
        2 => (Direction::Out, true),
        3 => (Direction::In, true),
        _ => return Err(bytes.fault("unknown direction")),
    };
    let width = bytes.u8()?;
    let relative = match bytes.u8()? {
        PACKED => false,
        PACKED_NEAR => true,
        _ => return Err(bytes.fault("unknown neighbor encoding")),
    };
    let flags = bytes.u8()?;
    let entries = bytes.u32()?;
    bytes.require(flags & !(WEIGHTS | RANKS | PROPERTIES) == 0, "unknown part flags")?;
    bytes.require(entries > 0, "part without neighbors")?;
    let adjacency = AdjacencyPart {
        direction,
        offsets: take_degrees(bytes, width, entries)?,
        neighbors: Vec::new(),
        weights: (flags & WEIGHTS != 0).then(Vec::new),
        ranks: (flags & RANKS != 0).then(Vec::new),
        columns: Columns::default(),
    };
    let form = Form { relative, repeats: flags & RANKS != 0 };
    Ok(Part { adjacency, is_removed, has_columns: flags & PROPERTIES != 0, entries, form })
}

/// Reads the neighbors `range` of a part, and appends them to those already read.
fn decode_entries(
    bytes: &mut Bytes<'_>,
    subgraph: SubgraphId,
    part: &mut Part,
    range: std::ops::Range<u32>,
) -> Result<(), Fault> {
    let count = range.len();
    let Part { adjacency, form, .. } = part;
    for (local, portion) in portions(&adjacency.offsets, range) {
        packed::decode_list(bytes, portion.len(), vertex(subgraph, local), *form, &mut adjacency.neighbors)?;
    }
    if let Some(weights) = &mut adjacency.weights {
        put_behind(bytes.array(count, f64::from_le_bytes)?, weights);
    }
    if let Some(ranks) = &mut adjacency.ranks {
        put_behind(bytes.array(count, u64::from_le_bytes)?, ranks);
    }
    Ok(())
}

/// Appends values. Values of a whole part are moved without a copy, because `all` has no memory yet.
fn put_behind<T>(mut values: Vec<T>, all: &mut Vec<T>) {
    if all.capacity() == 0 { *all = values } else { all.append(&mut values) }
}

impl Topology {
    /// Reserves memory for the entries that follow in pieces, after it called `has_memory` with each part.
    /// Returns false if memory is missing. The number of pieces must agree with the directory.
    pub(super) fn reserve_pieces(&mut self, mut has_memory: impl FnMut(&Part) -> bool) -> bool {
        !self.is_cut || self.parts.iter_mut().all(|part| has_memory(part) && part.reserve_all().is_ok())
    }

    /// Adds the next piece, whose payload is `piece`.
    pub(super) fn add_piece(&mut self, piece: &[u8]) -> Result<(), Fault> {
        let mut bytes = Bytes::new(piece);
        let subgraph = self.id.subgraph;
        let open = self.parts.iter_mut().find(|part| part.adjacency.neighbors.len() < part.entries as usize);
        let part = open.ok_or_else(|| bytes.fault("a piece too many"))?;
        let from = part.adjacency.neighbors.len() as u32;
        let to = part.entries.min(from.saturating_add(part.piece_entries()));
        decode_entries(&mut bytes, subgraph, part, from..to)?;
        bytes.require(bytes.is_empty(), "bytes left over in a piece")
    }
}
