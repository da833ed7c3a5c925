//! Tests with forged files: every checksum is correct, but the content is not.

use std::ops::Range;

use hedgerow_io::CorruptionKind;
use hedgerow_io::checksum::checksum128;

use super::damage::{kind_of, small};
use super::files::open_paged;
use super::images::small_images;
use super::salvage::salvage;
use super::*;
use crate::segment::block::{HEAD_BYTES, block_checksum, index_checksum};
use crate::segment::top::{DIRECTORY_CHECKSUM, FOOTER_BODY, FOOTER_BYTES, PAGE_BYTES};

/// The values that the tests write into fields of any width.
pub(super) const VALUES: [u64; 9] = [u64::MAX, 1 << 63, 1 << 47, 1 << 40, 0x00ff_ffff, 65_521, 255, 1, 0];

/// A segment, and the positions of its parts.
pub(super) struct Forge {
    pub(super) fs: SimFs,
    pub(super) info: SegmentInfo,
    bytes: Vec<u8>,
    /// The blocks with their checksums.
    pub(super) blocks: Vec<Range<usize>>,
    /// The directories without their checksums.
    pub(super) directories: Vec<Range<usize>>,
    top: Range<usize>,
    footer: usize,
}

impl Forge {
    pub(super) fn new() -> Forge {
        let (fs, info, bytes) = small();
        Forge::of(fs, info, bytes)
    }

    fn of(fs: SimFs, info: SegmentInfo, bytes: Vec<u8>) -> Forge {
        let segment = open_paged(&fs, &info);
        let (mut blocks, mut directories) = (Vec::new(), Vec::new());
        for (i, page) in segment.pages().iter().enumerate() {
            let positions = segment.directory(i).unwrap().positions;
            blocks.extend(positions.windows(2).map(|pair| pair[0] as usize..pair[1] as usize));
            directories
                .push(page.directory as usize..(page.directory + u64::from(page.directory_len)) as usize);
        }
        let footer = bytes.len() - FOOTER_BYTES as usize;
        let top = footer - segment.pages().len() * PAGE_BYTES as usize..footer;
        let forge = Forge { fs, info, bytes, blocks, directories, top, footer };
        assert_eq!(
            forge.with_checksums(forge.bytes.clone()),
            forge.bytes,
            "the forge computes what the writer does"
        );
        forge
    }

    /// Returns the file with all its checksums computed again.
    fn with_checksums(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        let end = DIRECTORY_CHECKSUM as usize;
        for block in &self.blocks {
            let body = block.start..block.end - end;
            let mut sum = block_checksum(FILE, block.start as u64);
            sum.update(&bytes[body.clone()]);
            bytes[body.end..block.end].copy_from_slice(&sum.digest64().to_le_bytes());
        }
        let sum_of = |bytes: &[u8], range: Range<usize>| {
            let mut sum = index_checksum(FILE, range.start as u64);
            sum.update(&bytes[range]);
            sum.digest64().to_le_bytes()
        };
        for directory in &self.directories {
            let sum = sum_of(&bytes, directory.clone());
            bytes[directory.end..directory.end + end].copy_from_slice(&sum);
        }
        let sum = sum_of(&bytes, self.top.clone());
        bytes[self.footer + 88..self.footer + 96].copy_from_slice(&sum);
        let sum = sum_of(&bytes, self.footer..self.footer + FOOTER_BODY);
        bytes[self.footer + FOOTER_BODY..self.footer + FOOTER_BODY + 8].copy_from_slice(&sum);
        bytes
    }

    /// Stores the file with `value` as the `width` bytes at `at`, and with correct checksums. Returns whether
    /// the file differs from the original.
    pub(super) fn forge(&self, at: usize, width: usize, value: u64) -> bool {
        let mut bytes = self.bytes.clone();
        bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        self.store(bytes)
    }

    fn store(&self, bytes: Vec<u8>) -> bool {
        let bytes = self.with_checksums(bytes);
        self.fs.overwrite(&segment_name(FILE), &bytes);
        bytes != self.bytes
    }

    /// Returns the description that a manifest would have if it took its numbers from the footer.
    fn believed(&self) -> SegmentInfo {
        let bytes = self.fs.file(&segment_name(FILE)).unwrap();
        let field = |at: usize| u64::from_le_bytes(*bytes[self.footer + at..].first_chunk().unwrap());
        SegmentInfo {
            subgraphs: field(48),
            vertices: field(56),
            edges: field(64),
            max_as_of: Timestamp(field(72)),
            hash: checksum128(&bytes),
            pages: None,
            ..self.info
        }
    }

    /// Asserts that reading the file fails, with the right description and with that of the footer, and that
    /// salvage ends.
    fn is_refused(&self, what: impl std::fmt::Debug) {
        let kind = kind_of(read_all(&self.fs, &self.info));
        assert!(matches!(kind, CorruptionKind::Invalid(_)), "{what:?}: {kind:?}");
        let kind = kind_of(read_all(&self.fs, &self.believed()));
        assert!(matches!(kind, CorruptionKind::Invalid(_)), "{what:?}: {kind:?}");
        salvage(&self.fs, Some(&self.info));
        self.lists_break_no_rule();
    }

    /// Asserts that lists break no rule of an image, with the right description and with that of the footer.
    fn lists_break_no_rule(&self) {
        for info in [self.info, self.believed()] {
            if let Ok(reader) = SegmentReader::open(self.fs.handle(), &info, STORE) {
                lists::break_no_rule(&reader, &small_images());
            }
        }
    }
}

/// Returns the position and the width of every number of one, two, four and eight bytes in `range`.
pub(super) fn fields(range: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let end = range.end;
    range
        .flat_map(move |at| [1, 2, 4, 8].map(|width| (at, width)))
        .filter(move |(at, width)| at + width <= end)
}

#[test]
fn hostile_directories_are_refused() {
    let forge = Forge::new();
    for directory in forge.directories.clone() {
        for (at, width) in fields(directory.clone()) {
            for value in VALUES {
                if forge.forge(at, width, value) {
                    forge.is_refused((at - directory.start, width, value));
                }
            }
        }
    }
}

#[test]
fn hostile_top_indexes_are_refused() {
    let forge = Forge::new();
    for (at, width) in fields(forge.top.clone()) {
        for value in VALUES {
            if forge.forge(at, width, value) {
                forge.is_refused(((at - forge.top.start) % PAGE_BYTES as usize, width, value));
            }
        }
    }
}

#[test]
fn hostile_footers_are_refused() {
    let forge = Forge::new();
    // The checksum of the top index is not forged, because it is computed again. The position of the key
    // index is left out, because it has tests of its own.
    let fields = fields(0..88).chain(fields(104..FOOTER_BODY));
    for (at, width) in fields {
        for value in VALUES {
            // A file with another configuration is not contradictory in itself, if its images fit that
            // configuration.
            let is_config = at < 84 && at + width > 80;
            if forge.forge(forge.footer + at, width, value) && !is_config {
                forge.is_refused((at, width, value));
            } else if is_config && let Ok(images) = read_all(&forge.fs, &forge.believed()) {
                let config =
                    SegmentReader::open(forge.fs.handle(), &forge.believed(), STORE).unwrap().config();
                assert!(images.iter().all(|image| image.with_ref(|image| image.fault(&config)).is_none()));
            }
        }
    }
}

/// The content of a forged block is an image that could have been written, or an error.
#[test]
fn hostile_blocks_are_refused_or_hold_images() {
    let forge = Forge::new();
    let config = config(KeyKind::U64, true);
    let (mut refused, mut taken) = (0, 0);
    for block in forge.blocks.clone() {
        for (at, width) in fields(block.start..block.end - 8).filter(|(_, width)| [1, 4].contains(width)) {
            for value in VALUES {
                if !forge.forge(at, width, value) {
                    continue;
                }
                match read_all(&forge.fs, &forge.info) {
                    Ok(images) => {
                        taken += 1;
                        let faults =
                            images.iter().find_map(|image| image.with_ref(|image| image.fault(&config)));
                        assert_eq!(faults, None);
                        let head = block.start..block.start + HEAD_BYTES;
                        assert_eq!(files::bytes_of(&forge.fs)[head.clone()], forge.bytes[head]);
                    }
                    Err(error) => {
                        refused += 1;
                        let kind = kind_of(Err(error));
                        assert!(matches!(kind, CorruptionKind::Invalid(_)), "{at} {width} {value}: {kind:?}");
                    }
                }
                salvage(&forge.fs, Some(&forge.info));
                forge.lists_break_no_rule();
            }
        }
    }
    assert!(refused > 1000 && taken > 100, "{refused} {taken}");
}

/// Some fields of directories and of the top index are wrong, but their sums are right.
#[test]
fn sums_that_hide_a_wrong_summand_are_refused() {
    let forge = Forge::new();
    // The first page has two images. Its entries of 34 bytes follow the head and the lengths of the blocks.
    let directory = forge.directories[0].start;
    let blocks = u32::from_le_bytes(*forge.bytes[directory + 8..].first_chunk().unwrap()) as usize;
    let entry = |i: usize| directory + 16 + 2 * blocks + i * 34;
    assert_eq!(forge.directories[0].end, entry(2));
    // Moves edges, vertices, or bytes of neighbors, keys and properties from one image to the other.
    for field in [8, 16, 22, 24, 28] {
        let mut bytes = forge.bytes.clone();
        if bytes[entry(1) + field] > 0 {
            bytes[entry(0) + field] += 1;
            bytes[entry(1) + field] -= 1;
            assert!(forge.store(bytes));
            forge.is_refused(field);
        }
    }
    // Changes the lengths of two blocks.
    let mut bytes = forge.bytes.clone();
    (bytes[directory + 16], bytes[directory + 18]) = (bytes[directory + 16] - 1, bytes[directory + 18] + 1);
    assert!(forge.store(bytes));
    forge.is_refused("blocks");
    // Changes the edges and vertices of two pages in the top index, or the beginning and the length of a
    // directory.
    for (more, less) in [(32, 48 + 32), (28, 48 + 28), (16, 24)] {
        let mut bytes = forge.bytes.clone();
        bytes[forge.top.start + more] += 1;
        bytes[forge.top.start + less] -= 1;
        assert!(forge.store(bytes));
        forge.is_refused((more, less));
    }
}

/// The pieces are in another order and have correct checksums. Their neighbors do not ascend.
#[test]
fn pieces_in_another_order_are_refused() {
    let fs = SimFs::new();
    let info = write(&fs, config(KeyKind::Dense, false), &[star_image(1, 60_000)]);
    let bytes = files::bytes_of(&fs);
    let forge = Forge::of(fs, info, bytes);
    let (first, second) = (forge.blocks[2].clone(), forge.blocks[3].clone());
    assert_eq!(first.len(), second.len());
    let mut bytes = forge.bytes.clone();
    bytes.copy_within(second.clone(), first.start);
    bytes[second].copy_from_slice(&forge.bytes[first]);
    assert!(forge.store(bytes));
    forge.is_refused("order");
}

/// A read of one list also compares the directory, the head and the block.
#[test]
fn lists_of_parts_that_disagree_are_refused() {
    let forge = Forge::new();
    let images = small_images();
    let all_refused = |images: &[SubgraphImage], what: &str| {
        let reader = SegmentReader::open(forge.fs.handle(), &forge.info, STORE).unwrap();
        assert_eq!(lists::readable(&reader, images), 0, "{what}");
    };
    let record = forge.blocks[0].start + HEAD_BYTES;
    // The kind of a block.
    assert!(forge.forge(record - 2, 1, 1));
    all_refused(&images[..2], "kind");
    // The subgraph, the label and the timestamp of a record.
    for (at, width) in [(0, 4), (4, 2), (8, 8)] {
        assert!(forge.forge(record + at, width, 9));
        all_refused(&images[..1], "record");
    }
    // Edges of one image are counted for another one, and a label has live vertices without neighbors.
    let directory = forge.directories[0].start;
    let blocks = u32::from_le_bytes(*forge.bytes[directory + 8..].first_chunk().unwrap()) as usize;
    let entry = |i: usize| directory + 16 + 2 * blocks + i * 34;
    let mut bytes = forge.bytes.clone();
    (bytes[entry(0) + 16], bytes[entry(1) + 16]) = (bytes[entry(0) + 16] + 1, bytes[entry(1) + 16] - 1);
    assert!(forge.store(bytes));
    all_refused(&images[..2], "edges");
    let labelled = images.iter().position(|image| image.id.label == LabelId(2)).unwrap();
    let of_page = |page: usize| forge.directories[page].start;
    // The page of the label is the third one. Its record begins its first block.
    let block = forge.blocks.iter().find(|block| forge.bytes[block.start + HEAD_BYTES + 4] == 2).unwrap();
    let mut bytes = forge.bytes.clone();
    bytes[block.start + HEAD_BYTES + 16] |= 4;
    let blocks = u32::from_le_bytes(*forge.bytes[of_page(2) + 8..].first_chunk().unwrap()) as usize;
    bytes[of_page(2) + 16 + 2 * blocks + 8] |= 4;
    assert!(forge.store(bytes));
    all_refused(&images[labelled..=labelled], "vertices of a label");
    assert!(!forge.store(forge.bytes.clone()));
    let reader = SegmentReader::open(forge.fs.handle(), &forge.info, STORE).unwrap();
    assert_eq!(lists::readable(&reader, &images), images.len());
}
