//! Data that cold reads keep for later ones: directories, blocks, and the chains that were read.

use std::sync::Arc;

use hedgerow_core::account::Account;
use hedgerow_tier::ReadCache;

use super::recent::Recent;

/// The largest share of the memory limit that directories and blocks take, and the share that they take even
/// without room; the latter is half of what commits leave free.
const SHARE: u64 = 16;
const SURE: (u64, u64) = (1 << 20, 64);
/// The most bytes that they take without a limit: only tests read chains back then.
const WITHOUT_LIMIT: u64 = 1 << 20;

/// The state that reads of data outside memory share.
pub(crate) struct ColdReads {
    cache: ReadCache,
    /// The chains read of late, in stores that read single lists.
    recent: Option<Recent>,
}

impl ColdReads {
    /// Makes the state of a store with that memory limit, if the options set one, whose chains `may_leave`
    /// memory, since it has files.
    pub(crate) fn new(account: &Arc<Account>, limit: Option<u64>, may_leave: bool) -> ColdReads {
        let most = limit.map_or(WITHOUT_LIMIT, |limit| limit / SHARE);
        let sure = limit.map_or(WITHOUT_LIMIT, |limit| SURE.0.min(limit / SURE.1));
        let as_bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX / 4);
        let recent = (limit.is_some() && may_leave).then(|| Recent::new(account));
        ColdReads { cache: ReadCache::new(account, as_bytes(sure), as_bytes(most)), recent }
    }

    /// Returns the directories and blocks that were read.
    pub(crate) fn cache(&self) -> &ReadCache {
        &self.cache
    }

    /// Returns the chains that were read of late, in stores that read single lists.
    pub(crate) fn recent(&self) -> Option<&Recent> {
        self.recent.as_ref()
    }
}
