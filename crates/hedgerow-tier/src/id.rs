//! What an image and a page are of.

use std::fmt;

use hedgerow_core::{LabelId, SubgraphId};

/// As many subgraphs are on a page, in memory and in files.
pub(crate) const PAGE_SUBGRAPHS: u32 = 64;

/// What an image is of: a subgraph in one label. Segments hold images in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageId {
    /// The label whose edges the image holds. That of the default label holds the vertices and their keys too.
    pub label: LabelId,
    /// The subgraph.
    pub subgraph: SubgraphId,
}

/// A page of images: those of 64 neighboring subgraphs, 4,096 vertices, in one label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId {
    /// The label.
    pub label: LabelId,
    /// The first subgraph is 64 times this.
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
    /// The page that the image lies on.
    pub fn page(self) -> PageId {
        PageId { label: self.label, page: self.subgraph.0 / PAGE_SUBGRAPHS }
    }
}
