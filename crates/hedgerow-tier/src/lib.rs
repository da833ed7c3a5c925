//! The disk tier: immutable segments of subgraphs, and the manifest that names the live ones.
//!
//! - [`segment`]: [`SegmentWriter`] and [`SegmentReader`] for files of [`SubgraphRecord`]s.
//! - [`manifest`]: the [`Manifest`] and its atomic switch.
//! - [`packed`]: neighbor lists in few bits, as segments store them.
//! - [`sorter`]: sorting of more records than fit in memory, by [`temporary`] files.
//!
//! The layouts are drawn in `docs/format/`: `segment.md`, `packed.md`, `manifest.md`. Every byte has passed a
//! checksum before it is interpreted, and is not trusted even then. For any content of a file, the result is
//! an image, a manifest or a [`TierError`].
#![forbid(unsafe_code)]

mod bytes;
mod config;
mod error;
mod id;
pub mod manifest;
pub mod packed;
pub mod segment;
pub mod sorter;
pub mod temporary;

pub use error::TierError;
pub use manifest::{LevelSegment, LoadedManifest, LogSegmentRef, Manifest, Section};
pub use segment::{
    AdjacencyPart, DeltaRef, Extent, FoundList, ImageId, ImageKeys, ImageRef, ImageSummary, IndexedKey,
    KeysRef, ListImage, ListQuery, PageId, PartRef, ReadCache, ReadMemory, SegmentInfo, SegmentReader,
    SegmentWriter, SubgraphDelta, SubgraphImage, SubgraphKeys, SubgraphRecord,
};
