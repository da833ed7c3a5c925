use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Weak};

use hedgerow_catalog::error::{CommitError, Error, Result, StorageError};
use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::{Direction, KeyKind};
use hedgerow_pager::budget::taken::{Lends, Room, Stop, Taken};
use hedgerow_pager::budget::{For, KeptForReads, Need, SMALL, slack};
use hedgerow_pager::limits::LEAST_MEMORY_LIMIT as LIMIT;
use hedgerow_pager::pager::room::buffers::Writing;
use hedgerow_testkit::SimFs;
use hedgerow_tier::ReadMemory;

use crate::graph::Graph;
use crate::options::Options;
use crate::state::store::Core;

const SOME: u64 = 1 << 20;

fn store() -> Graph {
    Options::new().memory_limit(LIMIT).in_memory().unwrap()
}

/// Takes all memory that can be taken for `what`.
fn take_all(core: &Core, what: For) -> Taken {
    let mut taken = Taken::new(&core.pager.budget, what);
    for step in [SOME, SOME / 64, SOME / 1024, 1] {
        while taken.set(taken.bytes() + step) {}
    }
    taken
}

fn is_full<R>(found: Result<R>) -> bool {
    matches!(
        found,
        Err(Error::Storage(StorageError::MemoryLimit(_)) | Error::Commit(CommitError::MemoryLimit(_)))
    )
}

fn read(core: &Core, bytes: u64) -> Result<u64> {
    let lacks = || core.pager.error_of(Stop::NoRoom(bytes));
    let read = |room: &mut Room| if room.has(ReadMemory::Image(bytes)) { Ok(()) } else { Err(lacks()) };
    core.pager.read_within(read).map(|((), lent)| lent.taken.bytes())
}

#[test]
fn a_purpose_leaves_free_the_memory_of_those_with_precedence() {
    let graph = store();
    let core = &graph.engine.core;
    let most = |what| take_all(core, what).bytes();
    let [read, commit, load, speed] = [For::Read, For::Commit, For::Load, For::Speed].map(most);
    let slack = slack(LIMIT);
    let used = core.pager.account().used();
    assert_eq!(
        [commit, load, speed].map(|most| most + used),
        [LIMIT - slack, LIMIT - slack, LIMIT - 3 * slack]
    );
    assert_eq!(read + used, LIMIT - slack / 2, "a read that is not small");
    let commits = take_all(core, For::Commit);
    assert!(!Taken::new(&core.pager.budget, For::Read).set(slack), "that is the slack of small reads");
    let small: Vec<Taken> = std::iter::repeat_with(|| Taken::new(&core.pager.budget, For::Read))
        .take(SMALL as usize)
        .filter_map(|mut taken| taken.set(slack / SMALL).then_some(taken))
        .collect();
    assert_eq!(small.len() as u64, SMALL, "small reads continue while commits have no room");
    drop((commits, small));
    assert_eq!((core.pager.account().used(), core.pager.budget.total(LIMIT)), (used, used));
}

#[test]
fn a_waiting_call_gets_returned_memory_and_fails_if_no_call_has_any() {
    let graph = store();
    let core = &graph.engine.core;
    let taken = take_all(core, For::Read);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| read(core, SOME));
        while !core.pager.budget.is_waited_for() {
            std::thread::yield_now();
        }
        let mut other = Taken::new(&core.pager.budget, For::Read);
        assert!(other.set(1), "a small read goes on beside it");
        drop((taken, other));
        assert_eq!(waits.join().unwrap().unwrap(), 2 * SOME, "a list and its copy");
    });
    assert!(!core.pager.budget.is_waited_for());
    // A call does not wait for memory that no other call has taken.
    let full = Charge::new(core.pager.account(), Purpose::Arena, core.pager.account().room() as usize);
    assert!(is_full(read(core, SOME)) && is_full(read(core, 1)));
    assert!(is_full(core.check_room(1)));
    drop(full);
    assert!(is_full(read(core, LIMIT)), "more than the limit");
    read(core, SOME).unwrap();
    core.check_room(1).unwrap();
}

#[test]
fn a_call_that_lends_memory_does_not_wait() {
    let graph = store();
    let core = &graph.engine.core;
    let taken = take_all(core, For::Commit);
    let lends = Lends::begin();
    assert!(is_full(read(core, SOME)), "others may wait for its thread");
    assert_eq!(read(core, 1024).unwrap(), 2048, "the slack has room for a small list");
    drop((taken, lends));
    read(core, SOME).unwrap();
}

/// Memory that is kept for later reads, such as a window.
struct Kept(AtomicBool);

impl KeptForReads for Kept {
    fn give_up(&self) -> bool {
        !self.0.swap(true, SeqCst)
    }
}

#[test]
fn memory_that_is_kept_for_later_reads_is_given_up() {
    let graph = store();
    let core = &graph.engine.core;
    let (kept, gone) = (Arc::new(Kept(AtomicBool::new(false))), Arc::new(Kept(AtomicBool::new(false))));
    for kept in [&kept, &gone] {
        let weak: Weak<Kept> = Arc::downgrade(kept);
        core.pager.budget.keep(weak);
    }
    drop(gone);
    let _taken = take_all(core, For::Read);
    assert!(!core.pager.find_room(&Need::new(For::Read, SOME)), "there is not so much");
    assert!(kept.0.load(SeqCst), "and all was given up for it");
}

/// The cache of reads grows while memory is free. When other users have filled the limit, a read that finds
/// no room gets the memory of the cache.
#[test]
fn a_read_without_room_shrinks_the_cache_of_reads() {
    let options = Options::new().keys(KeyKind::Dense).memory_limit(LIMIT).background_settling(false);
    let graph = options.open_on(SimFs::new().handle()).unwrap();
    let edges: Vec<(u64, u64)> = (0..1 << 17).map(|v| (v, (v * 5 + 1) % (1 << 17))).collect();
    edges.chunks(1 << 15).for_each(|edges| graph.insert_edges(edges).map(drop).unwrap());
    graph.checkpoint().unwrap();
    let core = &graph.engine.core;
    core.pager.evict_until(|| false);
    let snapshot = graph.snapshot().unwrap();
    for (v, _) in edges.into_iter().step_by(64) {
        assert!(snapshot.degree(v, Direction::Out).unwrap() > Some(0));
    }
    let cached = core.pager.cold.cache().bytes() as u64;
    assert!(cached > LIMIT / 32, "{cached}");
    let _taken = take_all(core, For::Read);
    let _rest = Charge::new(
        core.pager.account(),
        Purpose::Versions,
        (LIMIT - core.pager.budget.total(LIMIT)) as usize,
    );
    assert!(core.pager.find_room(&Need::new(For::Read, cached / 4)), "{cached}");
    assert!(
        !core.pager.find_room(&Need::new(For::Read, cached)),
        "it keeps the bytes that it may always take"
    );
}

/// Each of two commits merges more than half of the limit. Both check for room at the same moment, with their
/// latches.
#[test]
fn of_two_commits_that_merge_at_the_same_moment_one_has_the_room() {
    let graph = store();
    let core = &graph.engine.core;
    let bytes = LIMIT / 3 * 2;
    let merges = || core.pager.take_for_merges(|| bytes as usize);
    let first = merges();
    assert!(matches!(first, Ok(Some(_))));
    assert_eq!(merges().err(), Some(bytes), "that is the room of the first");
    assert!(matches!(core.pager.take_for_merges(|| 4096), Ok(None)), "a small one fits the slack");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| core.find_room_to_merge(bytes));
        drop(first);
        waits.join().unwrap().unwrap();
    });
    assert!(matches!(merges(), Ok(Some(_))));
    assert_eq!(core.pager.budget.takings.promised(), 0, "each promise is over");
    let unlimited = Options::new().in_memory().unwrap();
    assert!(matches!(unlimited.engine.core.pager.take_for_merges(|| usize::MAX), Ok(None)));
}

/// A backup is refused if there is no room for its buffers, and a checkpoint is not. Other calls do not wait
/// for the memory of a backup.
#[test]
fn only_the_buffers_of_a_backup_are_refused() {
    let graph = store();
    let pager = &graph.engine.core.pager;
    let mut backup = pager.buffers(Writing::Backup);
    backup.set(pager, SOME as usize).unwrap();
    let takings = &pager.budget.takings;
    assert!(!takings.may_give_back(takings.ended()), "a call would wait for the backup");
    let _taken = take_all(&graph.engine.core, For::Read);
    assert!(is_full(backup.set(pager, 4 * SOME as usize)));
    assert_eq!(backup.bytes() as u64, SOME, "it keeps what it had");
    pager.buffers(Writing::Checkpoint).set(pager, 4 * SOME as usize).unwrap();
}

#[test]
fn the_six_numbers_of_a_refusal_explain_it() {
    let graph = store();
    let core = &graph.engine.core;
    let taken = take_all(core, For::Commit);
    let Err(Error::Commit(CommitError::MemoryLimit(shortage))) = core.check_room(1) else { panic!() };
    assert!(shortage.needed > shortage.available(), "{shortage:?}");
    assert_eq!((shortage.limit, shortage.slack), (LIMIT, slack(LIMIT)));
    assert_eq!(shortage.pinned, taken.bytes(), "{shortage:?}");
    let text = shortage.to_string();
    assert!(text.ends_with("closing old snapshots and views helps"), "{text}");
}
