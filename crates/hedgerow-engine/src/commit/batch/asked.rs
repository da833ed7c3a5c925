//! The edges of a large transaction at subgraphs whose chains are not in memory: what the transaction read of
//! them in files, without latches, and their state under the latches (`docs/design/inboxes.md`).

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, InterpolationHint, LabelId, LocalVertex, Timestamp, VertexId};
use hedgerow_mem::Latched;
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_pager::InboxBase;
use hedgerow_tier::ImageId;

use super::lookup::Outcomes;
use super::parts::{BatchEntry, Part, SubgraphBatch};
use crate::commit::op::OpKind;
use crate::commit::validate::LatchKey;
use crate::error::Result;
use crate::state::pages::EdgeAt;
use crate::state::room::commit::Merges;
use crate::state::store::Engine;

/// The edges of one subgraph about which the transaction asks.
pub(super) struct Question {
    of: LatchKey,
    /// Ascending.
    edges: Vec<EdgeAt>,
}

/// The answer about one subgraph.
struct Answer {
    /// Ascending.
    edges: Vec<EdgeAt>,
    /// The timestamp of the last operation in the state that was read.
    begin: Timestamp,
    /// The weight of each edge in that state.
    weights: Vec<Option<f64>>,
}

/// The answers so far, by subgraph.
#[derive(Default)]
pub(super) struct Answers(HashMap<LatchKey, Answer, FixedState>);

impl Answers {
    /// Reads the answers to questions. The caller holds nothing.
    pub(super) fn read(&mut self, engine: &Engine, questions: Vec<Question>) -> Result<()> {
        for Question { of, mut edges } in questions {
            if let Some(before) = self.0.remove(&of) {
                // These too, since the state may be another one by now.
                edges.extend(before.edges);
                edges.sort_unstable_by_key(key);
                edges.dedup();
            }
            if let Some(found) = engine.pager.stored_edges(image(of), &edges)? {
                let (begin, weights) = (found.begin, found.weights);
                self.0.insert(of, Answer { edges, begin, weights });
            }
        }
        Ok(())
    }

    /// Decides, with all latches held, the effects of the operations on edges that were asked about. Returns
    /// the questions about those that are still open: some answer is about another state, or missing.
    pub(super) fn decide(
        &self,
        engine: &Engine,
        outcomes: &Outcomes<'_>,
        parts: &[Part<'_>],
    ) -> Vec<Question> {
        for part in parts {
            for at in 0..part.batches.len() {
                if let Some(answer) = self.0.get(&(part.label.label, part.batches[at].subgraph)) {
                    decide(engine, outcomes, (part, at), answer);
                }
            }
        }
        open(engine, outcomes, parts)
    }
}

fn image((label, subgraph): LatchKey) -> ImageId {
    ImageId { label, subgraph }
}

/// The order of edges within a subgraph.
fn key(edge: &EdgeAt) -> (u8, LocalVertex, VertexId) {
    (edge.0 as u8, edge.1, edge.2)
}

/// Decides the effects at one subgraph, if the answer is about its present state.
fn decide(engine: &Engine, outcomes: &Outcomes<'_>, (part, at): (&Part<'_>, usize), answer: &Answer) {
    let (batch, held) = (&part.batches[at], &part.latched[at]);
    let id = image((part.label.label, batch.subgraph));
    if batch.is_outside
        && engine.pager.begin_of(id, held.last_ts()) != answer.begin
        && !faults::is_on(PlantedFault::AnswerOutdated)
    {
        return;
    }
    let outcomes = outcomes.of_label(part.label);
    let hint = InterpolationHint::over(engine.keys.ids.bound());
    for &direction in part.label.directions {
        let groups = || part.entries[batch.entries(direction)].chunk_by(BatchEntry::same_edge);
        let groups = || groups().filter(|group| !group[0].is_vertex());
        let edge = |group: &[BatchEntry]| (group[0].local(), group[0].dst());
        let asked =
            |(local, other)| answer.edges.binary_search_by_key(&(direction as u8, local, other), key).ok();
        if !batch.is_outside {
            // It was loaded since.
            let mut edges = held.finder(direction, hint);
            for group in groups().filter(|group| asked(edge(group)).is_some()) {
                outcomes.decide_by(group, edges.edge(group[0].local(), group[0].dst()));
            }
            continue;
        }
        let of_chain: Vec<(LocalVertex, VertexId)> = groups().map(edge).collect();
        let newer = engine.pager.inboxes.weights(id, direction, &of_chain);
        for (group, newer) in groups().zip(newer) {
            let newer = newer.filter(|_| !faults::is_on(PlantedFault::InboxNotLookedUp));
            if let Some(stored) = asked(edge(group)) {
                outcomes.decide_by(group, newer.unwrap_or(answer.weights[stored]));
            }
        }
    }
}

/// Returns the questions about edges at subgraphs whose chains are not in memory, and whose effects are not
/// decided yet. Asks at one copy of each edge: at the one that counts, unless that is in memory.
fn open(engine: &Engine, outcomes: &Outcomes<'_>, parts: &[Part<'_>]) -> Vec<Question> {
    let outside = |part: &Part<'_>| {
        let label = part.label.label;
        let ids: Vec<LatchKey> =
            part.batches.iter().filter(|it| it.is_outside).map(|it| (label, it.subgraph)).collect();
        ids
    };
    let outside: HashSet<LatchKey, FixedState> = parts.iter().flat_map(outside).collect();
    let placement = engine.catalog.placement();
    let mut questions = Vec::new();
    for part in parts {
        let of_label = outcomes.of_label(part.label);
        for batch in part.batches.iter().filter(|batch| batch.is_outside) {
            let mut edges = Vec::new();
            for &direction in part.label.directions {
                for group in part.entries[batch.entries(direction)].chunk_by(BatchEntry::same_edge) {
                    let (local, other) = (group[0].local(), group[0].dst());
                    if group[0].is_vertex() || of_label.is_decided(group) {
                        continue;
                    }
                    let counts = placement.counts_at(direction, batch.subgraph.vertex(local), other);
                    if counts || !outside.contains(&(part.label.label, other.subgraph())) {
                        edges.push((direction, local, other));
                    }
                }
            }
            if !edges.is_empty() {
                questions.push(Question { of: (part.label.label, batch.subgraph), edges });
            }
        }
    }
    questions
}

/// True if a batch can write to a subgraph whose chains are not in memory: its edges have no properties, and
/// it creates no vertex. The subgraph has these vertices.
pub(super) fn can_be_outside(part_is_plain: bool, entries: &[BatchEntry], present: u64) -> bool {
    let creates = entries.iter().filter(|entry| !entry.is_kind(OpKind::Remove));
    let named = creates.fold(0, |mask, entry| mask | entry.local().bit());
    let has_edges = entries.iter().any(|entry| !entry.is_vertex());
    (part_is_plain || !has_edges) && named & !present == 0
}

/// Takes memory for the effects of a batch in the inbox of its subgraph; false if there is no room.
pub(super) fn has_room(engine: &Engine, label: LabelId, batch: &SubgraphBatch, merges: &Merges) -> bool {
    let counts = [Direction::Out, Direction::In].map(|direction| batch.effects(direction).len());
    let id = image((label, batch.subgraph));
    counts == [0, 0] || merges.begin(engine.pager.inboxes.bytes_to_append(id, counts))
}

/// Appends the effects on a subgraph whose chains are not in memory to its inbox.
pub(super) fn append(
    engine: &Engine,
    (label, batch, held): (LabelId, &SubgraphBatch, &mut Latched<'_>),
    effects: &[LocalOp],
    ts: Timestamp,
) {
    let (id, last) = (image((label, batch.subgraph)), held.last_ts());
    let base = || InboxBase { sources: engine.pager.pages.sources(), begin: last };
    let mut any = false;
    for direction in [Direction::Out, Direction::In] {
        let ops = &effects[batch.effects(direction)];
        if !ops.is_empty() {
            engine.pager.inboxes.append((id, direction), ts, ops, base);
            any = true;
        }
    }
    if any {
        held.note_outside(ts);
    }
}
