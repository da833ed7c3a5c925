//! Damaged, mixed-up and hostile stores: the answer is an error or exactly the right state, never a panic and
//! never another state.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use hedgerow::io::CorruptionKind;
use hedgerow::{CommitError, Error, OpenError, StateError, StorageError};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Generator, Model, ModelConfig, SimFs, explored};

use crate::common;
use crate::common::records::records;

type Files = BTreeMap<String, Vec<u8>>;

fn config() -> ModelConfig {
    ModelConfig { directed: true, weighted: true, keys: hedgerow::KeyKind::Str, rich: false }
}

/// Makes a small store with a checkpoint and two or more log segments; returns its files, and all states that
/// it went through.
fn store(seed: u64, close: bool) -> (Files, Vec<Model>) {
    let disk = SimFs::new();
    let options = common::options(config()).log_segment_bytes(4096);
    let graph = options.open_on(disk.handle()).unwrap();
    let mut generator = Generator::new(config(), seed, 0, 16);
    let mut model = Model::new(config());
    let mut states = vec![model.clone()];
    for i in 0..12 {
        let mut tx = graph.write().unwrap();
        for op in generator.transaction(Some(&model), 24) {
            model.apply(&op);
            common::apply(&mut tx, true, &op).unwrap();
        }
        tx.commit().unwrap();
        states.push(model.clone());
        if i == 5 {
            graph.checkpoint().unwrap();
        }
    }
    if close {
        graph.close().unwrap();
    }
    (common::files_with_content(&disk), states)
}

#[derive(Debug, Default)]
struct Seen {
    opened: u64,
    refused: u64,
    right: u64,
    older: u64,
}

/// Opens a changed store for reading and for writing. The last of `states` is right; unless `exact` is true,
/// an earlier state passes too.
fn judge(files: &Files, states: &[Model], exact: bool, what: &str, seen: &mut Seen) {
    for read_only in [true, false] {
        let disk = SimFs::from_files(files);
        let options = crate::common::small().create(false).read_only(read_only);
        let opened = catch_unwind(AssertUnwindSafe(|| {
            let graph = options.open_on(disk.handle())?;
            let report = graph.check()?;
            assert!(report.is_ok(), "{what}: {report:?}");
            let snapshot = graph.snapshot()?;
            let found = (graph.config()
                == hedgerow::GraphConfig {
                    directed: true,
                    weighted: true,
                    keys: config().keys,
                    reverse: true,
                })
            .then(|| common::content(&snapshot, config()));
            Ok::<_, Error>(found)
        }));
        seen.opened += 1;
        match opened.unwrap_or_else(|_| panic!("{what}: a panic")) {
            Ok(Some(found)) if Some(&found) == states.last() => seen.right += 1,
            Ok(Some(found)) if !exact && states.contains(&found) => seen.older += 1,
            Ok(found) => panic!("{what}: a wrong answer: {found:?}"),
            Err(Error::Commit(CommitError::Conflict { .. }) | Error::State(StateError::Poisoned)) => {
                panic!("{what}: an error that says nothing")
            }
            Err(_) => seen.refused += 1,
        }
    }
}

#[test]
fn every_byte_of_a_closed_store_flipped() {
    let (files, states) = store(3, true);
    assert!(files.len() >= 4, "{:?}", files.keys());
    let bytes: Vec<(String, usize)> =
        files.iter().flat_map(|(name, bytes)| (0..bytes.len()).map(move |at| (name.clone(), at))).collect();
    let total = Mutex::new(Seen::default());
    std::thread::scope(|scope| {
        for part in bytes.chunks(bytes.len().div_ceil(2)) {
            let (files, states, total) = (&files, &states, &total);
            scope.spawn(move || {
                let (mut rng, mut seen) = (SplitMix64::new(part.len() as u64), Seen::default());
                for (name, at) in part {
                    let mut changed = files.clone();
                    if let Some(byte) = changed.get_mut(name).and_then(|b| b.get_mut(*at)) {
                        *byte ^= 1 << rng.below(8);
                    }
                    judge(&changed, states, true, &format!("{name} byte {at}"), &mut seen);
                }
                let mut total = total.lock().unwrap();
                total.opened += seen.opened;
                total.refused += seen.refused;
                total.right += seen.right;
            });
        }
    });
    let seen = total.into_inner().unwrap();
    explored("flipped bytes of a closed store", bytes.len() as u64, 3_000);
    explored("of these openings, refused", seen.refused, seen.opened / 2);
}

#[test]
fn truncated_extended_missing_and_empty_files() {
    let (files, states) = store(4, true);
    let mut seen = Seen::default();
    for (name, bytes) in &files {
        let mut lengths: Vec<usize> = (0..bytes.len()).step_by(bytes.len() / 64 + 1).collect();
        lengths.extend([bytes.len().saturating_sub(1), bytes.len() + 1, bytes.len() + 5000]);
        for len in lengths {
            let mut changed = files.clone();
            changed.entry(name.clone()).or_default().resize(len, 0);
            judge(&changed, &states, true, &format!("{name} with {len} bytes"), &mut seen);
        }
        let mut changed = files.clone();
        changed.remove(name);
        judge(&changed, &states, true, &format!("without {name}"), &mut seen);
    }
    explored("truncated, extended and missing files", seen.opened, 300);
    assert!(seen.refused > seen.opened / 2, "{seen:?}");
}

#[test]
fn swapped_foreign_and_stale_files() {
    let (files, states) = store(5, true);
    let (foreign, _) = store(6, true);
    let mut seen = Seen::default();
    for (a, b) in files.keys().flat_map(|a| files.keys().map(move |b| (a, b))).filter(|(a, b)| a < b) {
        let mut changed = files.clone();
        changed.insert(a.clone(), files[b].clone());
        changed.insert(b.clone(), files[a].clone());
        judge(&changed, &states, true, &format!("{a} and {b} swapped"), &mut seen);
    }
    for name in files.keys() {
        for (other, bytes) in &foreign {
            let mut changed = files.clone();
            changed.insert(name.clone(), bytes.clone());
            // A directory that has only the manifest of another store is the directory of the other store.
            judge(&changed, &states, true, &format!("{name} replaced by a foreign {other}"), &mut seen);
        }
    }
    for (other, bytes) in &foreign {
        let mut changed = files.clone();
        changed.entry(other.clone()).or_insert_with(|| bytes.clone());
        judge(&changed, &states, true, &format!("with a foreign {other}"), &mut seen);
    }
    explored("swapped and foreign files", seen.opened, 50);
}

/// After a crash the end of the log may be torn. Damage there may cost unwitnessed commits, but nothing else.
#[test]
fn every_eighth_byte_of_a_store_that_was_not_closed_flipped() {
    let (files, states) = store(7, false);
    let mut seen = Seen::default();
    let mut rng = SplitMix64::new(7);
    for (name, bytes) in &files {
        for at in (0..bytes.len()).step_by(8) {
            let mut changed = files.clone();
            if let Some(byte) = changed.get_mut(name).and_then(|b| b.get_mut(at + rng.below(8) as usize % 8))
            {
                *byte ^= 1 << rng.below(8);
            }
            judge(&changed, &states, false, &format!("{name} byte {at}"), &mut seen);
        }
    }
    println!("{seen:?}");
    explored("flipped bytes of a store that was not closed", seen.opened, 1_000);
}

#[test]
fn directories_that_are_no_stores() {
    let cases: [(&str, Files); 4] = [
        ("other content", Files::from([("notes.txt".into(), b"hello".to_vec())])),
        ("an empty manifest", Files::from([("manifest-0000000000000001.man".into(), Vec::new())])),
        ("a log alone", Files::from([("log-0000000000000001.wal".into(), vec![0; 4096])])),
        ("nonsense", Files::from([("manifest-0000000000000001.man".into(), vec![0xa5; 300])])),
    ];
    for (what, files) in cases {
        for create in [true, false] {
            let disk = SimFs::from_files(&files);
            let error = crate::common::small().create(create).open_on(disk.handle()).err();
            let expected = matches!(
                error,
                Some(Error::Open(OpenError::NotAStore { .. }) | Error::Storage(StorageError::Corruption(_)))
            );
            assert!(expected, "{what}: {error:?}");
            let mut left = disk.files();
            left.remove("LOCK");
            assert_eq!(left, files, "{what}: nothing is left behind");
        }
    }
    let empty = SimFs::new();
    let error = crate::common::small().create(false).open_on(empty.handle()).err();
    assert!(matches!(error, Some(Error::Open(OpenError::NotAStore { .. }))), "{error:?}");
}

/// Every read of an opening fails once: the opening returns an error, and the next opening succeeds. Short
/// transfers are no error.
#[test]
fn failed_and_short_reads() {
    use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};
    let (files, states) = store(9, true);
    let opened = |disk: &SimFs| {
        let graph = crate::common::small().create(false).open_on(disk.handle())?;
        let found = common::content(&graph.snapshot()?, config());
        assert_eq!(Some(&found), states.last());
        Ok::<_, Error>(graph.check()?.is_ok())
    };
    let clean = SimFs::from_files(&files);
    assert!(opened(&clean).unwrap());
    let mut failed = 0;
    for at in 0..clean.read_count() {
        for errno in [errno::EIO, errno::EMFILE, errno::EINTR] {
            let disk = SimFs::from_files(&files);
            // The store repeats an interrupted read, without a limit.
            let repeats = [Repeat::Once, Repeat::Forever];
            for repeat in repeats.into_iter().take(if errno == errno::EINTR { 1 } else { 2 }) {
                disk.plan_fault(Fault { class: FaultClass::Read, at, site: None, repeat, errno });
                failed += u64::from(opened(&disk).is_err());
                disk.clear_faults();
                assert!(opened(&disk).unwrap_or_else(|e| panic!("after failed read {at}: {e}")));
            }
        }
    }
    for seed in 0..50 {
        let disk = SimFs::from_files(&files);
        disk.set_short_transfers(Some(seed));
        assert!(opened(&disk).unwrap_or_else(|e| panic!("short transfers {seed}: {e}")));
    }
    explored("failed reads of an opening", failed, 60);
}

/// A header of a later version with a right checksum.
#[test]
fn stores_of_a_later_version() {
    let (files, _) = store(8, true);
    let mut refused = 0;
    for (name, bytes) in files.iter().filter(|(_, bytes)| bytes.len() >= 64) {
        let mut changed = files.clone();
        let mut header = bytes.clone();
        header[10..12].copy_from_slice(&99u16.to_le_bytes());
        let checksum = hedgerow::io::checksum::checksum64(&header[..56]);
        header[56..64].copy_from_slice(&checksum.to_le_bytes());
        changed.insert(name.clone(), header);
        let disk = SimFs::from_files(&changed);
        match crate::common::small().open_on(disk.handle()).err() {
            Some(Error::Open(OpenError::FutureVersion { file, .. })) => {
                assert_eq!(file, *name);
                refused += 1;
            }
            // The store first compares the hash in the manifest with the whole segment.
            Some(Error::Storage(StorageError::Corruption(corruption))) => assert_eq!(corruption.file, *name),
            other => panic!("{name}: {other:?}"),
        }
    }
    assert!(refused >= 2, "manifest and log say so");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "prepares directories that the store must refuse")]
fn links_files_and_second_openings() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let graph = crate::common::small().open(&path).unwrap();
    graph.insert_edge((1, 2)).unwrap();
    assert!(matches!(crate::common::small().open(&path).err(), Some(Error::Open(OpenError::Locked { .. }))));
    assert!(matches!(
        crate::common::small().read_only(true).open(&path).err(),
        Some(Error::Open(OpenError::Locked { .. }))
    ));
    graph.close().unwrap();
    let log = std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path());
    let log = log.into_iter().find(|p| p.extension().is_some_and(|e| e == "wal")).unwrap();
    let aside = dir.path().join("aside.wal");
    std::fs::rename(&log, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &log).unwrap();
    let error = crate::common::small().open(&path).err();
    assert!(
        matches!(
            error,
            Some(Error::Storage(StorageError::Io { .. }) | Error::Storage(StorageError::Corruption(_)))
        ),
        "{error:?}"
    );
    std::fs::remove_file(&log).unwrap();
    std::fs::rename(&aside, &log).unwrap();
    assert_eq!(crate::common::small().open(&path).unwrap().snapshot().unwrap().edge_count().unwrap(), 1);
    let file = dir.path().join("file");
    std::fs::write(&file, b"x").unwrap();
    assert!(matches!(
        crate::common::small().open(&file).err(),
        Some(Error::Open(OpenError::NotAStore { .. }))
    ));
    let absent = crate::common::small().create(false).open(dir.path().join("absent")).err();
    assert!(matches!(absent, Some(Error::Open(OpenError::NotAStore { .. }))), "{absent:?}");
    assert!(!dir.path().join("absent").exists());
}

/// In a closed log every record was whole. So the error that the store reports is a checksum that does not
/// match.
#[test]
fn a_flipped_bit_is_named_a_checksum() {
    let (files, _) = store(3, true);
    let mut seen = [0u64; 2];
    for record in records(&files) {
        for at in record.bytes.clone() {
            let mut damaged = files.clone();
            damaged.get_mut(&record.file).unwrap()[at] ^= 4;
            let opened = crate::common::small().create(false).open_on(SimFs::from_files(&damaged).handle());
            let Err(Error::Storage(StorageError::Corruption(found))) = opened else {
                panic!("{} byte {at}", record.file)
            };
            let in_header = at < record.bytes.start + 56;
            let named = match found.kind {
                CorruptionKind::RecordHeader { .. } => in_header,
                CorruptionKind::Checksum { .. } => !in_header,
                _ => false,
            };
            assert!(
                named && (&found.file, found.offset) == (&record.file, record.bytes.start as u64),
                "{found}"
            );
            seen[usize::from(in_header)] += 1;
        }
    }
    explored("bytes of records named by their checksum", seen[0].min(seen[1]), 300);
}
