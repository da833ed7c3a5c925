//! Application of a batch: one thread applies all operations on a subgraph together.
//!
//! If no operation on a subgraph removes a vertex, the operations are sorted by edge (in a `multi` label also
//! by rank). Then only the final state of each edge is written, once for each list. Otherwise operations are
//! applied one by one, in their order. Either way each operation is checked against the state before it,
//! separately at each end. The first misfit of all is reported, where a replay in order would have stopped.
//! All earlier operations are applied.

use hedgerow_catalog::error::{Error, Result};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{
    Direction, InterpolationHint, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId,
};
use hedgerow_mem::delta::EdgeOp;
use hedgerow_mem::subgraph::{LocalOp, Subgraph};
use hedgerow_mem::{Attributes, Hold, Ops};
use hedgerow_pager::order::horizon::NoReaders;
use hedgerow_tier::ImageId;
use rayon::prelude::*;

use super::Loaded;
use super::chain::{Chain, Stored, check_alive};
use super::gathered::{Act, Batch, Misfit, ReplayAttributes, ReplayEntry};
use super::outcome::{NO_EDGE, NO_VERTEX, Outcome, Tally};
use crate::state::change::edge_op;

/// The number of sides below which the calling thread applies them.
const WORTH_THREADS: usize = 4096;

const NOT_LOADED: &str = "an operation on a page that was not loaded";
pub(super) const BAD_VERTEX: &str = "vertex inserted twice, or with a key that does not fit";
const BAD_REMOVAL: &str = "vertex removed that is not there, or that still has edges";

/// The result of an operation, with what is wrong with it.
type Checked = std::result::Result<(), &'static str>;

/// The reason why a batch was not applied.
#[derive(Debug)]
pub(super) enum Stopped {
    Misfit(Misfit),
    Failed(Error),
}

impl Loaded {
    /// Applies a batch and empties it. O(sides log sides), and O(edges) of the subgraphs that have many.
    pub(super) fn apply(&self, batch: &mut Batch) -> std::result::Result<Tally, Stopped> {
        let mut lists = batch.take_lists();
        let shared = &*batch;
        let outcome = if shared.len() < WORTH_THREADS {
            lists.iter_mut().map(|list| self.apply_list(list, shared)).fold(Outcome::default(), Outcome::and)
        } else {
            let apply = |list: &mut Vec<ReplayEntry>| self.apply_list(list, shared);
            hedgerow_par::map_reduce(lists.par_iter_mut(), apply, Outcome::default, Outcome::and)
        };
        match (outcome.failed, outcome.misfit) {
            (Some(error), _) => Err(Stopped::Failed(error)),
            // The batch keeps its commits, to locate the misfit.
            (None, Some(misfit)) => Err(Stopped::Misfit(misfit)),
            (None, None) => {
                batch.put_back(lists);
                Ok(outcome.tally)
            }
        }
    }

    fn apply_list(&self, list: &mut [ReplayEntry], batch: &Batch) -> Outcome {
        list.sort_unstable_by_key(ReplayEntry::key);
        let groups = list.chunk_by_mut(|a, b| a.subgraph() == b.subgraph());
        let mut outcome = Outcome::default();
        for group in groups {
            let of_group = if group.iter().all(|entry| batch.is_sortable(entry)) {
                self.apply_sorted(group, batch)
            } else {
                if !faults::is_on(PlantedFault::ReplayedOutOfOrder) {
                    group.sort_unstable_by_key(ReplayEntry::order);
                }
                self.apply_in_order(group, batch)
            };
            outcome = outcome.and(of_group);
        }
        outcome
    }

    /// Applies operations on one subgraph, sorted.
    fn apply_sorted(&self, group: &[ReplayEntry], batch: &Batch) -> Outcome {
        let mut outcome = Outcome::default();
        let id = group[0].subgraph();
        let alive = self.begin_vertices(id, group, &mut outcome);
        if alive.iter().all(Option::is_none) {
            // Operations on a subgraph without vertices cannot be valid, so that the subgraph is not made.
            group.iter().for_each(|entry| {
                outcome.note(entry, if entry.act().removes() { NO_EDGE } else { NO_VERTEX });
            });
            return outcome;
        }
        for table in group.chunk_by(|a, b| a.table() == b.table()) {
            let changes = table.iter().filter(|entry| entry.act() != Act::Exists);
            let last = changes.map(ReplayEntry::order).max().unwrap_or(0);
            let ts = batch.ts(last);
            let mut stored = Stored::default();
            for chain in table.chunk_by(|a, b| a.chain() == b.chain()) {
                let applied = self.apply_chain((id, ts), chain, (batch, &mut stored), &alive, &mut outcome);
                if let Err(error) = applied {
                    outcome.failed = Some(error);
                    return outcome;
                }
            }
        }
        outcome
    }

    /// Checks the inserted vertices; returns for each vertex the operation before which it does not exist.
    fn begin_vertices(
        &self,
        id: SubgraphId,
        group: &[ReplayEntry],
        outcome: &mut Outcome,
    ) -> [Option<u32>; SUBGRAPH_VERTICES] {
        let present = self.subgraphs.get(id, Hold::none()).map_or(0, |subgraph| subgraph.latch().present());
        let mut alive: [Option<u32>; SUBGRAPH_VERTICES] =
            std::array::from_fn(|i| (present >> i & 1 == 1).then_some(0));
        for entry in group.iter().filter(|entry| entry.act() == Act::InsertVertex) {
            match &mut alive[entry.local().index()] {
                Some(_) => outcome.note(entry, BAD_VERTEX),
                none => {
                    *none = Some(entry.order());
                    outcome.tally.vertices += 1;
                }
            }
        }
        alive
    }

    /// Applies operations on one list of neighbors, or on vertices.
    fn apply_chain(
        &self,
        (id, ts): (SubgraphId, Timestamp),
        chain: &[ReplayEntry],
        (batch, stored): (&Batch, &mut Stored),
        alive: &[Option<u32>; SUBGRAPH_VERTICES],
        outcome: &mut Outcome,
    ) -> Result<()> {
        let (label, direction) = (chain[0].label(), chain[0].direction());
        if chain.iter().all(|entry| entry.act() == Act::Exists) {
            chain.iter().for_each(|entry| check_alive(entry, alive, outcome));
            return Ok(());
        }
        let table = self.table(label);
        let hold = table.hold();
        let Ok(subgraph) = table.get_or_create(id, &hold) else {
            chain.iter().for_each(|entry| outcome.note(entry, NOT_LOADED));
            return Ok(());
        };
        let latched = subgraph.latch();
        let outside = match latched.is_resident() {
            true => None,
            false => Some(self.stored_edges(ImageId { label, subgraph: id }, chain, stored)?),
        };
        let mut made = Chain {
            loaded: self,
            id,
            label,
            direction,
            batch,
            alive,
            latched,
            outside,
            ops: Vec::with_capacity(chain.len()),
            attributes: Vec::new(),
        };
        let begins = chain.iter().filter(|s| s.act() == Act::InsertVertex);
        made.ops.extend(begins.map(|s| vertex_op(s.local(), true)));
        // Operations on parallel edges, by rank and then in their order.
        let mut ranked: Vec<(u64, &ReplayEntry)> = Vec::new();
        for of_pair in chain.chunk_by(ReplayEntry::same_edge) {
            let edges = of_pair.iter().filter(|entry| entry.act() != Act::InsertVertex);
            if edges.clone().all(|entry| batch.rank(entry) == 0) {
                made.last_word(0, edges, outcome);
                continue;
            }
            ranked.clear();
            ranked.extend(edges.map(|entry| (batch.rank(entry), entry)));
            ranked.sort_by_key(|(rank, _)| *rank);
            for of_edge in ranked.chunk_by(|a, b| a.0 == b.0) {
                made.last_word(of_edge[0].0, of_edge.iter().map(|(_, entry)| *entry), outcome);
            }
        }
        made.apply(ts);
        Ok(())
    }

    /// Applies operations on one subgraph, one by one.
    fn apply_in_order(&self, group: &[ReplayEntry], batch: &Batch) -> Outcome {
        let mut outcome = Outcome::default();
        for entry in group {
            let done = self.apply_one(entry, batch, &mut outcome.tally);
            if let Err(what) = done {
                outcome.note(entry, what);
                return outcome;
            }
        }
        outcome
    }

    fn apply_one(&self, entry: &ReplayEntry, batch: &Batch, tally: &mut Tally) -> Checked {
        let (id, ts) = (entry.subgraph().vertex(entry.local()), batch.ts(entry.order()));
        match entry.act() {
            Act::InsertVertex if self.contains(id) => return Err(BAD_VERTEX),
            Act::InsertVertex => {
                self.apply_vertex(id, true, ts)?;
                tally.vertices += 1;
            }
            Act::RemoveVertex if !self.contains(id) || self.has_edges(id) => return Err(BAD_REMOVAL),
            Act::RemoveVertex => {
                self.apply_vertex(id, false, ts)?;
                tally.vertices -= 1;
            }
            Act::Exists if !self.contains(id) => return Err(NO_VERTEX),
            Act::Exists => {}
            Act::Put => {
                let item = ReplayAttributes { rank: 0, weight: entry.weight(), row: None };
                self.put(entry, &item, ts, tally)?;
            }
            Act::PutItem => self.put(entry, batch.item(entry).ok_or(NO_VERTEX)?, ts, tally)?,
            Act::Remove => self.remove(entry, 0, ts, tally)?,
            Act::RemoveItem => self.remove(entry, batch.item(entry).ok_or(NO_EDGE)?.rank, ts, tally)?,
        }
        Ok(())
    }

    fn put(&self, entry: &ReplayEntry, item: &ReplayAttributes, ts: Timestamp, tally: &mut Tally) -> Checked {
        if !self.contains(entry.subgraph().vertex(entry.local())) {
            return Err(NO_VERTEX);
        }
        let table = self.table(entry.label());
        let hold = table.hold();
        let subgraph = table.get_or_create(entry.subgraph(), &hold).map_err(|_| NOT_LOADED)?;
        let existed = exists(subgraph, entry, item.rank);
        if let Some(op) = edge_op(existed, true) {
            self.apply_item(subgraph, entry, op, item, ts);
        }
        self.count(entry, i64::from(!existed), tally);
        Ok(())
    }

    fn remove(&self, entry: &ReplayEntry, rank: u64, ts: Timestamp, tally: &mut Tally) -> Checked {
        let table = self.table(entry.label());
        let hold = table.hold();
        let subgraph = table.get(entry.subgraph(), &hold).ok_or(NO_EDGE)?;
        if !exists(subgraph, entry, rank) {
            return Err(NO_EDGE);
        }
        let item = ReplayAttributes { rank, weight: 0.0, row: None };
        self.apply_item(subgraph, entry, EdgeOp::Remove, &item, ts);
        self.count(entry, -1, tally);
        Ok(())
    }

    fn count(&self, entry: &ReplayEntry, change: i64, tally: &mut Tally) {
        let at = entry.subgraph().vertex(entry.local());
        if entry.label() != LabelId::VERTICES
            && self.placement().counts_at(entry.direction(), at, entry.other())
        {
            tally.edges += change;
        }
    }

    fn apply_item(
        &self,
        subgraph: &Subgraph,
        entry: &ReplayEntry,
        op: EdgeOp,
        item: &ReplayAttributes,
        ts: Timestamp,
    ) {
        let (direction, at) = (entry.direction(), entry.subgraph().vertex(entry.local()));
        let op = LocalOp { local: entry.local(), op, dst: entry.other(), weight: item.weight };
        let row = self.placement().row_at(direction, at, entry.other(), item.row.as_ref().into());
        let (ops, attributes) = ([op], [Attributes { rank: item.rank, row }]);
        let ops = Ops::with(&ops, &attributes);
        let pins = subgraph.latch().apply(direction, ops, ts, &NoReaders(ts));
        debug_assert!(pins.is_empty(), "nobody reads");
    }

    fn apply_vertex(&self, id: VertexId, exists: bool, ts: Timestamp) -> Checked {
        let found = self.subgraphs.get_or_create(id.subgraph(), Hold::none());
        let subgraph = found.map_err(|_| NOT_LOADED)?;
        let op = vertex_op(id.local(), exists);
        let ops = [op];
        let pins = subgraph.latch().apply(Direction::Out, Ops::plain(&ops), ts, &NoReaders(ts));
        debug_assert!(pins.is_empty(), "nobody reads");
        Ok(())
    }

    fn contains(&self, id: VertexId) -> bool {
        self.subgraphs.get(id.subgraph(), Hold::none()).is_some_and(|s| s.latch().contains_vertex(id.local()))
    }

    fn has_edges(&self, id: VertexId) -> bool {
        self.tables().any(|(_, table)| {
            let hold = table.hold();
            table.get(id.subgraph(), &hold).is_some_and(|subgraph| {
                let latched = subgraph.latch();
                [Direction::Out, Direction::In].iter().any(|&d| latched.degree(d, id.local()) > 0)
            })
        })
    }
}

fn vertex_op(local: LocalVertex, exists: bool) -> LocalOp {
    LocalOp { local, op: EdgeOp::Vertex, dst: VertexId(u32::from(exists)), weight: 0.0 }
}

fn exists(subgraph: &Subgraph, entry: &ReplayEntry, rank: u64) -> bool {
    let unknown = InterpolationHint::UNKNOWN;
    subgraph.latch().item(entry.direction(), entry.local(), entry.other(), rank, unknown).is_some()
}
