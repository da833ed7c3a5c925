//! Tests of blocks, pieces and pages, with images at the limits of each.

use super::files::open_paged;
use super::images::{list_image, text_image};
use super::*;
use crate::segment::block::MOST_PAYLOAD;
use crate::segment::encode;

fn comes_back(config: GraphConfig, images: &[SubgraphImage]) -> SegmentInfo {
    let fs = SimFs::new();
    let info = write(&fs, config, images);
    let found = read_all(&fs, &info).unwrap();
    assert!(found == images, "{} images differ", images.len());
    info
}

fn record_len(image: &SubgraphImage) -> (usize, bool) {
    let mut out = Vec::new();
    let is_cut = image.with_ref(|image| encode::encode(image, &mut out));
    (out.len(), is_cut)
}

#[test]
fn an_image_may_take_many_blocks() {
    let images = [
        dense_image(0, 3),
        star_image(1, 300_000),
        dense_image(2, 64),
        star_image(5, 40_000),
        dense_image(6, 1),
        star_image(63, 100_000),
        star_image(64, 100_000),
    ];
    let info = comes_back(config(KeyKind::Dense, false), &images);
    assert!(info.bytes > 200_000);
    let fs = SimFs::new();
    let info = write(&fs, config(KeyKind::Dense, false), &images);
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    for image in images.iter().rev() {
        let page = image.id.subgraph.0 as usize / 64;
        let mut found = Vec::new();
        let take = |image| -> Result<(), TierError> {
            found.push(image);
            Ok(())
        };
        reader.read_page(page, |id| id == image.id, take).unwrap();
        assert!(found == std::slice::from_ref(image));
    }
}

/// With weights and ranks a neighbor takes 16 bytes and some bits. One neighbor more makes a record 16 or 17
/// bytes longer, so the records have many lengths around the limit of a block.
#[test]
fn records_at_the_limit_of_a_block_come_back() {
    let config = config(KeyKind::Dense, true);
    let (mut whole, mut cut, mut longest) = (0, 0, 0);
    for degree in 4020..4100 {
        let image = list_image(1, degree, 1, true, true);
        let (len, is_cut) = record_len(&image);
        assert!(len <= MOST_PAYLOAD);
        if is_cut {
            cut += 1;
        } else {
            (whole, longest) = (whole + 1, longest.max(len));
        }
        if degree % 8 == 0 || len > MOST_PAYLOAD - 40 || (is_cut && cut < 3) {
            comes_back(config, &[dense_image(0, 2), image, dense_image(2, 2)]);
        }
    }
    assert!(whole > 0 && cut > 0, "{whole} {cut}");
    assert!(longest > MOST_PAYLOAD - 32, "{longest}");
}

/// One record has exactly 65,520 bytes, the other has one more neighbor and is cut.
#[test]
fn the_longest_record_fills_a_block_exactly() {
    // The gaps have ten bits, so some lengths do not occur. A first neighbor of two bytes provides these
    // lengths.
    let image = |first: u32, degree: u32| {
        let list: Vec<u32> = (0..degree).map(|i| first + i * 1000).collect();
        let parts = vec![part(Direction::Out, &[(5, &list)])];
        SubgraphImage { present: 1 << 5, parts, ..dense_image(1, 0) }
    };
    let mut exact = Vec::new();
    for (first, degree) in (51_500..51_900).flat_map(|degree| [(5, degree), (5000, degree)]) {
        let (len, is_cut) = record_len(&image(first, degree));
        if !is_cut && len == MOST_PAYLOAD {
            exact.push((first, degree));
        }
    }
    assert!(!exact.is_empty());
    for (first, degree) in exact {
        assert!(record_len(&image(first, degree + 1)).1, "a neighbor more does not fit");
        for degree in [degree - 1, degree, degree + 1] {
            let images = [dense_image(0, 2), image(first, degree), dense_image(2, 2)];
            comes_back(config(KeyKind::Dense, false), &images);
        }
    }
}

/// A piece has 13,104, 5,040 or 3,120 neighbors, depending on weights and ranks.
#[test]
fn pieces_at_the_limit_of_their_neighbors_come_back() {
    let config = config(KeyKind::Dense, true);
    for (weights, ranks, most) in
        [(false, false, 13_104), (true, false, 5040), (false, true, 5040), (true, true, 3120)]
    {
        let pieces = if weights || ranks { 3 } else { 7 };
        for degree in [pieces * most - 1, pieces * most, pieces * most + 1] {
            let fs = SimFs::new();
            let image = list_image(1, degree, 300, weights, ranks);
            let info = write(&fs, config, std::slice::from_ref(&image));
            assert!(read_all(&fs, &info).unwrap() == [image]);
            assert_eq!(piece_count(&fs, &info), degree.div_ceil(most), "{weights} {ranks} {degree}");
        }
    }
}

fn piece_count(fs: &SimFs, info: &SegmentInfo) -> u32 {
    let segment = open_paged(fs, info);
    segment.directory(0).unwrap().images[0].entry.pieces
}

#[test]
fn both_directions_are_cut_each_for_itself() {
    let mut image = list_image(1, 20_000, 5, true, false);
    let incoming = list_image(1, 30_001, 3, false, true);
    image
        .parts
        .extend(incoming.parts.into_iter().map(|part| AdjacencyPart { direction: Direction::In, ..part }));
    let mut small = list_image(2, 40_000, 5, true, true);
    small.parts.push(part(Direction::In, &[(5, &[1])]));
    comes_back(config(KeyKind::Dense, true), &[image, small]);
}

/// Some lists end within a piece, and some continue over several pieces.
#[test]
fn lists_are_cut_anywhere() {
    let lists: Vec<Vec<u32>> =
        (0..64u32).map(|local| (0..local * 100 + 7).map(|i| i * 700 + local).collect()).collect();
    let lists: Vec<(usize, &[u32])> =
        lists.iter().enumerate().map(|(local, list)| (local, &list[..])).collect();
    let image = SubgraphImage { present: !0, parts: vec![part(Direction::Out, &lists)], ..dense_image(9, 0) };
    assert!(record_len(&image).1);
    comes_back(config(KeyKind::Dense, false), &[image]);
}

#[test]
fn degrees_at_the_limits_of_their_width_come_back() {
    for degree in [1, 255, 256, 65_535, 65_536] {
        comes_back(config(KeyKind::Dense, false), &[star_image(1, degree)]);
    }
}

#[test]
fn every_key_length_comes_back() {
    for longest in [0, 1, 255, 256, 65_536] {
        let mut image = dense_image(3, 2);
        image.keys = ImageKeys::Str(vec!["".into(), "é".repeat(longest / 2).into()]);
        comes_back(config(KeyKind::Str, false), &[image]);
    }
}

/// Records of keys and of properties fill several blocks of their own, between images that share a block.
#[test]
fn keys_and_properties_longer_than_a_block_come_back() {
    let keyed = |id: u32, count: usize, len: usize| SubgraphImage {
        keys: ImageKeys::Str((0..count).map(|i| format!("{i:02}{}", "k".repeat(len - 2)).into()).collect()),
        ..dense_image(id, count)
    };
    let images = [
        keyed(0, 3, 9),
        keyed(1, 64, 65_536),
        keyed(2, 3, 9),
        keyed(3, 1, MOST_PAYLOAD - 9),
        keyed(4, 1, MOST_PAYLOAD - 8),
        keyed(5, 2, 40_000),
    ];
    comes_back(config(KeyKind::Str, false), &images);
    let images =
        [text_image(0, 2), text_image(1, 3000), text_image(2, 1), text_image(4, 63), text_image(70, 70)];
    let info = comes_back(config(KeyKind::Dense, false), &images);
    assert!(info.bytes > 3_000_000);
}

#[test]
fn pages_hold_64_subgraphs_of_a_label() {
    let fs = SimFs::new();
    let mut images: Vec<_> = (0..200).map(|id| dense_image(id, 64)).collect();
    images.extend(
        [64 * 1000 + 63, (1 << 26) - 1].map(|id| SubgraphImage { id: id_of(0, id), ..dense_image(1, 40) }),
    );
    let of_label: Vec<_> = images
        .iter()
        .map(|image| {
            let mut image = image.clone();
            image.id.label = LabelId(4);
            image
        })
        .collect();
    images.extend(of_label);
    let info = write(&fs, config(KeyKind::Dense, false), &images);
    let page = |label: u16, page: u32| PageId { label: LabelId(label), page };
    assert_eq!(info.pages, Some((page(0, 0), page(4, (1 << 20) - 1))));
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    assert_eq!(reader.page_count(), 12);
    let counts = (0..12).map(|number| {
        let mut count = 0;
        let counted = reader.read_page(
            number,
            |_| true,
            |_| {
                count += 1;
                Ok::<(), TierError>(())
            },
        );
        counted.unwrap();
        (reader.label_of_page(number).unwrap().0, count)
    });
    let expected: Vec<_> =
        [0, 4].into_iter().flat_map(|label| [64, 64, 64, 8, 1, 1].map(|n| (label, n))).collect();
    assert_eq!(counts.collect::<Vec<_>>(), expected);
    assert!(read_all(&fs, &info).unwrap() == images);
    let told: Vec<ImageSummary> = reader.summaries().unwrap();
    assert_eq!(
        told.iter().map(|summary| summary.id).collect::<Vec<_>>(),
        summaries_of(&images).iter().map(|s| s.0).collect::<Vec<_>>()
    );
}

/// The reader reads directories of more than a MiB in several reads.
#[test]
fn thousands_of_pages_come_back() {
    let images: Vec<_> =
        (0..25_000u32).map(|i| SubgraphImage { id: id_of(0, i * 65), ..dense_image(1, 1) }).collect();
    comes_back(config(KeyKind::Dense, false), &images);
}
