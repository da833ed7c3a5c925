//! Pages of subgraphs.

use std::ops::Deref;
use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, Timestamp};

use crate::subgraph::{Home, PAGE, STAMPS, Stamp, Subgraph};

/// Consecutive subgraphs, and the data that they share. A page of a table has [`PAGE`] subgraphs.
pub struct SubgraphPage {
    /// The subgraphs, one or more.
    subgraphs: Box<[Subgraph]>,
    /// The shared data. Each subgraph refers to them too; with this reference a read of the stamps touches no
    /// subgraph.
    home: Arc<Home>,
}

impl SubgraphPage {
    /// Makes a page of `count` empty subgraphs. `count` is between one and [`PAGE`].
    pub(super) fn new(home: Home, count: usize) -> SubgraphPage {
        let home = Arc::new(home);
        let subgraphs = (0..count.max(1)).map(|place| Subgraph::at(home.clone(), place)).collect();
        SubgraphPage { subgraphs, home }
    }

    /// Makes a page that replaces an evicted one. All its chains are marked as not in memory. This includes
    /// chains without an image: readers of older states must not treat them as empty.
    pub(super) fn marked(home: Home, directions: &[Direction]) -> SubgraphPage {
        let page = SubgraphPage::new(home, STAMPS);
        let marked = if faults::is_on(PlantedFault::LoadedPageUnmarked) { &[] } else { directions };
        for subgraph in page.iter() {
            let mut latched = subgraph.latch_for_upkeep();
            marked.iter().for_each(|&direction| latched.evict(direction));
        }
        page
    }

    /// Notes that the page is evicted from its table. The caller holds all latches of the page.
    pub(super) fn note_left(&self) {
        self.home.note_left();
    }

    /// Returns the [stamps](Subgraph::stamp) of all subgraphs of the page. The stamps are adjacent in memory.
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
