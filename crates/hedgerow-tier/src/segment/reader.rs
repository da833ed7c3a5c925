//! Reads of a segment.

use std::io;
use std::sync::Arc;

use hedgerow_core::{GraphConfig, LabelId, SubgraphId, VertexId, VertexKeyRef};
use hedgerow_io::checksum::Checksum;
use hedgerow_io::{Access, Corruption, CorruptionKind, Dir, StoreId, Vfs};

use super::cache::ReadCache;
use super::delta::SubgraphRecord;
use super::image::SubgraphImage;
use super::key_index::{self, IndexedKey, KeyIndex};
use super::list::ListQuery;
use super::list_delta::FoundList;
use super::page_keys::SubgraphKeys;
use super::paged::PagedSegment;
use super::read_memory::ReadMemory;
use super::source::Source;
use super::summary::ImageSummary;
use super::{DELTAS_FEATURE, SegmentInfo, segment_name};
use crate::TierError;
use crate::id::{ImageId, PageId};

/// The number of bytes that are hashed at a time.
const HASH_BYTES: usize = 1024 * 1024;

/// An open segment. Several threads may call its methods at once; each call reads from the file
/// independently.
#[derive(Debug)]
pub struct SegmentReader {
    info: SegmentInfo,
    store: StoreId,
    paged: PagedSegment,
    keys: Option<KeyIndex>,
}

impl SegmentReader {
    /// Opens the segment that a manifest describes by `info`, and checks header, size, footer and index.
    /// Cost: one read of the top index, which stays in memory: 48 bytes for each page (4,096 vertices in one
    /// label). It reads no images; [`verify_whole`](Self::verify_whole) reads the whole file.
    ///
    /// # Errors
    /// [`TierError::File`]: damage if the file is missing or is not this segment of this store; a format that
    /// this version does not know; a failure of the file system.
    pub fn open(fs: Arc<dyn Vfs>, info: &SegmentInfo, store: StoreId) -> Result<SegmentReader, TierError> {
        let name = segment_name(info.file_id);
        let file = Dir::new(fs).open(&name, Access::Read).map_err(|error| match error.source.kind() {
            io::ErrorKind::NotFound => Corruption::new(name, 0, CorruptionKind::Missing).into(),
            _ => TierError::from(error),
        })?;
        let source = Source { file, file_id: info.file_id };
        // Checks the size first: a wrong size is a better report than the wrong header of such a file.
        source.check_size(info, hedgerow_io::HEADER_BYTES as u64)?;
        let header = source.read_header(store)?;
        let paged = PagedSegment::open(source, info, store)?;
        let keys = paged.key_index()?;
        if keys.is_some() != (header.incompat & key_index::FEATURE != 0) {
            return Err(paged
                .source()
                .invalid(0, "a key index that the header does not announce, or a missing one that it does"));
        }
        let has_deltas = paged.pages().iter().any(|page| page.deltas > 0);
        if has_deltas && header.incompat & DELTAS_FEATURE == 0 {
            return Err(paged.source().invalid(0, "deltas that the header does not announce"));
        }
        Ok(SegmentReader { info: *info, store, paged, keys })
    }

    /// Returns the manifest's record of this segment.
    pub fn info(&self) -> &SegmentInfo {
        &self.info
    }

    /// Returns the graph configuration with which the segment was written.
    pub fn config(&self) -> GraphConfig {
        *self.paged.config()
    }

    /// Returns the number of pages.
    pub fn page_count(&self) -> usize {
        self.paged.pages().len()
    }

    /// Returns the label of page number `i`; `None` if no page has this number.
    pub fn label_of_page(&self, i: usize) -> Option<LabelId> {
        self.paged.pages().get(i).map(|page| page.id.label)
    }

    /// Returns the pages, ascending.
    pub fn pages(&self) -> impl Iterator<Item = PageId> {
        self.paged.pages().iter().map(|page| page.id)
    }

    /// Returns the number of page `id`, if the segment has it. O(log pages).
    pub fn find_page(&self, id: PageId) -> Option<usize> {
        self.paged.pages().binary_search_by_key(&id, |page| page.id).ok()
    }

    /// Returns the number of outgoing neighbor entries on page number `i`, in images and in deltas; 0 if no
    /// page has this number.
    pub fn edges_of_page(&self, i: usize) -> u64 {
        self.paged.pages().get(i).map_or(0, |page| page.edges)
    }

    /// Returns the bytes of the file that the images of page number `i` take; 0 if no page has this number.
    pub fn bytes_of_page(&self, i: usize) -> u64 {
        let end = self.paged.blocks_end(i);
        self.paged.pages().get(i).map_or(0, |page| end.saturating_sub(page.blocks))
    }

    /// Returns the summaries of the records of page number `i`, ascending by id, without reading the records.
    /// Cost: one read of the page's directory, about 30 bytes for each image.
    ///
    /// # Errors
    /// [`TierError::File`]; [`TierError::NoSuchPage`].
    pub fn page_summaries(&self, i: usize) -> Result<Vec<ImageSummary>, TierError> {
        self.paged.page_summaries(i)
    }

    /// Returns the summary of each record, ascending by id, without reading the records. Cost: reads of all
    /// directories, about 30 bytes for each image.
    ///
    /// # Errors
    /// [`TierError::File`].
    pub fn summaries(&self) -> Result<Vec<ImageSummary>, TierError> {
        self.paged.summaries()
    }

    /// Reads the `wanted` records of page number `i`, in order, and passes each image to `f`. Stops at the
    /// first error of the read or of `f`. Cost: blocks on reads of the data from the first wanted record to
    /// the last, up to 512 KiB in one read.
    ///
    /// # Errors
    /// [`TierError::File`], [`TierError::NoSuchPage`] if `i` is not below [`page_count`](Self::page_count),
    /// and the errors of `f`.
    pub fn read_page<E: From<TierError>>(
        &self,
        i: usize,
        wanted: impl Fn(ImageId) -> bool,
        mut f: impl FnMut(SubgraphImage) -> Result<(), E>,
    ) -> Result<(), E> {
        self.read_records(i, wanted, &mut |_| true, |record| record.into_image().map_or(Ok(()), &mut f))
    }

    /// Like [`read_page`](Self::read_page), but passes deltas to `f` too, and calls `has_memory` before it
    /// takes memory: first for buffers, then for each record before its lists are read, perhaps several
    /// times. When `f` gets a record, the memory of the record belongs to the caller.
    ///
    /// # Errors
    /// The errors of [`read_page`](Self::read_page); [`TierError::NoRoom`] if `has_memory` returns false.
    pub fn read_records<E: From<TierError>>(
        &self,
        i: usize,
        wanted: impl Fn(ImageId) -> bool,
        has_memory: &mut dyn FnMut(ReadMemory) -> bool,
        f: impl FnMut(SubgraphRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        self.paged.read_page(i, wanted, has_memory, f)
    }

    /// Reads in order the keys of the `wanted` images of page number `i`, of the default label, and passes
    /// them to `f`. Stops at the first error of the read or of `f`. Cost: reads of the page's directory and
    /// its blocks of keys, up to 512 KiB in one read, but no neighbors.
    ///
    /// # Errors
    /// [`TierError::File`], [`TierError::NoSuchPage`], and the errors of `f`.
    pub fn read_keys<E: From<TierError>>(
        &self,
        i: usize,
        wanted: impl Fn(ImageId) -> bool,
        f: impl FnMut(SubgraphKeys) -> Result<(), E>,
    ) -> Result<(), E> {
        self.paged.read_keys(i, wanted, f)
    }

    /// True if the segment has a key index.
    pub fn has_key_index(&self) -> bool {
        self.keys.is_some()
    }

    /// Returns the vertex that a key names, by the key index of this segment. The answer is valid while no
    /// newer segment [has an image](Self::has_vertices_of) of the vertex's subgraph. Cost: one read of a
    /// block of 4 KiB, or of a longer block for a longer text.
    ///
    /// # Errors
    /// [`TierError::File`].
    pub fn find_key(&self, key: VertexKeyRef<'_>) -> Result<Option<VertexId>, TierError> {
        self.keys.as_ref().map_or(Ok(None), |keys| keys.find(self.source(), self.store, key))
    }

    /// Returns the form of a key in the key index. O(length of the key).
    pub fn indexed_key<'k>(&self, key: VertexKeyRef<'k>) -> IndexedKey<'k> {
        IndexedKey::of(self.store, key)
    }

    /// Calls `f` with each key in the key indexes of the segments, in no meaningful order, and with the
    /// result of [`find_key`](Self::find_key) for each segment. Skips a key that one index has twice, because
    /// that index is damaged. Cost: one read of each block of each index; one block of each index is in
    /// memory.
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

    /// True if the segment, according to its key index, has an image of a subgraph's vertices. The image may
    /// have no live vertex. O(log pages).
    pub fn has_vertices_of(&self, id: SubgraphId) -> bool {
        self.keys.as_ref().is_some_and(|keys| keys.has_vertices_of(id))
    }

    /// Returns the bytes of memory of the key index's head. O(1).
    pub fn key_index_bytes(&self) -> usize {
        self.keys.as_ref().map_or(0, KeyIndex::memory_bytes)
    }

    /// Compares the key index with the keys of all images. Cost: a read of all keys in the index and in the
    /// images, a block or an image at a time.
    ///
    /// # Errors
    /// [`TierError::File`] with the first difference found.
    pub fn verify_keys(&self) -> Result<(), TierError> {
        self.keys.as_ref().map_or(Ok(()), |keys| self.paged.verify_keys(keys, self.store))
    }

    /// Reads one image or delta of page number `i`, if the page has it. Calls `has_memory` before it takes
    /// memory for it. Cost: a read of the page's directory, unless the cache has it, and a read for each
    /// block of the record.
    ///
    /// # Errors
    /// [`TierError::File`]; [`TierError::NoSuchPage`]; [`TierError::NoRoom`].
    pub fn read_record(
        &self,
        i: usize,
        id: ImageId,
        cache: &ReadCache,
        has_memory: &mut dyn FnMut(ReadMemory) -> bool,
    ) -> Result<Option<SubgraphRecord>, TierError> {
        self.paged.read_record(i, id, cache, has_memory)
    }

    /// Reads one list of an image of page number `i`, or some of it, or the whole delta that the page has
    /// instead; `None` if the page has neither. Calls `has_memory` before it takes memory for a block or for
    /// the list. Blocks on reads of all data that the cache lacks: the page's directory and the block of the
    /// image's record. For an image in pieces it also reads one block for each piece of the list, or O(log
    /// pieces) blocks to find one neighbor. With properties it also reads the blocks of all properties of the
    /// image.
    ///
    /// # Errors
    /// [`TierError::File`]; [`TierError::NoSuchPage`]; [`TierError::NoRoom`].
    pub fn read_list(
        &self,
        i: usize,
        query: &ListQuery,
        cache: &ReadCache,
        has_memory: &mut dyn FnMut(ReadMemory) -> bool,
    ) -> Result<Option<FoundList>, TierError> {
        self.paged.read_list(i, query, cache, has_memory)
    }

    /// Reads all images in order and passes each to `f`, like [`read_page`](Self::read_page).
    ///
    /// # Errors
    /// The errors of [`read_page`](Self::read_page).
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
