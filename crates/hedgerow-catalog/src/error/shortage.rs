//! The lack of memory for a call within the memory limit.

use std::fmt;

/// The lack of memory for a call. The call was refused since [`needed`](Self::needed) is greater than
/// [`available`](Self::available), after everything that can leave memory has left. All fields are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shortage {
    /// The memory that the call needs, estimated.
    pub needed: u64,
    /// The memory limit.
    pub limit: u64,
    /// The memory of data that changed after the last checkpoint, and of changes of data that is not in
    /// memory. A checkpoint frees it, unless a snapshot needs the state before the changes.
    pub dirty: u64,
    /// The memory that snapshots, views and other calls in progress use.
    pub pinned: u64,
    /// The memory of tables, keys, and structures that order commits; the reserve for buffers of the log and
    /// of a checkpoint; and gaps between lists that are too small to be used.
    pub fixed: u64,
    /// The memory that stays free for small reads.
    pub slack: u64,
}

impl Shortage {
    /// Makes a shortage from its fields, in their order.
    #[doc(hidden)]
    pub fn new(needed: u64, limit: u64, dirty: u64, pinned: u64, fixed: u64, slack: u64) -> Shortage {
        Shortage { needed, limit, dirty, pinned, fixed, slack }
    }

    /// Returns the bytes that the call could have had.
    pub fn available(&self) -> u64 {
        let taken = self.dirty.saturating_add(self.pinned).saturating_add(self.fixed);
        self.limit.saturating_sub(taken.saturating_add(self.slack))
    }

    fn help(&self) -> &'static str {
        let Shortage { dirty, pinned, fixed, .. } = *self;
        if self.needed.saturating_add(fixed).saturating_add(self.slack) > self.limit {
            "a larger limit, or fewer operations in a transaction"
        } else if fixed >= pinned.max(dirty) {
            // Tables leave memory when the store is closed.
            "a larger limit, or opening the store again"
        } else if pinned >= dirty {
            "closing old snapshots and views"
        } else {
            "a checkpoint"
        }
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shortage { needed, limit, dirty, pinned, fixed, slack } = *self;
        write!(
            f,
            "{needed} bytes are needed, and {} of the memory limit of {limit} bytes are available: {dirty} \
             bytes changed after the last checkpoint, {pinned} bytes are used by snapshots, views and other \
             calls, {fixed} bytes hold tables, keys and buffers, {slack} bytes stay free for small reads; {} \
             helps",
            self.available(),
            self.help()
        )
    }
}
