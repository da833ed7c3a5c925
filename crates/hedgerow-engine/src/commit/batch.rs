//! Transactions of several blind operations on edges and vertices: sorted once, then worked on subgraph by
//! subgraph, in parallel where there is enough to do.
//!
//! The protocol is that of [`commit`](super::general), with other steps. Keys are looked up. Every operation
//! becomes one *entry* per copy of its edge. It also becomes one per vertex that it names, unless it is on an
//! edge of the default label. Label by label, entries are sorted by subgraph, direction, vertex and
//! destination. The subgraphs are latched in that order, the entries about one edge are reduced to one
//! effect, and effects are applied subgraph by subgraph: O(n log n) time, O(n) memory.
//!
//! A batch has only operations that read nothing and remove no vertex: then nothing needs validation, and
//! existing vertices stay. Edges with ranks, and updates of properties, take the general way. Operations on
//! chains that are not in memory may go to inboxes (`docs/design/inboxes.md`).

mod ahead;
mod asked;
mod distinct;
mod gather;
mod key_lookups;
mod labels;
mod latch;
mod lookup;
mod parts;
mod record;

use std::ops::Range;

use ahead::{merge_ahead, ops};
use asked::{Answers, Question, append, do_not_load, has_room, load_pages, stored};
use gather::gather;
use hedgerow_catalog::error::{CommitError, Result};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, InterpolationHint, KeyKind, LabelId, Timestamp};
use hedgerow_io::failpoint::{self, FailPoint};
use hedgerow_mem::{Hold, Merged};
use hedgerow_pager::pager::room::commit::{CommitRoom, Merges};
use hedgerow_pager::tables::PartitionKey;
use hedgerow_txn::{CommitThreads, with_commit_threads};
use key_lookups::Resolved;
use labels::{BatchLabel, ByLabel};
use latch::latch;
use lookup::Outcomes;
use parts::{HEADERS_AHEAD, Part, parts, prefetch_heads, still_absent};
use record::{created, encode};

use super::order::{draw, must_apply};
use super::request::{Outcome, Request};
use super::validate::LatchKey;
use crate::config::Isolation;
use crate::state::store::Engine;

/// The distances, in batches, of prefetches: of heads, of lists, of the heads of deltas, of the places of
/// appends.
const HEADS_AHEAD: usize = 5;
const LISTS_AHEAD: usize = 2;
const DELTAS_AHEAD: usize = 5;
const APPENDS_AHEAD: usize = 3;
/// The greatest number of restarts of a commit whose keys changed before it had the latches.
const MAX_RESTARTS: usize = 100;
/// The greatest number of times that a commit reads edges which it does not load.
const MOST_ROUNDS: u32 = 20;

/// True if the transaction can commit as a batch.
fn suits(engine: &Engine, request: &Request<'_>) -> bool {
    // A single operation comes here if a chain is not in memory.
    (request.ops.len() > 1 || engine.pager.eviction.happens())
        && request.create
        && !engine.catalog.config.is_one_way()
        && request.isolation == Isolation::Serializable
        && request.reads.is_empty()
        && request.ops.iter().all(|op| op.is_batched() && request.attributes.rank(op.attributes) == 0)
        && are_simple(engine, request)
}

/// True if no operation is on a label with several edges between two vertices.
fn are_simple(engine: &Engine, request: &Request<'_>) -> bool {
    let labelled = request.ops.iter().map(|op| op.label);
    let mut labelled = labelled.filter(|&label| label != LabelId::DEFAULT && label != LabelId::VERTICES);
    let Some(mut known) = labelled.next() else { return true };
    let schema = engine.catalog.schema.load();
    let is_simple = |label| schema.label_by_id(label).is_some_and(|label| !label.is_multi());
    is_simple(known)
        && labelled.all(|label| std::mem::replace(&mut known, label) == label || is_simple(label))
}

/// Commits the transaction up to and including the mark in the ring. `None`: nothing was changed, and the
/// caller takes the general way.
pub(crate) fn commit_unpublished(engine: &Engine, request: &Request<'_>) -> Result<Option<Outcome>> {
    if !suits(engine, request) {
        return Ok(None);
    }
    let mut room = request.room(engine);
    // The answers of the last round, once the transaction writes to chains that are not in memory.
    let (mut answers, mut rounds, mut has_loaded) = (None::<Answers>, 0, false);
    loop {
        let ended = attempts(engine, &engine.pager.hold(), request, (&mut room, answers.as_ref()))?;
        match ended {
            Attempt::Committed(outcome) => return Ok(Some(outcome)),
            Attempt::Moved => return Ok(None),
            // The thread has no latch, no hold and no threads of commits: it may wait for a checkpoint.
            // What was loaded may displace what the transaction also needs, so it loads only once.
            Attempt::Load(unloaded, _)
                if answers.is_none() && rounds == 0 && engine.pager.writes_outside(&unloaded, has_loaded) =>
            {
                room.forget_loaded();
                answers = Some(Answers::default());
                let worth = engine.pager.worth_loading(&unloaded);
                if !worth.is_empty() {
                    room.load_optional(&worth);
                }
            }
            Attempt::Load(unloaded, stored) if answers.is_some() => {
                room.unpin();
                load_pages(engine, &stored)?;
                let others: Vec<LatchKey> =
                    unloaded.into_iter().filter(|it| stored.binary_search(it).is_err()).collect();
                if !others.is_empty() {
                    let loaded = room.load(&others);
                    loaded.or_else(|refused| do_not_load(refused, &mut room, &mut answers, rounds))?;
                }
            }
            Attempt::Load(unloaded, _) => {
                has_loaded = true;
                room.load(&unloaded)
                    .or_else(|refused| do_not_load(refused, &mut room, &mut answers, rounds))?;
            }
            Attempt::Ask(questions) => {
                rounds += 1;
                // Else other threads change the state below the inboxes again and again.
                answers = answers.filter(|_| rounds <= MOST_ROUNDS);
                if let Some(answers) = &mut answers {
                    // A read may wait for memory, so the transaction holds none (rule B2).
                    room.unpin();
                    answers.read(engine, questions)?;
                }
            }
            Attempt::CutShort { needed } => room
                .make_room(needed)
                .or_else(|refused| do_not_load(refused, &mut room, &mut answers, rounds))?,
        }
    }
}

fn attempts<'j>(
    engine: &'j Engine,
    hold: &'j Hold,
    request: &'j Request<'_>,
    (room, answers): (&mut CommitRoom<'_>, Option<&Answers>),
) -> Result<Attempt> {
    let attempts = |threads: &CommitThreads<'j>| -> Result<Attempt> {
        let mut last = Attempt::Moved;
        for _ in 0..MAX_RESTARTS {
            last = attempt(engine, hold, (request, answers), threads, room.merges())?;
            if !matches!(last, Attempt::Moved) {
                return Ok(last);
            }
        }
        Ok(last)
    };
    with_commit_threads(request.ops.len() * 2, engine.work.thresholds.threads_from, attempts)
}

/// The outcome of an attempt; only `Committed` has changed anything.
enum Attempt {
    Committed(Outcome),
    /// A key named another vertex before the latches were held, or an absent page was made.
    Moved,
    /// These subgraphs must be loaded first. The second list has those, ascending, whose pages are not in
    /// memory.
    Load(Vec<LatchKey>, Vec<LatchKey>),
    /// These edges must be read first, without loading them.
    Ask(Vec<Question>),
    /// The memory limit left no room for the merges, which need these bytes.
    CutShort {
        needed: u64,
    },
}

fn attempt<'j>(
    engine: &'j Engine,
    hold: &'j Hold,
    (request, answers): (&'j Request<'_>, Option<&Answers>),
    threads: &CommitThreads<'j>,
    merges: Merges,
) -> Result<Attempt> {
    let attributed = !engine.catalog.schema.default_is_plain();
    let labels = ByLabel::of(engine, request.ops, attributed);
    let each = labels.each(request.ops.len());
    let mut context = (Resolved::of(engine, request, threads)?, labels);
    let serial = engine.work.thresholds.threads_from;
    let mut all = Vec::new();
    for (nth, (label, ops)) in each.into_iter().enumerate() {
        let entries =
            move |(keys, labels): &(Resolved<'_>, ByLabel), range: Range<usize>, to: &mut Vec<_>| {
                let program = (request.ops, request.attributes);
                for at in range {
                    keys.each_entry(
                        engine.catalog.placement(),
                        (label.label, labels.place(nth, at)),
                        program,
                        to,
                    );
                }
            };
        let of_label;
        (context, of_label) = parts(threads, (label, ops), serial, context, entries);
        all.extend(of_label);
    }
    let (keys, _) = context;
    let parts = match prepare_all(engine, hold, (request, answers), threads, (all, &merges)) {
        Ok(parts) => parts,
        Err(open) => return Ok(Attempt::Ask(open)),
    };
    let unloaded: Vec<_> = parts.iter().flat_map(Part::unloaded).collect();
    if !unloaded.is_empty() {
        // Pages are read from files without latches.
        let stored = stored(&parts);
        drop((parts, keys));
        return Ok(Attempt::Load(unloaded, stored));
    }
    if parts.iter().any(|part| part.is_cut_short) {
        return Ok(Attempt::CutShort { needed: merges.needed() });
    }
    // Edges may have properties only if the schema allows it, which is checked under the latches.
    if !attributed && !engine.catalog.schema.default_is_plain() {
        return Ok(Attempt::Moved);
    }
    let unasked = faults::is_on(PlantedFault::BatchKeysNotLookedAtAgain);
    if unasked || keys.still_hold(engine, request.keys) {
        return finish(engine, request, keys, parts, threads);
    }
    Ok(Attempt::Moved)
}

/// Latches and prepares all parts. If the transaction writes to chains that are not in memory, it first
/// decides its effects on them; fails with the questions that are open.
fn prepare_all<'j>(
    engine: &'j Engine,
    hold: &'j Hold,
    (request, answers): (&'j Request<'_>, Option<&Answers>),
    threads: &CommitThreads<'j>,
    (all, merges): (Vec<Part<'j>>, &Merges),
) -> std::result::Result<Vec<Part<'j>>, Vec<Question>> {
    let outcomes = Outcomes::new(engine, request);
    let (of_latch, of_prepare, outside) = (merges.clone(), merges.clone(), answers.is_some());
    let latch = move |_: &Outcomes<'_>, part: &mut Part<'j>| {
        latch(engine, hold, part, (&of_latch, outside));
    };
    let prepare =
        move |outcomes: &Outcomes<'j>, part: &mut Part<'j>| prepare(engine, outcomes, part, &of_prepare);
    let Some(answers) = answers else { return Ok(threads.claim_each(outcomes, all, latch, prepare).1) };
    let (outcomes, parts) = threads.claim_each(outcomes, all, latch, |_, _| ());
    if parts.iter().any(|part| !part.unloaded.is_empty() || part.is_cut_short) {
        return Ok(parts);
    }
    let open = answers.decide(engine, &outcomes, &parts);
    if !open.is_empty() {
        return Err(open);
    }
    Ok(threads.each(outcomes, parts, prepare).1)
}

/// Prepares the subgraphs of one part before the timestamp is drawn. Computes the effects of the operations,
/// and makes room for them in deltas, or builds versions in which they are merged. If there is no memory for
/// that, only counts the memory.
fn prepare<'j>(engine: &Engine, outcomes: &Outcomes<'j>, part: &mut Part<'j>, merges: &Merges) {
    let _ = failpoint::reach(FailPoint::BatchCompute);
    if !part.unloaded.is_empty() || part.is_cut_short {
        return;
    }
    let outcomes = outcomes.of_label(part.label);
    part.effects.reserve_exact(part.entries.len());
    if part.label.attributed {
        part.attributes.reserve_exact(part.entries.len());
    }
    let hint = InterpolationHint::over(engine.keys.ids.bound());
    let limited = engine.pager.memory_limit.is_some();
    let (mut heads, mut lists) = (0, 0);
    for at in 0..part.batches.len() {
        let upto = |ahead: usize| part.batches.len().min(at + ahead);
        for ahead in heads..upto(HEADS_AHEAD) {
            prefetch_heads(&part.latched[ahead], part, &part.batches[ahead]);
            outcomes.prefetch_known(&part.entries[part.batches[ahead].all_entries()]);
        }
        for ahead in lists..upto(LISTS_AHEAD) {
            outcomes.prefetch(&part.entries, &part.batches[ahead], &part.latched[ahead], hint);
        }
        (heads, lists) = (upto(HEADS_AHEAD), upto(LISTS_AHEAD));
        gather(engine, outcomes, part, at, hint);
        if part.batches[at].is_outside {
            part.is_cut_short |= limited && !has_room(engine, part.label.label, &part.batches[at], merges);
            continue;
        }
        for &direction in part.label.directions {
            let count = part.batches[at].effects(direction).len();
            let needs_memory = count > 0
                && (limited && !part.attributes.is_empty() || !part.latched[at].has_room(direction, count));
            if needs_memory && !merge_ahead(engine, part, (at, direction), merges) {
                // No timestamp was drawn yet: the built versions are dropped, and the attempt ends.
                part.is_cut_short = true;
            }
        }
    }
}

/// Orders and applies the commit, with all latches held and everything prepared.
fn finish<'j>(
    engine: &'j Engine,
    request: &'j Request<'_>,
    mut keys: Resolved<'j>,
    parts: Vec<Part<'j>>,
    threads: &CommitThreads<'j>,
) -> Result<Attempt> {
    let applied = request.ops.len() as u64;
    let edges: i64 = parts.iter().map(|part| part.edges).sum();
    let vertices: usize = parts.iter().map(|part| part.vertices).sum();
    if parts.iter().all(|part| part.changes == 0 && part.vertices == 0) {
        // The reason for no change may be commits that are not published yet: wait for all that were drawn
        // before this moment.
        let order = engine.order.clock.order();
        engine.check_open()?;
        if !still_absent(engine, &parts) {
            return Ok(Attempt::Moved);
        }
        return Ok(Attempt::Committed(Outcome { ts: order.last_drawn(), edges: 0, applied }));
    }
    let record = match &engine.durable {
        Some(_) => Some(encode(engine, request, &keys, &parts)?),
        None => None,
    };
    let mut absent = true;
    let drawn = draw(engine, record, |last_drawn| {
        absent = still_absent(engine, &parts);
        if absent { engine.check_open() } else { Err(CommitError::Conflict { with: last_drawn }.into()) }
    });
    if !absent {
        return Ok(Attempt::Moved);
    }
    let ts = drawn?;
    let applied_all = must_apply(engine);
    if engine.catalog.config.keys == KeyKind::Dense {
        created(&parts).max().into_iter().for_each(|id| engine.keys.ids.include(id));
    } else {
        keys.keep_ids();
        keys = keys.bind_all(request.keys, ts, threads);
    }
    threads.each((), parts, move |(), part| {
        let _ = failpoint::reach(FailPoint::BatchApply);
        apply(engine, part, ts);
    });
    keys.unlatch();
    if engine.order.clock.complete(ts, vertices as i64, edges) {
        engine.order.commits.wake(&engine.order.clock);
    }
    applied_all.done();
    Ok(Attempt::Committed(Outcome { ts, edges, applied }))
}

/// Applies the effects of a part and releases its latches.
fn apply(engine: &Engine, part: &mut Part<'_>, ts: Timestamp) {
    let horizon = engine.order.horizon();
    let Part { label, batches, latched, effects, attributes, ahead, .. } = part;
    let (of_label, BatchLabel { label, directions, .. }) = (*label, *label);
    let mut built = ahead.drain(..).peekable();
    for (at, batch) in batches.iter().enumerate() {
        if let Some(held) = latched.get(at + HEADERS_AHEAD) {
            held.prefetch_header();
        }
        if let Some(held) = latched.get(at + DELTAS_AHEAD) {
            held.prefetch_delta_head(Direction::Out);
        }
        if let Some(held) = latched.get(at + APPENDS_AHEAD) {
            held.prefetch_append(Direction::Out);
        }
        if batch.is_outside {
            append(engine, (of_label, batch, &mut latched[at]), effects, ts);
            continue;
        }
        for &direction in directions {
            let ops = ops(effects, attributes, batch.effects(direction));
            if !ops.is_empty() {
                let version = built.next_if(|&(of, chain, _)| (of as usize, chain) == (at, direction));
                let chain = PartitionKey { label, subgraph: batch.subgraph, direction };
                let version = version.map(|(_, _, version)| version);
                let pins = latched[at].apply_ahead(direction, ops, version, ts, &horizon);
                engine.pager.keep(chain, pins);
            }
        }
    }
    drop(built);
    let mut merged = Merged::default();
    latched.iter().for_each(|held| merged += held.merged());
    // Freed here, since several threads run this.
    *part = Part::default();
    engine.note_merged(label, merged);
}
