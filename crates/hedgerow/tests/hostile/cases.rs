//! Hostile stores, case by case.

use hedgerow::Options;
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};
use hedgerow_testkit::{Forge, Part, SegmentLayout, SimFs, explored};

use crate::judge::{self, Verdict};
use crate::places::{self, Place};
use crate::stores::{self, Files, Store};

/// A store that the opening must refuse.
pub(crate) struct Case {
    pub(crate) what: String,
    pub(crate) files: Files,
}

/// Writes each forbidden value to each number after `base` in `file`, with correct checksums.
fn numbers(
    (store, forge): (&Store, &Forge),
    (structure, file, base): (&str, &str, usize),
    places: &[(Place, &[u64])],
    cases: &mut Vec<Case>,
) {
    for ((at, width, name), values) in places {
        for &value in *values {
            let files = forge.with(&[(file, base + at, *width, value)]);
            if files != store.files {
                cases.push(Case { what: format!("{file}: {structure}: {name} {value}"), files });
            }
        }
    }
}

/// Makes the cases of numbers in files.
pub(crate) fn of_numbers(store: &Store) -> Vec<Case> {
    let forge = Forge::new(&store.files);
    let both = (store, &forge);
    let mut cases = Vec::new();
    let (man, wal, csr) = (store.file(".man"), store.file(".wal"), store.file(".csr"));
    for file in [man, wal, csr] {
        numbers(both, ("header", file, 0), &places::HEADER, &mut cases);
    }
    numbers(both, ("manifest", man, 0), &places::MANIFEST, &mut cases);
    numbers(both, ("manifest", man, 0), &places::SEGMENT_ENTRY, &mut cases);
    numbers(both, ("manifest", man, 0), &places::LOG_ENTRY, &mut cases);
    numbers(both, ("preamble", wal, 0), &places::PREAMBLE, &mut cases);
    numbers(both, ("frame", wal, 128), &places::FRAME, &mut cases);
    let operations = forge.places(wal, Part::Operations).first().map(|place| place.0);
    numbers(both, ("operations", wal, operations.expect("operations")), &places::RUN, &mut cases);
    of_segment(both, csr, &mut cases);
    of_lengths(both, csr, &mut cases);
    cases
}

/// Makes the cases of numbers in a segment: in every structure of its first page and of its last page.
fn of_segment((store, forge): (&Store, &Forge), csr: &str, cases: &mut Vec<Case>) {
    let layout = SegmentLayout::of(&store.files[csr]).expect("a segment of the format of today");
    let mut all = vec![("footer".to_owned(), layout.footer.start, &places::FOOTER[..])];
    let last = layout.pages.len() - 1;
    for (number, page) in layout.pages.iter().enumerate().filter(|(i, _)| [0, last].contains(i)) {
        let image = &page.images[0];
        let block = &layout.blocks[page.blocks.start];
        let keys = image.keys.first().map(|keys| ("keys", keys.start, &places::KEYS[..]));
        let parts = forge.places(csr, Part::PartHead).into_iter().map(|place| place.0);
        let part = parts.filter(|at| image.topology.contains(at)).min();
        let part = part.map(|at| ("part", at, &places::PART[..]));
        let structures = [
            ("entry of the top index", page.entry.start, &places::TOP_INDEX[..]),
            ("directory", page.directory.start, &places::DIRECTORY[..]),
            ("entry of the directory", image.entry.start, &places::DIRECTORY_ENTRY[..]),
            ("block", block.bytes.start, &places::BLOCK[..]),
            ("record", image.topology.start, &places::IMAGE[..]),
        ];
        let structures = structures.into_iter().chain(keys).chain(part);
        all.extend(structures.map(|(name, at, places)| (format!("{name} of page {number}"), at, places)));
    }
    for (structure, at, places) in &all {
        numbers((store, forge), (structure, csr, *at), places, cases);
    }
}

/// Makes cases in which the directory gives a record's length as one byte too long or too short. The record
/// then ends beyond its block, or in the next record.
fn of_lengths((store, forge): (&Store, &Forge), csr: &str, cases: &mut Vec<Case>) {
    let layout = SegmentLayout::of(&store.files[csr]).expect("a segment of the format of today");
    for image in layout.pages.iter().flat_map(|page| &page.images) {
        let lengths = forge.places(csr, Part::Directory).into_iter();
        // The lengths follow the number of edges.
        let from = image.entry.start + 22;
        for (at, width) in lengths.filter(|(at, _)| (from..image.entry.end).contains(at)) {
            let mut raw = [0; 8];
            raw[..width].copy_from_slice(&store.files[csr][at..at + width]);
            let length = u64::from_le_bytes(raw);
            for value in [length + 1, length.wrapping_sub(1)] {
                let files = forge.with(&[(csr, at, width, value)]);
                cases.push(Case {
                    what: format!("{csr}: length at {at} is {value} instead of {length}"),
                    files,
                });
            }
        }
    }
}

/// Makes the cases of lists: wrong order, duplicates, missing endpoints, directions that disagree.
pub(crate) fn of_lists(store: &Store) -> Vec<Case> {
    let forge = Forge::new(&store.files);
    let csr = store.file(".csr");
    let mut cases = Vec::new();
    let mut one = |what: String, changes: &[(&str, usize, usize, u64)]| {
        let files = forge.with(changes);
        if files != store.files {
            cases.push(Case { what, files });
        }
    };
    // The changes give first neighbors that are no vertices, impossible widths of gaps, and gaps that lead
    // too far or follow the last one.
    for (i, &(at, width)) in forge.places(csr, Part::Neighbors).iter().enumerate().step_by(3) {
        let max = u64::MAX >> (64 - 8 * width);
        for value in [63, 64, 127, 0x80, 0xff, max].into_iter().filter(|value| *value <= max) {
            one(format!("byte {i} of lists is {value}"), &[(csr, at, width, value)]);
        }
    }
    for (i, &(at, width)) in forge.places(csr, Part::Degrees).iter().enumerate().step_by(4) {
        for value in [0, 255] {
            one(format!("degree {i} is {value}"), &[(csr, at, width, value)]);
        }
    }
    for (i, &(at, width)) in forge.places(csr, Part::Values).iter().enumerate().step_by(5) {
        one(format!("weight {i} is not a number"), &[(csr, at, width, f64::NAN.to_bits())]);
        one(format!("weight {i} differs from the other side's"), &[(csr, at, width, 12345)]);
    }
    let keys = forge.places(csr, Part::Keys);
    if let [(a, 8), (b, 8), ..] = keys[..] {
        let value = u64::from_le_bytes(store.files[csr][a..a + 8].try_into().unwrap());
        one("two vertices with one key".into(), &[(csr, b, 8, value)]);
    }
    cases
}

/// Makes the cases of directories: missing files, duplicated files, files of other stores or other times, and
/// unknown names.
fn of_directories(store: &Store, other: &Store) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case = |what: &str, change: &dyn Fn(&mut Files)| {
        let mut files = store.files.clone();
        change(&mut files);
        cases.push(Case { what: what.to_owned(), files });
    };
    let (man, wal, csr) = (store.file(".man"), store.file(".wal"), store.file(".csr"));
    for name in [man, wal, csr] {
        case(&format!("without {name}"), &|files| _ = files.remove(name));
        case(&format!("{name} empty"), &|files| _ = files.insert(name.into(), Vec::new()));
        case(&format!("{name} of zeros"), &|files| _ = files.insert(name.into(), vec![0; 5000]));
        case(&format!("{name} of noise"), &|files| _ = files.insert(name.into(), vec![0xa5; 5000]));
        case(&format!("{name} twice over"), &|files| {
            let bytes = files[name].clone();
            files.get_mut(name).unwrap().extend(bytes);
        });
    }
    for (name, of) in [(man, ".man"), (wal, ".wal"), (csr, ".csr")] {
        case(&format!("{name} of another store"), &|files| {
            _ = files.insert(name.into(), other.files[other.file(of)].clone());
        });
    }
    case("a copy of the manifest under the next number", &|files| {
        let next = u64::from_str_radix(&man[9..25], 16).unwrap() + 1;
        files.insert(format!("manifest-{next:016x}.man"), files[man].clone());
    });
    case("an empty manifest with a large number", &|files| {
        files.insert("manifest-ffffffffffffffff.man".into(), Vec::new());
    });
    case("the first manifest again, alone", &|files| {
        files.remove(man);
        let forge = Forge::new(&store.files);
        let zero = [(80, 8), (88, 8), (104, 4), (108, 4), (112, 4)];
        let mut changes: Vec<_> = zero.iter().map(|&(at, width)| (man, at, width, 0)).collect();
        changes.extend([(man, 48, 8, 1), (man, 64, 8, 1)]);
        let mut bytes = forge.with(&changes)[man].clone();
        bytes.truncate(120);
        let hash = hedgerow::io::checksum::checksum128(&bytes);
        bytes.extend(hash.to_le_bytes());
        files.insert("manifest-0000000000000001.man".into(), bytes);
    });
    for (when, earlier) in store.earlier.iter().enumerate() {
        let manifest = earlier.keys().find(|name| name.ends_with(".man")).unwrap().clone();
        if manifest != man {
            case(&format!("the manifest of commit {when} instead of the last"), &|files| {
                files.remove(man);
                files.insert(manifest.clone(), earlier[&manifest].clone());
            });
        }
    }
    cases
}

/// Makes directories with additional files that are not part of the store and must have no effect.
fn harmless(store: &Store, other: &Store) -> Vec<Case> {
    let extra = [
        ("a manifest that was being written", "manifest-00000000000000ff.man.tmp", vec![0xa5; 40]),
        ("a segment that was being written", "seg-00000000000000ff.csr", vec![0xa5; 4000]),
        ("a manifest spelt otherwise", "manifest-00000000000000FF.man", vec![1]),
        ("a manifest without digits", "manifest-.man", vec![1]),
        ("a name with a path in it", "..%2f..%2fetc", vec![1]),
        ("a dotted name", "...", vec![1]),
        ("somebody's notes", "notes.txt", b"hello".to_vec()),
        ("an editor's copy", "manifest-0000000000000003.man~", vec![1]),
        ("something in the lock", "LOCK", vec![1, 2, 3]),
        ("a log of another store", "log-00000000000000ff.wal", other.files[other.file(".wal")].clone()),
        ("a log of zeros", "log-00000000000000fe.wal", vec![0; 4096]),
        ("an older manifest", "manifest-0000000000000001.man", vec![0xa5; 300]),
    ];
    extra
        .into_iter()
        .map(|(what, name, bytes)| {
            let mut files = store.files.clone();
            files.insert(name.to_owned(), bytes);
            Case { what: what.to_owned(), files }
        })
        .collect()
}

#[test]
fn hostile_stores_are_refused() {
    let _alone = crate::alone();
    let (stores, others) = (stores::all(3), stores::all(4));
    let (mut refused, mut reported, mut right, mut taken) = (0, 0, 0, Vec::new());
    for (store, other) in stores.iter().zip(&others).filter(|(store, _)| store.closed) {
        let mut cases = of_numbers(store);
        cases.extend(of_lists(store));
        cases.extend(of_directories(store, other));
        for Case { what, files } in &cases {
            for read_only in [true, false] {
                let verdict = judge::open(store, files, read_only, &|| what.clone());
                match verdict {
                    Verdict::Refused => refused += 1,
                    // No single page shows the fault, for example an edge at one endpoint only: `check` finds
                    // it.
                    Verdict::Reported => reported += 1,
                    // An earlier manifest may lead to the same state by replay of more of the log. No other
                    // file confirms the data in a log's first segment about the segment before it. Every
                    // number in a checkpoint segment is compared with another file.
                    Verdict::Right if !what.starts_with("seg-") => right += 1,
                    _ => taken.push(format!("{}: {what}: {verdict:?}", store.name)),
                }
            }
        }
    }
    assert!(taken.is_empty(), "{} were not refused: {taken:#?}", taken.len());
    explored("hostile stores refused", refused / 2, 1_500);
    assert!(reported < refused / 20, "{reported} were found by nothing but the check of a store");
    assert!(right < refused / 20, "{right} were read as if nothing were wrong");
}

#[test]
fn what_lies_beside_a_store_does_not_matter() {
    let _alone = crate::alone();
    let (stores, others) = (stores::all(3), stores::all(4));
    let mut right = 0;
    for (store, other) in stores.iter().zip(&others) {
        for Case { what, files } in &harmless(store, other) {
            for read_only in [true, false] {
                let verdict = judge::open(store, files, read_only, &|| what.clone());
                assert_eq!(verdict, Verdict::Right, "{}: {what}", store.name);
            }
            right += 1;
        }
    }
    explored("stores with something beside them", right, 50);
}

/// A store in a read-only directory can be read, and the reader makes no lock file.
#[test]
fn a_read_only_directory_is_read() {
    let _alone = crate::alone();
    for store in &stores::all(5) {
        for lock in [true, false] {
            let mut files = store.files.clone();
            if !lock {
                files.remove("LOCK");
            }
            let disk = SimFs::from_files(&files);
            for errno in [errno::EROFS, errno::EMFILE] {
                let fault =
                    Fault { class: FaultClass::Change, at: 0, site: None, repeat: Repeat::Forever, errno };
                disk.plan_fault(fault);
                let graph = store.options().read_only(true).open_on(disk.handle()).unwrap();
                assert!(graph.check().unwrap().is_ok());
                drop(graph);
                assert!(Options::new().open_on(disk.handle()).is_err(), "not for writing");
                disk.clear_faults();
            }
            assert_eq!(disk.files(), files, "{}: nothing is touched", store.name);
        }
    }
}

/// The store refuses links, devices, pipes and directories under the names of its files, on a real file
/// system.
#[test]
#[allow(clippy::disallowed_methods, reason = "prepares directories that the store must refuse")]
fn special_files_are_refused() {
    let _alone = crate::alone();
    let store = &stores::all(6)[0];
    let scratch = tempfile::tempdir().unwrap();
    let mut refused = 0;
    let names: Vec<&String> = store.files.keys().collect();
    for (i, name) in names.iter().enumerate() {
        for (j, special) in
            ["link", "dangling", "loop", "device", "pipe", "directory"].into_iter().enumerate()
        {
            let path = scratch.path().join(format!("{i}-{j}"));
            std::fs::create_dir(&path).unwrap();
            for (other, bytes) in &store.files {
                std::fs::write(path.join(other), bytes).unwrap();
            }
            let file = path.join(name);
            let aside = scratch.path().join(format!("{i}-{j}-aside"));
            std::fs::rename(&file, &aside).unwrap();
            match special {
                "link" => std::os::unix::fs::symlink(&aside, &file).unwrap(),
                "dangling" => std::os::unix::fs::symlink("nowhere", &file).unwrap(),
                "loop" => std::os::unix::fs::symlink(&file, &file).unwrap(),
                "device" => std::os::unix::fs::symlink("/dev/zero", &file).unwrap(),
                "pipe" => {
                    let made = std::process::Command::new("mkfifo").arg(&file).status();
                    if !made.is_ok_and(|status| status.success()) {
                        println!("no pipes can be made here: left out");
                        continue;
                    }
                }
                _ => std::fs::create_dir(&file).unwrap(),
            }
            for read_only in [true, false] {
                let error = store.options().read_only(read_only).open(&path).err();
                assert!(error.is_some(), "{name} is a {special}, read-only {read_only}");
                refused += 1;
            }
        }
    }
    explored("special files refused", refused, 40);
}
