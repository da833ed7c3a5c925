//! Damage that passes every checksum.
//!
//! A [`Forge`] splits the files of a small sound store into fields, according to the pages in `docs/format/`.
//! It shares no code with the readers of these files. [`Forge::damage`] changes some fields, in several
//! structures at once, to values that are difficult for parsers. Then it writes every checksum, hash and
//! chain again, from the lowest level up. The result is a store with false content and correct checksums.

mod log;
mod manifest;
mod segment;

use std::collections::BTreeMap;
use std::ops::Range;

use hedgerow_io::checksum::{Checksum, checksum128};

use crate::sim_fs::SplitMix64;

/// The files of a store by name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The structure that a field belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The header of any file.
    Header,
    /// The preamble of a log segment, with its place in the log.
    Preamble,
    /// The frame of a log record.
    Frame,
    /// The operations of a commit.
    Operations,
    /// The payload of a seal.
    Seal,
    /// The head of a block of a segment.
    Block,
    /// The fixed fields of a record of neighbors.
    Image,
    /// The fixed fields of a record of keys.
    KeyHead,
    /// The external ids in an image.
    Keys,
    /// The head of an adjacency part.
    PartHead,
    /// The degrees of a part.
    Degrees,
    /// The packed lists of a part: first neighbors, widths, gaps.
    Neighbors,
    /// Weights and ranks of a part.
    Values,
    /// Property columns of a part.
    Columns,
    /// The directory of a page of a segment.
    Directory,
    /// The blocks and the head of the key index of a segment.
    KeyIndex,
    /// The entries of pages in the top index of a segment.
    TopIndex,
    /// The footer of a segment.
    Footer,
    /// The fixed fields of a manifest.
    Manifest,
    /// A segment in the manifest.
    SegmentEntry,
    /// A log segment in the manifest.
    LogEntry,
    /// A section of the manifest.
    Section,
}

/// A value in a file.
#[derive(Clone, Copy, Debug)]
struct Field {
    file: usize,
    at: usize,
    /// The width in bytes; more than 8 for text and identities.
    width: usize,
    part: Part,
}

/// A step in a file that makes a checksum correct again.
#[derive(Clone, Debug)]
enum Step {
    /// Writes the 64-bit checksum of `prefix` and `range` to `at`.
    Sum64 { file: usize, prefix: Vec<u8>, range: Range<usize>, at: usize },
    /// Writes the 128-bit checksum of all bytes before `at` to `at`.
    Sum128 { file: usize, at: usize },
    /// Writes the hash of the whole file `of` to `at`.
    HashOf { file: usize, of: usize, at: usize },
    /// Writes the eight bytes at `source` of the file `from` to `at`.
    Copy { file: usize, from: usize, source: usize, at: usize },
}

/// The fields of a sound store.
#[derive(Clone, Debug)]
pub struct Forge {
    names: Vec<String>,
    bytes: Vec<Vec<u8>>,
    fields: Vec<Field>,
    parts: BTreeMap<Part, Vec<usize>>,
    /// Byte ranges that can replace each other: records, blocks, directories, entries.
    units: Vec<(usize, Range<usize>)>,
    steps: Vec<Step>,
}

/// A store with false content, and its changes.
#[derive(Clone, Debug)]
pub struct Forged {
    /// The files.
    pub files: Files,
    /// The structures with changes.
    pub parts: Vec<Part>,
    /// The changes, for messages.
    pub what: String,
}

impl Forge {
    /// Splits `files` into fields. Files of other kinds stay unchanged.
    pub fn new(files: &Files) -> Forge {
        let mut forge = Forge {
            names: files.keys().cloned().collect(),
            bytes: files.values().cloned().collect(),
            fields: Vec::new(),
            parts: BTreeMap::new(),
            units: Vec::new(),
            steps: Vec::new(),
        };
        for kind in [".csr", ".wal", ".man"] {
            for file in 0..forge.names.len() {
                if forge.names[file].ends_with(kind) && forge.bytes[file].len() >= 64 {
                    forge.take_header(file);
                    match kind {
                        ".csr" => forge.take_segment(file),
                        ".wal" => forge.take_log(file),
                        _ => forge.take_manifest(file),
                    }
                }
            }
        }
        for (i, field) in forge.fields.iter().enumerate() {
            forge.parts.entry(field.part).or_default().push(i);
        }
        forge
    }

    /// Returns the number of fields in each structure.
    pub fn field_counts(&self) -> BTreeMap<Part, usize> {
        self.parts.iter().map(|(part, fields)| (*part, fields.len())).collect()
    }

    /// Returns the files with all checksums written again.
    pub fn sealed(&self) -> Files {
        self.seal(self.bytes.clone())
    }

    /// Makes `changes` changes, and then corrects every checksum.
    pub fn damage(&self, rng: &mut SplitMix64, changes: usize) -> Forged {
        let mut bytes = self.bytes.clone();
        let (mut parts, mut what) = (Vec::new(), String::new());
        for _ in 0..changes {
            let (part, said) = match rng.below(16) {
                0 => self.swap_units(&mut bytes, rng),
                1..=3 => self.rename(&mut bytes, rng),
                _ => self.set_field(&mut bytes, rng),
            };
            parts.push(part);
            what += &said;
            what += "; ";
        }
        parts.sort_unstable();
        parts.dedup();
        Forged { files: self.seal(bytes), parts, what }
    }

    /// Sets numbers (file, offset, width, value), and then corrects every checksum.
    pub fn with(&self, changes: &[(&str, usize, usize, u64)]) -> Files {
        let mut bytes = self.bytes.clone();
        for &(name, at, width, value) in changes {
            if let Some(file) = self.names.iter().position(|n| n == name) {
                write(&mut bytes[file], at, width, value);
            }
        }
        self.seal(bytes)
    }

    /// Returns the offset and width of each number of a structure in a file.
    pub fn places(&self, file: &str, part: Part) -> Vec<(usize, usize)> {
        let fields = self.fields.iter().filter(|f| self.names[f.file] == file && f.part == part);
        fields.map(|f| (f.at, f.width)).collect()
    }

    fn pick(&self, rng: &mut SplitMix64) -> Field {
        // The draw selects a structure first, so that long lists do not hide short headers.
        let structures: Vec<&Vec<usize>> = self.parts.values().collect();
        let fields = structures[rng.below(structures.len() as u64) as usize];
        self.fields[fields[rng.below(fields.len() as u64) as usize]]
    }

    fn set_field(&self, bytes: &mut [Vec<u8>], rng: &mut SplitMix64) -> (Part, String) {
        let field = self.pick(rng);
        let said = |new: &dyn std::fmt::Display| {
            format!("{} {:?} at {} set to {new}", self.names[field.file], field.part, field.at)
        };
        if field.width > 8 {
            let at = field.at + rng.below(field.width as u64) as usize;
            bytes[field.file][at] = rng.next_u64() as u8;
            return (field.part, said(&bytes[field.file][at]));
        }
        let old = read(&bytes[field.file], field.at, field.width);
        let new = self.value(rng, field, old);
        write(&mut bytes[field.file], field.at, field.width, new);
        (field.part, said(&new))
    }

    /// Gives one new value to all fields with the value of a drawn field. The false value is then the same in
    /// all places.
    fn rename(&self, bytes: &mut [Vec<u8>], rng: &mut SplitMix64) -> (Part, String) {
        let field = self.pick(rng);
        let old = read(&bytes[field.file], field.at, field.width.min(8));
        if field.width > 8 || field.width < 4 || old < 2 {
            return self.set_field(bytes, rng);
        }
        let new = self.value(rng, field, old);
        let alone = rng.eighths(4);
        for other in self.fields.iter().filter(|f| f.width <= 8 && f.width >= 4) {
            let same_kind = if alone { other.part == field.part } else { true };
            if same_kind && read(&bytes[other.file], other.at, other.width) == old {
                write(&mut bytes[other.file], other.at, other.width, new);
            }
        }
        (field.part, format!("every {old} of {:?} set to {new}", if alone { Some(field.part) } else { None }))
    }

    fn swap_units(&self, bytes: &mut [Vec<u8>], rng: &mut SplitMix64) -> (Part, String) {
        let (file, a) = self.units[rng.below(self.units.len() as u64) as usize].clone();
        let same = self.units.iter().filter(|(f, b)| *f == file && b.len() == a.len() && b.start != a.start);
        let same: Vec<_> = same.collect();
        if same.is_empty() {
            return self.set_field(bytes, rng);
        }
        let (_, b) = same[rng.below(same.len() as u64) as usize].clone();
        let (left, right) = (bytes[file][a.clone()].to_vec(), bytes[file][b.clone()].to_vec());
        bytes[file][a.clone()].copy_from_slice(&right);
        if rng.eighths(4) {
            bytes[file][b.clone()].copy_from_slice(&left);
        }
        let part = self.fields.iter().find(|f| f.file == file && a.contains(&f.at)).map(|f| f.part);
        (part.unwrap_or(Part::Frame), format!("{} {b:?} over {a:?}", self.names[file]))
    }

    /// Draws a value that is difficult for parsers.
    fn value(&self, rng: &mut SplitMix64, field: Field, old: u64) -> u64 {
        let bits = field.width.min(8) as u32 * 8;
        let max = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        let other = {
            let of_part = &self.parts[&field.part];
            let other = self.fields[of_part[rng.below(of_part.len() as u64) as usize]];
            read(&self.bytes[other.file], other.at, other.width.min(8))
        };
        let new = match rng.below(14) {
            0 => 0,
            1 => 1,
            2 => max,
            3 => max - 1,
            4 => old.wrapping_add(1),
            5 => old.wrapping_sub(1),
            6 => old ^ (1 << rng.below(u64::from(bits))),
            7 => old << rng.below(u64::from(bits)),
            8 => rng.below(80),
            9 => 1 << rng.below(u64::from(bits)),
            10 => max >> rng.below(u64::from(bits)),
            11 => rng.next_u64(),
            _ => other,
        };
        new & max
    }

    fn seal(&self, mut bytes: Vec<Vec<u8>>) -> Files {
        for step in &self.steps {
            match step {
                Step::Sum64 { file, prefix, range, at } => {
                    let mut sum = Checksum::new();
                    sum.update(prefix);
                    sum.update(&bytes[*file][range.clone()]);
                    write(&mut bytes[*file], *at, 8, sum.digest64());
                }
                Step::Sum128 { file, at } => {
                    let sum = checksum128(&bytes[*file][..*at]);
                    bytes[*file][*at..*at + 16].copy_from_slice(&sum.to_le_bytes());
                }
                Step::HashOf { file, of, at } => {
                    let sum = checksum128(&bytes[*of]);
                    bytes[*file][*at..*at + 16].copy_from_slice(&sum.to_le_bytes());
                }
                Step::Copy { file, from, source, at } => {
                    let value = read(&bytes[*from], *source, 8);
                    write(&mut bytes[*file], *at, 8, value);
                }
            }
        }
        self.names.iter().cloned().zip(bytes).collect()
    }

    fn field(&mut self, file: usize, at: usize, width: usize, part: Part) {
        if width > 0 && at + width <= self.bytes[file].len() {
            self.fields.push(Field { file, at, width, part });
        }
    }

    /// Adds fields of these widths, one after another. Returns their end.
    fn run(&mut self, file: usize, mut at: usize, widths: &[usize], part: Part) -> usize {
        for &width in widths {
            self.field(file, at, width, part);
            at += width;
        }
        at
    }

    fn take_header(&mut self, file: usize) {
        self.run(file, 0, &[8, 2, 2, 2, 2, 4, 4, 4, 4, 16, 8], Part::Header);
        self.steps.push(Step::Sum64 { file, prefix: Vec::new(), range: 0..56, at: 56 });
    }

    fn get(&self, file: usize, at: usize, width: usize) -> u64 {
        read(&self.bytes[file], at, width)
    }

    fn len(&self, file: usize) -> usize {
        self.bytes[file].len()
    }
}

/// Returns the number at `at`. Bytes beyond the end count as zeros.
fn read(bytes: &[u8], at: usize, width: usize) -> u64 {
    let mut value = [0; 8];
    for (i, byte) in value.iter_mut().take(width).enumerate() {
        *byte = bytes.get(at + i).copied().unwrap_or(0);
    }
    u64::from_le_bytes(value)
}

fn write(bytes: &mut [u8], at: usize, width: usize, value: u64) {
    for (i, byte) in value.to_le_bytes().iter().take(width).enumerate() {
        if let Some(place) = bytes.get_mut(at + i) {
            *place = *byte;
        }
    }
}
