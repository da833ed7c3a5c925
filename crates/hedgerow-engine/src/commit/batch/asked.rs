//! The edges of a large transaction at subgraphs whose chains are not in memory: what the transaction read of
//! them in files, without latches, and their state under the latches (`docs/design/inboxes.md`).

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;
use hedgerow_catalog::error::{Error, Result};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::Mutex;
use hedgerow_core::{Direction, InterpolationHint, LabelId, LocalVertex, Timestamp, VertexId};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{Latched, SubgraphPage};
use hedgerow_pager::InboxBase;
use hedgerow_pager::budget::{For, Need};
use hedgerow_pager::page_of;
use hedgerow_pager::pager::pages::{EdgeAt, StoredEdges};
use hedgerow_pager::pager::room::commit::{CommitRoom, Merges};
use rayon::prelude::*;

use super::labels::BatchLabel;
use super::lookup::Outcomes;
use super::parts::{BatchEntry, Part, SubgraphBatch};
use crate::commit::op::OpKind;
use crate::commit::validate::LatchKey;
use crate::state::store::Engine;

/// The number of questions from which on several threads read the answers.
const MANY: usize = 256;
/// The number of questions about subgraphs of a page from which on the page is read as a whole.
const MANY_OF_PAGE: usize = 16;

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
    /// Reads the answers to questions: many of them in parallel, in the current rayon pool. The caller holds
    /// nothing.
    pub(super) fn read(&mut self, engine: &Engine, mut questions: Vec<Question>) -> Result<()> {
        for Question { of, edges } in &mut questions {
            if let Some(before) = self.0.remove(of) {
                // These too, since the state may be another one by now.
                edges.extend(before.edges);
                edges.sort_unstable_by_key(key);
                edges.dedup();
            }
        }
        let answers = Mutex::new(&mut self.0);
        let put = |question: &mut Question, found: StoredEdges| {
            let StoredEdges { begin, weights } = found;
            let edges = std::mem::take(&mut question.edges);
            answers.lock().insert(question.of, Answer { edges, begin, weights });
        };
        let read = |question: &mut Question| {
            let found = engine.pager.stored_edges(question.of.into(), &question.edges);
            if let Some(found) = found.map_err(Error::of_commit)? {
                put(question, found);
            }
            Ok::<_, Error>(())
        };
        if questions.len() < MANY {
            return questions.iter_mut().try_for_each(read);
        }
        questions.sort_unstable_by_key(|question| question.of);
        let page = |question: &Question| page_of(question.of.0, question.of.1);
        let mut pages: Vec<&mut [Question]> = questions.chunk_by_mut(|a, b| page(a) == page(b)).collect();
        hedgerow_par::try_for_each(pages.par_iter_mut(), |of_page| {
            if of_page.len() >= MANY_OF_PAGE {
                let page = page(&of_page[0]);
                let asked: Vec<_> = of_page.iter().map(|it| (it.of.1, it.edges.as_slice())).collect();
                let found = match engine.pager.stored_edges_of_page(page, &asked).map_err(Error::of_commit) {
                    // The buffers of a page take more than those of a list.
                    Err(refused) if refused.is_out_of_memory() => Vec::new(),
                    found => found?,
                };
                let found = of_page.iter_mut().zip(found);
                found.for_each(|(question, found)| found.into_iter().for_each(|found| put(question, found)));
            }
            // Those that are answered have no edges left.
            of_page.iter_mut().filter(|question| !question.edges.is_empty()).try_for_each(read)
        })
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

/// The order of edges within a subgraph.
fn key(edge: &EdgeAt) -> (u8, LocalVertex, VertexId) {
    (edge.0 as u8, edge.1, edge.2)
}

/// Decides the effects at one subgraph, if the answer is about its present state.
fn decide(engine: &Engine, outcomes: &Outcomes<'_>, (part, at): (&Part<'_>, usize), answer: &Answer) {
    let (batch, held) = (&part.batches[at], &part.latched[at]);
    if part.label.attributed {
        // Each copy compares the properties too.
        return;
    }
    let outcomes = outcomes.of_label(part.label);
    let groups = |direction| {
        let groups = part.entries[batch.entries(direction)].chunk_by(BatchEntry::same_edge);
        groups.filter(|group| !group[0].is_vertex())
    };
    let edge = |group: &[BatchEntry]| (group[0].local(), group[0].dst());
    let asked = |direction: Direction, (local, other)| {
        answer.edges.binary_search_by_key(&(direction as u8, local, other), key).ok()
    };
    if !batch.is_outside {
        // It was loaded since.
        let hint = InterpolationHint::over(engine.keys.ids.bound());
        for &direction in part.label.directions {
            let mut edges = held.finder(direction, hint);
            for group in groups(direction).filter(|group| asked(direction, edge(group)).is_some()) {
                outcomes.decide_by(group, edges.edge(group[0].local(), group[0].dst()));
            }
        }
        return;
    }
    let edges = [Direction::Out, Direction::In].map(|direction| groups(direction).map(edge).collect());
    let [out, incoming]: [Vec<(LocalVertex, VertexId)>; 2] = edges;
    let look = engine.pager.inboxes.look((part.label.label, batch.subgraph).into(), [&out, &incoming]);
    let begin = look.as_ref().map_or(held.last_ts(), |look| look.begin);
    if begin != answer.begin && !faults::is_on(PlantedFault::AnswerOutdated) {
        return;
    }
    for &direction in part.label.directions {
        for (nth, group) in groups(direction).enumerate() {
            let newer = look.as_ref().and_then(|look| look.weights[direction as usize][nth]);
            let newer = newer.filter(|_| !faults::is_on(PlantedFault::InboxNotLookedUp));
            if let Some(stored) = asked(direction, edge(group)) {
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

/// Makes a transaction that was refused memory do without the chains that it has loaded: its operations go to
/// inboxes. Fails if it needs these chains, or did so before.
pub(super) fn do_not_load(
    refused: Error,
    room: &mut CommitRoom<'_>,
    answers: &mut Option<Answers>,
    rounds: u32,
) -> Result<()> {
    let can_do_without = room.is_optional() || answers.is_none() && rounds == 0;
    if !refused.is_out_of_memory() || !room.has_loaded() || !can_do_without {
        return Err(refused);
    }
    room.forget_loaded();
    answers.get_or_insert_default();
    Ok(())
}

/// Returns the subgraphs, ascending, whose pages are not in memory.
pub(super) fn stored(parts: &[Part<'_>]) -> Vec<LatchKey> {
    let of_part = |part: &Part<'_>| {
        let ids = part.stored.iter().map(|&id| (part.label.label, id));
        ids.collect::<Vec<LatchKey>>()
    };
    let mut stored: Vec<LatchKey> = parts.iter().flat_map(of_part).collect();
    stored.sort_unstable();
    stored
}

/// Loads the stored pages of subgraphs, without their chains; waits for memory for them. The caller holds
/// nothing.
pub(super) fn load_pages(engine: &Engine, subgraphs: &[LatchKey]) -> Result<()> {
    let mut pages: Vec<_> = subgraphs.iter().map(|&(label, id)| page_of(label, id)).collect();
    pages.sort_unstable();
    pages.dedup();
    let bytes = SubgraphPage::bytes() as u64;
    for page in pages {
        if !engine.pager.budget.fits(&Need::new(For::Commit, bytes)) {
            engine.find_room_to_merge(bytes)?;
        }
        engine.pager.load_marked_page(page)?;
    }
    Ok(())
}

/// Takes memory for the effects of a batch in the inbox of its subgraph; false if there is no room.
pub(super) fn has_room(engine: &Engine, label: LabelId, batch: &SubgraphBatch, merges: &Merges) -> bool {
    let counts = [Direction::Out, Direction::In].map(|direction| batch.effects(direction).len());
    let id = (label, batch.subgraph);
    counts == [0, 0] || merges.begin(engine.pager.inboxes.bytes_to_append(id.into(), counts))
}

/// Appends the effects on a subgraph whose chains are not in memory to its inbox.
pub(super) fn append(
    engine: &Engine,
    (label, batch, held): (BatchLabel, &SubgraphBatch, &mut Latched<'_>),
    effects: &[LocalOp],
    ts: Timestamp,
) {
    let (id, last) = ((label.label, batch.subgraph), held.last_ts());
    let base = || InboxBase { sources: engine.pager.pages.sources(), begin: last };
    let of = |direction: Direction| &effects[batch.effects(direction)];
    if label.directions.iter().all(|&direction| of(direction).is_empty()) {
        return;
    }
    held.mark_outside(label.directions);
    for &direction in label.directions {
        if !of(direction).is_empty() {
            engine.pager.inboxes.append((id.into(), direction), ts, of(direction), base);
        }
    }
    held.note_outside(ts);
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests {
    use hedgerow_core::KeyKind;
    use hedgerow_pager::budget::taken::{Lends, Taken};
    use hedgerow_pager::limits::LEAST_MEMORY_LIMIT;
    use hedgerow_testkit::SimFs;

    use super::*;
    use crate::config::Durability;
    use crate::options::Options;

    /// If there is no memory to read an answer, the commit is refused, so that its caller can make it
    /// smaller.
    #[test]
    fn an_answer_without_memory_refuses_the_commit() {
        let options = Options::new().keys(KeyKind::Dense).durability(Durability::Manual);
        let options = options.background_settling(false).memory_limit(LEAST_MEMORY_LIMIT);
        let graph = options.open_on(SimFs::new().handle()).unwrap();
        graph.insert_edge((1, 200)).unwrap();
        graph.checkpoint().unwrap();
        assert!(graph.internals().evict().unwrap() > 0);
        let (engine, at) = (&graph.engine, VertexId(1));
        let edges = vec![(Direction::Out, at.local(), VertexId(200))];
        let of = (LabelId::DEFAULT, at.subgraph());
        let ask = || Answers::default().read(engine, vec![Question { of, edges: edges.clone() }]);
        ask().unwrap();
        // Small reads may use what larger ones leave free.
        let mut held: Vec<Taken> = Vec::new();
        for step in [1 << 20, 1 << 12, 1] {
            while held.last().is_none_or(|taken| taken.bytes() > 0) {
                let mut taken = Taken::new(&engine.pager.budget, For::Read);
                taken.set(step);
                held.push(taken);
            }
            held.pop();
        }
        // A thread that lends memory does not wait for the holders.
        let _lends = Lends::begin();
        let refused = ask().unwrap_err();
        assert!(refused.is_out_of_memory(), "{refused}");
    }
}
