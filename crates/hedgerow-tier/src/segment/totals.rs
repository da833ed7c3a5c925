//! The totals of a segment.

use hedgerow_core::Timestamp;

use super::SegmentInfo;

/// The counts of a segment; footer and manifest both contain them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) images: u64,
    pub(super) vertices: u64,
    pub(super) edges: u64,
    pub(super) max_as_of: Timestamp,
}

impl Totals {
    /// Adds `images` images with these live vertices and outgoing neighbors; `None` if a count exceeds 64
    /// bits.
    pub(super) fn add(self, images: u64, vertices: u64, edges: u64, as_of: Timestamp) -> Option<Totals> {
        Some(Totals {
            images: self.images.checked_add(images)?,
            vertices: self.vertices.checked_add(vertices)?,
            edges: self.edges.checked_add(edges)?,
            max_as_of: self.max_as_of.max(as_of),
        })
    }
}

impl SegmentInfo {
    pub(super) fn totals(&self) -> Totals {
        Totals {
            images: self.subgraphs,
            vertices: self.vertices,
            edges: self.edges,
            max_as_of: self.max_as_of,
        }
    }
}
