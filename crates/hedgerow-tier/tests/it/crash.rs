//! Crashes at every operation, with each kind of damage, and second crashes during the cleanup.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_io::Vfs;
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};
use hedgerow_testkit::{Damage, SimFs};
use hedgerow_tier::{Manifest, TierError};
use parking_lot::Mutex;

use crate::cycle::{checkpoint, clean, inspect};

const ROUNDS: u64 = 4;

/// Checks the state that a crash left. Returns the manifest and its round, or a description of the fault.
fn judge(fs: &SimFs, acknowledged: u64) -> Result<(Option<Manifest>, u64), String> {
    let (manifest, round) = inspect(&fs.handle()).map_err(|error| error.to_string())?;
    if round == acknowledged || round == acknowledged + 1 {
        Ok((manifest, round))
    } else {
        Err(format!("checkpoint {round} after {acknowledged} were acknowledged"))
    }
}

/// Opens after a crash as a store does: finds the state, cleans up, and makes one more checkpoint, with
/// crashes of depth `depth` during this. Returns the number of judged crashes.
fn life_after(fs: &SimFs, acknowledged: u64, seed: u64, depth: u32) -> Result<u64, String> {
    let (manifest, round) = judge(fs, acknowledged)?;
    let handle = fs.handle();
    let crashes = with_crashes(fs, round, seed, depth, &|acknowledge| {
        clean(&handle)?;
        // The names of stray segments disappear with them. Their ids may be reused only after the next switch
        // is durable.
        let manifest = manifest.as_ref().map(|_| Manifest::load(&handle)).transpose()?.flatten();
        checkpoint(&handle, manifest.map(|found| found.manifest).as_ref(), round + 1, acknowledge).map(|_| ())
    })?;
    inspect(&handle).map_err(|error| error.to_string())?;
    Ok(crashes + 1)
}

type Work<'a> = &'a dyn Fn(&dyn Fn()) -> Result<(), TierError>;

/// Runs `work` and, unless `depth` is 0, judges a crash at every operation of it. `work` calls its argument
/// once for each durable checkpoint.
fn with_crashes(fs: &SimFs, from: u64, seed: u64, depth: u32, work: Work<'_>) -> Result<u64, String> {
    let acknowledged = Arc::new(AtomicU64::new(from));
    let clones = Arc::new(Mutex::new(Vec::new()));
    if depth > 0 {
        let (acknowledged, clones) = (acknowledged.clone(), clones.clone());
        let mut moment = seed;
        fs.set_observer(Some(Box::new(move |_, fs| {
            for damage in Damage::ALL {
                moment = moment.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
                let clone = fs.crash_clone(damage, moment);
                clones.lock().push((clone, acknowledged.load(Ordering::SeqCst), damage, moment));
            }
        })));
    }
    let worked = work(&|| {
        acknowledged.fetch_add(1, Ordering::SeqCst);
    });
    fs.set_observer(None);
    worked.map_err(|error| error.to_string())?;
    let mut crashes = 0;
    for (clone, acknowledged, damage, seed) in clones.lock().drain(..) {
        // Every eighth crash is followed by second crashes, one at every operation after it.
        let deeper = if seed.is_multiple_of(8) { depth - 1 } else { 0 };
        crashes += life_after(&clone, acknowledged, seed, deeper)
            .map_err(|why| format!("{why}; damage {damage:?}, seed {seed}"))?;
    }
    Ok(crashes)
}

/// Makes the first checkpoints of a store.
fn live(handle: &Arc<dyn Vfs>, acknowledge: &dyn Fn()) -> Result<(), TierError> {
    let mut manifest = None;
    for round in 1..=ROUNDS {
        manifest = Some(checkpoint(handle, manifest.as_ref(), round, acknowledge)?);
    }
    Ok(())
}

fn crash_everywhere(prepare: impl Fn(&SimFs), seeds: u64) -> Result<u64, String> {
    let mut crashes = 0;
    for seed in 0..seeds {
        let fs = SimFs::new();
        prepare(&fs);
        let handle = fs.handle();
        crashes += with_crashes(&fs, 0, seed, 2, &|acknowledge| live(&handle, acknowledge))?;
    }
    Ok(crashes)
}

#[test]
fn every_crash_leaves_the_last_checkpoint_or_the_one_begun() {
    let crashes = crash_everywhere(|_| {}, 2).unwrap();
    println!("{crashes} crashes judged");
    assert!(crashes >= 50_000, "only {crashes} crashes");
}

#[test]
fn short_transfers_change_nothing() {
    let crashes = crash_everywhere(|fs| fs.set_short_transfers(Some(5)), 1).unwrap();
    assert!(crashes >= 3_000, "only {crashes} crashes");
}

#[test]
fn a_disk_that_does_not_sync_is_found_out() {
    assert!(crash_everywhere(|fs| fs.ignore_sync_data(true), 1).is_err());
    assert!(crash_everywhere(|fs| fs.ignore_sync_dir(true), 1).is_err());
}

#[test]
fn a_failing_operation_leaves_a_store_that_opens() {
    let count = {
        let fs = SimFs::new();
        live(&fs.handle(), &|| ()).unwrap();
        fs.op_count()
    };
    for at in 0..count {
        for errno in [errno::EIO, errno::ENOSPC, errno::EINTR] {
            for repeat in [Repeat::Once, Repeat::Forever] {
                if errno == errno::EINTR && repeat == Repeat::Forever {
                    continue;
                }
                fail_and_reopen(at, errno, repeat);
            }
        }
    }
}

fn fail_and_reopen(at: u64, errno: i32, repeat: Repeat) {
    let fs = SimFs::new();
    fs.plan_fault(Fault { class: FaultClass::Change, at, site: None, repeat, errno });
    let acknowledged = AtomicU64::new(0);
    let result = live(&fs.handle(), &|| {
        acknowledged.fetch_add(1, Ordering::SeqCst);
    });
    fs.clear_faults();
    let acknowledged = acknowledged.load(Ordering::SeqCst);
    if let Err(TierError::SwitchUnknown { .. } | TierError::File(_)) | Ok(()) = result {
    } else {
        panic!("operation {at}: {result:?}");
    }
    // A new process on the same machine, and one after a power loss.
    for seed in 0..4 {
        let fs = fs.crash_clone(Damage::ALL[seed as usize], seed);
        life_after(&fs, acknowledged, seed, 0).unwrap_or_else(|why| panic!("operation {at}: {why}"));
    }
    life_after(&fs, acknowledged, 9, 0).unwrap_or_else(|why| panic!("operation {at}: {why}"));
}

/// The process ends between rename and sync. The next one finds the new manifest, removes the files that only
/// the old one names, and then the power fails. The directory must not go back to the old manifest.
#[test]
fn a_name_that_only_looks_durable_is_made_so() {
    let fs = SimFs::new();
    let handle = fs.handle();
    let first = checkpoint(&handle, None, 1, || ()).unwrap();
    // The second sync of the directory. The first one belongs to the segment, three operations before.
    let at = fs.op_count() + 4;
    let site = Some("sync_dir:dir");
    fs.plan_fault(Fault { class: FaultClass::Change, at, site, repeat: Repeat::Once, errno: errno::EIO });
    let result = checkpoint(&handle, Some(&first), 2, || ());
    assert!(matches!(result, Err(TierError::SwitchUnknown { .. })), "{result:?}");
    fs.clear_faults();
    let clones = Arc::new(Mutex::new(Vec::new()));
    let taken = clones.clone();
    let mut seed = 0;
    fs.set_observer(Some(Box::new(move |_, fs| {
        for damage in Damage::ALL {
            seed += 1;
            taken.lock().push(fs.crash_clone(damage, seed));
        }
    })));
    clean(&handle).unwrap();
    fs.set_observer(None);
    let clones = std::mem::take(&mut *clones.lock());
    assert!(clones.len() > 20);
    for clone in clones {
        judge(&clone, 1).unwrap();
    }
}
