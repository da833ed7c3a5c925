//! Loading the pages that a call needs.

use hedgerow_catalog::error::{Error, Result, StorageError};
use hedgerow_core::{Direction, LabelId, SubgraphId, Timestamp};
use hedgerow_mem::SubgraphTable;
use hedgerow_mem::table::PAGE;
use hedgerow_tier::{ImageId, PageId};
use rayon::prelude::*;

use crate::budget::taken::Room;
use crate::budget::{For, Need};
use crate::pager::Pager;
use crate::pager::pages::lists::MANY;
use crate::pager::recent::Touched;
use crate::sources::page_of;

/// The approximate bytes of a page without its edges: versions, deltas and offsets of 64 subgraphs in both
/// directions.
const PAGE_BYTES: u64 = 64 << 10;
/// The greatest estimate of the buffers and one image during the read of a page.
const BUFFER_BYTES: u64 = 640 << 10;
/// The share of the limit that optional loads leave free in addition to the slack.
const FREE: u64 = 64;
/// The greatest number of subgraphs that a commit loads in a store larger than the limit, although it could
/// write to inboxes, and of those whose touches count.
const FEW: usize = 64;
/// The share of the limit from which on a page is loaded without its chains.
const LARGE: u64 = 8;

/// A subgraph in a label.
type InLabel = (LabelId, SubgraphId);

impl Pager {
    /// Loads a page that only files hold: O(edges of 4,096 vertices), and reads of files. If the page is a
    /// large share of the memory limit, loads it without chains. Never called with a latch or a hold, or in a
    /// walk over versions.
    ///
    /// # Errors
    /// A [`StorageError`]: damage, the system's errors, a limit without room for the page.
    #[cold]
    pub(crate) fn load_page(&self, table: &SubgraphTable, page: PageId) -> Result<()> {
        if self.is_large_page(page) {
            self.check_owner()?;
            return self.load_within(PAGE_BYTES, |_| self.load_marked(table, page));
        }
        self.load_whole_page(table, page)
    }

    /// Loads a page, within a limit without its chains: the commit loads those that it needs.
    pub(crate) fn load_page_for_commit(
        &self,
        table: &SubgraphTable,
        page: PageId,
        room: &mut Room,
    ) -> Result<()> {
        self.check_owner()?;
        match self.memory_limit {
            Some(_) => self.load_marked(table, page),
            None => self.pages.load(table, page, room, |stored| self.eviction.note_stored(stored)),
        }
    }

    /// Like `load_page`, but without chains, for a commit that has the memory for it.
    ///
    /// # Errors
    /// A forked child.
    pub fn load_marked_page(&self, page: PageId) -> Result<()> {
        self.check_owner()?;
        self.table(page.label).map_or(Ok(()), |table| self.load_marked(table, page))
    }

    fn load_marked(&self, table: &SubgraphTable, page: PageId) -> Result<()> {
        self.pages.load_marked(table, page, |stored| self.eviction.note_stored(stored))
    }

    fn load_whole_page(&self, table: &SubgraphTable, page: PageId) -> Result<()> {
        self.check_owner()?;
        let about = match self.memory_limit {
            Some(_) => self.bytes_to_read_and_load(page),
            None => 0,
        };
        let note = |stored| self.eviction.note_stored(stored);
        self.load_within(about, |room| self.pages.load(table, page, room, note))
    }

    /// True if the page of the subgraph is stored and not loaded.
    pub fn is_unloaded(&self, label: LabelId, id: SubgraphId) -> bool {
        self.table(label).is_some_and(|table| table.is_unloaded(id.index() / PAGE))
    }

    /// Loads all pages of a label, and of the existence of vertices, in the current rayon pool or on this
    /// thread alone. O(1) if all are loaded.
    ///
    /// # Errors
    /// Damage, the system's errors; a limit without room.
    pub fn load_label(&self, label: LabelId, in_parallel: bool) -> Result<()> {
        for (label, table) in [(LabelId::DEFAULT, Some(&self.subgraphs)), (label, self.table(label))] {
            let Some(table) = table else { continue };
            self.check_room_for_label(label)?;
            let pages: Vec<PageId> =
                table.unloaded().map(|page| PageId { label, page: page as u32 }).collect();
            let load = |id: &PageId| self.load_whole_page(table, *id);
            if in_parallel {
                hedgerow_par::try_for_each(pages.par_iter(), load)?;
            } else {
                pages.iter().try_for_each(load)?;
            }
            // Pages that were evicted before are loaded without their chains.
            self.reload_table((label, table), in_parallel)?;
        }
        Ok(())
    }

    /// Loads all pages of all labels.
    ///
    /// # Errors
    /// Damage, the system's errors; a limit without room.
    pub fn load_all(&self) -> Result<()> {
        self.tables().try_for_each(|(label, _)| self.load_label(label, true))
    }

    /// True if all pages of all labels are loaded, and no part of them is evicted. O(labels).
    pub fn all_loaded(&self) -> bool {
        !self.eviction.has_taken() && self.tables().all(|(_, table)| table.all_loaded())
    }

    /// Makes the error of a call that needs whole labels in memory, but whose data is evicted while other
    /// data is read.
    pub fn no_room_for_all(&self) -> Error {
        let limit = self.memory_limit.unwrap_or(u64::MAX);
        StorageError::MemoryLimit(self.shortage(limit, For::Speed)).into()
    }

    /// True if a page is a large share of the memory limit: then only chains that a call needs are loaded.
    fn is_large_page(&self, id: PageId) -> bool {
        self.memory_limit.is_some_and(|limit| self.bytes_to_load(id) > limit / LARGE)
    }

    /// Estimates the memory for reloading a subgraph, before its lists are read and give the exact size.
    pub(crate) fn room_for_subgraph(&self, id: ImageId) -> u64 {
        if self.memory_limit.is_some() { self.bytes_to_reload(id.page()) } else { 0 }
    }

    /// Fails for a label that does not fit the memory limit, even if nothing else were in memory. O(pages) if
    /// any page is not loaded.
    fn check_room_for_label(&self, label: LabelId) -> Result<()> {
        let Some(limit) = self.memory_limit else { return Ok(()) };
        if self.all_loaded() {
            return Ok(());
        }
        let sources = self.pages.sources();
        let pages = sources.pages().into_iter().filter(|page| page.label == label);
        let needed = pages.fold(0, |sum: u64, page| sum.saturating_add(self.bytes_to_load(page)));
        if needed <= limit {
            return Ok(());
        }
        Err(StorageError::MemoryLimit(self.shortage(needed, For::Speed)).into())
    }

    /// Estimates the bytes of a page in memory.
    pub fn bytes_to_load(&self, id: PageId) -> u64 {
        self.list_bytes_of_page(id).saturating_add(self.value_bytes_of_page(id)).saturating_add(PAGE_BYTES)
    }

    /// Like [`bytes_to_load`](Self::bytes_to_load), with the buffers and one image during the read.
    fn bytes_to_read_and_load(&self, id: PageId) -> u64 {
        let bytes = self.pages.sources().bytes_of_page(id);
        self.bytes_to_load(id).saturating_add(BUFFER_BYTES.min(bytes.saturating_add(bytes / 8)))
    }

    /// Estimates the bytes of one subgraph of a page: a quarter of the page's lists, since one vertex may
    /// have most of their elements, and twice the mean share of the properties.
    fn bytes_to_reload(&self, id: PageId) -> u64 {
        let values = self.value_bytes_of_page(id) / (PAGE as u64 / 2);
        (self.list_bytes_of_page(id).saturating_add(PAGE_BYTES) / 4).saturating_add(values)
    }

    fn list_bytes_of_page(&self, id: PageId) -> u64 {
        self.pages.sources().edges_of_page(id).saturating_mul(self.bytes_of_entry(id.label))
    }

    /// Returns the bytes in memory of an outgoing entry of a label, with its copy at the other end.
    fn bytes_of_entry(&self, label: LabelId) -> u64 {
        let both = self.directions_of(label).contains(&Direction::In);
        (4 + if self.is_weighted(label) { 8 } else { 0 }) * if both { 2 } else { 1 }
    }

    /// Returns an upper bound of the bytes of ranks and properties of a page, which have the same size in
    /// memory and in files.
    pub(crate) fn value_bytes_of_page(&self, id: PageId) -> u64 {
        let has_values = id.label != LabelId::DEFAULT || !self.schema.default_is_plain();
        if has_values { self.pages.sources().bytes_of_page(id) } else { 0 }
    }

    /// True if a commit writes to subgraphs that are not in memory without loading them: the memory limit has
    /// no free room for all of them, or the commit `has_loaded` others before. In a store larger than the
    /// limit also if they are many, or if commits have loaded much since the last checkpoint.
    /// O(subgraphs log segments).
    pub fn writes_outside(&self, subgraphs: &[InLabel], has_loaded: bool) -> bool {
        #[cfg(feature = "planted-faults")]
        if self.eviction.switch.writes_outside() {
            return true;
        }
        let Some(limit) = self.memory_limit else { return false };
        if has_loaded {
            return true;
        }
        let (lists, values) = self.bytes_to_load_all(subgraphs, |_| true);
        let bytes = lists.saturating_add(values).saturating_add(limit / FREE);
        let is_few = subgraphs.len() <= FEW && self.eviction.commit_loads.has_room(limit, false);
        self.is_larger_than(limit) && !is_few
            || !self.budget.fits(&Need::new(For::Load, bytes).with_block(self.block_of(bytes)))
    }

    /// Counts the bytes of subgraphs that a commit has loaded. O(subgraphs).
    pub(crate) fn note_loaded(&self, subgraphs: &[InLabel]) {
        let bytes = |&(label, subgraph): &InLabel| self.bytes_of(ImageId { label, subgraph });
        self.eviction.commit_loads.note(subgraphs.iter().map(bytes).sum());
    }

    /// Returns the bytes in memory of the newest versions of a subgraph. O(1).
    pub fn bytes_of(&self, id: ImageId) -> u64 {
        let hold = self.hold_of(id.label);
        let entry = self.table(id.label).and_then(|table| table.get(id.subgraph, &hold));
        let Some(entry) = entry else { return 0 };
        let now = |&direction| entry.version(direction, Timestamp::INFINITY).ok().flatten();
        self.directions_of(id.label).iter().filter_map(now).map(|version| version.bytes() as u64).sum()
    }

    /// Returns those of some subgraphs outside memory that a commit should load: those whose inboxes take
    /// more memory than their chains would, by the mean of their pages; and those that commits have needed
    /// often lately, up to a share of the limit between two checkpoints. Notes that a commit needs them,
    /// unless they are many: a commit to many says little about each. O(subgraphs log segments).
    pub fn worth_loading(&self, subgraphs: &[InLabel]) -> Vec<InLabel> {
        let (Some(recent), Some(limit)) = (self.cold.recent(), self.memory_limit) else { return Vec::new() };
        let loads = &self.eviction.commit_loads;
        if loads.are_exhausted() {
            return Vec::new();
        }
        let (are_few, is_larger) = (subgraphs.len() <= FEW, self.is_larger_than(limit));
        let is_worth = |&&(label, subgraph): &&InLabel| {
            let touched = Touched { image: ImageId { label, subgraph }, of_vertex: false };
            let is_often = are_few && recent.touch(touched) >= MANY;
            let is_worth = is_often && (!is_larger || loads.has_room(limit, true))
                || self.inboxes.bytes_of(touched.image) > self.mean_bytes_of((label, subgraph));
            if is_worth {
                recent.forget(touched);
            }
            is_worth
        };
        subgraphs.iter().filter(is_worth).copied().collect()
    }

    /// Returns the mean bytes in memory of the chains of a subgraph on its page. In files, where lists are
    /// packed, both directions take about half as much. O(log segments).
    fn mean_bytes_of(&self, (label, subgraph): InLabel) -> u64 {
        let page = page_of(label, subgraph);
        let lists = (2 * self.pages.sources().bytes_of_page(page)).max(self.list_bytes_of_page(page));
        (lists + PAGE_BYTES) / PAGE as u64
    }

    /// True if the lists of the store take more than this memory, by the sizes that segments state.
    /// O(segments).
    fn is_larger_than(&self, bytes: u64) -> bool {
        let sources = self.pages.sources();
        let entries: u64 = sources.segments().map(|segment| segment.reader.info().edges).sum();
        entries.saturating_mul(self.bytes_of_entry(LabelId::DEFAULT)) > bytes
    }

    /// True if the memory limit has room, without eviction, for a chain, or for its page if that is not
    /// loaded. O(segments log pages), and O(regions) if chains were evicted before.
    pub(crate) fn has_free_room_for(&self, id: ImageId) -> bool {
        let Some(limit) = self.memory_limit else { return true };
        let page = id.page();
        let is_unloaded = self.is_unloaded(id.label, id.subgraph);
        let bytes = if is_unloaded { self.bytes_to_read_and_load(page) } else { self.bytes_to_reload(page) };
        let bytes = bytes.saturating_add(limit / FREE);
        self.budget.fits(&Need::new(For::Load, bytes).with_block(self.block_of(bytes)))
    }
}
