//! Loading the pages that a call needs.

use hedgerow_core::{Direction, LabelId, SubgraphId};
use hedgerow_mem::version::NotInMemory;
use hedgerow_mem::{Subgraph, SubgraphTable};
use hedgerow_tier::PageId;
use rayon::prelude::*;

use super::page_of;
use crate::error::{Result, StorageError};
use crate::state::store::Core;

/// What a page takes beside its edges, about: versions, deltas and offsets of 64 subgraphs in both directions.
const PAGE_BYTES: u64 = 64 << 10;

impl Core {
    /// The subgraph of a label; `None` where there never was anything on its page. Where the page is not loaded, it is: then
    /// O(edges of 4,096 vertices), and reads of files. Never called with a latch, or in a walk over versions.
    ///
    /// # Errors
    /// A [`StorageError`]: damage, the system's errors, a limit that has no room for the page.
    #[inline]
    pub(crate) fn subgraph(&self, label: LabelId, id: SubgraphId) -> Result<Option<&Subgraph>> {
        let Some(table) = self.table(label) else { return Ok(None) };
        match table.find(id) {
            Ok(found) => Ok(found),
            Err(NotInMemory) => self.load_and_find(table, page_of(label, id), id),
        }
    }

    #[cold]
    fn load_and_find<'c>(
        &'c self,
        table: &'c SubgraphTable,
        page: PageId,
        id: SubgraphId,
    ) -> Result<Option<&'c Subgraph>> {
        self.load_page(table, page)?;
        Ok(table.get(id))
    }

    fn load_page(&self, table: &SubgraphTable, id: PageId) -> Result<()> {
        self.check_owner()?;
        self.check_room_for_page(id)?;
        self.pages.load(table, id, |_, _| Ok(()))
    }

    /// Whether the page of the subgraph is stored and not loaded.
    pub(crate) fn is_unloaded(&self, label: LabelId, id: SubgraphId) -> bool {
        self.table(label).is_some_and(|table| matches!(table.find(id), Err(NotInMemory)))
    }

    /// Loads the pages of subgraphs.
    pub(crate) fn load_subgraphs(&self, all: impl IntoIterator<Item = (LabelId, SubgraphId)>) -> Result<()> {
        all.into_iter().try_for_each(|(label, id)| self.subgraph(label, id).map(drop))
    }

    /// Loads all pages of a label, and of the existence of vertices, in the current rayon pool or on this thread alone. O(1) where all
    /// are loaded.
    pub(crate) fn load_label(&self, label: LabelId, in_parallel: bool) -> Result<()> {
        for (label, table) in [(LabelId::DEFAULT, Some(&self.subgraphs)), (label, self.table(label))] {
            let Some(table) = table.filter(|table| !table.all_loaded()) else { continue };
            let pages: Vec<PageId> =
                table.unloaded().map(|page| PageId { label, page: page as u32 }).collect();
            let load = |id: &PageId| self.load_page(table, *id);
            if in_parallel {
                hedgerow_par::try_for_each(pages.par_iter(), load)?;
            } else {
                pages.iter().try_for_each(load)?;
            }
        }
        Ok(())
    }

    /// Loads all pages of all labels.
    pub(crate) fn load_all(&self) -> Result<()> {
        self.tables().try_for_each(|(label, _)| self.load_label(label, true))
    }

    /// Whether all pages of all labels are loaded. O(labels).
    pub(crate) fn all_loaded(&self) -> bool {
        self.tables().all(|(_, table)| table.all_loaded())
    }

    /// Whether all pages of a label are loaded, and those of the existence of vertices. O(1).
    pub(crate) fn is_loaded(&self, label: LabelId) -> bool {
        self.subgraphs.all_loaded() && self.table(label).is_none_or(SubgraphTable::all_loaded)
    }

    fn check_room_for_page(&self, id: PageId) -> Result<()> {
        let Some(limit) = self.memory_limit else { return Ok(()) };
        let both = self.directions_of(id.label).contains(&Direction::In);
        let each = (4 + if self.is_weighted(id.label) { 8 } else { 0 }) * if both { 2 } else { 1 };
        let edges = self.pages.sources().edges_of_page(id);
        let needed = edges.saturating_mul(each).saturating_add(PAGE_BYTES);
        match self.room_for(limit, needed) {
            Ok(()) => Ok(()),
            Err(used) => Err(StorageError::MemoryLimit { limit, used, needed }.into()),
        }
    }
}
