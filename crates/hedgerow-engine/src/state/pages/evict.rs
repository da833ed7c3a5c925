//! Taking what files hold as it is out of memory, when the limit leaves no room (rules E1 to E5 of `docs/design/protocol.md`).

use std::time::Duration;

use hedgerow_core::{LabelId, SubgraphId, Timestamp};
use hedgerow_mem::{Subgraph, SubgraphTable};

use crate::state::page_versions::UnkeptHorizon;
use crate::state::store::Core;

/// Chains that are taken out of memory before the account is looked at again.
const AT_ONCE: usize = 32;
/// How often, and how long, walks are waited for that may stand on what was taken out.
const MOST_WAITS: usize = 100;
const WAIT: Duration = Duration::from_micros(100);

impl Core {
    /// Takes chains out of memory until `is_enough`, or none is left that can be; returns how many subgraphs. One thread at a time, the
    /// others wait. Tries latches, and holds one at a time. O(subgraphs) if all are looked at.
    pub(crate) fn evict_until(&self, is_enough: impl Fn() -> bool) -> usize {
        let Some(clean) = self.eviction.clean() else { return 0 };
        let mut hand = self.eviction.hand();
        let all: Vec<(LabelId, &SubgraphTable, SubgraphId)> = self
            .tables()
            .flat_map(|(label, table)| SubgraphTable::existing(table).map(move |id| (label, table, id)))
            .collect();
        let from = hand.map_or(0, |last| all.partition_point(|&(label, _, id)| (label, id) <= last));
        let (mut evicted, mut done) = (0, is_enough());
        for &(label, table, id) in all[from..].iter().chain(&all[..from]) {
            if done {
                break;
            }
            *hand = Some((label, id));
            if table.get(id).is_some_and(|subgraph| self.evict(subgraph, clean)) {
                evicted += 1;
                if evicted % AT_ONCE == 0 {
                    self.free_evicted();
                    done = is_enough();
                }
            }
        }
        self.free_evicted();
        evicted
    }

    fn evict(&self, subgraph: &Subgraph, clean: Timestamp) -> bool {
        let Some(mut latched) = subgraph.try_latch() else { return false };
        let evicted = latched.evict_clean(clean, &self.horizon_of_eviction());
        if evicted {
            // Under the latch (rule E3).
            self.eviction.note_gone();
        }
        evicted
    }

    /// The readers that keep chains in memory which files hold as they are (rule E2). Asked with the latch held.
    fn horizon_of_eviction(&self) -> UnkeptHorizon<'_> {
        UnkeptHorizon::new(self.horizon(), &self.eviction.page_versions)
    }

    /// Drops the page versions that nobody reads any more.
    pub(crate) fn drop_page_versions(&self) {
        self.eviction.page_versions.drop_unread(self.clock.published(), &self.readers);
    }

    /// Frees what was taken out. Waits a little for reads that may stand on it: on a busy machine one of them may have lost its processor.
    fn free_evicted(&self) {
        let memory = self.subgraphs.memory();
        for _ in 0..MOST_WAITS {
            memory.retire_list().drain();
            if memory.retire_list().stats().versions == 0 {
                break;
            }
            std::thread::sleep(WAIT);
        }
        memory.arena().trim();
    }
}
