//! An open segment of a store.

use std::sync::Arc;

use hedgerow_io::{StoreId, Vfs};
use hedgerow_tier::segment::segment_name;
use hedgerow_tier::{LevelSegment, SegmentReader, TierError};

/// An open segment, with its name for messages.
#[derive(Debug)]
pub struct NamedSegment {
    /// The reader of the file.
    pub reader: SegmentReader,
    /// The name of the file.
    pub name: String,
}

impl NamedSegment {
    /// Opens a segment of a store.
    pub(crate) fn open(
        fs: &Arc<dyn Vfs>,
        segment: &LevelSegment,
        store: StoreId,
    ) -> Result<NamedSegment, TierError> {
        let reader = SegmentReader::open(fs.clone(), &segment.info, store)?;
        Ok(NamedSegment { reader, name: segment_name(segment.info.file_id) })
    }
}
