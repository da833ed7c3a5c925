//! Segments: immutable files of whole subgraphs in ascending order.
//!
//! A segment is written once, under a file id that is never used again, and never changed. The file is bytes until a
//! manifest names it; a writer that fails or is dropped leaves a stray file and no harm.

mod block;
mod chunks;
mod columns;
mod cursor;
mod image;
mod index;
mod reader;
mod record;
mod salvage;
mod sink;
mod source;
mod writer;

#[cfg(test)]
mod tests;

pub use image::{AdjacencyPart, ImageKeys, ImageRef, KeysRef, PartRef, SubgraphImage};
pub use reader::{SegmentReader, SubgraphSummary};
pub use salvage::{SegmentLoss, read_damaged};
pub use writer::SegmentWriter;

use hedgerow_core::Timestamp;
use hedgerow_io::FileId;

use index::Totals;

/// What a manifest says of a segment: enough to notice a missing, stale, foreign or damaged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// The id in the file's name and header.
    pub file_id: FileId,
    /// The size of the file, in bytes.
    pub bytes: u64,
    /// The 128-bit checksum of the whole file.
    pub hash: u128,
    /// The number of subgraphs.
    pub subgraphs: u64,
    /// The number of live vertices in them.
    pub vertices: u64,
    /// The number of outgoing neighbor entries: of a directed graph its edges; of an undirected one each edge counts
    /// at both ends, a self-loop once.
    pub edges: u64,
    /// The largest `as_of` of any subgraph; zero in an empty segment.
    pub max_as_of: Timestamp,
}

impl SegmentInfo {
    fn totals(&self) -> Totals {
        Totals {
            subgraphs: self.subgraphs,
            vertices: self.vertices,
            edges: self.edges,
            max_as_of: self.max_as_of,
        }
    }
}

/// The name of the segment `file_id`: `seg-<16 hex digits>.csr`.
pub fn segment_name(file_id: FileId) -> String {
    format!("seg-{:016x}.csr", file_id.0)
}
