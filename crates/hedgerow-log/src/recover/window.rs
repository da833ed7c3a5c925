//! A file that is read through a window. Its memory is bounded by the largest record, not by a length in the
//! file.

use hedgerow_io::{Corruption, CorruptionKind, FileError, NamedFile};

const CHUNK_BYTES: u64 = 256 << 10;

/// A file, and the range of it that is in memory.
#[derive(Debug)]
pub(super) struct Window {
    file: NamedFile,
    len: u64,
    buffer: Vec<u8>,
    start: u64,
}

impl Window {
    pub(super) fn new(file: NamedFile, len: u64) -> Self {
        Window { file, len, buffer: Vec::new(), start: 0 }
    }

    /// Returns the length that the file had when it was opened.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn name(&self) -> &str {
        self.file.name()
    }

    /// Returns the `n` bytes at `offset`, or `None` if the file ends before them.
    pub(super) fn get(&mut self, offset: u64, n: usize) -> Result<Option<&[u8]>, FileError> {
        let Some(end) = offset.checked_add(n as u64).filter(|&end| end <= self.len) else {
            return Ok(None);
        };
        if offset < self.start || end > self.start + self.buffer.len() as u64 {
            self.load(offset, (n as u64).max(CHUNK_BYTES).min(self.len - offset))?;
        }
        let from = (offset - self.start) as usize;
        Ok(self.buffer.get(from..from + n))
    }

    /// Returns the bytes from `offset` on that are in memory, at least one unless the file ends there.
    pub(super) fn some(&mut self, offset: u64) -> Result<&[u8], FileError> {
        if offset >= self.len {
            return Ok(&[]);
        }
        self.get(offset, 1)?;
        Ok(self.buffer.get((offset - self.start) as usize..).unwrap_or_default())
    }

    fn load(&mut self, offset: u64, n: u64) -> Result<(), FileError> {
        let too_large = |_| {
            let kind = CorruptionKind::Invalid("no memory for a record of this length");
            FileError::from(Corruption::new(self.file.name(), offset, kind))
        };
        let n = usize::try_from(n).map_err(|_| too_large(()))?;
        self.buffer.clear();
        self.buffer.try_reserve(n).map_err(|_| too_large(()))?;
        self.buffer.resize(n, 0);
        self.start = offset;
        let read = self.file.read_exact_at(&mut self.buffer, offset);
        if read.is_err() {
            self.buffer.clear();
        }
        read
    }
}
