//! System calls that fail. A small program writes to a store on real files under `strace`. `strace` makes one
//! of its calls return an error, or 0 bytes, once or for ever. The program must get an error that describes
//! the store's state correctly. No acknowledged commit may be lost, and the store must open again. If
//! `strace` is absent or may not trace, the test prints a line.
//!
//! The test program starts itself as the traced program; an environment variable selects this role.
#![allow(missing_docs, reason = "a test program")]
#![allow(clippy::disallowed_methods, reason = "acknowledgements go to files outside the store")]

#[path = "../common/mod.rs"]
mod common;
mod device;
mod group;
mod kernel;
mod limits;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hedgerow::{CommitError, Error, Graph, StateError};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Effort, explored, skipped};

use common::script::{CONFIG, Script};

const CHILD: &str = "HEDGEROW_SYSTEM_CHILD";
const TRANSACTIONS: u64 = 10;
const SEED: u64 = 77;
/// The number of cases of one round. Each case has a call, an error, a mode and a moment.
const CASES: u64 = 70;

/// The calls that a store makes on its files, with their possible outcomes.
const CALLS: &[(&str, &[&str])] = &[
    ("pwrite64", &["error=EIO", "error=ENOSPC", "error=EDQUOT", "error=EROFS", "error=EINTR", "retval=0"]),
    ("fdatasync", &["error=EIO", "error=ENOSPC", "error=EDQUOT", "error=EINTR"]),
    ("fsync", &["error=EIO", "error=ENOSPC", "error=EROFS", "error=EINTR"]),
    ("fallocate", &["error=ENOSPC", "error=EIO", "error=EOPNOTSUPP", "error=EINTR", "error=EDQUOT"]),
    ("ftruncate", &["error=EIO", "error=EROFS"]),
    ("renameat,renameat2,rename", &["error=EIO", "error=ENOSPC", "error=EROFS"]),
    ("unlinkat,unlink", &["error=EIO", "error=EROFS"]),
    ("openat", &["error=EMFILE", "error=EIO", "error=EACCES", "error=ENOSPC", "error=EINTR"]),
    ("pread64", &["error=EIO", "error=EINTR", "retval=0"]),
    ("getdents64", &["error=EIO"]),
];

fn store(dir: &Path) -> PathBuf {
    dir.join("store")
}

fn open(dir: &Path) -> hedgerow::Result<Graph> {
    common::options(CONFIG).log_segment_bytes(4096).open(store(dir))
}

/// A traced child ends without a panic after any failure, if the errors are the expected ones.
#[test]
fn child() {
    let Ok(dir) = std::env::var(CHILD).map(PathBuf::from) else { return };
    let mut out = OpenOptions::new().create(true).append(true).open(dir.join("said")).expect("a file");
    // It works twice, so that the trace also covers recovery with its reads and removals.
    for _ in 0..2 {
        let end = work(&dir, &mut out);
        writeln!(out, "end {end}").expect("a line");
    }
}

fn work(dir: &Path, out: &mut std::fs::File) -> String {
    let graph = match open(dir) {
        Ok(graph) => graph,
        Err(error) => return format!("open: {error}"),
    };
    match common::rich::define_labels(&graph) {
        Ok(()) => {}
        Err(error) => return expected(&graph, error),
    }
    let script = Script::new(SEED, 0);
    let from = script.mark_in(&graph.snapshot().expect("a snapshot"));
    for i in from + 1..=from + TRANSACTIONS {
        let mut tx = match graph.write() {
            Ok(tx) => tx,
            Err(error) => return expected(&graph, error),
        };
        // Operations can also fail, because they define properties.
        let ops = script.transaction(i);
        let applied = ops.iter().try_for_each(|op| common::apply(&mut tx, CONFIG.weighted, op).map(drop));
        match applied.and_then(|()| tx.commit()) {
            Ok(_) => writeln!(out, "acknowledged {i}").expect("a line"),
            Err(error) => return expected(&graph, error),
        }
        if i % 4 == 0 {
            match graph.checkpoint() {
                Ok(_) | Err(Error::Storage(_)) => {}
                Err(error) => return expected(&graph, error),
            }
        }
    }
    match graph.close() {
        Ok(()) => "well".into(),
        Err(error) => expected(&graph, error),
    }
}

/// Checks the state that must hold after an error, and returns the error's text.
fn expected(graph: &Graph, error: Error) -> String {
    match &error {
        Error::Commit(CommitError::DiskFull | CommitError::TooManyFiles) => {
            assert!(graph.write().is_ok(), "a full disk, or no file descriptor, leaves the store usable")
        }
        Error::Commit(CommitError::OutcomeUnknown) | Error::State(StateError::Poisoned) => {
            let refused = matches!(
                graph.write(),
                Err(Error::State(StateError::Poisoned) | Error::State(StateError::Closed))
            );
            assert!(refused, "after {error} the store takes writes");
        }
        // The program could not read the files. The call changed nothing, and the store is intact.
        Error::Storage(_) => assert!(graph.write().is_ok(), "a read that failed leaves the store usable"),
        other => panic!("a commit fails with {other}"),
    }
    format!("{error}")
}

/// Returns the reason why tracing is not possible here, if there is one.
fn obstacle() -> Option<String> {
    let probe = Command::new("strace").args(["-qq", "-o", "/dev/null", "-e", "trace=fsync", "true"]).output();
    match probe {
        Err(error) => Some(format!("no strace: {error}")),
        Ok(done) if done.status.success() => None,
        Ok(done) => Some(format!("strace may not trace: {}", String::from_utf8_lossy(&done.stderr).trim())),
    }
}

/// Runs the child under `strace`; `inject` makes calls fail. Returns the trace of the named calls.
fn traced(dir: &Path, paths: &[PathBuf], calls: &str, inject: Option<&str>) -> Result<String, String> {
    let log = dir.join("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "--seccomp-bpf", "-o"]).arg(&log).arg("-e").arg(format!("trace={calls}"));
    if let Some(inject) = inject {
        command.arg("-e").arg(format!("inject={calls}:{inject}"));
    }
    paths.iter().for_each(|path| _ = command.arg("-P").arg(path));
    command.arg(std::env::current_exe().expect("this program"));
    command.args(["child", "--exact", "--nocapture"]).env(CHILD, dir).env("RUST_BACKTRACE", "0");
    let done = command.stdout(Stdio::null()).output().map_err(|e| e.to_string())?;
    if !done.status.success() {
        return Err(format!("{}: {}", done.status, String::from_utf8_lossy(&done.stderr).trim()));
    }
    std::fs::read_to_string(&log).map_err(|e| e.to_string())
}

/// Returns the last transaction that the child reported as acknowledged.
fn acknowledged(dir: &Path) -> u64 {
    let said = std::fs::read_to_string(dir.join("said")).unwrap_or_default();
    let acks = said.lines().filter_map(|line| line.strip_prefix("acknowledged ")?.parse().ok());
    acks.max().unwrap_or(0)
}

fn verify(dir: &Path) -> Result<(), String> {
    let script = Script::new(SEED, 0);
    let acked = acknowledged(dir);
    for _ in 0..2 {
        let graph = open(dir).map_err(|e| format!("does not open: {e}"))?;
        let snapshot = graph.snapshot().map_err(|e| e.to_string())?;
        let found = script.mark_in(&snapshot);
        if found < acked || found > acked + 1 {
            return Err(format!("acknowledged {acked}, the store holds {found}"));
        }
        common::same(&snapshot, CONFIG, &script.state_after(found))?;
        common::sound(&graph)?;
        drop(snapshot);
        graph.close().map_err(|e| format!("close: {e}"))?;
    }
    Ok(())
}

/// Returns the names of all files in a clean run, and the number of calls of each kind on them.
fn clean_run() -> (Vec<String>, BTreeMap<&'static str, u64>) {
    let dir = tempfile::tempdir().expect("a directory");
    let all: Vec<&str> = CALLS.iter().map(|(calls, _)| *calls).collect();
    let trace = traced(dir.path(), &[], &all.join(","), None).expect("a clean run");
    verify(dir.path()).expect("a clean run");
    let quoted = trace.lines().filter_map(|line| line.split('"').nth(1));
    let ours = |name: &&str| {
        [".wal", ".csr", ".man", ".tmp", "LOCK", "RESERVE"].iter().any(|end| name.ends_with(end))
            && !name.contains('/')
    };
    let mut names: Vec<String> = quoted.filter(ours).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    let again = tempfile::tempdir().expect("a directory");
    let paths = paths(again.path(), &names);
    let counts = CALLS.iter().map(|&(calls, _)| {
        let trace = traced(again.path(), &paths, calls, None).expect("a clean run");
        std::fs::remove_dir_all(store(again.path())).expect("a store");
        let _ = std::fs::remove_file(again.path().join("said"));
        (calls, trace.lines().filter(|line| line.contains('(')).count() as u64)
    });
    (names, counts.collect())
}

fn paths(dir: &Path, names: &[String]) -> Vec<PathBuf> {
    let store = store(dir);
    let files = names.iter().map(|name| store.join(name));
    std::iter::once(store.clone()).chain(files).collect()
}

#[test]
fn system_calls_that_fail() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    if let Some(obstacle) = obstacle() {
        return skipped("system calls that fail", obstacle);
    }
    let (names, counts) = clean_run();
    println!("calls of a clean run: {counts:?}; {} files", names.len());
    let kinds: Vec<(&str, &str)> =
        CALLS.iter().flat_map(|(calls, outcomes)| outcomes.iter().map(|o| (*calls, *o))).collect();
    let (mut cases, mut failed, mut seen) = (0, 0, BTreeMap::<(&str, &str), u64>::new());
    let effort = Effort::rounds(CASES);
    while let Some(seed) = effort.next_seed() {
        let mut rng = SplitMix64::new(seed);
        // The kinds take turns, so that each has about the same number of cases.
        let (calls, outcome) = kinds[cases as usize % kinds.len()];
        let count = counts.get(calls).copied().unwrap_or(0);
        assert!(count > 0, "a clean run makes no call of {calls}");
        // The store repeats interrupted calls without limit, so an interruption happens only once.
        let for_ever = outcome != "error=EINTR" && rng.below(2) == 0;
        let at = 1 + rng.below(count);
        let inject = format!("{outcome}:when={at}{}", if for_ever { "+" } else { "" });
        let dir = tempfile::tempdir().expect("a directory");
        let verdict =
            traced(dir.path(), &paths(dir.path(), &names), calls, Some(&inject)).and_then(|trace| {
                failed += u64::from(trace.contains("(INJECTED)"));
                verify(dir.path())
            });
        verdict.unwrap_or_else(|e| panic!("HEDGEROW_ROUND={seed}: {calls}:{inject}: {e}"));
        *seen.entry((calls, outcome)).or_default() += 1;
        cases += 1;
    }
    println!("{failed} cases in which a call failed");
    explored("kinds of failing system calls", seen.len() as u64, kinds.len() as u64);
    explored("system calls that failed", failed, CASES * 3 / 4);
}
