//! Planted faults that appear only under a controlled scheduler: the programs of this test must find each of
//! them. `tests/faults` finds the other faults, and checks that no fault is forgotten.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use hedgerow_core::faults::{self, PlantedFault as Fault};
use hedgerow_testkit::{Effort, explored};

use crate::kinds::{self, Way};
use crate::{DENSE, KEYED, Setting, Tally, held, reuse, run_program, under, walks};

/// The kind of program that finds a fault: random programs in a setting, or one of the programs of this
/// folder.
enum Finder {
    Programs(Setting),
    Reuse,
    /// The program about ids that go to another kind, with an edge that is written in this way.
    Kinds(Way),
    Walks,
    Held,
}

/// The number of programs within which each fault must be found.
const PROGRAMS: u64 = 2_000;

const FOUND_BY: &[(Fault, Finder)] = &[
    (Fault::LatchedReadsNotValidated, Finder::Programs(KEYED)),
    (Fault::LatchedElsewhereUnchanged, Finder::Programs(DENSE)),
    (Fault::VerticesNotLookedAtAgain, Finder::Programs(KEYED)),
    (Fault::IdsNotLookedAtAgain, Finder::Reuse),
    (Fault::GuessNotVerified, Finder::Reuse),
    (Fault::BatchKeysNotLookedAtAgain, Finder::Kinds(Way::Batch)),
    (Fault::FewKeysNotLookedAtAgain, Finder::Kinds(Way::Few)),
    (Fault::KindsNotCompared, Finder::Kinds(Way::Single)),
    (Fault::KindsNotCompared, Finder::Kinds(Way::General)),
    (Fault::KindsNotCompared, Finder::Kinds(Way::Few)),
    (Fault::KindsNotCompared, Finder::Kinds(Way::Batch)),
    (Fault::AbsentNotLookedAtAgain, Finder::Programs(DENSE)),
    (Fault::CompletedCommitForgotten, Finder::Programs(DENSE)),
    (Fault::DrawnDuringSection, Finder::Programs(DENSE)),
    (Fault::RegisteringReaderMissed, Finder::Programs(DENSE)),
    (Fault::ClosedReaderWaitedFor, Finder::Held),
    (Fault::WalkNotWaitedFor, Finder::Walks),
];

fn round(finder: &Finder, seed: u64, tally: &Tally) {
    match finder {
        Finder::Programs(setting) => run_program(*setting, seed, tally),
        Finder::Reuse => {
            let of = reuse::Tally { schedules: tally.schedules.clone(), ..reuse::Tally::default() };
            under(seed, reuse::program(&of));
        }
        Finder::Kinds(way) => {
            let of = kinds::Tally { schedules: tally.schedules.clone(), ..kinds::Tally::default() };
            under(seed, kinds::program(*way, &of));
        }
        Finder::Held => {
            let of = held::Tally { schedules: tally.schedules.clone() };
            under(seed, held::program(false, &of));
        }
        Finder::Walks => {
            let of = walks::Tally { schedules: tally.schedules.clone() };
            under(seed, walks::program(&of));
        }
    }
}

fn is_found(fault: Fault, finder: &Finder) -> bool {
    let planted = faults::plant(fault);
    let (effort, tally, mut programs) = (Effort::rounds(PROGRAMS), Tally::default(), 0);
    while let Some(seed) = effort.next_seed() {
        programs += 1;
        if catch_unwind(AssertUnwindSafe(|| round(finder, seed, &tally))).is_err() {
            let schedules = tally.schedules.load(Ordering::Relaxed);
            let reached = planted.reached();
            println!(
                "{fault:?}: found by program {programs}, after {schedules} schedules, reached {reached} times"
            );
            return true;
        }
    }
    println!("{fault:?}: NOT FOUND in {programs} programs, reached {} times", planted.reached());
    false
}

#[test]
fn every_planted_fault_is_found() {
    let found = FOUND_BY.iter().filter(|(fault, finder)| is_found(*fault, finder)).count();
    explored("planted faults found under the scheduler", found as u64, FOUND_BY.len() as u64);
}
