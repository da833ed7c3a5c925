//! Reads of records from the blocks of a page, in order, several blocks at a time.

use std::ops::Range;

use super::block::{self, BlockKind, HEAD_BYTES, MOST_PAYLOAD};
use super::directory::Place;
use super::source::Source;
use crate::TierError;
use crate::bytes::Fault;

/// The most bytes of one read, unless a single block is longer.
const READ_AHEAD: u64 = 512 * 1024;

/// The blocks of a page from the last read, and the number of the block that was verified last.
#[derive(Debug)]
pub(super) struct Window<'a> {
    source: &'a Source,
    /// The position of each block, and the end of the last block.
    positions: &'a [u64],
    /// The number of the first block that is not read ahead.
    until: usize,
    blocks: Range<usize>,
    raw: Vec<u8>,
    verified: Option<usize>,
    /// The last record that was joined from several blocks.
    gathered: Vec<u8>,
}

impl<'a> Window<'a> {
    /// Makes a window on the blocks at `positions`. Blocks from number `until` on are not read ahead.
    pub(super) fn new(source: &'a Source, positions: &'a [u64], until: usize) -> Window<'a> {
        Window {
            source,
            positions,
            until,
            blocks: 0..0,
            raw: Vec::new(),
            verified: None,
            gathered: Vec::new(),
        }
    }

    /// Returns an upper bound for the buffer of the blocks from `number` to the last block that is read
    /// ahead.
    pub(super) fn buffer_bytes(&self, number: usize) -> u64 {
        let at = |block: usize| self.positions.get(block).copied().unwrap_or(0);
        at(self.until.max(number.saturating_add(1))).saturating_sub(at(number)).min(READ_AHEAD)
    }

    /// Returns the payload of a block, which must be of `kind`.
    pub(super) fn payload(&mut self, number: usize, kind: BlockKind) -> Result<&[u8], TierError> {
        if !self.blocks.contains(&number) {
            self.read_from(number)?;
        }
        let at = |block: usize| self.positions.get(block).copied().unwrap_or(0);
        let (begin, position, end) = (at(self.blocks.start), at(number), at(number + 1));
        let raw = self.raw.get((position - begin) as usize..(end - begin) as usize).unwrap_or(&[]);
        if self.verified != Some(number) {
            let (found, _) = block::verify(self.source, position, raw)?;
            if found != kind {
                return Err(self.source.invalid(position, "block of another kind"));
            }
            self.verified = Some(number);
        }
        Ok(raw.get(HEAD_BYTES..raw.len() - 8).unwrap_or(&[]))
    }

    /// Returns the record at `place`. When the directory was read, the place was checked against the lengths
    /// of the blocks.
    pub(super) fn record(&mut self, place: Place, kind: BlockKind) -> Result<&[u8], TierError> {
        let position = self.positions.get(place.block).copied().unwrap_or(0);
        let missing = || self.source.invalid(position, "record beyond its blocks");
        let len = usize::try_from(place.len).map_err(|_| missing())?;
        if len <= MOST_PAYLOAD {
            let source = self.source;
            let record = self.payload(place.block, kind)?.get(place.offset..place.offset + len);
            return record.ok_or_else(|| source.invalid(position, "record beyond its blocks"));
        }
        let mut gathered = std::mem::take(&mut self.gathered);
        gathered.clear();
        let mut number = place.block;
        while gathered.len() < len {
            let payload = self.payload(number, kind)?;
            let rest = len - gathered.len();
            let taken = payload.get(..payload.len().min(rest)).unwrap_or(payload);
            if !has_room_for(&mut gathered, taken.len(), rest) {
                return Err(self.source.invalid(position, "no memory for a record of this length"));
            }
            gathered.extend_from_slice(taken);
            number += 1;
        }
        self.gathered = gathered;
        self.gathered.get(..len).ok_or_else(|| self.source.invalid(position, "record beyond its blocks"))
    }

    /// Returns the fault of the record at `place` as an error with its position in the file.
    pub(super) fn error(&self, place: Place, fault: Fault) -> TierError {
        let block = self.positions.get(place.block).copied().unwrap_or(0);
        let offset = (HEAD_BYTES + place.offset + fault.position) as u64;
        self.source.invalid(block.saturating_add(offset), fault.what)
    }

    /// Reads blocks from `number` on: as many as fit in one read, but at least one.
    fn read_from(&mut self, number: usize) -> Result<(), TierError> {
        let at = |block: usize| self.positions.get(block).copied();
        let begin = at(number).unwrap_or(0);
        let mut end = number + 1;
        while end < self.until && at(end + 1).is_some_and(|after| after - begin <= READ_AHEAD) {
            end += 1;
        }
        let Some(after) = at(end) else {
            return Err(self.source.invalid(begin, "block beyond its page"));
        };
        self.blocks = 0..0;
        self.verified = None;
        let len = (after - begin) as usize;
        if self.raw.capacity() < len {
            // Allocates exactly the memory that the caller granted. The old buffer is dropped, not copied.
            self.raw = Vec::with_capacity(len);
        }
        self.raw.resize(len, 0);
        self.source.read(&mut self.raw, begin)?;
        self.blocks = number..end;
        Ok(())
    }
}

/// Reserves memory for `more` bytes of a record that lacks `rest` bytes; false if there is no memory. The
/// record grows with the verified bytes, because a length alone does not justify an allocation. It never
/// grows beyond its length.
pub(super) fn has_room_for(record: &mut Vec<u8>, more: usize, rest: usize) -> bool {
    record.capacity() - record.len() >= more
        || record.try_reserve_exact(more.max(record.len()).min(rest.max(more))).is_ok()
}
