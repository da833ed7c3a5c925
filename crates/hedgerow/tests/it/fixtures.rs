//! Stores of every format version, kept as files: each is opened, read, checked and upgraded by a write, for ever.

mod labels;
mod make;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hedgerow::io::{FORMAT_MAJOR, checksum::checksum64};
use hedgerow::{Error, Graph, OpenError, Options};
use hedgerow_testkit::{SimFs, explored};

type Files = BTreeMap<String, Vec<u8>>;

/// A stored fixture: its name, the files of the store, and what they hold.
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

/// The version in the header of a file.
fn major(bytes: &[u8]) -> u16 {
    u16::from_le_bytes([bytes[10], bytes[11]])
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
fn stores_of_every_version_open_read_and_check() {
    let all = fixtures();
    for version in 1..=FORMAT_MAJOR {
        let prefix = format!("v{version}-");
        let of_version = all.iter().filter(|f| f.name.starts_with(&prefix));
        let right = of_version.filter(|f| f.files.values().all(|bytes| major(bytes) == version));
        explored(&format!("stores of format version {version}"), right.count() as u64, 4);
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
fn stores_of_every_version_are_upgraded_by_a_write() {
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
        // Twice over: what recovery writes, and what a checkpoint writes.
        reads_as(&opened(&disk, fixture, true), fixture);
        let upgraded = disk.files();
        let manifest = upgraded.iter().find(|(name, _)| name.ends_with(".man")).unwrap();
        assert_eq!(major(manifest.1), FORMAT_MAJOR, "{}", fixture.name);
    }
}

#[test]
fn a_store_of_a_future_version_is_refused_by_name_and_number() {
    let mut refused = 0;
    for fixture in &fixtures() {
        for (name, bytes) in &fixture.files {
            let mut changed = fixture.files.clone();
            let mut later = bytes.clone();
            later[10..12].copy_from_slice(&(FORMAT_MAJOR + 1).to_le_bytes());
            let checksum = checksum64(&later[..56]);
            later[56..64].copy_from_slice(&checksum.to_le_bytes());
            if name.ends_with(".man") {
                // A manifest also ends with a checksum of all of it.
                let body = later.len() - 16;
                let hash = hedgerow::io::checksum::checksum128(&later[..body]);
                later[body..].copy_from_slice(&hash.to_le_bytes());
            }
            changed.insert(name.clone(), later);
            for read_only in [true, false] {
                let disk = SimFs::from_files(&changed);
                let error = Options::new().create(false).read_only(read_only).open_on(disk.handle()).err();
                let Some(Error::Open(OpenError::FutureVersion { file, found, supported })) = &error else {
                    panic!("{} {name}: {error:?}", fixture.name);
                };
                assert_eq!((file, found), (name, &(FORMAT_MAJOR + 1).to_string()));
                assert_eq!(*supported, FORMAT_MAJOR.to_string());
                let mut left = disk.files();
                left.remove("LOCK");
                assert_eq!(left, changed, "{} {name}: nothing is touched", fixture.name);
                refused += 1;
            }
        }
    }
    explored("files of a future version refused", refused, 40);
}

/// What the makers make is what the fixtures hold. With `HEDGEROW_FIXTURES` naming a directory they are written there:
/// that is how the fixtures of a version are made, once, before the version after it begins.
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
