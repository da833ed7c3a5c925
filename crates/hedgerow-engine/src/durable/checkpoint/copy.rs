//! Images of pages that are not loaded, copied from one segment into another, and keys that memory does not
//! know.

use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{LabelId, SubgraphId, VertexId, VertexKey};
use hedgerow_pager::Sources;
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

    /// Copies an image from files; returns its bytes, or `None` if there is none to write. The image keeps
    /// its timestamp, since it has not changed.
    pub(super) fn write(
        &mut self,
        core: &Core,
        sources: Arc<Sources>,
        id: ImageId,
        even_if_empty: bool,
        writer: &mut SegmentWriter,
    ) -> Result<Option<u64>> {
        if faults::is_on(PlantedFault::UnloadedImagesLost) {
            return Ok(None);
        }
        if core.pager.memory_limit.is_some_and(|limit| core.pager.bytes_to_load(id.page()) > limit / LARGE) {
            return self.write_alone(core, &sources, id, even_if_empty, writer);
        }
        let is_it = |(page, read): &(PageId, Arc<Sources>)| *page == id.page() && Arc::ptr_eq(read, &sources);
        if !self.page.as_ref().is_some_and(is_it) {
            self.page = None;
            self.images = Vec::new();
            let buffers = self.buffers.insert(core.pager.buffers(self.writing));
            sources.read_page(id.page(), |image, _| {
                let bytes = buffers.bytes() + image.parts.iter().map(bytes_of).sum::<usize>();
                buffers.set(&core.pager, bytes)?;
                self.images.push(image);
                Ok::<_, Error>(())
            })?;
            self.page = Some((id.page(), sources));
        }
        let Some(image) = self.images.iter().find(|image| image.id == id) else { return Ok(None) };
        write_image(image, even_if_empty, writer)
    }

    /// Copies an image of a page that is a large share of the memory limit. Only that image is in memory.
    fn write_alone(
        &mut self,
        core: &Core,
        sources: &Sources,
        id: ImageId,
        even_if_empty: bool,
        writer: &mut SegmentWriter,
    ) -> Result<Option<u64>> {
        *self = PageCopy::new(self.writing);
        let (mut buffers, mut refused) = (core.pager.buffers(self.writing), None);
        let mut has_memory = |memory: ReadMemory| {
            let (ReadMemory::Buffers(more) | ReadMemory::Image(more) | ReadMemory::Values(more)) = memory;
            let taken = buffers.set(&core.pager, buffers.bytes() + more as usize);
            taken.map_err(|error| refused = Some(error)).is_ok()
        };
        let found = sources.read_image(id, core.pager.cold.cache(), &mut has_memory);
        if let Some(refused) = refused {
            return Err(refused);
        }
        let Some((image, _)) = found? else { return Ok(None) };
        // The buffers of the read are free by now.
        buffers.set(&core.pager, image.parts.iter().map(bytes_of).sum())?;
        let values = image.parts.iter().map(|part| part.columns.bytes()).sum();
        let _record = take_record(core, self.writing, values)?;
        write_image(&image, even_if_empty, writer)
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

fn bytes_of(part: &AdjacencyPart) -> usize {
    let weights = part.weights.as_ref().map_or(0, Vec::capacity);
    let ranks = part.ranks.as_ref().map_or(0, Vec::capacity);
    part.neighbors.capacity() * 4 + (weights + ranks) * 8 + part.columns.bytes() + size_of_val(part)
}
