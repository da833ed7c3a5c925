//! Settling: merging the deltas of idle subgraphs, so that a graph that is only read becomes a plain CSR
//! (rule R7). The same thread reclaims versions that snapshots pinned, once they are closed (rule R6).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use hedgerow_core::account::Purpose;
use hedgerow_core::sync::{Ordering, fence};
use hedgerow_core::{Direction, SubgraphId, Timestamp};
use hedgerow_io::failpoint::{self, FailPoint};
use hedgerow_mem::{Pin, Subgraph, Version};
use hedgerow_pager::budget::{For, Need};
use hedgerow_pager::tables::PartitionKey;

use crate::state::store::Core;

/// The time between two turns of the background thread, unless another thread wakes it.
const INTERVAL: Duration = Duration::from_millis(50);
/// The least time between two turns, so that one turn serves all readers that close within it.
const REST: Duration = Duration::from_millis(2);
/// The number of turns that find a latch taken before the thread waits for that latch.
const PATIENCE: u32 = 16;
/// The least time between the begins of two rounds over all subgraphs. A subgraph is idle if it had no writes
/// since the previous round began.
const ROUND: Duration = Duration::from_secs(1);
/// The most subgraphs that one turn looks at, and the most that it settles: a few milliseconds of work.
const LOOKS: u32 = 1 << 14;
const SETTLED: usize = 256;
/// The number of settled chains after which the memory of the replaced versions is worth a call to the
/// allocator.
const MANY: usize = 1_000;

/// Settles idle subgraphs, and reclaims versions that snapshots pinned, until the store is closed. It has no
/// handle of the store, since dropping the last handle closes the store.
pub(crate) fn run(core: &Weak<Core>) {
    let mut round = Round::default();
    let mut settled_at = Instant::now();
    loop {
        std::thread::sleep(REST);
        let Some(idle) = core.upgrade().map(|core| falls_asleep(&core, &round)) else { return };
        if idle {
            std::thread::park_timeout(INTERVAL.saturating_sub(settled_at.elapsed()));
        }
        let Some(core) = core.upgrade() else { return };
        core.work.settling.asleep.store(false, Ordering::Relaxed);
        if core.check_usable().is_err() {
            round.latched.into_iter().for_each(|(chain, gone)| core.pager.keep_for(chain, gone));
            core.pager.reclaim_for_the_closed();
            return;
        }
        // A subgraph that cannot be settled stays as it is, and the others must not suffer.
        let turn = catch_unwind(AssertUnwindSafe(|| {
            reclaim_turn(&core, &mut round);
            if settled_at.elapsed() >= INTERVAL {
                settle_idle(&core, &mut round);
                settled_at = Instant::now();
            }
        }));
        if turn.is_err() {
            core.work.settling.panics.fetch_add(1, Ordering::Relaxed);
            (round.next, round.left) = (round.next.saturating_add(1), true);
            drop(core);
            std::thread::sleep(ROUND);
        }
    }
}

/// The progress of the background thread.
#[derive(Default)]
struct Round {
    begun: Option<Instant>,
    /// The published timestamps at the begins of this round and of the one before.
    published: Timestamp,
    idle_since: Timestamp,
    next: u32,
    /// True if the round passed over something unsettled because it was written to too recently.
    left: bool,
    /// The number of chains settled since the last call to the allocator.
    settled: usize,
    /// The published timestamp at the begin of the last round that left nothing unsettled.
    quiet: Option<Timestamp>,
    /// Chains that wait for the latch of their subgraph, and the number of turns with such chains.
    latched: Vec<(PartitionKey, Pin)>,
    turns: u32,
}

/// Merges the published entries of all deltas, and moves all lists into fresh regions, in the order of
/// the vertices. The old regions go back to the system.
pub(crate) fn settle(core: &Core) {
    let _alone = core.work.settling.whole.lock();
    let published = core.order.clock.published().0;
    if core.work.settling.ordered_at.load(Ordering::Relaxed) == published {
        return;
    }
    // Lists that only cached views use would keep the old regions in memory.
    core.views.give_all_up();
    // Under a memory limit, lists move only if the limit has room for two copies of them.
    // Returned memory pages are needed again when their regions are evacuated.
    let used = [Purpose::Arena, Purpose::Versions].map(|of| core.pager.account().used_for(of));
    let lists = used.iter().sum::<u64>() + 2 * core.pager.subgraphs.arena().stats().returned as u64;
    let relocate =
        core.durable.is_none() || core.pager.budget.fits(&Need::new(For::Commit, lists).with_block(lists));
    let evacuation = relocate.then(|| core.pager.subgraphs.arena().evacuate());
    let (mut settled, mut whole) = (0, true);
    for (label, table) in core.pager.tables() {
        for subgraph in (0..core.keys.ids.bound.subgraphs()).map(SubgraphId) {
            let hold = table.hold();
            let Some(entry) = table.get(subgraph, &hold) else { continue };
            for &direction in core.catalog.directions_of(label) {
                // Once the limit has no room, the remaining deltas are not merged.
                whole &= relocate || has_room_to_settle(core, entry, direction);
                if whole {
                    let chain = PartitionKey { label, subgraph, direction };
                    settled += usize::from(settle_chain(core, entry, chain, relocate));
                }
            }
        }
    }
    free_settled(core, settled);
    drop(evacuation);
    core.views.note_settled();
    if whole {
        core.work.settling.ordered_at.store(published, Ordering::Relaxed);
    }
}

/// True if the limit has room to settle a chain in place, once the lists replaced before it are freed.
fn has_room_to_settle(core: &Core, subgraph: &Subgraph, direction: Direction) -> bool {
    if core.pager.memory_limit.is_none() {
        return true;
    }
    let bytes = |head: &Arc<Version>| if head.delta().is_empty() { 0 } else { head.bytes() as u64 };
    let bytes = subgraph.versions(direction).first().map_or(0, bytes);
    let need = Need::new(For::Speed, bytes).in_arena().with_block(bytes);
    core.pager.budget.fits(&need) || {
        core.pager.subgraphs.memory().retire_list().drain();
        core.pager.budget.fits(&need)
    }
}

/// Notes that the thread sleeps. Returns true if no work is left: a version that waits to be reclaimed is
/// work, unless the next commit reclaims it.
fn falls_asleep(core: &Core, round: &Round) -> bool {
    core.work.settling.asleep.store(true, Ordering::Relaxed);
    // Orders the note before the check for work. A closing snapshot notes its close before it checks
    // whether this thread sleeps.
    fence(Ordering::SeqCst);
    round.latched.is_empty() && !core.pager.pending.is_due_to_readers(&core.order.readers)
}

/// Reclaims versions that snapshots released. It waits only for a latch that was taken in many turns:
/// commits hold the latch of a hub nearly all the time.
fn reclaim_turn(core: &Core, round: &mut Round) {
    core.pager.reclaim_unlatched(&mut round.latched, round.turns >= PATIENCE);
    let waits = !round.latched.is_empty() && round.turns < PATIENCE;
    round.turns = if waits { round.turns + 1 } else { 0 };
}

/// Does one turn of settling subgraphs without writes for a whole round. The work of a turn is bounded,
/// and it waits for no latch.
fn settle_idle(core: &Core, round: &mut Round) {
    let _ = failpoint::reach(FailPoint::SettleTurn);
    let bound = core.keys.ids.bound.subgraphs();
    if round.next >= bound || round.begun.is_none() {
        let published = core.order.clock.published();
        let early = round.begun.is_some_and(|begun| begun.elapsed() < ROUND);
        if early || round.quiet == Some(published) {
            return;
        }
        (round.idle_since, round.published) = (round.published, published);
        (round.begun, round.next, round.left) = (Some(Instant::now()), 0, false);
    }
    // In an idle store no other thread would free the versions that were unlinked last.
    core.pager.subgraphs.memory().retire_list().drain();
    let (mut settled, mut looks) = (0, 0);
    while round.next < bound && settled < SETTLED && looks < LOOKS {
        settled += settle_if_idle(core, SubgraphId(round.next), round);
        (round.next, looks) = (round.next + 1, looks + 1);
    }
    round.settled += settled;
    if round.settled >= MANY {
        free_settled(core, round.settled);
        round.settled = 0;
    }
    if round.next >= bound && !round.left {
        round.quiet = Some(round.published);
    }
}

/// Settles one subgraph of all labels, if it is idle. Returns the number of chains that were settled.
fn settle_if_idle(core: &Core, subgraph: SubgraphId, round: &mut Round) -> usize {
    let mut settled = 0;
    for (label, table) in core.pager.tables() {
        let hold = table.hold();
        let Some(entry) = table.get(subgraph, &hold) else { continue };
        let idle = entry.stamp().applied() <= round.idle_since;
        let Some(mut latched) = idle.then(|| entry.try_latch_for_upkeep()).flatten() else {
            round.left = true;
            continue;
        };
        let _ = failpoint::reach(FailPoint::SettleSubgraph);
        for &direction in core.catalog.directions_of(label) {
            if !has_room_to_settle(core, entry, direction) {
                round.left = true;
                continue;
            }
            let horizon = core.order.horizon();
            if let Some(pins) = latched.settle(direction, false, &horizon) {
                core.pager.keep(PartitionKey { label, subgraph, direction }, pins);
                settled += 1;
            }
        }
        let merged = latched.merged();
        drop(latched);
        core.note_merged(label, merged);
    }
    settled
}

/// Frees the versions that settling has replaced, and calls the function that the options name if there
/// were many.
fn free_settled(core: &Core, chains: usize) {
    core.pager.subgraphs.memory().retire_list().drain();
    if let Some(after) = core.work.settling.after
        && chains >= MANY
    {
        after();
    }
}

/// Settles one chain; returns true if that made a version.
fn settle_chain(core: &Core, entry: &Subgraph, chain: PartitionKey, relocate: bool) -> bool {
    let horizon = core.order.horizon();
    let mut latched = entry.latch_for_upkeep();
    let pins = latched.settle(chain.direction, relocate, &horizon);
    let made = pins.is_some();
    core.pager.keep(chain, pins.unwrap_or_default());
    let merged = latched.merged();
    drop(latched);
    core.note_merged(chain.label, merged);
    made
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use hedgerow_testkit::FOR_EVER;

    use super::MANY;
    use crate::state::pin::pin;
    use crate::{KeyKind, Options};
    use hedgerow_pager::order::pending::Reasons;

    /// The function of `after_settling` runs after each settling that replaced many versions, also in the
    /// background. It runs after no other settling.
    #[test]
    fn who_wants_to_know_is_told_after_much_was_settled() {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let calls = || CALLS.load(Ordering::Relaxed);
        for (background, chains) in [(false, MANY as u64), (false, 10), (true, MANY as u64 + 10)] {
            let options = Options::new().keys(KeyKind::Dense).directed(false).background_settling(background);
            let graph = options
                .after_settling(|| _ = CALLS.fetch_add(1, Ordering::Relaxed))
                .in_memory()
                .expect("new");
            let before = calls();
            graph
                .transact(1, |tx| (0..chains).try_for_each(|n| tx.put_edge((n * 64, n * 64 + 1))))
                .expect("put");
            if !background {
                graph.settle().expect("settled");
                assert_eq!(calls() - before, u64::from(chains >= MANY as u64), "{chains} chains");
                continue;
            }
            let start = Instant::now();
            for end in 2.. {
                if calls() > before {
                    break;
                }
                assert!(start.elapsed() < FOR_EVER, "the function did not run");
                // Repeated inserts cause merges. The first merge starts the thread.
                graph.insert_edge((0, end)).expect("put");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }

    #[test]
    fn what_a_snapshot_of_the_store_kept_goes_although_nobody_commits() {
        let graph = Options::new().keys(KeyKind::Dense).in_memory().expect("new");
        let core = &graph.engine.core;
        graph.insert_edge((0, 1)).expect("new");
        let pinned = pin(core);
        (2..2_000).for_each(|end| _ = graph.insert_edge((0, end)).expect("new"));
        drop(pinned);
        let start = Instant::now();
        while core.pager.pending.is_due(core.order.clock.published(), &core.order.readers, Reasons::All) {
            assert!(start.elapsed() < FOR_EVER, "versions wait for a snapshot that is gone");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn what_snapshots_of_a_closed_store_kept_goes_as_they_close() {
        for background in [true, false] {
            let options = Options::new().keys(KeyKind::Dense).background_settling(background);
            let graph = options.in_memory().expect("new");
            let core = graph.engine.core.clone();
            let write = |end| graph.insert_edge((0, end)).and_then(|_| graph.snapshot()).expect("open");
            let held: Vec<_> = (1..2_000).map(write).collect();
            graph.close().expect("open");
            assert!(core.pager.pending.bytes() > 0, "the snapshots keep versions");
            for snapshot in held {
                drop(snapshot);
                let due = core.pager.pending.is_due(
                    core.order.clock.published(),
                    &core.order.readers,
                    Reasons::All,
                );
                assert!(!due, "versions wait for a snapshot that is gone");
            }
        }
    }
}
