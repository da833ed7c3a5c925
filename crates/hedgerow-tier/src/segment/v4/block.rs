//! The stream of a segment and the blocks it is cut into.
//!
//! Blocks have one size, so that a position in the stream gives its block without a table. Each ends with a checksum
//! that also covers the file id and the block's number: a block of another file, or from another place, does not pass.

use hedgerow_io::checksum::Checksum;
use hedgerow_io::{FileId, HEADER_BYTES};

/// A whole block in the file, checksum included.
pub(super) const BLOCK_BYTES: u64 = 64 * 1024;
/// The checksum at the end of a block.
pub(super) const CHECKSUM_BYTES: u64 = 8;
/// The part of the stream in a whole block; the last block of a file may hold less, but not nothing.
pub(super) const PAYLOAD_BYTES: u64 = BLOCK_BYTES - CHECKSUM_BYTES;

/// How many blocks a stream of `stream` bytes has.
pub(super) fn block_count(stream: u64) -> u64 {
    stream.div_ceil(PAYLOAD_BYTES)
}

/// How many bytes of the file the blocks of a stream of `stream` bytes take; none beyond 64 bits.
pub(super) fn blocks_len(stream: u64) -> Option<u64> {
    block_count(stream).checked_mul(CHECKSUM_BYTES)?.checked_add(stream)
}

/// Where block `number` begins in the file.
pub(super) fn block_offset(number: u64) -> u64 {
    HEADER_BYTES as u64 + number * BLOCK_BYTES
}

/// Where byte `position` of the stream lies in the file.
pub(super) fn file_offset(position: u64) -> u64 {
    block_offset(position / PAYLOAD_BYTES) + position % PAYLOAD_BYTES
}

/// The checksum of block `number` of the file `file_id`.
pub(super) fn block_checksum(file_id: FileId, number: u64, payload: &[u8]) -> u64 {
    let mut sum = region_checksum(file_id, number);
    sum.update(payload);
    sum.digest64()
}

/// A checksum over bytes of the file `file_id` that lie at `place`: so begins that of a block, where `place` is its
/// number, and those of index and footer, where it is their position in the file.
pub(super) fn region_checksum(file_id: FileId, place: u64) -> Checksum {
    let mut sum = Checksum::new();
    sum.update(&file_id.0.to_le_bytes());
    sum.update(&place.to_le_bytes());
    sum
}
