//! Operations on subgraphs whose chains are not in memory (`docs/design/inboxes.md`).

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
use hedgerow_core::account::{Account, Purpose};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicU64, AtomicUsize, Mutex, Ordering};
use hedgerow_core::{Direction, LocalVertex, Timestamp, VertexId};
use hedgerow_mem::EdgeOp;
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_tier::ImageId;

use crate::sources::segments::Sources;

/// The number of shards, each with its lock.
const SHARDS: usize = 64;
/// The approximate bytes of an inbox without operations, with its place in the map of its shard.
const INBOX_BYTES: usize = 2 * size_of::<(ImageId, Inbox)>();
/// The share of its operations by which the array of an inbox grows.
const GROWTH: usize = 4;

/// An effective operation of the commit `ts` on one copy of an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InboxEntry {
    /// The timestamp of the commit.
    pub ts: Timestamp,
    /// The operation.
    pub op: LocalOp,
}

/// The state of a chain below the operations of an inbox.
#[derive(Clone, Debug)]
pub struct InboxBase {
    /// The segments whose image has this state.
    pub sources: Arc<Sources>,
    /// The timestamp of the last operation in that image.
    pub begin: Timestamp,
}

struct Inbox {
    base: InboxBase,
    /// The operations on the outgoing and on the incoming chain, each ascending by timestamp.
    entries: [Vec<InboxEntry>; 2],
}

/// The operations of an inbox up to a timestamp, and the state below them.
#[derive(Clone, Debug)]
pub struct InboxView {
    /// The state below the operations.
    pub base: InboxBase,
    pub(crate) entries: [Vec<InboxEntry>; 2],
}

/// The weights of some edges after the operations of an inbox.
pub struct InboxLook {
    /// The timestamp of the last operation below the inbox.
    pub begin: Timestamp,
    /// The weights by direction, in the order of the edges.
    pub weights: [Vec<Option<Option<f64>>>; 2],
}

/// The inboxes of a store.
pub struct Inboxes {
    shards: [Mutex<Shard>; SHARDS],
    /// The number of inboxes, so that reads of a store without inboxes take no lock.
    count: AtomicUsize,
    /// The bytes of all inboxes, which are charged.
    bytes: AtomicUsize,
    /// One more than the timestamp up to which the last fold dropped everything; 0 if a reader prevented it.
    folded: AtomicU64,
    account: Arc<Account>,
}

type Shard = HashMap<ImageId, Inbox, FixedState>;

impl Inbox {
    fn bytes(&self) -> usize {
        let capacity: usize = self.entries.iter().map(Vec::capacity).sum();
        INBOX_BYTES + capacity * size_of::<InboxEntry>()
    }

    fn last(&self) -> Timestamp {
        last_of(&self.entries).unwrap_or(self.base.begin)
    }
}

fn last_of(entries: &[Vec<InboxEntry>; 2]) -> Option<Timestamp> {
    entries.iter().filter_map(|entries| Some(entries.last()?.ts)).max()
}

impl InboxView {
    /// Returns the operations on the chain in one direction, ascending by timestamp.
    pub fn entries(&self, direction: Direction) -> &[InboxEntry] {
        &self.entries[direction as usize]
    }

    /// Returns the operations on the chain in one direction, by commit.
    pub fn commits(&self, direction: Direction) -> Vec<(Timestamp, Vec<LocalOp>)> {
        let of_commit = |entries: &[InboxEntry]| (entries[0].ts, entries.iter().map(|it| it.op).collect());
        self.entries(direction).chunk_by(|a, b| a.ts == b.ts).map(of_commit).collect()
    }

    /// Returns the timestamp of the last operation, or that of the state below.
    pub fn last(&self) -> Timestamp {
        last_of(&self.entries).unwrap_or(self.base.begin)
    }

    /// Returns the number of outgoing edges that the operations add.
    pub fn growth(&self) -> i64 {
        self.entries(Direction::Out).iter().map(|entry| entry.op.op.growth()).sum()
    }

    /// Returns the operations after `t`, over a state that has the others; `None` if there are none.
    pub fn after(mut self, t: Timestamp) -> Option<InboxView> {
        self.entries.iter_mut().for_each(|entries| entries.retain(|entry| entry.ts > t));
        self.entries.iter().any(|entries| !entries.is_empty()).then_some(self)
    }

    /// True if there is an operation in this direction on a vertex.
    pub fn has(&self, direction: Direction, local: LocalVertex) -> bool {
        self.entries(direction).iter().any(|entry| entry.op.local == local)
    }
}

/// Returns the number of entries by which a full array grows to take `more` entries.
fn growth(len: usize, more: usize) -> usize {
    more.max(len / GROWTH).max(4)
}

impl Inboxes {
    /// Makes the inboxes of a store with this account: there are none yet.
    pub fn new(account: &Arc<Account>) -> Inboxes {
        let shards = std::array::from_fn(|_| Mutex::new(Shard::default()));
        let (count, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Inboxes { shards, count, bytes, folded: AtomicU64::new(0), account: account.clone() }
    }

    /// True if there is no inbox. A thread that has seen the stamp of an operation in an inbox gets false.
    /// One load.
    #[inline]
    pub(crate) fn are_none(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Returns the bytes of all inboxes.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn shard(&self, id: ImageId) -> &Mutex<Shard> {
        let place = id.subgraph.0 as usize ^ (usize::from(id.label.0) << 3);
        &self.shards[place % SHARDS]
    }

    /// Calls `f` with the shard of a subgraph, and charges the change of its bytes.
    fn change<R>(&self, id: ImageId, f: impl FnOnce(&mut Shard) -> R) -> R {
        let mut shard = self.shard(id).lock();
        let bytes = |shard: &Shard| shard.get(&id).map_or(0, Inbox::bytes);
        let (before, count) = (bytes(&shard), shard.len());
        let changed = f(&mut shard);
        let (after, now) = (bytes(&shard), shard.len());
        // The counts change under the lock, so none is ever below what it counts.
        if now > count {
            self.count.fetch_add(now - count, Ordering::Release);
        } else {
            self.count.fetch_sub(count - now, Ordering::Release);
        }
        if after > before {
            self.account.charge(Purpose::Inboxes, after - before);
            self.bytes.fetch_add(after - before, Ordering::Relaxed);
        } else {
            self.account.discharge(Purpose::Inboxes, before - after);
            self.bytes.fetch_sub(before - after, Ordering::Relaxed);
        }
        changed
    }

    /// Returns the operations of a subgraph's inbox up to `t`, if it has an inbox. O(operations).
    pub fn view(&self, id: ImageId, t: Timestamp) -> Option<InboxView> {
        self.view_of(id, t, |_, _| true)
    }

    /// Like [`view`](Self::view), but only with the operations for which `is_wanted` is true.
    pub fn view_of(
        &self,
        id: ImageId,
        t: Timestamp,
        is_wanted: impl Fn(Direction, &LocalOp) -> bool,
    ) -> Option<InboxView> {
        if self.are_none() {
            return None;
        }
        let shard = self.shard(id).lock();
        let inbox = shard.get(&id)?;
        let of = |direction: Direction| {
            let entries = &inbox.entries[direction as usize];
            let upto = entries.partition_point(|entry| entry.ts <= t);
            entries[..upto].iter().filter(|entry| is_wanted(direction, &entry.op)).copied().collect()
        };
        Some(InboxView { base: inbox.base.clone(), entries: [of(Direction::Out), of(Direction::In)] })
    }

    /// Returns the state below the operations of a subgraph's inbox, if it has an inbox. O(1).
    pub fn base(&self, id: ImageId) -> Option<InboxBase> {
        if self.are_none() {
            return None;
        }
        self.shard(id).lock().get(&id).map(|inbox| inbox.base.clone())
    }

    /// Returns the number of operations after `t` in a subgraph's inbox; `None` without an inbox.
    /// O(log operations).
    pub fn operations_after(&self, id: ImageId, t: Timestamp) -> Option<usize> {
        if self.are_none() {
            return None;
        }
        let shard = self.shard(id).lock();
        let inbox = shard.get(&id)?;
        let after =
            |entries: &Vec<InboxEntry>| entries.len() - entries.partition_point(|entry| entry.ts <= t);
        Some(inbox.entries.iter().map(after).sum())
    }

    /// Returns the bytes of a subgraph's inbox. O(1).
    pub fn bytes_of(&self, id: ImageId) -> u64 {
        if self.are_none() {
            return 0;
        }
        self.shard(id).lock().get(&id).map_or(0, |inbox| inbox.bytes() as u64)
    }

    /// True if a subgraph has an inbox. O(1).
    pub fn has(&self, id: ImageId) -> bool {
        !self.are_none() && self.shard(id).lock().contains_key(&id)
    }

    /// Returns the begin of a subgraph's inbox, and the weights of some edges, given by direction, after its
    /// operations: `None` for an edge that no operation is about, `Some(None)` if the last one removed it.
    /// All is of one moment: operations may leave the inbox at any time. Returns `None` without an inbox.
    /// O(operations + edges log edges).
    pub fn look(&self, id: ImageId, edges: [&[(LocalVertex, VertexId)]; 2]) -> Option<InboxLook> {
        if self.are_none() {
            return None;
        }
        let shard = self.shard(id).lock();
        let inbox = shard.get(&id)?;
        let weights = [0, 1].map(|direction| {
            let edges = edges[direction];
            debug_assert!(edges.is_sorted(), "the edges ascend");
            let mut weights = vec![None; edges.len()];
            for InboxEntry { op, .. } in &inbox.entries[direction] {
                if let Ok(at) = edges.binary_search(&(op.local, op.dst)) {
                    weights[at] = Some((op.op != EdgeOp::Remove).then_some(op.weight));
                }
            }
            weights
        });
        Some(InboxLook { begin: inbox.base.begin, weights })
    }

    /// Returns an upper bound of the bytes that an append takes in addition to those of its operations.
    pub fn bytes_to_append(&self, id: ImageId, counts: [usize; 2]) -> usize {
        let shard = self.shard(id).lock();
        let inbox = shard.get(&id);
        let more = |at: usize| {
            let len = inbox.map_or(0, |inbox| inbox.entries[at].len());
            if counts[at] == 0 { 0 } else { growth(len, counts[at]) - counts[at] }
        };
        let new = if inbox.is_none() { INBOX_BYTES } else { 0 };
        new + (more(0) + more(1)) * size_of::<InboxEntry>()
    }

    /// Appends the operations of the commit `ts` on one chain. `base` returns the state of the chain as of
    /// the last operation before, for a new inbox. The caller has the latch of the subgraph, whose chains are
    /// not in memory, and whose stamp is before `ts`.
    pub fn append(
        &self,
        (id, direction): (ImageId, Direction),
        ts: Timestamp,
        ops: &[LocalOp],
        base: impl FnOnce() -> InboxBase,
    ) {
        self.change(id, |shard| {
            let new = || Inbox { base: base(), entries: [Vec::new(), Vec::new()] };
            let inbox = shard.entry(id).or_insert_with(new);
            let entries = &mut inbox.entries[direction as usize];
            if entries.capacity() - entries.len() < ops.len() {
                entries.reserve_exact(growth(entries.len(), ops.len()));
            }
            entries.extend(ops.iter().map(|&op| InboxEntry { ts, op }));
        });
    }

    /// Removes the inbox of a subgraph, whose chains are in memory by now. The caller has the latch.
    pub(crate) fn remove(&self, id: ImageId) {
        self.change(id, |shard| drop(shard.remove(&id)));
    }

    /// Drops the operations that newer segments have, and makes these segments the base: those up to
    /// `sources.as_of()`, if `is_free` is true for the last of them. Removes inboxes without operations.
    /// O(operations).
    pub(crate) fn fold(&self, sources: &Arc<Sources>, is_free: impl Fn(Timestamp) -> bool) {
        if self.are_none() {
            return;
        }
        let upto = sources.as_of();
        // Operations in inboxes that were made since are later than these segments.
        if self.folded.load(Ordering::Relaxed) == upto.0 + 1 {
            return;
        }
        let mut is_whole = true;
        for shard in &self.shards {
            let ids: Vec<ImageId> = shard.lock().keys().copied().collect();
            for id in ids {
                is_whole &= self.change(id, |shard| fold(shard, (id, upto), sources, &is_free));
            }
        }
        self.folded.store(if is_whole { upto.0 + 1 } else { 0 }, Ordering::Relaxed);
    }
}

impl Drop for Inboxes {
    fn drop(&mut self) {
        self.account.discharge(Purpose::Inboxes, self.bytes());
    }
}

/// Folds one inbox; false if a reader prevented that.
fn fold(
    shard: &mut Shard,
    (id, upto): (ImageId, Timestamp),
    sources: &Arc<Sources>,
    is_free: impl Fn(Timestamp) -> bool,
) -> bool {
    let Some(inbox) = shard.get_mut(&id) else { return true };
    let is_covered = |entry: &InboxEntry| entry.ts <= upto;
    let counts = [0, 1].map(|at| inbox.entries[at].partition_point(is_covered));
    let last_of = |at: usize| counts[at].checked_sub(1).map(|last| inbox.entries[at][last].ts);
    let Some(last) = last_of(0).max(last_of(1)) else {
        // The new segments have the same state below the operations. Older ones need not stay open for it.
        if upto > inbox.base.sources.as_of() {
            inbox.base.sources = sources.clone();
        }
        return true;
    };
    if !is_free(last) && !faults::is_on(PlantedFault::InboxFoldedUnderReader) {
        return false;
    }
    if inbox.last() <= upto {
        shard.remove(&id);
        return true;
    }
    for (entries, count) in inbox.entries.iter_mut().zip(counts) {
        entries.drain(..count);
        entries.shrink_to(entries.len() + entries.len() / GROWTH);
    }
    inbox.base = InboxBase { sources: sources.clone(), begin: last };
    true
}
