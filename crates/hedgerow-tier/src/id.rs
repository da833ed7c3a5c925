//! The identities of images and pages.

use std::fmt;

use hedgerow_core::{LabelId, SubgraphId};

/// The number of subgraphs on a page, in memory and in files.
pub(crate) const PAGE_SUBGRAPHS: u32 = 64;

/// The identity of an image: a subgraph and a label. Segments contain images in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageId {
    /// The label of the image's edges. An image of the default label also has the vertices and their keys.
    pub label: LabelId,
    /// The subgraph.
    pub subgraph: SubgraphId,
}

/// A page: the images of 64 neighboring subgraphs (4,096 vertices) in one label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId {
    /// The label.
    pub label: LabelId,
    /// The number of the page. Its first subgraph has 64 times this number.
    pub page: u32,
}

impl From<(LabelId, SubgraphId)> for ImageId {
    fn from((label, subgraph): (LabelId, SubgraphId)) -> Self {
        ImageId { label, subgraph }
    }
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
    /// Returns the page of the image.
    pub fn page(self) -> PageId {
        PageId { label: self.label, page: self.subgraph.0 / PAGE_SUBGRAPHS }
    }
}
