//! Faults planted in the engine: each must be found by the tests that claim to find its kind. Needs a build with
//! `--cfg hedgerow_faults`; any other build has nothing planted, and must be found sound.
#![allow(missing_docs, reason = "a test program")]
#![allow(dead_code, reason = "it uses a part of what the crash tests use")]
#![cfg_attr(not(hedgerow_faults), allow(unused_imports, reason = "nothing is planted"))]

#[path = "../isolation/anomalies.rs"]
mod anomalies;
#[path = "../history/blackbox.rs"]
mod blackbox;
#[path = "../history/clients.rs"]
mod clients;
#[path = "../common/mod.rs"]
mod common;
#[path = "../isolation/hermitage.rs"]
mod hermitage;
#[path = "../isolation/interleave.rs"]
mod interleave;
#[path = "../isolation/ldbc.rs"]
mod ldbc;
#[path = "../isolation/model.rs"]
mod model;
#[path = "../crash/plan.rs"]
mod plan;
#[path = "../crash/rounds.rs"]
mod rounds;
#[path = "../crash/run.rs"]
mod run;
#[path = "../isolation/script.rs"]
mod script;
#[path = "../crash/tally.rs"]
mod tally;
#[path = "../crash/verify.rs"]
mod verify;
#[path = "../history/world.rs"]
mod world;

use hedgerow::io::faults::PlantedFault;
use hedgerow_testkit::{Effort, explored};

use plan::{Plan, Planted};

/// Rounds in which a fault must be found.
const ROUNDS: u64 = 8;

fn plan(seed: u64, fault: Planted) -> Plan {
    Plan { durability: hedgerow::Durability::Sync, fault, ..Plan::of(seed) }
}

/// Says whether the crash simulation finds something, and what.
fn is_found(fault: Planted) -> bool {
    match rounds::explore(&Effort::rounds(ROUNDS), |seed| plan(seed, fault)) {
        Ok(tally) => {
            println!("{fault:?}: not found in {} crash states", tally.states);
            false
        }
        Err(error) => {
            println!("{fault:?}: found, {error}");
            true
        }
    }
}

#[test]
fn nothing_is_found_where_nothing_is_planted() {
    let calm = |seed| Plan { transactions: 9, ..plan(seed, Planted::None) };
    rounds::explore(&Effort::rounds(2), calm).unwrap();
}

#[cfg(hedgerow_faults)]
#[test]
fn every_planted_fault_is_found_by_crashes() {
    let engine = [
        PlantedFault::UncheckedTail,
        PlantedFault::LogDeletedEarly,
        PlantedFault::ManifestNotSynced,
        PlantedFault::AcknowledgedEarly,
    ];
    let faults = engine.into_iter().map(Planted::Engine);
    let faults = faults.chain([Planted::NoFileSync, Planted::NoDirectorySync]);
    let found = faults.filter(|&fault| is_found(fault)).count();
    explored("planted faults found by crashes", found as u64, 6);
}

#[cfg(hedgerow_faults)]
#[test]
fn commits_that_are_not_validated_lose_updates() {
    let plant = || hedgerow::io::faults::plant(Some(PlantedFault::ReadsNotValidated));
    let lost = common::contention::lost_updates(hedgerow::Isolation::Serializable, 4, 500, plant);
    println!("ReadsNotValidated: {lost} updates lost");
    explored("planted faults found by contention", u64::from(lost > 0), 1);
}

/// Without validation every case in which two transactions may conflict must come out wrong in some interleaving.
#[cfg(hedgerow_faults)]
#[test]
fn interleavings_without_validation_are_not_serial() {
    let isolation = hedgerow::Isolation::Serializable;
    let cases: Vec<_> =
        [ldbc::cases(), hermitage::cases(), anomalies::cases()].into_iter().flatten().collect();
    let (mut conflicting, mut found) = (0, 0);
    for case in &cases {
        hedgerow::io::faults::plant(None);
        let conflicts = interleave::explore(case, isolation, false).conflicts;
        hedgerow::io::faults::plant(Some(PlantedFault::ReadsNotValidated));
        let run = std::panic::AssertUnwindSafe(|| interleave::explore(case, isolation, false));
        let wrong = std::panic::catch_unwind(run).is_err();
        println!("{}: {conflicts} conflicts, ReadsNotValidated found: {wrong}", case.name);
        conflicting += u64::from(conflicts > 0);
        found += u64::from(wrong);
    }
    hedgerow::io::faults::plant(None);
    // All but dangling edges, which the latches alone prevent.
    explored("cases that go wrong without validation", found, conflicting - 1);
}

/// Both checkers of histories must see that commits are not validated, each time.
#[cfg(hedgerow_faults)]
#[test]
fn histories_without_validation_have_anomalies() {
    let plant = || hedgerow::io::faults::plant(Some(PlantedFault::ReadsNotValidated));
    let isolation = hedgerow::Isolation::Serializable;
    let world = world::World { isolation, keys: hedgerow::KeyKind::U64, durability: None };
    let mut found = [0, 0];
    for seed in 1..=4 {
        let plan = clients::Plan { world, clients: 4, phases: 1, transactions: 1_000 };
        found[0] +=
            u64::from(plan.run(seed, &plant).inspect_err(|e| println!("timestamps: {}", e.0)).is_err());
        let plan = blackbox::Plan { world, clients: 4, phases: 1, transactions: 500 };
        let (_, report) = plan.run(seed, &plant);
        println!("independent checker: {:?}", report.anomaly_types);
        found[1] += u64::from(report.valid == adya::Valid::False);
    }
    explored("histories without validation found by their timestamps", found[0], 4);
    explored("histories without validation found by an independent checker", found[1], 4);
}
