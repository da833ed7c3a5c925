//! Segments: immutable files of records of subgraphs (images and deltas), in ascending order of label and
//! subgraph.
//!
//! A segment is written once, under a file id that is never reused, and never changes. No reader uses the
//! file until a manifest names it; a writer that fails or is dropped leaves only a harmless stray file.

mod assemble;
mod block;
mod cache;
mod columns;
mod degrees;
mod delta;
mod directory;
mod encode;
mod image;
mod key_index;
mod key_records;
mod keys;
mod list;
mod list_delta;
mod loss;
mod page;
mod page_keys;
mod paged;
mod read_memory;
mod reader;
mod records;
mod salvage;
mod sink;
mod source;
mod summary;
mod top;
mod topology;
mod totals;
mod walk;
mod window;
mod writer;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use crate::id::{ImageId, PageId};
pub use cache::ReadCache;
pub use delta::{DeltaRef, SubgraphDelta, SubgraphRecord};
pub use image::{AdjacencyPart, ImageKeys, ImageRef, KeysRef, PartRef, SubgraphImage};
pub use key_index::IndexedKey;
pub use list::{Extent, ListImage, ListQuery};
pub use list_delta::FoundList;
pub use loss::SegmentLoss;
pub use page_keys::SubgraphKeys;
pub use read_memory::ReadMemory;
pub use reader::SegmentReader;
pub use salvage::read_damaged;
pub use summary::ImageSummary;
pub use writer::SegmentWriter;

use hedgerow_core::Timestamp;
use hedgerow_io::FileId;

/// A manifest's record of a segment: enough to notice a missing, stale, foreign or damaged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// The id in the file's name and header.
    pub file_id: FileId,
    /// The size of the file, in bytes.
    pub bytes: u64,
    /// The 128-bit checksum of the whole file.
    pub hash: u128,
    /// The number of records, images and deltas: a subgraph has one for each label in which the segment
    /// stores it.
    pub subgraphs: u64,
    /// The number of live vertices in these images.
    pub vertices: u64,
    /// The number of outgoing neighbor entries in images and deltas. In images they are the edges of a
    /// directed graph; in an undirected graph each edge counts at both ends, a self-loop once.
    pub edges: u64,
    /// The largest `as_of` of any subgraph; zero in an empty segment.
    pub max_as_of: Timestamp,
    /// The first and the last page; `None` in an empty segment.
    pub pages: Option<(PageId, PageId)>,
}

/// The bit for deltas among the incompatible features in the header of a segment.
const DELTAS_FEATURE: u32 = 2;

/// Returns the name of the segment `file_id`: `seg-<16 hex digits>.csr`.
pub fn segment_name(file_id: FileId) -> String {
    format!("seg-{:016x}.csr", file_id.0)
}

/// Returns the stem of the names of the temporary files in which a segment's keys are sorted.
fn temporary_stem(file_id: FileId) -> String {
    format!("seg-{:016x}", file_id.0)
}
