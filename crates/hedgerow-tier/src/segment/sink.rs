//! Writing the bytes of a segment: large writes, syncs in between, the hash of the file.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_io::checksum::Checksum;
use hedgerow_io::{FileId, NamedFile};

use super::block::{self, BlockKind};
use crate::TierError;

/// The number of bytes that are gathered before a write to the file.
const BUFFER_BYTES: usize = 256 * 1024;
/// The number of bytes between two syncs: a single sync of a whole large file would delay the syncs of the
/// log.
const SYNC_BYTES: u64 = 2 << 20;

/// A writer that takes the bytes of a segment in order.
#[derive(Debug)]
pub(super) struct Sink {
    file: NamedFile,
    file_id: FileId,
    /// Bytes not yet written to the file.
    buffer: Vec<u8>,
    written: u64,
    /// Bytes written after the last sync.
    unsynced: u64,
    hash: Checksum,
    failed: bool,
}

impl Sink {
    /// Makes a sink whose file begins with `header`.
    pub(super) fn new(file: NamedFile, file_id: FileId, header: &[u8]) -> Sink {
        Sink {
            file,
            file_id,
            buffer: header.to_vec(),
            written: 0,
            unsynced: 0,
            hash: Checksum::new(),
            failed: false,
        }
    }

    pub(super) fn file_id(&self) -> FileId {
        self.file_id
    }

    /// Returns the bytes of the buffer.
    pub(super) fn memory_bytes(&self) -> usize {
        self.buffer.capacity()
    }

    /// Returns the position of the next byte in the file.
    pub(super) fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Appends a block.
    pub(super) fn put_block(&mut self, kind: BlockKind, payload: &[u8]) -> Result<(), TierError> {
        self.check()?;
        block::encode(self.file_id, self.position(), kind, payload, &mut self.buffer);
        self.flush_if_full()
    }

    /// Appends bytes that belong to no block.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), TierError> {
        self.check()?;
        self.buffer.extend_from_slice(bytes);
        self.flush_if_full()
    }

    /// Writes the rest of the buffer and syncs the file. Returns its size and hash.
    pub(super) fn close(mut self) -> Result<(u64, u128), TierError> {
        self.flush()?;
        if !faults::is_on(PlantedFault::SegmentNotSynced) {
            self.file.sync_all()?;
        }
        Ok((self.written, self.hash.digest128()))
    }

    fn flush_if_full(&mut self) -> Result<(), TierError> {
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), TierError> {
        self.check()?;
        self.failed = true;
        self.file.write_all_at(&self.buffer, self.written)?;
        self.unsynced += self.buffer.len() as u64;
        if self.unsynced >= SYNC_BYTES {
            self.file.sync_data()?;
            self.unsynced = 0;
        }
        self.failed = false;
        self.hash.update(&self.buffer);
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Checks that no write has failed: after a failure the content of the file is unknown, and further
    /// writes could leave a hole.
    pub(super) fn check(&self) -> Result<(), TierError> {
        if self.failed { Err(TierError::WriterFailed { file: self.file.name().to_owned() }) } else { Ok(()) }
    }
}
