//! The layout of a segment of format 5, according to `docs/format/segment.md`. It shares no code with the
//! readers of segments.
//!
//! It is only for sound files. It verifies nothing, and returns `None` for a file that does not fit the page.

use std::ops::Range;

/// The maximum payload of a block. A longer record fills several blocks alone.
const MOST_PAYLOAD: usize = 65_520;
const BLOCK_HEAD: usize = 4;
const CHECKSUM: usize = 8;
const HEADER: usize = 64;
const FOOTER: usize = 128;
const TOP_ENTRY: usize = 48;
const PAGE_SUBGRAPHS: u32 = 64;

/// A segment of format 5. All ranges are byte ranges in the file.
#[derive(Clone, Debug)]
pub struct SegmentLayout {
    /// All blocks, in order.
    pub blocks: Vec<Block>,
    /// All pages, in order.
    pub pages: Vec<Page>,
    /// The directories of all pages, with their checksums.
    pub directories: Range<usize>,
    /// The blocks of the key index, with their checksums.
    pub key_blocks: Vec<Range<usize>>,
    /// The head of the key index, with its checksum.
    pub key_head: Option<KeyHead>,
    /// The top index.
    pub top_index: Range<usize>,
    /// The footer.
    pub footer: Range<usize>,
}

/// The head of the key index.
#[derive(Clone, Debug)]
pub struct KeyHead {
    /// The bytes, with the checksum.
    pub bytes: Range<usize>,
    /// The number of masks in the head.
    pub masks: usize,
}

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// The bytes, with head and checksum.
    pub bytes: Range<usize>,
}

impl Block {
    /// Returns the bytes between head and checksum.
    pub fn payload(&self) -> Range<usize> {
        self.bytes.start + BLOCK_HEAD..self.bytes.end - CHECKSUM
    }
}

/// The images of up to 64 subgraphs in one label.
#[derive(Clone, Debug)]
pub struct Page {
    /// The entry of the page in the top index.
    pub entry: Range<usize>,
    /// The directory of the page, without its checksum.
    pub directory: Range<usize>,
    /// The blocks of the page, by number.
    pub blocks: Range<usize>,
    /// The images in the directory of the page.
    pub images: Vec<Image>,
}

/// The image of a subgraph in a label.
#[derive(Clone, Debug)]
pub struct Image {
    /// The label.
    pub label: u16,
    /// The subgraph.
    pub subgraph: u32,
    /// The entry of the image in the directory.
    pub entry: Range<usize>,
    /// The record of the image's neighbors, or the head of that record.
    pub topology: Range<usize>,
    /// The payloads of the pieces after a head.
    pub pieces: Vec<Range<usize>>,
    /// The record of the image's keys. It is empty if there are none, and has several ranges if it is longer
    /// than a block.
    pub keys: Vec<Range<usize>>,
    /// The record of the image's properties, in the same form.
    pub columns: Vec<Range<usize>>,
}

impl Image {
    /// Returns all parts of the image that are in blocks.
    pub fn records(&self) -> impl Iterator<Item = &Range<usize>> {
        let rest = self.pieces.iter().chain(&self.keys).chain(&self.columns);
        std::iter::once(&self.topology).chain(rest)
    }
}

impl SegmentLayout {
    /// Splits a sound file into its structures.
    pub fn of(bytes: &[u8]) -> Option<SegmentLayout> {
        let footer = bytes.len().checked_sub(FOOTER).filter(|&at| at >= HEADER)?;
        if bytes.get(footer + 120..)? != b"HGSEGMT5" {
            return None;
        }
        let [directories, top_index, pages] =
            [24, 32, 40].map(|at| number(bytes, footer + at, 8).map(|n| n as usize));
        let (directories, top_index) = (directories?, top_index?);
        let mut layout = SegmentLayout {
            blocks: Vec::new(),
            pages: Vec::new(),
            directories: directories..top_index,
            key_blocks: Vec::new(),
            key_head: None,
            top_index: top_index..footer,
            footer: footer..bytes.len(),
        };
        for page in 0..pages? {
            layout.take_page(bytes, top_index + page * TOP_ENTRY)?;
        }
        if let Some(head) = number(bytes, footer + 96, 8).filter(|&head| head != 0) {
            layout.take_key_index(bytes, head as usize)?;
        }
        (layout.blocks.last().map_or(HEADER, |block| block.bytes.end) == directories).then_some(layout)
    }

    /// True if the byte at `at` is in a block of a record of `image`. Damage in such a block loses the image.
    pub fn is_in_blocks_of(&self, image: &Image, at: usize) -> bool {
        let block = self.blocks.iter().find(|block| block.bytes.contains(&at));
        block.is_some_and(|block| {
            image.records().any(|record| record.start < block.bytes.end && block.bytes.start < record.end)
        })
    }

    fn take_key_index(&mut self, bytes: &[u8], head: usize) -> Option<()> {
        let begin = self.pages.last().map_or(HEADER, |page| page.directory.end + CHECKSUM);
        self.directories.end = begin;
        let [blocks, masks] = [8, 12].map(|at| number(bytes, head + at, 4).map(|n| n as usize));
        let (blocks, masks) = (blocks?, masks?);
        let (mut at, lengths) = (begin, head + 16 + 8 * masks);
        for block in 0..blocks {
            let end = at + number(bytes, lengths + 12 * block + 8, 4)? as usize + CHECKSUM;
            self.key_blocks.push(at..end);
            at = end;
        }
        self.key_head = Some(KeyHead { bytes: head..self.top_index.start, masks });
        (at == head).then_some(())
    }

    fn take_page(&mut self, bytes: &[u8], entry: usize) -> Option<()> {
        let [label, page, blocks, directory, length] =
            [(0, 2), (4, 4), (8, 8), (16, 8), (24, 4)].map(|(at, width)| number(bytes, entry + at, width));
        let (directory, first) = (directory? as usize, self.blocks.len());
        let [mask, count, flags] =
            [(0, 8), (8, 4), (12, 1)].map(|(at, width)| number(bytes, directory + at, width));
        let (count, mut at) = (count? as usize, blocks? as usize);
        for block in 0..count {
            let payload = number(bytes, directory + 16 + 2 * block, 2)? as usize;
            let end = at + BLOCK_HEAD + payload + CHECKSUM;
            self.blocks.push(Block { bytes: at..end });
            at = end;
        }
        let entries = Entries { bytes, at: directory + 16 + 2 * count, flags: flags? };
        let images = place(self.blocks.get(first..)?, entries, label? as u16, page? as u32, mask?)?;
        self.pages.push(Page {
            entry: entry..entry + TOP_ENTRY,
            directory: directory..directory + length? as usize,
            blocks: first..self.blocks.len(),
            images,
        });
        Some(())
    }
}

/// Returns the number in `width` bytes at `at`.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let mut raw = [0; 8];
    raw.get_mut(..width)?.copy_from_slice(bytes.get(at..at.checked_add(width)?)?);
    Some(u64::from_le_bytes(raw))
}

/// The remaining entries of a directory.
struct Entries<'a> {
    bytes: &'a [u8],
    at: usize,
    flags: u64,
}

impl Entries<'_> {
    /// Takes the next entry. Returns its range, the lengths of its record, keys and columns, and its number
    /// of pieces.
    fn next(&mut self) -> Option<(Range<usize>, [u64; 4])> {
        let begin = self.at;
        self.at += 22;
        let mut take = |is_there: bool, width: usize| {
            let value = if is_there { number(self.bytes, self.at, width)? } else { 0 };
            self.at += if is_there { width } else { 0 };
            Some(value)
        };
        let topology = take(true, 2)?;
        let keys = take(self.flags & 1 != 0, 4)?;
        let columns = take(self.flags & 2 != 0, 6)?;
        let pieces = take(self.flags & 4 != 0, 4)?;
        Some((begin..self.at, [topology, keys, columns, pieces]))
    }
}

/// Finds the records of a page in its blocks: first all neighbors, then all keys, then all properties.
fn place(blocks: &[Block], mut entries: Entries<'_>, label: u16, page: u32, mask: u64) -> Option<Vec<Image>> {
    let mut cursor = Cursor { blocks, block: 0, offset: 0 };
    let (mut images, mut lengths) = (Vec::new(), Vec::new());
    for local in (0..PAGE_SUBGRAPHS).filter(|local| mask >> local & 1 == 1) {
        let (entry, [topology, keys, columns, pieces]) = entries.next()?;
        let topology = cursor.take(topology)?.pop()?;
        let pieces = (0..pieces).map(|_| cursor.whole()).collect::<Option<_>>()?;
        lengths.push((keys, columns));
        let subgraph = page * PAGE_SUBGRAPHS + local;
        images.push(Image {
            label,
            subgraph,
            entry,
            topology,
            pieces,
            keys: Vec::new(),
            columns: Vec::new(),
        });
    }
    for (image, (keys, _)) in images.iter_mut().zip(&lengths) {
        image.keys = cursor.take(*keys)?;
    }
    for (image, (_, columns)) in images.iter_mut().zip(&lengths) {
        image.columns = cursor.take(*columns)?;
    }
    (cursor.block == blocks.len()).then_some(images)
}

/// A cursor over the blocks of a page.
struct Cursor<'a> {
    blocks: &'a [Block],
    block: usize,
    offset: usize,
}

impl Cursor<'_> {
    /// Takes the next record, of `length` bytes. The result has no range for length 0, and several ranges for
    /// a record in several blocks.
    fn take(&mut self, length: u64) -> Option<Vec<Range<usize>>> {
        let (mut rest, mut all) = (usize::try_from(length).ok()?, Vec::new());
        while rest > 0 {
            let payload = self.blocks.get(self.block)?.payload();
            let now = rest.min(MOST_PAYLOAD);
            let begin = payload.start + self.offset;
            if begin + now > payload.end {
                return None;
            }
            all.push(begin..begin + now);
            self.offset += now;
            if begin + now == payload.end {
                (self.block, self.offset) = (self.block + 1, 0);
            }
            rest -= now;
        }
        Some(all)
    }

    /// Takes the next block. Returns its payload.
    fn whole(&mut self) -> Option<Range<usize>> {
        let payload = self.blocks.get(self.block).filter(|_| self.offset == 0)?.payload();
        self.block += 1;
        Some(payload)
    }
}
