//! The blocks of a segment: the unit of checksums and of reading.
//!
//! A block has whole records, or a piece of a record that is too long for a block. So reading a record, or a
//! list in it, takes one read of a few KiB. The checksum of a block covers the file id and the block's
//! position: a block from another file or position fails the check.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_io::FileId;
use hedgerow_io::checksum::Checksum;

use super::source::Source;
use crate::TierError;

/// The longest block, head and checksum included.
pub(super) const MOST_BLOCK: usize = 64 * 1024;
/// The number of bytes before the payload.
pub(super) const HEAD_BYTES: usize = 4;
/// The length of the checksum at the end of a block.
const CHECKSUM_BYTES: usize = 8;
/// The number of bytes of a block that are not its payload.
pub(super) const BLOCK_OVERHEAD: usize = HEAD_BYTES + CHECKSUM_BYTES;
/// The longest payload.
pub(super) const MOST_PAYLOAD: usize = 65_520;
/// The length of a payload that completes a block: the first record that reaches it is the last of the block.
pub(super) const FULL_PAYLOAD: usize = 4096;

const _: () = assert!(MOST_PAYLOAD + BLOCK_OVERHEAD <= MOST_BLOCK);

/// A verified block.
#[derive(Debug)]
pub(super) struct Block {
    kind: BlockKind,
    raw: Vec<u8>,
}

impl Block {
    /// Verifies the block `raw` at `position`.
    pub(super) fn verified(source: &Source, position: u64, raw: Vec<u8>) -> Result<Block, TierError> {
        let (kind, _) = verify(source, position, &raw)?;
        Ok(Block { kind, raw })
    }

    /// Makes a block without verification: only a planted fault does.
    pub(super) fn unverified(kind: BlockKind, raw: Vec<u8>) -> Block {
        Block { kind, raw }
    }

    pub(super) fn kind(&self) -> BlockKind {
        self.kind
    }

    pub(super) fn payload(&self) -> &[u8] {
        self.raw.get(HEAD_BYTES..self.raw.len().saturating_sub(CHECKSUM_BYTES)).unwrap_or(&[])
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Block>() + self.raw.capacity()
    }
}

/// The kind of the records in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum BlockKind {
    /// Neighbors of several subgraphs, or the head of a subgraph whose neighbors follow in pieces.
    Topology = 0,
    /// A piece: some neighbors of a subgraph whose neighbors do not fit in one block.
    Piece = 1,
    /// Keys of vertices.
    Keys = 2,
    /// Properties.
    Columns = 3,
}

impl BlockKind {
    pub(super) fn from_byte(byte: u8) -> Option<BlockKind> {
        Some(match byte {
            0 => BlockKind::Topology,
            1 => BlockKind::Piece,
            2 => BlockKind::Keys,
            3 => BlockKind::Columns,
            _ => return None,
        })
    }
}

/// Returns a checksum over a directory, the top index or the footer of the file `file_id`, which begins at
/// `position`. It covers a further word, so that it differs from any block checksum: salvage searches for
/// blocks, and must not mistake these for blocks.
pub(super) fn index_checksum(file_id: FileId, position: u64) -> Checksum {
    let mut sum = block_checksum(file_id, position);
    sum.update(b"index");
    sum
}

/// Returns a checksum over the block of the file `file_id` that begins at `position`.
pub(super) fn block_checksum(file_id: FileId, position: u64) -> Checksum {
    let mut sum = Checksum::new();
    sum.update(&file_id.0.to_le_bytes());
    sum.update(&position.to_le_bytes());
    sum
}

/// Appends the block of `payload`, whose position in the file is `position`. The payload has 1 to
/// [`MOST_PAYLOAD`] bytes.
pub(super) fn encode(file_id: FileId, position: u64, kind: BlockKind, payload: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    out.extend((payload.len() as u16).to_le_bytes());
    out.extend([kind as u8, 0]);
    out.extend(payload);
    let mut sum = block_checksum(file_id, position);
    sum.update(out.get(begin..).unwrap_or(&[]));
    out.extend(sum.digest64().to_le_bytes());
}

/// Returns the length and the kind of the block whose first bytes are `head`. They are reliable only after
/// its checksum is verified.
pub(super) fn stated(head: [u8; HEAD_BYTES]) -> Option<(usize, BlockKind)> {
    let [low, high, kind, _] = head;
    let payload = usize::from(u16::from_le_bytes([low, high]));
    let fits = (1..=MOST_PAYLOAD).contains(&payload);
    BlockKind::from_byte(kind).filter(|_| fits).map(|kind| (payload + BLOCK_OVERHEAD, kind))
}

/// Verifies the block `raw` at `position`, and returns its payload.
pub(super) fn verify<'a>(
    source: &Source,
    position: u64,
    raw: &'a [u8],
) -> Result<(BlockKind, &'a [u8]), TierError> {
    let parts = raw.split_last_chunk::<CHECKSUM_BYTES>();
    let Some((body, sum)) = parts else {
        return Err(source.invalid(position, "block without checksum"));
    };
    let mut found = block_checksum(source.file_id, position);
    found.update(body);
    if !faults::is_on(PlantedFault::BlocksNotChecked) {
        source.check(position, u64::from_le_bytes(*sum), found.digest64())?;
    }
    let Some((head, payload)) = body.split_first_chunk::<HEAD_BYTES>() else {
        return Err(source.invalid(position, "block without head"));
    };
    match stated(*head) {
        Some((len, kind)) if len == raw.len() && head[3] == 0 => Ok((kind, payload)),
        _ => Err(source.invalid(position, "head of a block that does not fit it")),
    }
}
