//! Tests of isolation, one anomaly at a time: the LDBC ACID suite, Hermitage's scripts and the anomalies of
//! graphs. They cover every interleaving of scripted transactions and concurrent threads, at both levels.
#![allow(missing_docs, reason = "a test program")]

mod anomalies;
mod arena;
mod graphs;
mod hermitage;
mod interleave;
mod ldbc;
mod model;
mod script;
mod suite;

use hedgerow::Isolation;
use hedgerow_testkit::{Effort, evicts, explored};

use arena::{Arena, TIERS};
use interleave::{Case, explore};

const LEVELS: [Isolation; 2] = [Isolation::Serializable, Isolation::Snapshot];

/// Runs the cases in memory, and the cases of at most two transactions also on files.
fn every_interleaving(what: &str, cases: &[Case], floor: u64) {
    let mut runs = 0;
    for isolation in LEVELS {
        println!("{what} under {isolation:?}:");
        for case in cases {
            let stores: &[bool] = match (evicts(), case.scripts.len()) {
                (true, _) => &[true],
                (false, 0..=2) => &[false, true],
                _ => &[false],
            };
            for &durable in stores {
                let tally = explore(case, isolation, durable);
                println!("  {}{}: {tally}", case.name, if durable { ", on files" } else { "" });
                assert!(tally.commits > 0, "{}", case.name);
                runs += tally.runs;
            }
        }
    }
    explored(&format!("{what} interleavings"), runs, if evicts() { 1_000 } else { floor });
}

#[test]
fn every_interleaving_of_the_ldbc_acid_scripts() {
    every_interleaving("LDBC ACID", &ldbc::cases(), 22_400);
}

#[test]
fn every_interleaving_of_the_hermitage_scripts() {
    every_interleaving("Hermitage", &hermitage::cases(), 10_440);
}

#[test]
fn every_interleaving_of_the_graph_anomalies() {
    every_interleaving("graph anomaly", &anomalies::cases(), 36_960);
}

/// The number of runs of each test with threads, at each level, on each tier.
const REPEATS: u64 = 50;

/// The number of tests that run on one store in sequence, before the next store.
const RUNS_PER_STORE: u64 = 10;

/// Runs all `tests` in turn with new seeds. `skewed` names the test whose violation snapshot isolation
/// allows.
fn with_threads(what: &str, tests: &[(&str, suite::Test)], skewed: &str) {
    let effort = Effort::rounds(REPEATS / RUNS_PER_STORE);
    let (mut runs, mut skews) = (0, 0);
    while let Some(seed) = effort.next_seed() {
        for (isolation, tier) in LEVELS.into_iter().flat_map(|level| TIERS.map(|tier| (level, tier))) {
            for (name, test) in tests {
                println!("{name} under {isolation:?}, {tier:?}, HEDGEROW_ROUND={seed}");
                let mut arena = Arena::new(isolation, tier, seed);
                for _ in 0..RUNS_PER_STORE {
                    let violations = test(&mut arena);
                    assert!(violations == 0 || *name == skewed, "{name}");
                    skews += violations;
                    runs += 1;
                }
                arena.check();
            }
        }
    }
    explored(&format!("{what} runs with threads"), runs, REPEATS * tests.len() as u64 * 6);
    explored(&format!("violations of {skewed} that snapshot isolation allows"), skews, 1);
}

#[test]
fn the_ldbc_acid_suite_with_threads() {
    with_threads("LDBC ACID", &suite::TESTS, "WS");
}

#[test]
fn graph_anomalies_with_threads() {
    with_threads("graph anomaly", &graphs::TESTS, "MC");
}
