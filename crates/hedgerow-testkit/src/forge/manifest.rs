//! The manifest: `docs/format/manifest.md`.

use super::{Forge, Part, Step};

impl Forge {
    pub(super) fn take_manifest(&mut self, file: usize) {
        if self.len(file) < 136 {
            return;
        }
        self.run(file, 64, &[8, 1, 1, 2, 4, 8, 8, 8, 4, 4, 4, 4], Part::Manifest);
        let [segments, logs, sections] = [104, 108, 112].map(|at| self.get(file, at, 4));
        let mut at = 120;
        for _ in 0..segments {
            let name = format!("seg-{:016x}.csr", self.get(file, at, 8));
            if let Some(of) = self.names.iter().position(|n| *n == name) {
                self.steps.push(Step::HashOf { file, of, at: at + 24 });
            }
            self.units.push((file, at..at + 104));
            at = self.run(
                file,
                at,
                &[8, 1, 1, 6, 8, 16, 8, 8, 8, 8, 2, 2, 4, 2, 2, 4, 8, 8],
                Part::SegmentEntry,
            );
        }
        for _ in 0..logs {
            self.units.push((file, at..at + 16));
            at = self.run(file, at, &[8, 8], Part::LogEntry);
        }
        for _ in 0..sections {
            let (tag, length) = (self.get(file, at, 4), self.get(file, at + 8, 8) as usize);
            at = self.run(file, at, &[4, 2, 2, 8], Part::Section);
            if tag == 1 {
                self.take_schema(file, at, at + length);
            } else {
                self.field(file, at, length, Part::Section);
            }
            at += length;
        }
        self.steps.push(Step::Sum128 { file, at: self.len(file) - 16 });
    }

    fn take_schema(&mut self, file: usize, mut at: usize, end: usize) {
        while at + 15 <= end {
            let length = self.get(file, at + 14, 1) as usize;
            self.units.push((file, at..at + 15 + length));
            at = self.run(file, at, &[8, 1, 1, 2, 2, 1, length], Part::Section);
        }
    }
}
