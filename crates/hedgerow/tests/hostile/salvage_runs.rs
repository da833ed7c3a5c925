//! Salvage of stores larger than the memory: the result of a sort in runs equals the result of a sort in
//! memory.

use std::path::Path;

use hedgerow::{
    Error, Graph, KeyKind, Options, SalvageReport, StorageError, salvage_on_within, salvage_within,
};
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, SplitMix64, errno};
use hedgerow_testkit::{ModelConfig, SimFs, explored};

use crate::common::records::records;
use crate::salvage::content;
use crate::stores::Files;

/// Checks that salvage with the smallest memory, which sorts everything in runs, gives the same report and
/// content as in memory.
pub(crate) fn compare(
    files: &Files,
    report: &SalvageReport,
    into: &SimFs,
    config: ModelConfig,
    what: &dyn Fn() -> String,
) {
    let in_runs = SimFs::new();
    let told = salvage_on_within(SimFs::from_files(files).handle(), in_runs.handle(), 0)
        .unwrap_or_else(|e| panic!("{}: in runs: {e}", what()));
    assert_eq!(&told, report, "{}", what());
    assert!(in_runs.files().keys().eq(into.files().keys()), "{}: runs are left", what());
    let [one, other] = [into, &in_runs].map(|disk| {
        let graph = Options::new().create(false).read_only(true).open_on(disk.handle()).unwrap();
        assert!(graph.check().unwrap().is_ok(), "{}", what());
        content(&graph.snapshot().unwrap(), config)
    });
    assert_eq!(one, other, "{}: in runs", what());
}

fn fill(graph: &Graph, edges: u64) {
    let mut rng = SplitMix64::new(5);
    for _ in 0..edges / 50_000 {
        let some: Vec<_> = (0..50_000).map(|_| (rng.below(20_000), rng.below(20_000), 0.5)).collect();
        let mut tx = graph.write().expect("a transaction");
        tx.put_edges(&some).and_then(|()| tx.commit()).expect("a commit");
    }
    graph.checkpoint().expect("a checkpoint");
}

const VERTICES: usize = 240_000;
const COMMITS: usize = 15;

/// Makes a store with text keys. Two thirds of the vertices are in a segment. The remaining vertices are in
/// five commits of the log, and the second of these is damaged.
#[allow(clippy::disallowed_methods, reason = "the record is damaged in its file")]
fn make_large(path: &Path) {
    // The damage must hit the log's records, so no checkpoint may cover them.
    let options =
        Options::new().keys(KeyKind::Str).weighted(true).background_settling(false).checkpoint_log_bytes(0);
    let graph = options.open(path).expect("a store");
    let mut rng = SplitMix64::new(5);
    let keys: Vec<String> = (0..VERTICES).map(|i| format!("the vertex {i}")).collect();
    for (commit, new) in keys.chunks(VERTICES / COMMITS).enumerate() {
        let known = (commit + 1) * new.len();
        let mut edge = |key| (key, keys[rng.below(known as u64) as usize].as_str(), 0.5);
        let edges: Vec<_> = new.iter().flat_map(|key| [edge(key.as_str()), edge(key)]).collect();
        let mut tx = graph.write().expect("a transaction");
        tx.put_edges(&edges).and_then(|()| tx.commit()).expect("a commit");
        if commit == 9 {
            graph.checkpoint().expect("a checkpoint");
        }
    }
    graph.close().expect("a close");
    let logs = std::fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry").path());
    let logs = logs.filter(|path| path.extension().is_some_and(|end| end == "wal"));
    let files: Files =
        logs.map(|path| (path.display().to_string(), std::fs::read(&path).expect("a log"))).collect();
    let record = records(&files).into_iter().rev().nth(3).expect("a record");
    let mut bytes = files[&record.file].clone();
    bytes[record.bytes.end - 9] ^= 1;
    std::fs::write(&record.file, bytes).expect("a damaged log");
}

/// Salvage stays within the smallest limit. This covers all its memory, in addition to the shares of sorters,
/// vertices and keys.
/// vertices and keys.
#[test]
fn salvaging_keeps_its_limit() {
    const LIMIT: u64 = 16 << 20;
    let _alone = crate::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name| folder.path().join(name);
    make_large(&path("store"));
    let peak = |into, limit| {
        let before = crate::ALLOCATOR.current_usage();
        crate::ALLOCATOR.reset_peak_usage();
        let report = salvage_within(path("store"), path(into), limit).expect("a salvage");
        (crate::ALLOCATOR.peak_usage().saturating_sub(before) as u64, report)
    };
    let (unlimited, all) = peak("all", 1 << 40);
    let (limited, told) = peak("limited", LIMIT);
    println!("{} vertices: {unlimited} bytes without a limit, {limited} within {LIMIT}", all.vertices);
    assert_eq!(told, all);
    assert_eq!((all.lost_commits, all.vertices), (1, (VERTICES - VERTICES / COMMITS) as u64), "{all}");
    assert!(unlimited > 4 * LIMIT, "{unlimited} bytes do not need files");
    assert!(limited <= LIMIT, "{limited} bytes");
    let [one, other] = ["all", "limited"].map(|name| {
        let graph = Options::new().create(false).read_only(true).open(path(name)).expect("a store");
        assert!(graph.check().expect("a check").is_ok(), "{name}");
        graph.snapshot().expect("a snapshot")
    });
    assert!(
        one.vertices()
            .expect("vertices")
            .map(Result::unwrap)
            .eq(other.vertices().expect("vertices").map(Result::unwrap))
    );
    assert_eq!(one.edge_count().expect("a count"), other.edge_count().expect("a count"));
}

/// If the disk is full at any moment, salvage returns a typed error and leaves no unfinished file.
#[test]
fn a_full_disk_ends_a_salvage() {
    let _alone = crate::alone();
    let disk = SimFs::new();
    let graph = Options::new().weighted(true).open_on(disk.handle()).expect("a store");
    fill(&graph, 50_000);
    graph.close().expect("a close");
    drop(graph);
    let (mut refused, mut quota) = (0, 0);
    loop {
        let into = SimFs::new();
        into.set_quota(Some(quota));
        match salvage_on_within(disk.handle(), into.handle(), 0) {
            Ok(report) => {
                assert!(
                    report.is_whole() && into.files().keys().all(|name| !name.ends_with(".tmp")),
                    "{report}"
                );
                break;
            }
            Err(Error::Storage(StorageError::DiskFull { .. })) => refused += 1,
            Err(error) => panic!("quota {quota}: {error}"),
        }
        assert!(into.files().keys().all(|name| name == "LOCK"), "{:?}", into.files().keys());
        quota += 150_000;
    }
    explored("salvages refused by a full disk", refused, 20);
}

/// If a temporary file cannot be made, written or read at any moment, salvage ends with the error of the file
/// system.
#[test]
fn failing_temporary_files_end_a_salvage() {
    let _alone = crate::alone();
    let disk = SimFs::new();
    let options = Options::new().keys(KeyKind::Str).background_settling(false).checkpoint_log_bytes(0);
    let graph = options.open_on(disk.handle()).expect("a store");
    for commit in 0..4 {
        let keys: Vec<String> = (0..600).map(|i| format!("the vertex {}", commit * 500 + i)).collect();
        let edges: Vec<_> = keys.iter().zip(&keys[1..]).map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let mut tx = graph.write().expect("a transaction");
        tx.put_edges(&edges).and_then(|()| tx.commit()).expect("a commit");
        if commit == 1 {
            graph.checkpoint().expect("a checkpoint");
        }
    }
    graph.close().expect("a close");
    drop(graph);
    let record = records(&disk.files()).into_iter().nth_back(1).expect("a record");
    disk.corrupt(&record.file, record.bytes.end as u64 - 9, 1);
    let (mut rng, mut ended) = (SplitMix64::new(9), 0);
    let whole = SimFs::new();
    let report = salvage_on_within(disk.handle(), whole.handle(), 0).expect("a salvage");
    assert_eq!(report.lost_commits, 1, "{report}");
    for (class, site, operations) in [
        (FaultClass::Change, "create:tmp", whole.op_count()),
        (FaultClass::Change, "write:tmp", whole.op_count()),
        (FaultClass::Read, "read:tmp", whole.read_count()),
    ] {
        for _ in 0..40 {
            let (into, at) = (SimFs::new(), rng.below(operations));
            let (site, repeat, errno) = (Some(site), Repeat::Once, errno::EIO);
            into.plan_fault(Fault { class, at, site, repeat, errno });
            match salvage_on_within(disk.handle(), into.handle(), 0) {
                Ok(told) => assert_eq!(told, report),
                Err(Error::Storage(StorageError::Io { file, .. })) if file.ends_with(".tmp") => {
                    ended += 1;
                    assert!(into.files().keys().all(|name| name == "LOCK"), "{:?}", into.files().keys());
                }
                Err(error) => panic!("{site:?} from {at} on: {error}"),
            }
        }
    }
    explored("salvages ended by a temporary file", ended, 60);
}
