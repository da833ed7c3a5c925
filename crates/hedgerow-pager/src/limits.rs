//! The bounds that follow from a memory limit: the operations of one transaction, and the size of a store
//! that can be opened.

use hedgerow_catalog::error::{OpenError, Result};
use hedgerow_core::account::Account;

/// The least memory limit: room for the buffers of log and files, the structures that order commits, and
/// some pages.
pub const LEAST_MEMORY_LIMIT: u64 = 16 << 20;
/// The greatest number of operations in one transaction.
pub const MAX_OPERATIONS: usize = 1 << 24;
/// The approximate bytes of an operation: an edge is in two lists, or in two deltas, with timestamps and
/// weights, and in the log.
const BYTES_PER_OPERATION: u64 = 64;
/// The share of the limit that the largest transaction may take.
const LARGEST_SHARE: u64 = 4;

/// Returns the approximate bytes of `operations` operations.
pub fn bytes_of(operations: usize) -> u64 {
    (operations as u64).saturating_mul(BYTES_PER_OPERATION)
}

/// Returns how many operations a transaction may have under a memory limit.
pub fn most_operations(limit: Option<u64>) -> usize {
    let within = limit.map_or(u64::MAX, |limit| limit / LARGEST_SHARE / BYTES_PER_OPERATION);
    usize::try_from(within).map_or(MAX_OPERATIONS, |within| within.min(MAX_OPERATIONS))
}

/// Returns the bytes that must be free besides a store that is opened. Commits leave as many free, for
/// buffers and for unforeseen needs. So a store that was written within a limit can be opened within it.
pub fn beside_opened(limit: u64) -> u64 {
    (limit / 8).min(4 << 20).saturating_add((limit / 32).min(2 << 20)).min(LEAST_MEMORY_LIMIT / 4)
}

/// Checks that a store of `bytes` bytes fits the memory limit, together with the memory that is always
/// needed.
///
/// # Errors
/// [`OpenError::MemoryLimit`], with the least sufficient limit.
pub fn fits_limit(account: &Account, bytes: u64) -> Result<()> {
    let needed = bytes.saturating_add(LEAST_MEMORY_LIMIT / 4);
    match account.limit() {
        Some(limit) if bytes.saturating_add(beside_opened(limit)) > limit => {
            // Threads that load in parallel leave different gaps each time; a difference of 7 % was seen.
            let least = needed.saturating_add(bytes / 8);
            Err(OpenError::MemoryLimit { limit, least }.into())
        }
        _ => Ok(()),
    }
}
