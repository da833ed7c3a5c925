//! Log segments: `docs/format/log.md`.

use super::{Forge, Part, Step};

const DATA_START: usize = 128;
const FRAME_BYTES: usize = 56;

impl Forge {
    pub(super) fn take_log(&mut self, file: usize) {
        if self.len(file) < DATA_START {
            return;
        }
        self.run(file, 64, &[8, 8, 8, 8, 8, 8, 8], Part::Preamble);
        self.link_to_previous(file);
        self.steps.push(Step::Sum64 { file, prefix: Vec::new(), range: 0..120, at: 120 });
        let mut prefix = self.bytes[file][32..48].to_vec();
        prefix.extend_from_slice(&self.bytes[file][48..56]);
        let (mut at, mut chain) = (DATA_START, 72);
        while let Some(end) = self.record_end(file, at) {
            self.take_record(file, at, end, chain, &prefix);
            (at, chain) = (end, at + 48);
        }
    }

    /// Links a segment to the record before it. The segment begins with the checksum of that record.
    fn link_to_previous(&mut self, file: usize) {
        let wanted = self.get(file, 72, 8);
        let sources: Vec<(usize, usize)> = self
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Sum64 { file: from, at, .. } if *from != file && *at > DATA_START => Some((*from, *at)),
                _ => None,
            })
            .collect();
        if let Some(&(from, source)) = sources.iter().find(|(from, at)| self.get(*from, *at, 8) == wanted) {
            self.steps.push(Step::Copy { file, from, source, at: 72 });
        }
    }

    fn record_end(&self, file: usize, at: usize) -> Option<usize> {
        let length = self.get(file, at, 4) as usize;
        let end = at + FRAME_BYTES + length.next_multiple_of(8);
        (length > 0 && at + FRAME_BYTES < self.len(file) && end <= self.len(file)).then_some(end)
    }

    fn take_record(&mut self, file: usize, at: usize, end: usize, chain: usize, prefix: &[u8]) {
        self.run(file, at, &[4, 4, 8, 8, 8], Part::Frame);
        let (length, payload) = (self.get(file, at, 4) as usize, at + FRAME_BYTES);
        if self.get(file, at + 4, 4) == 1 {
            self.take_operations(file, payload, payload + length);
            self.units.push((file, payload..end));
        } else {
            self.run(file, payload, &[8, 8], Part::Seal);
        }
        self.steps.push(Step::Sum64 { file, prefix: Vec::new(), range: payload..end, at: at + 32 });
        self.steps.push(Step::Copy { file, from: file, source: chain, at: at + 40 });
        self.steps.push(Step::Sum64 { file, prefix: prefix.to_vec(), range: at..at + 48, at: at + 48 });
    }

    fn take_operations(&mut self, file: usize, mut at: usize, end: usize) {
        while at + 8 <= end {
            let (kind, flags) = (self.get(file, at, 1), self.get(file, at + 1, 1));
            let count = self.get(file, at + 4, 4);
            at = self.run(file, at, &[1, 1, 2, 4], Part::Operations);
            for _ in 0..count {
                at = self.take_row(file, at, kind, flags);
            }
        }
    }

    fn take_row(&mut self, file: usize, at: usize, kind: u64, flags: u64) -> usize {
        let part = Part::Operations;
        match kind {
            1 => self.run(file, at, &[4, 8], part),
            2 => {
                let length = self.get(file, at + 4, 4) as usize;
                self.run(file, at, &[4, 4, length], part)
            }
            3 => self.run(file, at, &[4], part),
            4 | 5 => {
                let mut at = self.run(file, at, &[4, 4], part);
                if kind == 4 && flags & 1 != 0 {
                    at = self.run(file, at, &[8], part);
                }
                if flags & 2 != 0 {
                    at = self.run(file, at, &[8], part);
                }
                if kind == 4 && flags & 4 != 0 { self.take_properties(file, at) } else { at }
            }
            6 | 8 => {
                // A label may have the kinds of its endpoints.
                let ends: &[usize] = if kind == 6 && flags & 2 != 0 { &[1, 1] } else { &[] };
                let at = self.run(file, at, ends, part);
                let length = self.get(file, at, 1) as usize;
                self.run(file, at, &[1, length], part)
            }
            7 => {
                // A property of vertices may have the kind of its vertices.
                let of_kind: &[usize] = if flags & 1 != 0 { &[1] } else { &[] };
                let at = self.run(file, at, &[2, 1], part);
                let at = self.run(file, at, of_kind, part);
                let length = self.get(file, at, 1) as usize;
                self.run(file, at, &[1, length], part)
            }
            _ => at,
        }
    }

    fn take_properties(&mut self, file: usize, at: usize) -> usize {
        let part = Part::Operations;
        let end = at + 4 + self.get(file, at, 4) as usize;
        let mut at = self.run(file, at, &[4], part);
        while at < end {
            let kind = self.get(file, at + 2, 1);
            at = self.run(file, at, &[2, 1], part);
            at = match kind {
                1 => self.run(file, at, &[1], part),
                4 | 5 => {
                    let length = self.get(file, at, 4) as usize;
                    self.run(file, at, &[4, length], part)
                }
                _ => self.run(file, at, &[8], part),
            };
        }
        end
    }
}
