//! Summaries of images, from directories.

use hedgerow_core::Timestamp;

use crate::id::ImageId;

/// The properties of an image in a segment that are known without reading the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSummary {
    /// The identity of the image.
    pub id: ImageId,
    /// The timestamp of the image: it includes every commit up to this timestamp.
    pub as_of: Timestamp,
    /// Bit `i` is set if local vertex `i` is live. In an image of another label than the default one: if it
    /// has neighbors.
    pub present: u64,
    /// The number of live vertices; 0 in an image of another label than the default one.
    pub vertices: u32,
    /// The number of outgoing neighbor entries.
    pub edges: u64,
    /// The size of the image in the file, in bytes.
    pub bytes: u64,
}
