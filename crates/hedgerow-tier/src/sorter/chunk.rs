//! A chunk of records in memory.

use super::record::Record;

/// Records in memory, and the position of each record. A full chunk has the positions in the order of keys.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    pub(super) places: Vec<u32>,
}

impl Chunk {
    pub(super) fn sort(&mut self) {
        let bytes = &self.bytes;
        self.places.sort_unstable_by(|a, b| {
            Record::at(bytes, *a as usize).key.cmp(Record::at(bytes, *b as usize).key)
        });
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.places.capacity() * size_of::<u32>()
    }

    pub(super) fn memory_used(&self) -> usize {
        self.bytes.len() + self.places.len() * size_of::<u32>()
    }
}
