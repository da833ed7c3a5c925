//! The manifest: the list of the files of the store, replaced as a whole.
//!
//! A store has one valid manifest at a time, the one with the highest number. [`Manifest::store`] switches to
//! the next one. After a crash at any point a reader finds either the complete old one or the complete new
//! one. The proof is in `docs/format/manifest.md`.

mod codec;
mod names;
mod switch;

#[cfg(test)]
mod tests;

pub use names::{is_store_file_name, manifest_name, segment_id};
pub use switch::{LoadedManifest, NamedManifest};

use hedgerow_core::{GraphConfig, Timestamp};
use hedgerow_io::{FileId, Lsn, StoreId};

use crate::SegmentInfo;

/// The content of a manifest file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The identity of the store, drawn at creation and contained in every file of the store.
    pub store: StoreId,
    /// The configuration with which the graph was created.
    pub config: GraphConfig,
    /// The number of this manifest, which its file name contains: 1 for the first, one more for each switch.
    pub sequence: u64,
    /// The timestamp of the last checkpoint: the segments contain every commit up to it.
    pub checkpoint: Timestamp,
    /// The log position that was known to be durable when this manifest was written.
    pub durable_lsn: Lsn,
    /// One more than the largest vertex id ever given out; at most `u32::MAX`.
    pub next_vertex: u32,
    /// The file id of the next segment; no segment of the store ever had it.
    pub next_file_id: FileId,
    /// The live segments, each once, in any order.
    pub segments: Vec<LevelSegment>,
    /// The live log segments in log order: ids strictly ascending, first positions ascending.
    pub logs: Vec<LogSegmentRef>,
    /// Sections that this or other versions define, strictly ascending by tag, unchanged from the file.
    pub sections: Vec<Section>,
}

/// A live segment and its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelSegment {
    /// The level; new segments of checkpoints have level 0.
    pub level: u8,
    /// The segment.
    pub info: SegmentInfo,
}

/// A live log segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSegmentRef {
    /// The file id of the log segment; the ids of log segments are separate from those of segments.
    pub id: FileId,
    /// The position of its first record.
    pub first_lsn: Lsn,
}

/// An optional section of the manifest. This version reads the schema and the counts, and preserves other
/// sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The number of the section's subject.
    pub tag: u32,
    /// The version of its layout.
    pub version: u16,
    /// True if a program that does not know the section must refuse the store.
    pub required: bool,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Section {
    /// The tag of the section with labels and properties.
    pub const SCHEMA: u32 = 1;
    /// The version of its layout.
    pub const SCHEMA_VERSION: u16 = 1;

    /// The tag of the section with the counts of the checkpoint.
    pub const COUNTS: u32 = 2;
    /// The version of its layout.
    pub const COUNTS_VERSION: u16 = 1;

    /// True if this version knows the section.
    pub fn is_known(&self) -> bool {
        matches!(
            (self.tag, self.version),
            (Section::SCHEMA, Section::SCHEMA_VERSION) | (Section::COUNTS, Section::COUNTS_VERSION)
        )
    }
}

impl Manifest {
    /// Returns the manifest of a new store: number 1, no segments, no log.
    pub fn new(store: StoreId, config: GraphConfig) -> Manifest {
        Manifest {
            store,
            config,
            sequence: 1,
            checkpoint: Timestamp::ZERO,
            durable_lsn: Lsn::ZERO,
            next_vertex: 0,
            next_file_id: FileId(1),
            segments: Vec::new(),
            logs: Vec::new(),
            sections: Vec::new(),
        }
    }

    /// Returns the first rule of a manifest that this one breaks. A manifest without a fault can be stored
    /// and loaded again.
    fn fault(&self) -> Option<&'static str> {
        let mut ids: Vec<FileId> = self.segments.iter().map(|segment| segment.info.file_id).collect();
        ids.sort_unstable();
        let has_pages_if_images = |s: &LevelSegment| s.info.pages.is_some() == (s.info.subgraphs > 0);
        let in_order = |a: &LogSegmentRef, b: &LogSegmentRef| a.id < b.id && a.first_lsn <= b.first_lsn;
        if self.sequence == 0 {
            Some("manifest number zero")
        } else if ids.last().is_some_and(|last| *last >= self.next_file_id) {
            Some("segment with a file id not below the next one")
        } else if !pairs_hold(&ids, |a, b| a < b) {
            Some("segment listed twice")
        } else if !self.segments.iter().all(has_pages_if_images) {
            Some("segment with images and without pages, or with pages and without images")
        } else if !pairs_hold(&self.logs, in_order) {
            Some("log segments out of order")
        } else if !pairs_hold(&self.sections, |a, b| a.tag < b.tag) {
            Some("sections out of order")
        } else {
            None
        }
    }
}

fn pairs_hold<T>(items: &[T], holds: impl Fn(&T, &T) -> bool) -> bool {
    items.iter().zip(items.iter().skip(1)).all(|(a, b)| holds(a, b))
}
