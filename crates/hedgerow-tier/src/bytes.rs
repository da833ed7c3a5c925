//! Reads of bytes whose checksum is right but whose content is not trusted: a [`Reader`] with further checks.

use hedgerow_io::codec::{OutOfBytes, Reader};
use thiserror::Error;

/// A broken rule, and the position where the reader found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{what}, at byte {position}")]
pub struct Fault {
    /// The number of bytes that were consumed before.
    pub position: usize,
    /// The broken rule.
    pub what: &'static str,
}

impl From<OutOfBytes> for Fault {
    fn from(error: OutOfBytes) -> Self {
        Fault { position: error.at, what: "bytes missing" }
    }
}

/// A cursor over bytes that reads nothing beyond them.
#[derive(Debug)]
pub struct Bytes<'a> {
    reader: Reader<'a>,
}

impl<'a> Bytes<'a> {
    /// Returns a cursor at the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Bytes { reader: Reader::new(bytes) }
    }

    /// True if no byte is left.
    pub fn is_empty(&self) -> bool {
        self.reader.is_empty()
    }

    /// Returns how many bytes are left.
    pub fn remaining(&self) -> usize {
        self.reader.remaining()
    }

    /// Returns the remaining bytes without consuming them.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.reader.rest()
    }

    pub(crate) fn fault(&self, what: &'static str) -> Fault {
        Fault { position: self.reader.position(), what }
    }

    pub(crate) fn require(&self, holds: bool, what: &'static str) -> Result<(), Fault> {
        if holds { Ok(()) } else { Err(self.fault(what)) }
    }

    pub(crate) fn refuse(&self, fault: Option<&'static str>) -> Result<(), Fault> {
        fault.map_or(Ok(()), |what| Err(self.fault(what)))
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        Ok(self.reader.bytes(count)?)
    }

    pub(crate) fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        Ok(self.reader.array()?)
    }

    /// Reads `count` values of `N` bytes each. Allocates only if the bytes exist.
    pub(crate) fn array<T, const N: usize>(
        &mut self,
        count: usize,
        value: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, Fault> {
        let len = count.checked_mul(N).ok_or_else(|| self.fault("length overflows"))?;
        let (chunks, _) = self.take(len)?.as_chunks::<N>();
        let mut values = Vec::new();
        values.try_reserve_exact(count).map_err(|_| self.fault("no memory for this many values"))?;
        values.extend(chunks.iter().map(|chunk| value(*chunk)));
        Ok(values)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Fault> {
        Ok(self.reader.u8()?)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Fault> {
        Ok(self.reader.u16()?)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Fault> {
        Ok(self.reader.u32()?)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Fault> {
        Ok(self.reader.u64()?)
    }

    pub(crate) fn u128(&mut self) -> Result<u128, Fault> {
        Ok(self.reader.u128()?)
    }
}

/// Reads a record with `read`, which must consume all its bytes.
pub(crate) fn whole<T>(
    record: &[u8],
    read: impl FnOnce(&mut Bytes<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let mut bytes = Bytes::new(record);
    let value = read(&mut bytes)?;
    bytes.require(bytes.is_empty(), "bytes left over in a record")?;
    Ok(value)
}
