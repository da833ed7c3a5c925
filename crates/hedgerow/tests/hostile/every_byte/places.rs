//! The kind of place of each byte in the files of a store, according to the pages in `docs/format`. It does
//! not use the code that reads the files.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use hedgerow_testkit::SegmentLayout;

use crate::common::records::number;
use crate::stores::Files;

/// The length of the header of every file, of the part of a log before its records, and of the head of a
/// record.
const HEADER: usize = 64;
const PREAMBLE: usize = 128;
const FRAME: usize = 56;
/// The offset of a manifest's lists, the lengths of their entries, and the length of its hash.
const LISTS: usize = 120;
const SEGMENT_ENTRY: usize = 104;
const LOG_ENTRY: usize = 16;
const HASH: usize = 16;
const CHECKSUM: usize = 8;
const SUBGRAPHS_OF_PAGE: u32 = 64;

macro_rules! kinds {
    ($($kind:ident),+) => {
        /// A kind of place in a file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Kind { $($kind),+ }

        impl Kind {
            pub(super) const ALL: &[Kind] = &[$(Kind::$kind),+];
        }
    };
}

kinds!(
    FileHeader,
    LogPreamble,
    LogFrame,
    LogPayload,
    ManifestFixed,
    ManifestSegment,
    ManifestLog,
    ManifestSection,
    ManifestHash,
    BlockHead,
    BlockChecksum,
    Neighbors,
    HeadOfCut,
    Piece,
    Keys,
    Properties,
    Directory,
    DirectoryChecksum,
    KeyBlock,
    KeyHead,
    TopIndex,
    Footer
);

impl Kind {
    /// True if reads need this kind, in addition to an opening.
    pub(super) fn is_read_later(self) -> bool {
        (Kind::BlockHead..=Kind::KeyBlock).contains(&self)
    }
}

/// The places of a store's files.
pub(super) struct Places {
    by_kind: BTreeMap<Kind, Vec<(String, usize)>>,
    segments: BTreeMap<String, SegmentLayout>,
}

impl Places {
    pub(super) fn of(files: &Files) -> Places {
        let mut places = Places { by_kind: BTreeMap::new(), segments: BTreeMap::new() };
        for (name, bytes) in files.iter().filter(|(name, _)| *name != "LOCK" && *name != "RESERVE") {
            let kinds = match name.rsplit('.').next() {
                Some("wal") => of_log(bytes),
                Some("man") => of_manifest(bytes),
                Some("csr") => {
                    let layout = SegmentLayout::of(bytes).expect("a segment of format 5");
                    let kinds = of_segment(&layout, bytes.len());
                    places.segments.insert(name.clone(), layout);
                    kinds
                }
                _ => panic!("{name} is no file of a store"),
            };
            for (at, kind) in kinds.into_iter().enumerate() {
                let kind = kind.unwrap_or_else(|| panic!("{name}: byte {at} belongs to nothing"));
                places.by_kind.entry(kind).or_default().push((name.clone(), at));
            }
        }
        places
    }

    /// Returns the file and position of each byte, by kind.
    pub(super) fn by_kind(&self) -> impl Iterator<Item = (Kind, &[(String, usize)])> {
        self.by_kind.iter().map(|(kind, places)| (*kind, &places[..]))
    }

    /// Returns the pages, of 4,096 vertices, that a byte of a block or directory belongs to. Returns `None`
    /// for other bytes.
    pub(super) fn pages_of(&self, file: &str, at: usize) -> Option<BTreeSet<u32>> {
        let layout = self.segments.get(file)?;
        let page = layout.pages.iter().find(|page| {
            let blocks = &layout.blocks[page.blocks.clone()];
            (page.directory.start..page.directory.end + CHECKSUM).contains(&at)
                || blocks.iter().any(|block| block.bytes.contains(&at))
        })?;
        Some(page.images.iter().map(|image| image.subgraph / SUBGRAPHS_OF_PAGE).collect())
    }
}

/// The id of an image: the numbers of its label and subgraph.
pub(super) type ImageId = (u16, u32);

impl Places {
    /// Returns the image whose record contains a byte. For other bytes of a block, returns one of the images
    /// in the block.
    pub(super) fn image_of(&self, file: &str, at: usize) -> Option<ImageId> {
        let layout = self.segments.get(file)?;
        let images = || layout.pages.iter().flat_map(|page| &page.images);
        let its_own = images().find(|image| image.records().any(|record| record.contains(&at)));
        let image = its_own.or_else(|| images().find(|image| layout.is_in_blocks_of(image, at)))?;
        Some((image.label, image.subgraph))
    }
}

type Kinds = Vec<Option<Kind>>;

/// Returns the kinds of a file's bytes, of which only the header's kind is set.
fn kinds_of(length: usize) -> Kinds {
    let mut kinds = vec![None; length];
    put(&mut kinds, 0..HEADER, Kind::FileHeader);
    kinds
}

fn put(kinds: &mut Kinds, range: Range<usize>, kind: Kind) {
    kinds[range].fill(Some(kind));
}

fn of_log(bytes: &[u8]) -> Kinds {
    let mut kinds = kinds_of(bytes.len());
    put(&mut kinds, HEADER..PREAMBLE, Kind::LogPreamble);
    let mut at = PREAMBLE;
    // A closed log ends after its last record.
    while at < bytes.len() {
        let end = at + FRAME + number(bytes, at, 4).next_multiple_of(8);
        put(&mut kinds, at..at + FRAME, Kind::LogFrame);
        put(&mut kinds, at + FRAME..end, Kind::LogPayload);
        at = end;
    }
    kinds
}

fn of_manifest(bytes: &[u8]) -> Kinds {
    let mut kinds = kinds_of(bytes.len());
    let logs = LISTS + number(bytes, 104, 4) * SEGMENT_ENTRY;
    let sections = logs + number(bytes, 108, 4) * LOG_ENTRY;
    put(&mut kinds, HEADER..LISTS, Kind::ManifestFixed);
    put(&mut kinds, LISTS..logs, Kind::ManifestSegment);
    put(&mut kinds, logs..sections, Kind::ManifestLog);
    put(&mut kinds, sections..bytes.len() - HASH, Kind::ManifestSection);
    put(&mut kinds, bytes.len() - HASH..bytes.len(), Kind::ManifestHash);
    kinds
}

fn of_segment(layout: &SegmentLayout, length: usize) -> Kinds {
    let mut kinds = kinds_of(length);
    for block in &layout.blocks {
        put(&mut kinds, block.bytes.start..block.payload().start, Kind::BlockHead);
        put(&mut kinds, block.payload().end..block.bytes.end, Kind::BlockChecksum);
    }
    for page in &layout.pages {
        put(&mut kinds, page.directory.clone(), Kind::Directory);
        put(&mut kinds, page.directory.end..page.directory.end + CHECKSUM, Kind::DirectoryChecksum);
        for image in &page.images {
            let whole = image.pieces.is_empty();
            put(&mut kinds, image.topology.clone(), if whole { Kind::Neighbors } else { Kind::HeadOfCut });
            let rest = [(&image.pieces, Kind::Piece), (&image.keys, Kind::Keys)];
            for (stretches, kind) in rest.into_iter().chain([(&image.columns, Kind::Properties)]) {
                stretches.iter().for_each(|stretch| put(&mut kinds, stretch.clone(), kind));
            }
        }
    }
    layout.key_blocks.iter().for_each(|block| put(&mut kinds, block.clone(), Kind::KeyBlock));
    layout.key_head.iter().for_each(|head| put(&mut kinds, head.bytes.clone(), Kind::KeyHead));
    put(&mut kinds, layout.top_index.clone(), Kind::TopIndex);
    put(&mut kinds, layout.footer.clone(), Kind::Footer);
    kinds
}
