//! Pages of subgraphs.

use std::ops::Deref;
use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, Timestamp};

use crate::grace::Memory;
use crate::subgraph::{Home, PAGE, STAMPS, Stamp, Subgraph};

/// Consecutive subgraphs and the data that they share; [`PAGE`] subgraphs in a table.
pub struct SubgraphPage {
    /// The subgraphs, one or more.
    subgraphs: Box<[Subgraph]>,
    /// The same as in the subgraphs, so that a read of the stamps touches no header.
    home: Arc<Home>,
}

impl SubgraphPage {
    /// Makes a page of `count` empty subgraphs, between one and [`PAGE`], that allocate from `memory`.
    pub fn new(memory: Memory, count: usize) -> SubgraphPage {
        SubgraphPage::with_home(Home::new(memory), count)
    }

    fn with_home(home: Home, count: usize) -> SubgraphPage {
        let home = Arc::new(home);
        let subgraphs = (0..count.max(1)).map(|place| Subgraph::at(home.clone(), place)).collect();
        SubgraphPage { subgraphs, home }
    }

    /// Makes a page of a table that was evicted before: all chains are marked as not in memory, also chains
    /// without an image, which older readers must not take as empty. The last operations were at or before
    /// `since`.
    pub fn marked(memory: Memory, since: Timestamp, directions: &[Direction]) -> SubgraphPage {
        let page = SubgraphPage::with_home(Home::changed_at(memory, since), STAMPS);
        let marked = if faults::is_on(PlantedFault::LoadedPageUnmarked) { &[] } else { directions };
        for subgraph in page.iter() {
            let mut latched = subgraph.latch_for_upkeep();
            marked.iter().for_each(|&direction| latched.evict(direction));
        }
        page
    }

    /// Notes that the page is evicted from its table. The caller holds all its latches.
    pub(super) fn note_left(&self) {
        self.home.note_left();
    }

    /// Returns the [stamps](Subgraph::stamp) of all its subgraphs, which are adjacent.
    #[inline]
    pub fn stamps(&self) -> impl Iterator<Item = Stamp> {
        self.home.stamps().take(self.subgraphs.len())
    }

    /// Returns a mask of the subgraphs with an operation after `t`.
    #[inline]
    pub fn changed_after(&self, t: Timestamp) -> u64 {
        self.home.look(Stamp::last_of(t)).0
    }

    /// Returns a mask of the subgraphs whose stamps are after `bound`, and the sum of all counts of
    /// settlings, each count modulo 256.
    #[inline]
    pub(crate) fn look(&self, bound: Stamp) -> (u64, u64) {
        self.home.look(bound)
    }

    /// Prefetches the stamps.
    #[inline]
    pub(crate) fn prefetch_stamps(&self) {
        self.home.prefetch();
    }

    /// Returns the bytes of a page of a table. O(1).
    pub fn bytes() -> usize {
        size_of::<Home>() + PAGE * size_of::<Subgraph>()
    }
}

impl Deref for SubgraphPage {
    type Target = [Subgraph];

    #[inline]
    fn deref(&self) -> &[Subgraph] {
        &self.subgraphs
    }
}
