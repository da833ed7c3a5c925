//! The commit, phase by phase (rule R1 of the design; `docs/design/protocol.md` argues each step).
//!
//! 1. **Resolve** keys to vertex ids, without locks.
//! 2. **Latch** the keys that may be bound or unbound, then the subgraphs, both ascending. Look again: what was looked
//!    up must still hold, and the neighbours of removed vertices must be latched too; else start over.
//! 3. **Compute** the net effects against everything applied, published or not.
//! 4. **Validate** what was read in latched subgraphs.
//! 5. **Order**: in the ordering section validate the rest, reserve log space, draw the timestamp, append the record.
//!    Everything that fails cleanly fails before the timestamp is drawn.
//! 6. **Apply**, still invisible, and release the latches.
//! 7. **Publish**: mark the commit complete, wait until it is durable (if so asked) and published.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{LabelId, Op, Timestamp};
use hedgerow_txn::OrderGuard;

use super::plan::{AdjacencyOp, EdgeEffect, Effects, KeyBindings};
use super::validate::{LatchKey, Latches, ReadSet};
use super::{AttributesTable, TxnKeys, TxnOp};
use crate::durable::log::{Record, UnlessDone};
use crate::error::{Error, Result};
use crate::options::Isolation;
use crate::store::{Core, Engine};

/// How often a commit starts over because what it looked up changed before it had the latches.
const MAX_RESTARTS: usize = 1000;

/// Everything that a transaction brings to its commit.
pub(crate) struct Request<'a> {
    pub(crate) ops: &'a [TxnOp],
    pub(crate) attributes: AttributesTable<'a>,
    pub(crate) keys: &'a TxnKeys,
    /// Whether edges create their endpoints.
    pub(crate) create: bool,
    pub(crate) reads: &'a ReadSet,
    /// The timestamp of the snapshot that was read, registered until the commit returns.
    pub(crate) start: Timestamp,
    pub(crate) isolation: Isolation,
}

/// What a commit came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) ts: Timestamp,
    /// By how much the number of edges changed.
    pub(crate) edges: i64,
    /// How many operations on edges and properties found something to apply to.
    pub(crate) applied: u64,
}

enum Attempt {
    Done(Outcome),
    /// Start over, latching these subgraphs too.
    Again(Vec<LatchKey>),
}

/// Waits until the commit is published, and durable where the mode asks for it.
#[inline]
pub(crate) fn publish(engine: &Engine, outcome: Outcome) -> Result<Outcome> {
    engine.wait_published(outcome.ts)?;
    engine.reclaim_due();
    Ok(outcome)
}

/// Commits up to and including the mark in the ring. Blocks for other committers of the same subgraphs.
pub(crate) fn commit_unpublished(engine: &Engine, request: &Request<'_>) -> Result<Outcome> {
    if let Some(outcome) = super::batch::commit_unpublished(engine, request)? {
        return Ok(outcome);
    }
    let mut extra = Vec::new();
    for _ in 0..MAX_RESTARTS {
        match attempt(engine, request, &extra)? {
            Attempt::Done(outcome) => return Ok(outcome),
            Attempt::Again(more) => {
                extra.extend(more);
                extra.sort_unstable();
                extra.dedup();
            }
        }
    }
    Err(Error::Conflict { with: engine.clock.drawn() })
}

/// Ids taken for new vertices: those that the commit does not use go back.
struct Taken<'a> {
    engine: &'a Engine,
    ids: smallvec::SmallVec<[hedgerow_core::VertexId; 2]>,
}

impl Taken<'_> {
    fn used(&mut self, effects: &Effects) {
        // Sorted, since a bulk load inserts thousands of vertices in one transaction.
        let mut used: smallvec::SmallVec<[_; 2]> = effects.inserted.iter().map(|&(_, id)| id).collect();
        used.sort_unstable();
        self.ids.retain(|id| used.binary_search(id).is_err());
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.ids.iter().for_each(|&id| self.engine.ids.give_back(id));
    }
}

// Long because its seven steps share latches, ids and effects, and their order is the protocol.
fn attempt(engine: &Engine, request: &Request<'_>, extra: &[LatchKey]) -> Result<Attempt> {
    // 1. Resolve.
    let mut bindings = KeyBindings::of(request.ops, request.create);
    bindings.resolve(engine, request.keys);

    // 2. Latch. `taken` is declared before the latches, so that unused ids go back after they are released.
    let key_indices = bindings.key_latches(engine, request.keys);
    let mut taken = Taken { engine, ids: Default::default() };
    let key_latches: smallvec::SmallVec<[_; 2]> = key_indices.iter().map(|&i| engine.ids.latch(i)).collect();
    taken.ids = bindings.allocate(engine, request.keys, &key_indices)?;
    let mut latches = Latches::take(engine, &bindings.latch_keys(request.ops, extra));
    if !bindings.settle_initial(engine, request.keys, &latches) {
        return Ok(Attempt::Again(Vec::new()));
    }
    let missing = bindings.unlatched_neighbors(engine, &latches);
    if !missing.is_empty() {
        return Ok(Attempt::Again(missing));
    }

    // 3. Compute.
    let effects = match Effects::compute(engine, request, &mut bindings, &latches) {
        Ok(effects) => effects,
        Err(error) => {
            // A stale read explains a missing vertex better, and can be retried.
            if request.isolation == Isolation::Serializable {
                request.reads.check_latched(request.start, &latches)?;
                let order = engine.clock.order();
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
        // Nothing changes, but what was read must hold all the same, and "nothing changes" may rest on commits that
        // are not published yet: wait for all that were drawn before this moment.
        let order = engine.clock.order();
        check_open_and_reads(engine, request, &latches, &key_indices, order.last_drawn())?;
        if !latches.still_absent(engine) {
            return Ok(Attempt::Again(Vec::new()));
        }
        return Ok(Attempt::Done(Outcome { ts: order.last_drawn(), edges: 0, applied: effects.applied }));
    }

    // 5. Order.
    let Some(ts) = order(engine, request, &effects, &mut latches, &key_indices)? else {
        return Ok(Attempt::Again(Vec::new()));
    };

    // 6. Apply.
    let applied = must_apply(engine);
    taken.used(&effects);
    apply(engine, request.keys, &effects, ts, &mut latches);
    let (vertices, edges) = effects.count_changes();
    drop(latches);
    drop(key_latches);

    // 7. Publish: mark complete here; the caller waits.
    if engine.clock.complete(ts, vertices, edges) {
        engine.commits.wake();
    }
    applied.done();
    Ok(Attempt::Done(Outcome { ts, edges, applied: effects.applied }))
}

/// Makes the pages that the commit is the first to write to, and latches its subgraphs there. Last of all, since a commit
/// that changes nothing or fails is to leave none. `false` sends the caller back to the beginning.
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
    let last_drawn = engine.clock.order().last_drawn();
    check_open_and_reads(engine, request, latches, key_latches, last_drawn)?;
    Ok(latches.make(engine, &latch_keys))
}

/// What is left to do before the ordering section, and that section. `None` sends the caller back to the beginning: a page
/// was made that the commit took for absent.
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
            // It only ends the section.
            return Err(Error::Conflict { with: last_drawn });
        }
        check_open_and_reads(engine, request, latches, key_latches, last_drawn)
    });
    if absent { drawn.map(Some) } else { Ok(None) }
}

/// First committer wins: under snapshot isolation nothing that is written, with effect or without, may have changed
/// since the snapshot.
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
            return Err(Error::Conflict { with: latched.last_ts() });
        }
    }
    Ok(())
}

/// The log record of the effects. Removals come before insertions: a key can change its vertex in one commit.
fn encode(engine: &Engine, effects: &Effects, keys: &TxnKeys) -> Result<Record> {
    let mut record = Record::default();
    for e in effects.edges.iter().filter(|e| e.weight.is_none()) {
        let EdgeEffect { label, src, dst, rank, .. } = *e;
        record.push(Op::RemoveItem { label, src, dst, rank })?;
    }
    for &(_, id) in &effects.removed {
        record.push(Op::RemoveVertex { id })?;
    }
    for &(key, id) in &effects.inserted {
        record.push(Op::InsertVertex { id, key: keys.key(key) })?;
    }
    let mut bytes = Vec::new();
    for e in &effects.edges {
        let EdgeEffect { label, src, dst, rank, .. } = *e;
        let Some(weight) = e.weight else { continue };
        let weight = engine.is_weighted(label).then_some(weight);
        match &e.row {
            None if rank == 0 => record.push(Op::PutEdge { label, src, dst, weight })?,
            row => {
                bytes.clear();
                row.iter().for_each(|row| hedgerow_log::encode_row(row, &mut bytes));
                record.push(Op::PutItem { label, src, dst, rank, weight, row: &bytes })?;
            }
        }
    }
    record.finish();
    Ok(record)
}

/// The checks of the ordering section.
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

/// What is logged must be applied and completed. Should a panic come between, nothing later can be published: the store is
/// poisoned, and its readers go on with what was.
#[inline]
pub(crate) fn must_apply(core: &Core) -> UnlessDone<impl Fn()> {
    UnlessDone::new(|| core.commits.fail())
}

/// The ordering section: `check` what must still hold, reserve log space, draw, append.
pub(crate) fn draw(
    engine: &Engine,
    record: Option<Record>,
    check: impl FnOnce(Timestamp) -> Result<()>,
) -> Result<Timestamp> {
    let mut order = engine.clock.order();
    loop {
        if !order.has_room() || engine.backlog_is_full() {
            order = wait_for_room(engine, order)?;
        } else if engine.log_is_full() {
            order = wait_for_checkpoint(engine, order)?;
        } else {
            break;
        }
    }
    check(order.last_drawn())?;
    match (&engine.durable, record) {
        (Some(durable), Some(record)) => {
            let whole = must_apply(engine);
            let appended = durable.append(record, || order.draw());
            whole.done();
            engine.bound_log(durable);
            if matches!(appended, Err(Error::Poisoned)) {
                engine.commits.fail();
            }
            appended
        }
        _ => Ok(order.draw()),
    }
}

/// Leaves the ordering section until publication has moved, and enters it again: rule R11. Snapshots never come here.
#[cold]
fn wait_for_room<'e>(engine: &'e Engine, order: OrderGuard<'e>) -> Result<OrderGuard<'e>> {
    let oldest_missing = engine.clock.published().next();
    if oldest_missing > order.last_drawn() {
        // Everything has been published since there was no room. To wait for a timestamp that nobody has drawn would be to
        // wait for somebody who may be waiting for our latches.
        return Ok(order);
    }
    drop(order);
    engine.commit_waits.fetch_add(1, hedgerow_core::sync::Ordering::Relaxed);
    // Nothing of this commit was appended: if the log fails now, it did not happen.
    engine.wait_published(oldest_missing).map_err(|_| Error::Poisoned)?;
    Ok(engine.clock.order())
}

/// Leaves the ordering section until the log is shorter, and enters it again. The store may be closed meanwhile: then no
/// checkpoint makes the log shorter any more.
#[cold]
fn wait_for_checkpoint<'e>(engine: &'e Engine, order: OrderGuard<'e>) -> Result<OrderGuard<'e>> {
    // Closing says so in the ordering section, before it ends the thread of checkpoints.
    engine.check_open()?;
    drop(order);
    engine.commit_waits.fetch_add(1, hedgerow_core::sync::Ordering::Relaxed);
    engine.log_bound.wait(engine.log_end(), || engine.commits.is_failed());
    Ok(engine.clock.order())
}

fn apply(engine: &Engine, keys: &TxnKeys, effects: &Effects, ts: Timestamp, latches: &mut Latches<'_>) {
    let horizon = engine.horizon();
    for &(key, id) in &effects.removed {
        if engine.config.keys != hedgerow_core::KeyKind::Dense {
            engine.ids.unbind(keys.key(key), id, ts);
        }
    }
    for &(key, id) in &effects.inserted {
        match (engine.config.keys, keys.key(key)) {
            (hedgerow_core::KeyKind::Dense, _) => engine.ids.include(id),
            (_, key) => {
                let oldest = horizon.oldest().unwrap_or(Timestamp::ZERO);
                engine.ids.bind(&key.to_owned(), id, ts, oldest);
            }
        }
    }
    let ops = effects.adjacency_ops(engine);
    let mut plain: smallvec::SmallVec<[hedgerow_mem::subgraph::LocalOp; 4]> = smallvec::SmallVec::new();
    for group in ops.chunk_by(|a, b| a.chain == b.chain) {
        let chain = group[0].chain;
        let Some(latched) = latches.get_mut(chain.label, chain.subgraph) else { continue };
        let pinned = |pin| engine.keep(chain, pin);
        let (weighted, horizon) = (engine.is_weighted(chain.label), horizon.of(chain.label));
        if group.iter().all(AdjacencyOp::is_plain) {
            plain.clear();
            plain.extend(group.iter().map(|side| side.op.op));
            latched.apply(chain.direction, &plain, ts, weighted, horizon, pinned);
        } else {
            let items: Vec<hedgerow_mem::ItemOp> = group.iter().map(|side| side.op.clone()).collect();
            latched.apply_items(chain.direction, &items, ts, weighted, horizon, pinned);
        }
    }
}
