//! What reads of what is not in memory keep for those that come after: directories, blocks, and which chains they read.

use std::sync::Arc;

use hedgerow_core::account::Account;
use hedgerow_tier::ReadCache;

use super::recent::Recent;

/// The share of the memory limit that directories and blocks take at most, and the share that they take even where there is no room;
/// the latter is half of what commits leave free.
const SHARE: u64 = 16;
const SURE: (u64, u64) = (1 << 20, 64);
/// What they take at most without a limit: where chains are read back, which only tests have happen then.
const WITHOUT_LIMIT: u64 = 1 << 20;

/// What reads of what is not in memory share.
pub(crate) struct ColdReads {
    cache: ReadCache,
    /// Where single lists are read.
    recent: Option<Recent>,
}

impl ColdReads {
    /// Of a store with that memory limit, if one was asked for, whose chains `may_leave` memory, since it has files.
    pub(crate) fn new(account: &Arc<Account>, limit: Option<u64>, may_leave: bool) -> ColdReads {
        let most = limit.map_or(WITHOUT_LIMIT, |limit| limit / SHARE);
        let sure = limit.map_or(WITHOUT_LIMIT, |limit| SURE.0.min(limit / SURE.1));
        let as_bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX / 4);
        let recent = (limit.is_some() && may_leave).then(|| Recent::new(account));
        ColdReads { cache: ReadCache::new(account, as_bytes(sure), as_bytes(most)), recent }
    }

    /// Directories and blocks that were read.
    pub(crate) fn cache(&self) -> &ReadCache {
        &self.cache
    }

    /// Which chains were read of late, where single lists are read.
    pub(crate) fn recent(&self) -> Option<&Recent> {
        self.recent.as_ref()
    }
}
