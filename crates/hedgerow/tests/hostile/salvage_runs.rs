//! Salvage of more than memory holds: what it sorts in runs comes out as what it sorts in memory.

use hedgerow::{
    Error, Graph, KeyKind, Options, SalvageReport, StorageError, salvage_on_within, salvage_within,
};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{ModelConfig, SimFs, explored};

use crate::salvage::content;
use crate::stores::Files;

/// With the least memory everything is sorted in runs, and has the report and the content that it has in memory.
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
        tx.put_weighted_edges(&some).and_then(|()| tx.commit()).expect("a commit");
    }
    graph.checkpoint().expect("a checkpoint");
}

/// Beside the limit stand the vertices, and one page of images as it is read.
#[test]
fn salvaging_keeps_its_limit() {
    const LIMIT: u64 = 16 << 20;
    const VERTICES: u64 = 20_000 * 200;
    let _alone = crate::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name| folder.path().join(name);
    let graph = Options::new().keys(KeyKind::U64).weighted(true).open(path("store")).expect("a store");
    fill(&graph, 600_000);
    graph.close().expect("a close");
    drop(graph);
    let peak = |into, limit| {
        let before = crate::ALLOCATOR.current_usage();
        crate::ALLOCATOR.reset_peak_usage();
        let report = salvage_within(path("store"), path(into), limit).expect("a salvage");
        (crate::ALLOCATOR.peak_usage().saturating_sub(before) as u64, report)
    };
    let (unlimited, all) = peak("all", 1 << 40);
    let (limited, told) = peak("limited", LIMIT);
    println!("{} edges: {unlimited} bytes without a limit, {limited} within {LIMIT}", all.edges);
    assert_eq!(told, all);
    assert!(unlimited > 4 * LIMIT, "{unlimited} bytes do not need runs");
    assert!(limited <= LIMIT + VERTICES, "{limited} bytes");
}

/// A disk that is full at any moment is a typed error, and nothing of what was begun is left.
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
