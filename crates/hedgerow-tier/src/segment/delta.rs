//! Deltas: records with the operations on one subgraph since an older record.

use hedgerow_core::{Direction, GraphConfig, LabelId, SUBGRAPH_VERTICES, Timestamp, VertexId};

use super::image::{
    AdjacencyPart, PartRef, SubgraphImage, check_order, check_part, check_vertices, out_entries, range_of,
};
use crate::id::ImageId;

/// The result of the operations on the edges of one subgraph in the default label since an older record. An
/// image and all newer deltas of the subgraph together have its content. A delta changes no vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct SubgraphDelta {
    /// The subgraph and the label, which is the default one.
    pub id: ImageId,
    /// The timestamp of the last operation. Together with the older records the delta includes every commit
    /// up to this timestamp and none after it.
    pub as_of: Timestamp,
    /// Bit `i` is set if local vertex `i` is live, as in the image.
    pub present: u64,
    /// The number of outgoing neighbor entries of the subgraph after the operations.
    pub edges: u64,
    /// The edges that exist after the operations, whether they existed before or not; ascending by direction.
    pub put: Vec<AdjacencyPart>,
    /// The edges that do not exist after the operations; ascending by direction, without weights.
    pub removed: Vec<AdjacencyPart>,
}

/// A [`SubgraphDelta`] to be written; it borrows its large fields.
#[derive(Clone, Copy, Debug)]
pub struct DeltaRef<'a> {
    /// The subgraph and the label, which is the default one.
    pub id: ImageId,
    /// The timestamp of the last operation.
    pub as_of: Timestamp,
    /// Bit `i` is set if local vertex `i` is live.
    pub present: u64,
    /// The number of outgoing neighbor entries of the subgraph after the operations.
    pub edges: u64,
    /// The edges that exist after the operations, strictly ascending by direction.
    pub put: &'a [PartRef<'a>],
    /// The edges that do not exist after the operations, strictly ascending by direction.
    pub removed: &'a [PartRef<'a>],
}

/// The content of a segment for one subgraph in one label.
#[derive(Clone, Debug, PartialEq)]
pub enum SubgraphRecord {
    /// The whole content.
    Image(SubgraphImage),
    /// The operations since an older record.
    Delta(SubgraphDelta),
}

impl SubgraphDelta {
    /// Returns the bytes of memory of the lists. O(1).
    pub fn memory_bytes(&self) -> usize {
        let of = |part: &AdjacencyPart| {
            let weights = part.weights.as_ref().map_or(0, |weights| weights.capacity() * size_of::<f64>());
            part.neighbors.capacity() * size_of::<VertexId>() + weights + size_of::<AdjacencyPart>()
        };
        self.put.iter().chain(&self.removed).map(of).sum()
    }

    /// Calls `f` with the borrowed form of this delta.
    pub fn with_ref<R>(&self, f: impl FnOnce(&DeltaRef<'_>) -> R) -> R {
        let put: Vec<PartRef<'_>> = self.put.iter().map(AdjacencyPart::as_ref).collect();
        let removed: Vec<PartRef<'_>> = self.removed.iter().map(AdjacencyPart::as_ref).collect();
        let SubgraphDelta { id, as_of, present, edges, .. } = *self;
        f(&DeltaRef { id, as_of, present, edges, put: &put, removed: &removed })
    }
}

impl SubgraphRecord {
    /// Returns the subgraph and the label.
    pub fn id(&self) -> ImageId {
        match self {
            SubgraphRecord::Image(image) => image.id,
            SubgraphRecord::Delta(delta) => delta.id,
        }
    }

    /// Returns the timestamp up to which this record and the older ones include every commit.
    pub fn as_of(&self) -> Timestamp {
        match self {
            SubgraphRecord::Image(image) => image.as_of,
            SubgraphRecord::Delta(delta) => delta.as_of,
        }
    }

    /// Returns the image; `None` for a delta.
    pub fn into_image(self) -> Option<SubgraphImage> {
        match self {
            SubgraphRecord::Image(image) => Some(image),
            SubgraphRecord::Delta(_) => None,
        }
    }

    /// Returns the number of outgoing neighbor entries in the record.
    pub(super) fn entries(&self) -> u64 {
        match self {
            SubgraphRecord::Image(image) => image.edge_count(),
            SubgraphRecord::Delta(delta) => delta.with_ref(|delta| delta.entries()),
        }
    }
}

impl DeltaRef<'_> {
    fn parts(&self) -> impl Iterator<Item = &PartRef<'_>> + Clone {
        self.put.iter().chain(self.removed)
    }

    /// Returns the number of outgoing neighbor entries in the delta.
    pub(super) fn entries(&self) -> u64 {
        self.parts().map(|part| out_entries(part.direction, part.neighbors.len())).sum()
    }

    /// Returns the first rule of a delta that this one breaks. A delta without a fault can be written and
    /// read again.
    pub(super) fn fault(&self, config: &GraphConfig) -> Option<&'static str> {
        let order = |parts: &[PartRef<'_>]| check_order(parts.iter().map(|part| part.direction));
        if self.id.label != LabelId::DEFAULT {
            return Some("a delta in another label than the default one");
        }
        if self.parts().all(|part| part.neighbors.is_empty()) {
            return Some("a delta without operations");
        }
        if self.parts().any(|part| part.ranks.is_some() || part.columns.is_some()) {
            return Some("ranks or properties in a delta");
        }
        if self.removed.iter().any(|part| part.weights.is_some()) {
            return Some("weights of removed edges");
        }
        if self.put.iter().any(|part| part.weights.is_some() != config.weighted) {
            return Some("weights do not fit the graph");
        }
        check_vertices(self.id.subgraph, self.present)
            .or_else(|| order(self.put))
            .or_else(|| order(self.removed))
            .or_else(|| self.parts().find_map(|part| check_part(part, self.present, config)))
            .or_else(|| [Direction::Out, Direction::In].iter().find_map(|&direction| self.both(direction)))
    }

    /// Checks that no edge of a direction is both put and removed.
    fn both(&self, direction: Direction) -> Option<&'static str> {
        let put = self.put.iter().find(|part| part.direction == direction)?;
        let removed = self.removed.iter().find(|part| part.direction == direction)?;
        for local in 0..SUBGRAPH_VERTICES {
            let put = put.neighbors.get(range_of(put.offsets, local)?)?;
            let removed = removed.neighbors.get(range_of(removed.offsets, local)?)?;
            if removed.iter().any(|edge| put.binary_search(edge).is_ok()) {
                return Some("an edge that is both put and removed");
            }
        }
        None
    }
}
