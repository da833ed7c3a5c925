//! The test suites of the store, run again with a switch of the test build. After each commit, the store then
//! evicts all data that files also have (`docs/design/disk-cases.md`).

use std::path::Path;

use super::outcome::Outcome;
use super::plan::Plan;
use super::shell::{self, Step};

/// The test targets that run with the switch.
const TARGETS: [&str; 3] = ["it", "isolation", "crash"];
/// The test targets that run only in the deep form. Histories take long, and the switch does not change their
/// checkers.
const DEEP_TARGETS: [&str; 1] = ["history"];

/// The tests of these targets that `make test` runs, by parts of their names. They are the tests that explore
/// most.
const EXPLORING: &[&str] = &[
    "random_transactions_agree_with_the_model",
    "own_writes::",
    "opening::a_graph_over_many_pages",
    "opening::readers_and_writers_beside_an_evictor",
    "disk_cases::",
    "concurrency::",
    "labels::",
    "kinds::",
    "every_interleaving_of_the",
    "the_ldbc_acid_suite_with_threads",
    "every_crash_leaves_a_prefix",
];

/// The tests that do not apply with the switch, by parts of their names. They check which files are written,
/// or how much memory is taken.
const LEFT_OUT: &[&str] = &[
    // These tests check the amount of memory.
    "backpressure::",
    "memory_limit::",
    "budget::",
    "held_quarter::",
    "cut_short_batches::",
    // These tests check the amount of data read from files.
    "cooling::",
    "random_reads::",
    "commit_loads::two_commits",
    // With the switch, an evicted chain cools and is linked again. The read that would evict it once more is
    // missing.
    "commit_loads::a_commit_whose_list_changes_at_each_read",
    // These tests check the number of checkpoints, and the data that each of them wrote.
    "checkpoints::a_failure_in_the_background_is_told_and_made_good",
    "checkpoints::a_checkpoint_costs_what_changed",
    "checkpoints::what_is_removed_does_not_come_back",
    "disk_full::a_sync_of_the_directory_that_finds_no_space_poisons_the_store",
    // This test checks data that is not durable yet, but a checkpoint syncs the log.
    "durability::flush_makes_everything_before_it_durable",
    // The file system of this test commits within a sync, on the syncing thread. The switch would begin a
    // checkpoint in that commit. The checkpoint would wait for the lock of the log, which this thread holds.
    "writers::commits_that_come_during_a_sync_are_not_part_of_it",
    // These tests damage records of the log that a checkpoint has already replaced.
    "salvage::a_lost_definition_costs_a_name",
    "salvage::later_commits_show_what_lost_ones_did",
];

/// The divisor that `make test` applies to the number of rounds.
const SHARE: &str = "20";

/// Returns the plan of the stage, with tests built with `features`.
pub(super) fn plan(root: &Path, features: &str) -> Plan {
    let deep = shell::is_deep();
    let mut arguments = vec!["test", "--locked", features];
    let more: &[&str] = if deep { &DEEP_TARGETS } else { &[] };
    arguments.extend(TARGETS.iter().chain(more).flat_map(|target| ["--test", target]));
    arguments.extend(["--", "--nocapture"]);
    if deep {
        arguments.extend(LEFT_OUT.iter().flat_map(|name| ["--skip", name]));
    } else {
        arguments.extend(EXPLORING);
    }
    let step = Step::cargo(root, &arguments).env("HEDGEROW_EVICT", "1");
    let step = if deep { step } else { step.env("HEDGEROW_SHARE", SHARE) };
    Plan::default().test(step).judged_by(Outcome::require_explored)
}
