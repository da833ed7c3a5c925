//! Reads of single edges below an inbox, for commits that write to chains that are not in memory.

use std::cell::RefCell;
use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::{SubgraphId, Timestamp};
use hedgerow_mem::subgraph::Stamp;
use hedgerow_mem::table::PAGE;
use hedgerow_tier::{Extent, ImageId, ListQuery, PageId};

use super::reload::MOST_LOOKS;
use crate::pager::Pager;
use crate::sources::{EdgeAt, Sources, weight_of};

/// The number of edges of a subgraph from which on its whole image is read.
const MANY: usize = 4;

/// The weights of some edges in the state below an inbox; `None` for an edge that does not exist there.
pub struct StoredEdges {
    /// The timestamp of the last operation in that state.
    pub begin: Timestamp,
    /// The weight of each edge, if it exists.
    pub weights: Vec<Option<f64>>,
}

/// The state below the inbox of a subgraph, or the whole state of one without an inbox, before it is read.
struct StateBelow {
    sources: Arc<Sources>,
    /// The timestamp of the last operation in that state.
    begin: Timestamp,
    /// The stamp of a subgraph without an inbox, and the look at it.
    stamp: Option<(Timestamp, Look)>,
}

/// The result of [`Pager::stamp_of`].
type Look = Option<(Option<Stamp>, Timestamp)>;

impl Pager {
    /// Reads the weights of edges of a subgraph from the base of its inbox, or from the segments if it has
    /// none; `None` if the subgraph is in memory, or its page is not. Reads some lists, or one image; the
    /// caller holds nothing.
    ///
    /// # Errors
    /// Those of a cold read.
    pub fn stored_edges(&self, id: ImageId, edges: &[EdgeAt]) -> Result<Option<StoredEdges>> {
        self.check_owner()?;
        for _ in 0..MOST_LOOKS {
            let Some(below) = self.state_below(id) else { return Ok(None) };
            let weights = self.weights_in(&below.sources, id, edges)?;
            if self.is_right(id, &below) {
                return Ok(Some(StoredEdges { begin: below.begin, weights }));
            }
        }
        Ok(None)
    }

    /// Like [`stored_edges`](Self::stored_edges), for several subgraphs of a page, ascending. Reads the
    /// directory of the page once in each segment, and the blocks in order. Returns `None` also for a
    /// subgraph whose state is in other segments than that of the first one, or has changed meanwhile.
    ///
    /// # Errors
    /// The errors of [`stored_edges`](Self::stored_edges).
    pub fn stored_edges_of_page(
        &self,
        page: PageId,
        asked: &[(SubgraphId, &[EdgeAt])],
    ) -> Result<Vec<Option<StoredEdges>>> {
        self.check_owner()?;
        let id_of = |subgraph: SubgraphId| ImageId { label: page.label, subgraph };
        let states: Vec<Option<StateBelow>> =
            asked.iter().map(|&(id, _)| self.state_below(id_of(id))).collect();
        let Some(sources) = states.iter().flatten().next().map(|below| below.sources.clone()) else {
            return Ok(asked.iter().map(|_| None).collect());
        };
        let is_read = |below: &StateBelow| Arc::ptr_eq(&below.sources, &sources);
        let places = asked.iter().zip(&states).fold(0u64, |mask, ((id, _), below)| {
            let bit = 1 << (id.index() % PAGE);
            if below.as_ref().is_some_and(is_read) { mask | bit } else { mask }
        });
        let (weights, _lent) = self.read_within(|room| {
            let room = RefCell::new(room);
            let has = &mut |memory| room.borrow_mut().has(memory);
            sources.find_edges((page, places), asked, has, |bytes| room.borrow_mut().keep(bytes))
        })?;
        let found = asked.iter().zip(states).zip(weights).map(|((&(id, edges), below), weights)| {
            let below = below.filter(is_read).filter(|below| self.is_right(id_of(id), below))?;
            // A subgraph without an image has no edges.
            let weights = if weights.is_empty() { vec![None; edges.len()] } else { weights };
            Some(StoredEdges { begin: below.begin, weights })
        });
        Ok(found.collect())
    }

    /// Looks for the state below the inbox of a subgraph; `None` if the subgraph is in memory, or its page is
    /// not.
    fn state_below(&self, id: ImageId) -> Option<StateBelow> {
        let look = self.stamp_of(id);
        let (Some(stamp), _) = look? else { return None };
        if self.is_in_memory((id.label, id.subgraph)) {
            return None;
        }
        Some(match self.inboxes.base(id) {
            Some(base) => StateBelow { sources: base.sources, begin: base.begin, stamp: None },
            None => {
                let (sources, applied) = (self.pages.sources(), stamp.applied());
                StateBelow { sources, begin: applied, stamp: Some((applied, look)) }
            }
        })
    }

    /// True if what was read is the state. A base does not change. Other segments may have later operations,
    /// if the stamp differs, or lack some that left an inbox meanwhile.
    fn is_right(&self, id: ImageId, below: &StateBelow) -> bool {
        let is_whole = |&(applied, look)| below.sources.as_of() >= applied && self.stamp_of(id) == look;
        below.stamp.as_ref().is_none_or(is_whole)
    }

    fn weights_in(&self, sources: &Sources, id: ImageId, edges: &[EdgeAt]) -> Result<Vec<Option<f64>>> {
        let cache = self.cold.cache();
        if edges.len() < MANY {
            let weight = |edge: &EdgeAt| {
                let &(direction, local, other) = edge;
                let extent = Extent::Near(other);
                let query = ListQuery { image: id, local, direction, extent, rows: false };
                let (found, _lent) = self
                    .read_within(|room| sources.read_list(&query, cache, &mut |memory| room.has(memory)))?;
                let part = found.and_then(|(list, _)| list.part);
                Ok(weight_of(part.as_slice(), edge))
            };
            return edges.iter().map(weight).collect();
        }
        let (found, _lent) =
            self.read_within(|room| sources.read_image(id, cache, &mut |memory| room.has(memory)))?;
        let parts = found.map(|(image, _)| image.parts).unwrap_or_default();
        Ok(edges.iter().map(|edge| weight_of(&parts, edge)).collect())
    }
}
