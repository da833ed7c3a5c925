//! Segments of format 5: `docs/format/segment.md`.

use std::ops::Range;

use super::{Forge, Part, Step, read};
use crate::layout::{Image, Page, SegmentLayout};

/// The number of gaps with one width byte in a packed list.
const MINI_BLOCK: usize = 64;
/// The maximum lengths of a packed neighbor and of a payload. Together they give the number of neighbors in a
/// piece.
const MOST_PACKED: usize = 5;
const MOST_PAYLOAD: usize = 65_520;
/// The kind of a record that is a head; its neighbors follow in pieces.
const CUT: u64 = 1;

impl Forge {
    pub(super) fn take_segment(&mut self, file: usize) {
        let Some(layout) = SegmentLayout::of(&self.bytes[file]) else { return };
        let id = self.bytes[file][48..56].to_vec();
        let placed = |position: usize| [&id[..], &(position as u64).to_le_bytes()].concat();
        let indexed = |position: usize| [&placed(position)[..], b"index"].concat();
        for block in &layout.blocks {
            self.run(file, block.bytes.start, &[2, 1, 1], Part::Block);
            self.units.push((file, block.bytes.clone()));
            let (range, at) = (block.bytes.start..block.bytes.end - 8, block.bytes.end - 8);
            self.steps.push(Step::Sum64 { file, prefix: placed(range.start), range, at });
        }
        for page in &layout.pages {
            self.take_directory(file, page);
            let (range, at) = (page.directory.clone(), page.directory.end);
            self.steps.push(Step::Sum64 { file, prefix: indexed(range.start), range, at });
            self.run(file, page.entry.start, &[2, 1, 1, 4, 8, 8, 4, 4, 8, 8], Part::TopIndex);
            self.units.push((file, page.entry.clone()));
            for image in &page.images {
                self.take_image(file, image);
            }
        }
        self.take_key_index(file, &layout);
        let footer = layout.footer.start;
        let at = self.run(file, footer, &[8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 1, 1, 2, 4], Part::Footer);
        self.run(file, at + 8, &[8, 8], Part::Footer);
        let (range, at) = (layout.top_index.clone(), footer + 88);
        self.steps.push(Step::Sum64 { file, prefix: indexed(range.start), range, at });
        let range = footer..footer + 112;
        self.steps.push(Step::Sum64 { file, prefix: indexed(footer), range, at: footer + 112 });
    }

    /// Takes the blocks of the key index, entry by entry, and then its head.
    fn take_key_index(&mut self, file: usize, layout: &SegmentLayout) {
        let id = self.bytes[file][48..56].to_vec();
        let indexed = |position: usize| [&id[..], &(position as u64).to_le_bytes(), b"index"].concat();
        for block in &layout.key_blocks {
            self.units.push((file, block.clone()));
            let (mut at, end) = (block.start, block.end - 8);
            while at < end {
                let begin = at;
                at = self.run(file, at, &[8, 4, 1, 1], Part::KeyIndex);
                let width = [0, 1, 4].get(self.get(file, at - 1, 1) as usize).copied().unwrap_or(0);
                let length = self.get(file, at, width) as usize;
                at = self.run(file, at, &[width, length], Part::KeyIndex);
                self.units.push((file, begin..at));
            }
            let (range, at) = (block.start..end, end);
            self.steps.push(Step::Sum64 { file, prefix: indexed(range.start), range, at });
        }
        let Some(head) = &layout.key_head else { return };
        let (range, at) = (head.bytes.start..head.bytes.end - 8, head.bytes.end - 8);
        let mut from = self.run(file, range.start, &[8, 4, 4], Part::KeyIndex);
        for _ in 0..head.masks {
            from = self.run(file, from, &[8], Part::KeyIndex);
        }
        while from < range.end {
            from = self.run(file, from, &[8, 4], Part::KeyIndex);
        }
        self.steps.push(Step::Sum64 { file, prefix: indexed(range.start), range, at });
    }

    fn take_directory(&mut self, file: usize, page: &Page) {
        self.units.push((file, page.directory.clone()));
        let flags = self.get(file, page.directory.start + 12, 1);
        let mut at = self.run(file, page.directory.start, &[8, 4, 1, 3], Part::Directory);
        for _ in page.blocks.clone() {
            at = self.run(file, at, &[2], Part::Directory);
        }
        for image in &page.images {
            self.units.push((file, image.entry.clone()));
            let mut at = self.run(file, image.entry.start, &[8, 8, 6, 2], Part::Directory);
            for (flag, width) in [(1, 4), (2, 6), (4, 4)] {
                if flags & flag != 0 {
                    at = self.run(file, at, &[width], Part::Directory);
                }
            }
        }
    }

    fn take_image(&mut self, file: usize, image: &Image) {
        self.units.extend(image.records().map(|record| (file, record.clone())));
        let mut record = Place::of(self, file, std::slice::from_ref(&image.topology));
        let live = record.peek(16, 8).count_ones() as usize;
        let (kind, parts) = (record.peek(6, 1), record.peek(7, 1));
        record.take_all(&[4, 2, 1, 1, 8, 8], Part::Image);
        let mut heads = Vec::new();
        for _ in 0..parts {
            let head = record.take_part_head();
            if kind != CUT {
                record.take_entries(&head, 0..head.entries);
            }
            heads.push(head);
        }
        let mut pieces = image.pieces.iter();
        for head in heads.iter().filter(|_| kind == CUT) {
            let width = MOST_PACKED + 8 * usize::from(head.weights) + 8 * usize::from(head.ranks);
            for from in (0..head.entries).step_by(MOST_PAYLOAD / width) {
                let Some(piece) = pieces.next() else { break };
                let to = head.entries.min(from + MOST_PAYLOAD / width);
                Place::of(self, file, std::slice::from_ref(piece)).take_entries(head, from..to);
            }
        }
        if !image.keys.is_empty() {
            Place::of(self, file, &image.keys).take_keys(live);
        }
        if !image.columns.is_empty() {
            let mut record = Place::of(self, file, &image.columns);
            record.take(4, Part::Columns);
            heads.iter().filter(|head| head.columns).for_each(|head| record.take_columns(head.entries));
        }
    }
}

/// The content of the head of a part.
struct Head {
    entries: usize,
    weights: bool,
    ranks: bool,
    columns: bool,
    /// The degrees of the vertices with neighbors.
    degrees: Vec<usize>,
}

/// A record whose fields are being taken. It is in one or several ranges of the file.
struct Place<'a> {
    forge: &'a mut Forge,
    file: usize,
    stretches: &'a [Range<usize>],
    at: usize,
}

impl<'a> Place<'a> {
    fn of(forge: &'a mut Forge, file: usize, stretches: &'a [Range<usize>]) -> Place<'a> {
        Place { forge, file, stretches, at: 0 }
    }

    /// Returns the place in the file of byte `position` of the record. Beyond the record, returns a place
    /// beyond the file.
    fn in_file(&self, mut position: usize) -> usize {
        for stretch in self.stretches {
            if position < stretch.len() {
                return stretch.start + position;
            }
            position -= stretch.len();
        }
        self.forge.len(self.file)
    }

    fn peek(&self, ahead: usize, width: usize) -> u64 {
        (0..width)
            .map(|i| read(&self.forge.bytes[self.file], self.in_file(self.at + ahead + i), 1) << (8 * i))
            .fold(0, |value, byte| value | byte)
    }

    fn take(&mut self, width: usize, part: Part) {
        let from = self.in_file(self.at);
        if width > 0 && self.in_file(self.at + width - 1) + 1 - from == width {
            self.forge.field(self.file, from, width, part);
        }
        self.at += width;
    }

    fn take_all(&mut self, widths: &[usize], part: Part) {
        for &width in widths {
            self.take(width, part);
        }
    }

    fn take_part_head(&mut self) -> Head {
        let (width, flags) = (self.peek(1, 1) as usize, self.peek(3, 1));
        let (entries, lists) = (self.peek(4, 4) as usize, self.peek(8, 8).count_ones());
        self.take_all(&[1, 1, 1, 1, 4, 8], Part::PartHead);
        let degrees = (0..lists).map(|_| {
            let degree = self.peek(0, width) as usize;
            self.take(width, Part::Degrees);
            degree
        });
        let degrees = degrees.collect();
        let [weights, ranks, columns] = [1, 2, 4].map(|flag| flags & flag != 0);
        Head { entries, weights, ranks, columns, degrees }
    }

    /// Takes the neighbors `range` of a part, and then their values. The neighbors of each list in the range
    /// form a separate packed list.
    fn take_entries(&mut self, head: &Head, range: Range<usize>) {
        let mut begin = 0;
        for degree in &head.degrees {
            let end = begin + degree;
            self.take_list(end.min(range.end).saturating_sub(begin.max(range.start)));
            begin = end;
        }
        for _ in 0..range.len() * (usize::from(head.weights) + usize::from(head.ranks)) {
            self.take(8, Part::Values);
        }
    }

    fn take_list(&mut self, length: usize) {
        let Some(mut gaps) = length.checked_sub(1) else { return };
        let first = (0..MOST_PACKED).take_while(|&i| self.peek(i, 1) >= 0x80).count() + 1;
        self.take(first, Part::Neighbors);
        while gaps > 0 {
            let count = gaps.min(MINI_BLOCK);
            let mut packed = (count * self.peek(0, 1) as usize).div_ceil(8);
            self.take(1, Part::Neighbors);
            while packed > 0 {
                self.take(packed.min(8), Part::Neighbors);
                packed -= packed.min(8);
            }
            gaps -= count;
        }
    }

    fn take_keys(&mut self, live: usize) {
        let encoding = self.peek(4, 1);
        self.take_all(&[4, 1], Part::KeyHead);
        match encoding {
            1 => (0..live).for_each(|_| self.take(8, Part::Keys)),
            2 => self.take_texts(live, 1),
            3 => self.take_texts(live, 4),
            // Keys of several kinds: kind and type of each key, then numbers, lengths of texts, texts.
            4 => {
                let texts = (0..live).filter(|i| self.peek(i * 2 + 1, 1) == 1).count();
                (0..live * 2).for_each(|_| self.take(1, Part::Keys));
                (0..live - texts).for_each(|_| self.take(8, Part::Keys));
                self.take_texts(texts, 4);
            }
            _ => {}
        }
    }

    fn take_texts(&mut self, count: usize, width: usize) {
        let lengths: Vec<usize> = (0..count).map(|i| self.peek(i * width, width) as usize).collect();
        lengths.iter().for_each(|_| self.take(width, Part::Keys));
        lengths.iter().for_each(|&length| self.take(length, Part::Keys));
    }

    fn take_columns(&mut self, entries: usize) {
        let columns = self.peek(0, 4);
        self.take(4, Part::Columns);
        (0..columns).for_each(|_| self.take_column(entries));
    }

    fn take_column(&mut self, entries: usize) {
        let (kind, flags) = (self.peek(2, 1), self.peek(3, 1));
        self.take_all(&[2, 1, 1], Part::Columns);
        let mask = entries.div_ceil(64);
        let words = if flags & 1 != 0 { mask } else { 0 };
        (0..words).for_each(|_| self.take(8, Part::Columns));
        match kind {
            1 => (0..mask).for_each(|_| self.take(8, Part::Columns)),
            4 | 5 => {
                let width = if flags & 2 != 0 { 8 } else { 4 };
                let heap = self.peek((entries - 1) * width, width) as usize;
                (0..entries).for_each(|_| self.take(width, Part::Columns));
                self.take(heap, Part::Columns);
            }
            _ => (0..entries).for_each(|_| self.take(8, Part::Columns)),
        }
    }
}
