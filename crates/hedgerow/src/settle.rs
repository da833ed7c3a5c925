//! Settling: merging the deltas of subgraphs that are not written to, so that a graph that is only read becomes a plain
//! CSR (rule R7).

use hedgerow_core::SubgraphId;
use hedgerow_core::sync::{AtomicU64, Mutex, Ordering};
use hedgerow_mem::SubgraphTable;

use crate::graph::Core;
use crate::tables::Chain;

/// What settling remembers between calls.
pub(crate) struct Settling {
    /// One whole settling at a time.
    whole: Mutex<()>,
    /// The published timestamp at which all subgraphs were last settled and laid out in order.
    ordered_at: AtomicU64,
}

impl Default for Settling {
    fn default() -> Self {
        Settling { whole: Mutex::new(()), ordered_at: AtomicU64::new(u64::MAX) }
    }
}

impl Core {
    /// Merges what is published of all deltas, and lays all lists out in the order of the vertices: they move into
    /// fresh regions, and the old ones go back to the system.
    pub(crate) fn settle(&self) {
        let _alone = self.settling.whole.lock();
        let published = self.clock.published().0;
        if self.settling.ordered_at.load(Ordering::Relaxed) == published {
            return;
        }
        // What only the cached view keeps would hold the old regions.
        self.views.give_up();
        let evacuation = self.subgraphs.arena().evacuate();
        for (label, table) in self.tables() {
            for subgraph in (0..self.subgraph_bound()).map(SubgraphId) {
                for &direction in self.directions_of(label) {
                    self.settle_chain(table, Chain { label, subgraph, direction }, true);
                }
            }
        }
        drop(evacuation);
        self.views.note_settled();
        self.settling.ordered_at.store(published, Ordering::Relaxed);
    }

    fn settle_chain(&self, table: &SubgraphTable, chain: Chain, relocate: bool) {
        let Some(entry) = table.get(chain.subgraph) else { return };
        let horizon = self.horizon();
        let pinned = |pin| self.pending.add(chain, pin);
        entry.latch().settle(chain.direction, self.is_weighted(chain.label), relocate, &horizon, pinned);
    }
}
