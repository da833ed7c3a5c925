//! Checks of the reads of every file system: reads through the cache of the operating system, reads past the
//! cache, and reads of many places at once.

use std::io;

use hedgerow_io::{
    Access, BLOCK_BYTES, BlockBuffer, Corruption, CorruptionKind, Dir, FileError, FilledBuffer, NamedFile,
    ReadPool, ReadRequest, VfsFile,
};

use crate::sim_fs::SplitMix64;

/// The name of the file to read. The file must not exist before; the check removes it.
const NAME: &str = "reads.tmp";
/// The length of the file. It is not a multiple of a block.
const BYTES: usize = 37 * BLOCK_BYTES + 1234;

/// Makes a file in `dir` and reads it in every way.
///
/// # Panics
/// If a read differs from the written bytes.
pub fn check_reads(dir: &Dir) {
    let mut rng = SplitMix64::new(1);
    let mut content: Vec<u8> = (0..BYTES).map(|_| rng.next_u64() as u8).collect();
    let file = dir.create(NAME).expect("a new file");
    file.write_all_at(&content, 0).expect("a write");
    file.sync_all().expect("a sync");
    check_blocks(dir, &content);
    for file in [&file, &dir.open(NAME, Access::Read).expect("the file")] {
        check_places(file, &content);
        check_many(file, &content);
    }
    // Each later read past the cache sees the earlier writes through the cache, the cut and the growth.
    for at in [100, BLOCK_BYTES - 1, 5 * BLOCK_BYTES, BYTES - 10] {
        content.resize(content.len().max(at + 20), 0);
        content[at..at + 20].fill(7);
        file.write_all_at(&[7; 20], at as u64).expect("a write");
        check_places(&file, &content);
    }
    content.resize(3 * BLOCK_BYTES + 5, 0);
    file.set_len(content.len() as u64).expect("a shorter file");
    check_places(&file, &content);
    check_many(&file, &content);
    content.resize(9 * BLOCK_BYTES, 0);
    file.set_len(content.len() as u64).expect("a longer file");
    check_places(&file, &content);
    dir.unlink(NAME).expect("a removal");
}

/// Checks the call that all other reads use.
fn check_blocks(dir: &Dir, content: &[u8]) {
    let file = dir.vfs().open(NAME, Access::Read).expect("the file");
    let mut buffer = BlockBuffer::default();
    for (first, count) in [(0, 1), (0, 38), (3, 4), (36, 1), (36, 9), (37, 1), (37, 3), (38, 1), (500, 2)] {
        let begin = first * BLOCK_BYTES;
        let there = content.get(begin..).unwrap_or_default();
        let there = &there[..there.len().min(count * BLOCK_BYTES)];
        let room = buffer.room(count);
        match uninterrupted(&*file, room, begin as u64) {
            Some(read) => {
                assert!(room[..read] == there[..read], "block {first}");
                let may_end = read == there.len() || read > 0 && read.is_multiple_of(BLOCK_BYTES);
                assert!(may_end, "{read} of {} bytes at block {first}", there.len());
            }
            None => assert!(!file.reads_past_cache(), "once refused, always refused"),
        }
    }
}

fn uninterrupted(file: &dyn VfsFile, room: &mut [u8], offset: u64) -> Option<usize> {
    loop {
        match file.read_blocks_at(room, offset) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            read => return read.expect("a read"),
        }
    }
}

/// Returns offsets and lengths around blocks and the end of the file.
fn places(len: usize) -> impl Iterator<Item = (usize, usize)> {
    const B: usize = BLOCK_BYTES;
    let offsets = [0, 1, B - 1, B, B + 1, 2 * B + 77, 3 * B, len.saturating_sub(B), len.saturating_sub(1)];
    let beyond = [len, len + 1, len + B, len + 10 * B];
    let lengths = [0, 1, 100, B - 1, B, B + 1, 3 * B + 9];
    offsets.into_iter().chain(beyond).flat_map(move |offset| lengths.map(|bytes| (offset, bytes)))
}

fn check_places(file: &NamedFile, content: &[u8]) {
    let mut buffer = BlockBuffer::default();
    for (offset, bytes) in places(content.len()) {
        let read = file.read_blocks_at(buffer, offset as u64, bytes);
        check_outcome(&read, content, offset, bytes);
        buffer = read.map(FilledBuffer::into_buffer).unwrap_or_default();
        check_outcome(
            &file.read_cached_at(BlockBuffer::default(), offset as u64, bytes),
            content,
            offset,
            bytes,
        );
        // Reads the same place through the cache.
        let mut plain = vec![0; bytes];
        let is_there = file.read_exact_at(&mut plain, offset as u64).is_ok();
        assert_eq!(is_there, bytes == 0 || offset + bytes <= content.len());
    }
}

fn check_many(file: &NamedFile, content: &[u8]) {
    for threads in [0, 1, 16] {
        let pool = ReadPool::with_threads(threads);
        for cached in [false, true] {
            let request = |(offset, bytes)| {
                let request = ReadRequest::new(file, offset as u64, bytes, BlockBuffer::default());
                // All requests use the cache, or every third offset does.
                if cached || offset % 3 == 0 { request.cached() } else { request }
            };
            let outcomes = pool.read_many(places(content.len()).map(request).collect());
            assert_eq!(outcomes.len(), places(content.len()).count());
            for ((offset, bytes), outcome) in places(content.len()).zip(&outcomes) {
                check_outcome(outcome, content, offset, bytes);
            }
        }
        assert!(pool.read_many(Vec::new()).is_empty());
    }
}

fn check_outcome(outcome: &Result<FilledBuffer, FileError>, content: &[u8], offset: usize, bytes: usize) {
    let there = content.get(offset..).unwrap_or_default();
    if bytes <= there.len() {
        let read = outcome.as_ref().expect("a read");
        assert!(**read == there[..bytes], "{bytes} bytes at {offset}");
        assert!(bytes > 0 || read.is_empty());
        return;
    }
    let kind = CorruptionKind::Truncated { expected: bytes as u64, found: there.len() as u64 };
    let expected = Corruption::new(NAME, offset as u64, kind);
    assert!(
        matches!(outcome, Err(FileError::Corruption(found)) if *found == expected),
        "{outcome:?} instead of {expected:?}"
    );
}
