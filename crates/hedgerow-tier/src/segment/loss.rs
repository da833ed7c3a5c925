//! The losses that salvage reports.

use crate::TierError;
use crate::id::ImageId;

/// A loss: data of a segment that cannot be read.
#[derive(Debug)]
pub struct SegmentLoss {
    /// The image, if it is known.
    pub image: Option<ImageId>,
    /// The reason.
    pub error: TierError,
}
