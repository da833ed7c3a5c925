//! Tests of the key index of a segment: it returns the vertex that a key names.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow_core::{KindId, LocalVertex, VertexId, VertexKey, VertexKeyRef};
use hedgerow_io::checksum::checksum128;
use hedgerow_io::{CorruptionKind, CountingFs, FileId};

use super::damage::small;
use super::files::open_paged;
use super::hostile::{VALUES, fields};
use super::images::keyed_images;
use super::*;
use crate::segment::block::index_checksum;
use crate::segment::top::{FOOTER_BODY, FOOTER_BYTES};

/// Returns all keys of images, with the vertices that they name.
fn bindings_of(images: &[SubgraphImage]) -> Vec<(VertexKey, VertexId)> {
    let of_image = |image: &SubgraphImage| -> Vec<(VertexKey, VertexId)> {
        let keys: Vec<VertexKey> = match &image.keys {
            ImageKeys::Dense => Vec::new(),
            ImageKeys::U64(keys) => keys.iter().map(|&n| VertexKey::U64(n)).collect(),
            ImageKeys::Str(keys) => keys.iter().cloned().map(VertexKey::Str).collect(),
            ImageKeys::Kinds(keys) => keys.clone(),
        };
        let live = (0..64).map(LocalVertex).filter(|local| image.present & local.bit() != 0);
        keys.into_iter().zip(live.map(|local| image.id.subgraph.vertex(local))).collect()
    };
    images.iter().filter(|image| image.id.label == LabelId::DEFAULT).flat_map(of_image).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_key_names_its_vertex((config, images) in segment_strategy()) {
        let fs = SimFs::new();
        let info = write(&fs, config, &images);
        let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
        prop_assert_eq!(reader.has_key_index(), config.keys != KeyKind::Dense);
        let bindings = bindings_of(&images);
        let mut unique = std::collections::HashMap::new();
        bindings.iter().for_each(|(key, _)| *unique.entry(key.clone()).or_insert(0) += 1);
        for (key, id) in &bindings {
            let found = reader.find_key(key.as_ref());
            match unique[key] {
                1 => prop_assert_eq!(found.unwrap(), Some(*id)),
                // The strategy generates each image separately, so a key may occur twice. In a store it does
                // not.
                _ => prop_assert!(found.unwrap_err().corruption().is_some()),
            }
            let elsewhere = key.clone().with_kind(KindId(key.kind().0 ^ 0x40));
            if !unique.contains_key(&elsewhere) {
                prop_assert_eq!(reader.find_key(elsewhere.as_ref()).unwrap(), None);
            }
        }
        let is_sound = unique.values().all(|count| *count == 1);
        prop_assert_eq!(reader.verify_keys().is_ok(), is_sound);
        for image in &images {
            let is_told = config.keys != KeyKind::Dense && image.id.label == LabelId::DEFAULT;
            if is_told {
                prop_assert!(reader.has_vertices_of(image.id.subgraph));
            }
        }
    }
}

/// The bytes of the segment are the same, whether its keys were sorted in memory or in files.
#[test]
fn keys_that_exceed_their_memory_are_sorted_in_files() {
    for form in [KeyKind::U64, KeyKind::Str] {
        let mut images = keyed_images(700, 64);
        for (i, image) in images.iter_mut().enumerate() {
            let keys = (0..64).map(|key| (i as u64 * 64 + key) * 1_000_003);
            image.keys = match form {
                KeyKind::Str => ImageKeys::Str(keys.map(|key| format!("vertex {key}").into()).collect()),
                _ => ImageKeys::U64(keys.collect()),
            };
        }
        let config = config(form, false);
        let (fs, other) = (SimFs::new(), SimFs::new());
        let info = write(&fs, config, &images);
        let counting = CountingFs::new(other.handle());
        let counters = counting.counters();
        let mut writer = SegmentWriter::create(Arc::new(counting), FILE, STORE, config).unwrap();
        writer.gather_within(0);
        for image in &images {
            image.with_ref(|image| writer.write(image)).unwrap();
            assert!(writer.memory_bytes() < (2 << 20), "{} bytes", writer.memory_bytes());
        }
        assert_eq!(writer.finish().unwrap(), info);
        // The sorter makes more sorted files than it merges at a time.
        assert!(counters.creates.load(Relaxed) > 17, "{} files", counters.creates.load(Relaxed));
        assert!(fs.files() == other.files(), "{form:?}: other bytes, or a temporary file is left");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// One of two segments has a part of the keys of the other. A walk over both returns each key once, with
    /// the same answer as a look-up. It leaves out keys that a segment has twice.
    #[test]
    fn a_walk_says_what_looks_say((config, images) in segment_strategy()) {
        let fs = SimFs::new();
        let (all, few) = (&images[..], &images[..images.len() / 2]);
        let infos = [write(&fs, config, all), write_as(&fs, FileId(FILE.0 + 1), STORE, config, few)];
        let readers = infos.map(|info| SegmentReader::open(fs.handle(), &info, STORE).unwrap());
        let mut expected = BTreeMap::new();
        for (key, _) in bindings_of(all) {
            let found: Result<Vec<_>, _> = readers.iter().map(|reader| reader.find_key(key.as_ref())).collect();
            if let Some(found) = found.ok().filter(|found| found.iter().any(Option::is_some)) {
                expected.insert(format!("{:?}", readers[0].indexed_key(key.as_ref())), found);
            }
        }
        let mut said = Vec::new();
        SegmentReader::walk_keys(&readers, |key, named| said.push((format!("{key:?}"), named.to_vec()))).unwrap();
        prop_assert_eq!(said.len(), expected.len());
        prop_assert_eq!(said.into_iter().collect::<BTreeMap<_, _>>(), expected);
    }
}

#[test]
fn a_look_reads_one_block() {
    let fs = SimFs::new();
    let mut images = keyed_images(64, 64);
    for (i, image) in images.iter_mut().enumerate() {
        image.keys = ImageKeys::U64((0..64).map(|key| (i as u64 * 64 + key) * 1_000_003).collect());
    }
    let info = write(&fs, config(KeyKind::U64, false), &images);
    let counting = CountingFs::new(fs.handle());
    let counters = counting.counters();
    let reader = SegmentReader::open(Arc::new(counting), &info, STORE).unwrap();
    assert!(reader.key_index_bytes() > 0 && reader.key_index_bytes() < 4096 / 8);
    for (key, id) in bindings_of(&images) {
        let before = (counters.reads.load(Relaxed), counters.read_bytes.load(Relaxed));
        assert_eq!(reader.find_key(key.as_ref()).unwrap(), Some(id));
        let read = (counters.reads.load(Relaxed) - before.0, counters.read_bytes.load(Relaxed) - before.1);
        assert!(read.0 == 1 && read.1 <= 4096, "{read:?}");
    }
    let reads = counters.reads.load(Relaxed);
    for n in 0..500 {
        assert_eq!(reader.find_key(VertexKeyRef::U64(n * 1_000_003 + 1)).unwrap(), None);
    }
    assert!(counters.reads.load(Relaxed) - reads <= 500);
    // A walk reads each block once.
    let (before, mut keys) = (counters.reads.load(Relaxed), 0);
    SegmentReader::walk_keys([&reader], |_, named| keys += named.iter().flatten().count()).unwrap();
    assert_eq!(keys, 64 * 64);
    assert!(counters.reads.load(Relaxed) - before < 20);
    assert!(reader.has_vertices_of(SubgraphId(63)) && !reader.has_vertices_of(SubgraphId(64)));
}

/// Long texts have blocks of their own, and each text is found.
#[test]
fn texts_of_any_length_are_found() {
    let fs = SimFs::new();
    let lengths = [0, 1, 255, 256, 4000, 4080, 65_536, 9];
    let texts: Vec<Arc<str>> = lengths.iter().map(|&length| "x".repeat(length).into()).collect();
    let image = SubgraphImage {
        present: 0xff,
        keys: ImageKeys::Str(texts.clone()),
        parts: Vec::new(),
        ..dense_image(5, 8)
    };
    let info = write(&fs, config(KeyKind::Str, false), std::slice::from_ref(&image));
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    for (local, text) in texts.iter().enumerate() {
        let found = reader.find_key(VertexKeyRef::Str(text)).unwrap();
        assert_eq!(found, Some(VertexId(5 * 64 + local as u32)), "{} bytes", text.len());
    }
    assert_eq!(reader.find_key(VertexKeyRef::Str("xx")).unwrap(), None);
    reader.verify_keys().unwrap();
}

/// Looks up all keys of the small segment. Fails with the damage that a look-up or the opening finds.
fn looks(fs: &SimFs, info: &SegmentInfo) -> Result<Vec<Option<VertexId>>, TierError> {
    let reader = SegmentReader::open(fs.handle(), info, STORE)?;
    let keys = bindings_of(&images::small_images());
    keys.iter().map(|(key, _)| reader.find_key(key.as_ref())).collect()
}

/// Every field of the index is forged with correct checksums. Opening or a look-up finds damage, or a look-up
/// returns some vertex and the check finds the difference.
#[test]
fn forged_indexes_are_refused_or_found_by_the_check() {
    let (fs, info, bytes) = small();
    let images = images::small_images();
    let segment = open_paged(&fs, &info);
    let last = segment.pages().last().unwrap();
    let begin = (last.directory + u64::from(last.directory_len) + 8) as usize;
    let (head, top) = (segment.footer().key_head.unwrap() as usize, segment.footer().top_index as usize);
    let block = begin..head;
    let parts = [begin..head - 8, head..top - 8];
    let sum = |bytes: &mut Vec<u8>, range: std::ops::Range<usize>| {
        let mut sum = index_checksum(FILE, range.start as u64);
        sum.update(&bytes[range.clone()]);
        bytes[range.end..range.end + 8].copy_from_slice(&sum.digest64().to_le_bytes());
    };
    let (mut refused, mut found) = (0, 0);
    for (at, width) in parts.iter().cloned().flat_map(fields) {
        for value in VALUES {
            let mut forged = bytes.clone();
            forged[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
            if forged == bytes {
                continue;
            }
            sum(&mut forged, block.start..block.end - 8);
            sum(&mut forged, head..top - 8);
            fs.overwrite(&segment_name(FILE), &forged);
            let read = SegmentReader::open(fs.handle(), &info, STORE).and_then(|reader| {
                bindings_of(&images)
                    .iter()
                    .try_for_each(|(key, _)| reader.find_key(key.as_ref()).map(drop))?;
                reader.verify_keys()
            });
            let kind = read.unwrap_err().corruption().unwrap().kind.clone();
            match kind {
                CorruptionKind::Invalid("the key index differs from the images") => found += 1,
                CorruptionKind::Invalid(_) => refused += 1,
                other => panic!("{at} {width} {value}: {other:?}"),
            }
        }
    }
    assert!(refused > 300 && found > 50, "{refused} {found}");
}

/// A segment is refused if its footer has another position for the head of the index, or none.
#[test]
fn a_footer_that_says_another_index_is_refused() {
    let (fs, info, bytes) = small();
    let footer = bytes.len() - FOOTER_BYTES as usize;
    let head = open_paged(&fs, &info).footer().key_head.unwrap();
    for value in [0, 1, 64, head - 1, head + 1, head + 8, u64::MAX] {
        let mut forged = bytes.clone();
        forged[footer + 96..footer + 104].copy_from_slice(&value.to_le_bytes());
        let mut sum = index_checksum(FILE, footer as u64);
        sum.update(&forged[footer..footer + FOOTER_BODY]);
        forged[footer + FOOTER_BODY..footer + FOOTER_BODY + 8].copy_from_slice(&sum.digest64().to_le_bytes());
        fs.overwrite(&segment_name(FILE), &forged);
        let info = SegmentInfo { hash: checksum128(&forged), ..info };
        let error = looks(&fs, &info).unwrap_err();
        assert!(error.corruption().is_some(), "{value}: {error:?}");
    }
}
