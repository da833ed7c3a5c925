//! The directory of a page: the positions and lengths of the records of its images.
//!
//! It stores only lengths. Records are adjacent, and so are blocks: so positions are sums of lengths. A
//! directory whose lengths do not fill its blocks exactly is damaged.

use std::ops::Range;

use hedgerow_core::{LabelId, SubgraphId, Timestamp, VertexId};

use super::block::{BLOCK_OVERHEAD, HEAD_BYTES, MOST_PAYLOAD};
use super::top::PageEntry;
use super::topology;
use crate::bytes::{Bytes, Fault};
use crate::id::{ImageId, PAGE_SUBGRAPHS};

/// Flags of a directory in which some subgraphs have keys, properties or pieces. Without a flag the directory
/// lacks the column of these lengths. With the fourth flag some records are deltas.
const WITH_KEYS: u8 = 1;
const WITH_COLUMNS: u8 = 2;
const WITH_PIECES: u8 = 4;
const WITH_DELTAS: u8 = 8;

/// An entry of a directory: the lengths in bytes of the records of one image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImageEntry {
    pub(super) subgraph: SubgraphId,
    pub(super) as_of: Timestamp,
    pub(super) present: u64,
    /// The number of outgoing neighbors.
    pub(super) edges: u64,
    /// The length of the record of its neighbors, or of the head if the neighbors follow in pieces.
    pub(super) topology: u16,
    /// The length of the record of its keys; 0 for none.
    pub(super) keys: u32,
    /// The length of the record of its properties; 0 for none.
    pub(super) columns: u64,
    /// The number of pieces that follow the head.
    pub(super) pieces: u32,
    /// The number of outgoing neighbors of the subgraph after the operations of a delta; `None` for an image.
    pub(super) delta: Option<u64>,
}

/// The place of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) block: usize,
    pub(super) offset: usize,
    pub(super) len: u64,
}

/// An image of the page, and the places of its records.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedImage {
    pub(super) entry: ImageEntry,
    pub(super) topology: Place,
    pub(super) keys: Place,
    pub(super) columns: Place,
}

/// A verified directory.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) label: LabelId,
    /// The position of each block in the file; the last element is the end of the page's last block.
    pub(super) positions: Vec<u64>,
    pub(super) images: Vec<PlacedImage>,
}

impl ImageEntry {
    /// Returns the number of live vertices of an image in `label`; 0 for a delta, which adds none.
    pub(super) fn vertices(&self, label: LabelId) -> u32 {
        let has_vertices = label == LabelId::DEFAULT && self.delta.is_none();
        if has_vertices { self.present.count_ones() } else { 0 }
    }
}

impl Directory {
    /// Returns the image with the places of its records, if the page has it.
    pub(super) fn find(&self, id: ImageId) -> Option<&PlacedImage> {
        let at = self.images.binary_search_by_key(&id.subgraph, |placed| placed.entry.subgraph).ok()?;
        self.images.get(at).filter(|_| id.label == self.label)
    }

    /// Returns the range of block `number` in the file.
    pub(super) fn range_of_block(&self, number: usize) -> Option<Range<u64>> {
        Some(*self.positions.get(number)?..*self.positions.get(number.checked_add(1)?)?)
    }

    /// Returns the number of the first block after the record at `place`.
    pub(super) fn end_of(&self, place: Place) -> usize {
        let at = |block: usize| self.positions.get(block).copied();
        let begin = at(place.block).unwrap_or(0);
        let whole = begin.saturating_add(HEAD_BYTES as u64 + place.offset as u64).saturating_add(place.len);
        let mut end = place.block.saturating_add(1);
        while at(end).is_some_and(|after| after < whole) {
            end += 1;
        }
        end
    }

    /// Returns the directory's bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let images = self.images.capacity() * size_of::<PlacedImage>();
        size_of::<Directory>() + self.positions.capacity() * size_of::<u64>() + images
    }
}

impl PlacedImage {
    pub(super) fn id(&self, label: LabelId) -> ImageId {
        ImageId { label, subgraph: self.entry.subgraph }
    }

    /// Returns an upper bound for the blocks that contain the image's neighbors or a piece of them.
    pub(super) fn largest_block(&self, positions: &[u64]) -> u64 {
        let at = |block: usize| positions.get(block).copied().unwrap_or(0);
        let first = at(self.topology.block.saturating_add(1)).saturating_sub(at(self.topology.block));
        if self.entry.pieces == 0 { first } else { first.max((MOST_PAYLOAD + BLOCK_OVERHEAD) as u64) }
    }

    /// Returns the bytes of the image's records; for pieces, the bytes of their whole blocks.
    pub(super) fn bytes(&self, positions: &[u64]) -> u64 {
        let after = self.topology.block.saturating_add(1);
        let end = after.saturating_add(self.entry.pieces as usize);
        let at = |block: usize| positions.get(block).copied().unwrap_or(0);
        let pieces = if self.entry.pieces == 0 { 0 } else { at(end).saturating_sub(at(after)) };
        u64::from(self.entry.topology) + u64::from(self.entry.keys) + self.entry.columns + pieces
    }
}

/// Appends the directory of a page whose blocks have payloads of these lengths.
pub(super) fn encode(blocks: &[u16], images: &[ImageEntry], out: &mut Vec<u8>) {
    let mask = images.iter().fold(0u64, |mask, image| mask | 1 << (image.subgraph.0 % PAGE_SUBGRAPHS));
    let any = |has: fn(&ImageEntry) -> bool, flag: u8| if images.iter().any(has) { flag } else { 0 };
    let flags = any(|image| image.keys > 0, WITH_KEYS)
        | any(|image| image.columns > 0, WITH_COLUMNS)
        | any(|image| image.pieces > 0, WITH_PIECES)
        | any(|image| image.delta.is_some(), WITH_DELTAS);
    out.extend(mask.to_le_bytes());
    out.extend((blocks.len() as u32).to_le_bytes());
    out.extend([flags, 0, 0, 0]);
    out.extend(blocks.iter().flat_map(|len| len.to_le_bytes()));
    if flags & WITH_DELTAS != 0 {
        let deltas = images.iter().filter(|image| image.delta.is_some());
        let mask = deltas.fold(0u64, |mask, image| mask | 1 << (image.subgraph.0 % PAGE_SUBGRAPHS));
        out.extend(mask.to_le_bytes());
    }
    for image in images {
        out.extend(image.as_of.0.to_le_bytes());
        out.extend(image.present.to_le_bytes());
        out.extend(image.edges.to_le_bytes().iter().take(6));
        out.extend(image.topology.to_le_bytes());
        if flags & WITH_KEYS != 0 {
            out.extend(image.keys.to_le_bytes());
        }
        if flags & WITH_COLUMNS != 0 {
            out.extend(image.columns.to_le_bytes().iter().take(6));
        }
        if flags & WITH_PIECES != 0 {
            out.extend(image.pieces.to_le_bytes());
        }
        if let Some(edges) = image.delta {
            out.extend(edges.to_le_bytes().iter().take(6));
        }
    }
}

/// Reads the directory of `page`, whose checksum was verified and whose blocks must fill the file up to
/// `end`.
pub(super) fn decode(raw: &[u8], page: &PageEntry, end: u64) -> Result<Directory, Fault> {
    let mut bytes = Bytes::new(raw);
    let mask = bytes.u64()?;
    let blocks = bytes.u32()? as usize;
    let [flags, reserved @ ..] = bytes.fixed::<4>()?;
    let known = WITH_KEYS | WITH_COLUMNS | WITH_PIECES | WITH_DELTAS;
    bytes.require(flags & !known == 0, "unknown directory flags")?;
    bytes.require(reserved == [0; 3], "reserved directory bytes in use")?;
    bytes.require(mask.count_ones() == u32::from(page.images), "image count differs from the top index")?;
    let lens = bytes.array(blocks, u16::from_le_bytes)?;
    let deltas = if flags & WITH_DELTAS != 0 { bytes.u64()? } else { 0 };
    let fits = deltas & !mask == 0 && deltas.count_ones() == u32::from(page.deltas);
    bytes.require(fits, "other deltas than the top index states")?;
    bytes.require((deltas == 0) == (flags & WITH_DELTAS == 0), "a mask of no deltas")?;
    let positions =
        positions(&lens, page.blocks, end).ok_or_else(|| bytes.fault("blocks that do not fill the page"))?;
    let mut walk = Walk { lens: &lens, block: 0, offset: 0 };
    let mut images = Vec::with_capacity(mask.count_ones() as usize);
    for place in (0..PAGE_SUBGRAPHS).filter(|place| mask >> place & 1 == 1) {
        let subgraph = SubgraphId(page.id.page * PAGE_SUBGRAPHS + place);
        let entry = decode_entry(&mut bytes, subgraph, flags, deltas >> place & 1 == 1)?;
        let topology = walk.take(u64::from(entry.topology));
        let pieces = walk.pass(entry.pieces);
        let placed = topology
            .filter(|_| pieces)
            .ok_or_else(|| bytes.fault("records that do not fill their blocks"))?;
        let none = Place { block: 0, offset: 0, len: 0 };
        images.push(PlacedImage { entry, topology: placed, keys: none, columns: none });
    }
    bytes.require(bytes.is_empty(), "bytes left over in a directory")?;
    let placed = place_rest(&mut walk, &mut images).filter(|()| walk.is_at_end());
    placed.ok_or_else(|| bytes.fault("records that do not fill their blocks"))?;
    check_sums(&bytes, page, &images)?;
    Ok(Directory { label: page.id.label, positions, images })
}

fn decode_entry(
    bytes: &mut Bytes<'_>,
    subgraph: SubgraphId,
    flags: u8,
    is_delta: bool,
) -> Result<ImageEntry, Fault> {
    let as_of = Timestamp(bytes.u64()?);
    let present = bytes.u64()?;
    let edges = six_bytes(bytes)?;
    let topology = bytes.u16()?;
    let keys = if flags & WITH_KEYS != 0 { bytes.u32()? } else { 0 };
    let columns = if flags & WITH_COLUMNS != 0 { six_bytes(bytes)? } else { 0 };
    let pieces = if flags & WITH_PIECES != 0 { bytes.u32()? } else { 0 };
    let delta = if is_delta { Some(six_bytes(bytes)?) } else { None };
    let is_alone = keys == 0 && columns == 0 && pieces == 0;
    bytes.require(!is_delta || is_alone, "keys, properties or pieces of a delta")?;
    let fits = (topology::HEAD_BYTES..=MOST_PAYLOAD).contains(&usize::from(topology));
    bytes.require(fits, "length of a record out of range")?;
    bytes.require(subgraph <= VertexId::MAX.subgraph(), "subgraph id out of range")?;
    Ok(ImageEntry { subgraph, as_of, present, edges, topology, keys, columns, pieces, delta })
}

fn six_bytes(bytes: &mut Bytes<'_>) -> Result<u64, Fault> {
    let [a, b, c, d, e, f] = bytes.fixed::<6>()?;
    Ok(u64::from_le_bytes([a, b, c, d, e, f, 0, 0]))
}

/// Returns the position of each block and the end of the last one; `None` if the last one does not end at
/// `end`.
fn positions(lens: &[u16], begin: u64, end: u64) -> Option<Vec<u64>> {
    let mut positions = Vec::with_capacity(lens.len() + 1);
    let mut at = begin;
    positions.push(at);
    for &len in lens {
        let payload = usize::from(len);
        if !(1..=MOST_PAYLOAD).contains(&payload) {
            return None;
        }
        at = at.checked_add((payload + BLOCK_OVERHEAD) as u64)?;
        positions.push(at);
    }
    (at == end).then_some(positions)
}

/// Computes the places of the records of keys and properties. In a page the records of all neighbors are
/// first, then all keys, then all properties.
fn place_rest(walk: &mut Walk<'_>, images: &mut [PlacedImage]) -> Option<()> {
    walk.close()?;
    for image in images.iter_mut().filter(|image| image.entry.keys > 0) {
        image.keys = walk.take(u64::from(image.entry.keys))?;
    }
    walk.close()?;
    for image in images.iter_mut().filter(|image| image.entry.columns > 0) {
        image.columns = walk.take(image.entry.columns)?;
    }
    walk.close()
}

fn check_sums(bytes: &Bytes<'_>, page: &PageEntry, images: &[PlacedImage]) -> Result<(), Fault> {
    let edges = images.iter().try_fold(0u64, |sum, image| sum.checked_add(image.entry.edges));
    let newest = images.iter().map(|image| image.entry.as_of).max().unwrap_or(Timestamp::ZERO);
    let vertices: u32 = images.iter().map(|image| image.entry.vertices(page.id.label)).sum();
    let fits = edges == Some(page.edges) && newest == page.as_of && vertices == page.vertices;
    bytes.require(fits, "counts of directory and top index differ")
}

/// A walk through the blocks of a page, record by record.
struct Walk<'a> {
    lens: &'a [u16],
    block: usize,
    offset: usize,
}

impl Walk<'_> {
    fn len(&self) -> Option<usize> {
        self.lens.get(self.block).map(|&len| usize::from(len))
    }

    /// Takes a record of `len` bytes: it is within a block, or fills several blocks alone. Returns its place.
    fn take(&mut self, len: u64) -> Option<Place> {
        let place = Place { block: self.block, offset: self.offset, len };
        let mut rest = usize::try_from(len).ok()?;
        if rest <= MOST_PAYLOAD {
            self.step(rest)?;
            return Some(place);
        }
        if self.offset != 0 {
            return None;
        }
        while rest > 0 {
            let now = rest.min(MOST_PAYLOAD);
            if self.len()? != now {
                return None;
            }
            self.step(now)?;
            rest -= now;
        }
        Some(place)
    }

    fn step(&mut self, len: usize) -> Option<()> {
        let end = self.offset.checked_add(len)?;
        let block = self.len()?;
        match end.cmp(&block) {
            std::cmp::Ordering::Less => self.offset = end,
            std::cmp::Ordering::Equal => (self.block, self.offset) = (self.block + 1, 0),
            std::cmp::Ordering::Greater => return None,
        }
        Some(())
    }

    /// Skips `pieces` blocks; false if the walk is not at the beginning of a block.
    fn pass(&mut self, pieces: u32) -> bool {
        if pieces > 0 {
            self.block = self.block.saturating_add(pieces as usize);
        }
        (pieces == 0 || self.offset == 0) && self.block <= self.lens.len()
    }

    /// Checks that a block ends here: a new kind of records begins a new block.
    fn close(&self) -> Option<()> {
        (self.offset == 0).then_some(())
    }

    fn is_at_end(&self) -> bool {
        self.block == self.lens.len() && self.offset == 0
    }
}
