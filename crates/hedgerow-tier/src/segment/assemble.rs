//! Assembly of the images of a page from their records.

use std::sync::Arc;

use hedgerow_core::{GraphConfig, LabelId, SUBGRAPH_VERTICES, VertexKey};

use super::block::BlockKind;
use super::columns;
use super::delta::{DeltaRef, SubgraphDelta, SubgraphRecord};
use super::directory::{Directory, ImageEntry, Place, PlacedImage};
use super::image::{AdjacencyPart, ImageKeys, SubgraphImage, needs_keys, no_keys};
use super::key_records::KeyRecords;
use super::read_memory::{HasMemory, ReadMemory, ask, gathered_bytes};
use super::source::Source;
use super::topology::{self, Part, Topology};
use super::window::Window;
use crate::TierError;
use crate::bytes::{Bytes, Fault, whole};
use crate::id::ImageId;

/// The memory of a subgraph's keys without their texts: for each vertex the key, the reference to its text
/// until all keys are read, and two counts of the text.
const KEYS_BYTES: u64 =
    (SUBGRAPH_VERTICES * (size_of::<VertexKey>() + size_of::<Arc<str>>() + 2 * size_of::<usize>())) as u64;

/// A reader of images of one page. If images are read in order, it reads each block once, several blocks at a
/// time.
#[derive(Debug)]
pub(super) struct PageImages<'a> {
    label: LabelId,
    config: &'a GraphConfig,
    topology: Window<'a>,
    keys: KeyRecords<'a>,
    columns: Window<'a>,
}

impl<'a> PageImages<'a> {
    /// Makes a reader that reads up to 512 KiB at a time, only from the blocks of image number `first` of the
    /// directory to number `last`.
    pub(super) fn new(
        source: &'a Source,
        directory: &'a Directory,
        config: &'a GraphConfig,
        (first, last): (usize, usize),
    ) -> Self {
        let images = directory.images.get(first..=last).unwrap_or(&[]);
        let until = |place: fn(&PlacedImage) -> Place| {
            let last = images.iter().map(place).rfind(|place| place.len > 0);
            last.map_or(0, |place| directory.end_of(place))
        };
        let pieces = images.last().map_or(0, |image| image.entry.pieces as usize);
        let topology = until(|image| image.topology).saturating_add(pieces);
        let windows = [topology, until(|image| image.keys), until(|image| image.columns)];
        PageImages::with_windows(source, directory, config, windows)
    }

    /// Returns the bytes of buffers for images that are read in this order: for each kind of record, the
    /// blocks from the first image on, and the longest record. If blocks are read one by one, only the
    /// largest block counts.
    pub(super) fn buffer_bytes<'d>(
        &self,
        directory: &Directory,
        images: impl Iterator<Item = &'d PlacedImage> + Clone,
    ) -> u64 {
        let begin = |place: fn(&PlacedImage) -> Place| {
            images.clone().map(place).find(|place| place.len > 0).map(|place| place.block)
        };
        let gathered = |place: fn(&PlacedImage) -> Place| {
            images.clone().map(|image| gathered_bytes(place(image).len)).max().unwrap_or(0)
        };
        let topology = begin(|image| image.topology).map_or(0, |block| self.topology.buffer_bytes(block));
        let largest = images.clone().map(|image| image.largest_block(&directory.positions)).max();
        let keys = begin(|image| image.keys).map_or(0, |block| self.keys.buffer_bytes(block));
        let columns = begin(|image| image.columns).map_or(0, |block| self.columns.buffer_bytes(block));
        let records = gathered(|image| image.keys) + gathered(|image| image.columns);
        topology.max(largest.unwrap_or(0)) + keys + columns + records
    }

    /// Makes a reader that reads each block alone, so that an unreadable block costs only the images in it.
    pub(super) fn block_by_block(
        source: &'a Source,
        directory: &'a Directory,
        config: &'a GraphConfig,
    ) -> Self {
        PageImages::with_windows(source, directory, config, [0; 3])
    }

    fn with_windows(
        source: &'a Source,
        directory: &'a Directory,
        config: &'a GraphConfig,
        until: [usize; 3],
    ) -> Self {
        let [topology, keys, columns] = until.map(|until| Window::new(source, &directory.positions, until));
        PageImages { label: directory.label, config, topology, keys: KeyRecords::new(keys), columns }
    }

    /// Reads one record: its neighbors with pieces, its keys, its properties.
    pub(super) fn read(&mut self, placed: &PlacedImage) -> Result<SubgraphRecord, TierError> {
        self.read_within(placed, &mut |_| true)
    }

    /// Like [`read`](Self::read), but calls `has_memory` before it takes memory.
    pub(super) fn read_within(
        &mut self,
        placed: &PlacedImage,
        has_memory: HasMemory<'_>,
    ) -> Result<SubgraphRecord, TierError> {
        ask(has_memory, ReadMemory::Values(bytes_beside_lists(placed)))?;
        let mut topology = self.read_topology(placed, has_memory)?;
        let keys = self.keys.read(placed)?;
        if placed.columns.len > 0 {
            let record = self.columns.record(placed.columns, BlockKind::Columns)?;
            let done = whole(record, |bytes| decode_columns(bytes, &mut topology));
            done.map_err(|fault| self.columns.error(placed.columns, fault))?;
        }
        let needs_columns = topology.needs_columns();
        let record = finish(topology, keys, self.config).and_then(|record| {
            let fits = record.entries() == placed.entry.edges && needs_columns == (placed.columns.len > 0);
            if fits { Ok(record) } else { Err("image differs from the directory") }
        });
        record.map_err(|what| self.topology.error(placed.topology, Fault { position: 0, what }))
    }

    fn read_topology(
        &mut self,
        placed: &PlacedImage,
        has_memory: HasMemory<'_>,
    ) -> Result<Topology, TierError> {
        let (place, entry) = (placed.topology, &placed.entry);
        let expected = placed.id(self.label);
        let record = self.topology.record(place, BlockKind::Topology)?;
        let mut refused = None;
        let mut has = |part: &Part| part.ask(has_memory).map_err(|error| refused = Some(error)).is_ok();
        let decoded = whole(record, |bytes| {
            let mut topology = topology::decode_within(bytes, &mut has)?;
            bytes.refuse(topology.differs_from(expected, entry))?;
            bytes.require(topology.reserve_pieces(&mut has), topology::NO_MEMORY)?;
            Ok(topology)
        });
        if let Some(error) = refused {
            return Err(error);
        }
        let mut topology = decoded.map_err(|fault| self.topology.error(place, fault))?;
        for number in (place.block + 1..).take(entry.pieces as usize) {
            let piece = self.topology.payload(number, BlockKind::Piece)?;
            let added = topology.add_piece(piece);
            added.map_err(|fault| self.topology.error(Place { block: number, offset: 0, len: 0 }, fault))?;
        }
        Ok(topology)
    }
}

/// Returns an upper bound for the memory of an image's keys and properties. A key takes the bytes of its text
/// and of the structures that refer to it; properties take no more than their record.
fn bytes_beside_lists(placed: &PlacedImage) -> u64 {
    let keys = if placed.keys.len > 0 { placed.keys.len.saturating_add(KEYS_BYTES) } else { 0 };
    keys.saturating_add(placed.columns.len)
}

/// Reads the properties of those parts of `topology` that have properties.
pub(super) fn decode_columns(bytes: &mut Bytes<'_>, topology: &mut Topology) -> Result<(), Fault> {
    let subgraph = bytes.u32()?;
    bytes.require(subgraph == topology.id.subgraph.0, "properties of another subgraph")?;
    for part in topology.parts.iter_mut().filter(|part| part.has_columns) {
        part.adjacency.columns = columns::decode(bytes, part.adjacency.neighbors.len())?;
    }
    Ok(())
}

impl Topology {
    /// Returns a difference between the record of the image `id` and its entry in the directory, if they
    /// differ.
    pub(super) fn differs_from(&self, id: ImageId, entry: &ImageEntry) -> Option<&'static str> {
        if (self.id, self.as_of, self.present) != (id, entry.as_of, entry.present) {
            return Some("record differs from the directory");
        }
        if self.delta != entry.delta {
            return Some("record of another kind than the directory states");
        }
        let fits = self.pieces() == u64::from(entry.pieces);
        (!fits).then_some("number of pieces differs from the directory")
    }

    /// True if the keys of the image's vertices are stored in a record.
    pub(super) fn needs_keys(&self, config: &GraphConfig) -> bool {
        self.delta.is_none() && needs_keys(self.id.label, self.present, config)
    }

    pub(super) fn needs_columns(&self) -> bool {
        self.parts.iter().any(|part| part.has_columns)
    }
}

/// Returns the image or the delta, if all parts of it are present and consistent. `keys` is the content of
/// the keys' record, if there is one.
pub(super) fn finish(
    topology: Topology,
    keys: Option<ImageKeys>,
    config: &GraphConfig,
) -> Result<SubgraphRecord, &'static str> {
    if keys.is_some() != topology.needs_keys(config) {
        return Err("keys that are missing, or belong to no vertex");
    }
    if let Some(edges) = topology.delta {
        return finish_delta(topology, edges, config).map(SubgraphRecord::Delta);
    }
    let Topology { id, as_of, present, parts, .. } = topology;
    let keys = keys.unwrap_or_else(|| no_keys(id.label, config));
    let parts: Vec<AdjacencyPart> = parts.into_iter().map(|part| part.adjacency).collect();
    let image = SubgraphImage { id, as_of, present, keys, parts };
    match image.with_ref(|image| image.fault(config)) {
        None => Ok(SubgraphRecord::Image(image)),
        Some(what) => Err(what),
    }
}

fn finish_delta(topology: Topology, edges: u64, config: &GraphConfig) -> Result<SubgraphDelta, &'static str> {
    if topology.needs_columns() {
        return Err("properties in a delta");
    }
    let Topology { id, as_of, present, parts, .. } = topology;
    if !parts.is_sorted_by_key(|part| part.is_removed) {
        return Err("parts out of order");
    }
    let (removed, put): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(|part| part.is_removed);
    let of = |parts: Vec<Part>| parts.into_iter().map(|part| part.adjacency).collect();
    let delta = SubgraphDelta { id, as_of, present, edges, put: of(put), removed: of(removed) };
    match delta.with_ref(|delta: &DeltaRef<'_>| delta.fault(config)) {
        None => Ok(delta),
        Some(what) => Err(what),
    }
}
