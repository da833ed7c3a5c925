//! Queries for a list that an image or a delta answers; reads of one delta, through the cache of blocks.

use super::assemble::finish;
use super::block::{Block, BlockKind};
use super::delta::{SubgraphDelta, SubgraphRecord};
use super::list::{Extent, ListImage, ListQuery, ListReader};
use super::read_memory::{HasMemory, ReadMemory, ask};
use super::topology;
use crate::TierError;
use crate::bytes::{Fault, whole};

/// The answer of a segment to a query for a list.
#[derive(Clone, Debug, PartialEq)]
pub enum FoundList {
    /// The list of an image.
    Image(Box<ListImage>),
    /// The delta that the segment has instead of an image. The list is in an older image. Not for
    /// [`Extent::Vertex`], which is in the directory.
    Delta(SubgraphDelta),
}

impl FoundList {
    /// Returns the list of an image; `None` for a delta.
    pub fn into_image(self) -> Option<ListImage> {
        match self {
            FoundList::Image(list) => Some(*list),
            FoundList::Delta(_) => None,
        }
    }
}

impl ListReader<'_> {
    /// Reads the answer to `query`. Calls `has_memory` before it takes memory for a block or for the list.
    pub(super) fn read(&self, query: &ListQuery, has_memory: HasMemory<'_>) -> Result<FoundList, TierError> {
        match self.placed.entry.delta {
            // A delta has the same vertices as its image, so the directory has the answer.
            Some(_) if query.extent == Extent::Vertex => {
                let present = self.placed.entry.present;
                Ok(FoundList::Image(Box::new(ListImage { present, ..ListImage::default() })))
            }
            None => self.image(query, has_memory).map(|list| FoundList::Image(Box::new(list))),
            Some(_) => self.delta(query, has_memory).map(FoundList::Delta),
        }
    }

    /// Reads the delta that the page has instead of an image. Calls `has_memory` before it takes memory.
    fn delta(&self, query: &ListQuery, has_memory: HasMemory<'_>) -> Result<SubgraphDelta, TierError> {
        ask(has_memory, ReadMemory::Buffers(self.placed.largest_block(&self.directory.positions)))?;
        let (place, entry) = (self.placed.topology, &self.placed.entry);
        let block = self.block(place.block, BlockKind::Topology)?;
        let mut refused = None;
        let decoded = whole(self.record_in(&block), |bytes| {
            let topology = topology::decode_within(bytes, |part| {
                part.ask(has_memory).map_err(|error| refused = Some(error)).is_ok()
            })?;
            bytes.refuse(topology.differs_from(query.image, entry))?;
            Ok(topology)
        });
        refused.map_or(Ok(()), Err)?;
        let topology = decoded.map_err(|fault| self.error(place, fault))?;
        let delta = match finish(topology, None, self.config) {
            Ok(SubgraphRecord::Delta(delta)) if delta.with_ref(|it| it.entries()) == entry.edges => Ok(delta),
            Ok(_) => Err("delta differs from the directory"),
            Err(what) => Err(what),
        };
        delta.map_err(|what| self.error(place, Fault { position: 0, what }))
    }

    /// Returns the record of neighbors, or the head of a cut image, in its block.
    pub(super) fn record_in<'b>(&self, block: &'b Block) -> &'b [u8] {
        let begin = self.placed.topology.offset;
        let end = begin.saturating_add(usize::from(self.placed.entry.topology));
        block.payload().get(begin..end).unwrap_or(&[])
    }
}
