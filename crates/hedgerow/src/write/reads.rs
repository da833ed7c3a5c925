//! What a transaction read, and whether it still holds (rules R2 and R3).

use hedgerow_core::{Direction, SubgraphId, Timestamp, VertexId};
use hedgerow_io::faults::{self, PlantedFault};
use hedgerow_mem::{Latched, ReadItem};

use super::{TxnKey, TxnKeys};
use crate::error::{Error, Result};
use crate::graph::Engine;

/// The read set.
#[derive(Default)]
pub(crate) struct ReadSet {
    items: Vec<(SubgraphId, Direction, ReadItem)>,
    /// Keys that named no vertex at the snapshot.
    absent: Vec<TxnKey>,
    /// The whole graph was read: any later commit conflicts.
    whole: bool,
}

impl ReadSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.absent.is_empty() && !self.whole
    }

    pub(crate) fn whole(&mut self) {
        self.whole = true;
    }

    pub(crate) fn absent(&mut self, key: TxnKey) {
        self.absent.push(key);
    }

    pub(crate) fn vertex(&mut self, id: VertexId) {
        self.items.push((id.subgraph(), Direction::Out, ReadItem::Vertex(id.local())));
    }

    pub(crate) fn edge(&mut self, src: VertexId, dst: VertexId) {
        self.items.push((src.subgraph(), Direction::Out, ReadItem::Edge(src.local(), dst)));
    }

    pub(crate) fn adjacency(&mut self, id: VertexId, direction: Direction) {
        self.items.push((id.subgraph(), direction, ReadItem::Adjacency(id.local())));
    }

    /// Sorts the set so that validation visits each subgraph once.
    pub(crate) fn prepare(&mut self) {
        self.items.sort_unstable_by_key(|&(subgraph, direction, item)| (subgraph, direction as u8, item));
        self.items.dedup();
    }

    /// Checks the part of the set that lies in latched subgraphs; cheap to do before the ordering section, because
    /// the latches keep it true.
    pub(crate) fn check_latched(&self, start: Timestamp, latches: &Latches<'_>) -> Result<()> {
        if faults::is_on(PlantedFault::ReadsNotValidated) {
            return Ok(());
        }
        for &(subgraph, direction, item) in &self.items {
            if let Some(latched) = latches.get(subgraph)
                && latched.changed_since(direction, start, item)
            {
                return Err(Error::Conflict { with: latched.last_ts() });
            }
        }
        Ok(())
    }

    /// Checks the rest, inside the ordering section. A subgraph or key that another committer has latched counts as
    /// changed: that committer may come before this one in the order.
    pub(crate) fn check_others(
        &self,
        start: Timestamp,
        last_drawn: Timestamp,
        engine: &Engine,
        keys: &TxnKeys,
        latches: &Latches<'_>,
        key_latches: &[usize],
    ) -> Result<()> {
        if faults::is_on(PlantedFault::ReadsNotValidated) {
            return Ok(());
        }
        if self.whole && last_drawn > start {
            return Err(Error::Conflict { with: last_drawn });
        }
        for group in self.items.chunk_by(|a, b| a.0 == b.0) {
            let subgraph = group[0].0;
            if latches.get(subgraph).is_some() {
                continue;
            }
            let Some(entry) = engine.subgraphs.get(subgraph) else { continue };
            let Some(latched) = entry.try_latch() else { return Err(Error::Conflict { with: last_drawn }) };
            if group.iter().any(|&(_, direction, item)| latched.changed_since(direction, start, item)) {
                return Err(Error::Conflict { with: latched.last_ts() });
            }
        }
        for &key in &self.absent {
            let key = keys.key(key);
            let index = engine.ids.latch_of(key);
            let latch = if key_latches.contains(&index) { None } else { Some(engine.ids.try_latch(index)) };
            let changed = engine.ids.last_change(key);
            if matches!(latch, Some(None)) || changed > start {
                return Err(Error::Conflict { with: changed.max(start) });
            }
        }
        Ok(())
    }
}

/// The latched subgraphs of a commit, ascending.
#[derive(Default)]
pub(crate) struct Latches<'a> {
    held: smallvec::SmallVec<[(SubgraphId, Latched<'a>); 4]>,
}

impl<'a> Latches<'a> {
    /// Latches `subgraphs`, which must ascend: the order that keeps committers from waiting for each other in a ring.
    pub(crate) fn take(engine: &'a Engine, subgraphs: &[SubgraphId]) -> Latches<'a> {
        debug_assert!(subgraphs.is_sorted_by(|a, b| a < b));
        let held = subgraphs.iter().map(|&id| (id, engine.subgraphs.get_or_create(id).latch())).collect();
        Latches { held }
    }

    #[inline]
    fn place(&self, subgraph: SubgraphId) -> Option<usize> {
        if self.held.len() <= 4 {
            return self.held.iter().position(|&(id, _)| id == subgraph);
        }
        self.held.binary_search_by_key(&subgraph, |&(id, _)| id).ok()
    }

    #[inline]
    pub(crate) fn get(&self, subgraph: SubgraphId) -> Option<&Latched<'a>> {
        self.place(subgraph).map(|at| &self.held[at].1)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, subgraph: SubgraphId) -> Option<&mut Latched<'a>> {
        self.place(subgraph).map(|at| &mut self.held[at].1)
    }

    pub(crate) fn contains_vertex(&self, id: VertexId) -> bool {
        self.get(id.subgraph()).is_some_and(|l| l.contains_vertex(id.local()))
    }
}
