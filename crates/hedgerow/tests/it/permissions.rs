//! The permissions of the files of a store.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hedgerow::{Error, Graph, Options};

/// Returns the permissions of the directory, and of each file in it.
fn permissions(path: &Path) -> (u32, BTreeMap<String, u32>) {
    let of = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
    let files = path.read_dir().unwrap().map(|entry| entry.unwrap());
    (of(path), files.map(|file| (file.file_name().into_string().unwrap(), of(&file.path()))).collect())
}

/// Checks that there is a file of each kind, and that all files have `mode`.
fn all_are(path: &Path, of_dir: u32, mode: u32) {
    let (dir, files) = permissions(path);
    assert!(dir == of_dir && files.values().all(|&found| found == mode), "{mode:o}: {dir:o}, {files:?}");
    for end in ["LOCK", ".man", ".wal", ".csr"] {
        assert!(files.keys().any(|name| name.ends_with(end)), "{end}: {files:?}");
    }
}

fn options() -> Options {
    Options::new().log_segment_bytes(4096)
}

/// Fills log segments, and writes a checkpoint.
fn write(graph: &Graph, from: u64) {
    for v in from..from + 200 {
        graph.insert_edge((v, v + 1)).unwrap();
    }
    graph.checkpoint().unwrap();
    graph.insert_edge((from, from + 7)).unwrap();
}

#[test]
fn all_files_have_the_permissions_of_the_store() {
    for (mode, of_dir) in [(None, 0o700), (Some(0o640), 0o750), (Some(0o660), 0o770), (Some(0o644), 0o755)] {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("store");
        let given = mode.map_or(options(), |mode| options().mode(mode));
        let graph = given.clone().open(&path).unwrap();
        write(&graph, 0);
        graph.close().unwrap();
        all_are(&path, of_dir, mode.unwrap_or(0o600));
        // Later openings need not state the mode.
        let graph = options().open(&path).unwrap();
        write(&graph, 1_000);
        graph.close().unwrap();
        all_are(&path, of_dir, mode.unwrap_or(0o600));
        let graph = given.open(&path).unwrap();
        graph.compact().unwrap();
        drop(graph);
        all_are(&path, of_dir, mode.unwrap_or(0o600));
    }
}

#[test]
fn a_directory_that_is_there_stays_as_it_is() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path();
    std::fs::set_permissions(path, Permissions::from_mode(0o711)).unwrap();
    write(&options().mode(0o640).open(path).unwrap(), 0);
    all_are(path, 0o711, 0o640);
}

#[test]
fn the_permissions_of_the_lock_file_are_those_of_later_files() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("store");
    write(&options().open(&path).unwrap(), 0);
    for name in permissions(&path).1.into_keys() {
        std::fs::set_permissions(path.join(name), Permissions::from_mode(0o640)).unwrap();
    }
    write(&options().open(&path).unwrap(), 1_000);
    all_are(&path, 0o700, 0o640);
}

#[test]
fn what_a_store_cannot_have_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("store");
    for mode in [0o400, 0o200, 0, 0o700, 0o750, 0o1640, 0o4600, u32::MAX] {
        let Err(Error::Argument(refused)) = options().mode(mode).open(&path) else { panic!("{mode:o}") };
        let text = refused.to_string();
        assert!(text.contains(&format!("0o{mode:o}")) && text.contains("0o640") && !path.exists(), "{text}");
    }
    drop(options().open(&path).unwrap());
    let Err(Error::Open(refused)) = options().mode(0o640).open(&path) else { panic!() };
    let text = refused.to_string();
    assert!(["0o640", "0o600", "LOCK", "chmod"].iter().all(|part| text.contains(part)), "{text}");
    // Reading makes no files.
    drop(options().mode(0o640).read_only(true).open(&path).unwrap());
    drop(options().mode(0o600).open(&path).unwrap());
}
