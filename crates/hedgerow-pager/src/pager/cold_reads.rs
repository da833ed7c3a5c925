//! Data that cold reads keep for later cold reads: directories, blocks, and the names of chains that were
//! read.

use std::sync::Arc;

use hedgerow_core::account::Account;
use hedgerow_tier::ReadCache;

use super::recent::Recent;
use crate::budget::buffers;

/// The largest share of the memory limit for directories and blocks, and the amount that they may take even
/// if there is no other room: half of the room that commits leave free.
const SHARE: u64 = 16;
const SURE: (u64, u64) = (1 << 20, 64);
/// The most bytes that directories and blocks take in a store without a memory limit. In such a store only
/// tests evict chains and read them back.
const WITHOUT_LIMIT: u64 = 1 << 20;

/// The state that reads of data outside memory share.
pub struct ColdReads {
    cache: ReadCache,
    /// The chains that were read recently, in stores that read single lists.
    recent: Option<Recent>,
}

impl ColdReads {
    /// Makes the state of a store with this memory limit, if the options set one. `may_leave`: the store has
    /// files, so its chains may be evicted.
    pub fn new(account: &Arc<Account>, limit: Option<u64>, may_leave: bool) -> ColdReads {
        let most = limit.map_or(WITHOUT_LIMIT, |limit| limit / SHARE);
        let sure = limit.map_or(WITHOUT_LIMIT, |limit| SURE.0.min(limit / SURE.1));
        let as_bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX / 4);
        let recent = (limit.is_some() && may_leave).then(|| Recent::new(account));
        // The cache grows neither into the reserve for buffers nor into the room of small reads.
        let free = limit.filter(|_| may_leave).map_or(0, buffers) + 2 * sure;
        let cache = ReadCache::new(account, (as_bytes(sure), as_bytes(most)), as_bytes(free));
        ColdReads { cache, recent }
    }

    /// Returns the directories and blocks that were read.
    pub fn cache(&self) -> &ReadCache {
        &self.cache
    }

    /// Returns the chains that were read recently, in stores that read single lists.
    pub(crate) fn recent(&self) -> Option<&Recent> {
        self.recent.as_ref()
    }
}
