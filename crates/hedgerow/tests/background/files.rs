//! Each file operation of each background thread of a store, in turn, with an error, a full disk, a panic or
//! a delay.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hedgerow::Durability;
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Phase, Repeat, errno};
use hedgerow_testkit::{Effort, FOR_EVER, SimFs, explored};
use parking_lot::Mutex;

use crate::world::{Verdict, World, in_time, options};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Error,
    DiskFull,
    Panic,
    Delay,
}

const KINDS: [Kind; 4] = [Kind::Error, Kind::DiskFull, Kind::Panic, Kind::Delay];
/// The names of the background threads.
const THREADS: [&str; 3] = ["hedgerow-checkpoint", "hedgerow-sync", "hedgerow-acks"];
/// The maximum number of operations to try in one thread.
const MOST_OPERATIONS: u64 = 40;
/// The maximum number of commits before an operation must happen. The commits give the threads work, even if
/// a thread is delayed. Most operations happen within a few dozen commits.
const MOST_COMMITS: u64 = 5_000;

/// Makes operation number `at` of the thread `name` fail. The result later contains the site of that
/// operation.
fn plan(disk: &SimFs, name: &'static str, at: u64, kind: Kind) -> Arc<Mutex<Option<Arc<str>>>> {
    let struck: Arc<Mutex<Option<Arc<str>>>> = Arc::default();
    let (note, seen) = (struck.clone(), AtomicU64::new(0));
    disk.set_observer(Some(Box::new(move |event, fs| {
        let ours = std::thread::current().name() == Some(name) && event.phase == Phase::Before;
        if !ours || seen.fetch_add(1, Ordering::Relaxed) != at {
            return;
        }
        *note.lock() = Some(event.site.clone());
        let fail = |errno| {
            let (class, site, repeat) = (FaultClass::Change, None, Repeat::Once);
            fs.plan_fault(Fault { class, at: event.index.0, site, repeat, errno });
        };
        match kind {
            Kind::Error => fail(errno::EIO),
            Kind::DiskFull => fail(errno::ENOSPC),
            Kind::Panic => panic!("a test has a panic in a file operation"),
            Kind::Delay => std::thread::sleep(Duration::from_millis(5)),
        }
    })));
    struck
}

/// True if the failure of an operation at this site may poison the store. These are operations on the log and
/// on the directory's entries.
fn may_poison(site: &str, kind: Kind) -> bool {
    match kind {
        Kind::Delay => false,
        // If a panic interrupts a switch of manifests, the content of the disk is unknown.
        Kind::Panic => !site.ends_with(":csr") || site.starts_with("unlink"),
        _ => site.ends_with(":wal") || site == "sync_dir:dir" || site.starts_with("rename"),
    }
}

/// Runs one case. Returns whether the thread reached the operation.
fn run(thread: &'static str, at: u64, kind: Kind, seed: u64) -> Verdict<bool> {
    let disk = SimFs::new();
    let options = match thread {
        "hedgerow-sync" => options().durability(Durability::Group(Duration::from_millis(1))),
        _ => options(),
    };
    let mut world = World::open(disk.clone(), options, seed).map_err(|e| e.to_string())?;
    let struck = plan(&disk, thread, at, kind);
    let (mut after, mut commits) = (0, 0);
    while after < 10 && commits < MOST_COMMITS {
        if !(if thread == "hedgerow-acks" { world.submit()? } else { world.commit()? }) {
            break;
        }
        commits += 1;
        after += u64::from(struck.lock().is_some());
        std::thread::sleep(Duration::from_micros(200));
    }
    let Some(site) = struck.lock().clone() else { return Ok(false) };
    let removal = site.starts_with("unlink") || site.starts_with("set_len") || *site == *"sync_dir:dir";
    // If the disk has no room for a new log segment, the checkpoint continues with the old segment. If it has
    // no room for the checkpoint, the checkpoint is written again in the space of the reserve.
    let told = !matches!(kind, Kind::Delay | Kind::DiskFull);
    let must_tell = thread == "hedgerow-checkpoint" && !removal && told;
    // The thread may still be inside the operation. These calls wait for it and return its result.
    match thread {
        "hedgerow-checkpoint" => _ = world.graph.checkpoint(),
        _ => _ = world.graph.flush(),
    }
    let give_up = Instant::now() + FOR_EVER;
    let (mut failed, mut poisoned) = (0, world.is_poisoned());
    while must_tell && failed == 0 && !poisoned {
        if Instant::now() > give_up {
            return Err(format!("{site}: the failure is reported nowhere"));
        }
        std::thread::sleep(Duration::from_micros(200));
        failed = world.graph.stats().map_err(|e| e.to_string())?.failed_checkpoints;
        poisoned = world.is_poisoned();
    }
    if poisoned && !may_poison(&site, kind) {
        return Err(format!("{site}: poisoned"));
    }
    if failed > 0 && !poisoned {
        goes_on(&mut world)?;
    }
    disk.set_observer(None);
    if thread == "hedgerow-sync" && !poisoned {
        world.graph.flush().map_err(|e| format!("flush: {e}"))?;
    } else if thread == "hedgerow-sync" {
        return world.end_durable().map(|()| true);
    }
    world.end().map(|()| true)
}

/// Checks that after a failed checkpoint the next background checkpoint succeeds and clears the reported
/// error.
fn goes_on(world: &mut World) -> Verdict<()> {
    let done = world.graph.stats().map_err(|e| e.to_string())?.background_checkpoints;
    let more = |w: &World| w.graph.stats().is_ok_and(|stats| stats.background_checkpoints > done);
    if !world.commit_until(more)? {
        return Err("a store that went on is poisoned later".into());
    }
    match world.graph.checkpoint_error() {
        Some(error) => Err(format!("after a success there still is: {error}")),
        None => Ok(()),
    }
}

#[test]
fn every_file_operation_of_every_thread() {
    let _alone = crate::world::alone();
    crate::world::hush();
    let (mut runs, mut counts) = (0, std::collections::BTreeMap::new());
    let effort = Effort::rounds(1);
    while let Some(seed) = effort.next_seed() {
        for thread in THREADS {
            for kind in KINDS {
                for at in 0..MOST_OPERATIONS {
                    let what = format!("HEDGEROW_ROUND={seed}, {kind:?} at operation {at} of {thread}");
                    if !in_time(&what, move || run(thread, at, kind, seed)).unwrap_or_else(|e| panic!("{e}"))
                    {
                        break;
                    }
                    *counts.entry((thread, format!("{kind:?}"))).or_insert(0u64) += 1;
                    runs += 1;
                }
            }
        }
    }
    println!("{counts:?}");
    explored("faults in file operations of background threads", runs, 200);
}
