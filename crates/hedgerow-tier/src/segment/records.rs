//! Records that are gathered first and written later.

use std::sync::Arc;

use crate::TierError;
use crate::temporary::{TemporaryDirectory, TemporaryFile};

/// Records in the order in which they were added. Beyond a bound they are in a temporary file.
#[derive(Debug)]
pub(super) struct Records {
    directory: Arc<TemporaryDirectory>,
    most: usize,
    /// The records after those in the file.
    bytes: Vec<u8>,
    file: Option<TemporaryFile>,
    written: u64,
    lengths: Vec<u64>,
}

impl Records {
    /// Makes an empty list, which keeps up to `most` bytes in memory.
    pub(super) fn new(directory: &Arc<TemporaryDirectory>, most: usize) -> Records {
        let directory = directory.clone();
        Records { directory, most, bytes: Vec::new(), file: None, written: 0, lengths: Vec::new() }
    }

    /// Returns the bytes of memory. O(1).
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.lengths.capacity() * size_of::<u64>()
    }

    /// Adds the record that `encode` appends, which may be empty; returns its length.
    ///
    /// # Errors
    /// The errors of writing the file.
    pub(super) fn push(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Result<u64, TierError> {
        let begin = self.bytes.len();
        encode(&mut self.bytes);
        let length = (self.bytes.len() - begin) as u64;
        self.lengths.push(length);
        if self.bytes.len() > self.most {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(self.directory.create()?),
            };
            file.write_all_at(&self.bytes, self.written)?;
            self.written += self.bytes.len() as u64;
            self.bytes.clear();
            self.bytes.shrink_to(self.most);
        }
        Ok(length)
    }

    /// Passes on the records in their order. One record of the file is in memory at a time.
    ///
    /// # Errors
    /// The errors of reading the file, and of `f`.
    pub(super) fn for_each(
        mut self,
        mut f: impl FnMut(&[u8]) -> Result<(), TierError>,
    ) -> Result<(), TierError> {
        let (mut read, mut record, mut rest) = (0, Vec::new(), &self.bytes[..]);
        for length in std::mem::take(&mut self.lengths) {
            match &self.file {
                Some(file) if read < self.written => {
                    record.clear();
                    record.resize(length as usize, 0);
                    file.read_exact_at(&mut record, read)?;
                    f(&record)?;
                }
                _ => {
                    let (first, others) = rest.split_at_checked(length as usize).unwrap_or((rest, &[]));
                    rest = others;
                    f(first)?;
                }
            }
            read += length;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_testkit::SimFs;

    use super::*;

    #[test]
    fn records_come_back_in_order_from_the_file_and_from_memory() {
        let disk = SimFs::new();
        let directory = TemporaryDirectory::new(disk.handle(), "records");
        for (most, files) in [(usize::MAX, 0), (100, 1), (0, 1)] {
            let made = directory.made();
            let mut records = Records::new(&directory, most);
            for n in 0..50_usize {
                let length = records.push(|to| to.extend(std::iter::repeat_n(n as u8, n * 7 % 60))).unwrap();
                assert_eq!(length, n as u64 * 7 % 60);
            }
            assert!(most > 1_000 || records.memory_bytes() < 1_000, "{}", records.memory_bytes());
            assert_eq!(directory.made() - made, files);
            let mut next = 0;
            records
                .for_each(|record| {
                    assert_eq!(record, vec![next as u8; next * 7 % 60]);
                    next += 1;
                    Ok(())
                })
                .unwrap();
            assert_eq!(next, 50);
            assert!(disk.files().is_empty(), "the file is removed");
        }
    }
}
