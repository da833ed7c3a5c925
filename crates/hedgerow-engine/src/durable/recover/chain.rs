//! The operations of a batch on one list of neighbors: their net effects. These go to the chain, or to its
//! inbox if the chain is not in memory.

use std::collections::HashSet;

use hedgerow_catalog::error::{Error, Result};
use hedgerow_core::{
    Direction, InterpolationHint, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId,
};
use hedgerow_mem::subgraph::{Latched, LocalOp};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::{Attributes, Ops};
use hedgerow_pager::InboxBase;
use hedgerow_pager::order::horizon::NoReaders;
use hedgerow_tier::{ImageId, SubgraphImage};

use super::Loaded;
use super::gathered::{Batch, ReplayEntry};
use super::outcome::{NO_EDGE, NO_VERTEX, Outcome};
use crate::state::change::edge_op;

/// The image of a subgraph that is not in memory, once it was read.
#[derive(Default)]
pub(super) struct Stored {
    is_read: bool,
    image: Option<SubgraphImage>,
}

/// The changes of one list of neighbors, while they are collected.
pub(super) struct Chain<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) id: SubgraphId,
    pub(super) label: LabelId,
    pub(super) direction: Direction,
    pub(super) batch: &'a Batch,
    pub(super) alive: &'a [Option<u32>; SUBGRAPH_VERTICES],
    pub(super) latched: Latched<'a>,
    /// The edges that exist of those that the operations name, if the chain is not in memory. Then the
    /// changes go to its inbox.
    pub(super) outside: Option<HashSet<(LocalVertex, VertexId)>>,
    pub(super) ops: Vec<LocalOp>,
    pub(super) attributes: Vec<Attributes<'a>>,
}

impl<'a> Chain<'a> {
    /// Adds the net effect of the operations on one edge, in their order.
    pub(super) fn last_word(
        &mut self,
        rank: u64,
        mut edges: impl Iterator<Item = &'a ReplayEntry>,
        outcome: &mut Outcome,
    ) {
        let Some(first) = edges.next() else { return };
        let (direction, local, other) = (self.direction, first.local(), first.other());
        let existed = match &self.outside {
            Some(edges) => edges.contains(&(local, other)),
            None => self.latched.item(direction, local, other, rank, InterpolationHint::UNKNOWN).is_some(),
        };
        let (mut exists, mut last) = (existed, first);
        for entry in std::iter::once(first).chain(edges) {
            check_alive(entry, self.alive, outcome);
            if entry.act().removes() && !exists {
                outcome.note(entry, NO_EDGE);
            }
            (exists, last) = (entry.act().puts(), entry);
        }
        let Some(op) = edge_op(existed, exists) else { return };
        let (placement, at) = (self.loaded.placement(), self.id.vertex(local));
        let (weight, row) = if exists { self.batch.state(last) } else { (0.0, None) };
        if rank > 0 || row.is_some() {
            self.attributes.resize(self.ops.len(), Attributes::NONE);
            let row = placement.row_at(direction, at, other, row.into());
            self.attributes.push(Attributes { rank, row });
        }
        self.ops.push(LocalOp { local, op, dst: other, weight });
        if self.label != LabelId::VERTICES && placement.counts_at(direction, at, other) {
            outcome.tally.edges += i64::from(exists) - i64::from(existed);
        }
    }

    /// Applies the net effects, or appends them to the inbox.
    pub(super) fn apply(mut self, ts: Timestamp) {
        if !self.attributes.is_empty() {
            self.attributes.resize(self.ops.len(), Attributes::NONE);
        }
        if self.outside.is_some() {
            if !self.ops.is_empty() {
                let id = ImageId { label: self.label, subgraph: self.id };
                let begin = self.latched.last_ts();
                let base = || InboxBase { sources: self.loaded.pages.sources(), begin };
                self.loaded.inboxes.append((id, self.direction), ts, &self.ops, base);
                self.latched.note_outside(ts);
            }
            return;
        }
        let ops = Ops::with(&self.ops, &self.attributes);
        let pins = self.latched.apply(self.direction, ops, ts, &NoReaders(ts));
        debug_assert!(pins.is_empty(), "nobody reads");
    }
}

impl Loaded {
    /// Returns which edges of the operations on a chain exist that is not in memory: those of the image, with
    /// the operations of the inbox.
    pub(super) fn stored_edges(
        &self,
        id: ImageId,
        chain: &[ReplayEntry],
        stored: &mut Stored,
    ) -> Result<HashSet<(LocalVertex, VertexId)>> {
        if !stored.is_read {
            let place = 1 << (id.subgraph.index() % PAGE);
            self.pages.sources().read_images((id.page(), place), &mut |_| true, |image, _| {
                stored.image = Some(image);
                Ok::<_, Error>(())
            })?;
            stored.is_read = true;
        }
        let direction = chain[0].direction();
        let mut edges: Vec<_> = chain.iter().map(|entry| (entry.local(), entry.other())).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut of_chain: [&[_]; 2] = [&[], &[]];
        of_chain[direction as usize] = &edges;
        let look = self.inboxes.look(id, of_chain).map(|look| look.weights);
        let newer = |at: usize| look.as_ref().and_then(|weights| weights[direction as usize][at]);
        let part = stored.image.as_ref().and_then(|it| it.parts.iter().find(|it| it.direction == direction));
        let exists = |&(local, other): &(LocalVertex, VertexId)| {
            part.is_some_and(|part| part.neighbors_of(local.index()).binary_search(&other).is_ok())
        };
        let is_there = |(at, edge): &(usize, &_)| newer(*at).map_or_else(|| exists(edge), |it| it.is_some());
        Ok(edges.iter().enumerate().filter(is_there).map(|(_, edge)| *edge).collect())
    }
}

/// Notes a misfit if an operation needs a vertex that does not exist.
pub(super) fn check_alive(
    entry: &ReplayEntry,
    alive: &[Option<u32>; SUBGRAPH_VERTICES],
    outcome: &mut Outcome,
) {
    // A removal finds no edge at a vertex that does not exist.
    let begins = alive[entry.local().index()];
    if !entry.act().removes() && begins.is_none_or(|from| from > entry.order()) {
        outcome.note(entry, NO_VERTEX);
    }
}
