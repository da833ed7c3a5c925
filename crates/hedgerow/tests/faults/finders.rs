//! The finders of planted faults: the other test programs, with a sufficient number of rounds. `Ok` describes
//! the work that found nothing, `Err` describes the finding.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow::{Durability, Isolation};
use hedgerow_core::faults::PlantedFault as Fault;
use hedgerow_testkit::Effort;

use crate::interleave::{self, Case};
use crate::plan::{Plan, Planted};
use crate::{
    anomalies, budget, bytes, cold, commit_loads, common, cooled_copies, ends, equivalence, held, hermitage,
    inboxes, ldbc, lies, many_labels, memory, opening, page_versions, poison, rounds, tools, views, writers,
};

/// The faults that the obvious programs of Python find (`python/tests/property/test_obvious_programs.py`).
pub(crate) const IN_PYTHON: &[Fault] = &[
    Fault::WeightsOfLabelsIgnored,
    Fault::StatedKindIgnored,
    Fault::OtherKindsKept,
    Fault::EstimateNotReported,
    Fault::ParallelEdgesMerged,
    Fault::VerticesReplaced,
];

/// The faults that the random stacks of sources find (`crates/hedgerow-pager/src/sources/tests/faults.rs`).
pub(crate) const IN_PAGER: &[Fault] =
    &[Fault::OlderWordWins, Fault::PutIfAbsentEndsSearch, Fault::TombstoneDropped];

/// The faults that need a controlled scheduler; `hedgerow-schedules` finds them.
pub(crate) const SCHEDULED: &[Fault] = &[
    Fault::LatchedReadsNotValidated,
    Fault::LatchedElsewhereUnchanged,
    Fault::VerticesNotLookedAtAgain,
    Fault::IdsNotLookedAtAgain,
    Fault::GuessNotVerified,
    Fault::BatchKeysNotLookedAtAgain,
    Fault::FewKeysNotLookedAtAgain,
    Fault::KindsNotCompared,
    Fault::AbsentNotLookedAtAgain,
    Fault::CompletedCommitForgotten,
    Fault::DrawnDuringSection,
    Fault::RegisteringReaderMissed,
    Fault::ClosedReaderWaitedFor,
    Fault::WalkNotWaitedFor,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Finder {
    /// A crash at each phase of each file operation.
    Crashes,
    /// Commits that arrive during a sync of the log, and a crash.
    LateCommits,
    /// Each file operation fails once, and then for ever.
    Failures,
    /// Random transactions on a store and a model.
    Sequences,
    /// Each order of the steps of scripted transactions, at both levels.
    Interleavings,
    /// Threads that increment counters on the same edges.
    Contention,
    /// Reads of values that other threads write, with merges between the writes.
    StaleReads,
    /// Changed bytes and lengths of files.
    Damage,
    /// Files with false content and correct checksums.
    Lies,
    /// Labels that declare the kinds of their endpoints, on every way of writing.
    Ends,
    /// Views, compared with point reads.
    Views,
    /// Hundreds of open snapshots.
    Held,
    Backup,
    Salvage,
    /// The memory account, compared with the content of a store.
    Account,
    /// The memory account while a scan lends lists.
    LentLists,
    /// Reads while the memory has no room for commits.
    SmallReads,
    /// A commit whose list changes at each read.
    PinnedLists,
    /// Commits that need more than half of the limit, and must wait.
    LargeCommits,
    /// Graphs over many pages, most of them not loaded.
    Pages,
    /// Point reads of data that is not in memory, in graphs that change.
    ColdReads,
    /// The same reads with a damaged block.
    DamagedBlocks,
    /// Point reads of open snapshots whose content goes to page versions.
    HeldInFiles,
    /// A chain that cools, while another thread reads it back and writes to it.
    CooledCopies,
    /// A page of a table that is evicted while a thread has a hold on it.
    LeftPages,
    /// Commits to lists that are not in memory, in a store larger than its limit.
    Inboxes,
    /// The same commits beside checkpoints.
    FoldedInboxes,
    /// Checkpoints that write deltas, and all readers of them.
    Deltas,
    /// Segments whose files were removed, and which stay in use if later segments cannot be opened.
    OldSegments,
}

impl Finder {
    /// True if the finder is a whole test of `it`, or all of `isolation`. Those programs run it without
    /// planted faults in the same build.
    pub(crate) fn is_run_elsewhere(self) -> bool {
        matches!(
            self,
            Finder::Interleavings
                | Finder::Ends
                | Finder::Views
                | Finder::Held
                | Finder::Backup
                | Finder::Salvage
                | Finder::Account
                | Finder::LentLists
                | Finder::SmallReads
                | Finder::PinnedLists
                | Finder::LargeCommits
                | Finder::Pages
                | Finder::ColdReads
                | Finder::DamagedBlocks
                | Finder::HeldInFiles
                | Finder::CooledCopies
                | Finder::LeftPages
                | Finder::Inboxes
                | Finder::FoldedInboxes
                | Finder::Deltas
                | Finder::OldSegments
        )
    }

    pub(crate) fn find(self) -> Result<String, String> {
        match self {
            // A read may report the damage. The comparison with the model expects every read to succeed, so
            // it panics.
            Finder::Crashes => caught(|| crashes(Planted::None, 2)).and_then(|seen| seen),
            Finder::LateCommits => {
                writers::commits_during_syncs(20).map(|late| format!("{late} commits during a sync"))
            }
            Finder::Failures => {
                poison::sweep(&Effort::rounds(2)).map(|seen| format!("{} failed operations", seen.runs))
            }
            Finder::Sequences => sequences(240),
            Finder::Interleavings => interleavings(),
            Finder::Contention => contention(),
            Finder::StaleReads => stale_reads(),
            Finder::Damage => caught(|| bytes::explore(&Effort::rounds(1), (13, 61, 50)))
                .map(|(_, tally)| format!("{} damaged stores", tally.total())),
            Finder::Lies => caught(|| lies::explore(&Effort::rounds(1_500)))
                .map(|seen| format!("{} stores that lie", seen.tally.total())),
            Finder::Ends => whole(ends::every_way_of_writing_keeps_to_the_kinds_of_a_label),
            Finder::Views => whole(views::refreshed_views_agree_with_point_reads),
            Finder::Held => whole(held::hundreds_of_snapshots_read_what_they_read_when_they_opened),
            Finder::Account => whole(memory::the_account_explains_what_a_store_holds),
            Finder::LentLists => whole(budget::a_scan_charges_the_lists_that_it_lends),
            Finder::SmallReads => whole(budget::small_reads_continue_while_commits_have_no_room),
            Finder::PinnedLists => {
                whole(commit_loads::a_commit_whose_list_changes_at_each_read_of_it_is_made)
            }
            Finder::LargeCommits => whole(
                commit_loads::a_commit_of_more_than_the_limit_by_estimate_waits_for_what_others_have_changed,
            ),
            Finder::Pages => {
                whole(opening::a_graph_over_many_pages_is_what_was_written_however_it_was_opened)
            }
            Finder::ColdReads => whole(cold::cold_reads_say_what_a_resident_store_says),
            Finder::DamagedBlocks => whole(cold::a_damaged_block_is_an_error_of_each_read_of_it),
            Finder::OldSegments => whole(opening::images_are_read_from_files_that_were_removed),
            Finder::Inboxes => whole(inboxes::commits_write_to_lists_that_are_not_in_memory),
            Finder::FoldedInboxes => whole(inboxes::commits_beside_checkpoints_know_which_edges_exist),
            Finder::Deltas => whole(inboxes::every_reader_merges_deltas_with_images),
            Finder::HeldInFiles => whole(page_versions::reads_of_held_snapshots_of_a_graph_that_grows),
            Finder::CooledCopies => {
                whole(cooled_copies::what_cools_is_linked_again_only_if_it_is_what_it_was)
            }
            Finder::LeftPages => whole(many_labels::a_page_that_left_stays_under_a_hold_and_is_not_filled),
            Finder::Backup => whole(tools::a_backup_is_the_store_of_its_moment),
            Finder::Salvage => whole(tools::a_damaged_segment_loses_what_is_damaged),
        }
    }
}

/// True while panics are expected. The caller prints the findings.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Runs `f` without the usual report of a panic on any thread.
pub(crate) fn quietly<T>(f: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !WANTED.load(Ordering::Relaxed) {
                usual(info);
            }
        }));
    });
    WANTED.store(true, Ordering::Relaxed);
    let done = f();
    WANTED.store(false, Ordering::Relaxed);
    done
}

/// Runs `f` and turns a panic into its message.
pub(crate) fn caught<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        text.unwrap_or("a panic").to_owned()
    })
}

/// Runs one unchanged test function.
fn whole(test: fn()) -> Result<String, String> {
    caught(test).map(|()| "the whole test".to_owned())
}

/// Runs rounds on a disk with or without a fault, and half as many rounds with many segments.
pub(crate) fn crashes(fault: Planted, each: u64) -> Result<String, String> {
    let plan = |of: Plan| Plan { durability: Durability::Sync, fault, ..of };
    let few = rounds::explore(&Effort::rounds(each), |seed| plan(Plan::of(seed)))?;
    let many = rounds::explore(&Effort::rounds(each.div_ceil(2)), |seed| plan(Plan::incremental(seed)))?;
    Ok(format!("{} crash states", few.states + many.states))
}

fn sequences(rounds: u64) -> Result<String, String> {
    let effort = Effort::rounds(rounds);
    let mut operations = 0;
    while let Some(seed) = effort.next_seed() {
        let run = || equivalence::Sequence::new(seed).run();
        operations += caught(run).and_then(|seen| seen).map_err(|e| format!("round {seed}: {e}"))?.operations;
    }
    Ok(format!("{operations} operations"))
}

pub(crate) fn cases() -> Vec<Case> {
    [ldbc::cases(), hermitage::cases(), anomalies::cases()].into_iter().flatten().collect()
}

fn interleavings() -> Result<String, String> {
    let mut runs = 0;
    for case in cases() {
        for isolation in [Isolation::Serializable, Isolation::Snapshot] {
            runs += caught(|| interleave::explore(&case, isolation, false))?.runs;
        }
    }
    Ok(format!("{runs} interleavings"))
}

fn contention() -> Result<String, String> {
    let lost: u64 = [Isolation::Serializable, Isolation::Snapshot]
        .into_iter()
        .map(|isolation| common::contention::lost_updates(isolation, 4, 500, || ()))
        .sum();
    if lost > 0 { Err(format!("{lost} updates lost")) } else { Ok("4000 increments".to_owned()) }
}

fn stale_reads() -> Result<String, String> {
    let (tried, missed) = common::contention::stale_reads(Isolation::Serializable);
    if missed > 0 {
        Err(format!("{missed} of {tried} let through"))
    } else {
        Ok(format!("{tried} stale reads"))
    }
}
