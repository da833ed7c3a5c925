//! Histories of concurrent transactions, checked as a whole. One check uses the timestamps of the store. An
//! independent checker sees only reads and appends.
#![allow(missing_docs, reason = "a test program")]

mod blackbox;
mod clients;
mod world;

use hedgerow::{Durability, Isolation, KeyKind};
use hedgerow_testkit::{Effort, evicts, explored, share};

use world::World;

const SYNC: Option<Durability> = Some(Durability::Sync);
const MANUAL: Option<Durability> = Some(Durability::Manual);

const WORLDS: [World; 8] = {
    let (serializable, snapshot) = (Isolation::Serializable, Isolation::Snapshot);
    [
        World { isolation: serializable, keys: KeyKind::U64, durability: None },
        World { isolation: serializable, keys: KeyKind::Dense, durability: SYNC },
        World { isolation: serializable, keys: KeyKind::U64, durability: SYNC },
        World { isolation: snapshot, keys: KeyKind::U64, durability: None },
        World { isolation: snapshot, keys: KeyKind::Dense, durability: SYNC },
        World { isolation: serializable, keys: KeyKind::Dense, durability: None },
        // Commits may be lost: the remaining commits must still form a history.
        World { isolation: serializable, keys: KeyKind::U64, durability: MANUAL },
        World { isolation: snapshot, keys: KeyKind::U64, durability: MANUAL },
    ]
};

/// The number of worlds that lose no acknowledged commit. The independent checker does not model loss.
const LOSSLESS: usize = 6;

/// Returns the worlds to try. The eviction switch selects only worlds with files, because stores without
/// files evict nothing.
fn tried(worlds: &[World]) -> Vec<World> {
    worlds.iter().copied().filter(|world| world.is_durable() || !evicts()).collect()
}

/// The number of histories; they use the worlds in turn.
const HISTORIES: u64 = 10;

fn by_timestamps(isolation: Isolation, floor: u64) {
    let effort = Effort::rounds(HISTORIES);
    let mut worlds = tried(&WORLDS);
    worlds.retain(|world| world.isolation == isolation);
    let mut all = clients::Tally::default();
    let mut histories = 0;
    while let Some(seed) = effort.next_seed() {
        let world = worlds[seed as usize % worlds.len()];
        let (clients, phases) = (4 + seed % 5, if world.is_durable() { 4 } else { 1 });
        let plan = clients::Plan { world, clients, phases, transactions: 20_000 / clients / phases };
        let tally = plan.run(seed, &|| ()).unwrap_or_else(|found| {
            panic!("HEDGEROW_ROUND={seed}, {world:?}: {}", found.0);
        });
        let kept = tally.writers > tally.transactions / 2 || world.durability == MANUAL;
        assert!(kept && tally.conflicts > 0, "{tally:?}");
        all.transactions += tally.transactions;
        all.writers += tally.writers;
        all.conflicts += tally.conflicts;
        all.reads += tally.reads;
        all.restarts += tally.restarts;
        histories += 1;
    }
    println!("{isolation:?}: {histories} histories, {all:?}");
    explored(&format!("transactions checked by timestamps ({isolation:?})"), all.transactions, floor);
}

#[test]
fn histories_are_strictly_serializable_by_their_timestamps() {
    by_timestamps(Isolation::Serializable, 100_000);
}

#[test]
fn histories_are_strong_snapshot_isolation_by_their_timestamps() {
    by_timestamps(Isolation::Snapshot, 100_000);
}

/// The number of histories for the independent checker.
const BLACK_BOX: u64 = 9;
/// The minimum number of unknown outcomes in these histories.
const UNKNOWN: u64 = 4;

#[test]
fn an_independent_checker_finds_no_anomaly() {
    let effort = Effort::rounds(BLACK_BOX);
    let worlds = tried(&WORLDS[..LOSSLESS]);
    let (mut all, mut histories) = (blackbox::Tally::default(), 0);
    // The scheduler decides how many commits one sync covers, and therefore which phases reach the failing
    // sync. If few phases reach it, more histories run, so that the minimum does not depend on luck.
    let wanted = |unknown, histories| unknown < UNKNOWN / share() && histories < 4 * BLACK_BOX;
    while let Some(seed) = effort.next_seed_while(wanted(all.unknown, histories)) {
        histories += 1;
        let world = worlds[seed as usize % worlds.len()];
        let (clients, phases) = (4 + seed % 5, if world.is_durable() { 4 } else { 1 });
        let plan = blackbox::Plan { world, clients, phases, transactions: 5_000 / clients / phases };
        let (tally, report) = plan.run(seed, &|| ());
        assert!(blackbox::is_valid(&report), "HEDGEROW_ROUND={seed}, {world:?}: {report:#?}");
        assert!(tally.committed > tally.refused / 4, "{tally:?}");
        all.committed += tally.committed;
        all.refused += tally.refused;
        all.unknown += tally.unknown;
    }
    println!("{all:?}");
    explored("transactions checked by an independent checker", all.committed, 20_000);
    explored("outcomes that a failed sync left unknown", all.unknown, UNKNOWN);
}
