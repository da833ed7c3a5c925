//! The read set of a transaction, and the check that it is unchanged (rules R2 and R3).

use hedgerow_catalog::error::{CommitError, Result};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, LabelId, SubgraphId, Timestamp, VertexId};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::{Hold, Latched, Merged, PageLook, ReadItem, Stored, Subgraph};
use hedgerow_pager::page_of;
use hedgerow_pager::tables::PartitionKey;

use super::names::{TxnKey, TxnKeys};
use crate::state::store::Engine;

/// The read set.
#[derive(Default)]
pub(crate) struct ReadSet {
    items: Vec<(PartitionKey, ReadItem)>,
    /// The keys that named no vertex in the snapshot.
    absent: Vec<TxnKey>,
    /// True if a search for a label failed: any later definition conflicts.
    no_label: bool,
    /// The reads over all labels: validation also checks labels that were defined after such a read.
    of_all: Vec<OfAllLabels>,
    /// The number of labels that [`prepare`](Self::prepare) has considered for the reads over all labels.
    labels: Option<u16>,
    /// True if the whole graph was read: any later commit conflicts.
    whole: bool,
}

/// A read of the edges of all labels at a vertex.
struct OfAllLabels {
    /// The number of labels at the time of the read. Each has an item of its own in the read set.
    labels: u16,
    at: VertexId,
    direction: Direction,
    item: ReadItem,
}

impl ReadSet {
    pub(crate) const fn new() -> ReadSet {
        ReadSet {
            items: Vec::new(),
            absent: Vec::new(),
            no_label: false,
            of_all: Vec::new(),
            labels: None,
            whole: false,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.absent.is_empty() && !self.whole && !self.no_label
    }

    pub(crate) fn whole(&mut self) {
        self.whole = true;
    }

    pub(crate) fn absent(&mut self, key: TxnKey) {
        self.absent.push(key);
    }

    pub(crate) fn no_label(&mut self) {
        self.no_label = true;
    }

    fn item(&mut self, label: LabelId, at: VertexId, direction: Direction, item: ReadItem) {
        self.items.push((PartitionKey { label, subgraph: at.subgraph(), direction }, item));
    }

    pub(crate) fn vertex(&mut self, id: VertexId) {
        self.item(LabelId::DEFAULT, id, Direction::Out, ReadItem::Vertex(id.local()));
    }

    pub(crate) fn edge(&mut self, label: LabelId, src: VertexId, dst: VertexId) {
        self.item(label, src, Direction::Out, ReadItem::Edge(src.local(), dst));
    }

    pub(crate) fn adjacency(&mut self, label: LabelId, id: VertexId, direction: Direction) {
        self.item(label, id, direction, ReadItem::Adjacency(id.local()));
    }

    /// Records that only the first `labels` labels existed when an edge was looked for in each label.
    pub(crate) fn edge_of_all(&mut self, labels: u16, src: VertexId, dst: VertexId) {
        let item = ReadItem::Edge(src.local(), dst);
        self.of_all.push(OfAllLabels { labels, at: src, direction: Direction::Out, item });
    }

    /// Records that only the first `labels` labels existed when the edges of a vertex were read in each
    /// label.
    pub(crate) fn adjacency_of_all(&mut self, labels: u16, at: VertexId, direction: Direction) {
        let item = ReadItem::Adjacency(at.local());
        self.of_all.push(OfAllLabels { labels, at, direction, item });
    }

    /// Sorts the set so that validation visits each subgraph once. `defined` returns the present number of
    /// labels. Labels that were defined after a read of all labels count as read too: a commit after the
    /// snapshot may have given them edges.
    pub(crate) fn prepare(&mut self, defined: impl Fn() -> u16) {
        for OfAllLabels { labels, at, direction, item } in std::mem::take(&mut self.of_all) {
            let defined = *self.labels.get_or_insert_with(&defined);
            (labels..defined).for_each(|label| self.item(LabelId(label), at, direction, item));
        }
        self.items.sort_unstable_by_key(|&(chain, item)| (chain.order(), item));
        self.items.dedup();
    }

    /// Checks the items of the set in latched subgraphs. This is done before the ordering section, to keep
    /// that short; the latches keep the result true.
    pub(crate) fn check_latched(&self, start: Timestamp, latches: &Latches<'_>) -> Result<()> {
        if faults::is_on(PlantedFault::ReadsNotValidated)
            || faults::is_on(PlantedFault::LatchedReadsNotValidated)
        {
            return Ok(());
        }
        for &(chain, item) in &self.items {
            if let Some(latched) = latches.get_of(chain.label, chain.subgraph)
                && latched.changed_since(chain.direction, start, item)
            {
                return Err(CommitError::Conflict { with: latched.last_ts() }.into());
            }
        }
        Ok(())
    }

    /// Checks the other items, inside the ordering section. A subgraph or key that another committer has
    /// latched counts as changed: that committer may come before this one in the order.
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
        if self.whole && !engine.only_definitions(start, last_drawn) {
            return Err(CommitError::Conflict { with: last_drawn }.into());
        }
        if self.no_label && engine.catalog.schema.load().changed() > start {
            return Err(CommitError::Conflict { with: last_drawn }.into());
        }
        // A label may be defined between the preparation and this section. That is rare, and an edge may
        // follow a definition at once.
        if self.labels.is_some_and(|labels| engine.catalog.defined_labels().end > labels) {
            return Err(CommitError::Conflict { with: last_drawn }.into());
        }
        let hold = engine.pager.hold();
        for group in self.items.chunk_by(|(a, _), (b, _)| (a.label, a.subgraph) == (b.label, b.subgraph)) {
            let PartitionKey { label, subgraph, .. } = group[0].0;
            if latches.get_of(label, subgraph).is_some() {
                continue;
            }
            let Some(table) = engine.pager.table(label) else { continue };
            let entry = match table.look(subgraph.index() / PAGE, &hold) {
                PageLook::Absent => continue,
                PageLook::Stored(Stored { since, .. }) if since <= start => continue,
                // The page was in memory since: some subgraph of it changed (rule P6).
                PageLook::Stored(Stored { since, .. }) => {
                    return Err(CommitError::Conflict { with: since }.into());
                }
                PageLook::Loaded(page) => &page[subgraph.index() % PAGE],
            };
            let Some(latched) = entry.try_latch_past_upkeep() else {
                if faults::is_on(PlantedFault::LatchedElsewhereUnchanged) {
                    continue;
                }
                return Err(CommitError::Conflict { with: last_drawn }.into());
            };
            if group.iter().any(|&(chain, item)| latched.changed_since(chain.direction, start, item)) {
                return Err(CommitError::Conflict { with: latched.last_ts() }.into());
            }
        }
        for &key in &self.absent {
            let key = keys.key(key);
            let index = engine.keys.ids.latch_of(key);
            let latch =
                if key_latches.contains(&index) { None } else { Some(engine.keys.ids.try_latch(index)) };
            let changed = engine.keys.ids.last_change(key);
            if matches!(latch, Some(None)) || changed > start {
                return Err(CommitError::Conflict { with: changed.max(start) }.into());
            }
        }
        Ok(())
    }
}

/// A subgraph of a label: the unit that a latch guards. In ascending order the existence of vertices, which
/// is in the default label, comes first.
pub(crate) type LatchKey = (LabelId, SubgraphId);

/// Returns the subgraph, if its page is in memory.
fn existing<'a>(engine: &'a Engine, hold: &'a Hold, (label, id): LatchKey) -> Option<&'a Subgraph> {
    engine.pager.table(label)?.get(id, hold)
}

/// True if no commit ever wrote to the page of the subgraph. A page that only files hold is not absent: it
/// may have been made, written to, and evicted since the last look (rule P6).
pub(super) fn is_absent(engine: &Engine, (label, id): LatchKey) -> bool {
    engine.pager.table(label).is_none_or(|table| table.is_absent(id.index() / PAGE))
}

/// The latched subgraphs of a commit, ascending.
pub(crate) struct Latches<'a> {
    /// The hold that keeps the pages of these subgraphs.
    hold: &'a Hold,
    held: smallvec::SmallVec<[(LatchKey, Latched<'a>); 4]>,
    /// Subgraphs whose pages did not exist at the time of latching, ascending: no commit ever wrote to them.
    /// The commit makes the pages of those that it writes ([`Latches::make`]), and checks the others again in
    /// the ordering section ([`Latches::still_absent`]). So a commit that changes nothing takes no memory
    /// (invariant I28).
    absent: Vec<LatchKey>,
}

impl<'a> Latches<'a> {
    /// Latches `latch_keys`, which must ascend: that order prevents a cycle of waiting committers.
    pub(crate) fn take(engine: &'a Engine, hold: &'a Hold, latch_keys: &[LatchKey]) -> Latches<'a> {
        debug_assert!(latch_keys.is_sorted_by(|a, b| a < b));
        let mut latches = Latches { hold, held: Default::default(), absent: Vec::new() };
        for &place in latch_keys {
            match existing(engine, hold, place) {
                Some(subgraph) => latches.held.push((place, subgraph.latch())),
                None => latches.absent.push(place),
            }
        }
        latches
    }

    /// True if the absent pages are still absent. If so in the ordering section, no commit before this one in
    /// the order wrote to them: such a commit makes the page before it draws its timestamp.
    #[inline]
    pub(crate) fn still_absent(&self, engine: &Engine) -> bool {
        let exists = |&place: &LatchKey| !is_absent(engine, place);
        faults::is_on(PlantedFault::AbsentNotLookedAtAgain) || !self.absent.iter().any(exists)
    }

    /// Returns the main parts that merges replaced, by label.
    pub(crate) fn merged(&self) -> impl Iterator<Item = (LabelId, Merged)> {
        let all = self.held.iter().map(|((label, _), latched)| (*label, latched.merged()));
        all.filter(|(_, merged)| merged.main_parts > 0)
    }

    /// True if all pages exist.
    #[inline]
    pub(crate) fn all_exist(&self) -> bool {
        self.absent.is_empty()
    }

    /// Returns the number of absent pages.
    pub(crate) fn absent_pages(&self) -> usize {
        let page = |&(label, id): &LatchKey| page_of(label, id);
        self.absent.chunk_by(|a, b| page(a) == page(b)).count()
    }

    /// Returns the subgraphs to load before the commit reads them: latched ones that were evicted, and others
    /// whose pages are not loaded.
    pub(crate) fn unloaded(&self, engine: &Engine) -> Vec<LatchKey> {
        let absent = self.absent.iter().copied().filter(|&(label, id)| engine.pager.is_unloaded(label, id));
        let mut unloaded: Vec<LatchKey> = absent.collect();
        if engine.pager.eviction.happens() {
            let gone = self.held.iter().filter(|(_, latched)| !latched.is_resident());
            unloaded.extend(gone.map(|(place, _)| *place));
        }
        unloaded
    }

    /// True if all of `latch_keys` are latched.
    pub(crate) fn hold(&self, latch_keys: &[LatchKey]) -> bool {
        latch_keys.iter().all(|&place| self.place(place).is_some())
    }

    /// Makes the pages of `latch_keys` and latches the absent ones of them, and the other absent subgraphs on
    /// these pages. `false`: another commit was first, and this one must start over. Latches out of the
    /// ascending order are only tried (invariant I3).
    pub(crate) fn make(&mut self, engine: &'a Engine, latch_keys: &[LatchKey]) -> bool {
        for &(label, id) in latch_keys.iter().filter(|&place| self.absent.binary_search(place).is_ok()) {
            if engine.pager.table_or_create(label).get_or_create(id, self.hold).is_err() {
                return false;
            }
        }
        for place in std::mem::take(&mut self.absent) {
            let Some(subgraph) = existing(engine, self.hold, place) else {
                self.absent.push(place);
                continue;
            };
            match subgraph.try_latch() {
                // A page without any operation may be evicted too; then it has marks.
                Some(latched) if latched.last_ts() == Timestamp::ZERO && latched.is_resident() => {
                    self.held.push((place, latched));
                }
                _ => return false,
            }
        }
        self.held.sort_unstable_by_key(|&(place, _)| place);
        true
    }

    #[inline]
    fn place(&self, place: LatchKey) -> Option<usize> {
        if self.held.len() <= 4 {
            return self.held.iter().position(|&(held, _)| held == place);
        }
        self.held.binary_search_by_key(&place, |&(held, _)| held).ok()
    }

    /// Returns the subgraph of a label, if it is latched.
    #[inline]
    pub(crate) fn get_of(&self, label: LabelId, subgraph: SubgraphId) -> Option<&Latched<'a>> {
        self.place((label, subgraph)).map(|at| &self.held[at].1)
    }

    /// Returns the subgraph with the existence of its vertices and its edges of the default label.
    #[inline]
    pub(crate) fn get(&self, subgraph: SubgraphId) -> Option<&Latched<'a>> {
        self.get_of(LabelId::DEFAULT, subgraph)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, label: LabelId, subgraph: SubgraphId) -> Option<&mut Latched<'a>> {
        self.place((label, subgraph)).map(|at| &mut self.held[at].1)
    }

    pub(crate) fn contains_vertex(&self, id: VertexId) -> bool {
        self.get(id.subgraph()).is_some_and(|l| l.contains_vertex(id.local()))
    }
}
