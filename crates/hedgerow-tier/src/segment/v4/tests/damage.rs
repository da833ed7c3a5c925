//! Damaged, foreign, stale and hostile files: always a typed error, never an image.

use hedgerow_core::KeyKind;
use hedgerow_io::checksum::{checksum64, checksum128};
use hedgerow_io::{CorruptionKind, FORMAT_MAJOR, FileError, FormatError, HEADER_BYTES};
use proptest::prelude::*;

use super::super::block::{BLOCK_BYTES, region_checksum};
use super::super::encode::encode;
use super::super::index::{ENTRY_BYTES, Entry, FOOTER_BODY, FOOTER_BYTES};
use super::super::record::decode;
use super::images::{dense_image, rich_image, segment_strategy, star_image, weighted_image};
use super::*;

/// A file system with one small segment, its description and its bytes.
fn small() -> (SimFs, SegmentInfo, Vec<u8>) {
    let fs = SimFs::new();
    let mut last = rich_image();
    last.id = SubgraphId(77);
    let info = write(&fs, config(KeyKind::U64, true), &[weighted_image(), last]);
    let bytes = fs.file(&segment_name(FILE)).unwrap();
    (fs, info, bytes)
}

fn kind_of(result: Result<Vec<SubgraphImage>, TierError>) -> CorruptionKind {
    match result {
        Err(error) => match error.corruption() {
            Some(corruption) => {
                assert_eq!(corruption.file, segment_name(FILE));
                corruption.kind.clone()
            }
            None => panic!("not reported as damage: {error:?}"),
        },
        Ok(_) => panic!("damage went unnoticed"),
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let (fs, info, bytes) = small();
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            fs.overwrite(&segment_name(FILE), &damaged);
            kind_of(read_all(&fs, &info));
            let whole = reader.verify_whole();
            let kind = &whole.as_ref().unwrap_err().corruption().unwrap().kind;
            assert!(matches!(kind, CorruptionKind::FileChecksum { .. }), "byte {at}");
        }
    }
    fs.overwrite(&segment_name(FILE), &bytes);
    assert_eq!(read_all(&fs, &info).unwrap().len(), 2);
}

#[test]
fn every_overwritten_run_is_noticed() {
    let (fs, info, bytes) = small();
    for at in 0..bytes.len() {
        for (len, value) in [(1, 0), (8, 0), (8, 0xff), (64, 0), (64, 0xff)] {
            let mut damaged = bytes.clone();
            damaged.iter_mut().skip(at).take(len).for_each(|byte| *byte = value);
            if damaged != bytes {
                fs.overwrite(&segment_name(FILE), &damaged);
                kind_of(read_all(&fs, &info));
            }
        }
    }
}

#[test]
fn every_truncation_and_extension_is_noticed() {
    let (fs, info, bytes) = small();
    for len in 0..bytes.len() {
        fs.overwrite(&segment_name(FILE), &bytes[..len]);
        let kind = kind_of(read_all(&fs, &info));
        assert!(matches!(kind, CorruptionKind::Truncated { .. }), "{len}: {kind:?}");
        // Even if whatever describes the file believes the length.
        kind_of(read_all(&fs, &SegmentInfo { bytes: len as u64, ..info }));
    }
    for more in [1, 8, 112, 65_536] {
        let mut longer = bytes.clone();
        longer.resize(bytes.len() + more, 0);
        fs.overwrite(&segment_name(FILE), &longer);
        let kind = kind_of(read_all(&fs, &info));
        assert!(matches!(kind, CorruptionKind::Mismatch { what: "file size", .. }), "{kind:?}");
        kind_of(read_all(&fs, &SegmentInfo { bytes: longer.len() as u64, ..info }));
    }
}

#[test]
fn a_file_cut_while_open_is_damage() {
    let (fs, info, bytes) = small();
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    fs.overwrite(&segment_name(FILE), &bytes[..100]);
    assert!(matches!(
        reader.read(0).unwrap_err().corruption().unwrap().kind,
        CorruptionKind::Truncated { .. }
    ));
    assert!(reader.verify_whole().unwrap_err().corruption().is_some());
}

#[test]
fn blocks_of_another_place_or_file_are_noticed() {
    let fs = SimFs::new();
    let images = [star_image(1, 50_000), star_image(2, 50_000)];
    let info = write(&fs, config(KeyKind::Dense, false), &images);
    let other = write_as(&fs, FileId(8), STORE, config(KeyKind::Dense, false), &images);
    assert_eq!(info.bytes, other.bytes);
    let (bytes, foreign) =
        (fs.file(&segment_name(FILE)).unwrap(), fs.file(&segment_name(FileId(8))).unwrap());
    let block = |number: usize| {
        let from = HEADER_BYTES + number * BLOCK_BYTES as usize;
        from..from + BLOCK_BYTES as usize
    };
    let mut swapped = bytes.clone();
    swapped[block(2)].copy_from_slice(&bytes[block(3)]);
    swapped[block(3)].copy_from_slice(&bytes[block(2)]);
    let mut misdirected = bytes.clone();
    misdirected[block(2)].copy_from_slice(&foreign[block(2)]);
    for damaged in [swapped, misdirected] {
        fs.overwrite(&segment_name(FILE), &damaged);
        let error = read_all(&fs, &info).unwrap_err();
        let corruption = error.corruption().unwrap();
        assert_eq!(corruption.offset, block(2).start as u64);
        assert!(matches!(corruption.kind, CorruptionKind::Checksum { .. }));
    }
}

#[test]
fn a_foreign_file_with_the_right_name_is_noticed() {
    let (fs, info, bytes) = small();
    let image = || {
        let mut last = rich_image();
        last.id = SubgraphId(77);
        [weighted_image(), last]
    };
    let elsewhere = SimFs::new();
    write_as(&elsewhere, FILE, StoreId([9; 16]), config(KeyKind::U64, true), &image());
    fs.overwrite(&segment_name(FILE), &elsewhere.file(&segment_name(FILE)).unwrap());
    let kind = kind_of(read_all(&fs, &info));
    assert!(matches!(kind, CorruptionKind::Header(FormatError::WrongStore { .. })), "{kind:?}");
    write_as(&fs, FileId(8), STORE, config(KeyKind::U64, true), &image());
    fs.overwrite(&segment_name(FILE), &fs.file(&segment_name(FileId(8))).unwrap());
    let kind = kind_of(read_all(&fs, &info));
    assert!(matches!(kind, CorruptionKind::Header(FormatError::WrongFile { .. })), "{kind:?}");
    let mut other_kind = bytes.clone();
    other_kind[8] = 3;
    fs.overwrite(&segment_name(FILE), &with_header_checksum(other_kind));
    let kind = kind_of(read_all(&fs, &info));
    assert!(matches!(kind, CorruptionKind::Header(FormatError::WrongKind { .. })), "{kind:?}");
}

#[test]
fn an_older_file_of_the_same_name_is_noticed() {
    let fs = SimFs::new();
    let stale = write(&fs, config(KeyKind::Dense, false), &[dense_image(1, 4)]);
    let mut newer = dense_image(1, 4);
    newer.as_of = Timestamp(50);
    let elsewhere = SimFs::new();
    let info = write(&elsewhere, config(KeyKind::Dense, false), &[newer]);
    assert_eq!(stale.bytes, info.bytes);
    let kind = kind_of(read_all(&fs, &info));
    assert!(matches!(kind, CorruptionKind::Invalid("counts of footer and manifest differ")), "{kind:?}");
    // Where not even the counts differ, the hash does.
    let same_counts = SegmentInfo { hash: info.hash, ..stale };
    let reader = SegmentReader::open(fs.handle(), &same_counts, STORE).unwrap();
    assert!(matches!(
        reader.verify_whole().unwrap_err().corruption().unwrap().kind,
        CorruptionKind::FileChecksum { .. }
    ));
}

#[test]
fn a_missing_file_is_damage_of_the_store() {
    let (_, info, _) = small();
    assert_eq!(kind_of(read_all(&SimFs::new(), &info)), CorruptionKind::Missing);
}

#[test]
fn a_later_format_is_named_with_its_version() {
    let (fs, info, bytes) = small();
    let mut later = bytes.clone();
    later[10] = 9;
    fs.overwrite(&segment_name(FILE), &with_header_checksum(later));
    let error = read_all(&fs, &info).unwrap_err();
    let TierError::File(FileError::Format { error, .. }) = error else { panic!("{error:?}") };
    assert_eq!(error, FormatError::FutureVersion { found: 9, supported: FORMAT_MAJOR });
    let mut feature = bytes;
    feature[24] = 1;
    fs.overwrite(&segment_name(FILE), &with_header_checksum(feature));
    let error = read_all(&fs, &info).unwrap_err();
    assert!(
        matches!(error, TierError::File(FileError::Format { error: FormatError::UnknownFeature { .. }, .. })),
        "{error:?}"
    );
}

fn with_header_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = checksum64(&bytes[..HEADER_BYTES - 8]);
    bytes[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The file with the checksums of index and footer made right again.
fn with_checksums(mut bytes: Vec<u8>, subgraphs: u64) -> Vec<u8> {
    let footer = bytes.len() - FOOTER_BYTES as usize;
    let index = footer - (subgraphs * ENTRY_BYTES) as usize;
    let sum_of = |bytes: &[u8], from: usize, to: usize| {
        let mut sum = region_checksum(FILE, from as u64);
        sum.update(&bytes[from..to]);
        sum.digest64().to_le_bytes()
    };
    let sum = sum_of(&bytes, index, footer);
    bytes[footer + FOOTER_BODY - 8..footer + FOOTER_BODY].copy_from_slice(&sum);
    let sum = sum_of(&bytes, footer, footer + FOOTER_BODY);
    bytes[footer + FOOTER_BODY..footer + FOOTER_BODY + 8].copy_from_slice(&sum);
    bytes
}

#[test]
fn hostile_index_fields_with_right_checksums_are_refused() {
    let (fs, info, bytes) = small();
    let index = bytes.len() - (FOOTER_BYTES + 2 * ENTRY_BYTES) as usize;
    assert_eq!(with_checksums(bytes.clone(), 2), bytes, "the helper computes what the writer does");
    // Offsets in the entry: id, kind, live vertices, reserved, stream offset, length, as_of, edges.
    for (field, width) in [(0, 4), (4, 1), (5, 1), (6, 2), (8, 8), (16, 8), (24, 8), (32, 8)] {
        for entry in [0, ENTRY_BYTES as usize] {
            for value in [u64::MAX, 1 << 62, 1 << 40, 0x00ff_ffff, 0, 1, 28] {
                let mut hostile = bytes.clone();
                let at = index + entry + field;
                hostile[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                let hostile = with_checksums(hostile, 2);
                if hostile != bytes {
                    fs.overwrite(&segment_name(FILE), &hostile);
                    let kind = kind_of(read_all(&fs, &info));
                    assert!(
                        matches!(kind, CorruptionKind::Invalid(_)),
                        "field {field}, value {value}: {kind:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn hostile_footer_fields_with_right_checksums_are_refused() {
    let (fs, info, bytes) = small();
    let footer = bytes.len() - FOOTER_BYTES as usize;
    for at in (0..FOOTER_BODY - 8).step_by(4) {
        for value in [u64::MAX, 1 << 62, 1 << 40, 0x00ff_ffff, 0, 1, 3] {
            let mut hostile = bytes.clone();
            let width = 8.min(FOOTER_BODY - 8 - at);
            hostile[footer + at..footer + at + width].copy_from_slice(&value.to_le_bytes()[..width]);
            if hostile != bytes {
                fs.overwrite(&segment_name(FILE), &with_checksums(hostile, 2));
                // Whether or not the manifest believes the counts.
                let believed = believing(info, &fs.file(&segment_name(FILE)).unwrap());
                kind_of(read_all(&fs, &info));
                if let Ok(images) = read_all(&fs, &believed) {
                    panic!("footer byte {at}, value {value}: {images:?}");
                }
            }
        }
    }
}

#[test]
fn an_index_that_contradicts_its_records_is_refused() {
    let (fs, info, bytes) = small();
    let index = bytes.len() - (FOOTER_BYTES + 2 * ENTRY_BYTES) as usize;
    // Counts of edges that are wrong one by one and right in sum.
    let mut shifted = bytes.clone();
    shifted[index + 32] += 1;
    shifted[index + ENTRY_BYTES as usize + 32] -= 1;
    fs.overwrite(&segment_name(FILE), &with_checksums(shifted, 2));
    assert_eq!(kind_of(read_all(&fs, &info)), CorruptionKind::Invalid("edge count differs from the index"));
    // Subgraphs that come in another order, and twice.
    for (first, second) in [(77, 2), (2, 2)] {
        let mut disordered = bytes.clone();
        disordered[index] = first;
        disordered[index + ENTRY_BYTES as usize] = second;
        fs.overwrite(&segment_name(FILE), &with_checksums(disordered, 2));
        let kind = kind_of(read_all(&fs, &info));
        assert_eq!(kind, CorruptionKind::Invalid("subgraphs out of order in the index"));
    }
}

/// `info` with the counts that the footer states.
fn believing(info: SegmentInfo, bytes: &[u8]) -> SegmentInfo {
    let footer = bytes.len() - FOOTER_BYTES as usize;
    let field =
        |at: usize| u64::from_le_bytes(bytes[footer + at..footer + at + 8].first_chunk().copied().unwrap());
    SegmentInfo {
        subgraphs: field(48),
        vertices: field(56),
        edges: field(64),
        max_as_of: Timestamp(field(72)),
        hash: checksum128(bytes),
        ..info
    }
}

/// The record of `image` and its index entry.
fn record_of(image: &SubgraphImage) -> (Vec<u8>, Entry) {
    let mut record = Vec::new();
    image.with_ref(|image| {
        encode(image, &mut Vec::new(), |bytes| {
            record.extend_from_slice(bytes);
            Ok::<(), ()>(())
        })
        .unwrap();
    });
    let entry = Entry {
        id: image.id,
        vertices: image.vertex_count() as u8,
        offset: 0,
        len: record.len() as u64,
        as_of: image.as_of,
        edges: image.edge_count(),
    };
    (record, entry)
}

#[test]
fn hostile_lengths_in_a_record_are_refused() {
    [weighted_image(), rich_image()].iter().for_each(hostile_lengths_are_refused);
}

fn hostile_lengths_are_refused(image: &SubgraphImage) {
    let (record, entry) = record_of(image);
    let config = config(KeyKind::U64, true);
    assert_eq!(decode(&record, &entry, &config).unwrap(), *image);
    for at in 0..record.len() - 4 {
        for value in [u32::MAX, 1 << 31, 1 << 24] {
            let mut hostile = record.clone();
            hostile[at..at + 4].copy_from_slice(&value.to_le_bytes());
            if let Ok(image) = decode(&hostile, &entry, &config) {
                assert_eq!(image.with_ref(|image| fault(image, &config)), None);
            }
        }
    }
    for len in 0..record.len() {
        assert!(decode(&record[..len], &entry, &config).is_err(), "record cut at {len}");
    }
    let longer = [&record[..], &[0]].concat();
    assert_eq!(decode(&longer, &entry, &config).unwrap_err().what, "bytes left over in a record");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Bytes that pass every rule are an image that could have been written; all others are an error.
    #[test]
    fn a_record_of_any_bytes_is_an_image_or_an_error(
        (config, images) in segment_strategy(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for image in &images {
            let (mut record, mut entry) = record_of(image);
            for (at, value) in &edits {
                let at = at.index(record.len());
                record[at] = *value;
            }
            // Let the index agree, so that the record itself has to be judged.
            entry.id = SubgraphId(u32::from_le_bytes(*record.first_chunk().unwrap()));
            if let Ok(found) = decode(&record, &entry, &config) {
                prop_assert_eq!(found.with_ref(|found| fault(found, &config)), None);
                let (again, entry) = record_of(&found);
                prop_assert_eq!(decode(&again, &entry, &config).unwrap(), found);
            }
        }
    }
}
