//! Suites of the store once more, under a switch of the test build that takes out of memory, after each
//! commit, all that files hold (`docs/design/disk-cases.md`).

use std::path::Path;

use super::outcome::Outcome;
use super::plan::Plan;
use super::shell::{self, Step};

/// The test targets that run under the switch.
const TARGETS: [&str; 3] = ["it", "isolation", "crash"];
/// And in the deep form alone: `make test` has little time for histories, whose checkers are the same with
/// and without the switch.
const DEEP_TARGETS: [&str; 1] = ["history"];

/// The tests that `make test` runs of them, by parts of names: those that explore most.
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

/// Parts of names of tests that mean nothing under the switch: they say which files are written, or how much
/// memory something takes.
const LEFT_OUT: &[&str] = &[
    // How much memory something takes.
    "backpressure::",
    "memory_limit::",
    "held_quarter::",
    "cut_short_batches::",
    // How much is read of files.
    "cooling::",
    "random_reads::",
    "commit_loads::two_commits",
    // What goes cools there, and is linked again without the read that takes it out once more.
    "commit_loads::a_commit_whose_list_never_stays",
    // How many checkpoints there were, and what each of them wrote.
    "checkpoints::a_failure_in_the_background_is_told_and_made_good",
    "checkpoints::a_checkpoint_costs_what_changed",
    "checkpoints::what_is_removed_does_not_come_back",
    "disk_full::a_sync_of_the_directory_that_finds_no_space_poisons_the_store",
    // What is not durable yet: a checkpoint syncs the log.
    "durability::flush_makes_everything_before_it_durable",
    // Its file system commits from inside a sync, on the thread that syncs. The switch begins a checkpoint
    // there, which waits for the lock of the log that this thread holds.
    "writers::commits_that_come_during_a_sync_are_not_part_of_it",
    // Damage in records of the log that a checkpoint has replaced.
    "salvage::a_lost_definition_costs_a_name",
    "salvage::later_commits_show_what_lost_ones_did",
];

/// The number of rounds of which `make test` makes one.
const SHARE: &str = "20";

/// Returns the plan of the stage; `features` are those of the build of the tests.
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
