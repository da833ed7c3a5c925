//! Reading footer and index.

use hedgerow_io::StoreId;

use super::block::region_checksum;
use super::index::{ENTRY_BYTES, Entry, FOOTER_BODY, FOOTER_BYTES, FOOTER_MAGIC, Footer, decode_index};
use crate::TierError;
use crate::bytes::{Bytes, Fault};
use crate::segment::SegmentInfo;
use crate::segment::source::Source;

impl Source {
    /// Reads the footer of a file that should be as `info` says.
    pub(super) fn read_footer_v4(&self, info: &SegmentInfo, store: StoreId) -> Result<Footer, TierError> {
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
    pub(super) fn read_index_v4(&self, footer: &Footer) -> Result<Vec<Entry>, TierError> {
        let offset = footer.index_offset;
        let len = usize::try_from(footer.totals.images * ENTRY_BYTES);
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
