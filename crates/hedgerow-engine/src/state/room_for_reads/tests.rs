use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use hedgerow_core::account::{Charge, Purpose};
use hedgerow_tier::ReadMemory;

use super::super::memory_pool::{InUse, KeptForReads, Lends};
use super::*;
use crate::error::{Error, StorageError};
use crate::graph::Graph;
use crate::options::{LEAST_MEMORY_LIMIT, Options};

const SOME: u64 = 1 << 20;

fn store() -> Graph {
    Options::new().memory_limit(LEAST_MEMORY_LIMIT).in_memory().unwrap()
}

/// All the memory that reads can have, as a read that has begun.
fn take_all(core: &Core) -> (u64, InUse) {
    let (in_use, mut taken) = (core.memory_pool.begin(), 0);
    for step in [SOME, SOME / 64, SOME / 1024] {
        while core.take_from_pool(step) {
            taken += step;
        }
    }
    (taken, in_use)
}

fn is_full<R>(found: Result<R>) -> bool {
    matches!(found, Err(Error::Storage(StorageError::MemoryLimit { .. })))
}

#[test]
fn one_that_waits_has_what_others_give_back_and_fails_when_nobody_has_any() {
    let graph = store();
    let core = &graph.engine.core;
    let (taken, in_use) = take_all(core);
    assert!(taken > LEAST_MEMORY_LIMIT / 2, "{taken}");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let mut line = None;
            let found = core.wait_for_room(SOME, &mut line);
            assert!(core.memory_pool.is_waited_for(), "it goes first until it has read");
            found
        });
        while !core.memory_pool.is_waited_for() {
            std::thread::yield_now();
        }
        core.give_to_pool(taken);
        drop(in_use);
        waits.join().unwrap().unwrap();
    });
    assert!(!core.memory_pool.is_waited_for());
    // Memory that no read has is not given back, and more than the limit is nobody's.
    let full = Charge::new(core.account(), Purpose::Arena, core.account().room() as usize);
    assert!(is_full(core.wait_for_room(SOME, &mut None)));
    drop(full);
    assert!(is_full(core.wait_for_room(2 * LEAST_MEMORY_LIMIT, &mut None)));
    core.wait_for_room(SOME, &mut None).unwrap();
}

#[test]
fn what_a_call_lends_is_not_waited_for_by_itself() {
    let graph = store();
    let core = &graph.engine.core;
    let (taken, in_use) = take_all(core);
    let lends = Lends::begin();
    let read = |bytes: u64| {
        core.read_within(|room| match room.has(ReadMemory::Image(bytes)) {
            true => Ok(()),
            false => Err(core.no_room_to_read(bytes)),
        })
    };
    assert!(is_full(read(SOME)), "its thread may be what others wait for");
    let (_, charge) = read(1024).unwrap();
    assert_eq!(charge.bytes.bytes(), 2048, "a small list and its copy are charged in any case");
    drop((charge, lends));
    core.give_to_pool(taken);
    drop(in_use);
    assert!(read(SOME).is_ok());
}

/// A window, say.
struct Kept(AtomicBool);

impl KeptForReads for Kept {
    fn give_up(&self) -> bool {
        !self.0.swap(true, SeqCst)
    }
}

#[test]
fn what_is_kept_for_reads_to_come_is_given_up_for_those_that_need_it() {
    let graph = store();
    let core = &graph.engine.core;
    core.begin_view_by_page();
    assert!(core.take_from_pool(SOME / 4));
    core.give_to_pool(SOME / 4);
    let views = || core.account().used_for(Purpose::Views);
    assert!(views() > 0, "some is kept while there is a view");
    let (kept, gone) = (Arc::new(Kept(AtomicBool::new(false))), Arc::new(Kept(AtomicBool::new(false))));
    for kept in [&kept, &gone] {
        let weak: Weak<Kept> = Arc::downgrade(kept);
        core.memory_pool.keep(weak);
    }
    drop(gone);
    let room = core.account().room();
    let full = Charge::new(core.account(), Purpose::Arena, (room - SOME / 8) as usize);
    assert!(!core.has_room_to_copy(SOME), "there is not so much");
    assert!(kept.0.load(SeqCst) && views() == 0, "and all was given up for it");
    drop(full);
    assert!(core.take_from_pool(SOME / 4));
    core.give_to_pool(SOME / 4);
    assert!(views() > 0);
    core.end_view_by_page();
    assert_eq!(views(), 0, "and with the last view");
}
