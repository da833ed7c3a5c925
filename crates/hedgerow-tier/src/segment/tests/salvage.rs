//! Tests of salvage from damaged segments.

use std::collections::BTreeSet;

use hedgerow_io::{HEADER_BYTES, StoreId};
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};

use super::files::{bytes_of, open_paged};
use super::images::{keyed_images, small_images, text_image};
use super::*;
use crate::segment::read_damaged;
use crate::segment::top::FOOTER_BYTES;

/// The images that salvage finds, and the images that it reports as lost.
#[derive(Debug, Default)]
pub(super) struct Salvaged {
    found: Vec<SubgraphImage>,
    /// The number of losses without a known image.
    unknown: usize,
    lost: BTreeSet<ImageId>,
    config: Option<GraphConfig>,
}

pub(super) fn salvage(fs: &SimFs, info: Option<&SegmentInfo>) -> Salvaged {
    salvage_with(fs, info, None).unwrap()
}

fn salvage_with(
    fs: &SimFs,
    info: Option<&SegmentInfo>,
    config: Option<GraphConfig>,
) -> Result<Salvaged, TierError> {
    let mut salvaged = Salvaged::default();
    let Salvaged { found, unknown, lost, .. } = &mut salvaged;
    let mut lose = |loss: crate::segment::SegmentLoss| match loss.image {
        Some(image) => assert!(lost.insert(image), "{image} lost twice"),
        None => *unknown += 1,
    };
    let stated = read_damaged(
        &fs.handle(),
        (FILE, STORE),
        info,
        config,
        &mut |record| found.extend(record.into_image()),
        &mut lose,
    )?;
    salvaged.config = stated;
    Ok(salvaged)
}

impl Salvaged {
    fn is_whole(&self, images: &[SubgraphImage]) {
        assert!(self.found == images, "{:?} of {} images", self.found.len(), images.len());
        assert!(self.lost.is_empty(), "{:?}", self.lost);
    }

    /// Asserts that salvage found only written images, and none twice.
    fn is_part_of(&self, images: &[SubgraphImage]) {
        let mut rest = images.iter();
        for found in &self.found {
            assert!(rest.any(|image| image == found), "{:?}", found.id);
            assert!(!self.lost.contains(&found.id));
        }
    }
}

/// Returns a segment with images of keys, properties and pieces. Some share blocks, some have blocks of their
/// own.
fn mixed() -> (SimFs, SegmentInfo, Vec<SubgraphImage>) {
    let fs = SimFs::new();
    let mut images = keyed_images(70, 20);
    let big = star_image(3, 50_000);
    images[3] = SubgraphImage { keys: ImageKeys::U64(vec![9]), ..big };
    let texts = SubgraphImage { keys: ImageKeys::U64(vec![8]), ..text_image(5, 100) };
    images[5] = texts;
    images[66] = SubgraphImage { keys: ImageKeys::U64(vec![8]), ..text_image(66, 3) };
    let of_label: Vec<_> = (0..5)
        .map(|id| {
            let mut image = text_image(id, 3);
            image.id.label = LabelId(9);
            image
        })
        .collect();
    images.extend(of_label);
    let info = write(&fs, config(KeyKind::U64, false), &images);
    (fs, info, images)
}

#[test]
fn of_a_sound_segment_everything_is_found() {
    let (fs, info, images) = mixed();
    for info in [Some(&info), None] {
        let salvaged = salvage(&fs, info);
        salvaged.is_whole(&images);
        assert_eq!((salvaged.unknown, salvaged.config), (0, Some(config(KeyKind::U64, false))));
    }
}

/// Returns the positions of the blocks of page `page`, and the numbers of the blocks with records of each
/// image.
fn blocks_of(fs: &SimFs, info: &SegmentInfo, page: usize) -> (Vec<u64>, Vec<(ImageId, BTreeSet<usize>)>) {
    let directory = open_paged(fs, info).directory(page).unwrap();
    let images = directory.images.iter().map(|placed| {
        let mut blocks = BTreeSet::from([placed.topology.block]);
        blocks.extend((placed.topology.block + 1..).take(placed.entry.pieces as usize));
        for place in [placed.keys, placed.columns].into_iter().filter(|place| place.len > 0) {
            blocks.extend((place.block..).take(place.len.div_ceil(65_520) as usize));
        }
        (placed.id(directory.label), blocks)
    });
    let images = images.collect();
    (directory.positions, images)
}

#[test]
fn a_damaged_block_takes_the_images_in_it() {
    let (fs, info, images) = mixed();
    let bytes = bytes_of(&fs);
    let mut damaged_blocks = 0;
    for page in 0..3 {
        let (positions, places) = blocks_of(&fs, &info, page);
        for (number, block) in positions.windows(2).enumerate() {
            let mut damaged = bytes.clone();
            damaged[(block[0] + block[1]) as usize / 2] ^= 1;
            fs.overwrite(&segment_name(FILE), &damaged);
            let salvaged = salvage(&fs, Some(&info));
            let lost: BTreeSet<ImageId> =
                places.iter().filter(|(_, blocks)| blocks.contains(&number)).map(|(id, _)| *id).collect();
            assert!(!lost.is_empty());
            assert_eq!((salvaged.unknown, &salvaged.lost), (0, &lost), "page {page}, block {number}");
            let left: Vec<_> = images.iter().filter(|image| !lost.contains(&image.id)).cloned().collect();
            assert!(salvaged.found == left, "page {page}, block {number}");
            damaged_blocks += 1;
        }
        fs.overwrite(&segment_name(FILE), &bytes);
    }
    assert!(damaged_blocks > 20, "{damaged_blocks}");
}

#[test]
fn without_a_directory_the_blocks_of_its_page_are_read() {
    let (fs, info, images) = mixed();
    let bytes = bytes_of(&fs);
    let pages = open_paged(&fs, &info).pages().to_vec();
    for (number, page) in pages.iter().enumerate() {
        let mut damaged = bytes.clone();
        damaged[page.directory as usize + 9] ^= 4;
        fs.overwrite(&segment_name(FILE), &damaged);
        let salvaged = salvage(&fs, Some(&info));
        salvaged.is_whole(&images);
        assert_eq!(salvaged.unknown, 1);
        // Damages a block of the page as well. Salvage may lose images of this page from there on, but none
        // of other pages.
        for block in blocks_at(&bytes, page.blocks as usize) {
            let mut twice = damaged.clone();
            twice[block + 5] ^= 1;
            fs.overwrite(&segment_name(FILE), &twice);
            let salvaged = salvage(&fs, Some(&info));
            salvaged.is_part_of(&images);
            assert_eq!(salvaged.unknown, 2);
            let elsewhere = |image: &&SubgraphImage| image.id.page() != page.id;
            let (found, left) = (salvaged.found.iter().filter(elsewhere), images.iter().filter(elsewhere));
            assert!(found.eq(left), "page {number}");
        }
    }
}

/// Returns the positions of up to six blocks of a page. Its first block begins at `at`.
fn blocks_at(bytes: &[u8], mut at: usize) -> Vec<usize> {
    let mut blocks = Vec::new();
    while blocks.len() < 6 && (blocks.len() < 3 || bytes[at + 2] != 0) {
        blocks.push(at);
        at += 12 + usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        if at + 200 > bytes.len() || bytes[at + 3] != 0 || bytes[at + 2] > 3 {
            break;
        }
    }
    blocks
}

#[test]
fn without_its_ends_a_segment_is_read_block_by_block() {
    let (fs, info, images) = mixed();
    let bytes = bytes_of(&fs);
    let footer = bytes.len() - FOOTER_BYTES as usize;
    let graph = config(KeyKind::U64, false);
    // The header, the top index, the footer, its magic number.
    for at in [0, 33, HEADER_BYTES - 1, footer - 1, footer - 100, footer + 20, footer + 100, bytes.len() - 1]
    {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        fs.overwrite(&segment_name(FILE), &damaged);
        for info in [Some(&info), None] {
            let salvaged = salvage_with(&fs, info, Some(graph)).unwrap();
            salvaged.is_whole(&images);
            assert!((1..=3).contains(&salvaged.unknown), "byte {at}: {}", salvaged.unknown);
        }
        // Only the footer has the configuration of the graph.
        let salvaged = salvage(&fs, None);
        if at < footer {
            salvaged.is_whole(&images);
        } else {
            assert!(salvaged.found.is_empty() && salvaged.config.is_none() && salvaged.unknown > 0);
        }
    }
}

#[test]
fn whatever_is_damaged_nothing_wrong_is_found() {
    let (fs, info, images) = {
        let fs = SimFs::new();
        let info = write(&fs, config(KeyKind::U64, true), &small_images());
        (fs, info, small_images())
    };
    let bytes = bytes_of(&fs);
    let graph = Some(config(KeyKind::U64, true));
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        fs.overwrite(&segment_name(FILE), &damaged);
        let salvaged = salvage_with(&fs, Some(&info), graph).unwrap();
        salvaged.is_part_of(&images);
        assert!(salvaged.unknown + salvaged.lost.len() > 0, "byte {at}");
        // At most one page is lost.
        assert!(salvaged.found.len() + 2 >= images.len(), "byte {at}");
        damaged.iter_mut().skip(at).take(300).for_each(|byte| *byte = 0);
        fs.overwrite(&segment_name(FILE), &damaged);
        salvage_with(&fs, None, graph).unwrap().is_part_of(&images);
        fs.overwrite(&segment_name(FILE), &bytes[..at]);
        let salvaged = salvage_with(&fs, Some(&info), graph).unwrap();
        salvaged.is_part_of(&images);
        assert!(salvaged.unknown > 0);
    }
}

/// The mask of this directory reads like the head of a block with the length of the directory.
#[test]
fn a_directory_is_not_taken_for_a_block() {
    let images: Vec<_> = [1, 2, 7, 40, 41]
        .map(|id| SubgraphImage { present: 1 << 20, parts: Vec::new(), ..dense_image(id, 0) })
        .to_vec();
    let fs = SimFs::new();
    write(&fs, config(KeyKind::Dense, false), &images);
    let mut bytes = bytes_of(&fs);
    *bytes.last_mut().unwrap() ^= 1;
    fs.overwrite(&segment_name(FILE), &bytes);
    let salvaged = salvage_with(&fs, None, Some(config(KeyKind::Dense, false))).unwrap();
    salvaged.is_whole(&images);
}

#[test]
fn a_segment_of_another_store_is_refused() {
    let fs = SimFs::new();
    let info = write_as(&fs, FILE, StoreId([9; 16]), config(KeyKind::Dense, false), &[dense_image(1, 4)]);
    let graph = Some(config(KeyKind::Dense, false));
    for info in [Some(&info), None] {
        let error = salvage_with(&fs, info, graph).unwrap_err();
        assert!(error.corruption().is_some(), "{error:?}");
    }
    assert!(salvage_with(&SimFs::new(), Some(&info), graph).is_err());
}

/// Each image has a block of its own. A block that the disk cannot read costs one image.
#[test]
fn a_block_that_cannot_be_read_takes_the_images_in_it() {
    let images: Vec<_> = (0..8).map(|id| dense_image(id, 64)).map(in_its_own_block).collect();
    let mut failed = 0;
    for at in 0..64 {
        let fs = SimFs::new();
        let info = write(&fs, config(KeyKind::Dense, false), &images);
        if let Some(salvaged) = salvage_with_failing_read(&fs, &info, at) {
            salvaged.is_part_of(&images);
            if salvaged.unknown == 0 && !salvaged.lost.is_empty() {
                assert_eq!((salvaged.lost.len(), salvaged.found.len()), (1, 7), "read {at}");
                failed += 1;
            }
        }
    }
    assert_eq!(failed, 8);
}

fn in_its_own_block(image: SubgraphImage) -> SubgraphImage {
    let lists: Vec<Vec<u32>> =
        (0..64u32).map(|local| (0..90).map(|i| local + i * 70_000).collect()).collect();
    let lists: Vec<(usize, &[u32])> =
        lists.iter().enumerate().map(|(local, list)| (local, &list[..])).collect();
    SubgraphImage { parts: vec![part(Direction::Out, &lists)], ..image }
}

fn salvage_with_failing_read(fs: &SimFs, info: &SegmentInfo, at: u64) -> Option<Salvaged> {
    let site = Some("read:csr");
    fs.plan_fault(Fault { class: FaultClass::Read, at, site, repeat: Repeat::Once, errno: errno::EIO });
    let salvaged = salvage_with(fs, Some(info), Some(config(KeyKind::Dense, false)));
    fs.clear_faults();
    salvaged.ok()
}
