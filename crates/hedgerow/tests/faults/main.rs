//! Faults planted in the engine. The tests that claim to find a kind of fault must find each one. Without a
//! planted fault, the same tests must find nothing. The feature `planted-faults` adds them to the build.
//!
//! The code of the other test programs finds the faults, with a sufficient number of rounds. In shared
//! modules, the test functions are plain functions, and the other programs list them as tests. No test
//! function therefore runs concurrently with a planted fault.
#![allow(missing_docs, reason = "a test program")]
#![allow(dead_code, reason = "it uses a part of what the other tests use")]

#[path = "../isolation/anomalies.rs"]
mod anomalies;
#[path = "../history/blackbox.rs"]
mod blackbox;
#[path = "../it/budget.rs"]
mod budget;
#[path = "../hostile/bytes.rs"]
mod bytes;
#[path = "../history/clients.rs"]
mod clients;
#[path = "../it/cold.rs"]
mod cold;
#[path = "../it/commit_loads.rs"]
mod commit_loads;
#[path = "../common/mod.rs"]
mod common;
#[path = "../it/cooled_copies.rs"]
mod cooled_copies;
#[path = "../it/ends.rs"]
mod ends;
#[path = "../it/equivalence.rs"]
mod equivalence;
mod finders;
#[path = "../it/held.rs"]
mod held;
#[path = "../isolation/hermitage.rs"]
mod hermitage;
#[path = "../it/inboxes.rs"]
mod inboxes;
#[path = "../isolation/interleave.rs"]
mod interleave;
#[path = "../hostile/judge.rs"]
mod judge;
#[path = "../crash/kinds.rs"]
mod kinds;
#[path = "../isolation/ldbc.rs"]
mod ldbc;
#[path = "../hostile/lies.rs"]
mod lies;
#[path = "../it/many_labels.rs"]
mod many_labels;
#[path = "../it/memory.rs"]
mod memory;
#[path = "../isolation/model.rs"]
mod model;
#[path = "../it/opening.rs"]
mod opening;
#[path = "../it/page_versions.rs"]
mod page_versions;
#[path = "../crash/plan.rs"]
mod plan;
#[path = "../crash/poison.rs"]
mod poison;
#[path = "../crash/rounds.rs"]
mod rounds;
#[path = "../crash/run.rs"]
mod run;
#[path = "../isolation/script.rs"]
mod script;
#[path = "../hostile/stores.rs"]
mod stores;
#[path = "../crash/tally.rs"]
mod tally;
#[path = "../it/tools.rs"]
mod tools;
#[path = "../crash/verify.rs"]
mod verify;
#[path = "../it/views.rs"]
mod views;
#[path = "../history/world.rs"]
mod world;
#[path = "../crash/writers.rs"]
mod writers;

use std::collections::BTreeSet;
use std::time::Instant;

use hedgerow_core::faults::{self, PlantedFault as Fault};
use hedgerow_testkit::explored;

use finders::Finder;

/// The finder of each fault. `hedgerow-schedules` finds the faults that need a controlled scheduler, and
/// `hedgerow-pager` the faults of the merge of words, which no store has yet.
const FOUND_BY: &[(Fault, Finder)] = &[
    (Fault::UncheckedTail, Finder::Crashes),
    (Fault::RecoveredTailNotSynced, Finder::Crashes),
    (Fault::UnprovenTailKept, Finder::Failures),
    (Fault::WitnessesIgnored, Finder::Damage),
    (Fault::FailedSyncRetried, Finder::Failures),
    (Fault::AcknowledgedEarly, Finder::Crashes),
    (Fault::LateCommitAcknowledged, Finder::LateCommits),
    (Fault::PublishedBeforeDurable, Finder::Failures),
    (Fault::LogDeletedEarly, Finder::Crashes),
    (Fault::SegmentsDeletedEarly, Finder::Crashes),
    (Fault::ManifestNotSynced, Finder::Crashes),
    (Fault::SegmentNotSynced, Finder::Crashes),
    (Fault::SegmentNotListed, Finder::Crashes),
    (Fault::ChangesOfLabelsMissed, Finder::Sequences),
    (Fault::BlocksNotChecked, Finder::DamagedBlocks),
    (Fault::OlderImageLoaded, Finder::Pages),
    (Fault::InboxFoldedUnderReader, Finder::Inboxes),
    (Fault::InboxNotWritten, Finder::Inboxes),
    (Fault::InboxNotLoaded, Finder::Inboxes),
    (Fault::InboxNotLookedUp, Finder::Inboxes),
    (Fault::AnswerOutdated, Finder::FoldedInboxes),
    (Fault::DeltaNotRead, Finder::Deltas),
    (Fault::OlderDeltaDropped, Finder::Deltas),
    (Fault::ImageBelowDeltaForgotten, Finder::Deltas),
    (Fault::UnloadedImagesLost, Finder::Pages),
    (Fault::EvictedDirty, Finder::Sequences),
    (Fault::BlockCachedUnverified, Finder::DamagedBlocks),
    (Fault::StaleDirectory, Finder::ColdReads),
    (Fault::SnapshotsVersionEvicted, Finder::Sequences),
    (Fault::PageVersionForgotten, Finder::HeldInFiles),
    (Fault::EmptyImagesLeftOut, Finder::HeldInFiles),
    (Fault::MarkBehindLost, Finder::HeldInFiles),
    (Fault::CooledNotCompared, Finder::CooledCopies),
    (Fault::HoldNotWaitedFor, Finder::LeftPages),
    (Fault::EvictedPageFilled, Finder::LeftPages),
    (Fault::EvictedPageUnstamped, Finder::HeldInFiles),
    (Fault::LoadedPageUnmarked, Finder::HeldInFiles),
    (Fault::FileUnlinkedUnderReader, Finder::OldSegments),
    (Fault::SidesNotCompared, Finder::Lies),
    (Fault::ReplayedOutOfOrder, Finder::Sequences),
    (Fault::ReadsNotValidated, Finder::Contention),
    (Fault::WritesNotChecked, Finder::Interleavings),
    (Fault::KeysNotChecked, Finder::Interleavings),
    (Fault::FarEdgesLeft, Finder::Sequences),
    (Fault::IdReusedEarly, Finder::Sequences),
    (Fault::VersionReclaimedEarly, Finder::Sequences),
    (Fault::HeldReaderForgotten, Finder::Held),
    (Fault::UnlinkedChangesLost, Finder::StaleReads),
    (Fault::NewestEntryLost, Finder::Sequences),
    (Fault::EntryNotNoted, Finder::Sequences),
    (Fault::PatchForgotten, Finder::Sequences),
    (Fault::ReverseEdgeLost, Finder::Sequences),
    (Fault::ViewNotRefreshed, Finder::Views),
    (Fault::KindOfIdKept, Finder::Sequences),
    (Fault::KindsLeftOutOfManifest, Finder::Crashes),
    (Fault::LaterKindsLost, Finder::Crashes),
    (Fault::EndsOfRowsNotChecked, Finder::Ends),
    (Fault::LentInListOrder, Finder::Sequences),
    (Fault::LentNullMissed, Finder::Sequences),
    (Fault::BackupWithoutSchema, Finder::Backup),
    (Fault::SalvageSilent, Finder::Salvage),
    (Fault::BufferNotCharged, Finder::Account),
    (Fault::TakenNotCharged, Finder::LentLists),
    (Fault::SlackIgnored, Finder::SmallReads),
    (Fault::PinForgotten, Finder::PinnedLists),
    (Fault::WaitsWithMemory, Finder::LargeCommits),
];

/// True if the finder finds the fault. Prints the finding and its cost.
fn is_found(fault: Fault, finder: Finder) -> bool {
    let planted = faults::plant(fault);
    let started = Instant::now();
    let found = finders::quietly(|| finder.find());
    let (reached, seconds) = (planted.reached(), started.elapsed().as_secs_f64());
    match &found {
        Ok(what) => println!("{fault:?}: NOT FOUND by {finder:?} in {what}; reached {reached} times"),
        Err(how) => {
            let how: String = how.lines().next().unwrap_or_default().chars().take(200).collect();
            println!("{fault:?}: found by {finder:?} in {seconds:.1} s, reached {reached} times: {how}");
        }
    }
    found.is_err()
}

#[test]
fn every_planted_fault_is_found() {
    let found = FOUND_BY.iter().filter(|&&(fault, finder)| is_found(fault, finder)).count();
    explored("planted faults found", found as u64, FOUND_BY.len() as u64);
}

/// The finders find nothing without a planted fault. This test runs only the finders whose rounds are chosen
/// for this program. The other finders are tests of `it` and `isolation` in the same build.
#[test]
fn nothing_is_found_where_nothing_is_planted() {
    let _sound = faults::sound();
    let finders: BTreeSet<Finder> = FOUND_BY.iter().map(|&(_, finder)| finder).collect();
    for finder in finders.into_iter().filter(|finder| !finder.is_run_elsewhere()) {
        let started = Instant::now();
        let seen = finder.find().unwrap_or_else(|e| panic!("{finder:?}: {e}"));
        println!("nothing planted, {finder:?}: {seen}, {:.1} s", started.elapsed().as_secs_f64());
    }
}

/// Each fault has one finder and one line in the documentation. The finder is in this program, in
/// `hedgerow-schedules`, in Python's tests, or in the tests of `hedgerow-pager`.
#[test]
fn every_fault_has_its_finder() {
    let page = include_str!("../../../../docs/design/testing/faults.md");
    for fault in Fault::ALL {
        let here = FOUND_BY.iter().any(|(listed, _)| listed == fault);
        let scheduled = finders::SCHEDULED.contains(fault);
        let in_python = finders::IN_PYTHON.contains(fault);
        let in_pager = finders::IN_PAGER.contains(fault);
        let places = [here, scheduled, in_python, in_pager].iter().filter(|&&place| place).count();
        assert!(
            places == 1,
            "{fault:?}: found here {here}, under the scheduler {scheduled}, in Python {in_python}, in the pager \
             {in_pager}"
        );
        assert!(
            page.contains(&format!("| `{fault:?}` |")),
            "{fault:?} is not in docs/design/testing/faults.md"
        );
    }
}

/// The tests find faults of the disk in addition to faults of the engine.
#[test]
fn a_disk_that_ignores_syncs_is_found() {
    let _sound = faults::sound();
    let found = [plan::Planted::NoFileSync, plan::Planted::NoDirectorySync];
    let found = found.into_iter().filter(|&fault| finders::crashes(fault, 4).is_err()).count();
    explored("planted faults of the disk found", found as u64, 2);
}

/// Without validation, every case in which two transactions may conflict has a wrong result in some
/// interleaving.
#[test]
fn interleavings_without_validation_are_not_serial() {
    let isolation = hedgerow::Isolation::Serializable;
    let cases = finders::cases();
    let wrong = |case| finders::caught(|| interleave::explore(case, isolation, false)).is_err();
    let sound = faults::sound();
    let conflicts: Vec<u64> =
        cases.iter().map(|case| interleave::explore(case, isolation, false).conflicts).collect();
    drop(sound);
    let _planted = faults::plant(Fault::ReadsNotValidated);
    let found = finders::quietly(|| cases.iter().filter(|&case| wrong(case)).count()) as u64;
    let conflicting = conflicts.iter().filter(|&&n| n > 0).count() as u64;
    // The exception is dangling edges: the latches alone prevent them.
    explored("cases that go wrong without validation", found, conflicting - 1);
}

/// Without validation of commits, both checkers of histories find an anomaly each time.
#[test]
fn histories_without_validation_have_anomalies() {
    let _planted = faults::plant(Fault::ReadsNotValidated);
    let isolation = hedgerow::Isolation::Serializable;
    let world = world::World { isolation, keys: hedgerow::KeyKind::U64, durability: None };
    let mut found = [0, 0];
    for seed in 1..=4 {
        let plan = clients::Plan { world, clients: 4, phases: 1, transactions: 1_000 };
        let run = plan.run(seed, &|| ());
        found[0] += u64::from(run.inspect_err(|e| println!("timestamps: {}", e.0)).is_err());
        let plan = blackbox::Plan { world, clients: 4, phases: 1, transactions: 500 };
        let (_, report) = plan.run(seed, &|| ());
        println!("independent checker: {:?}", report.anomaly_types);
        found[1] += u64::from(report.valid == adya::Valid::False);
    }
    explored("histories without validation found by their timestamps", found[0], 4);
    explored("histories without validation found by an independent checker", found[1], 4);
}

/// A guard that tests of the hostile stores hold. In this program the planting tests already run in turn.
struct Alone;

fn alone() -> Alone {
    Alone
}
