//! The pages of a segment.

use std::sync::Arc;

use hedgerow_core::GraphConfig;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_io::{FileId, StoreId};

use super::SegmentInfo;
use super::assemble::PageImages;
use super::block::index_checksum;
use super::cache::{Key, ReadCache};
use super::delta::SubgraphRecord;
use super::directory::{self, Directory, PlacedImage};
use super::list::{ListQuery, ListReader};
use super::list_delta::FoundList;
use super::read_memory::{HasMemory, ReadMemory, ask};
use super::source::Source;
use super::summary::ImageSummary;
use super::top::{
    DIRECTORY_CHECKSUM, FOOTER_BODY, FOOTER_BYTES, FOOTER_MAGIC, Footer, PAGE_BYTES, PageEntry,
    decode_top_index,
};
use crate::TierError;
use crate::bytes::{Bytes, Fault};
use crate::id::ImageId;

/// An open segment. Its top index is in memory, 48 bytes for each page.
#[derive(Debug)]
pub(super) struct PagedSegment {
    source: Source,
    footer: Footer,
    pages: Vec<PageEntry>,
}

impl PagedSegment {
    /// Opens a file whose header was checked before. Checks its size, footer and top index.
    pub(super) fn open(
        source: Source,
        info: &SegmentInfo,
        store: StoreId,
    ) -> Result<PagedSegment, TierError> {
        source.check_size(info, FOOTER_BYTES)?;
        let footer = read_footer(&source, info.bytes)?;
        let at = info.bytes - FOOTER_BYTES;
        if footer.file_id != source.file_id || footer.store != store {
            return Err(source.invalid(at, "footer of another file"));
        }
        if footer.totals != info.totals() {
            return Err(source.invalid(at, "counts of footer and manifest differ"));
        }
        let pages = read_top_index(&source, &footer)?;
        let found = pages.first().zip(pages.last()).map(|(first, last)| (first.id, last.id));
        if info.pages.is_some() && info.pages != found {
            return Err(source.invalid(footer.top_index, "pages of top index and manifest differ"));
        }
        Ok(PagedSegment { source, footer, pages })
    }

    pub(super) fn config(&self) -> &GraphConfig {
        &self.footer.config
    }

    pub(super) fn footer(&self) -> &Footer {
        &self.footer
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn pages(&self) -> &[PageEntry] {
        &self.pages
    }

    /// Returns the position where the blocks of page number `i` end.
    pub(super) fn blocks_end(&self, i: usize) -> u64 {
        self.pages.get(i + 1).map_or(self.footer.directories, |next| next.blocks)
    }

    /// Reads and verifies the directory of page number `i`.
    pub(super) fn directory(&self, i: usize) -> Result<Directory, TierError> {
        let Some(page) = self.pages.get(i) else {
            return Err(TierError::NoSuchPage { index: i, len: self.pages.len() });
        };
        let raw =
            self.source.read_region(page.directory, u64::from(page.directory_len) + DIRECTORY_CHECKSUM)?;
        self.check_directory(i, page, &raw)
    }

    fn check_directory(&self, i: usize, page: &PageEntry, raw: &[u8]) -> Result<Directory, TierError> {
        let at = page.directory;
        let Some((body, sum)) = raw.split_last_chunk::<{ DIRECTORY_CHECKSUM as usize }>() else {
            return Err(self.source.invalid(at, "directory without checksum"));
        };
        let mut found = index_checksum(self.source.file_id, at);
        found.update(body);
        self.source.check(at, u64::from_le_bytes(*sum), found.digest64())?;
        directory::decode(body, page, self.blocks_end(i))
            .map_err(|fault| self.source.invalid(at + fault.position as u64, fault.what))
    }

    /// Returns the summaries of all images from the directories, in order. One read for each MiB of
    /// directories.
    pub(super) fn summaries(&self) -> Result<Vec<ImageSummary>, TierError> {
        const READ: u64 = 1 << 20;
        let mut summaries = Vec::new();
        let mut first = 0;
        while let Some(begin) = self.pages.get(first).map(|page| page.directory) {
            let end_of =
                |page: &PageEntry| page.directory + u64::from(page.directory_len) + DIRECTORY_CHECKSUM;
            let rest = self.pages.get(first..).unwrap_or(&[]);
            let fits = rest.iter().take_while(|page| end_of(page) - begin <= READ).count().max(1);
            let group = rest.get(..fits).unwrap_or(rest);
            let len = group.last().map_or(0, |last| end_of(last) - begin);
            let raw = self.source.read_region(begin, len)?;
            for (i, page) in group.iter().enumerate() {
                let from = (page.directory - begin) as usize;
                let bytes = raw.get(from..(end_of(page) - begin) as usize).unwrap_or(&[]);
                let directory = self.check_directory(first + i, page, bytes)?;
                summaries.extend(summarize(&directory));
            }
            first += fits;
        }
        Ok(summaries)
    }

    /// Returns the summaries of the images of page number `i` from its directory, in order. One read.
    pub(super) fn page_summaries(&self, i: usize) -> Result<Vec<ImageSummary>, TierError> {
        Ok(summarize(&self.directory(i)?).collect())
    }

    /// Reads the `wanted` records of page number `i`, in order, and passes each to `f`. Stops at the first
    /// error of the read or of `f`.
    pub(super) fn read_page<E: From<TierError>>(
        &self,
        i: usize,
        wanted: impl Fn(ImageId) -> bool,
        has_memory: HasMemory<'_>,
        mut f: impl FnMut(SubgraphRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        let directory = self.directory(i)?;
        let is_wanted = |placed: &PlacedImage| wanted(placed.id(directory.label));
        let Some(first) = directory.images.iter().position(is_wanted) else { return Ok(()) };
        let last = directory.images.iter().rposition(is_wanted).unwrap_or(first);
        let all = directory.images.iter().filter(|placed| is_wanted(placed));
        let mut images = PageImages::new(&self.source, &directory, &self.footer.config, (first, last));
        ask(has_memory, ReadMemory::Buffers(images.buffer_bytes(&directory, all.clone())))?;
        for placed in all {
            f(images.read_within(placed, has_memory)?)?;
        }
        Ok(())
    }
}

impl PagedSegment {
    /// Reads one record of page number `i`, if the page has it. Reads each of its blocks alone.
    pub(super) fn read_record(
        &self,
        i: usize,
        id: ImageId,
        cache: &ReadCache,
        has_memory: HasMemory<'_>,
    ) -> Result<Option<SubgraphRecord>, TierError> {
        let directory = self.cached_directory(i, cache)?;
        let Some(placed) = directory.find(id) else { return Ok(None) };
        let mut images = PageImages::block_by_block(&self.source, &directory, &self.footer.config);
        ask(has_memory, ReadMemory::Buffers(images.buffer_bytes(&directory, std::iter::once(placed))))?;
        images.read_within(placed, has_memory).map(Some)
    }

    /// Reads the answer to `query` on page number `i`, if the page has the image.
    pub(super) fn read_list(
        &self,
        i: usize,
        query: &ListQuery,
        cache: &ReadCache,
        has_memory: HasMemory<'_>,
    ) -> Result<Option<FoundList>, TierError> {
        let directory = self.cached_directory(i, cache)?;
        let Some(placed) = directory.find(query.image) else { return Ok(None) };
        let (source, config, directory) = (&self.source, &self.footer.config, &*directory);
        ListReader { source, config, directory, placed, cache }.read(query, has_memory).map(Some)
    }

    fn cached_directory(&self, i: usize, cache: &ReadCache) -> Result<Arc<Directory>, TierError> {
        let Some(page) = self.pages.get(i) else { return self.directory(i).map(Arc::new) };
        let key = match faults::is_on(PlantedFault::StaleDirectory) {
            false => Key { file: self.source.file_id, at: page.directory },
            true => Key { file: FileId(0), at: u64::from(page.id.label.0) << 32 | u64::from(page.id.page) },
        };
        if let Some(directory) = cache.directory(key) {
            return Ok(directory);
        }
        let directory = Arc::new(self.directory(i)?);
        cache.keep_directory(key, &directory);
        Ok(directory)
    }
}

fn summarize(directory: &Directory) -> impl Iterator<Item = ImageSummary> {
    directory.images.iter().map(|placed| ImageSummary {
        id: placed.id(directory.label),
        is_delta: placed.entry.delta.is_some(),
        as_of: placed.entry.as_of,
        present: placed.entry.present,
        vertices: placed.entry.vertices(directory.label),
        edges: placed.entry.delta.unwrap_or(placed.entry.edges),
        bytes: placed.bytes(&directory.positions),
    })
}

/// Reads the footer of a file of `len` bytes, without the manifest's record.
pub(super) fn read_footer(source: &Source, len: u64) -> Result<Footer, TierError> {
    let offset = len.checked_sub(FOOTER_BYTES).ok_or_else(|| source.invalid(0, "no footer"))?;
    let mut raw = [0; FOOTER_BYTES as usize];
    source.read(&mut raw, offset)?;
    let (body, tail) = raw.split_at(FOOTER_BODY);
    let mut tail = Bytes::new(tail);
    let ends = |fault: Fault| source.invalid(offset, fault.what);
    let stored = tail.u64().map_err(ends)?;
    if tail.fixed().map_err(ends)? != FOOTER_MAGIC {
        return Err(source.invalid(offset, "no footer at the end of the file"));
    }
    let mut sum = index_checksum(source.file_id, offset);
    sum.update(body);
    source.check(offset, stored, sum.digest64())?;
    Footer::decode_body(body, len).map_err(|fault| source.invalid(offset + fault.position as u64, fault.what))
}

fn read_top_index(source: &Source, footer: &Footer) -> Result<Vec<PageEntry>, TierError> {
    let at = footer.top_index;
    let raw = source.read_region(at, footer.pages * PAGE_BYTES)?;
    let mut sum = index_checksum(source.file_id, at);
    sum.update(&raw);
    source.check(at, footer.top_checksum, sum.digest64())?;
    decode_top_index(&raw, footer).map_err(|fault| source.invalid(at + fault.position as u64, fault.what))
}
