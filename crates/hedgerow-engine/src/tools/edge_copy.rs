//! One of the copies of a salvaged edge for the new store, sorted in the order of the segment.

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, LocalVertex, Row, RowRef, SubgraphId, VertexId};
use hedgerow_io::codec::{PutLe, Reader};
use hedgerow_tier::ImageId;
use hedgerow_tier::sorter::{Record, Sorter, put_ordered, take_ordered};

/// The number of bits by which the direction is above the local vertex in a key.
const DIRECTION_SHIFT: u32 = 6;

/// One copy of an edge: the data that the new store has at one of its ends. Copies are in the order of a
/// segment.
#[derive(Debug)]
pub(super) struct EdgeCopy {
    pub(super) label: LabelId,
    pub(super) direction: Direction,
    pub(super) at: VertexId,
    pub(super) other: VertexId,
    pub(super) rank: u64,
    pub(super) weight: f64,
    pub(super) row: Option<Row>,
}

impl EdgeCopy {
    /// Returns the image that the copy belongs to.
    pub(super) fn image(&self) -> ImageId {
        ImageId { label: self.label, subgraph: self.at.subgraph() }
    }

    /// Adds the copy with the properties `row` to the sorter.
    ///
    /// # Errors
    /// The errors of writing sorted files.
    pub(super) fn put(&self, row: RowRef<'_>, payload: &mut Vec<u8>, to: &mut Sorter) -> Result<()> {
        let mut key = Vec::with_capacity(20);
        key.put_bytes(&self.label.0.to_be_bytes());
        key.put_bytes(&self.at.subgraph().0.to_be_bytes());
        key.put_u8((self.direction as u8) << DIRECTION_SHIFT | self.at.local().0);
        key.put_bytes(&self.other.0.to_be_bytes());
        put_ordered(&mut key, self.rank);
        payload.clear();
        payload.put_f64(self.weight);
        hedgerow_log::encode_row(row, payload);
        Ok(to.push(&key, payload)?)
    }

    /// Reads a copy; `None` for an invalid record, which the checksums rule out.
    pub(super) fn read(record: Record<'_>) -> Option<EdgeCopy> {
        let (label, key) = record.key.split_first_chunk()?;
        let (subgraph, key) = key.split_first_chunk()?;
        let (place, key) = key.split_first()?;
        let (other, mut key) = key.split_first_chunk()?;
        let rank = take_ordered(&mut key)?;
        let mut r = Reader::new(record.payload);
        let weight = r.f64().ok()?;
        let subgraph = SubgraphId(u32::from_be_bytes(*subgraph));
        Some(EdgeCopy {
            label: LabelId(u16::from_be_bytes(*label)),
            direction: if place >> DIRECTION_SHIFT == Direction::Out as u8 {
                Direction::Out
            } else {
                Direction::In
            },
            at: subgraph.vertex(LocalVertex(place & ((1 << DIRECTION_SHIFT) - 1))),
            other: VertexId(u32::from_be_bytes(*other)),
            rank,
            weight,
            row: hedgerow_log::decode_row(r.rest()).ok().flatten(),
        })
    }
}
