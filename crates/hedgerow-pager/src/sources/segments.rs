//! The open segments of a store, and reads of the valid image of each subgraph in each label: the newest
//! image, with newer deltas applied.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{LabelId, SubgraphId, Timestamp, VertexId, VertexKeyRef};
use hedgerow_io::{Corruption, CorruptionKind, FileId, StoreId, Vfs};
use hedgerow_tier::{
    ImageId, ImageSummary, IndexedKey, LevelSegment, Manifest, PageId, ReadCache, SegmentInfo, SegmentReader,
    SubgraphImage, SubgraphKeys, SubgraphRecord, TierError,
};

use crate::sources::images::ImagesIn;
use crate::sources::named_segment::NamedSegment;
use crate::sources::newest::{Places, newest_first, sort_newest_first};
use crate::sources::source::HasMemory;

/// The segments that one manifest names, newest first. If several have an image of a subgraph in a label, the
/// image in the newest segment is valid.
///
/// A segment stays readable while it is open, even if a later manifest does not name it and its file was
/// removed.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    segments: Vec<Arc<NamedSegment>>,
    as_of: Timestamp,
}

pub(crate) fn invalid(file: &str, what: &'static str) -> TierError {
    Corruption::new(file, 0, CorruptionKind::Invalid(what)).into()
}

/// The depth of reads in all segments.
const ALL: usize = usize::MAX;

fn file_of(segment: &LevelSegment) -> FileId {
    segment.info.file_id
}

impl Sources {
    /// Opens the segments of a manifest: reads footers and top indexes, 48 bytes for each page.
    ///
    /// # Errors
    /// The errors of opening a segment; damage, if a segment does not fit the manifest.
    pub fn open(fs: &Arc<dyn Vfs>, manifest: &Manifest) -> Result<Sources, TierError> {
        let mut named = manifest.segments.clone();
        sort_newest_first(&mut named, file_of);
        let mut sources = Sources { segments: Vec::new(), as_of: manifest.checkpoint };
        for segment in &named {
            let opened = NamedSegment::open(fs, segment, manifest.store)?;
            if opened.reader.config() != manifest.config || segment.info.max_as_of > manifest.checkpoint {
                return Err(invalid(&opened.name, "the segment does not fit the manifest"));
            }
            sources.segments.push(Arc::new(opened));
        }
        Ok(sources)
    }

    /// Returns sources with the segment `newer` first, and then these segments. No manifest names `newer`.
    ///
    /// # Errors
    /// The errors of opening a segment.
    pub fn behind(
        &self,
        fs: &Arc<dyn Vfs>,
        newer: SegmentInfo,
        store: StoreId,
    ) -> Result<Sources, TierError> {
        let newer = NamedSegment::open(fs, &LevelSegment { level: 0, info: newer }, store)?;
        let segments = std::iter::once(Arc::new(newer)).chain(self.segments.iter().cloned()).collect();
        Ok(Sources { segments, as_of: self.as_of })
    }

    /// Returns the segments that a later manifest names. Takes over the segments that are open already, and
    /// opens the others. Fails if a segment cannot be opened, even if an earlier call could not open it
    /// either: without that segment, older images would count as valid.
    ///
    /// # Errors
    /// The errors of opening a segment.
    pub fn following(&self, fs: &Arc<dyn Vfs>, manifest: &Manifest) -> Result<Sources, TierError> {
        let mut named = manifest.segments.clone();
        sort_newest_first(&mut named, file_of);
        let open = |segment: &LevelSegment| {
            let is_it = |open: &&Arc<NamedSegment>| open.reader.info().file_id == segment.info.file_id;
            match self.segments.iter().find(is_it) {
                Some(open) => Ok(open.clone()),
                None => NamedSegment::open(fs, segment, manifest.store).map(Arc::new),
            }
        };
        let segments = named.iter().map(open).collect::<Result<_, TierError>>()?;
        Ok(Sources { segments, as_of: manifest.checkpoint })
    }

    /// Returns these segments as those of the checkpoint `as_of`.
    #[cfg(test)]
    pub(crate) fn at(self, as_of: Timestamp) -> Sources {
        Sources { as_of, ..self }
    }

    /// Returns these segments without the `count` newest ones.
    #[cfg(test)]
    pub(crate) fn without_newest(mut self, count: usize) -> Sources {
        self.segments.drain(..count);
        self
    }

    /// Returns the newest segment alone.
    #[cfg(test)]
    pub(crate) fn only_newest(mut self) -> Sources {
        self.segments.truncate(1);
        self
    }

    /// True if these are the segments that `manifest` names.
    pub fn are_of(&self, manifest: &Manifest) -> bool {
        let has =
            |named: &LevelSegment| self.segments().any(|open| open.reader.info().file_id == file_of(named));
        self.segments.len() == manifest.segments.len() && manifest.segments.iter().all(has)
    }

    /// Returns the checkpoint of the manifest: the segments have every commit up to this timestamp, and no
    /// later one.
    pub fn as_of(&self) -> Timestamp {
        self.as_of
    }

    /// Returns the segments, newest first. A caller must not choose between images of several segments: that
    /// would be a second merge.
    pub fn segments(&self) -> impl Iterator<Item = &NamedSegment> {
        self.segments.iter().map(|segment| &**segment)
    }

    /// Returns all pages of all segments, each page once, ascending. O(pages log pages).
    pub fn pages(&self) -> Vec<PageId> {
        let mut pages: Vec<PageId> = self.segments().flat_map(|segment| segment.reader.pages()).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// Returns those of the `depth` newest segments that have the page, newest first, each with the number of
    /// the page in it. O(log pages) for each segment.
    fn of_page(&self, id: PageId, depth: usize) -> impl Iterator<Item = (&NamedSegment, usize)> {
        let (segments, is_reversed) = (&self.segments, faults::is_on(PlantedFault::OlderImageLoaded));
        let in_order =
            move |at: usize| if is_reversed { segments.len().checked_sub(at + 1) } else { Some(at) };
        (0..segments.len().min(depth)).filter_map(move |at| {
            let segment = segments.get(in_order(at)?)?;
            Some((&**segment, segment.reader.find_page(id)?))
        })
    }

    /// Calls `read` for each of the `depth` newest segments that has the page, newest first, until all wanted
    /// places are found. `read` gets the segment, the number of the page in it, and the wanted places that no
    /// newer segment has. It returns the places that it found.
    pub(crate) fn walk_page<'s, E>(
        &'s self,
        id: PageId,
        (wanted, depth): (Places, usize),
        mut read: impl FnMut(&'s NamedSegment, usize, Places) -> Result<Places, E>,
    ) -> Result<(), E> {
        newest_first(self.of_page(id, depth), wanted, |(segment, page), open| read(segment, page, open))
    }

    /// Returns the sum of `number` over all segments that have the page.
    fn sum_of_page(&self, id: PageId, number: impl Fn(&SegmentReader, usize) -> u64) -> u64 {
        let mut sum = 0u64;
        let Ok(()) = self.walk_page(id, (Places::ALL, ALL), |segment, page, _| {
            sum = sum.saturating_add(number(&segment.reader, page));
            Ok::<_, Infallible>(Places::NONE)
        });
        sum
    }

    /// Returns an upper bound for the number of outgoing neighbor entries on the page. The bound is valid
    /// only if the top indexes are right. O(segments log pages).
    pub(crate) fn edges_of_page(&self, id: PageId) -> u64 {
        self.sum_of_page(id, SegmentReader::edges_of_page)
    }

    /// Returns the bytes that the images of a page take in files, including images that newer images replace.
    /// O(segments log pages).
    pub(crate) fn bytes_of_page(&self, id: PageId) -> u64 {
        self.sum_of_page(id, SegmentReader::bytes_of_page)
    }

    /// Returns the directory entries of the valid images of a page, ascending. Reads the directory of the
    /// page in one segment after another, newest first, until all 64 images are found.
    ///
    /// # Errors
    /// Damage, and failures of the file system.
    pub fn summaries(&self, id: PageId) -> Result<Vec<ImageSummary>, TierError> {
        let mut found: Vec<ImageSummary> = Vec::new();
        self.walk_page::<TierError>(id, (Places::ALL, ALL), |segment, page, open| {
            let mut taken = Places::NONE;
            let mut images = segment.reader.page_summaries(page)?;
            images.retain(|image| open.has(image.id.subgraph));
            images.iter().for_each(|image| taken.insert(image.id.subgraph));
            found.append(&mut images);
            Ok(taken)
        })?;
        found.sort_unstable_by_key(|image| image.id);
        Ok(found)
    }

    /// Calls `f` with the directory entry of each valid image and delta of all pages, and with its segment:
    /// of each subgraph the newest records, down to an image. They come newest first. Reads all directories.
    /// O(records).
    ///
    /// # Errors
    /// Damage, and failures of the file system. It is also damage if a record is later than a record of the
    /// same subgraph and label in a newer segment.
    pub fn for_each_summary(&self, mut f: impl FnMut(&NamedSegment, ImageSummary)) -> Result<(), TierError> {
        // The timestamp of the last record, and whether it is an image.
        let mut newest: HashMap<ImageId, (Timestamp, bool)> = HashMap::new();
        for segment in self.segments() {
            for record in segment.reader.summaries()? {
                let below = newest.get(&record.id).copied();
                if below.is_some_and(|(newer, _)| newer < record.as_of) {
                    return Err(invalid(&segment.name, "an image later than the one in a newer segment"));
                }
                if below.is_none_or(|(_, is_image)| !is_image) {
                    newest.insert(record.id, (record.as_of, !record.is_delta));
                    f(segment, record);
                }
            }
        }
        Ok(())
    }

    /// Reads the valid images of a page, in no order, and gives each to `f` with the name of its file.
    ///
    /// # Errors
    /// Damage, failures of the file system, and the errors of `f`.
    pub fn read_page<E: From<TierError>>(
        &self,
        id: PageId,
        f: impl FnMut(SubgraphImage, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        self.read_images((id, u64::MAX), &mut |_| true, f)
    }

    /// Like [`read_page`](Self::read_page), but only for the images of the places in `wanted`. Calls
    /// `has_memory` before it takes memory. Reads the directory of the page in one segment after another
    /// until it has found all wanted images. In each segment it reads the blocks from the first wanted image
    /// to the last.
    ///
    /// # Errors
    /// The errors of [`read_page`](Self::read_page); [`TierError::NoRoom`] if `has_memory` returns false.
    pub fn read_images<E: From<TierError>>(
        &self,
        (id, wanted): (PageId, u64),
        has_memory: HasMemory<'_>,
        mut f: impl FnMut(SubgraphImage, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        self.read_records((id, wanted), ALL, has_memory, |record, file| match record {
            SubgraphRecord::Image(image) => f(image, file),
            SubgraphRecord::Delta(_) => Ok(()),
        })
    }

    /// Like [`read_page`](Self::read_page), but only for the keys of a page of the default label, at the
    /// places in `wanted`.
    ///
    /// # Errors
    /// The errors of [`read_page`](Self::read_page).
    pub fn read_keys<'s, E: From<TierError>>(
        &'s self,
        (id, wanted): (PageId, u64),
        mut f: impl FnMut(SubgraphKeys, &'s str) -> Result<(), E>,
    ) -> Result<(), E> {
        self.walk_page(id, (Places::of_bits(wanted), ALL), |segment, page, open| {
            let mut found = Places::NONE;
            segment.reader.read_keys(
                page,
                |image: ImageId| open.has(image.subgraph),
                |keys| {
                    found.insert(keys.id);
                    f(keys, &segment.name)
                },
            )?;
            Ok(found)
        })
    }

    /// Reads the valid image of a subgraph in a label, and returns it with the name of its file; `None` if
    /// there is no image. Looks for the image in the directory of each segment that has the page, newest
    /// first. Reads a directory from the file only if `cache` lacks it. Calls `has_memory` before it takes
    /// memory.
    ///
    /// # Errors
    /// Damage, and failures of the file system; [`TierError::NoRoom`] if `has_memory` returns false.
    pub(crate) fn read_image(
        &self,
        id: ImageId,
        cache: &ReadCache,
        has_memory: HasMemory<'_>,
    ) -> Result<Option<(SubgraphImage, &str)>, TierError> {
        let found = self.read_record(id, ALL, cache, has_memory)?;
        Ok(found.and_then(|(record, file)| Some((record.into_image()?, file))))
    }

    /// Returns the images of a page as sources of a merge, newest first.
    pub(crate) fn images<'s, 'c>(
        &'s self,
        id: PageId,
        cache: &'c ReadCache,
    ) -> impl Iterator<Item = ImagesIn<'s, 'c>> {
        self.of_page(id, ALL).map(|(segment, page)| ImagesIn { segment, page, cache })
    }

    /// True if all segments have a key index, so that keys can be looked up in them.
    pub fn have_key_indexes(&self) -> bool {
        self.segments().all(|segment| segment.reader.has_key_index())
    }

    /// Returns the vertex that a key names, with the name of the file that has the key. Reads a block in each
    /// segment, newest first, until a segment has the key.
    ///
    /// # Errors
    /// Damage, and failures of the file system.
    pub(crate) fn find_key(&self, key: VertexKeyRef<'_>) -> Result<Option<(VertexId, &str)>, TierError> {
        let found = self.valid_name(|_, segment| segment.reader.find_key(key))?;
        Ok(found.map(|(id, segment)| (id, segment.name.as_str())))
    }

    /// Calls `f` with each key that [`find_key`](Self::find_key) finds, and the vertex that it names, in no
    /// particular order. Reads each block of each key index once.
    ///
    /// # Errors
    /// Damage, and failures of the file system.
    pub fn for_each_key(&self, mut f: impl FnMut(IndexedKey<'_>, VertexId)) -> Result<(), TierError> {
        let readers = self.segments().map(|segment| &segment.reader);
        SegmentReader::walk_keys(readers, |key, named| {
            let Ok(found) = self.valid_name(|at, _| Ok::<_, Infallible>(named.get(at).copied().flatten()));
            if let Some((id, _)) = found {
                f(key, id);
            }
        })
    }

    /// Returns the vertex that a key names, with the segment that has the key. `named` returns the vertex
    /// that the key names in one segment. This vertex is valid if no newer segment has an image of its
    /// subgraph. If a newer image lacks the key, the vertex is gone or has another key.
    fn valid_name<E>(
        &self,
        mut named: impl FnMut(usize, &NamedSegment) -> Result<Option<VertexId>, E>,
    ) -> Result<Option<(VertexId, &NamedSegment)>, E> {
        for (at, segment) in self.segments().enumerate() {
            let Some(id) = named(at, segment)? else { continue };
            if !self.segments().take(at).any(|newer| newer.reader.has_vertices_of(id.subgraph())) {
                return Ok(Some((id, segment)));
            }
        }
        Ok(None)
    }

    /// Returns a key in the form that key indexes use; `None` if there are no segments.
    pub fn indexed_key<'k>(&self, key: VertexKeyRef<'k>) -> Option<IndexedKey<'k>> {
        self.segments().next().map(|segment| segment.reader.indexed_key(key))
    }

    /// Returns the bytes of memory that key indexes take.
    pub fn key_index_bytes(&self) -> usize {
        self.segments().map(|segment| segment.reader.key_index_bytes()).sum()
    }
}

/// Returns the page of the default label that has the same vertices as a page of another label.
pub(crate) fn page_of_vertices(id: PageId) -> PageId {
    PageId { label: LabelId::DEFAULT, page: id.page }
}

/// Returns the page of a subgraph in a label.
pub fn page_of(label: LabelId, id: SubgraphId) -> PageId {
    ImageId { label, subgraph: id }.page()
}
