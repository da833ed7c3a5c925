//! Stores in format 5 that older programs wrote, kept as files. The tests open, read and check each of them,
//! and write to it. Every later program must pass them.

mod labels;
mod make;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hedgerow::io::{FORMAT_MAJOR, checksum::checksum64, checksum::checksum128};
use hedgerow::{Error, Graph, OpenError, Options};
use hedgerow_testkit::{SimFs, explored};

type Files = BTreeMap<String, Vec<u8>>;

/// A stored fixture: its name, the files of the store, and a text of its content.
struct Fixture {
    name: String,
    files: Files,
    content: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

#[allow(clippy::disallowed_methods, reason = "fixtures are files of the repository")]
fn fixtures() -> Vec<Fixture> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()) {
        if !entry.is_dir() {
            continue;
        }
        let files = std::fs::read_dir(entry.join("store")).unwrap().map(|file| {
            let file = file.unwrap();
            (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())
        });
        found.push(Fixture {
            name: entry.file_name().unwrap().to_str().unwrap().to_owned(),
            files: files.collect(),
            content: std::fs::read_to_string(entry.join("content.txt")).unwrap(),
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn reads_as(graph: &Graph, fixture: &Fixture) {
    assert_eq!(labels::describe(&graph.snapshot().unwrap()), fixture.content, "{}", fixture.name);
    let report = graph.check().unwrap();
    assert!(report.is_ok(), "{}: {report:?}", fixture.name);
}

fn opened(disk: &SimFs, fixture: &Fixture, read_only: bool) -> Graph {
    let options = Options::new().create(false).read_only(read_only);
    options.open_on(disk.handle()).unwrap_or_else(|e| panic!("{}: {e}", fixture.name))
}

#[test]
fn stores_of_every_day_open_read_and_check() {
    let all = fixtures();
    for (day, least) in [("v5", 8), ("v5k", 3)] {
        let of_day = all.iter().filter(|f| f.name.split_once('-').is_some_and(|(d, _)| d == day));
        explored(&format!("stores of the day {day}"), of_day.count() as u64, least);
    }
    for fixture in &all {
        let disk = SimFs::from_files(&fixture.files);
        reads_as(&opened(&disk, fixture, true), fixture);
        let mut left = disk.files();
        left.remove("LOCK");
        assert_eq!(left, fixture.files, "{}: reading changes nothing", fixture.name);
    }
}

#[test]
fn stores_of_every_day_are_written_on() {
    for fixture in &fixtures() {
        let disk = SimFs::from_files(&fixture.files);
        let graph = opened(&disk, fixture, false);
        reads_as(&graph, fixture);
        let before = graph.snapshot().unwrap().vertex_count();
        let fresh = match graph.config().keys {
            hedgerow::KeyKind::Str => hedgerow::VertexKey::from("fresh"),
            _ => hedgerow::VertexKey::U64(1000),
        };
        let mut tx = graph.write().unwrap();
        assert!(tx.insert_vertex(&fresh).unwrap());
        tx.commit().unwrap();
        graph.close().unwrap();
        let graph = opened(&disk, fixture, false);
        assert_eq!(graph.snapshot().unwrap().vertex_count(), before + 1);
        let mut tx = graph.write().unwrap();
        assert!(tx.remove_vertex(&fresh).unwrap());
        tx.commit().unwrap();
        graph.checkpoint().unwrap();
        graph.close().unwrap();
        // The test reads the store twice: with the files of recovery, and with the files of a checkpoint.
        reads_as(&opened(&disk, fixture, true), fixture);
    }
}

/// Returns the file `name` with another version in its header, and with right checksums.
fn of_version(name: &str, bytes: &[u8], version: u16) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    changed[10..12].copy_from_slice(&version.to_le_bytes());
    let checksum = checksum64(&changed[..56]);
    changed[56..64].copy_from_slice(&checksum.to_le_bytes());
    if name.ends_with(".man") {
        // A manifest also ends with a checksum of the whole file.
        let body = changed.len() - 16;
        let hash = checksum128(&changed[..body]);
        changed[body..].copy_from_slice(&hash.to_le_bytes());
    }
    changed
}

#[test]
fn a_store_of_another_version_is_refused_by_name_and_number() {
    let mut refused = 0;
    for fixture in &fixtures() {
        let versions = (0..FORMAT_MAJOR).chain([FORMAT_MAJOR + 1]);
        let files = versions.flat_map(|version| fixture.files.iter().map(move |file| (version, file)));
        for (version, (name, bytes)) in files {
            let mut changed = fixture.files.clone();
            changed.insert(name.clone(), of_version(name, bytes, version));
            for read_only in [true, false] {
                let disk = SimFs::from_files(&changed);
                let error = Options::new().create(false).read_only(read_only).open_on(disk.handle()).err();
                let (file, found, supported) = match error {
                    Some(Error::Open(OpenError::OldVersion { file, found, supported })) => {
                        assert!(found < supported);
                        (file, found.to_string(), supported.to_string())
                    }
                    Some(Error::Open(OpenError::FutureVersion { file, found, supported })) => {
                        assert_eq!(version, FORMAT_MAJOR + 1);
                        (file, found, supported)
                    }
                    other => panic!("{} {name}: {other:?}", fixture.name),
                };
                assert_eq!((&file, found, supported), (name, version.to_string(), FORMAT_MAJOR.to_string()));
                let mut left = disk.files();
                left.remove("LOCK");
                assert_eq!(left, changed, "{} {name}: nothing is touched", fixture.name);
                refused += 1;
            }
        }
    }
    explored("files of another version refused", refused, 400);
}

/// Salvage also names the version if no file has a version that it can read.
#[test]
fn a_salvage_names_another_version() {
    for version in (0..FORMAT_MAJOR).chain([FORMAT_MAJOR + 1]) {
        let files = &fixtures()[0].files;
        let files = files.iter().map(|(name, bytes)| (name.clone(), of_version(name, bytes, version)));
        let (disk, into) = (SimFs::from_files(&files.collect()), SimFs::new());
        let error = hedgerow::salvage_on(disk.handle(), into.handle()).unwrap_err();
        let named = match &error {
            Error::Open(OpenError::OldVersion { found, .. }) => *found == version,
            Error::Open(OpenError::FutureVersion { found, .. }) => *found == version.to_string(),
            _ => false,
        };
        assert!(named, "{error:?}");
        assert!(into.files().is_empty());
    }
}

/// The makers produce exactly the fixtures. If `HEDGEROW_FIXTURES` names a directory, the test writes the
/// results there. A developer does this once, before a change of the content of files, to make new fixtures.
#[test]
fn the_makers_agree_with_the_fixtures() {
    let all = fixtures();
    let mut made = Vec::new();
    for spec in make::PLAIN {
        made.push((spec.name, spec.make().unwrap()));
    }
    for spec in labels::LABELLED {
        made.push((spec.name, labels::make(&spec).unwrap()));
    }
    made.push(("kinds", labels::kinds().unwrap()));
    made.push(("several-segments", make::several_segments().unwrap()));
    let target = std::env::var_os("HEDGEROW_FIXTURES");
    for (name, (files, content)) in made {
        if let Some(target) = &target {
            save(&Path::new(target).join(format!("v{FORMAT_MAJOR}-{name}")), &files, &content);
        } else {
            let stored = all.iter().filter(|f| f.name.split_once('-').is_some_and(|(_, n)| n == name));
            assert!(stored.map(|f| assert_eq!(f.content, content, "{}", f.name)).count() >= 1, "{name}");
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "fixtures are files of the repository")]
fn save(dir: &Path, files: &Files, content: &str) {
    std::fs::create_dir_all(dir.join("store")).unwrap();
    for (name, bytes) in files.iter().filter(|(name, _)| *name != "LOCK" && *name != "RESERVE") {
        std::fs::write(dir.join("store").join(name), bytes).unwrap();
    }
    std::fs::write(dir.join("content.txt"), content).unwrap();
}
