//! Removing edges by a condition, in batches.

use hedgerow_catalog::error::{Result, StateError};
use hedgerow_core::{Cells, Direction, LabelId, VertexId};

use super::op::EdgeRef;
use super::op::OpKind;
use super::txn::WriteTxn;
use crate::read::selection::EdgeSelection;
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::ChosenEdges;

/// The number of edges and vertices that a scan reads between two polls of `until`.
const BETWEEN_POLLS: usize = 1 << 17;

/// Options of `Graph::remove_edges_where`.
#[derive(Clone, Copy)]
#[must_use]
pub struct RemoveOptions<'f> {
    pub(crate) batch: usize,
    pub(crate) retries: u32,
    until: Option<&'f dyn Fn() -> bool>,
}

impl Default for RemoveOptions<'_> {
    fn default() -> Self {
        RemoveOptions { batch: 1 << 16, retries: 64, until: None }
    }
}

impl<'f> RemoveOptions<'f> {
    /// Returns the default options: batches of 65,536 edges, each retried up to 64 times.
    pub fn new() -> RemoveOptions<'f> {
        RemoveOptions::default()
    }

    /// Sets the greatest number of edges that one transaction removes; 0 counts as 1. The call halves it each
    /// time that the memory limit has no room for a transaction.
    pub fn batch(mut self, edges: usize) -> RemoveOptions<'f> {
        self.batch = edges.max(1);
        self
    }

    /// Sets how often a batch is retried after a conflict.
    pub fn retries(mut self, retries: u32) -> RemoveOptions<'f> {
        self.retries = retries;
        self
    }

    /// Calls `until` before each batch and after every 100,000 edges or so, and stops with
    /// [`StateError::Cancelled`] once `until` returns true. Committed batches stay removed.
    pub fn until(mut self, until: &'f dyn Fn() -> bool) -> RemoveOptions<'f> {
        self.until = Some(until);
        self
    }

    fn poll(&self) -> Result<()> {
        if self.until.is_some_and(|until| until()) { Err(StateError::Cancelled.into()) } else { Ok(()) }
    }
}

/// The position of an edge in the scan, by ids.
pub(crate) type Place = (LabelId, VertexId, VertexId, u64);

impl WriteTxn {
    /// Removes the next batch of chosen edges after `behind`, in the order of labels, sources, destinations
    /// and ranks in the transaction's snapshot. Returns the number removed, and the last removed edge if
    /// there may be more. The commit conflicts if another commit changed one of them since the snapshot.
    pub(crate) fn remove_chosen(
        &mut self,
        selection: &EdgeSelection<'_>,
        behind: Option<Place>,
        options: &RemoveOptions<'_>,
    ) -> Result<(u64, Option<Place>)> {
        let snapshot = self.base().clone();
        let chosen = selection.resolve_lists(&snapshot)?;
        let mut removed = 0;
        let places = next_places(&snapshot, &chosen, behind, options)?;
        for &(label, src, dst, rank) in &places {
            let [src, dst] = [
                self.engine.keys.key_of(&self.engine.pager, src)?,
                self.engine.keys.key_of(&self.engine.pager, dst)?,
            ];
            let [src, dst] = [&src, &dst].map(|key| self.keys.intern(key.as_ref()));
            let edge = EdgeRef { label, src, dst, rank };
            // The transaction reads the edge, so its commit conflicts if another one changed the edge since
            // the scan.
            if self.reads_item(edge)?.is_some() {
                self.push_item(OpKind::Remove, edge, 0.0, Cells::new())?;
                removed += 1;
            }
        }
        let next = places.last().filter(|_| places.len() == options.batch).copied();
        Ok((removed, next))
    }
}

/// Finds the next chosen edges after a place, at most one batch of them.
fn next_places(
    snapshot: &Snapshot,
    chosen: &ChosenEdges,
    behind: Option<Place>,
    options: &RemoveOptions<'_>,
) -> Result<Vec<Place>> {
    options.poll()?;
    let placement = snapshot.engine().catalog.placement();
    let (mut places, mut left) = (Vec::new(), BETWEEN_POLLS);
    for label in &chosen.labels {
        let first = match behind {
            Some(behind) if behind.0 > label.label => continue,
            Some(behind) if behind.0 == label.label => behind.1,
            _ => VertexId(0),
        };
        for src in (first.0..snapshot.engine().keys.ids.bound()).map(VertexId) {
            let mut passed = 1;
            snapshot.for_each_item(label.label, src, Direction::Out, |item| {
                passed += 1;
                let place = (label.label, src, item.dst, item.rank);
                let is_next = places.len() < options.batch && behind.is_none_or(|behind| behind < place);
                if is_next
                    && placement.counts_at(Direction::Out, src, item.dst)
                    && label.has_rank(item.rank)
                    && label.passes(&item)
                {
                    places.push(place);
                }
            })?;
            if places.len() == options.batch {
                return Ok(places);
            }
            left = left.saturating_sub(passed);
            if left == 0 {
                left = BETWEEN_POLLS;
                options.poll()?;
            }
        }
    }
    Ok(places)
}
