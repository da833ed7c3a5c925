//! Checks if a whole label fits into memory.

use hedgerow_core::{LabelId, Timestamp};
use hedgerow_mem::SubgraphTable;
use hedgerow_mem::table::PAGE;
use hedgerow_tier::PageId;

use crate::error::Result;
use crate::state::store::Core;

impl Core {
    /// True if the limit has room, without eviction, for a whole label and a view of it, in addition to the
    /// data now in memory. O(1) without a limit, O(pages) with one; O(subgraphs) if something was evicted.
    pub(crate) fn has_room_for_label(&self, label: LabelId) -> bool {
        self.has_room_for_labels([label])
    }

    /// Like [`has_room_for_label`](Self::has_room_for_label), but for several distinct labels and one view.
    pub(crate) fn has_room_for_labels(&self, labels: impl IntoIterator<Item = LabelId>) -> bool {
        let Some(limit) = self.memory_limit else { return true };
        let others = labels.into_iter().filter(|label| *label != LabelId::DEFAULT);
        let others = others.filter_map(|label| Some((label, self.table(label)?)));
        let tables = std::iter::once((LabelId::DEFAULT, &self.subgraphs)).chain(others);
        let missing = tables.map(|(label, table)| self.missing_bytes(label, table));
        let missing = missing.fold(0, u64::saturating_add);
        // If everything is in memory already, requested views are always made.
        missing == 0
            || self.account().used().saturating_add(missing).saturating_add(self.bytes_of_view()) <= limit
    }

    /// Fails for a call that needs whole labels in memory as of `t`, if their data may have been evicted for
    /// a page version (rule E8).
    pub(crate) fn check_in_memory_at(&self, t: Timestamp) -> Result<()> {
        if self.eviction.page_versions.has(t) { Err(self.no_room_for_all()) } else { Ok(()) }
    }

    /// Like [`has_room_for_label`](Self::has_room_for_label), but for all labels together and a view of one.
    pub(crate) fn has_room_for_all(&self) -> bool {
        let Some(limit) = self.memory_limit else { return true };
        let missing = self.tables().map(|(label, table)| self.missing_bytes(label, table));
        let missing = missing.fold(0, u64::saturating_add);
        missing == 0
            || self.account().used().saturating_add(missing).saturating_add(self.bytes_of_view()) <= limit
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
            let gone = table.page(page).map_or(0, |page| page.iter().filter(|it| !it.is_resident()).count());
            if gone > 0 {
                taken = taken.saturating_add(bytes(page).saturating_mul(gone as u64) / PAGE as u64);
            }
        }
        unloaded.saturating_add(taken)
    }
}
