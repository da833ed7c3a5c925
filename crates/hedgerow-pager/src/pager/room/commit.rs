//! The memory of a commit: for its merges, and for the subgraphs that it loads before it latches.
//!
//! A commit learns its need under its latches. If there is no room, it releases everything, takes memory for
//! its whole need, loads what it lacks, and tries again. What it has loaded is pinned until it ends.

use std::sync::Arc;

use hedgerow_catalog::error::{CommitError, Error, Result};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::Mutex;
use hedgerow_core::{LabelId, SubgraphId};
use hedgerow_mem::SubgraphPage;
use hedgerow_mem::table::PAGE;

use super::TakesCommits;
use crate::budget::taken::{Room, Stop, Taken};
use crate::budget::{For, Need, is_small};
use crate::eviction::Pins;
use crate::limits::bytes_of;
use crate::pager::Pager;
use crate::sources::page_of;

/// The greatest number of times that a commit starts over for lack of memory without having found another
/// subgraph to load.
const MOST_ATTEMPTS: u32 = 16;

/// The memory that a commit has taken for its merges. Its threads share it.
#[derive(Clone)]
pub struct Merges(Option<Arc<Mutex<Granted>>>);

struct Granted {
    taken: Taken,
    /// The bytes of the operations, and of the merges in progress.
    in_use: u64,
    /// The bytes of all merges so far.
    needed: u64,
    /// True if there was no room for a merge: then no other merge is worth its memory.
    is_short: bool,
}

impl Merges {
    /// Begins a merge of `bytes` bytes; false if there is no room for it, or for an earlier one.
    pub fn begin(&self, bytes: usize) -> bool {
        let Some(granted) = &self.0 else { return true };
        let mut granted = granted.lock();
        granted.needed += bytes as u64;
        let all = granted.in_use.saturating_add(bytes as u64);
        let need = Need::new(For::Commit, all).with_block(all);
        granted.is_short = granted.is_short || (all > granted.taken.bytes() && !granted.taken.meet(need));
        if !granted.is_short {
            granted.in_use = all;
        }
        !granted.is_short
    }

    /// Ends a merge, whose memory the arena has charged.
    pub fn end(&self, bytes: usize) {
        if let Some(granted) = &self.0 {
            let mut granted = granted.lock();
            granted.in_use = granted.in_use.saturating_sub(bytes as u64);
            let rest = granted.taken.bytes().saturating_sub(bytes as u64);
            granted.taken.set(rest);
        }
    }

    /// Returns the bytes of all merges since the attempt began.
    pub fn needed(&self) -> u64 {
        self.0.as_ref().map_or(0, |granted| granted.lock().needed)
    }
}

/// The memory and the subgraphs that a commit needs at the same time, as far as its attempts have shown.
pub struct CommitRoom<'c> {
    pager: &'c Pager,
    store: &'c dyn TakesCommits,
    /// The bytes of the operations.
    operations: u64,
    merges: u64,
    /// The subgraphs that the commit had to load, sorted, and their bytes in addition to the estimate.
    subgraphs: Vec<(LabelId, SubgraphId)>,
    more: u64,
    attempts: u32,
    /// True if the commit can do without some of the subgraphs that it loaded.
    is_optional: bool,
    /// The error of the next attempt that finds no room.
    refusal: Option<Error>,
    taken: Option<Taken>,
    pins: Option<Pins<'c>>,
}

impl<'c> CommitRoom<'c> {
    /// Makes the room of a commit of `operations` operations, whose texts have `values` bytes; so far it has
    /// no memory.
    pub fn new(
        (pager, store): (&'c Pager, &'c dyn TakesCommits),
        operations: usize,
        values: usize,
    ) -> CommitRoom<'c> {
        CommitRoom {
            pager,
            store,
            operations: bytes_of(operations).saturating_add(values as u64),
            merges: 0,
            subgraphs: Vec::new(),
            more: 0,
            attempts: 0,
            is_optional: false,
            refusal: None,
            taken: None,
            pins: None,
        }
    }

    /// Returns the memory for the operations and the merges of the next attempt. They take more without
    /// waiting, if there is room.
    pub fn merges(&mut self) -> Merges {
        Merges(self.pager.memory_limit.map(|_| {
            let mut taken = self.taken.take().unwrap_or_else(|| Taken::new(&self.pager.budget, For::Commit));
            let is_short = taken.bytes() < self.operations && !taken.set(self.operations);
            Arc::new(Mutex::new(Granted { taken, in_use: self.operations, needed: 0, is_short }))
        }))
    }

    /// Makes room for merges that found none. The commit holds nothing any more.
    ///
    /// # Errors
    /// [`CommitError::MemoryLimit`] if the whole need of
    /// the commit does not fit; those of a commit that waits; damage and the system's errors.
    pub fn make_room(&mut self, merges: u64) -> Result<()> {
        self.merges = merges.max(self.merges);
        match self.refusal.take() {
            Some(refusal) => Err(refusal),
            None => self.start_over(),
        }
    }

    /// Loads subgraphs, and those that were loaded before and evicted since, for a commit that has released
    /// everything that it held.
    ///
    /// # Errors
    /// Those of [`make_room`](Self::make_room).
    pub fn load(&mut self, unloaded: &[(LabelId, SubgraphId)]) -> Result<()> {
        let before = self.subgraphs.len();
        self.subgraphs.extend(unloaded);
        self.subgraphs.sort_unstable();
        self.subgraphs.dedup();
        if self.subgraphs.len() > before {
            self.attempts = 0;
        }
        let loaded = self.start_over();
        match &loaded {
            Ok(()) => self.pager.note_loaded(unloaded),
            Err(refused) if refused.is_out_of_memory() => self.pager.eviction.commit_loads.exhaust(),
            Err(_) => {}
        }
        loaded
    }

    /// Lets the subgraphs that were loaded leave memory, before the commit waits for something.
    pub fn unpin(&mut self) {
        self.pins = None;
    }

    /// Loads subgraphs that the commit can do without, if eviction makes room for them; never waits for a
    /// checkpoint. Forgets them if that fails.
    pub fn load_optional(&mut self, unloaded: &[(LabelId, SubgraphId)]) {
        self.is_optional = true;
        if self.load(unloaded).is_err() {
            self.forget_loaded();
        }
    }

    /// True if the commit has loaded subgraphs that it can do without.
    pub fn is_optional(&self) -> bool {
        self.is_optional
    }

    /// True if the commit has loaded subgraphs.
    pub fn has_loaded(&self) -> bool {
        !self.subgraphs.is_empty()
    }

    /// Forgets the subgraphs that were loaded: the commit does not need them in memory.
    pub fn forget_loaded(&mut self) {
        self.subgraphs.clear();
        self.pins = None;
        (self.merges, self.more, self.attempts, self.refusal, self.is_optional) = (0, 0, 0, None, false);
    }

    fn start_over(&mut self) -> Result<()> {
        while self.attempts < MOST_ATTEMPTS {
            self.attempts += 1;
            let taken = self.take()?;
            self.pins = Some(self.pager.eviction.pin(&self.subgraphs));
            let beside = taken.bytes().min(self.merges.saturating_add(self.operations));
            let mut room = Room::to_load(taken, beside);
            let mut load = |&(label, id): &_| {
                let loaded = self.pager.load_chain((label, id), &mut room);
                room.checked(loaded)
            };
            match self.subgraphs.iter().try_for_each(&mut load) {
                Ok(()) => {
                    let mut taken = room.into_taken();
                    taken.set(beside);
                    self.taken = Some(taken);
                    return Ok(());
                }
                // The lists are longer than the estimate, or gaps of the arena do not serve them.
                Err(Stop::NoRoom(bytes)) => match self.refusal.take() {
                    Some(refusal) => return Err(refusal),
                    None => self.more = self.more.saturating_add(bytes.saturating_sub(beside)),
                },
                Err(Stop::Failed(error)) => return Err(error.of_commit()),
            }
        }
        let needed = self.need(|_| true).bytes;
        Err(CommitError::MemoryLimit(self.pager.shortage(needed, For::Commit)).into())
    }

    /// Returns the need of the commit for its merges, its operations, and those subgraphs that `counts`. Gaps
    /// of the arena serve lists, but neither properties nor what the last attempt lacked.
    fn need(&self, counts: impl Fn((LabelId, SubgraphId)) -> bool) -> Need {
        let (lists, values) = self.pager.bytes_to_load_all(&self.subgraphs, counts);
        let outside = self.merges.saturating_add(self.more).saturating_add(values);
        let all = lists.saturating_add(self.operations).saturating_add(outside);
        Need::new(For::Commit, all).with_block(outside)
    }

    /// Takes memory for all that the commit needs: at first by eviction, with what it has loaded pinned. If
    /// that does not suffice, it unpins everything, and waits.
    fn take(&mut self) -> Result<Taken> {
        let pager = self.pager;
        self.refusal = None;
        let mut taken = self.taken.take().unwrap_or_else(|| Taken::new(&pager.budget, For::Commit));
        let missing = self.need(|subgraph| !pager.is_in_memory(subgraph));
        if taken.meet(missing) || (pager.find_room(&missing) && taken.meet(missing)) {
            return Ok(taken);
        }
        let whole = self.need(|_| true);
        if self.is_optional {
            return Err(CommitError::MemoryLimit(pager.shortage(whole.bytes, For::Commit)).into());
        }
        while self.attempts < MOST_ATTEMPTS {
            if faults::is_on(PlantedFault::WaitsWithMemory) {
                let _ = [2, 4, 8].iter().any(|share| taken.set(whole.bytes / share));
                std::mem::forget(taken);
            } else {
                drop(taken);
            }
            self.pins = None;
            let room = pager.make_room_for_commit(&whole, self.store);
            taken = Taken::new(&pager.budget, For::Commit);
            match room {
                Ok(()) if taken.meet(whole) => return Ok(taken),
                Ok(()) => self.attempts += 1,
                // Nothing else is in memory, but the need is an upper bound: a merge may take less, and a
                // list counts once for each checkpoint that wrote it. The commit is tried once more, and
                // takes its memory step by step.
                Err(error @ Error::Commit(CommitError::MemoryLimit(_))) => {
                    self.refusal = Some(error);
                    return Ok(taken);
                }
                Err(error) => return Err(error),
            }
        }
        Err(CommitError::MemoryLimit(pager.shortage(whole.bytes, For::Commit)).into())
    }
}

impl Pager {
    /// Takes memory for the merges of a commit until they are made. Returns the bytes as an error if there is
    /// no room. Small merges fit the slack, and need none. `bytes` returns an upper bound; it is called only
    /// if there is a limit. The commit may hold its latches: it takes a turn, whose holders wait for nothing.
    ///
    /// # Errors
    /// The bytes, if there is no room.
    #[inline]
    pub fn take_for_merges(&self, bytes: impl FnOnce() -> usize) -> std::result::Result<Option<Taken>, u64> {
        match self.memory_limit {
            None => Ok(None),
            Some(limit) => self.take_for_merges_within(limit, bytes() as u64),
        }
    }

    fn take_for_merges_within(&self, limit: u64, bytes: u64) -> std::result::Result<Option<Taken>, u64> {
        if is_small(limit, bytes) {
            return Ok(None);
        }
        let mut taken = Taken::new(&self.budget, For::Commit);
        if taken.meet(Need::new(For::Commit, bytes).with_block(bytes)) { Ok(Some(taken)) } else { Err(bytes) }
    }

    /// Estimates the bytes of those subgraphs that `counts`, in the order of their labels and ids: of their
    /// lists, with the pages that only files hold, and of their ranks and properties. Takes the mean of its
    /// page for each subgraph.
    pub(crate) fn bytes_to_load_all(
        &self,
        subgraphs: &[(LabelId, SubgraphId)],
        counts: impl Fn((LabelId, SubgraphId)) -> bool,
    ) -> (u64, u64) {
        let pages = subgraphs.chunk_by(|&(a, s), &(b, t)| page_of(a, s) == page_of(b, t));
        let (mut lists, mut values, mut pages_to_load) = (Sum::default(), Sum::default(), 0u64);
        for some in pages {
            let count = some.iter().filter(|&&subgraph| counts(subgraph)).count() as u64;
            if count == 0 {
                continue;
            }
            let (label, first) = some[0];
            let page = page_of(label, first);
            let of_values = self.value_bytes_of_page(page);
            lists.add(self.bytes_to_load(page).saturating_sub(of_values), count);
            values.add(of_values, count);
            if self.is_unloaded(label, first) {
                pages_to_load = pages_to_load.saturating_add(SubgraphPage::bytes() as u64);
            }
        }
        (lists.estimate().saturating_add(pages_to_load), values.estimate())
    }
}

/// The sum of the mean sizes of subgraphs, and the size of their largest page.
#[derive(Default)]
struct Sum {
    sum: u64,
    largest: u64,
}

impl Sum {
    /// Adds `count` subgraphs of a page of `bytes` bytes.
    fn add(&mut self, bytes: u64, count: u64) {
        self.largest = bytes.max(self.largest);
        self.sum = self.sum.saturating_add(bytes / PAGE as u64 * count);
    }

    /// Returns an estimate of their sizes. Lists differ in length; among many lists the differences even out.
    fn estimate(&self) -> u64 {
        self.sum.saturating_add(self.sum / 8).saturating_add(self.largest / 4)
    }
}
