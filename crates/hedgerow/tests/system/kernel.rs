//! Loss of power and failing syncs under a real kernel and a real ext4. If no such device is possible, the
//! test prints a line.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hedgerow::io::{Access, RealFs, Vfs, read_exact_at, write_all_at};
use hedgerow::{CommitError, Durability, Error, Graph, StateError, StorageError};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Effort, FOR_EVER, Model, explored, skipped};

use crate::common;
use crate::common::script::{CONFIG, Script};
use crate::device::Device;

/// The variable with the child's arguments: `DURABILITY SEED STORE OUTSIDE`.
const WRITER: &str = "HEDGEROW_SYSTEM_WRITER";
const WRITERS: u64 = 2;
const IMAGES: u64 = 24;
const SCRIPTS: u64 = 20;

fn open(store: &Path, durability: Durability) -> hedgerow::Result<Graph> {
    // A change of log segment syncs, and the control must run without syncs. Its segments are therefore long.
    let bytes = if durability == Durability::Sync { 16 << 10 } else { 4 << 20 };
    common::options(CONFIG).log_segment_bytes(bytes).durability(durability).open(store)
}

fn acks(outside: &Path, writer: u64) -> PathBuf {
    outside.join(format!("acknowledged-{writer}"))
}

fn acknowledged(outside: &Path, writer: u64) -> u64 {
    let bytes = std::fs::read(acks(outside, writer)).unwrap_or_default();
    bytes.chunks_exact(8).next_back().map_or(0, |b| u64::from_le_bytes(b.try_into().expect("8 bytes")))
}

/// A child process writes until its calls return errors, because the power is gone.
#[test]
fn writer() {
    let Ok(part) = std::env::var(WRITER) else { return };
    let words: Vec<&str> = part.split(' ').collect();
    let [durability, seed, store, outside] = words[..] else { panic!("{part}") };
    let durability = if durability == "manual" { Durability::Manual } else { Durability::Sync };
    let (seed, outside) = (seed.parse().expect("a seed"), PathBuf::from(outside));
    let graph = open(Path::new(store), durability).expect("the store opens");
    common::rich::define_labels(&graph).expect("definitions");
    // The parent ends this process much earlier. The limit matters only if the parent ends first.
    let until = Instant::now() + FOR_EVER.saturating_mul(2);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (graph, outside) = (&graph, &outside);
            scope.spawn(move || {
                let script = Script::new(seed, writer);
                let mut ack =
                    OpenOptions::new().create(true).append(true).open(acks(outside, writer)).expect("a file");
                let mut i = script.mark_in(&graph.snapshot().expect("a snapshot"));
                while Instant::now() < until {
                    i += 1;
                    let ops = script.transaction(i);
                    let all = |tx: &mut hedgerow::WriteTxn| {
                        ops.iter().try_for_each(|op| common::apply(tx, CONFIG.weighted, op).map(drop))
                    };
                    if graph.transact(1_000_000, all).is_err() {
                        return;
                    }
                    ack.write_all(&i.to_le_bytes()).expect("an acknowledgement");
                }
            });
        }
        while graph.write().is_ok() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(11));
            if durability == Durability::Sync {
                let _ = graph.checkpoint();
            }
        }
    });
}

fn spawn(device: &Device, store: &Path, durability: &str, seed: u64) -> Child {
    let part = format!("{durability} {seed} {} {}", store.display(), device.outside().display());
    Command::new(std::env::current_exe().expect("this program"))
        .args(["kernel::writer", "--exact", "--nocapture"])
        .env(WRITER, part)
        .stdout(Stdio::null())
        .spawn()
        .expect("a child")
}

/// Cuts the power under a writing child. Returns after the file system is mounted again.
fn crash(device: &Device, store: &Path, durability: &str, seed: u64, wait: Duration) -> Result<(), String> {
    let sum = || (0..WRITERS).map(|w| acknowledged(device.outside(), w)).sum::<u64>();
    let before = sum();
    let mut child = spawn(device, store, durability, seed);
    let give_up = Instant::now() + FOR_EVER;
    let mut ended = false;
    while sum() <= before + 4 && !ended && Instant::now() < give_up {
        std::thread::sleep(Duration::from_millis(1));
        ended = !matches!(child.try_wait(), Ok(None));
    }
    std::thread::sleep(wait);
    let cut =
        if ended { Err("the child ended on its own".into()) } else { device.cut_power(Some(child.id())) };
    let killed = child.kill().and_then(|()| child.wait());
    cut?;
    killed.map_err(|e| e.to_string())?;
    if sum() <= before + 4 {
        return Err("the child acknowledges nothing".into());
    }
    device.restore_power()
}

/// Opens the store and compares it. Returns the number of acknowledged transactions that are missing.
fn lost(device: &Device, store: &Path, seed: u64) -> Result<u64, String> {
    let graph = open(store, Durability::Sync).map_err(|e| format!("does not open: {e}"))?;
    let snapshot = graph.snapshot().map_err(|e| e.to_string())?;
    let (mut expected, mut lost) = (Model::new(CONFIG), 0);
    for w in 0..WRITERS {
        let script = Script::new(seed, w);
        let (acked, found) = (acknowledged(device.outside(), w), script.mark_in(&snapshot));
        if found > acked + 1 {
            return Err(format!("writer {w} acknowledged {acked}, the store holds {found}"));
        }
        lost += acked.saturating_sub(found);
        expected.merge(&script.state_after(found));
    }
    common::same(&snapshot, CONFIG, &expected)?;
    common::sound(&graph)?;
    drop(snapshot);
    graph.close().map_err(|e| format!("close: {e}"))?;
    Ok(lost)
}

/// Makes a device. If this is not possible, prints the reason and returns `None`.
fn device(what: &str) -> Option<Device> {
    match Device::new() {
        Ok(device) => Some(device),
        Err(obstacle) => {
            skipped(what, obstacle);
            None
        }
    }
}

#[test]
fn power_is_lost_under_ext4() {
    let what = "crash images of ext4";
    let Some(device) = device(what) else { return };
    let (mut images, mut losses) = (0, 0);
    let effort = Effort::rounds(IMAGES);
    let mut store = device.root().join("store");
    let mut script = 0;
    while let Some(seed) = effort.next_seed() {
        let mut rng = SplitMix64::new(seed);
        // Each store gets six crashes; then a new store follows.
        if images % 6 == 0 {
            let _ = std::fs::remove_dir_all(&store);
            store = device.root().join(format!("store-{images}"));
            script = seed;
            (0..WRITERS).for_each(|w| _ = std::fs::remove_file(acks(device.outside(), w)));
        }
        let wait = Duration::from_micros(rng.below(30_000));
        let verdict =
            crash(&device, &store, "sync", script, wait).and_then(|()| lost(&device, &store, script));
        match verdict {
            Ok(0) => images += 1,
            other => panic!("HEDGEROW_ROUND={seed}, image {images}: lost {other:?}"),
        }
    }
    // The control: without syncs, the same crashes lose acknowledged transactions.
    for seed in 0..3 {
        let store = device.root().join(format!("control-{seed}"));
        (0..WRITERS).for_each(|w| _ = std::fs::remove_file(acks(device.outside(), w)));
        let verdict = crash(&device, &store, "manual", seed, Duration::from_millis(3));
        // Files without any sync may not even form a store.
        let loss = verdict.map(|()| lost(&device, &store, seed).unwrap_or(1)).expect("a crash");
        losses += u64::from(loss > 0);
    }
    explored("crash images of ext4 without syncs that lost something", losses, 2);
    explored(what, images, IMAGES);
}

/// Returns true if this kernel has the trap: after a failed sync, reads return the lost bytes and the next
/// sync succeeds.
/// succeeds.
fn sync_that_lies(device: &Device) -> Result<bool, String> {
    let io = |e: std::io::Error| e.to_string();
    let directory = || RealFs::open_dir(device.root()).map_err(io);
    let file = directory()?.create("raw").map_err(io)?;
    // The file reserves space in the same way as the log, far from any earlier write.
    let (bytes, at) = (vec![2; 1 << 20], 8 << 20);
    file.allocate(12 << 20).and_then(|()| file.sync_all()).map_err(io)?;
    device.trim()?;
    device.begin_to_fail();
    write_all_at(&*file, &bytes, at).map_err(io)?;
    let first = file.sync_data();
    device.heal();
    let second = file.sync_data();
    let mut read = vec![0; bytes.len()];
    read_exact_at(&*file, &mut read, at).map_err(|e| format!("{e:?}"))?;
    drop(file);
    let was_there = read == bytes;
    device.lose_power()?;
    let file = directory()?.open("raw", Access::Read).map_err(io)?;
    read_exact_at(&*file, &mut read, at).map_err(|e| format!("{e:?}"))?;
    println!(
        "a sync that fails: {first:?}, the next: {second:?}, what was to be synced could be read: {was_there}"
    );
    Ok(first.is_err() && second.is_ok() && was_there && read != bytes)
}

#[derive(Default)]
struct Seen {
    unknown: u64,
    full: u64,
    refused: u64,
    believed: u64,
}

/// Runs one script: commits, a failing device, an error, a working device, an opening, and a loss of power.
fn script(device: &Device, seed: u64, seen: &mut Seen) -> Result<(), String> {
    let store = device.root().join(format!("sync-{seed}"));
    let script = Script::new(seed, 0);
    let mut rng = SplitMix64::new(seed);
    let graph = open(&store, Durability::Sync).map_err(|e| e.to_string())?;
    common::rich::define_all(&graph).map_err(|e| e.to_string())?;
    let (good, mut acked, mut unknown) = (rng.below(12), 0, false);
    for i in 1..200 {
        if acked == good && !unknown && i == good + 1 {
            device.begin_to_fail();
        }
        let ops = script.transaction(acked + 1);
        let all = |tx: &mut hedgerow::WriteTxn| {
            ops.iter().try_for_each(|op| common::apply(tx, CONFIG.weighted, op).map(drop))
        };
        match graph.transact(1, all) {
            Ok(_) => acked += 1,
            Err(Error::Commit(CommitError::DiskFull)) => seen.full += 1,
            Err(Error::Commit(CommitError::OutcomeUnknown)) => unknown = true,
            Err(Error::State(StateError::Poisoned)) => break,
            Err(error) => return Err(format!("commit: {error}")),
        }
        if unknown && graph.write().is_ok() {
            return Err("after a failed sync the store takes writes".into());
        }
    }
    seen.unknown += u64::from(unknown);
    let opens_early = rng.below(2) == 0;
    if !opens_early {
        device.heal();
    }
    if unknown && graph.flush().is_ok() {
        return Err("a failed sync is repeated".into());
    }
    let _ = graph.close();
    drop(graph);
    if opens_early {
        // Recovery rewrites the bytes that no sync proved durable. Without room for them, it returns an error
        // and leaves the store unchanged.
        match open(&store, Durability::Sync) {
            Err(Error::Storage(StorageError::DiskFull { .. })) => seen.refused += 1,
            // The kernel could not write its journal.
            Err(error) if is_read_only(&error) => {}
            Err(error) => return Err(format!("on a full disk: {error}")),
            Ok(graph) => drop(graph),
        }
        device.heal();
    }
    if !device.takes_writes() {
        // This happens if the kernel could not write its journal. The kernel then accepts no writes until the
        // file system is mounted again.
        device.lose_power()?;
    }
    // Another opening reads the bytes that never reached the disk.
    let graph = open(&store, Durability::Sync).map_err(|e| format!("does not open: {e}"))?;
    let served = script.mark_in(&graph.snapshot().map_err(|e| e.to_string())?);
    if served < acked || served > acked + 1 {
        return Err(format!("acknowledged {acked}, {served} are served"));
    }
    seen.believed += u64::from(served > acked);
    device.cut_power(None)?;
    drop(graph);
    device.restore_power()?;
    let graph =
        open(&store, Durability::Sync).map_err(|e| format!("does not open after the loss of power: {e}"))?;
    let snapshot = graph.snapshot().map_err(|e| e.to_string())?;
    let left = script.mark_in(&snapshot);
    if left != served {
        return Err(format!("{served} transactions were served, {left} are left"));
    }
    common::same(&snapshot, CONFIG, &script.state_after(left))?;
    common::sound(&graph)?;
    drop(snapshot);
    graph.close().map_err(|e| format!("close: {e}"))?;
    std::fs::remove_dir_all(&store).map_err(|e| e.to_string())?;
    device.trim()
}

/// True if the kernel made the file system read-only.
fn is_read_only(error: &Error) -> bool {
    let mut causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    causes.any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == std::io::ErrorKind::ReadOnlyFilesystem)
    })
}

#[test]
fn a_sync_that_failed_under_ext4_is_not_believed_later() {
    let what = "failed syncs of a real kernel";
    let Some(device) = device(what) else { return };
    let lies = sync_that_lies(&device).expect("a file");
    let _ = std::fs::remove_file(device.root().join("raw"));
    device.trim().expect("room");
    let (mut asked, mut scripts, mut seen) = (0, 0, Seen::default());
    let effort = Effort::rounds(SCRIPTS);
    loop {
        let round = effort.next_seed();
        asked += u64::from(round.is_some());
        // In some scripts every write uses space that an earlier write filled; in a bad run this is more than
        // half of the scripts. More scripts then run, so that the minimum does not depend on luck. The extra
        // scripts do not increase the minimum.
        let wanted = (seen.unknown < asked / 2 || seen.refused < asked / 8) && scripts < 4 * asked;
        let Some(seed) = round.or_else(|| effort.next_seed_while(wanted)) else { break };
        script(&device, seed, &mut seen).unwrap_or_else(|e| panic!("HEDGEROW_ROUND={seed}: {e}"));
        scripts += 1;
    }
    println!("{} full disks, {} openings that saw what was lost", seen.full, seen.believed);
    explored("openings that a full disk refused", seen.refused, asked / 8);
    explored("syncs that succeeded after what they were for was lost", u64::from(lies), 1);
    explored("commits of unknown outcome under a real kernel", seen.unknown, asked / 2);
    explored(what, scripts, SCRIPTS);
}
