//! The commit, phase by phase (rule R1 of the design; `docs/design/protocol.md` argues each step).
//!
//! 1. **Resolve** keys to vertex ids, without locks.
//! 2. **Latch** the keys that may be bound or unbound, then the subgraphs, both ascending. Look the keys up
//!    again: the results must be the same, and the neighbours of removed vertices must be latched too; else
//!    start over.
//! 3. **Compute** the net effects against everything applied, published or not.
//! 4. **Validate** what was read in latched subgraphs.
//! 5. **Order**: in the ordering section validate the rest, reserve log space, draw the timestamp, append the
//!    record. An error without effect can only occur before the timestamp is drawn.
//! 6. **Apply**, still invisible, and release the latches.
//! 7. **Publish**: mark the commit complete, wait until it is published, and durable if the mode asks for it.

use hedgerow_catalog::error::{CommitError, Error, Result, StorageError};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{LabelId, Timestamp};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{Attributes, Ops, SubgraphPage};
use hedgerow_pager::pager::room::commit::Merges;
use smallvec::SmallVec;

use super::effect::{AdjacencyOp, Effects};
use super::encode::encode;
use super::key_bindings::KeyBindings;
use super::names::TxnKeys;
use super::op::OpKind;
use super::order::{draw, must_apply};
use super::request::{Outcome, Request};
use super::validate::{LatchKey, Latches};
use crate::config::Isolation;
use crate::state::store::Engine;

/// The greatest number of attempts of a commit. One fails if its look-ups are outdated once it has the
/// latches.
const MAX_RESTARTS: usize = 1000;

/// The greatest number of times that a commit loads all labels for a search, since parts were evicted again.
const MAX_SEARCHES: u32 = 3;

enum Attempt {
    Done(Outcome),
    /// Start over, latching these subgraphs too.
    Again(Vec<LatchKey>),
    /// Start over, once the pages of these subgraphs are loaded: never with a latch held.
    Load(Vec<LatchKey>),
    /// Start over, once the memory limit has room for merges of this many bytes: never with a latch held.
    Room(u64),
}

/// Commits up to and including the mark in the ring. Blocks for other committers of the same subgraphs.
pub(super) fn commit_unpublished(engine: &Engine, request: &Request<'_>) -> Result<Outcome> {
    let (mut extra, mut room) = (Vec::new(), request.room(engine));
    let searches =
        engine.catalog.config.is_one_way() && request.ops.iter().any(|op| op.kind == OpKind::RemoveVertex);
    if searches {
        // Edges to a vertex are stored at their sources, which may be in any subgraph.
        engine.pager.load_all()?;
    }
    let mut searched = 0;
    for _ in 0..MAX_RESTARTS {
        let attempted = attempt(engine, request, &extra, &room.merges());
        if searches && matches!(attempted, Err(Error::Storage(StorageError::NotInMemory(_)))) {
            // Labels that do not fit together evict each other.
            searched += 1;
            if searched > MAX_SEARCHES {
                return Err(engine.pager.no_room_for_all());
            }
            engine.pager.load_all()?;
            continue;
        }
        match attempted? {
            Attempt::Done(outcome) => return Ok(outcome),
            Attempt::Load(unloaded) => room.load(&unloaded)?,
            Attempt::Room(needed) => room.make_room(needed)?,
            Attempt::Again(more) => {
                extra.extend(more);
                extra.sort_unstable();
                extra.dedup();
            }
        }
    }
    Err(CommitError::Conflict { with: engine.order.clock.drawn() }.into())
}

/// The ids taken for new vertices; a drop gives back the ids that the commit did not use.
struct Taken<'a> {
    engine: &'a Engine,
    ids: SmallVec<[hedgerow_core::VertexId; 2]>,
}

impl Taken<'_> {
    fn used(&mut self, effects: &Effects) {
        // Sorted, since a bulk load inserts thousands of vertices in one transaction.
        let mut used: SmallVec<[_; 2]> = effects.inserted.iter().map(|&(_, id)| id).collect();
        used.sort_unstable();
        self.ids.retain(|id| used.binary_search(id).is_err());
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // In reverse order: a commit that starts over gets them in the same order.
        self.ids.iter().rev().for_each(|&id| self.engine.keys.ids.give_back(id));
    }
}

// Long because its seven steps share latches, ids and effects, and their order is the protocol.
fn attempt(engine: &Engine, request: &Request<'_>, extra: &[LatchKey], merges: &Merges) -> Result<Attempt> {
    // 1. Resolve.
    let mut bindings = KeyBindings::of(request.ops, request.create);
    bindings.resolve(engine, request.keys)?;

    // 2. Latch. `taken` is declared before the latches, so that unused ids go back after they are released.
    let key_indices = bindings.key_latches(engine, request.keys);
    let mut taken = Taken { engine, ids: Default::default() };
    let key_latches: SmallVec<[_; 2]> = key_indices.iter().map(|&i| engine.keys.ids.latch(i)).collect();
    taken.ids = bindings.allocate(engine, request.keys, &key_indices)?;
    let hold = engine.pager.hold();
    let mut latches = Latches::take(engine, &hold, &bindings.latch_keys(request.ops, extra));
    let unloaded = latches.unloaded(engine);
    if !unloaded.is_empty() {
        return Ok(Attempt::Load(unloaded));
    }
    // A page that was loaded after the latches were taken is not absent. The commit must not treat its
    // vertices as missing.
    if !latches.still_absent(engine) {
        return Ok(Attempt::Again(Vec::new()));
    }
    if !bindings.settle_initial(engine, request.keys, &latches) {
        return Ok(Attempt::Again(Vec::new()));
    }
    let missing = bindings.unlatched_neighbors(engine, &latches)?;
    if !missing.is_empty() {
        return Ok(Attempt::Again(missing));
    }

    // 3. Compute.
    let effects = match Effects::compute(engine, request, &mut bindings, &latches) {
        Ok(effects) => effects,
        Err(error) => {
            // If a stale read is the reason, report that: a conflict can be retried.
            if request.isolation == Isolation::Serializable {
                request.reads.check_latched(request.start, &latches)?;
                let order = engine.order.clock.order();
                check_open_and_reads(engine, request, &latches, &key_indices, order.last_drawn())?;
            }
            return Err(error);
        }
    };

    // 4. Validate what is latched.
    match request.isolation {
        Isolation::Serializable => request.reads.check_latched(request.start, &latches)?,
        Isolation::Snapshot => {
            check_writes(&effects, request.start, &latches)?;
            bindings.check_keys_written(engine, request.keys, request.start, &latches)?;
        }
    }
    if effects.is_empty() {
        // Nothing changes, but the reads must be validated too. The reason for no change may be commits that
        // are not published yet: wait for all that were drawn before this moment.
        let order = engine.order.clock.order();
        check_open_and_reads(engine, request, &latches, &key_indices, order.last_drawn())?;
        if !latches.still_absent(engine) {
            return Ok(Attempt::Again(Vec::new()));
        }
        return Ok(Attempt::Done(Outcome { ts: order.last_drawn(), edges: 0, applied: effects.applied }));
    }

    // Without a limit the memory is not counted.
    let bytes = engine.pager.memory_limit.map_or(0, |_| bytes_to_merge(engine, &effects, &latches));
    if !merges.begin(bytes) {
        return Ok(Attempt::Room(bytes as u64));
    }

    // 5. Order.
    let Some(ts) = order(engine, request, &effects, &mut latches, &key_indices)? else {
        return Ok(Attempt::Again(Vec::new()));
    };

    // 6. Apply.
    let applied = must_apply(engine);
    taken.used(&effects);
    apply(engine, request.keys, &effects, ts, &mut latches);
    merges.end(bytes);
    let (vertices, edges) = effects.count_changes();
    let merged: SmallVec<[_; 4]> = latches.merged().collect();
    drop(latches);
    drop(key_latches);
    merged.into_iter().for_each(|(label, merged)| engine.note_merged(label, merged));

    // 7. Publish: mark complete here; the caller waits.
    if engine.order.clock.complete(ts, vertices, edges) {
        engine.order.commits.wake(&engine.order.clock);
    }
    applied.done();
    Ok(Attempt::Done(Outcome { ts, edges, applied: effects.applied }))
}

/// Makes the pages that the commit is the first to write to, and latches its subgraphs in them. This is the
/// last step, since a commit that changes nothing or fails must make no page. `false`: the caller starts
/// over.
fn make_pages<'e>(
    engine: &'e Engine,
    request: &Request<'_>,
    effects: &Effects,
    latches: &mut Latches<'e>,
    key_latches: &[usize],
) -> Result<bool> {
    if latches.all_exist() {
        return Ok(true);
    }
    let latch_keys = effects.latch_keys(engine);
    if latches.hold(&latch_keys) {
        return Ok(true);
    }
    let last_drawn = engine.order.clock.order().last_drawn();
    check_open_and_reads(engine, request, latches, key_latches, last_drawn)?;
    Ok(latches.make(engine, &latch_keys))
}

/// Returns an upper bound of the memory for the merges of a commit, for the ranks and properties of its
/// operations, and for the pages that it makes.
fn bytes_to_merge(engine: &Engine, effects: &Effects, latches: &Latches<'_>) -> usize {
    let all = effects.adjacency_ops(engine);
    let of_chain = |sides: &[AdjacencyOp<'_>]| {
        let chain = sides[0].chain;
        let Some(latched) = latches.get_of(chain.label, chain.subgraph) else { return 0 };
        let ops: Vec<LocalOp> = sides.iter().map(|side| side.op).collect();
        let attributes: Vec<Attributes<'_>> = sides.iter().map(|side| side.attributes).collect();
        latched.bytes_to_merge(chain.direction, ops.len())
            + latched.bytes_of_attributes(chain.direction, Ops::with(&ops, &attributes))
    };
    let merges: usize = all.chunk_by(|a, b| a.chain == b.chain).map(of_chain).sum();
    merges + latches.absent_pages() * SubgraphPage::bytes()
}

/// Does the remaining steps before the ordering section, then runs that section. `None`: the caller starts
/// over, since a page exists now that was absent when the commit latched.
fn order<'e>(
    engine: &'e Engine,
    request: &Request<'_>,
    effects: &Effects,
    latches: &mut Latches<'e>,
    key_latches: &[usize],
) -> Result<Option<Timestamp>> {
    let record = engine.durable.as_ref().map(|_| encode(engine, effects, request.keys)).transpose()?;
    if !make_pages(engine, request, effects, latches, key_latches)? {
        return Ok(None);
    }
    let mut absent = true;
    let drawn = draw(engine, record, |last_drawn| {
        absent = latches.still_absent(engine);
        if !absent {
            // The error only serves to leave the section.
            return Err(CommitError::Conflict { with: last_drawn }.into());
        }
        check_open_and_reads(engine, request, latches, key_latches, last_drawn)
    });
    if absent { drawn.map(Some) } else { Ok(None) }
}

/// Checks that the first committer wins: under snapshot isolation no item that the commit writes, with effect
/// or without, may have changed since the snapshot.
fn check_writes(effects: &Effects, start: Timestamp, latches: &Latches<'_>) -> Result<()> {
    use hedgerow_core::Direction::Out;
    use hedgerow_mem::ReadItem;
    if faults::is_on(PlantedFault::WritesNotChecked) {
        return Ok(());
    }
    let written = effects.written.iter();
    let edges = written.map(|&(label, src, dst)| (label, src, ReadItem::Edge(src.local(), dst)));
    let vertices = effects.removed.iter().chain(&effects.inserted);
    let vertices = vertices.map(|&(_, id)| (LabelId::DEFAULT, id, ReadItem::Vertex(id.local())));
    for (label, id, item) in edges.chain(vertices) {
        if let Some(latched) = latches.get_of(label, id.subgraph())
            && latched.changed_since(Out, start, item)
        {
            return Err(CommitError::Conflict { with: latched.last_ts() }.into());
        }
    }
    Ok(())
}

/// Does the checks of the ordering section.
fn check_open_and_reads(
    engine: &Engine,
    request: &Request<'_>,
    latches: &Latches<'_>,
    key_latches: &[usize],
    last_drawn: Timestamp,
) -> Result<()> {
    engine.check_open()?;
    if request.isolation == Isolation::Snapshot || request.reads.is_empty() {
        return Ok(());
    }
    request.reads.check_others(request.start, last_drawn, engine, request.keys, latches, key_latches)
}

fn apply(engine: &Engine, keys: &TxnKeys, effects: &Effects, ts: Timestamp, latches: &mut Latches<'_>) {
    let horizon = engine.order.horizon();
    for &(key, id) in &effects.removed {
        if engine.catalog.config.keys != hedgerow_core::KeyKind::Dense {
            engine.keys.ids.unbind(keys.key(key), id, ts);
        }
    }
    for &(key, id) in &effects.inserted {
        match (engine.catalog.config.keys, keys.key(key)) {
            (hedgerow_core::KeyKind::Dense, _) => engine.keys.ids.include(id),
            (_, key) => {
                let oldest = horizon.oldest().unwrap_or(Timestamp::ZERO);
                engine.keys.ids.bind(key, id, ts, oldest);
            }
        }
    }
    let all = effects.adjacency_ops(engine);
    let mut ops: SmallVec<[LocalOp; 4]> = SmallVec::new();
    let mut attributes: SmallVec<[Attributes<'_>; 4]> = SmallVec::new();
    for group in all.chunk_by(|a, b| a.chain == b.chain) {
        let chain = group[0].chain;
        let Some(latched) = latches.get_mut(chain.label, chain.subgraph) else { continue };
        ops.clear();
        attributes.clear();
        ops.extend(group.iter().map(|side| side.op));
        if !group.iter().all(|side| side.attributes.is_none()) {
            attributes.extend(group.iter().map(|side| side.attributes));
        }
        let pins = latched.apply(chain.direction, Ops::with(&ops, &attributes), ts, &horizon);
        engine.pager.keep(chain, pins);
    }
}
