//! Simulated crashes before, inside and after every file operation, in every damage mode. Some rounds also
//! crash the recovery, and then run a third life. See `docs/design/testing/crashes.md`.
#![allow(missing_docs, reason = "a test program")]

#[path = "../common/mod.rs"]
#[macro_use]
mod common;
mod kinds;
mod negative;
mod plan;
mod poison;
mod rounds;
mod run;
mod tally;
mod verify;
mod writers;

use hedgerow_testkit::{Damage, Effort, evicts, explored};

use plan::Plan;

/// The number of rounds in `make test`. Each round has its own seed and explores about 3,900 states.
const ROUNDS: u64 = 14;
const FLOOR: u64 = 50_000;
/// The minimum number of different states. Most crashes leave the same bytes as an earlier crash.
const FLOOR_OPENED: u64 = 5_000;
const MODE_FLOOR: u64 = 1_000;
const SITE_FLOOR: u64 = 100;

/// Every known file operation of the engine. The rounds must crash at each of them.
const SITES: &[&str] = &[
    "allocate:reserve",
    "allocate:wal",
    "create:csr",
    "create:lock",
    "create:reserve",
    "create:tmp",
    "create:wal",
    "rename:man",
    "set_len:wal",
    "sync_all:csr",
    "sync_all:reserve",
    "sync_all:tmp",
    "sync_all:wal",
    "sync_data:wal",
    "sync_dir:dir",
    "unlink:csr",
    "unlink:man",
    "unlink:wal",
    "write:csr",
    "write:tmp",
    "write:wal",
];

/// The file operations that only the checkpoint of a close makes.
const SITES_OF_CLOSE: &[&str] = &["create:csr", "write:csr", "sync_all:csr", "unlink:wal"];
const SITE_OF_CLOSE_FLOOR: u64 = 50;

#[test]
fn every_crash_leaves_a_prefix_of_the_commits() {
    let total = rounds::explore(&Effort::rounds(ROUNDS), Plan::of).unwrap_or_else(|e| panic!("{e}"));
    println!("{total}");
    explored("crash states", total.states, FLOOR);
    explored("different crash states", total.opened, FLOOR_OPENED);
    for mode in Damage::ALL {
        explored(&format!("crash states in mode {mode:?}"), total.mode(mode), MODE_FLOOR);
    }
    explored("crashes during recovery", total.recovery_crashes, 1_000);
    explored("third lives", total.third_lives, 300);
    for site in SITES {
        // The ledger adds up the crashes at each site by this name.
        explored(&format!("crash states at {site}"), total.site(site), SITE_FLOOR);
    }
    // The eviction switch ends each commit with a checkpoint, so the close writes no checkpoint.
    if !evicts() {
        for site in SITES_OF_CLOSE {
            let states = total.site_of_close(site);
            explored(&format!("crash states at {site} while a store is closed"), states, SITE_OF_CLOSE_FLOOR);
        }
        explored("checkpoints at close under crashes", total.checkpoints_at_close, ROUNDS / 2);
    }
    let unlisted: Vec<_> = total.sites.keys().filter(|site| !SITES.contains(&&***site)).collect();
    assert!(unlisted.is_empty(), "file operations that are not listed: {unlisted:?}");
    explored("log rotations under crashes", total.rotations, 2 * ROUNDS);
    explored("checkpoints under crashes", total.checkpoints, 2 * ROUNDS);
    explored("kinds defined under crashes", total.kinds, ROUNDS);
    explored("page versions written under crashes", total.page_versions, ROUNDS / 3);
    explored("chains that cooled under crashes", total.cooled, ROUNDS / 2);
    // The eviction switch evicts the chains before this test can.
    let evicted_floor = if evicts() { 0 } else { ROUNDS / 2 };
    explored("chains taken out of memory under crashes", total.evicted, evicted_floor);
    explored("rounds with at least two rotations and two checkpoints", total.full_rounds, ROUNDS * 9 / 10);
}

#[test]
fn crashes_among_generations_of_segments() {
    let total = rounds::explore(&Effort::rounds(4), Plan::incremental).unwrap_or_else(|e| panic!("{e}"));
    println!("{total}");
    explored("crash states among generations", total.states, 5_000);
    explored("checkpoints among generations", total.checkpoints, 40);
    explored("page versions among generations", total.page_versions, 6);
    explored("segments of one store at once", total.most_runs, 3);
    explored("crash states while old segments are removed", total.site("unlink:csr"), 200);
    explored("crash states while segments are written", total.site("write:csr"), 600);
}

shared_tests! {
    writers:
        crashes_under_two_writers,
        commits_that_come_during_a_sync_are_not_part_of_it;
    poison:
        failed_operations_never_lose_what_was_acknowledged,
        every_error_of_every_operation;
}
