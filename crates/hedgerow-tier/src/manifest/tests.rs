//! Tests of manifests: round trips, damage, names, and the files that an interrupted switch leaves.

use hedgerow_core::{GraphConfig, KeyKind, LabelId, Timestamp};
use hedgerow_io::checksum::{checksum64, checksum128};
use hedgerow_io::{CorruptionKind, FORMAT_MAJOR, FileError, FileId, FormatError, HEADER_BYTES, Lsn, StoreId};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::{PageId, SegmentInfo, TierError};

const STORE: StoreId = StoreId(*b"a store to test.");

fn config() -> GraphConfig {
    GraphConfig { directed: true, keys: KeyKind::Str, weighted: true, reverse: false }
}

fn page(label: u16, page: u32) -> PageId {
    PageId { label: LabelId(label), page }
}

fn segment(id: u64) -> LevelSegment {
    let info = SegmentInfo {
        file_id: FileId(id),
        bytes: 1000 + id,
        hash: u128::from(id) << 70 | 5,
        subgraphs: 3,
        vertices: 170,
        edges: 1 << 40,
        max_as_of: Timestamp(900),
        pages: Some((page(0, 3), page(7, 1))),
    };
    LevelSegment { level: 2, info }
}

/// Returns a manifest that uses every field.
fn full(sequence: u64) -> Manifest {
    Manifest {
        sequence,
        checkpoint: Timestamp(1000),
        durable_lsn: Lsn(123_456),
        next_vertex: 4711,
        next_file_id: FileId(20),
        segments: vec![segment(9), segment(4)],
        logs: vec![
            LogSegmentRef { id: FileId(2), first_lsn: Lsn(100) },
            LogSegmentRef { id: FileId(30), first_lsn: Lsn(100) },
        ],
        sections: vec![
            Section { tag: 1, version: 2, required: false, bytes: b"schema".to_vec() },
            Section { tag: 8, version: 0, required: false, bytes: Vec::new() },
        ],
        ..Manifest::new(STORE, config())
    }
}

fn load(fs: &SimFs) -> Result<Option<LoadedManifest>, TierError> {
    Manifest::load(&fs.handle())
}

fn loaded(fs: &SimFs) -> LoadedManifest {
    load(fs).unwrap().unwrap()
}

fn damage(result: Result<Option<LoadedManifest>, TierError>) -> CorruptionKind {
    match result {
        Err(error) => match error.corruption() {
            Some(corruption) => corruption.kind.clone(),
            None => panic!("not reported as damage: {error:?}"),
        },
        Ok(found) => panic!("damage went unnoticed: {found:?}"),
    }
}

fn manifest_strategy() -> impl Strategy<Value = Manifest> {
    let segments =
        proptest::collection::btree_map(0..1000u64, (any::<u8>(), any::<[u64; 5]>(), any::<u128>()), 0..20);
    let logs = vec((1u64..50, 0u64..1000), 0..6);
    let sections =
        proptest::collection::btree_map(any::<u32>(), (any::<u16>(), vec(any::<u8>(), 0..80)), 0..4);
    let fixed = (any::<[u64; 3]>(), any::<u32>(), 1000u64.., 1u64.., 0u8..3, any::<[bool; 3]>());
    (fixed, segments, logs, sections).prop_map(|(fixed, segments, logs, sections)| {
        let (numbers, next_vertex, next_file_id, sequence, kind, [directed, weighted, reverse]) = fixed;
        let (mut id, mut lsn) = (0, 0);
        let keys = KeyKind::from_byte(kind).unwrap();
        Manifest {
            store: StoreId(u128::from(numbers[2]).to_le_bytes()),
            config: GraphConfig { directed, keys, weighted, reverse: reverse || !directed },
            sequence,
            checkpoint: Timestamp(numbers[0]),
            durable_lsn: Lsn(numbers[1]),
            next_vertex,
            next_file_id: FileId(next_file_id),
            segments: segments
                .into_iter()
                .map(|(id, (level, [bytes, subgraphs, vertices, edges, as_of], hash))| {
                    let (file_id, max_as_of) = (FileId(id), Timestamp(as_of));
                    let pages = (subgraphs != 0)
                        .then(|| (page(u16::from(level), 9), page(u16::from(level), 9 + hash as u32 % 5)));
                    let info =
                        SegmentInfo { file_id, bytes, hash, subgraphs, vertices, edges, max_as_of, pages };
                    LevelSegment { level, info }
                })
                .collect(),
            logs: logs
                .into_iter()
                .map(|(more, further)| {
                    (id, lsn) = (id + more, lsn + further);
                    LogSegmentRef { id: FileId(id), first_lsn: Lsn(lsn) }
                })
                .collect(),
            sections: sections
                .into_iter()
                .map(|(tag, (version, bytes))| Section { tag, version, required: false, bytes })
                .collect(),
        }
    })
}

proptest! {
    #[test]
    fn any_manifest_comes_back(manifest in manifest_strategy()) {
        let fs = SimFs::new();
        manifest.store(&fs.handle()).unwrap();
        let found = loaded(&fs);
        prop_assert_eq!(&found.file, &manifest_name(manifest.sequence));
        prop_assert_eq!(found.manifest, manifest);
        prop_assert!(found.stray.is_empty());
    }

    /// A body with a correct checksum decodes to a manifest or to an error, whatever its bytes are.
    #[test]
    fn a_body_of_any_bytes_is_a_manifest_or_an_error(
        edits in vec((any::<prop::sample::Index>(), prop_oneof![any::<u32>(), Just(u32::MAX), Just(0)]), 1..4),
    ) {
        let mut bytes = full(3).encode();
        for (at, value) in edits {
            let at = HEADER_BYTES + at.index(bytes.len() - HEADER_BYTES - 20);
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        if let Ok(found) = Manifest::decode("m", &with_hash(bytes.clone()), 3) {
            prop_assert_eq!(found.encode(), with_hash(bytes));
        }
    }
}

/// Returns `bytes` with the correct checksum of the file.
fn with_hash(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 16;
    let hash = checksum128(&bytes[..end]);
    bytes[end..].copy_from_slice(&hash.to_le_bytes());
    bytes
}

#[test]
fn every_flipped_bit_is_noticed() {
    let fs = SimFs::new();
    full(3).store(&fs.handle()).unwrap();
    let bytes = fs.file(&manifest_name(3)).unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            fs.overwrite(&manifest_name(3), &damaged);
            damage(load(&fs));
        }
    }
}

#[test]
fn every_truncation_and_extension_is_noticed() {
    let fs = SimFs::new();
    full(3).store(&fs.handle()).unwrap();
    let bytes = fs.file(&manifest_name(3)).unwrap();
    for len in 0..bytes.len() {
        fs.overwrite(&manifest_name(3), &bytes[..len]);
        damage(load(&fs));
        if len >= HEADER_BYTES + 16 {
            fs.overwrite(&manifest_name(3), &with_hash(bytes[..len].to_vec()));
            assert!(matches!(damage(load(&fs)), CorruptionKind::Invalid(_)));
        }
    }
    for more in [1, 16, 4096] {
        let mut longer = bytes.clone();
        longer.resize(bytes.len() + more, 0);
        fs.overwrite(&manifest_name(3), &longer);
        damage(load(&fs));
        fs.overwrite(&manifest_name(3), &with_hash(longer));
        assert!(matches!(damage(load(&fs)), CorruptionKind::Invalid(_)));
    }
}

#[test]
fn hostile_counts_with_a_right_checksum_are_refused() {
    let fs = SimFs::new();
    full(3).store(&fs.handle()).unwrap();
    let bytes = fs.file(&manifest_name(3)).unwrap();
    // The three counts, and the length of the first section.
    let section_length = bytes.len() - 16 - 16 - 6 - 8;
    for (at, width) in [(104, 4), (108, 4), (112, 4), (section_length, 8)] {
        for value in [u64::MAX, 1 << 62, 1 << 31, 100] {
            let mut hostile = bytes.clone();
            hostile[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
            fs.overwrite(&manifest_name(3), &with_hash(hostile));
            assert!(matches!(damage(load(&fs)), CorruptionKind::Invalid(_)), "byte {at}, value {value}");
        }
    }
}

#[test]
fn a_damaged_manifest_is_never_replaced_by_an_older_one() {
    let fs = SimFs::new();
    full(3).store(&fs.handle()).unwrap();
    full(4).store(&fs.handle()).unwrap();
    assert_eq!(loaded(&fs).stray, [manifest_name(3)]);
    let mut damaged = fs.file(&manifest_name(4)).unwrap();
    damaged[100] ^= 1;
    fs.overwrite(&manifest_name(4), &damaged);
    assert!(matches!(damage(load(&fs)), CorruptionKind::FileChecksum { .. }));
    fs.overwrite(&manifest_name(4), &[]);
    assert!(matches!(damage(load(&fs)), CorruptionKind::Header(FormatError::Truncated { found: 0 })));
    // A manifest with the name of another one is also damaged.
    fs.overwrite(&manifest_name(4), &fs.file(&manifest_name(3)).unwrap());
    assert!(matches!(damage(load(&fs)), CorruptionKind::Header(FormatError::WrongFile { .. })));
}

#[test]
fn what_is_left_over_is_reported_and_its_ids_are_not_used_again() {
    let fs = SimFs::new();
    full(3).store(&fs.handle()).unwrap();
    full(4).store(&fs.handle()).unwrap();
    let temporary = format!("{}.tmp", manifest_name(5));
    for name in [&temporary, "LOCK", "notes.txt", "log-0000000000000001.wal", "seg-000000000000001f.csr"] {
        fs.put(name, b"unfinished");
    }
    fs.put("seg-0000000000000009.csr", &[]);
    let found = loaded(&fs);
    assert_eq!(found.stray, [manifest_name(3), temporary, "seg-000000000000001f.csr".to_owned()]);
    assert_eq!(found.manifest, Manifest { next_file_id: FileId(0x20), ..full(4) });
}

#[test]
fn only_an_empty_directory_can_become_a_store() {
    let fs = SimFs::new();
    assert_eq!(load(&fs).unwrap(), None);
    fs.put("LOCK", &[]);
    fs.put(&format!("{}.tmp", manifest_name(1)), &[1, 2, 3]);
    assert_eq!(load(&fs).unwrap(), None);
    for name in
        ["thesis.tex", "log-0000000000000001.wal", "seg-0000000000000001.csr", "manifest-1.man", "a.tmp"]
    {
        let fs = SimFs::new();
        fs.put(name, &[]);
        let error = load(&fs).unwrap_err();
        let TierError::NotAStore { entries, .. } = error else { panic!("{error:?}") };
        assert_eq!(entries, [name]);
    }
}

#[test]
fn another_format_is_named_with_its_version() {
    let supported = FORMAT_MAJOR;
    for found in (0..FORMAT_MAJOR).chain([7]) {
        let fs = SimFs::new();
        let mut bytes = full(3).encode();
        bytes[10] = found as u8;
        let sum = checksum64(&bytes[..HEADER_BYTES - 8]);
        bytes[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
        fs.put(&manifest_name(3), &with_hash(bytes));
        let error = load(&fs).unwrap_err();
        let TierError::File(FileError::Format { error, .. }) = error else { panic!("{error:?}") };
        let expected = match found {
            7 => FormatError::FutureVersion { found, supported },
            _ => FormatError::OldVersion { found, supported },
        };
        assert_eq!(error, expected);
    }
}

#[test]
fn a_section_that_must_be_understood_is_refused() {
    let fs = SimFs::new();
    let mut manifest = full(3);
    manifest.sections.push(Section { tag: 77, version: 4, required: true, bytes: vec![1] });
    manifest.store(&fs.handle()).unwrap();
    let error = load(&fs).unwrap_err();
    assert!(matches!(error, TierError::UnknownSection { tag: 77, version: 4, .. }), "{error:?}");
}

#[test]
fn manifests_that_break_a_rule_are_not_stored() {
    type Break = fn(&mut Manifest);
    let breaks: [Break; 9] = [
        |m| m.sequence = 0,
        |m| m.segments.push(segment(4)),
        |m| m.segments.push(segment(20)),
        |m| m.segments[0].info.pages = None,
        |m| m.segments[0].info.subgraphs = 0,
        |m| m.logs.swap(0, 1),
        |m| m.logs[0].first_lsn = Lsn(101),
        |m| m.logs[1].id = m.logs[0].id,
        |m| m.sections.swap(0, 1),
    ];
    let fs = SimFs::new();
    for break_it in breaks {
        let mut manifest = full(1);
        break_it(&mut manifest);
        assert!(matches!(manifest.store(&fs.handle()), Err(TierError::InvalidManifest { .. })));
    }
    assert_eq!(fs.op_count(), 0);
}

#[test]
fn a_manifest_is_never_written_over() {
    let fs = SimFs::new();
    full(4).store(&fs.handle()).unwrap();
    for sequence in [3, 4] {
        assert!(matches!(full(sequence).store(&fs.handle()), Err(TierError::ManifestNotNext { .. })));
    }
    assert_eq!(loaded(&fs).manifest, full(4));
}

/// A thread that opens a store reads the manifest without the lock, whose owner may switch manifests.
#[test]
fn a_reader_without_a_lock_finds_a_manifest_beside_switches() {
    let fs = SimFs::new();
    full(1).store(&fs.handle()).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for sequence in 2..400 {
                full(sequence).store(&fs.handle()).unwrap();
                full(sequence).remove_older(&fs.handle()).unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let mut last = 0;
        while !done.load(std::sync::atomic::Ordering::Relaxed) {
            let found = Manifest::look(&fs.handle()).unwrap().unwrap().manifest.sequence;
            assert!(found >= last, "{found} after {last}");
            last = found;
        }
    });
}

#[test]
fn the_switch_keeps_its_order() {
    let fs = SimFs::new();
    full(3).store(&fs.handle()).unwrap();
    let sites = |work: &dyn Fn()| -> Vec<String> {
        fs.operations_of(work).into_iter().map(|(_, site)| site.to_string()).collect()
    };
    let store = sites(&|| full(4).store(&fs.handle()).unwrap());
    assert_eq!(store, ["create:tmp", "write:tmp", "sync_all:tmp", "rename:man", "sync_dir:dir"]);
    assert!(fs.files().into_keys().eq([manifest_name(3), manifest_name(4)]));
    let remove = sites(&|| assert_eq!(full(4).remove_older(&fs.handle()).unwrap(), 1));
    assert_eq!(remove, ["unlink:man", "sync_dir:dir"]);
    assert!(fs.files().into_keys().eq([manifest_name(4)]));
    assert_eq!(full(4).remove_older(&fs.handle()).unwrap(), 0);
    assert_eq!(sites(&|| drop(loaded(&fs))), ["sync_dir:dir"], "finding it makes its name durable");
}

#[test]
fn a_switch_that_fails_says_whether_the_old_manifest_holds() {
    for errno in [errno::ENOSPC, errno::EIO] {
        for fail_at in 0..5 {
            let fs = SimFs::new();
            full(3).store(&fs.handle()).unwrap();
            let at = fs.op_count() + fail_at;
            fs.plan_fault(Fault {
                class: FaultClass::Change,
                at,
                site: None,
                repeat: Repeat::Forever,
                errno,
            });
            let result = full(4).store(&fs.handle());
            fs.clear_faults();
            let unknown = matches!(result, Err(TierError::SwitchUnknown { .. }));
            let renamed = loaded(&fs).manifest == full(4);
            let disk_full = errno == errno::ENOSPC;
            assert_eq!(
                unknown,
                fail_at == 4 || (fail_at == 3 && !disk_full),
                "operation {fail_at}: {result:?}"
            );
            assert!(result.is_err() && (unknown || !renamed));
            // After the faults end, the next switch succeeds, whatever files are left.
            full(5).store(&fs.handle()).unwrap();
            assert_eq!(loaded(&fs).manifest, full(5));
        }
    }
}

#[test]
fn a_temporary_file_of_the_same_number_is_in_nobodys_way() {
    let fs = SimFs::new();
    fs.put(&format!("{}.tmp", manifest_name(1)), &[0xee; 9000]);
    full(1).store(&fs.handle()).unwrap();
    assert_eq!(loaded(&fs).manifest, full(1));
    fs.put(&format!("{}.tmp", manifest_name(2)), &[]);
    assert_eq!(full(1).remove_older(&fs.handle()).unwrap(), 1);
    assert!(fs.files().into_keys().eq([manifest_name(1)]));
}

#[test]
fn names_of_store_files_stay_in_their_directory() {
    for name in [
        "a.wal",
        "seg-0000000000000001.csr",
        "manifest-0000000000000001.man",
        &format!("{}.man", "x".repeat(64)),
    ] {
        assert!(is_store_file_name(name), "{name}");
    }
    let long = format!("{}.man", "x".repeat(65));
    for name in [
        "",
        ".wal",
        "a",
        "a.txt",
        "a.wal.",
        "a.wal.tmp",
        "../a.wal",
        "/a.wal",
        "A.wal",
        "a_b.csr",
        "ä.csr",
        "a.b.man",
        "a\0.man",
        &long,
    ] {
        assert!(!is_store_file_name(name), "{name:?}");
    }
    assert!(is_store_file_name(&manifest_name(u64::MAX)));
    assert!(is_store_file_name(&crate::segment::segment_name(FileId(u64::MAX))));
    assert_eq!(names::manifest_number("manifest-000000000000001F.man"), None);
    assert_eq!(names::manifest_number("manifest-+00000000000001f.man"), None);
    assert_eq!(names::manifest_number("manifest-000000000000001f.man"), Some(31));
}
