//! Checks if whole labels, and views of them, fit into memory.

use hedgerow_catalog::error::Result;
use hedgerow_core::account::Purpose;
use hedgerow_core::{LabelId, Timestamp};
use hedgerow_mem::SubgraphTable;
use hedgerow_mem::table::PAGE;
use hedgerow_tier::PageId;

use crate::budget::taken::Stop;
use crate::budget::{For, Need};
use crate::pager::Pager;

/// The bytes of a view for each subgraph and direction, without copies and corrections.
const VIEW_BYTES_PER_CHAIN: u64 = 400;
/// The bytes of one neighbor in the arena, and of one neighbor with its weight.
const NEIGHBOR: u64 = 4;
const WEIGHTED: u64 = 12;

/// The lists that a view copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// No view is made.
    NoView,
    /// Lists with large deltas: the other lists are shared with the store.
    Deltas,
    /// All lists, with the weights from a property if there is one.
    All {
        /// True if weights are copied too.
        weights: bool,
    },
}

impl Pager {
    /// True if the limit has room, without eviction, for whole labels and a view of them, in addition to the
    /// data now in memory. With `turns`, the view computes its incoming side when it is first used. O(1)
    /// without a limit, O(pages) with one; O(subgraphs) if something was evicted.
    pub fn has_room_for_labels(
        &self,
        labels: impl IntoIterator<Item = LabelId>,
        (copies, turns): (Copies, bool),
    ) -> bool {
        if self.memory_limit.is_none() {
            return true;
        }
        let others = labels.into_iter().filter(|label| *label != LabelId::DEFAULT);
        let others = others.filter_map(|label| Some((label, self.table(label)?)));
        let tables = std::iter::once((LabelId::DEFAULT, &self.subgraphs)).chain(others);
        let missing = tables.map(|(label, table)| self.missing_bytes(label, table));
        let missing = missing.fold(0, u64::saturating_add);
        let view = self.bytes_of_view(missing, copies, turns);
        // The lists fit gaps of the arena, the view does not.
        missing == 0 && view == 0
            || self
                .budget
                .fits(&Need::new(For::Speed, missing.saturating_add(view)).in_arena().with_block(view))
    }

    /// Like [`has_room_for_labels`](Self::has_room_for_labels), but for one label and a view that shares its
    /// lists.
    pub fn has_room_for_label(&self, label: LabelId) -> bool {
        self.has_room_for_labels([label], (Copies::Deltas, self.config.is_one_way()))
    }

    /// True if the memory limit has room for a view that reads make. O(1).
    pub fn has_room_for_view(&self) -> bool {
        let view = || self.bytes_of_view(0, Copies::Deltas, self.config.is_one_way());
        self.memory_limit.is_none() || self.budget.fits(&Need::new(For::Speed, view()))
    }

    /// Fails if the limit has no room for more of a view that is being made. O(1).
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`](hedgerow_catalog::error::StorageError::MemoryLimit).
    pub fn check_room_for_view(&self) -> Result<()> {
        let need = Need::new(For::Speed, 0);
        if self.budget.fits(&need) { Ok(()) } else { Err(self.error_of(Stop::NoRoom(0))) }
    }

    /// Estimates the memory of a view, once the `missing` bytes are in memory. O(1).
    fn bytes_of_view(&self, missing: u64, copies: Copies, turns: bool) -> u64 {
        let chains = u64::from(self.bound.subgraphs()) * self.directions_of(LabelId::DEFAULT).len() as u64;
        let lists = self.account().used_for(Purpose::Arena).saturating_add(missing);
        let copied = match copies {
            Copies::NoView => return 0,
            Copies::Deltas => lists / if missing == 0 { 8 } else { 4 },
            Copies::All { weights: false } => lists,
            Copies::All { weights: true } => lists.saturating_mul(WEIGHTED / NEIGHBOR),
        };
        // The incoming side is counted out, then laid out, in as much memory as the lists.
        let turned = if turns { copied.max(lists).saturating_mul(2) } else { 0 };
        (chains * VIEW_BYTES_PER_CHAIN).saturating_add(copied).saturating_add(turned)
    }

    /// Fails for a call that needs whole labels in memory as of `t`, if their data may have been evicted for
    /// a page version (rule E8).
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`](hedgerow_catalog::error::StorageError::MemoryLimit).
    pub fn check_in_memory_at(&self, t: Timestamp) -> Result<()> {
        if self.eviction.page_versions.has(t) { Err(self.no_room_for_all()) } else { Ok(()) }
    }

    /// Estimates the bytes that the absent subgraphs of a label would take in memory.
    fn missing_bytes(&self, label: LabelId, table: &SubgraphTable) -> u64 {
        let bytes = |page: usize| self.bytes_to_load(PageId { label, page: page as u32 });
        let unloaded = table.unloaded().map(bytes).fold(0, u64::saturating_add);
        if !self.eviction.has_taken() {
            return unloaded;
        }
        let mut taken: u64 = 0;
        for page in table.existing().step_by(PAGE).map(|first| first.index() / PAGE) {
            let hold = table.hold();
            let gone =
                table.page(page, &hold).map_or(0, |page| page.iter().filter(|it| !it.is_resident()).count());
            if gone > 0 {
                taken = taken.saturating_add(bytes(page).saturating_mul(gone as u64) / PAGE as u64);
            }
        }
        unloaded.saturating_add(taken)
    }
}
