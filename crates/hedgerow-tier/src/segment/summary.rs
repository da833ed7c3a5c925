//! Summaries of images and deltas, from directories.

use hedgerow_core::Timestamp;

use crate::id::ImageId;

/// The properties of a record in a segment that are known without reading the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSummary {
    /// The identity of the image or delta.
    pub id: ImageId,
    /// True for a delta.
    pub is_delta: bool,
    /// The timestamp: the record, a delta together with the older ones, includes every commit up to it.
    pub as_of: Timestamp,
    /// Bit `i` is set if local vertex `i` is live. In an image of another label than the default one: if it
    /// has neighbors.
    pub present: u64,
    /// The number of live vertices; 0 in a delta, and in an image of another label than the default one.
    pub vertices: u32,
    /// The number of outgoing neighbor entries of the subgraph, after the operations of a delta.
    pub edges: u64,
    /// The size of the record in the file, in bytes.
    pub bytes: u64,
}
