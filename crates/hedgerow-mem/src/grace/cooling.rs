//! Cooling chains: taken out of memory, and kept for a while (rule E9 of `docs/design/eviction.md`).
//!
//! Reads leave no trace, so the evictor does not know which chains are in use. It takes out chains in turn,
//! and they wait here in order of arrival. If a read needs one meanwhile, the chain is linked again, without
//! a read of files. That is the cooling stage of Leis, Haubenschild, Kemper, Neumann, *LeanStore: In-Memory
//! Data Management Beyond Main Memory*, ICDE 2018, section III-B.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow_core::account::{Account, Purpose};
use hedgerow_core::sync::Mutex;

use super::chain::{Unlinked, Version};
/// The bytes of a cooling chain in this table, without its versions: the chain is in two maps, whose nodes
/// are half full at worst.
const ENTRY_BYTES: usize = 2 * (size_of::<(u64, Kept)>() + size_of::<(usize, u64)>());

/// The one version in each direction of a chain that was taken out of memory.
pub(crate) struct Kept {
    /// The stamp of the subgraph when the chain was taken: it shows whether the subgraph has changed after
    /// that.
    pub(crate) stamp: u64,
    pub(crate) heads: [Option<KeptHead>; 2],
}

/// A version with two references: of the link that owned it, and of the writers.
pub(crate) struct KeptHead {
    pub(crate) linked: Unlinked,
    pub(crate) written: Arc<Version>,
}

impl Kept {
    fn versions(&self) -> impl Iterator<Item = &Version> {
        self.heads.iter().flatten().map(|head| &*head.written)
    }

    fn bytes(&self) -> usize {
        self.versions().map(Version::bytes).sum()
    }

    /// Turns the versions into entries for a retire list.
    pub(super) fn into_unlinked(self) -> impl Iterator<Item = Unlinked> {
        // Drops the reference of the writers first: then the reference that waits for walks is the last one.
        self.heads.into_iter().flatten().map(|KeptHead { linked, written }| {
            drop(written);
            linked
        })
    }
}

/// The cooling chains of a store: readers find them not in memory, but their versions are kept. First in,
/// first out.
pub struct Cooling {
    queue: Mutex<Queue>,
    account: Arc<Account>,
}

#[derive(Default)]
struct Queue {
    /// The chains, by order of arrival.
    chains: BTreeMap<u64, (usize, Kept)>,
    /// The order of arrival of each chain: its key in `chains`.
    came: BTreeMap<usize, u64>,
    next: u64,
    bytes: usize,
}

/// The size of all cooling chains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoolingStats {
    /// The number of versions.
    pub versions: usize,
    /// Their bytes, themselves included.
    pub bytes: usize,
    /// The bytes of arena blocks that are included in `bytes`.
    pub block_bytes: usize,
}

impl Cooling {
    pub(super) fn new(account: Arc<Account>) -> Cooling {
        Cooling { queue: Mutex::default(), account }
    }

    /// Returns the size of all cooling chains now. O(chains).
    pub fn stats(&self) -> CoolingStats {
        let queue = self.queue.lock();
        let mut stats = CoolingStats::default();
        for version in queue.chains.values().flat_map(|(_, kept)| kept.versions()) {
            stats.versions += 1;
            stats.bytes += version.bytes();
            stats.block_bytes += version.block_bytes();
        }
        stats
    }

    /// True if the chain with this number is cooling. It may be removed before the caller acts on the answer.
    /// O(log chains).
    pub(crate) fn has(&self, chain: usize) -> bool {
        self.queue.lock().came.contains_key(&chain)
    }

    /// Adds a chain. Returns an older, outdated copy of the chain, if one was cooling. O(log chains).
    pub(crate) fn keep(&self, chain: usize, kept: Kept) -> Option<Kept> {
        let mut queue = self.queue.lock();
        let before = queue.take(chain);
        let came = queue.next;
        queue.next += 1;
        queue.bytes += kept.bytes();
        queue.came.insert(chain, came);
        queue.chains.insert(came, (chain, kept));
        drop(queue);
        if before.is_none() {
            self.account.charge(Purpose::Coordination, ENTRY_BYTES);
        }
        before
    }

    /// Removes a chain and returns it, if it is cooling. O(log chains).
    pub(crate) fn take(&self, chain: usize) -> Option<Kept> {
        let kept = self.queue.lock().take(chain);
        self.note_left(kept.is_some());
        kept
    }

    /// Removes and returns the chain that arrived first, if the cooling chains have more than `most` bytes.
    /// O(log chains).
    pub(super) fn take_first_beyond(&self, most: usize) -> Option<Kept> {
        let mut queue = self.queue.lock();
        let first = if queue.bytes > most { queue.chains.first_key_value() } else { None };
        let chain = first.map(|(_, &(chain, _))| chain);
        let kept = chain.and_then(|chain| queue.take(chain));
        drop(queue);
        self.note_left(kept.is_some());
        kept
    }

    fn note_left(&self, left: bool) {
        if left {
            self.account.discharge(Purpose::Coordination, ENTRY_BYTES);
        }
    }
}

impl Queue {
    fn take(&mut self, chain: usize) -> Option<Kept> {
        let came = self.came.remove(&chain)?;
        let (_, kept) = self.chains.remove(&came)?;
        self.bytes -= kept.bytes();
        Some(kept)
    }
}
