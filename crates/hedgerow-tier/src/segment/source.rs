//! The file behind a reader: its fixed parts, and how errors name places in it.

use hedgerow_io::{
    Corruption, CorruptionKind, FileHeader, FileId, FileKind, HEADER_BYTES, NamedFile, StoreId,
};

use super::SegmentInfo;
use super::block::region_checksum;
use super::index::{ENTRY_BYTES, Entry, FOOTER_BODY, FOOTER_BYTES, FOOTER_MAGIC, Footer, decode_index};
use crate::TierError;
use crate::bytes::{Bytes, Fault};

/// An open segment file.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) file: NamedFile,
    pub(super) file_id: FileId,
}

impl Source {
    /// Fills `buf` from `offset`; the file ending before is damage.
    pub(super) fn read(&self, buf: &mut [u8], offset: u64) -> Result<(), TierError> {
        Ok(self.file.read_exact_at(buf, offset)?)
    }

    /// Damage at `offset`: the checksum is right, but the content makes no sense.
    pub(super) fn invalid(&self, offset: u64, what: &'static str) -> TierError {
        TierError::invalid(self.file.name(), offset, what)
    }

    /// Damage of another kind at `offset`.
    pub(super) fn corrupt(&self, offset: u64, kind: CorruptionKind) -> TierError {
        Corruption::new(self.file.name(), offset, kind).into()
    }

    /// Compares the checksum `stored` of what begins at `offset` with the one `found`.
    pub(super) fn check(&self, offset: u64, stored: u64, found: u64) -> Result<(), TierError> {
        if stored == found {
            return Ok(());
        }
        Err(self.corrupt(offset, CorruptionKind::Checksum { expected: stored, found }))
    }

    /// Checks size and header of a file that should be as `info` says.
    pub(super) fn check_head(&self, info: &SegmentInfo, store: StoreId) -> Result<(), TierError> {
        let found = self.file.byte_len()?;
        let least = HEADER_BYTES as u64 + FOOTER_BYTES;
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
        let mut raw = [0; HEADER_BYTES];
        self.read(&mut raw, 0)?;
        FileHeader::decode(&raw, FileKind::Segment)
            .and_then(|header| header.check_owner(store, self.file_id))
            .map_err(|error| TierError::header(self.file.name(), error))
    }

    /// Reads the footer of a file that should be as `info` says.
    pub(super) fn read_footer(&self, info: &SegmentInfo, store: StoreId) -> Result<Footer, TierError> {
        let offset = info.bytes - FOOTER_BYTES;
        let mut raw = [0; FOOTER_BYTES as usize];
        self.read(&mut raw, offset)?;
        let (body, tail) = raw.split_at(FOOTER_BODY);
        let mut tail = Bytes::new(tail);
        let ends = |fault: Fault| self.invalid(offset, fault.what);
        let stored = tail.u64().map_err(ends)?;
        if tail.fixed().map_err(ends)? != FOOTER_MAGIC {
            return Err(self.invalid(offset, "no footer at the end of the file"));
        }
        let mut sum = region_checksum(self.file_id, offset);
        sum.update(body);
        self.check(offset, stored, sum.digest64())?;
        let footer = Footer::decode_body(body, info.bytes)
            .map_err(|fault| self.invalid(offset + fault.position as u64, fault.what))?;
        if footer.file_id != self.file_id || footer.store != store {
            return Err(self.invalid(offset, "footer of another file"));
        }
        if footer.totals != info.totals() {
            return Err(self.invalid(offset, "counts of footer and manifest differ"));
        }
        Ok(footer)
    }

    /// Reads the index that `footer` describes; the footer has been checked against the size of the file.
    pub(super) fn read_index(&self, footer: &Footer) -> Result<Vec<Entry>, TierError> {
        let offset = footer.index_offset;
        let len = usize::try_from(footer.totals.subgraphs * ENTRY_BYTES);
        let len = len.map_err(|_| self.invalid(offset, "index larger than memory"))?;
        let mut raw = Vec::new();
        let reserved = raw.try_reserve_exact(len);
        reserved.map_err(|_| self.invalid(offset, "no memory for an index of this size"))?;
        raw.resize(len, 0);
        self.read(&mut raw, offset)?;
        let mut sum = region_checksum(self.file_id, offset);
        sum.update(&raw);
        self.check(offset, footer.index_checksum, sum.digest64())?;
        decode_index(&raw, footer).map_err(|fault| self.invalid(offset + fault.position as u64, fault.what))
    }
}
