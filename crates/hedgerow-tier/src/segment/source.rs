//! The file of a reader, and errors that contain positions in it.

use hedgerow_io::{
    Corruption, CorruptionKind, FileHeader, FileId, FileKind, HEADER_BYTES, NamedFile, StoreId,
};

use super::SegmentInfo;
use crate::TierError;

/// An open segment file.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) file: NamedFile,
    pub(super) file_id: FileId,
}

impl Source {
    /// Fills `buf` from `offset`. A file that ends before the last of these bytes is damaged.
    pub(super) fn read(&self, buf: &mut [u8], offset: u64) -> Result<(), TierError> {
        Ok(self.file.read_exact_at(buf, offset)?)
    }

    /// Reports damage at `offset`: content that breaks a rule although its checksum is right.
    pub(super) fn invalid(&self, offset: u64, what: &'static str) -> TierError {
        TierError::invalid(self.file.name(), offset, what)
    }

    /// Reports damage of another kind at `offset`.
    pub(super) fn corrupt(&self, offset: u64, kind: CorruptionKind) -> TierError {
        Corruption::new(self.file.name(), offset, kind).into()
    }

    /// Compares the `stored` checksum of the bytes at `offset` with the one `found`.
    pub(super) fn check(&self, offset: u64, stored: u64, found: u64) -> Result<(), TierError> {
        if stored == found {
            return Ok(());
        }
        Err(self.corrupt(offset, CorruptionKind::Checksum { expected: stored, found }))
    }

    /// Checks that the file has the size in `info`, and at least `least` bytes.
    pub(super) fn check_size(&self, info: &SegmentInfo, least: u64) -> Result<(), TierError> {
        let found = self.file.byte_len()?;
        if found < info.bytes || found < least {
            let expected = info.bytes.max(least);
            return Err(self.corrupt(found, CorruptionKind::Truncated { expected, found }));
        }
        if found > info.bytes {
            let what = "file size";
            return Err(
                self.corrupt(info.bytes, CorruptionKind::Mismatch { what, expected: info.bytes, found })
            );
        }
        Ok(())
    }

    /// Reads the header, which must name this segment of `store`.
    pub(super) fn read_header(&self, store: StoreId) -> Result<FileHeader, TierError> {
        let mut raw = [0; HEADER_BYTES];
        self.read(&mut raw, 0)?;
        let header = FileHeader::decode(&raw, FileKind::Segment)
            .and_then(|header| header.check_owner(store, self.file_id).map(|()| header));
        header.map_err(|error| TierError::header(self.file.name(), error))
    }

    /// Reads `len` bytes at `offset`. The caller has checked the length against the size of the file.
    pub(super) fn read_region(&self, offset: u64, len: u64) -> Result<Vec<u8>, TierError> {
        let no_memory = || self.invalid(offset, "no memory for an index of this size");
        let len = usize::try_from(len).map_err(|_| no_memory())?;
        let mut raw = Vec::new();
        raw.try_reserve_exact(len).map_err(|_| no_memory())?;
        raw.resize(len, 0);
        self.read(&mut raw, offset)?;
        Ok(raw)
    }
}
