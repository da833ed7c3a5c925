//! The byte side of writing a segment: blocks, checksums, the hash of the file, large writes.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_io::checksum::Checksum;
use hedgerow_io::{FileId, NamedFile};

use super::block::{PAYLOAD_BYTES, block_checksum};
use crate::TierError;

/// How much is gathered before the file is written to.
const BUFFER_BYTES: usize = 1024 * 1024;
/// As much is synced at a time: the sync of a whole large file at its end would hold up those of the log meanwhile.
const SYNC_BYTES: u64 = 2 << 20;

/// Takes the stream of a segment and turns it into the blocks of a file.
#[derive(Debug)]
pub(super) struct Sink {
    file: NamedFile,
    file_id: FileId,
    /// Bytes not yet written to the file; `block_start` is where the open block begins in them.
    buffer: Vec<u8>,
    block_start: usize,
    blocks: u64,
    stream_len: u64,
    written: u64,
    /// Bytes written since the last sync.
    unsynced: u64,
    hash: Checksum,
    failed: bool,
}

impl Sink {
    /// A sink whose file begins with `header`.
    pub(super) fn new(file: NamedFile, file_id: FileId, header: &[u8]) -> Sink {
        Sink {
            file,
            file_id,
            buffer: header.to_vec(),
            block_start: header.len(),
            blocks: 0,
            stream_len: 0,
            written: 0,
            unsynced: 0,
            hash: Checksum::new(),
            failed: false,
        }
    }

    pub(super) fn file_id(&self) -> FileId {
        self.file_id
    }

    /// How many bytes of stream were put.
    pub(super) fn stream_len(&self) -> u64 {
        self.stream_len
    }

    /// Where the next byte will lie in the file.
    pub(super) fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Appends to the stream.
    pub(super) fn put(&mut self, mut bytes: &[u8]) -> Result<(), TierError> {
        self.check()?;
        self.stream_len += bytes.len() as u64;
        while !bytes.is_empty() {
            let room = PAYLOAD_BYTES as usize - (self.buffer.len() - self.block_start);
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
            if now.len() == room {
                self.seal_block()?;
            }
        }
        Ok(())
    }

    /// Ends the stream: the open block, if it holds anything, is sealed short.
    pub(super) fn end_stream(&mut self) -> Result<(), TierError> {
        if self.buffer.len() > self.block_start { self.seal_block() } else { Ok(()) }
    }

    /// Appends bytes that belong to no block; only after the end of the stream.
    pub(super) fn put_raw(&mut self, bytes: &[u8]) -> Result<(), TierError> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes what is left and syncs the file. Returns its size and hash.
    pub(super) fn close(mut self) -> Result<(u64, u128), TierError> {
        self.flush()?;
        if !faults::is_on(PlantedFault::SegmentNotSynced) {
            self.file.sync_all()?;
        }
        Ok((self.written, self.hash.digest128()))
    }

    fn seal_block(&mut self) -> Result<(), TierError> {
        let payload = self.buffer.get(self.block_start..).unwrap_or(&[]);
        let sum = block_checksum(self.file_id, self.blocks, payload);
        self.buffer.extend_from_slice(&sum.to_le_bytes());
        self.blocks += 1;
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        self.block_start = self.buffer.len();
        Ok(())
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

    /// What a failed write left in the file is unknown: going on could leave a hole.
    fn check(&self) -> Result<(), TierError> {
        if self.failed { Err(TierError::WriterFailed { file: self.file.name().to_owned() }) } else { Ok(()) }
    }
}
