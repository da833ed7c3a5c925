//! The open segments of a store, and the places of the newest image of each subgraph in each label.

use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{LabelId, SubgraphId, VertexId, VertexKeyRef};
use hedgerow_io::{Corruption, CorruptionKind, StoreId, Vfs};
use hedgerow_tier::segment::segment_name;
use hedgerow_tier::{
    ImageId, ImageSummary, IndexedKey, LevelSegment, ListImage, ListQuery, Manifest, PageId, ReadCache,
    ReadMemory, SegmentInfo, SegmentReader, SubgraphImage, SubgraphKeys,
};

use crate::error::{Error, Result};

/// An open segment, with its name for messages.
pub(crate) struct NamedSegment {
    pub(crate) reader: SegmentReader,
    pub(crate) name: String,
}

/// The segments that one manifest names, newest first. If several have an image of a subgraph in a label, the
/// image in the newest segment is valid.
///
/// A segment stays readable while it is open, even if a later manifest does not name it and its file was
/// removed.
#[derive(Clone, Default)]
pub(crate) struct Sources {
    segments: Vec<Arc<NamedSegment>>,
}

fn invalid(file: &str, what: &'static str) -> Error {
    Corruption::new(file, 0, CorruptionKind::Invalid(what)).into()
}

impl Sources {
    /// Opens the segments of a manifest: reads footers and top indexes, 48 bytes for each page.
    pub(crate) fn open(fs: &Arc<dyn Vfs>, manifest: &Manifest) -> Result<Sources> {
        let mut named = manifest.segments.clone();
        named.sort_by_key(|segment| std::cmp::Reverse(segment.info.file_id));
        let mut sources = Sources::default();
        for segment in &named {
            let opened = NamedSegment::open(fs, segment, manifest.store)?;
            if opened.reader.config() != manifest.config || segment.info.max_as_of > manifest.checkpoint {
                return Err(invalid(&opened.name, "the segment does not fit the manifest"));
            }
            sources.segments.push(Arc::new(opened));
        }
        Ok(sources)
    }

    /// Returns these segments after a newer one, which no manifest names.
    ///
    /// # Errors
    /// The errors of opening a segment.
    pub(crate) fn behind(&self, fs: &Arc<dyn Vfs>, newer: SegmentInfo, store: StoreId) -> Result<Sources> {
        let newer = NamedSegment::open(fs, &LevelSegment { level: 0, info: newer }, store)?;
        let segments = std::iter::once(Arc::new(newer)).chain(self.segments.iter().cloned()).collect();
        Ok(Sources { segments })
    }

    /// Returns the segments, newest first.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &NamedSegment> {
        self.segments.iter().map(|segment| &**segment)
    }

    /// Returns all pages that a segment has, each once, ascending. O(pages log pages).
    pub(crate) fn pages(&self) -> Vec<PageId> {
        let mut pages: Vec<PageId> = self.segments().flat_map(|segment| segment.reader.pages()).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// Returns the segments that have the page, newest first, each with the number of the page in it.
    fn of_page(&self, id: PageId) -> impl Iterator<Item = (&NamedSegment, usize)> {
        let mut found: Vec<(&NamedSegment, usize)> =
            self.segments().filter_map(|segment| Some((segment, segment.reader.find_page(id)?))).collect();
        if faults::is_on(PlantedFault::OlderImageLoaded) {
            found.reverse();
        }
        found.into_iter()
    }

    /// Returns an upper bound of the outgoing neighbor entries on the page, if top indexes are right.
    /// O(segments log pages).
    pub(crate) fn edges_of_page(&self, id: PageId) -> u64 {
        let edges = self.of_page(id).map(|(segment, page)| segment.reader.edges_of_page(page));
        edges.fold(0, u64::saturating_add)
    }

    /// Returns the bytes in files of the images of a page, those in older segments included.
    pub(crate) fn bytes_of_page(&self, id: PageId) -> u64 {
        let bytes = self.of_page(id).map(|(segment, page)| segment.reader.bytes_of_page(page));
        bytes.fold(0, u64::saturating_add)
    }

    /// Returns the directory entries of the valid images of a page, ascending. Reads once in each segment
    /// that has the page.
    pub(crate) fn summaries(&self, id: PageId) -> Result<Vec<ImageSummary>> {
        let mut found: Vec<ImageSummary> = Vec::new();
        let mut taken = Places::default();
        for (segment, page) in self.of_page(id) {
            let of_segment = segment.reader.page_summaries(page)?;
            found.extend(of_segment.into_iter().filter(|image| taken.take(image.id.subgraph)));
        }
        found.sort_unstable_by_key(|image| image.id);
        Ok(found)
    }

    /// Reads the valid images of a page, in no order, and gives each to `f` with the name of its file.
    pub(crate) fn read_page(
        &self,
        id: PageId,
        f: impl FnMut(SubgraphImage, &str) -> Result<()>,
    ) -> Result<()> {
        self.read_images((id, u64::MAX), &mut |_| true, f)
    }

    /// Like [`read_page`](Self::read_page), but only for the images of the places in `wanted`. Calls
    /// `has_memory` before it takes memory. Reads the directory of the page in one segment after another
    /// until it has found all wanted images. In each segment it reads the blocks from the first wanted image
    /// to the last.
    pub(crate) fn read_images(
        &self,
        (id, wanted): (PageId, u64),
        has_memory: &mut dyn FnMut(ReadMemory) -> bool,
        mut f: impl FnMut(SubgraphImage, &str) -> Result<()>,
    ) -> Result<()> {
        let (wanted, mut taken) = (Places(wanted), Places::default());
        for (segment, page) in self.of_page(id) {
            let before = taken;
            let is_wanted = |image: ImageId| wanted.has(image.subgraph) && !before.has(image.subgraph);
            segment.reader.read_page_within(page, is_wanted, has_memory, |image| {
                taken.take(image.id.subgraph);
                f(image, &segment.name)
            })?;
            if taken == wanted {
                break;
            }
        }
        Ok(())
    }

    /// True if all segments have a key index, so that keys can be looked up in them.
    pub(crate) fn have_key_indexes(&self) -> bool {
        self.segments().all(|segment| segment.reader.has_key_index())
    }

    /// Returns the vertex that a key names, with the name of the file that has it. Reads a block in each
    /// segment, newest first, until a segment has the key.
    pub(crate) fn find_key(&self, key: VertexKeyRef<'_>) -> Result<Option<(VertexId, &str)>> {
        for (at, segment) in self.segments.iter().enumerate() {
            let Some(id) = segment.reader.find_key(key)? else { continue };
            if self.is_newest(at, id) {
                return Ok(Some((id, &segment.name)));
            }
        }
        Ok(None)
    }

    /// True if the key of a vertex in segment number `at` is valid: no newer segment has an image of the
    /// subgraph. A newer image without the key would mean that the vertex is gone or has another key.
    fn is_newest(&self, at: usize, id: VertexId) -> bool {
        !self.segments.iter().take(at).any(|newer| newer.reader.has_vertices_of(id.subgraph()))
    }

    /// Calls `f` with each key that [`find_key`](Self::find_key) finds, and the vertex that it names, in no
    /// particular order. Reads each block of each key index once.
    pub(crate) fn for_each_key(&self, mut f: impl FnMut(IndexedKey<'_>, VertexId)) -> Result<()> {
        let readers = self.segments().map(|segment| &segment.reader);
        SegmentReader::walk_keys(readers, |key, named| {
            let mut named = (0..).zip(named).filter_map(|(at, id)| Some((at, (*id)?)));
            if let Some((_, id)) = named.find(|&(at, id)| self.is_newest(at, id)) {
                f(key, id);
            }
        })?;
        Ok(())
    }

    /// Returns the form of a key in key indexes; `None` if there are no segments.
    pub(crate) fn indexed_key<'k>(&self, key: VertexKeyRef<'k>) -> Option<IndexedKey<'k>> {
        self.segments().next().map(|segment| segment.reader.indexed_key(key))
    }

    /// Returns the bytes of memory that key indexes take.
    pub(crate) fn key_index_bytes(&self) -> usize {
        self.segments().map(|segment| segment.reader.key_index_bytes()).sum()
    }

    /// Like [`read_page`](Self::read_page), but only for the keys of a page of the default label, at the
    /// places in `wanted`, which ascend within each segment.
    pub(crate) fn read_keys<'s>(
        &'s self,
        (id, wanted): (PageId, u64),
        mut f: impl FnMut(SubgraphKeys, &'s str) -> Result<()>,
    ) -> Result<()> {
        let (wanted, mut taken) = (Places(wanted), Places::default());
        for (segment, page) in self.of_page(id) {
            let before = taken;
            let is_wanted = |image: ImageId| wanted.has(image.subgraph) && !before.has(image.subgraph);
            segment.reader.read_keys(page, is_wanted, |keys| {
                taken.take(keys.id);
                f(keys, &segment.name)
            })?;
            if taken == wanted {
                break;
            }
        }
        Ok(())
    }

    /// Reads the valid image of a subgraph in a label, if there is one, and returns it with the name of its
    /// file. Reads the directory of each segment that has the page, newest first, until it finds the image,
    /// unless `cache` has them. Calls `has_memory` before it takes memory.
    pub(crate) fn read_image(
        &self,
        id: ImageId,
        cache: &ReadCache,
        has_memory: &mut dyn FnMut(ReadMemory) -> bool,
    ) -> Result<Option<(SubgraphImage, &str)>> {
        for (segment, page) in self.of_page(id.page()) {
            if let Some(image) = segment.reader.read_image(page, id, cache, has_memory)? {
                return Ok(Some((image, &segment.name)));
            }
        }
        Ok(None)
    }

    /// Reads one list of the valid image, as [`read_image`](Self::read_image) does; `None` if there is no
    /// image.
    pub(crate) fn read_list(
        &self,
        query: &ListQuery,
        cache: &ReadCache,
        has_memory: &mut dyn FnMut(ReadMemory) -> bool,
    ) -> Result<Option<(ListImage, &str)>> {
        for (segment, page) in self.of_page(query.image.page()) {
            if let Some(list) = segment.reader.read_list(page, query, cache, has_memory)? {
                return Ok(Some((list, &segment.name)));
            }
        }
        Ok(None)
    }

    /// Returns the segments that a later manifest names: open ones stay open, others are opened. Fails if a
    /// segment cannot be opened, even if an earlier call could not open it either: without it, older images
    /// would count as valid.
    pub(crate) fn following(&self, fs: &Arc<dyn Vfs>, manifest: &Manifest) -> Result<Sources> {
        let mut named: Vec<&LevelSegment> = manifest.segments.iter().collect();
        named.sort_by_key(|segment| std::cmp::Reverse(segment.info.file_id));
        let open = |segment: &&LevelSegment| {
            let is_it = |open: &&Arc<NamedSegment>| open.reader.info().file_id == segment.info.file_id;
            match self.segments.iter().find(is_it) {
                Some(open) => Ok(open.clone()),
                None => NamedSegment::open(fs, segment, manifest.store).map(Arc::new),
            }
        };
        Ok(Sources { segments: named.iter().map(open).collect::<Result<_>>()? })
    }
}

impl NamedSegment {
    fn open(fs: &Arc<dyn Vfs>, segment: &LevelSegment, store: StoreId) -> Result<NamedSegment> {
        let reader = SegmentReader::open(fs.clone(), &segment.info, store)?;
        Ok(NamedSegment { reader, name: segment_name(segment.info.file_id) })
    }
}

/// A set of subgraphs of one page.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Places(u64);

impl Places {
    fn has(self, id: SubgraphId) -> bool {
        self.0 >> (id.0 % 64) & 1 == 1
    }

    /// Adds the subgraph; true if it was absent.
    fn take(&mut self, id: SubgraphId) -> bool {
        let fresh = !self.has(id);
        self.0 |= 1 << (id.0 % 64);
        fresh
    }
}

/// Returns the page of the default label with the vertices of a page of another label.
pub(crate) fn page_of_vertices(id: PageId) -> PageId {
    PageId { label: LabelId::DEFAULT, page: id.page }
}
