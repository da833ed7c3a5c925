//! What salvage reports.

use crate::TierError;
use crate::id::ImageId;

/// Something of a segment that cannot be read.
#[derive(Debug)]
pub struct SegmentLoss {
    /// The image, where it is known which.
    pub image: Option<ImageId>,
    /// Why not.
    pub error: TierError,
}
