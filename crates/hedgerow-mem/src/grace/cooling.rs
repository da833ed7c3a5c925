//! Chains that were taken out of memory and are kept for a while (rule E9 of `docs/design/protocol.md`).
//!
//! No read notes that it took place, so nobody knows which chains are in use. Whatever the evictor comes to is taken out, and waits here in the
//! order in which it came; who is read meanwhile is linked again, which costs no file. That is the cooling stage of Leis, Haubenschild,
//! Kemper, Neumann, *LeanStore: In-Memory Data Management Beyond Main Memory*, ICDE 2018, section III-B.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow_core::account::{Account, Purpose};
use hedgerow_core::sync::Mutex;

use super::chain::{Unlinked, Version};
/// What a chain takes here, beside its versions: it is in two maps, whose nodes are half full at worst.
const ENTRY_BYTES: usize = 2 * (size_of::<(u64, Kept)>() + size_of::<(usize, u64)>());

/// The one version of a chain that was taken out of memory, in each direction that had one.
pub(crate) struct Kept {
    /// What told whether the subgraph changed, when the chain was taken.
    pub(crate) stamp: u64,
    pub(crate) heads: [Option<KeptHead>; 2],
}

/// A version with the references of the link that had it, and of the writers.
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

    /// For a retire list.
    pub(super) fn into_unlinked(self) -> impl Iterator<Item = Unlinked> {
        // The reference of the writers goes first: the end of the version is that of the one which waits for walks.
        self.heads.into_iter().flatten().map(|KeptHead { linked, written }| {
            drop(written);
            linked
        })
    }
}

/// The chains of a store that are cooling: out of memory for whoever reads them, and kept. First in, first out.
pub struct Cooling {
    queue: Mutex<Queue>,
    account: Arc<Account>,
}

#[derive(Default)]
struct Queue {
    /// By when they came.
    chains: BTreeMap<u64, (usize, Kept)>,
    /// When each came that is in `chains`.
    came: BTreeMap<usize, u64>,
    next: u64,
    bytes: usize,
}

/// What is cooling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoolingStats {
    /// Versions.
    pub versions: usize,
    /// Their bytes, themselves included.
    pub bytes: usize,
    /// The bytes of blocks of the arena among them.
    pub block_bytes: usize,
}

impl Cooling {
    pub(super) fn new(account: Arc<Account>) -> Cooling {
        Cooling { queue: Mutex::default(), account }
    }

    /// What is cooling now. O(chains).
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

    /// Whether a chain, named by a number, is here. It may have gone by the time that the caller looks. O(log chains).
    pub(crate) fn has(&self, chain: usize) -> bool {
        self.queue.lock().came.contains_key(&chain)
    }

    /// Takes a chain in; returns what it kept of it before, which is too old. O(log chains).
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

    /// Gives a chain up, if it is here. O(log chains).
    pub(crate) fn take(&self, chain: usize) -> Option<Kept> {
        let kept = self.queue.lock().take(chain);
        self.note_left(kept.is_some());
        kept
    }

    /// Gives up the chain that came first, if more than `most` bytes are here. O(log chains).
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
