use super::*;

fn header() -> FileHeader {
    FileHeader::new(FileKind::Log, StoreId([7; 16]), FileId(42), 3)
}

#[test]
fn a_header_comes_back() {
    let bytes = header().encode();
    assert_eq!(FileHeader::decode(&bytes, FileKind::Log), Ok(header()));
    assert_eq!(header().check_owner(StoreId([7; 16]), FileId(42)), Ok(()));
    let other = StoreId([8; 16]);
    let wrong = FormatError::WrongStore { expected: other, found: StoreId([7; 16]) };
    assert_eq!(header().check_owner(other, FileId(42)), Err(wrong));
    let wrong = FormatError::WrongFile { expected: FileId(1), found: FileId(42) };
    assert_eq!(header().check_owner(StoreId([7; 16]), FileId(1)), Err(wrong));
}

#[test]
fn every_flipped_bit_and_every_truncation_is_refused() {
    let bytes = header().encode();
    for bit in 0..HEADER_BYTES * 8 {
        let mut damaged = bytes;
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(FileHeader::decode(&damaged, FileKind::Log).is_err(), "bit {bit}");
    }
    for len in 0..HEADER_BYTES {
        let cut = FileHeader::decode(&bytes[..len], FileKind::Log);
        assert_eq!(cut, Err(FormatError::Truncated { found: len }));
    }
}

#[test]
fn kinds_versions_and_features_are_told_apart() {
    let wrong = FormatError::WrongKind { expected: FileKind::Manifest, found: 1 };
    assert_eq!(FileHeader::decode(&header().encode(), FileKind::Manifest), Err(wrong));
    let future = header().encode_version(FORMAT_MAJOR + 1, 0);
    let refused = FormatError::FutureVersion { found: FORMAT_MAJOR + 1, supported: FORMAT_MAJOR };
    assert_eq!(FileHeader::decode(&future, FileKind::Log), Err(refused));
    for found in 0..FORMAT_MAJOR {
        let refused = FormatError::OldVersion { found, supported: FORMAT_MAJOR };
        // `decode` checks the version before the kind, because the kinds of another version are unknown.
        for kind in [FileKind::Log, FileKind::Segment, FileKind::Manifest] {
            let old = FileHeader::decode(&header().encode_version(found, 0), kind);
            assert_eq!(old, Err(refused.clone()));
        }
    }
    let minor = header().encode_version(FORMAT_MAJOR, FORMAT_MINOR + 1);
    assert_eq!(FileHeader::decode(&minor, FileKind::Log), Ok(header()));
    let mut featured = header();
    featured.incompat = 4;
    let refused = Err(FormatError::UnknownFeature { bits: 4 });
    assert_eq!(FileHeader::decode(&featured.encode(), FileKind::Log), refused);
    featured = FileHeader { compat: 9, ..header() };
    assert_eq!(FileHeader::decode(&featured.encode(), FileKind::Log), Ok(featured));
    assert_eq!(FileHeader::decode(&[0; 64], FileKind::Log), Err(FormatError::NotOurs));
}

#[test]
fn generated_stores_differ() {
    assert_ne!(StoreId::generate(), StoreId::generate());
}
