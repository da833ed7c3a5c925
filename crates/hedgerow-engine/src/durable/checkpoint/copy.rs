//! Records of pages that are not loaded, copied from older segments into a new one, and keys that memory does
//! not know.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;

use hedgerow_catalog::error::{Error, Result};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{LabelId, SubgraphId, VertexId, VertexKey};
use hedgerow_pager::page_of;
use hedgerow_pager::pager::pages::invalid;
use hedgerow_pager::pager::room::buffers::{Buffers, Writing};
use hedgerow_pager::{InboxView, Sources};
use hedgerow_tier::{
    AdjacencyPart, ImageId, ImageSummary, PageId, ReadMemory, SegmentWriter, SubgraphImage, SubgraphKeys,
    SubgraphRecord, TierError,
};

use super::plan::{Extent, Plan, can_have_delta};
use crate::files::image_table::WrittenRecord;
use crate::files::log::Durable;
use crate::state::store::Core;

/// The share of the memory limit from which on the images of a page are copied one by one.
const LARGE: u64 = 32;

/// Returns the memory for each kind of gathered data, keys and properties, within a limit: a share of the
/// reserve for buffers.
pub(super) fn memory_to_gather(limit: u64) -> usize {
    (limit / 32).min(1 << 20) as usize
}

/// Takes memory for the record of an image's properties while it is written, unless it is small.
pub(super) fn take_record(core: &Core, writing: Writing, bytes: usize) -> Result<Option<Buffers>> {
    let is_small = core.pager.memory_limit.is_none_or(|limit| bytes <= memory_to_gather(limit));
    if is_small {
        return Ok(None);
    }
    let mut buffers = core.pager.buffers(writing);
    buffers.set(&core.pager, bytes)?;
    Ok(Some(buffers))
}

/// The segments below a new one that may have deltas.
pub(crate) struct Below {
    sources: Arc<Sources>,
    /// The number of newest segments that the new one takes in.
    depth: usize,
    /// The changed subgraphs of which the plan expects deltas.
    deltas: HashSet<ImageId>,
}

impl Below {
    /// Returns the segments below the segment of a checkpoint; `None` if it has no deltas.
    pub(super) fn of(core: &Core, durable: &Durable, extent: Extent, plan: &Plan) -> Option<Below> {
        let has_deltas = !plan.deltas.is_empty() || durable.runs.lock().has_deltas();
        let sources = core.pager.pages.sources();
        // If a segment of the manifest could not be opened, reads use older segments.
        let are_newest = sources.are_of(&durable.manifest.lock());
        let depth = sources.depth_of(|file| plan.merge.takes(file));
        let deltas = plan.deltas.keys().copied().collect();
        (extent == Extent::Changed && has_deltas && are_newest).then_some(Below { sources, depth, deltas })
    }
}

/// The records of the page that was read last. A segment has its images in order, so each page is read once,
/// and again if the manifest has changed since. A backup needs the second read: chains that a checkpoint
/// wrote meanwhile may be evicted before the backup reads them, and the images of the first read lack them.
#[derive(Default)]
struct PageRecords {
    page: Option<(PageId, Arc<Sources>)>,
    records: Vec<SubgraphRecord>,
}

/// The records of the page that is copied.
pub(super) struct PageCopy {
    writing: Writing,
    below: Option<Below>,
    /// The images, and the records in the segments that the new one takes in.
    images: PageRecords,
    taken_in: PageRecords,
    /// The newest directory entries of the page, if the new segment may have deltas.
    summaries: (Option<PageId>, Vec<ImageSummary>),
    /// The memory of the records, and of their reads.
    buffers: Option<Buffers>,
}

impl PageRecords {
    fn bytes(&self) -> usize {
        self.records.iter().map(bytes_of_record).sum()
    }
}

/// The depth of reads of whole images.
const ALL: usize = usize::MAX;

impl PageCopy {
    pub(super) fn new(writing: Writing, below: Option<Below>) -> PageCopy {
        let (images, taken_in) = (PageRecords::default(), PageRecords::default());
        PageCopy { writing, below, images, taken_in, summaries: (None, Vec::new()), buffers: None }
    }

    pub(super) fn writing(&self) -> Writing {
        self.writing
    }

    /// Writes what files have of a subgraph, with the operations of an inbox, if one is given: as a delta, if
    /// the segments that the new one takes in have no image of the subgraph, else as an image. `sources` are
    /// the newest segments. Returns `None` if there is nothing to write.
    pub(super) fn write(
        &mut self,
        core: &Core,
        (sources, inbox): (&Arc<Sources>, Option<InboxView>),
        (id, even_if_empty): (ImageId, bool),
        writer: &mut SegmentWriter,
    ) -> Result<Option<WrittenRecord>> {
        let below = self.below.as_ref().filter(|below| Arc::ptr_eq(&below.sources, sources));
        // If the subgraph has not changed, it has a record in a segment that is taken in.
        let is_delta = |below: &&Below| can_have_delta(id) && (inbox.is_none() || below.deltas.contains(&id));
        let Some(depth) = below.filter(is_delta).map(|below| below.depth) else {
            let of_inbox = inbox.as_ref().map_or(sources, |inbox| &inbox.base.sources);
            return self.write_image(core, (of_inbox, inbox.as_ref()), (id, even_if_empty), writer);
        };
        // The segments have the operations before. The inbox has them too while a reader needs them.
        let inbox = inbox.and_then(|inbox| inbox.after(sources.as_of()));
        let summary = self.summary(sources, id)?;
        if let Some(summary) = summary {
            let record = self.read(core, (sources, depth), id)?;
            let record =
                self.change(core, |memory| sources.record_under(inbox.as_ref(), &summary, record, memory))?;
            let written = match &record {
                None => return Ok(None),
                Some(SubgraphRecord::Image(image)) => {
                    return self.put(core, image, even_if_empty, writer);
                }
                Some(SubgraphRecord::Delta(delta)) => delta.with_ref(|delta| writer.write_delta(delta))?,
            };
            drop(record);
            self.release(core)?;
            if let Some(bytes) = written {
                return Ok(Some(WrittenRecord { id, bytes, is_delta: true }));
            }
        }
        self.write_image(core, (sources, inbox.as_ref()), (id, even_if_empty), writer)
    }

    /// Writes the image of a subgraph from files, with the operations of an inbox, if one is given, whose
    /// base has this image. An image that has not changed keeps its timestamp. Returns `None` if there is
    /// nothing to write.
    pub(super) fn write_image(
        &mut self,
        core: &Core,
        (sources, inbox): (&Arc<Sources>, Option<&InboxView>),
        (id, even_if_empty): (ImageId, bool),
        writer: &mut SegmentWriter,
    ) -> Result<Option<WrittenRecord>> {
        if faults::is_on(PlantedFault::UnloadedImagesLost) {
            return Ok(None);
        }
        let image = self.read(core, (sources, ALL), id)?.and_then(SubgraphRecord::into_image);
        let image = match inbox {
            None => image,
            Some(inbox) => self.change(core, |memory| sources.image_under(inbox, id, image, memory))?,
        };
        match image {
            None => Ok(None),
            Some(image) => self.put(core, &image, even_if_empty, writer),
        }
    }

    fn put(
        &mut self,
        core: &Core,
        image: &SubgraphImage,
        even_if_empty: bool,
        writer: &mut SegmentWriter,
    ) -> Result<Option<WrittenRecord>> {
        let values = image.parts.iter().map(|part| part.columns.bytes()).sum();
        let _record = take_record(core, self.writing, values)?;
        let written = write_image(image, even_if_empty, writer)?;
        self.release(core)?;
        Ok(written)
    }

    /// Returns the newest directory entry of a subgraph.
    fn summary(&mut self, sources: &Sources, id: ImageId) -> Result<Option<ImageSummary>> {
        let page = id.page();
        if self.summaries.0 != Some(page) {
            self.summaries = (None, Vec::new());
            self.summaries = (Some(page), sources.summaries(page)?);
        }
        Ok(self.summaries.1.iter().find(|summary| summary.id == id).copied())
    }

    /// Calls `f` with a function that takes more memory for a record.
    fn change<R>(
        &mut self,
        core: &Core,
        f: impl FnOnce(&mut dyn FnMut(ReadMemory) -> bool) -> Result<R, TierError>,
    ) -> Result<R> {
        let Some(buffers) = &mut self.buffers else { return Ok(f(&mut |_| true)?) };
        let (mut refused, mut more) = (None, buffers.bytes());
        let changed = f(&mut |memory: ReadMemory| {
            more += bytes_of_memory(memory);
            buffers.set(&core.pager, more).map_err(|error| refused = Some(error)).is_ok()
        });
        refused.map_or(Ok(()), Err)?;
        Ok(changed?)
    }

    /// Releases the memory of the record that was written.
    fn release(&mut self, core: &Core) -> Result<()> {
        let left = self.images.bytes() + self.taken_in.bytes();
        self.buffers.iter_mut().try_for_each(|buffers| buffers.set(&core.pager, left))
    }

    /// Reads what the `depth` newest segments have of a subgraph, alone or with its page.
    fn read(
        &mut self,
        core: &Core,
        from: (&Arc<Sources>, usize),
        id: ImageId,
    ) -> Result<Option<SubgraphRecord>> {
        let is_large = |limit| core.pager.bytes_to_load(id.page()) > limit / LARGE;
        if core.pager.memory_limit.is_some_and(is_large) {
            self.read_alone(core, from, id)
        } else {
            self.read_with_page(core, from, id)
        }
    }

    /// Reads all records of a page, unless they are in memory, and takes one of them.
    fn read_with_page(
        &mut self,
        core: &Core,
        (sources, depth): (&Arc<Sources>, usize),
        id: ImageId,
    ) -> Result<Option<SubgraphRecord>> {
        let is_it = |(page, read): &(PageId, Arc<Sources>)| *page == id.page() && Arc::ptr_eq(read, sources);
        let (of_page, other) = match depth {
            ALL => (&mut self.images, &mut self.taken_in),
            _ => (&mut self.taken_in, &mut self.images),
        };
        if !of_page.page.as_ref().is_some_and(is_it) {
            *of_page = PageRecords::default();
            if !other.page.as_ref().is_some_and(is_it) {
                *other = PageRecords::default();
            }
            let buffers = self.buffers.get_or_insert_with(|| core.pager.buffers(self.writing));
            let (buffers, kept, mut refused) = (RefCell::new(buffers), Cell::new(other.bytes()), None);
            // Lists that deltas change are copied, which takes memory until the copy is handed over.
            let mut has_memory = |memory: ReadMemory| {
                let is_beside = matches!(memory, ReadMemory::Values(_) | ReadMemory::Copy(_));
                let more = if is_beside { bytes_of_memory(memory) } else { 0 };
                let taken = buffers.borrow_mut().set(&core.pager, kept.get() + more);
                taken.map_err(|error| refused = Some(error)).is_ok()
            };
            let read = sources.read_records((id.page(), u64::MAX), depth, &mut has_memory, |record, _| {
                kept.set(kept.get() + bytes_of_record(&record));
                buffers.borrow_mut().set(&core.pager, kept.get())?;
                of_page.records.push(record);
                Ok::<_, Error>(())
            });
            refused.map_or(Ok(()), Err)?;
            read?;
            of_page.page = Some((id.page(), sources.clone()));
        }
        let found = of_page.records.iter().position(|record| record.id() == id);
        Ok(found.map(|at| of_page.records.swap_remove(at)))
    }

    /// Reads a record of a page that is a large share of the memory limit. Only that record is in memory.
    fn read_alone(
        &mut self,
        core: &Core,
        (sources, depth): (&Arc<Sources>, usize),
        id: ImageId,
    ) -> Result<Option<SubgraphRecord>> {
        (self.images, self.taken_in) = (PageRecords::default(), PageRecords::default());
        let (buffers, mut refused) = (self.buffers.insert(core.pager.buffers(self.writing)), None);
        let mut has_memory = |memory: ReadMemory| {
            let taken = buffers.set(&core.pager, buffers.bytes() + bytes_of_memory(memory));
            taken.map_err(|error| refused = Some(error)).is_ok()
        };
        let found = sources.read_record(id, depth, core.pager.cold.cache(), &mut has_memory);
        if let Some(refused) = refused {
            return Err(refused);
        }
        let record = found?.map(|(record, _)| record);
        // The buffers of the read are free by now.
        buffers.set(&core.pager, record.iter().map(bytes_of_record).sum())?;
        Ok(record)
    }
}

fn write_image(
    image: &SubgraphImage,
    even_if_empty: bool,
    writer: &mut SegmentWriter,
) -> Result<Option<WrittenRecord>> {
    let holds_nothing = image.present == 0 && image.parts.is_empty();
    if holds_nothing && !even_if_empty {
        return Ok(None);
    }
    let bytes = image.with_ref(|image| writer.write(image))?;
    Ok(Some(WrittenRecord::image(image.id, bytes)))
}

/// The keys of the page that was needed last. They are not bound in memory: binding takes latches of keys,
/// and a commit that waits for the checkpoint may hold these.
#[derive(Default)]
pub(super) struct KeyCopy {
    page: Option<PageId>,
    keys: Vec<(SubgraphKeys, String)>,
}

impl KeyCopy {
    /// Returns the key of a vertex from files.
    pub(super) fn of(&mut self, sources: &Sources, id: VertexId) -> Result<VertexKey> {
        let page = page_of(LabelId::DEFAULT, id.subgraph());
        if self.page != Some(page) {
            self.page = None;
            self.keys.clear();
            sources.read_keys((page, u64::MAX), |keys, file| {
                self.keys.push((keys, file.to_owned()));
                Ok::<_, Error>(())
            })?;
            self.page = Some(page);
        }
        let of_subgraph = |id: SubgraphId| self.keys.iter().find(|(keys, _)| keys.id == id);
        let (keys, file) = of_subgraph(id.subgraph()).ok_or_else(|| invalid("", "a vertex without a key"))?;
        keys.key_of(id.local()).ok_or_else(|| invalid(file, "a vertex without a key"))
    }
}

fn bytes_of_memory(memory: ReadMemory) -> usize {
    memory.bytes() as usize
}

fn bytes_of_record(record: &SubgraphRecord) -> usize {
    match record {
        SubgraphRecord::Image(image) => image.parts.iter().map(bytes_of).sum(),
        SubgraphRecord::Delta(delta) => delta.memory_bytes(),
    }
}

fn bytes_of(part: &AdjacencyPart) -> usize {
    let weights = part.weights.as_ref().map_or(0, Vec::capacity);
    let ranks = part.ranks.as_ref().map_or(0, Vec::capacity);
    part.neighbors.capacity() * 4 + (weights + ranks) * 8 + part.columns.bytes() + size_of_val(part)
}
