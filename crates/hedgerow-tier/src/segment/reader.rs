//! Reading a segment.

use std::io;
use std::sync::Arc;

use hedgerow_core::{GraphConfig, LabelId, SubgraphId, VertexId, VertexKeyRef};
use hedgerow_io::checksum::Checksum;
use hedgerow_io::{Access, Corruption, CorruptionKind, Dir, StoreId, Vfs};

use super::cache::ReadCache;
use super::image::SubgraphImage;
use super::key_index::{self, IndexedKey, KeyIndex};
use super::list::{ListImage, ListQuery};
use super::page_keys::SubgraphKeys;
use super::paged::PagedSegment;
use super::read_memory::ReadMemory;
use super::source::Source;
use super::summary::ImageSummary;
use super::{SegmentInfo, segment_name};
use crate::TierError;
use crate::id::{ImageId, PageId};

/// How much of the file is hashed at a time.
const HASH_BYTES: usize = 1024 * 1024;

/// An open segment. All methods may be called from several threads at once; each call reads for itself.
#[derive(Debug)]
pub struct SegmentReader {
    info: SegmentInfo,
    store: StoreId,
    paged: PagedSegment,
    keys: Option<KeyIndex>,
}

impl SegmentReader {
    /// Opens the segment that a manifest describes by `info`, and checks header, size, footer and index. Cost: one
    /// read of the top index, 48 bytes for each page of 4,096 vertices in one label, which stay in memory.
    /// Images are not read; [`verify_whole`](Self::verify_whole) does that.
    ///
    /// # Errors
    /// [`TierError::File`]: damage for anything that is not this segment of this store, a missing file included; a
    /// format that this version does not know; a failure of the file system.
    pub fn open(fs: Arc<dyn Vfs>, info: &SegmentInfo, store: StoreId) -> Result<SegmentReader, TierError> {
        let name = segment_name(info.file_id);
        let file = Dir::new(fs).open(&name, Access::Read).map_err(|error| match error.source.kind() {
            io::ErrorKind::NotFound => Corruption::new(name, 0, CorruptionKind::Missing).into(),
            _ => TierError::from(error),
        })?;
        let source = Source { file, file_id: info.file_id };
        // A size that is wrong says more than what the header looks like then.
        source.check_size(info, hedgerow_io::HEADER_BYTES as u64)?;
        let header = source.read_header(store)?;
        let paged = PagedSegment::open(source, info, store)?;
        let keys = paged.key_index()?;
        if keys.is_some() != (header.incompat & key_index::FEATURE != 0) {
            return Err(paged.source().invalid(0, "a key index that the header does not tell of, or none"));
        }
        Ok(SegmentReader { info: *info, store, paged, keys })
    }

    /// What the manifest says of this segment.
    pub fn info(&self) -> &SegmentInfo {
        &self.info
    }

    /// The graph configuration that the segment was written under.
    pub fn config(&self) -> GraphConfig {
        *self.paged.config()
    }

    /// The number of pages.
    pub fn page_count(&self) -> usize {
        self.paged.pages().len()
    }

    /// The label of page number `i`; none beyond the last.
    pub fn label_of_page(&self, i: usize) -> Option<LabelId> {
        self.paged.pages().get(i).map(|page| page.id.label)
    }

    /// The pages, ascending.
    pub fn pages(&self) -> impl Iterator<Item = PageId> {
        self.paged.pages().iter().map(|page| page.id)
    }

    /// The number of a page, if the segment has it. O(log pages).
    pub fn find_page(&self, id: PageId) -> Option<usize> {
        self.paged.pages().binary_search_by_key(&id, |page| page.id).ok()
    }

    /// The number of outgoing neighbor entries on page number `i`; 0 beyond the last.
    pub fn edges_of_page(&self, i: usize) -> u64 {
        self.paged.pages().get(i).map_or(0, |page| page.edges)
    }

    /// The bytes of the file that the images of page number `i` take; 0 beyond the last.
    pub fn bytes_of_page(&self, i: usize) -> u64 {
        let end = self.paged.blocks_end(i);
        self.paged.pages().get(i).map_or(0, |page| end.saturating_sub(page.blocks))
    }

    /// What is known of the images of page number `i` without reading them, ascending by id. Cost: one read of the page's directory,
    /// about 30 bytes for each image.
    ///
    /// # Errors
    /// [`TierError::File`]; [`TierError::NoSuchPage`].
    pub fn page_summaries(&self, i: usize) -> Result<Vec<ImageSummary>, TierError> {
        self.paged.page_summaries(i)
    }

    /// What is known of each image without reading it, ascending by id. Cost: the directories are read, about 30 bytes for each
    /// image.
    ///
    /// # Errors
    /// [`TierError::File`].
    pub fn summaries(&self) -> Result<Vec<ImageSummary>, TierError> {
        self.paged.summaries()
    }

    /// Reads the images of page number `i` that are `wanted`, in order, and gives each to `f`; stops at the first error of either.
    /// Cost: the blocks from the first to the last that is wanted, up to 512 KiB in one read; blocks on reads.
    ///
    /// # Errors
    /// [`TierError::File`], [`TierError::NoSuchPage`] if `i` is not below [`page_count`](Self::page_count), and whatever `f` returns.
    pub fn read_page<E: From<TierError>>(
        &self,
        i: usize,
        wanted: impl Fn(ImageId) -> bool,
        f: impl FnMut(SubgraphImage) -> Result<(), E>,
    ) -> Result<(), E> {
        self.read_page_within(i, wanted, &mut |_| true, f)
    }

    /// As [`read_page`](Self::read_page), asking `has_memory` before memory is taken: for buffers first, and for each image before its lists
    /// are read, more than once perhaps. An image's memory is the caller's from when `f` has it.
    ///
    /// # Errors
    /// As of that; [`TierError::NoRoom`] once `has_memory` says no.
    pub fn read_page_within<E: From<TierError>>(
        &self,
        i: usize,
        wanted: impl Fn(ImageId) -> bool,
        has_memory: &mut dyn FnMut(ReadMemory) -> bool,
        f: impl FnMut(SubgraphImage) -> Result<(), E>,
    ) -> Result<(), E> {
        self.paged.read_page(i, wanted, has_memory, f)
    }

    /// Reads the keys of the images of page number `i`, of the default label, that are `wanted`, in order, and gives them to `f`; stops at
    /// the first error of either. Cost: the page's directory and its blocks of keys, up to 512 KiB in one read; no neighbors are read.
    ///
    /// # Errors
    /// [`TierError::File`], [`TierError::NoSuchPage`], and whatever `f` returns.
    pub fn read_keys<E: From<TierError>>(
        &self,
        i: usize,
        wanted: impl Fn(ImageId) -> bool,
        f: impl FnMut(SubgraphKeys) -> Result<(), E>,
    ) -> Result<(), E> {
        self.paged.read_keys(i, wanted, f)
    }

    /// Whether the segment can be asked for a key.
    pub fn has_key_index(&self) -> bool {
        self.keys.is_some()
    }

    /// The vertex that a key names, by the key index of this segment: true as long as no newer segment
    /// [has an image](Self::has_vertices_of) of its subgraph. Cost: one read of a block of 4 KiB, more where it holds a text that is longer.
    ///
    /// # Errors
    /// [`TierError::File`].
    pub fn find_key(&self, key: VertexKeyRef<'_>) -> Result<Option<VertexId>, TierError> {
        self.keys.as_ref().map_or(Ok(None), |keys| keys.find(self.source(), self.store, key))
    }

    /// How the key index has a key. O(length of the key).
    pub fn indexed_key<'k>(&self, key: VertexKeyRef<'k>) -> IndexedKey<'k> {
        IndexedKey::of(self.store, key)
    }

    /// Calls `f` with each key that a key index of the segments has, in no order that says something of the keys, and with what
    /// [`find_key`](Self::find_key) of each segment finds; not with a key that one index has twice, which is damage to that. Cost: one read of each
    /// block of each index, of which one at a time is in memory.
    ///
    /// # Errors
    /// [`TierError::File`].
    pub fn walk_keys<'s>(
        segments: impl IntoIterator<Item = &'s SegmentReader>,
        f: impl FnMut(IndexedKey<'_>, &[Option<VertexId>]),
    ) -> Result<(), TierError> {
        let index = |segment: &'s SegmentReader| segment.keys.as_ref().map(|keys| (keys, segment.source()));
        key_index::walk(&segments.into_iter().map(index).collect::<Vec<_>>(), f)
    }

    /// Whether the segment has an image of the vertices of a subgraph, which may say that there is none; by the key index. O(log pages).
    pub fn has_vertices_of(&self, id: SubgraphId) -> bool {
        self.keys.as_ref().is_some_and(|keys| keys.has_vertices_of(id))
    }

    /// The bytes of memory that the head of the key index takes. O(1).
    pub fn key_index_bytes(&self) -> usize {
        self.keys.as_ref().map_or(0, KeyIndex::memory_bytes)
    }

    /// Compares the key index with the keys of all images. Cost: all keys are read twice, an image or a block at a time.
    ///
    /// # Errors
    /// [`TierError::File`] with the first difference found.
    pub fn verify_keys(&self) -> Result<(), TierError> {
        self.keys.as_ref().map_or(Ok(()), |keys| self.paged.verify_keys(keys, self.store))
    }

    /// Reads one image of page number `i`, if the page has it. Cost: the page's directory unless the cache has it, and a read for each block
    /// of the image. Asks `has_memory` before memory is taken for the image.
    ///
    /// # Errors
    /// [`TierError::File`]; [`TierError::NoSuchPage`]; [`TierError::NoRoom`].
    pub fn read_image(
        &self,
        i: usize,
        id: ImageId,
        cache: &ReadCache,
        has_memory: &mut dyn FnMut(ReadMemory) -> bool,
    ) -> Result<Option<SubgraphImage>, TierError> {
        self.paged.read_image(i, id, cache, has_memory)
    }

    /// Reads one list of an image of page number `i`, or a part of it; `None` if the page does not have the image. Cost, as far as the
    /// cache does not have it, and blocking on reads: the page's directory; the block of the image's record; of an image that is cut one block
    /// for each piece that the list lies in, to find one neighbor O(log pieces) of them; with properties the blocks of all the image
    /// has. Asks `has_memory` before memory is taken: for a block, and for the list.
    ///
    /// # Errors
    /// [`TierError::File`]; [`TierError::NoSuchPage`]; [`TierError::NoRoom`].
    pub fn read_list(
        &self,
        i: usize,
        query: &ListQuery,
        cache: &ReadCache,
        has_memory: &mut dyn FnMut(ReadMemory) -> bool,
    ) -> Result<Option<ListImage>, TierError> {
        self.paged.read_list(i, query, cache, has_memory)
    }

    /// Reads all images in order and gives each to `f`, as [`read_page`](Self::read_page) does.
    ///
    /// # Errors
    /// As of that.
    pub fn read_all<E: From<TierError>>(
        &self,
        mut f: impl FnMut(SubgraphImage) -> Result<(), E>,
    ) -> Result<(), E> {
        (0..self.page_count()).try_for_each(|page| self.read_page(page, |_| true, &mut f))
    }

    /// Reads the whole file and compares its hash with the manifest's. Cost: one sequential read.
    ///
    /// # Errors
    /// [`TierError::File`].
    pub fn verify_whole(&self) -> Result<(), TierError> {
        let source = self.source();
        let mut hash = Checksum::new();
        let mut buffer = vec![0; HASH_BYTES.min(usize::try_from(self.info.bytes).unwrap_or(HASH_BYTES))];
        let mut at = 0;
        while at < self.info.bytes {
            let now = (self.info.bytes - at).min(buffer.len() as u64);
            let chunk = buffer.get_mut(..now as usize).unwrap_or(&mut []);
            source.read(chunk, at)?;
            hash.update(chunk);
            at += now;
        }
        let (expected, found) = (self.info.hash, hash.digest128());
        if expected == found {
            return Ok(());
        }
        Err(source.corrupt(0, CorruptionKind::FileChecksum { expected, found }))
    }

    fn source(&self) -> &Source {
        self.paged.source()
    }
}
