//! Tests of reading keys without the neighbors of the same page.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow_io::{CorruptionKind, CountingFs, HEADER_BYTES};

use super::damage::small;
use super::hostile::{Forge, VALUES, fields};
use super::images::{keyed_images, small_images};
use super::*;
use crate::segment::SubgraphKeys;
use crate::segment::page_keys;

/// Returns the keys of all pages, in the order of the file.
fn read_keys(reader: &SegmentReader) -> Result<Vec<SubgraphKeys>, TierError> {
    let mut found = Vec::new();
    for page in 0..reader.page_count() {
        reader.read_keys(
            page,
            |_| true,
            |keys| {
                found.push(keys);
                Ok::<(), TierError>(())
            },
        )?;
    }
    Ok(found)
}

fn keys_of(images: &[SubgraphImage]) -> Vec<SubgraphKeys> {
    let keys = |image: &SubgraphImage| SubgraphKeys {
        id: image.id.subgraph,
        present: image.present,
        keys: image.keys.clone(),
    };
    images.iter().map(keys).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn keys_are_those_of_the_images((config, images) in segment_strategy()) {
        let fs = SimFs::new();
        let info = write(&fs, config, &images);
        let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
        prop_assert_eq!(read_keys(&reader).unwrap(), keys_of(&images));
    }
}

#[test]
fn keys_are_read_without_neighbors() {
    let fs = SimFs::new();
    let mut images = keyed_images(64, 64);
    let list: Vec<u32> = (0..3_000).map(|i| i * 1_000).collect();
    for image in &mut images {
        image.parts = vec![part(Direction::Out, &[(5, &list), (9, &list)])];
    }
    let info = write(&fs, config(KeyKind::U64, false), &images);
    let counting = CountingFs::new(fs.handle());
    let counters = counting.counters();
    let reader = SegmentReader::open(Arc::new(counting), &info, STORE).unwrap();
    let opened = (counters.reads.load(Relaxed), counters.read_bytes.load(Relaxed));
    assert_eq!(read_keys(&reader).unwrap(), keys_of(&images));
    let read = (counters.reads.load(Relaxed) - opened.0, counters.read_bytes.load(Relaxed) - opened.1);
    // One read of the directory, and one of all blocks of keys.
    assert!(read.0 == 2 && read.1 < 64 * 64 * 8 + 8_192, "{read:?} of {} bytes", info.bytes);
    assert!(info.bytes > 500_000);
    // A read of some images skips the other images.
    let some = |wanted: &dyn Fn(u32) -> bool| {
        let (mut some, before) = (Vec::new(), counters.read_bytes.load(Relaxed));
        let read = reader.read_keys(
            0,
            |id| wanted(id.subgraph.0),
            |keys| {
                some.push(keys.id.0);
                Ok::<(), TierError>(())
            },
        );
        read.unwrap();
        (some, counters.read_bytes.load(Relaxed) - before)
    };
    assert_eq!(some(&|id| id % 3 == 1).0, (0..64).filter(|id| id % 3 == 1).collect::<Vec<u32>>());
    // A read of one image takes no more than the directory and the block of the image.
    for one in [0, 1, 31, 62, 63] {
        let (found, bytes) = some(&|id| id == one);
        assert!(found == [one] && bytes < 8_192, "{bytes} bytes for {one}");
    }
    let (none, bytes) = some(&|_| false);
    assert!(none.is_empty() && bytes < 4_096, "{bytes} bytes for nothing");
    let beyond = reader.read_keys(1, |_| true, |_| Ok::<(), TierError>(()));
    assert!(matches!(beyond, Err(TierError::NoSuchPage { index: 1, len: 1 })));
}

/// A read finds a flipped bit, or returns the right keys because the bit is outside of the bytes that it
/// read.
#[test]
fn flipped_bits_are_noticed_or_change_no_key() {
    let (fs, info, bytes) = small();
    let expected = keys_of(&small_images());
    let mut noticed = 0;
    for at in HEADER_BYTES..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        fs.overwrite(&segment_name(FILE), &damaged);
        let read = SegmentReader::open(fs.handle(), &info, STORE).and_then(|reader| read_keys(&reader));
        match read {
            Ok(keys) => assert_eq!(keys, expected, "byte {at}"),
            Err(error) => {
                assert_eq!(error.corruption().unwrap().file, segment_name(FILE));
                noticed += 1;
            }
        }
    }
    assert!(noticed > 500, "{noticed} of {}", bytes.len());
}

/// With correct checksums and forged content, a read returns keys that could have been written, or damage.
#[test]
fn forged_files_are_refused_or_hold_keys() {
    let forge = Forge::new();
    let (mut refused, mut taken) = (0, 0);
    let parts = forge.directories.iter().cloned().chain(forge.blocks.iter().map(|b| b.start..b.end - 8));
    for (at, width) in parts.flat_map(fields).filter(|(_, width)| [1, 4].contains(width)) {
        for value in VALUES {
            if !forge.forge(at, width, value) {
                continue;
            }
            let reader = SegmentReader::open(forge.fs.handle(), &forge.info, STORE).unwrap();
            match read_keys(&reader) {
                Ok(found) => {
                    taken += 1;
                    for keys in found {
                        let kind = if keys.keys == ImageKeys::Dense { KeyKind::Dense } else { KeyKind::U64 };
                        assert_eq!(page_keys::fault_of(&keys, kind), None);
                    }
                }
                Err(error) => {
                    refused += 1;
                    let kind = &error.corruption().unwrap().kind;
                    assert!(matches!(kind, CorruptionKind::Invalid(_)), "{at} {width} {value}: {kind:?}");
                }
            }
        }
    }
    assert!(refused > 1_000 && taken > 100, "{refused} {taken}");
}
