//! A process that may have no other thread, or only one. All work runs on the calling thread, or the store
//! reports the reason for a refusal.
//!
//! The system's limit applies to the processes of a user, but not to the superuser. A superuser's run
//! therefore starts the program as another user. If neither launch works, the test prints this and passes.
#![allow(missing_docs, reason = "a test program")]
#![allow(clippy::disallowed_methods, reason = "the program is copied to where another user can run it")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hedgerow::{
    Direction, Durability, EdgeKey, EdgeSelection, Error, Graph, KeyKind, Options, StorageError, Topology,
    VertexId,
};
use hedgerow_kernels::{BfsConfig, PageRankConfig, SsspConfig, verify};

/// The variable that names the folder of the child; only the child has it.
const FOLDER: &str = "HEDGEROW_ALONE_FOLDER";
/// The output of the child if the limit has no effect.
const NOT_BOUND: &str = "threads can be started all the same";
/// The output of the child at its end.
const ALL_DONE: &str = "all of it worked without threads";

#[test]
fn a_process_that_may_start_no_thread() {
    run_limited(1);
}

#[test]
fn a_process_that_may_start_one_thread() {
    run_limited(2);
}

/// Runs [`child`] with a limit on the total number of the user's threads.
fn run_limited(threads: u32) {
    // Only one test runs at a time. The limit counts all processes of the user, and no test may start a
    // program while another test copies one.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    // Another user must be able to access the folder.
    let everyone = |path: &Path| std::fs::set_permissions(path, PermissionsExt::from_mode(0o777));
    everyone(folder.path()).expect("its owner may");
    let program = folder.path().join("alone");
    std::fs::copy(std::env::current_exe().expect("a program"), &program).expect("room");
    everyone(&program).expect("its owner may");
    let limit = format!("--nproc={threads}:{threads}");
    let other_user = ["setpriv", "--reuid=65534", "--clear-groups", "prlimit", &limit];
    for launcher in [&other_user[3..], &other_user[..]] {
        let mut command = Command::new(launcher[0]);
        command.args(&launcher[1..]).arg(&program).args([
            "--exact",
            "child",
            "--nocapture",
            "--test-threads=1",
        ]);
        let Ok(output) = command.env(FOLDER, folder.path()).output() else { continue };
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        if said.contains(NOT_BOUND) || !said.contains("running 1 test") {
            continue; // the limit has no effect, or the launcher lacks the permission
        }
        assert!(output.status.success() && said.contains(ALL_DONE), "{:?}\n{said}", output.status);
        assert!(!said.contains("panicked"), "{said}");
        return;
    }
    hedgerow_testkit::skipped("a store without threads", "no way to limit the threads of a process");
}

/// A separate process with a limit on threads can do all work of a store.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    // Two threads run at once: neither ends before the start of the other was tried.
    let ends = Arc::new(Mutex::new(()));
    let held = ends.lock().expect("nobody has panicked");
    let wait = || {
        let ends = ends.clone();
        move || drop(ends.lock())
    };
    let threads: Vec<_> = (0..2).map_while(|_| std::thread::Builder::new().spawn(wait()).ok()).collect();
    drop(held);
    if threads.len() == 2 {
        return println!("{NOT_BOUND}");
    }
    threads.into_iter().for_each(|thread| thread.join().expect("it waits"));
    let edges: Vec<(u64, u64)> = (0..60_000).map(|i| (i % 20_000, i * 7_919 % 20_011)).collect();
    let path = folder.join("store");
    write(&path, &edges);
    let replayed = Options::new().open(&path).expect("a long log");
    read(&replayed);
    background(&folder);
    finish(replayed, &path, &folder);
    group(&folder);
    println!("{ALL_DONE}");
}

fn write(path: &Path, edges: &[(u64, u64)]) {
    let graph = Options::new().weighted(true).open(path).expect("an empty folder");
    assert!(graph.insert_edges(edges).expect("a large commit") > 50_000);
    let mut txn = graph.write().expect("open");
    txn.put_edge_with(EdgeKey::new("road", 1, 2), [("miles", 2.5)]).expect("a new label");
    let ticket = txn.submit().expect("open");
    ticket.wait().expect("the submitter syncs");
    let mut acknowledged = 0;
    let mut pipeline = graph.pipeline(|_| acknowledged += 1).expect("open");
    (0..500).for_each(|end| _ = pipeline.insert_edge(30_000, 30_001 + end).expect("a new edge"));
    pipeline.flush().expect("the caller syncs");
    drop(pipeline);
    assert_eq!(acknowledged, 500);
    graph.close().expect("the log is sound");
}

/// Compares views and kernels with results that never use threads.
fn read(graph: &Graph) {
    let snapshot = graph.snapshot().expect("open");
    let (view, source) = (snapshot.default_label().view().unwrap(), VertexId(0));
    assert_eq!(
        hedgerow_kernels::bfs(view, source, &BfsConfig::default()).expect("live"),
        verify::bfs(view, source, Direction::Out)
    );
    assert_eq!(
        hedgerow_kernels::sssp(view, source, &SsspConfig::default()).expect("valid weights"),
        verify::sssp(view, source, Direction::Out)
    );
    assert_eq!(hedgerow_kernels::wcc(view).expect("few"), verify::wcc(view));
    assert_eq!(hedgerow_kernels::triangle_count(view).expect("few"), verify::triangle_count(view));
    let scores = hedgerow_kernels::pagerank(view, &PageRankConfig::default()).expect("valid");
    assert!((scores.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(snapshot.view("road").expect("a label").edge_count(), 1);
    assert!(snapshot.view(&EdgeSelection::of("road").weighted_by("miles", None)).is_ok());
    let report = graph.check().expect("open");
    assert!(report.is_ok(), "{:?}", report.problems);
}

/// Does the work of background threads: checkpoints by log length, settling, and releases of views.
fn background(folder: &Path) {
    let options = Options::new().keys(KeyKind::Dense).checkpoint_log_bytes(1 << 16);
    let graph = options.durability(Durability::Manual).open(folder.join("small")).expect("an empty folder");
    for round in 0..40u64 {
        let edges: Vec<(u64, u64)> =
            (0..2_000).map(|i| (i % 4_000, (i * 31 + round * 977) % 4_000)).collect();
        graph.insert_edges(&edges).expect("no commit waits for a thread that there is not");
        assert!(graph.snapshot().expect("open").default_label().view().unwrap().edge_count() > 0);
    }
    graph.settle().expect("open");
    assert!(graph.snapshot().expect("open").default_label().view().unwrap().edge_count() > 0);
    graph.close().expect("sound");
}

/// Runs checkpoints, the other tools, and the opening of segments.
fn finish(graph: Graph, path: &Path, folder: &Path) {
    graph.settle().expect("open");
    graph.checkpoint().expect("open");
    graph.compact().expect("open");
    graph.backup(folder.join("backup")).expect("a new folder");
    let edges = graph.snapshot().expect("open").edge_count().unwrap();
    graph.close().expect("sound");
    drop(graph);
    let again = Options::new().open(path).expect("segments");
    assert_eq!(again.snapshot().expect("open").edge_count().unwrap(), edges);
    again.close().expect("sound");
    assert!(hedgerow::check_path(path).expect("closed").is_ok());
    hedgerow::salvage(path, folder.join("salvaged")).expect("closed");
}

/// Checks that group durability needs its thread. Without the thread, the store reports an error and releases
/// the directory.
fn group(folder: &Path) {
    let path = folder.join("group");
    let group = Options::new().durability(Durability::Group(Duration::from_millis(5))).open(&path);
    match group {
        Err(Error::Storage(StorageError::Io { operation, .. })) => {
            assert!(operation.contains("thread"), "{operation}")
        }
        Err(other) => panic!("{other}"),
        Ok(graph) => graph.close().expect("there was a thread after all"),
    }
    Options::new().open(&path).expect("the directory was let go").close().expect("sound");
}
