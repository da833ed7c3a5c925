//! The identities of images and pages.

use std::fmt;

use hedgerow_core::{LabelId, SubgraphId};

/// The number of subgraphs on a page, in memory and in files.
pub(crate) const PAGE_SUBGRAPHS: u32 = 64;

/// The identity of an image: a subgraph in one label. Segments hold images in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageId {
    /// The label whose edges the image holds. An image of the default label also holds the vertices and their
    /// keys.
    pub label: LabelId,
    /// The subgraph.
    pub subgraph: SubgraphId,
}

/// A page of images: those of 64 neighboring subgraphs, 4,096 vertices, in one label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId {
    /// The label.
    pub label: LabelId,
    /// The number of the page: its first subgraph is 64 times this.
    pub page: u32,
}

impl fmt::Display for ImageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.label == LabelId::DEFAULT {
            write!(f, "subgraph {}", self.subgraph.0)
        } else {
            write!(f, "subgraph {} of label {}", self.subgraph.0, self.label.0)
        }
    }
}

impl ImageId {
    /// Returns the page that the image lies on.
    pub fn page(self) -> PageId {
        PageId { label: self.label, page: self.subgraph.0 / PAGE_SUBGRAPHS }
    }
}
