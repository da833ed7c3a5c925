//! Tests of damaged, foreign and stale files: a read returns a typed error, never an image.

use hedgerow_io::checksum::checksum64;
use hedgerow_io::{CorruptionKind, FORMAT_MAJOR, FileError, FileId, FormatError, HEADER_BYTES, StoreId};

use super::files::{bytes_of, open_paged};
use super::images::small_images;
use super::*;

/// Returns a file system with one small segment, its description and its bytes.
pub(super) fn small() -> (SimFs, SegmentInfo, Vec<u8>) {
    let fs = SimFs::new();
    let info = write(&fs, config(KeyKind::U64, true), &small_images());
    let bytes = bytes_of(&fs);
    (fs, info, bytes)
}

pub(super) fn kind_of(result: Result<Vec<SubgraphImage>, TierError>) -> CorruptionKind {
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
    assert_eq!(read_all(&fs, &info).unwrap(), small_images());
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
        // Reading must fail even if the description of the file has the same wrong length.
        kind_of(read_all(&fs, &SegmentInfo { bytes: len as u64, ..info }));
    }
    for more in [1, 8, 48, 128, 65_536] {
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
    let is_truncated =
        |error: TierError| matches!(error.corruption().unwrap().kind, CorruptionKind::Truncated { .. });
    assert!(is_truncated(reader.read_all(|_| Ok::<(), TierError>(())).unwrap_err()));
    assert!(is_truncated(reader.summaries().unwrap_err()));
    assert!(reader.verify_whole().unwrap_err().corruption().is_some());
}

/// The blocks are pieces of one list. They have equal lengths, and each is valid alone.
#[test]
fn blocks_of_another_place_or_file_are_noticed() {
    let fs = SimFs::new();
    let images = [star_image(1, 90_000), star_image(2, 90_000)];
    let info = write(&fs, config(KeyKind::Dense, false), &images);
    let other = write_as(&fs, FileId(8), STORE, config(KeyKind::Dense, false), &images);
    assert_eq!(info.bytes, other.bytes);
    let (bytes, foreign) = (bytes_of(&fs), fs.file(&segment_name(FileId(8))).unwrap());
    let positions = open_paged(&fs, &info).directory(0).unwrap().positions;
    let block = |number: usize| positions[number] as usize..positions[number + 1] as usize;
    assert_eq!(block(2).len(), block(3).len());
    let mut swapped = bytes.clone();
    swapped[block(2)].copy_from_slice(&bytes[block(3)]);
    swapped[block(3)].copy_from_slice(&bytes[block(2)]);
    let mut misdirected = bytes.clone();
    misdirected[block(2)].copy_from_slice(&bytes[block(3)]);
    let mut stale = bytes.clone();
    stale[block(2)].copy_from_slice(&foreign[block(2)]);
    for damaged in [swapped, misdirected, stale] {
        fs.overwrite(&segment_name(FILE), &damaged);
        let error = read_all(&fs, &info).unwrap_err();
        let corruption = error.corruption().unwrap();
        assert_eq!(corruption.offset, block(2).start as u64);
        assert!(matches!(corruption.kind, CorruptionKind::Checksum { .. }));
    }
}

#[test]
fn directories_of_another_place_or_file_are_noticed() {
    let fs = SimFs::new();
    let images = [dense_image(1, 4), dense_image(65, 4)];
    let info = write(&fs, config(KeyKind::Dense, false), &images);
    write_as(&fs, FileId(8), STORE, config(KeyKind::Dense, false), &images);
    let (bytes, foreign) = (bytes_of(&fs), fs.file(&segment_name(FileId(8))).unwrap());
    let segment = open_paged(&fs, &info);
    let directory = |page: usize| {
        let page = segment.pages()[page];
        page.directory as usize..page.directory as usize + page.directory_len as usize + 8
    };
    assert_eq!(directory(0).len(), directory(1).len());
    let mut swapped = bytes.clone();
    swapped[directory(0)].copy_from_slice(&bytes[directory(1)]);
    swapped[directory(1)].copy_from_slice(&bytes[directory(0)]);
    let mut stale = bytes.clone();
    stale[directory(0)].copy_from_slice(&foreign[directory(0)]);
    for damaged in [swapped, stale] {
        fs.overwrite(&segment_name(FILE), &damaged);
        let kind = kind_of(read_all(&fs, &info));
        assert!(matches!(kind, CorruptionKind::Checksum { .. }), "{kind:?}");
    }
}

#[test]
fn a_foreign_file_with_the_right_name_is_noticed() {
    let (fs, info, bytes) = small();
    let elsewhere = SimFs::new();
    write_as(&elsewhere, FILE, StoreId([9; 16]), config(KeyKind::U64, true), &small_images());
    fs.overwrite(&segment_name(FILE), &bytes_of(&elsewhere));
    let kind = kind_of(read_all(&fs, &info));
    assert!(matches!(kind, CorruptionKind::Header(FormatError::WrongStore { .. })), "{kind:?}");
    // With a header of this store, the footer still belongs to the other store.
    let mut half = bytes_of(&elsewhere);
    half[..HEADER_BYTES].copy_from_slice(&bytes[..HEADER_BYTES]);
    fs.overwrite(&segment_name(FILE), &half);
    assert_eq!(kind_of(read_all(&fs, &info)), CorruptionKind::Invalid("footer of another file"));
    write_as(&fs, FileId(8), STORE, config(KeyKind::U64, true), &small_images());
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
    // If only the pages differ, the comparison of pages finds it.
    let elsewhere = PageId { label: LabelId(0), page: 9 };
    let kind = kind_of(read_all(&fs, &SegmentInfo { pages: Some((elsewhere, elsewhere)), ..stale }));
    assert_eq!(kind, CorruptionKind::Invalid("pages of top index and manifest differ"));
    // If all counts are equal, the hash finds the difference.
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
fn another_format_is_named_with_its_version() {
    let (fs, info, bytes) = small();
    let supported = FORMAT_MAJOR;
    for found in (0..FORMAT_MAJOR).chain([9]) {
        let mut other = bytes.clone();
        other[10] = found as u8;
        fs.overwrite(&segment_name(FILE), &with_header_checksum(other));
        let error = read_all(&fs, &info).unwrap_err();
        let TierError::File(FileError::Format { error, .. }) = error else { panic!("{error:?}") };
        let expected = match found {
            9 => FormatError::FutureVersion { found, supported },
            _ => FormatError::OldVersion { found, supported },
        };
        assert_eq!(error, expected);
    }
    let mut feature = bytes;
    feature[24] |= 4;
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
