//! Every operation of a store's lifetime fails, once or from then on. Then the process ends, and a new one
//! opens the store.

use super::store::Store;
use super::*;
use hedgerow_testkit::Damage;
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};

const GROUPS: u64 = 8;

/// Runs a store as far as errors permit. Returns the numbers of acknowledged and of attempted commits.
fn life(fs: &SimFs) -> (u64, u64) {
    let Ok(mut store) = Store::create(fs) else { return (0, 0) };
    let (mut acked, mut ts) = (0, 0);
    for group in 0..GROUPS {
        for _ in 0..4 {
            match store.try_append(ts + 1) {
                Ok(()) => ts += 1,
                // The log appended nothing. It remains usable when the disk is full.
                Err(ReserveError::DiskFull(_)) => continue,
                Err(_) => return (acked, ts),
            }
        }
        if store.log.flush_and_sync().is_err() {
            return (acked, ts);
        }
        acked = ts;
        if group == GROUPS / 2 && store.checkpoint(acked / 2).is_err() {
            return (acked, ts);
        }
    }
    if store.log.close().is_ok() {
        acked = ts;
    }
    (acked, ts)
}

/// Opens the store in a new process on the same machine, which still sees data that the failed syncs lost.
/// Opens it again after a power loss: the commits that the new process served must still exist.
fn check(fs: &SimFs, (acked, attempted): (u64, u64), what: &str) {
    fs.clear_faults();
    let served = match Store::open(fs).unwrap_or_else(|e| panic!("{what}: {e}")) {
        Some(opened) => opened.commits.len() as u64,
        None => 0,
    };
    assert!((acked..=attempted).contains(&served), "{what}: {served} of {acked}..={attempted}");
    let after = fs.crash_clone(Damage::LoseAll, 0);
    let held = Store::open(&after).unwrap_or_else(|e| panic!("{what}, after power loss: {e}"));
    assert_eq!(held.map_or(0, |o| o.commits.len() as u64), served, "{what}: served, then lost");
}

#[test]
fn every_operation_may_fail() {
    let whole = SimFs::new();
    let (acked, attempted) = life(&whole);
    assert_eq!((acked, attempted), (GROUPS * 4, GROUPS * 4));
    let mut runs = 0;
    for (class, count) in [(FaultClass::Change, whole.op_count()), (FaultClass::Read, whole.read_count())] {
        for at in 0..count {
            for errno in [errno::EIO, errno::ENOSPC, errno::EDQUOT, errno::EROFS, errno::EMFILE, errno::EINTR]
            {
                for repeat in [Repeat::Once, Repeat::Forever] {
                    if errno == errno::EINTR && repeat == Repeat::Forever {
                        continue;
                    }
                    let fs = SimFs::new();
                    fs.plan_fault(Fault { class, at, site: None, repeat, errno });
                    let promise = life(&fs);
                    let what = format!("{class:?} {at} {repeat:?} error {errno}");
                    let lost_power = fs.crash_clone(Damage::LoseAll, 0);
                    check(&fs, promise, &what);
                    check(&lost_power, promise, &what);
                    runs += 1;
                }
            }
        }
    }
    assert!(runs > 500, "{runs}");
}

#[test]
fn every_operation_of_recovery_may_fail() {
    let crashed = SimFs::new();
    {
        let mut store = Store::create(&crashed).unwrap();
        (1..=20).for_each(|ts| store.try_append(ts).unwrap());
        store.log.flush_and_sync().unwrap();
        store.checkpoint(4).unwrap();
        (21..=24).for_each(|ts| store.try_append(ts).unwrap());
        store.log.write_out().unwrap();
    }
    let measured = crashed.crash_clone(Damage::KeepAll, 0);
    Store::open(&measured).unwrap();
    let counts = [(FaultClass::Change, measured.op_count()), (FaultClass::Read, measured.read_count())];
    for (class, count) in counts {
        for at in 0..count {
            let fs = crashed.crash_clone(Damage::KeepAll, 0);
            fs.plan_fault(Fault { class, at, site: None, repeat: Repeat::Once, errno: errno::EIO });
            if class == FaultClass::Read && at < 4 {
                // The test's own function for reading the manifest does not handle errors.
                continue;
            }
            let _ = Store::open(&fs);
            check(&fs, (24, 24), &format!("{class:?} {at}"));
        }
    }
}

#[test]
fn short_transfers_change_nothing() {
    for seed in 0..20 {
        let fs = SimFs::new();
        fs.set_short_transfers(Some(seed));
        assert_eq!(life(&fs), (GROUPS * 4, GROUPS * 4));
        check(&fs, (GROUPS * 4, GROUPS * 4), "short transfers");
    }
}

#[test]
fn any_quota_loses_nothing() {
    for quota in (0..12_000).step_by(97) {
        let fs = SimFs::new();
        fs.set_quota(Some(quota));
        let promise = life(&fs);
        fs.set_quota(None);
        check(&fs, promise, &format!("quota {quota}"));
    }
}

#[test]
fn what_a_failed_sync_left_in_memory_is_written_again() {
    let fs = SimFs::new();
    let store = Store::create(&fs).unwrap();
    store.try_append(1).unwrap();
    store.log.flush_and_sync().unwrap();
    store.try_append(2).unwrap();
    let site = Some("sync_data:wal");
    fs.plan_fault(Fault { class: FaultClass::Change, at: 0, site, repeat: Repeat::Once, errno: errno::EIO });
    assert!(store.log.flush_and_sync().is_err());
    assert_eq!(Store::open(&fs.crash_clone(Damage::KeepAll, 0)).unwrap().unwrap().commits, [1]);
    assert_eq!(Store::open(&fs).unwrap().unwrap().commits, [1, 2], "the next process still sees it");
    assert_eq!(Store::open(&fs.crash_clone(Damage::LoseAll, 0)).unwrap().unwrap().commits, [1, 2]);
}
