//! The records of keys of a page, for reads in order.

use super::block::BlockKind;
use super::directory::PlacedImage;
use super::image::ImageKeys;
use super::keys::decode_key_record;
use super::window::Window;
use crate::TierError;
use crate::bytes::whole;

/// A reader of the records of keys of one page. If records are read in order, it reads each block once,
/// several at a time.
#[derive(Debug)]
pub(super) struct KeyRecords<'a>(Window<'a>);

impl<'a> KeyRecords<'a> {
    pub(super) fn new(window: Window<'a>) -> KeyRecords<'a> {
        KeyRecords(window)
    }

    /// Returns an upper bound for the buffer of the blocks from `number` on.
    pub(super) fn buffer_bytes(&self, number: usize) -> u64 {
        self.0.buffer_bytes(number)
    }

    /// Returns the keys of the image's live vertices; `None` if the image has no record of keys.
    pub(super) fn read(&mut self, placed: &PlacedImage) -> Result<Option<ImageKeys>, TierError> {
        if placed.keys.len == 0 {
            return Ok(None);
        }
        let (id, present) = (placed.entry.subgraph, placed.entry.present);
        let record = self.0.record(placed.keys, BlockKind::Keys)?;
        let keys = whole(record, |bytes| decode_key_record(bytes, id, present));
        keys.map(Some).map_err(|fault| self.0.error(placed.keys, fault))
    }
}
