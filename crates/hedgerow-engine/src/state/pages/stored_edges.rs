//! Reads of single edges below an inbox, for commits that write to chains that are not in memory.

use hedgerow_core::{Direction, LocalVertex, Timestamp, VertexId};
use hedgerow_tier::{AdjacencyPart, Extent, ImageId, ListQuery};

use super::reload::MOST_LOOKS;
use crate::error::Result;
use crate::state::pager::Pager;
use hedgerow_pager::Sources;

/// The number of edges of a subgraph from which on its whole image is read.
const MANY: usize = 4;

/// An edge at one of its copies.
pub(crate) type EdgeAt = (Direction, LocalVertex, VertexId);

/// The weights of some edges in the state below an inbox; `None` for an edge that does not exist there.
pub(crate) struct StoredEdges {
    /// The timestamp of the last operation in that state.
    pub(crate) begin: Timestamp,
    pub(crate) weights: Vec<Option<f64>>,
}

impl Pager {
    /// Reads the weights of edges of a subgraph from the base of its inbox, or from the segments if it has
    /// none; `None` if the subgraph is in memory, or its page is not. Reads some lists, or one image; the
    /// caller holds nothing.
    ///
    /// # Errors
    /// Those of a cold read.
    pub(crate) fn stored_edges(&self, id: ImageId, edges: &[EdgeAt]) -> Result<Option<StoredEdges>> {
        self.check_owner()?;
        for _ in 0..MOST_LOOKS {
            let before = self.stamp_of(id);
            let Some((Some(stamp), _)) = before else { return Ok(None) };
            if self.is_in_memory((id.label, id.subgraph)) {
                return Ok(None);
            }
            let base = self.inboxes.base(id);
            let (begin, sources) = match &base {
                Some(base) => (base.begin, base.sources.clone()),
                None => (stamp.applied(), self.pages.sources()),
            };
            let weights = self.weights_in(&sources, id, edges)?;
            // A base does not change. Other segments may have later operations, if the stamp differs, or lack
            // some that left an inbox meanwhile.
            let is_whole = sources.as_of() >= stamp.applied() && self.stamp_of(id) == before;
            if base.is_some() || is_whole {
                return Ok(Some(StoredEdges { begin, weights }));
            }
        }
        Ok(None)
    }

    fn weights_in(&self, sources: &Sources, id: ImageId, edges: &[EdgeAt]) -> Result<Vec<Option<f64>>> {
        let cache = self.cold.cache();
        if edges.len() < MANY {
            let weight = |&(direction, local, other): &EdgeAt| {
                let extent = Extent::Near(other);
                let query = ListQuery { image: id, local, direction, extent, rows: false };
                let (found, _lent) = self
                    .read_within(|room| sources.read_list(&query, cache, &mut |memory| room.has(memory)))?;
                let part = found.and_then(|(list, _)| list.part);
                Ok(part.and_then(|part| weight_in(&part, local, other)))
            };
            return edges.iter().map(weight).collect();
        }
        let (found, _lent) =
            self.read_within(|room| sources.read_image(id, cache, &mut |memory| room.has(memory)))?;
        let parts = found.map(|(image, _)| image.parts).unwrap_or_default();
        let weight = |&(direction, local, other): &EdgeAt| {
            let part = parts.iter().find(|part| part.direction == direction);
            part.and_then(|part| weight_in(part, local, other))
        };
        Ok(edges.iter().map(weight).collect())
    }
}

fn weight_in(part: &AdjacencyPart, local: LocalVertex, other: VertexId) -> Option<f64> {
    let found = part.neighbors_of(local.index()).binary_search(&other).ok()?;
    let at = part.offsets[local.index()] as usize + found;
    Some(part.weights.as_ref().map_or(1.0, |weights| weights[at]))
}
