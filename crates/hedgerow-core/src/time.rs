//! Commit timestamps.

use std::fmt;

/// A commit timestamp: a position in the one total order of commits. Gaps are legal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The timestamp before every commit.
    pub const ZERO: Timestamp = Timestamp(0);
    /// The timestamp after every commit: the end timestamp of a version that was not replaced.
    pub const INFINITY: Timestamp = Timestamp(u64::MAX);

    /// Returns the next timestamp.
    #[inline]
    pub fn next(self) -> Timestamp {
        Timestamp(self.0 + 1)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
