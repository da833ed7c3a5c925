//! Reads of one list of an image: the block of its record, and the pieces of the list if the image is cut.
//!
//! Each block takes one read, unless the cache has it; nothing is read ahead. All bytes are verified before
//! they are interpreted. The record is checked to its end, but only the requested list in it is decoded.

use std::ops::Range;
use std::sync::Arc;

use hedgerow_core::assemble::ColumnsBuilder;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{
    Columns, Direction, GraphConfig, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId,
};

use super::block::{Block, BlockKind, HEAD_BYTES};
use super::cache::{Key, ReadCache};
use super::columns;
use super::degrees::degree_mask;
use super::directory::{Directory, Place, PlacedImage};
use super::image::{AdjacencyPart, check_order, check_part};
use super::read_memory::{HasMemory, ReadMemory, ask};
use super::source::Source;
use super::topology::{self, Part, Topology, portions, vertex};
use super::window::has_room_for;
use crate::TierError;
use crate::bytes::{Bytes, Fault, whole};
use crate::id::ImageId;
use crate::packed::{decode_list, skip_list};

/// A query for one vertex of an image.
#[derive(Clone, Copy, Debug)]
pub struct ListQuery {
    /// The image.
    pub image: ImageId,
    /// The vertex of the image.
    pub local: LocalVertex,
    /// The direction: the neighbors are destinations or sources.
    pub direction: Direction,
    /// The requested information about the list.
    pub extent: Extent,
    /// True if properties of the edges are requested too.
    pub rows: bool,
}

/// The requested information about a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Only whether the vertex is live. The directory is enough for this.
    Vertex,
    /// Only the length of the list. The head of the record is enough for this.
    Degree,
    /// All edges to one neighbor, and other edges in the same pieces. Bisection finds these pieces.
    Near(VertexId),
    /// The whole list.
    Whole,
}

/// The content of an image for one vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListImage {
    /// The mask of the image: its live vertices. In another label than the default one: its vertices with
    /// neighbors.
    pub present: u64,
    /// The length of the list; 0 if the query was for the vertex only.
    pub degree: u32,
    /// The list, or its requested stretch, in a part without other lists; `None` if it is empty.
    pub part: Option<AdjacencyPart>,
}

/// A reader of lists of one image of a page, or of a delta.
pub(super) struct ListReader<'a> {
    pub(super) source: &'a Source,
    pub(super) config: &'a GraphConfig,
    pub(super) directory: &'a Directory,
    pub(super) placed: &'a PlacedImage,
    pub(super) cache: &'a ReadCache,
}

/// A stretch of one list.
#[derive(Debug, Default)]
struct Stretch {
    /// The index of its first neighbor in the part.
    begin: u32,
    neighbors: Vec<VertexId>,
    weights: Vec<f64>,
    ranks: Vec<u64>,
}

/// A part of a cut image, with the position of its pieces.
struct Cut<'a> {
    part: &'a Part,
    /// The number of the block of its first piece.
    first: usize,
}

impl ListReader<'_> {
    /// Reads the list of an image. Calls `has_memory` before it takes memory for a block or for the list.
    pub(super) fn image(&self, query: &ListQuery, has_memory: HasMemory<'_>) -> Result<ListImage, TierError> {
        let present = self.placed.entry.present;
        let mut found = ListImage { present, ..ListImage::default() };
        if present & query.local.bit() == 0 || query.extent == Extent::Vertex {
            return Ok(found);
        }
        let mut stretch = Stretch::default();
        ask(has_memory, ReadMemory::Buffers(self.placed.largest_block(&self.directory.positions)))?;
        let topology = self.head(query, &mut stretch, has_memory)?;
        let Some(nth) = topology.parts.iter().position(|part| part.adjacency.direction == query.direction)
        else {
            return Ok(found);
        };
        let (before, from) = topology.parts.split_at(nth);
        let Some(part) = from.first() else { return Ok(found) };
        let list = range_of(part, query.local.index());
        found.degree = list.len() as u32;
        if list.is_empty() || query.extent == Extent::Degree {
            return Ok(found);
        }
        if topology.is_cut {
            let pieces = before.iter().fold(0usize, |sum, part| sum + part.pieces() as usize);
            let cut = Cut { part, first: self.placed.topology.block + 1 + pieces };
            let most = if query.extent == Extent::Whole { u32::MAX } else { 2 * part.piece_entries() };
            part.ask_for(found.degree.min(most), has_memory)?;
            stretch = self.stretch(&cut, query, list)?;
        }
        let columns = if query.rows && part.has_columns {
            ask(has_memory, ReadMemory::Values(self.bytes_of_columns(part, &stretch)))?;
            self.columns(&topology, nth, &stretch)?
        } else {
            Columns::default()
        };
        found.part = self.part_of(part, query, stretch, columns)?;
        Ok(found)
    }

    /// Returns the memory for the properties of a stretch during the read: the record, its decoded content,
    /// and a copy of the stretch's rows.
    fn bytes_of_columns(&self, part: &Part, stretch: &Stretch) -> u64 {
        let record = self.placed.columns.len;
        let share = record / u64::from(part.entries.max(1)) * (stretch.neighbors.len() as u64 + 1);
        record.saturating_mul(2).saturating_add(share.min(record))
    }

    /// Returns the record, or the head of a cut image. If the record is whole, puts the list into `stretch`.
    fn head(
        &self,
        query: &ListQuery,
        stretch: &mut Stretch,
        has_memory: HasMemory<'_>,
    ) -> Result<Topology, TierError> {
        let (place, entry) = (self.placed.topology, &self.placed.entry);
        let block = self.block(place.block, BlockKind::Topology)?;
        let record = self.record_in(&block);
        let mut refused = None;
        let decoded = whole(record, |bytes| {
            let topology = topology::decode_with(bytes, |bytes, subgraph, part| {
                let is_it = part.adjacency.direction == query.direction;
                if is_it {
                    part.check_length(bytes)?;
                    let len = range_of(part, query.local.index()).len() as u32;
                    let asked = part.ask_for(len, has_memory).map_err(|error| refused = Some(error));
                    bytes.require(asked.is_ok(), "no memory")?;
                }
                let local = is_it.then_some(query.local.index());
                take_stretch(bytes, subgraph, part, 0..part.entries, local, stretch)
            })?;
            bytes.refuse(topology.differs_from(query.image, entry))?;
            bytes.refuse(self.fault(&topology))?;
            Ok(topology)
        });
        refused.map_or(Ok(()), Err)?;
        decoded.map_err(|fault| self.error(place, fault))
    }

    /// Returns a rule that the head breaks; does not check its lists.
    fn fault(&self, topology: &Topology) -> Option<&'static str> {
        let parts = || topology.parts.iter().map(|part| &part.adjacency);
        let outgoing = topology.parts.iter().filter(|part| part.adjacency.direction == Direction::Out);
        let edges: u64 = outgoing.map(|part| u64::from(part.entries)).sum();
        if edges != self.placed.entry.edges || topology.needs_columns() != (self.placed.columns.len > 0) {
            return Some("image differs from the directory");
        }
        let with_neighbors = parts().fold(0, |mask, part| mask | degree_mask(&part.offsets));
        if topology.present & with_neighbors != with_neighbors {
            return Some("neighbors of a vertex that is not live");
        }
        if topology.id.label != LabelId::DEFAULT && topology.present != with_neighbors {
            return Some("vertices without neighbors in the image of a label");
        }
        check_order(parts().map(|part| part.direction))
    }

    /// Returns the requested stretch of one list of a part that is divided into pieces; `list` is the range
    /// of the list's neighbors within the part.
    fn stretch(&self, cut: &Cut<'_>, query: &ListQuery, list: Range<u32>) -> Result<Stretch, TierError> {
        let (local, step) = (query.local.index(), cut.part.piece_entries());
        let pieces = list.start / step..list.end.div_ceil(step);
        let Extent::Near(dst) = query.extent else {
            let mut all = Stretch::default();
            pieces.into_iter().try_for_each(|piece| self.piece(cut, piece, local, &mut all))?;
            return Ok(all);
        };
        // Finds the first piece that does not end before `dst`.
        let repeats = cut.part.form.repeats;
        let (mut low, mut high, mut found) = (pieces.start, pieces.end, Stretch::default());
        while low < high {
            let middle = low + (high - low) / 2;
            let mut stretch = Stretch::default();
            self.piece(cut, middle, local, &mut stretch)?;
            if stretch.neighbors.last().is_some_and(|last| *last < dst) {
                low = middle + 1;
                continue;
            }
            let first = stretch.neighbors.first().copied();
            found = stretch;
            if first.is_some_and(|first| first < dst || (first == dst && !repeats)) {
                low = middle;
                break;
            }
            high = middle;
        }
        // With ranks, edges to one neighbor may continue in the next pieces.
        let mut next = low + 1;
        while repeats && next < pieces.end && found.neighbors.last() == Some(&dst) {
            self.piece(cut, next, local, &mut found)?;
            next += 1;
        }
        Ok(found)
    }

    /// Appends the neighbors of a vertex that are in one piece.
    fn piece(&self, cut: &Cut<'_>, piece: u32, local: usize, stretch: &mut Stretch) -> Result<(), TierError> {
        let (part, step) = (cut.part, cut.part.piece_entries());
        let number = cut.first.saturating_add(piece as usize);
        let block = self.block(number, BlockKind::Piece)?;
        let begin = piece.saturating_mul(step);
        let range = begin..part.entries.min(begin.saturating_add(step));
        let subgraph = self.placed.entry.subgraph;
        let taken =
            whole(block.payload(), |bytes| take_stretch(bytes, subgraph, part, range, Some(local), stretch));
        taken.map_err(|fault| self.error(Place { block: number, offset: 0, len: 0 }, fault))
    }

    /// Reads the record of all properties of the image. Returns the properties of a stretch of part number
    /// `nth`.
    fn columns(&self, topology: &Topology, nth: usize, stretch: &Stretch) -> Result<Columns, TierError> {
        let place = self.placed.columns;
        let record = self.gathered(place)?;
        let decoded = whole(&record, |bytes| {
            let subgraph = bytes.u32()?;
            bytes.require(subgraph == topology.id.subgraph.0, "properties of another subgraph")?;
            let mut found = Columns::default();
            for (at, part) in topology.parts.iter().enumerate().filter(|(_, part)| part.has_columns) {
                let columns = columns::decode(bytes, part.entries as usize)?;
                if at == nth {
                    let (begin, len) = (stretch.begin as usize, stretch.neighbors.len());
                    let mut wanted = ColumnsBuilder::new(&columns, len);
                    wanted.copy(begin..begin + len);
                    found = wanted.finish();
                }
            }
            Ok(found)
        });
        decoded.map_err(|fault| self.error(place, fault))
    }

    /// Returns the record of properties, joined from its blocks.
    fn gathered(&self, place: Place) -> Result<Vec<u8>, TierError> {
        let missing = || self.error(place, Fault { position: 0, what: "record beyond its blocks" });
        let len = usize::try_from(place.len).map_err(|_| missing())?;
        let (mut record, mut number, mut offset) = (Vec::new(), place.block, place.offset);
        while record.len() < len {
            let block = self.block(number, BlockKind::Columns)?;
            let rest = block.payload().get(offset..).unwrap_or(&[]);
            let taken = rest.get(..rest.len().min(len - record.len())).unwrap_or(&[]);
            let missed = len - record.len();
            if taken.is_empty() || !has_room_for(&mut record, taken.len(), missed) {
                return Err(missing());
            }
            record.extend_from_slice(taken);
            (number, offset) = (number + 1, 0);
        }
        Ok(record)
    }

    /// Returns the stretch in a part without other lists, if it breaks no rule.
    fn part_of(
        &self,
        part: &Part,
        query: &ListQuery,
        stretch: Stretch,
        columns: Columns,
    ) -> Result<Option<AdjacencyPart>, TierError> {
        if stretch.neighbors.is_empty() {
            return Ok(None);
        }
        let Part { adjacency, .. } = part;
        let mut offsets = [0; SUBGRAPH_VERTICES + 1];
        let behind = offsets.iter_mut().skip(query.local.index() + 1);
        behind.for_each(|offset| *offset = stretch.neighbors.len() as u32);
        let found = AdjacencyPart {
            direction: adjacency.direction,
            offsets,
            neighbors: stretch.neighbors,
            weights: adjacency.weights.is_some().then_some(stretch.weights),
            ranks: adjacency.ranks.is_some().then_some(stretch.ranks),
            columns,
        };
        match check_part(&found.as_ref(), self.placed.entry.present, self.config) {
            None => Ok(Some(found)),
            Some(what) => Err(self.error(self.placed.topology, Fault { position: 0, what })),
        }
    }

    /// Returns a block, which must be of `kind`: from the cache, or from the file after verification.
    pub(super) fn block(&self, number: usize, kind: BlockKind) -> Result<Arc<Block>, TierError> {
        let range = self.directory.range_of_block(number);
        let Some(Range { start, end }) = range else {
            return Err(self.source.invalid(0, "block beyond its page"));
        };
        let key = Key { file: self.source.file_id, at: start };
        let block = match self.cache.block(key) {
            Some(block) => block,
            None => {
                let raw = self.source.read_region(start, end - start)?;
                if faults::is_on(PlantedFault::BlockCachedUnverified) {
                    self.cache.keep_block(key, &Arc::new(Block::unverified(kind, raw.clone())));
                }
                let block = Arc::new(Block::verified(self.source, start, raw)?);
                self.cache.keep_block(key, &block);
                block
            }
        };
        if block.kind() == kind {
            Ok(block)
        } else {
            Err(self.source.invalid(start, "block of another kind"))
        }
    }

    pub(super) fn error(&self, place: Place, fault: Fault) -> TierError {
        let block = self.directory.range_of_block(place.block).map_or(0, |range| range.start);
        let offset = (HEAD_BYTES + place.offset + fault.position) as u64;
        self.source.invalid(block.saturating_add(offset), fault.what)
    }
}

/// Returns the range of a vertex's neighbors in its part.
fn range_of(part: &Part, local: usize) -> Range<u32> {
    let at = |i: usize| part.adjacency.offsets.get(i).copied().unwrap_or(0);
    at(local)..at(local + 1)
}

/// Decodes the neighbors `range` of a part, and appends the neighbors of the vertex `local` to `stretch`.
fn take_stretch(
    bytes: &mut Bytes<'_>,
    subgraph: SubgraphId,
    part: &Part,
    range: Range<u32>,
    local: Option<usize>,
    stretch: &mut Stretch,
) -> Result<(), Fault> {
    let mut taken = range.start..range.start;
    for (at, portion) in portions(&part.adjacency.offsets, range.clone()) {
        if Some(at) == local {
            if stretch.neighbors.is_empty() {
                stretch.begin = portion.start;
            }
            decode_list(bytes, portion.len(), vertex(subgraph, at), part.form, &mut stretch.neighbors)?;
            taken = portion;
        } else {
            skip_list(bytes, portion.len())?;
        }
    }
    let taken = (taken.start - range.start) as usize..(taken.end - range.start) as usize;
    if part.adjacency.weights.is_some() {
        stretch.weights.append(&mut some_of(bytes, range.len(), taken.clone(), f64::from_le_bytes)?);
    }
    if part.adjacency.ranks.is_some() {
        stretch.ranks.append(&mut some_of(bytes, range.len(), taken, u64::from_le_bytes)?);
    }
    Ok(())
}

/// Reads `count` values of 8 bytes, and returns the values in the range `wanted`.
fn some_of<T>(
    bytes: &mut Bytes<'_>,
    count: usize,
    wanted: Range<usize>,
    value: impl Fn([u8; 8]) -> T,
) -> Result<Vec<T>, Fault> {
    let skip = |bytes: &mut Bytes<'_>, values: usize| {
        let len = values.checked_mul(8).ok_or_else(|| bytes.fault("length overflows"))?;
        bytes.take(len).map(drop)
    };
    skip(bytes, wanted.start)?;
    let found = bytes.array(wanted.len(), value)?;
    skip(bytes, count.saturating_sub(wanted.end))?;
    Ok(found)
}
