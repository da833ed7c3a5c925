//! Positions in the log.

use std::fmt;

/// A log sequence number: a byte position in the logical log of a store. It grows over all log segments and
/// never decreases. So one number states how far the log is durable, in the log, in the manifest and in a
/// seal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Lsn(pub u64);

impl Lsn {
    /// The beginning of the log of a new store.
    pub const ZERO: Lsn = Lsn(0);

    /// Returns the position `bytes` bytes later; `None` if that exceeds 64 bits.
    #[inline]
    pub fn checked_add(self, bytes: u64) -> Option<Lsn> {
        self.0.checked_add(bytes).map(Lsn)
    }
}

impl fmt::Display for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
