//! Writes of a segment.

use std::sync::Arc;

use hedgerow_core::{GraphConfig, KeyKind, LabelId};
use hedgerow_io::{Dir, FileHeader, FileId, FileKind, StoreId, Vfs};

use super::block::index_checksum;
use super::delta::DeltaRef;
use super::image::ImageRef;
use super::key_index::{self, KeyEntries};
use super::page::OpenPage;
use super::sink::Sink;
use super::top::{DIRECTORY_CHECKSUM, FOOTER_MAGIC, Footer, PageEntry};
use super::totals::Totals;
use super::{DELTAS_FEATURE, SegmentInfo, segment_name, temporary_stem};
use crate::TierError;
use crate::id::ImageId;
use crate::temporary::TemporaryDirectory;

/// The least memory in which keys are sorted.
const LEAST_KEY_BYTES: usize = 256 << 10;

/// A writer of one segment, image by image.
///
/// Its memory is about 1 MiB of buffer, the keys and properties of the open page (4,096 vertices in one
/// label), and about 30 bytes of directories for each image. If vertices have keys, each key takes 32 bytes
/// and its text, or [less](Self::gather_within). After an error every further call fails. A writer that is
/// dropped before [`finish`](Self::finish) succeeded leaves a stray file that no manifest names.
#[derive(Debug)]
pub struct SegmentWriter {
    sink: Sink,
    /// The directory of temporary files, and the bytes of gathered records that stay in memory.
    temporary: Arc<TemporaryDirectory>,
    most_gathered: usize,
    store: StoreId,
    config: GraphConfig,
    /// True if the header announces deltas.
    has_deltas: bool,
    open: Option<OpenPage>,
    last: Option<ImageId>,
    pages: Vec<PageEntry>,
    directories: Vec<u8>,
    /// The gathered entries of the key index; `None` if ids are dense.
    keys: Option<KeyEntries>,
    totals: Totals,
    scratch: Vec<u8>,
}

impl SegmentWriter {
    /// Creates the file of the segment `file_id`, an id that was never used before. The segment has no
    /// deltas.
    ///
    /// # Errors
    /// [`TierError::File`], also if a file of that name exists.
    pub fn create(
        fs: Arc<dyn Vfs>,
        file_id: FileId,
        store: StoreId,
        config: GraphConfig,
    ) -> Result<SegmentWriter, TierError> {
        SegmentWriter::create_with(fs, (file_id, store), config, false)
    }

    /// Like [`create`](Self::create). If `deltas` is true, the segment may have deltas: its header announces
    /// them to programs that do not know them.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create).
    pub fn create_with(
        fs: Arc<dyn Vfs>,
        (file_id, store): (FileId, StoreId),
        config: GraphConfig,
        deltas: bool,
    ) -> Result<SegmentWriter, TierError> {
        let file = Dir::new(fs.clone()).create(&segment_name(file_id))?;
        let has_keys = config.keys != KeyKind::Dense;
        let mut header = FileHeader::new(FileKind::Segment, store, file_id, 0);
        header.incompat =
            if has_keys { key_index::FEATURE } else { 0 } | if deltas { DELTAS_FEATURE } else { 0 };
        let temporary = TemporaryDirectory::new(fs, temporary_stem(file_id));
        Ok(SegmentWriter {
            sink: Sink::new(file, file_id, &header.encode()),
            store,
            config,
            has_deltas: deltas,
            open: None,
            last: None,
            pages: Vec::new(),
            directories: Vec::new(),
            keys: has_keys.then(|| KeyEntries::new(&temporary)),
            temporary,
            most_gathered: usize::MAX,
            totals: Totals::default(),
            scratch: Vec::new(),
        })
    }

    /// Appends an image, whose id must be above the ids of all images before. Returns the bytes of its
    /// records. O(size of the image); blocks on file writes, and on a sync every 2 MiB.
    ///
    /// # Errors
    /// [`TierError::OutOfOrder`] and [`TierError::InvalidImage`] are found before anything is written, so the
    /// writer stays usable. After [`TierError::File`] it is not usable.
    pub fn write(&mut self, image: &ImageRef<'_>) -> Result<u64, TierError> {
        self.check(image.id, image.fault(&self.config))?;
        let mut page = self.page_of(image.id)?;
        let bytes = page.put(image, &self.config, &mut self.sink, &mut self.scratch);
        self.open = Some(page);
        let bytes = bytes?;
        if let Some(keys) = self.keys.as_mut().filter(|_| image.id.label == LabelId::DEFAULT) {
            keys.add(self.store, image)?;
        }
        self.last = Some(image.id);
        Ok(bytes)
    }

    /// Appends a delta, whose id must be above the ids of all records before. Returns the bytes of its
    /// record. Returns `None`, and writes nothing, if the delta is too long for a record: then the caller
    /// writes the image. O(size of the delta); blocks like [`write`](Self::write).
    ///
    /// # Errors
    /// The errors of [`write`](Self::write); [`TierError::InvalidImage`] also if the segment was created
    /// without deltas.
    pub fn write_delta(&mut self, delta: &DeltaRef<'_>) -> Result<Option<u64>, TierError> {
        let unannounced = (!self.has_deltas).then_some("a delta that the header does not announce");
        self.check(delta.id, unannounced.or_else(|| delta.fault(&self.config)))?;
        let mut page = self.page_of(delta.id)?;
        let bytes = page.put_delta(delta, &mut self.sink, &mut self.scratch);
        self.open = Some(page).filter(|page| !page.is_empty());
        let Some(bytes) = bytes? else { return Ok(None) };
        self.keys.iter_mut().for_each(|keys| keys.add_delta(delta.id.subgraph));
        self.last = Some(delta.id);
        Ok(Some(bytes))
    }

    /// Checks that the record of `id`, with this fault, can be the next one.
    fn check(&self, id: ImageId, fault: Option<&'static str>) -> Result<(), TierError> {
        self.sink.check()?;
        if let Some(last) = self.last.filter(|last| *last >= id) {
            return Err(TierError::OutOfOrder { previous: last, found: id });
        }
        fault.map_or(Ok(()), |reason| Err(TierError::InvalidImage { image: id, reason }))
    }

    /// Takes the page of the record `id` out of `open`. Completes the page before, if it is another one.
    fn page_of(&mut self, id: ImageId) -> Result<OpenPage, TierError> {
        if self.open.as_ref().is_some_and(|page| !page.holds(id)) {
            self.finish_page()?;
        }
        let new = || OpenPage::new(id, &self.sink, (&self.temporary, self.most_gathered));
        Ok(self.open.take().unwrap_or_else(new))
    }

    /// Sorts keys within about `bytes` bytes of memory, but at least 256 KiB, and gathers keys and properties
    /// of the open page within as many bytes each, and one record. The rest is in temporary files in the
    /// segment's directory, which are removed when the writer is dropped.
    pub fn gather_within(&mut self, bytes: usize) {
        self.most_gathered = bytes;
        self.keys.iter_mut().for_each(|keys| keys.keep_within(bytes.max(LEAST_KEY_BYTES)));
    }

    /// Returns the bytes of memory: buffers, the open page, directories. O(1).
    pub fn memory_bytes(&self) -> usize {
        let open = self.open.as_ref().map_or(0, OpenPage::memory_bytes);
        let pages = self.pages.capacity() * size_of::<PageEntry>();
        let keys = self.keys.as_ref().map_or(0, KeyEntries::memory_bytes);
        self.sink.memory_bytes() + self.scratch.capacity() + self.directories.capacity() + open + pages + keys
    }

    fn finish_page(&mut self) -> Result<(), TierError> {
        let Some(page) = self.open.take() else { return Ok(()) };
        let page = page.finish(&mut self.sink, &mut self.directories)?;
        let (images, vertices) = (u64::from(page.images), u64::from(page.vertices));
        // A label has at most 2^26 subgraphs with 2^32 neighbors each, so the disk is full long before a sum
        // exceeds 64 bits.
        let totals = self.totals.add(images, vertices, page.edges, page.as_of);
        self.totals = totals.unwrap_or(self.totals);
        self.pages.push(page);
        Ok(())
    }

    /// Writes directories, key index, top index and footer, and syncs the file. It does not sync the
    /// directory of the store. The caller does that once, for all files that the next manifest names, before
    /// it writes the manifest.
    ///
    /// # Errors
    /// [`TierError::File`]; then the file is a stray file, and no manifest may name it.
    pub fn finish(mut self) -> Result<SegmentInfo, TierError> {
        self.finish_page()?;
        let directories = self.sink.position();
        self.put_directories()?;
        let key_head = self.keys.take().map(|keys| keys.finish(&mut self.sink)).transpose()?;
        let top_index = self.sink.position();
        let top_checksum = self.put_top_index()?;
        let footer = Footer {
            file_id: self.sink.file_id(),
            store: self.store,
            directories,
            top_index,
            key_head,
            pages: self.pages.len() as u64,
            totals: self.totals,
            config: self.config,
            top_checksum,
        };
        self.put_footer(&footer)?;
        let (bytes, hash) = self.sink.close()?;
        Ok(SegmentInfo {
            file_id: footer.file_id,
            bytes,
            hash,
            subgraphs: self.totals.images,
            vertices: self.totals.vertices,
            edges: self.totals.edges,
            max_as_of: self.totals.max_as_of,
            pages: self.pages.first().zip(self.pages.last()).map(|(first, last)| (first.id, last.id)),
        })
    }

    fn put_directories(&mut self) -> Result<(), TierError> {
        let mut rest = self.directories.as_slice();
        for page in &mut self.pages {
            page.directory = self.sink.position();
            let (directory, after) =
                rest.split_at_checked(page.directory_len as usize).unwrap_or((rest, &[]));
            let mut sum = index_checksum(self.sink.file_id(), page.directory);
            sum.update(directory);
            self.sink.put(directory)?;
            self.sink.put(&sum.digest64().to_le_bytes())?;
            debug_assert_eq!(
                self.sink.position() - page.directory,
                directory.len() as u64 + DIRECTORY_CHECKSUM
            );
            rest = after;
        }
        Ok(())
    }

    fn put_top_index(&mut self) -> Result<u64, TierError> {
        let mut sum = index_checksum(self.sink.file_id(), self.sink.position());
        for page in &self.pages {
            self.scratch.clear();
            page.encode(&mut self.scratch);
            sum.update(&self.scratch);
            self.sink.put(&self.scratch)?;
        }
        Ok(sum.digest64())
    }

    fn put_footer(&mut self, footer: &Footer) -> Result<(), TierError> {
        self.scratch.clear();
        footer.encode_body(&mut self.scratch);
        let mut sum = index_checksum(footer.file_id, self.sink.position());
        sum.update(&self.scratch);
        self.scratch.extend(sum.digest64().to_le_bytes());
        self.scratch.extend(FOOTER_MAGIC);
        self.sink.put(&self.scratch)
    }
}
