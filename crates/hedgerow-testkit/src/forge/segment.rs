//! Segments: `docs/format/segment.md`.

use super::{Forge, Part, Step};

const BLOCK_BYTES: usize = 65_536;
const PIECE_BYTES: usize = BLOCK_BYTES - 8;
const FOOTER_BYTES: usize = 112;

/// Where byte `position` of the stream lies in the file.
fn in_file(position: usize) -> usize {
    64 + BLOCK_BYTES * (position / PIECE_BYTES) + position % PIECE_BYTES
}

/// A place in the stream of a segment whose fields are being taken.
struct Place<'a> {
    forge: &'a mut Forge,
    file: usize,
    at: usize,
}

impl Forge {
    pub(super) fn take_segment(&mut self, file: usize) {
        let Some(footer) = self.len(file).checked_sub(FOOTER_BYTES).filter(|&at| at >= 64) else { return };
        let id = self.bytes[file][footer..footer + 8].to_vec();
        let placed = |place: usize| [&id[..], &(place as u64).to_le_bytes()].concat();
        let stream = self.get(file, footer + 24, 8) as usize;
        let index = self.get(file, footer + 32, 8) as usize;
        let entries = self.get(file, footer + 48, 8) as usize;
        for entry in 0..entries {
            let at = index + entry * 40;
            let record = self.get(file, at + 8, 8) as usize;
            let length = self.get(file, at + 16, 8) as usize;
            let keys = self.get(file, footer + 80, 1);
            Place { forge: self, file, at: record }.take_image(keys);
            self.run(file, at, &[4, 1, 1, 2, 8, 8, 8, 8], Part::Index);
            self.units.push((file, at..at + 40));
            let (from, to) = (in_file(record), in_file(record + length - 1) + 1);
            if to - from == length {
                self.units.push((file, from..to));
            }
        }
        for number in 0..stream.div_ceil(PIECE_BYTES) {
            let from = in_file(number * PIECE_BYTES);
            let to = from + (stream - number * PIECE_BYTES).min(PIECE_BYTES);
            self.steps.push(Step::Sum64 { file, prefix: placed(number), range: from..to, at: to });
        }
        self.run(file, footer, &[8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 1, 1, 2, 4], Part::Footer);
        let (range, at) = (index..footer, footer + 88);
        self.steps.push(Step::Sum64 { file, prefix: placed(index), range, at });
        let (range, at) = (footer..footer + 96, footer + 96);
        self.steps.push(Step::Sum64 { file, prefix: placed(footer), range, at });
    }
}

impl Place<'_> {
    fn peek(&self, ahead: usize, width: usize) -> u64 {
        (0..width)
            .map(|i| self.forge.get(self.file, in_file(self.at + ahead + i), 1) << (8 * i))
            .fold(0, |value, byte| value | byte)
    }

    fn take(&mut self, width: usize, part: Part) {
        let from = in_file(self.at);
        if width > 0 && in_file(self.at + width - 1) + 1 - from == width {
            self.forge.field(self.file, from, width, part);
        }
        self.at += width;
    }

    fn take_all(&mut self, widths: &[usize], part: Part) {
        for &width in widths {
            self.take(width, part);
        }
    }

    fn take_image(&mut self, keys: u64) {
        let (encoding, live) = (self.peek(5, 1), self.peek(16, 8).count_ones() as usize);
        let parts = self.peek(24, 4);
        self.take_all(&[4, 1, 1, 2, 8, 8, 4], Part::Image);
        match (keys, encoding) {
            (_, 1) => (0..live).for_each(|_| self.take(8, Part::Keys)),
            (_, 2 | 3) => {
                let width = if encoding == 2 { 1 } else { 4 };
                let lengths: Vec<usize> = (0..live).map(|i| self.peek(i * width, width) as usize).collect();
                lengths.iter().for_each(|_| self.take(width, Part::Keys));
                lengths.iter().for_each(|&length| self.take(length, Part::Keys));
            }
            // Of several kinds: kind and type of each, numbers, lengths of texts, texts.
            (_, 4) => {
                let texts = (0..live).filter(|i| self.peek(i * 2 + 1, 1) == 1).count();
                (0..live * 2).for_each(|_| self.take(1, Part::Keys));
                (0..live - texts).for_each(|_| self.take(8, Part::Keys));
                let lengths: Vec<usize> = (0..texts).map(|i| self.peek(i * 4, 4) as usize).collect();
                lengths.iter().for_each(|_| self.take(4, Part::Keys));
                lengths.iter().for_each(|&length| self.take(length, Part::Keys));
            }
            _ => {}
        }
        for _ in 0..parts {
            self.take_part();
        }
    }

    fn take_part(&mut self) {
        let (width, weights, flags) = (self.peek(3, 1) as usize, self.peek(5, 1), self.peek(6, 2));
        let (entries, lists) = (self.peek(8, 4) as usize, self.peek(12, 8).count_ones());
        self.take_all(&[2, 1, 1, 1, 1, 2, 4, 8], Part::PartHead);
        (0..lists).for_each(|_| self.take(width, Part::Degrees));
        (0..entries).for_each(|_| self.take(4, Part::Neighbors));
        for _ in 0..entries * (usize::from(weights == 1) + usize::from(flags & 1 != 0)) {
            self.take(8, Part::Values);
        }
        if flags & 2 != 0 {
            let columns = self.peek(0, 4);
            self.take(4, Part::Columns);
            (0..columns).for_each(|_| self.take_column(entries));
        }
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
