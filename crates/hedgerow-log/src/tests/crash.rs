//! Crashes at every operation of a store's lifetime, and again during recovery.

use super::store::Store;
use super::*;
use hedgerow_testkit::Damage;
use hedgerow_testkit::sim_fs::{Phase, SplitMix64};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// The bounds of a crashed store: it must contain acknowledged commits, and may contain attempted ones.
#[derive(Clone, Copy, Debug)]
struct Promise {
    acknowledged: u64,
    attempted: u64,
}

/// A moment of a lifetime: a copy of the disk, and the promise at that moment.
struct Moment {
    disk: SimFs,
    promise: Promise,
    what: String,
}

#[derive(Debug, Default)]
struct Tally {
    states: u64,
    by_damage: BTreeMap<Damage, u64>,
    second_lives: u64,
}

/// Runs `life`. At every phase of every operation, copies the disk as a crash leaves it, with each kind of
/// damage.
fn crashes_of(fs: &SimFs, seed: u64, life: impl FnOnce(&dyn Fn(u64, u64))) -> Vec<Moment> {
    let acknowledged = Arc::new(AtomicU64::new(0));
    let attempted = Arc::new(AtomicU64::new(0));
    let moments = Arc::new(Mutex::new(Vec::new()));
    let (a, b, out) = (Arc::clone(&acknowledged), Arc::clone(&attempted), Arc::clone(&moments));
    fs.set_observer(Some(Box::new(move |event, fs| {
        let promise = Promise { acknowledged: a.load(SeqCst), attempted: b.load(SeqCst) };
        for (i, damage) in Damage::ALL.into_iter().enumerate() {
            let seed = seed ^ (event.index.0 << 8) ^ (i as u64) ^ ((event.phase as u64) << 60);
            let what =
                format!("{damage:?} {:?} {} {} seed {seed:#x}", event.phase, event.index.0, event.site);
            out.lock().unwrap().push((damage, Moment { disk: fs.crash_clone(damage, seed), promise, what }));
        }
    })));
    life(&|acked, tried| {
        acknowledged.store(acked, SeqCst);
        attempted.store(tried, SeqCst);
    });
    fs.set_observer(None);
    let moments = std::mem::take(&mut *moments.lock().unwrap());
    moments.into_iter().map(|(_, m)| m).collect()
}

/// Runs a store with groups of commits, rotations and checkpoints, and for half of the seeds with a closing
/// seal.
fn life(fs: &SimFs, seed: u64, groups: u64, report: &dyn Fn(u64, u64)) {
    let mut rng = SplitMix64::new(seed);
    let mut store = Store::create(fs).expect("create");
    let (mut acked, mut ts) = (0, 0);
    for group in 0..groups {
        for _ in 0..1 + rng.below(4) {
            ts += 1;
            report(acked, ts);
            store.try_append(ts).expect("append");
            if rng.eighths(1) {
                store.log.write_out().expect("write");
            }
        }
        store.log.flush_and_sync().expect("sync");
        acked = ts;
        report(acked, ts);
        if group == groups / 3 || group == 2 * groups / 3 {
            let covered = acked - rng.below(acked / 2 + 1);
            store.checkpoint(covered).expect("checkpoint");
        }
    }
    if seed.is_multiple_of(2) {
        store.log.close().expect("close");
    }
}

/// Opens the disk that a crash left and checks the promise.
fn verify(moment: &Moment) -> Result<Option<super::store::Opened>, String> {
    let Moment { disk, promise, what } = moment;
    let opened = Store::open(disk).map_err(|e| format!("{what}: {e}"))?;
    let held = opened.as_ref().map_or(0, |o| o.commits.len() as u64);
    let prefix = opened.as_ref().is_none_or(|o| o.commits.iter().copied().eq(1..=held));
    if !prefix {
        return Err(format!("{what}: {:?} is no prefix", opened.map(|o| o.commits)));
    }
    if !(promise.acknowledged..=promise.attempted).contains(&held) {
        return Err(format!("{what}: holds {held}, promised {promise:?}"));
    }
    Ok(opened)
}

/// Opens a crashed disk, and crashes at operations of the recovery. Opens each result again, uses it, and
/// opens it once more.
fn verify_lives(moment: &Moment, seed: u64, tally: &mut Tally) -> Result<(), String> {
    tally.states += 1;
    let again = crashes_of(&moment.disk, seed, |_| {});
    assert!(again.is_empty());
    let mut rng = SplitMix64::new(seed);
    let crash_recovery = rng.eighths(1);
    let mut second = Vec::new();
    let mut held = None;
    if crash_recovery {
        let mut result = Ok(None);
        second = crashes_of(&moment.disk, seed, |_| result = verify(moment));
        held = result?.map(|o| o.commits.len() as u64);
    } else if let Some(opened) = verify(moment)? {
        held = Some(opened.commits.len() as u64);
    }
    for mut crashed in second.into_iter().filter(|_| rng.below(12) == 0) {
        tally.second_lives += 1;
        // The second recovery may drop commits that the first one accepted, because the store served none of
        // them yet.
        crashed.promise = moment.promise;
        crashed.what = format!("{}, then {}", moment.what, crashed.what);
        verify(&crashed)?;
    }
    // Commits are durable once the store has served them. The test appends one, loses all data that is not
    // synced, and opens the store again.
    let Some(held) = held else { return Ok(()) };
    let opened = Store::open(&moment.disk).map_err(|e| format!("{}, again: {e}", moment.what))?;
    let store = opened.ok_or("no store any more")?.store;
    store.try_append(held + 1).map_err(|e| e.to_string())?;
    store.log.flush_and_sync().map_err(|e| e.to_string())?;
    let promise = Promise { acknowledged: held + 1, attempted: held + 1 };
    let what = format!("{}, then lost", moment.what);
    verify(&Moment { disk: moment.disk.crash_clone(Damage::LoseAll, seed), promise, what }).map(|_| ())
}

fn explore(seed: u64, groups: u64, plant: impl Fn(&SimFs), tally: &mut Tally) -> Result<(), String> {
    let fs = SimFs::new();
    plant(&fs);
    let moments = crashes_of(&fs, seed, |report| life(&fs, seed, groups, report));
    for (i, moment) in moments.iter().enumerate() {
        *tally.by_damage.entry(Damage::ALL[i % Damage::ALL.len()]).or_default() += 1;
        verify_lives(moment, seed ^ i as u64, tally)?;
    }
    Ok(())
}

#[test]
fn every_crash_leaves_a_prefix_with_all_that_was_acknowledged() {
    let mut tally = Tally::default();
    for seed in 0..12 {
        if let Err(e) = explore(seed, 14, |_| {}, &mut tally) {
            panic!("life {seed}: {e}");
        }
    }
    println!(
        "crash states {} by damage {:?}, second lives {}",
        tally.states, tally.by_damage, tally.second_lives
    );
    assert!(tally.states >= 12_000 && tally.second_lives >= 5_000, "{tally:?}");
    assert!(tally.by_damage.values().all(|&n| n >= 1_000));
}

#[test]
fn missing_syncs_would_be_found() {
    for plant in [|fs: &SimFs| fs.ignore_sync_data(true), |fs: &SimFs| fs.ignore_sync_dir(true)] {
        let found = (0..3).any(|seed| explore(seed, 14, plant, &mut Tally::default()).is_err());
        assert!(found);
    }
}

#[test]
fn the_operations_of_a_life_have_three_phases() {
    let fs = SimFs::new();
    let phases = Arc::new(Mutex::new(BTreeMap::new()));
    let out = Arc::clone(&phases);
    fs.set_observer(Some(Box::new(move |event, _| {
        *out.lock().unwrap().entry((event.site.to_string(), event.phase as u8)).or_insert(0) += 1;
    })));
    life(&fs, 4, 14, &|_, _| {});
    fs.set_observer(None);
    let phases = phases.lock().unwrap();
    for site in ["write:wal", "sync_data:wal", "sync_all:wal", "sync_dir:dir"] {
        assert!(phases.contains_key(&(site.to_owned(), Phase::Inside as u8)), "{site}");
    }
    for site in ["create:wal", "allocate:wal", "set_len:wal", "unlink:wal"] {
        assert!(phases.contains_key(&(site.to_owned(), Phase::After as u8)), "{site}");
    }
}
