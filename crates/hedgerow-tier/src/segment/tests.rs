//! Tests of segments: reading returns the written images, and writers and readers refuse data that breaks a
//! rule.

mod caps;
mod damage;
mod deltas;
mod directory;
mod files;
mod hostile;
mod images;
mod key_index;
mod layout;
mod lists;
mod page_keys;
mod read_memory;
mod records;
mod rules;
mod salvage;

use hedgerow_core::{Direction, GraphConfig, KeyKind, LabelId, SubgraphId, Timestamp};
use hedgerow_testkit::SimFs;
use proptest::prelude::*;

use super::testing::{FILE, STORE, config, dense_image, id_of, part, star_image};
use super::{
    AdjacencyPart, ImageId, ImageKeys, ImageSummary, PageId, SegmentInfo, SegmentReader, SegmentWriter,
    SubgraphImage, segment_name,
};
use crate::TierError;
use files::{read_all, write, write_as};
use images::segment_strategy;

fn summaries_of(images: &[SubgraphImage]) -> Vec<(ImageId, Timestamp, u32, u64)> {
    images.iter().map(|image| (image.id, image.as_of, image.vertex_count(), image.edge_count())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_segment_comes_back((config, images) in segment_strategy(), wanted in any::<u64>()) {
        let fs = SimFs::new();
        let info = write(&fs, config, &images);
        prop_assert_eq!(info.bytes, fs.file(&segment_name(FILE)).unwrap().len() as u64);
        prop_assert_eq!(info.subgraphs, images.len() as u64);
        prop_assert_eq!(info.vertices, images.iter().map(|i| u64::from(i.vertex_count())).sum::<u64>());
        prop_assert_eq!(info.edges, images.iter().map(SubgraphImage::edge_count).sum::<u64>());
        prop_assert_eq!(info.max_as_of, images.iter().map(|i| i.as_of).max().unwrap_or(Timestamp::ZERO));
        let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
        reader.verify_whole().unwrap();
        prop_assert_eq!(reader.config(), config);
        let summaries = reader.summaries().unwrap();
        let told: Vec<_> = summaries.iter().map(|s| (s.id, s.as_of, s.vertices, s.edges)).collect();
        prop_assert_eq!(told, summaries_of(&images));
        prop_assert_eq!(&read_all(&fs, &info).unwrap(), &images);
        // A read of some images of each page skips the other images.
        let is_wanted = |id: ImageId| wanted >> (id.subgraph.0 % 64) & 1 == 1;
        let some: Vec<_> = images.into_iter().filter(|image| is_wanted(image.id)).collect();
        let mut found = Vec::new();
        for page in 0..reader.page_count() {
            reader.read_page(page, is_wanted, |image| {
                assert_eq!(reader.label_of_page(page), Some(image.id.label));
                found.push(image);
                Ok::<(), TierError>(())
            }).unwrap();
        }
        prop_assert_eq!(found, some);
    }
}

#[test]
fn the_writer_tells_the_bytes_that_summaries_tell() {
    let fs = SimFs::new();
    let images = [dense_image(0, 3), star_image(1, 300_000), dense_image(2, 64), images::text_image(65, 3)];
    let mut writer = SegmentWriter::create(fs.handle(), FILE, STORE, config(KeyKind::Dense, false)).unwrap();
    let written: Vec<u64> =
        images.iter().map(|image| image.with_ref(|image| writer.write(image)).unwrap()).collect();
    assert!(writer.memory_bytes() > 0);
    let info = writer.finish().unwrap();
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    let told: Vec<u64> = reader.summaries().unwrap().iter().map(|summary| summary.bytes).collect();
    assert_eq!(told, written);
    assert!(told.iter().sum::<u64>() < info.bytes);
}

#[test]
fn several_threads_read_at_once() {
    let fs = SimFs::new();
    let images: Vec<_> = (0..200).map(|id| dense_image(id, 64)).collect();
    let info = write(&fs, config(KeyKind::Dense, false), &images);
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (reader, images) = (&reader, &images);
            scope.spawn(move || {
                for page in 0..reader.page_count() {
                    let mine = |id: ImageId| id.subgraph.0 % 4 == thread;
                    reader
                        .read_page(page, mine, |image| {
                            assert_eq!(image, images[image.id.subgraph.0 as usize]);
                            Ok::<(), TierError>(())
                        })
                        .unwrap();
                }
            });
        }
    });
}

#[test]
fn a_segment_may_be_empty() {
    let fs = SimFs::new();
    let info = write(&fs, config(KeyKind::Str, true), &[]);
    assert_eq!((info.subgraphs, info.vertices, info.edges, info.max_as_of), (0, 0, 0, Timestamp::ZERO));
    // The header, the head of an empty key index, and the footer.
    assert_eq!((info.bytes, info.pages), (64 + 24 + 128, None));
    assert_eq!(read_all(&fs, &info).unwrap(), []);
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    reader.verify_whole().unwrap();
    assert_eq!((reader.page_count(), reader.label_of_page(0)), (0, None));
    assert_eq!(reader.summaries().unwrap(), []);
    let refused = reader.read_page(0, |_| true, |_| Ok::<(), TierError>(()));
    assert!(matches!(refused, Err(TierError::NoSuchPage { index: 0, len: 0 })));
}

#[test]
fn an_image_may_be_empty() {
    for keys in [ImageKeys::Dense, ImageKeys::U64(Vec::new()), ImageKeys::Str(Vec::new())] {
        let kind = match keys {
            ImageKeys::U64(_) => KeyKind::U64,
            ImageKeys::Str(_) => KeyKind::Str,
            _ => KeyKind::Dense,
        };
        let empty = |label: u16, keys: ImageKeys| SubgraphImage {
            id: id_of(label, 70),
            as_of: Timestamp(5),
            present: 0,
            keys,
            parts: Vec::new(),
        };
        let images = [empty(0, keys), empty(8, ImageKeys::Dense)];
        let fs = SimFs::new();
        let info = write(&fs, config(kind, false), &images);
        assert_eq!(info.pages.unwrap().1, PageId { label: LabelId(8), page: 1 });
        assert_eq!(read_all(&fs, &info).unwrap(), images);
    }
}

#[test]
fn parts_without_neighbors_take_no_room() {
    let fs = SimFs::new();
    let mut padded = dense_image(0, 5);
    padded.parts.push(part(Direction::In, &[]));
    let info = write(&fs, config(KeyKind::Dense, false), &[padded]);
    assert_eq!(read_all(&fs, &info).unwrap(), [dense_image(0, 5)]);
    let bytes = fs.file(&segment_name(FILE)).unwrap();
    let other = SimFs::new();
    write(&other, config(KeyKind::Dense, false), &[dense_image(0, 5)]);
    assert_eq!(bytes, other.file(&segment_name(FILE)).unwrap());
}

/// The properties of vertices are columns of the last label, in which each vertex is its own neighbor.
#[test]
fn properties_of_vertices_come_back() {
    let fs = SimFs::new();
    let mut of_vertices = images::text_image(3, 20);
    of_vertices.id.label = LabelId::VERTICES;
    let images = [dense_image(3, 4), of_vertices];
    let info = write(&fs, config(KeyKind::Dense, false), &images);
    assert_eq!(info.vertices, 4);
    assert_eq!(read_all(&fs, &info).unwrap(), images);
}
