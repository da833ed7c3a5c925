//! Images of pages that are not loaded, copied from one segment into another, and keys that memory does not
//! know.

use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{LabelId, SubgraphId, VertexId, VertexKey};
use hedgerow_pager::{InboxView, Sources};
use hedgerow_tier::{AdjacencyPart, ImageId, PageId, ReadMemory, SegmentWriter, SubgraphImage, SubgraphKeys};

use crate::error::{Error, Result};
use crate::state::pages::{invalid, page_of};
use crate::state::room::buffers::{Buffers, Writing};
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

/// The images of the page that was read last. A segment has its images in order, so each page is read once,
/// and again if the manifest has changed since. A backup needs the second read: chains that a checkpoint
/// wrote meanwhile may be evicted before the backup reads them, and the images of the first read lack them.
pub(super) struct PageCopy {
    writing: Writing,
    page: Option<(PageId, Arc<Sources>)>,
    images: Vec<SubgraphImage>,
    /// The memory of the images, and of their reads.
    buffers: Option<Buffers>,
}

impl PageCopy {
    pub(super) fn new(writing: Writing) -> PageCopy {
        PageCopy { writing, page: None, images: Vec::new(), buffers: None }
    }

    pub(super) fn writing(&self) -> Writing {
        self.writing
    }

    /// Copies an image from files, with the operations of an inbox, if one is given; returns its bytes, or
    /// `None` if there is none to write. An image that has not changed keeps its timestamp.
    pub(super) fn write(
        &mut self,
        core: &Core,
        (sources, inbox): (&Arc<Sources>, Option<&InboxView>),
        (id, even_if_empty): (ImageId, bool),
        writer: &mut SegmentWriter,
    ) -> Result<Option<u64>> {
        if faults::is_on(PlantedFault::UnloadedImagesLost) {
            return Ok(None);
        }
        let is_large = |limit| core.pager.bytes_to_load(id.page()) > limit / LARGE;
        let image = if core.pager.memory_limit.is_some_and(is_large) {
            self.read_alone(core, sources, id)?
        } else {
            self.read_with_page(core, sources, id)?
        };
        let Some(buffers) = &mut self.buffers else { return Ok(None) };
        let (mut refused, mut more) = (None, buffers.bytes());
        let image = match inbox {
            None => image,
            Some(inbox) => {
                let mut has_memory = |memory: ReadMemory| {
                    more += bytes_of_memory(memory);
                    buffers.set(&core.pager, more).map_err(|error| refused = Some(error)).is_ok()
                };
                let stacked = sources.image_under(inbox, id, image, &mut has_memory);
                if let Some(refused) = refused {
                    return Err(refused);
                }
                stacked?
            }
        };
        let Some(image) = image else { return Ok(None) };
        let values = image.parts.iter().map(|part| part.columns.bytes()).sum();
        let _record = take_record(core, self.writing, values)?;
        let written = write_image(&image, even_if_empty, writer);
        drop(image);
        let left = self.images.iter().map(bytes_of_image).sum();
        self.buffers.iter_mut().try_for_each(|buffers| buffers.set(&core.pager, left))?;
        written
    }

    /// Reads all images of a page, unless they are in memory, and takes one of them.
    fn read_with_page(
        &mut self,
        core: &Core,
        sources: &Arc<Sources>,
        id: ImageId,
    ) -> Result<Option<SubgraphImage>> {
        let is_it = |(page, read): &(PageId, Arc<Sources>)| *page == id.page() && Arc::ptr_eq(read, sources);
        if !self.page.as_ref().is_some_and(is_it) {
            self.page = None;
            self.images = Vec::new();
            let buffers = self.buffers.insert(core.pager.buffers(self.writing));
            sources.read_page(id.page(), |image, _| {
                let bytes = buffers.bytes() + bytes_of_image(&image);
                buffers.set(&core.pager, bytes)?;
                self.images.push(image);
                Ok::<_, Error>(())
            })?;
            self.page = Some((id.page(), sources.clone()));
        }
        let found = self.images.iter().position(|image| image.id == id);
        Ok(found.map(|at| self.images.swap_remove(at)))
    }

    /// Reads an image of a page that is a large share of the memory limit. Only that image is in memory.
    fn read_alone(&mut self, core: &Core, sources: &Sources, id: ImageId) -> Result<Option<SubgraphImage>> {
        *self = PageCopy::new(self.writing);
        let (buffers, mut refused) = (self.buffers.insert(core.pager.buffers(self.writing)), None);
        let mut has_memory = |memory: ReadMemory| {
            let taken = buffers.set(&core.pager, buffers.bytes() + bytes_of_memory(memory));
            taken.map_err(|error| refused = Some(error)).is_ok()
        };
        let found = sources.read_image(id, core.pager.cold.cache(), &mut has_memory);
        if let Some(refused) = refused {
            return Err(refused);
        }
        let image = found?.map(|(image, _)| image);
        // The buffers of the read are free by now.
        buffers.set(&core.pager, image.iter().map(bytes_of_image).sum())?;
        Ok(image)
    }
}

fn write_image(
    image: &SubgraphImage,
    even_if_empty: bool,
    writer: &mut SegmentWriter,
) -> Result<Option<u64>> {
    let holds_nothing = image.present == 0 && image.parts.is_empty();
    if holds_nothing && !even_if_empty {
        return Ok(None);
    }
    Ok(Some(image.with_ref(|image| writer.write(image))?))
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
    let (ReadMemory::Buffers(bytes) | ReadMemory::Image(bytes) | ReadMemory::Values(bytes)) = memory;
    bytes as usize
}

fn bytes_of_image(image: &SubgraphImage) -> usize {
    image.parts.iter().map(bytes_of).sum()
}

fn bytes_of(part: &AdjacencyPart) -> usize {
    let weights = part.weights.as_ref().map_or(0, Vec::capacity);
    let ranks = part.ranks.as_ref().map_or(0, Vec::capacity);
    part.neighbors.capacity() * 4 + (weights + ranks) * 8 + part.columns.bytes() + size_of_val(part)
}
