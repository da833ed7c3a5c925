//! Stores with several concurrent openings for reading.

use hedgerow::{Error, Graph, LockHolder, OpenError, Options};
use hedgerow_testkit::SimFs;

fn held_by(opened: hedgerow::Result<Graph>) -> LockHolder {
    match opened.err() {
        Some(Error::Open(OpenError::Locked { holder, .. })) => holder,
        other => panic!("not locked: {other:?}"),
    }
}

/// The two ways in which a test opens a store: for reading, and for writing.
type Openings<'a> = [&'a dyn Fn() -> hedgerow::Result<Graph>; 2];

fn readers_exclude_writers([read, write]: Openings<'_>) {
    let writer = write().unwrap();
    writer.insert_edge((1, 2)).unwrap();
    assert_eq!(held_by(read()), LockHolder::ThisProcess);
    writer.close().unwrap();
    let readers = [read().unwrap(), read().unwrap(), read().unwrap()];
    for reader in readers {
        assert_eq!(held_by(write()), LockHolder::ThisProcessReads);
        assert!(read().unwrap().snapshot().unwrap().contains_edge((1, 2)).unwrap(), "one more reader");
        assert!(reader.snapshot().unwrap().contains_edge((1, 2)).unwrap() && reader.check().unwrap().is_ok());
        reader.close().unwrap();
    }
    // A snapshot is still readable after its store is closed, and keeps no lock.
    let reader = read().unwrap();
    let snapshot = reader.snapshot().unwrap();
    reader.close().unwrap();
    let writer = write().unwrap();
    assert!(
        writer.insert_edge((1, 3)).unwrap()
            && snapshot.degree(1, hedgerow::Direction::Out).unwrap() == Some(1)
    );
    drop((snapshot, reader));
    assert_eq!(held_by(read()), LockHolder::ThisProcess, "a reader of before has not let it go");
}

#[test]
fn readers_share_a_store_and_exclude_writers() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let (read, write) =
        (|| crate::common::small().read_only(true).open(&path), || Options::new().open(&path));
    readers_exclude_writers([&read, &write]);
    let disk = SimFs::new();
    let read = || crate::common::small().read_only(true).open_on(disk.handle());
    readers_exclude_writers([&read, &|| crate::common::small().open_on(disk.handle())]);
}

#[test]
fn a_refused_writer_is_told_of_readers() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    crate::common::small().open(&path).unwrap().close().unwrap();
    let reader = crate::common::small().read_only(true).open(&path).unwrap();
    let message = crate::common::small().open(&path).err().map(|error| error.to_string());
    assert_eq!(message, Some(format!("{} is locked: this process has it open for reading", path.display())));
    // A call that only reads the directory succeeds concurrently with readers.
    hedgerow::salvage(&path, dir.path().join("salvaged")).unwrap();
    assert!(hedgerow::check_path(&path).unwrap().is_ok());
    drop(reader);
}

/// A check of a store that is open for reading verifies each byte of its segments. This includes bytes that
/// no read of the store needs, for example the key index.
#[test]
fn a_check_by_a_reader_verifies_every_byte_of_the_segments() {
    let disk = SimFs::new();
    let graph = crate::common::small().keys(hedgerow::KeyKind::U64).open_on(disk.handle()).unwrap();
    let edges: Vec<(u64, u64)> = (0..3_000).map(|v| (v * 7, v * 5 + 1)).collect();
    graph.insert_edges(&edges).unwrap();
    graph.checkpoint().unwrap();
    graph.close().unwrap();
    let files = disk.files();
    let (name, bytes) = files.iter().find(|(name, _)| name.ends_with(".csr")).unwrap();
    let checked = |disk: &SimFs| {
        crate::common::small()
            .create(false)
            .read_only(true)
            .open_on(disk.handle())
            .and_then(|graph| graph.check())
    };
    let report = checked(&disk).unwrap();
    assert!(report.is_ok() && report.segments == 1, "{report:?}");
    for at in (0..bytes.len() as u64).step_by(bytes.len() / 60) {
        let damaged = SimFs::from_files(&files);
        assert!(damaged.corrupt(name, at, 1 << (at % 8)));
        let found = checked(&damaged);
        let is_told = matches!(&found, Err(hedgerow::Error::Storage(hedgerow::StorageError::Corruption(_))));
        assert!(is_told, "byte {at} of {}: {found:?}", bytes.len());
    }
}
