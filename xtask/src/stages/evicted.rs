//! The store's suites, run again with a switch of the test build. After each commit it evicts all data that
//! files also hold (`docs/design/disk-cases.md`).

use std::path::Path;

use super::outcome::Outcome;
use super::plan::Plan;
use super::shell::{self, Step};

/// The test targets that run with the switch.
const TARGETS: [&str; 3] = ["it", "isolation", "crash"];
/// The test targets that run only in the deep form. Histories take long, and their checkers are the same with
/// and without the switch.
const DEEP_TARGETS: [&str; 1] = ["history"];

/// The tests of these targets that `make test` runs, by parts of names: the tests that explore most.
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

/// The tests that mean nothing with the switch, by parts of names. They check which files are written, or how
/// much memory is taken.
const LEFT_OUT: &[&str] = &[
    // These check how much memory something takes.
    "backpressure::",
    "memory_limit::",
    "budget::",
    "held_quarter::",
    "cut_short_batches::",
    // These check how much is read from files.
    "cooling::",
    "random_reads::",
    "commit_loads::two_commits",
    // With the switch, an evicted chain cools and is linked again, without the read that would evict it once
    // more.
    "commit_loads::a_commit_whose_list_changes_at_each_read",
    // These check how many checkpoints there were, and what each of them wrote.
    "checkpoints::a_failure_in_the_background_is_told_and_made_good",
    "checkpoints::a_checkpoint_costs_what_changed",
    "checkpoints::what_is_removed_does_not_come_back",
    "disk_full::a_sync_of_the_directory_that_finds_no_space_poisons_the_store",
    // This checks data that is not durable yet, but a checkpoint syncs the log.
    "durability::flush_makes_everything_before_it_durable",
    // This test's file system commits from inside a sync, on the syncing thread. The switch would begin a
    // checkpoint in that commit, which waits for the lock of the log that this thread holds.
    "writers::commits_that_come_during_a_sync_are_not_part_of_it",
    // These damage records of the log that a checkpoint has already replaced.
    "salvage::a_lost_definition_costs_a_name",
    "salvage::later_commits_show_what_lost_ones_did",
];

/// The number by which `make test` divides the rounds.
const SHARE: &str = "20";

/// Returns the plan of the stage; the tests are built with `features`.
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
