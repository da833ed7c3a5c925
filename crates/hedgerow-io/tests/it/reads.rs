//! Reads of real files, through the page cache of the operating system and past it, and of simulated files
//! that fail.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hedgerow_io::{
    Access, BLOCK_BYTES, BlockBuffer, CountingFs, Dir, FileError, ReadPool, ReadRequest, RealFs, Vfs,
};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::conformance::files::check_reads;
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};

fn real(path: &Path) -> Arc<dyn Vfs> {
    Arc::new(RealFs::open_dir(path).expect("a directory"))
}

#[test]
fn files_of_the_temporary_directory() {
    let scratch = tempfile::tempdir().expect("a directory");
    check_reads(&Dir::new(real(scratch.path())));
}

/// Files of a directory in memory. Its file system refuses transfers past the cache, or serves them from
/// memory.
#[test]
fn files_in_memory() {
    let Ok(scratch) = tempfile::tempdir_in("/dev/shm") else {
        hedgerow_testkit::skipped("reads of files in memory", "there is no /dev/shm");
        return;
    };
    check_reads(&Dir::new(real(scratch.path())));
}

/// Files of `/proc/self`: the system refuses transfers past the cache.
#[test]
fn files_that_are_not_read_past_the_cache() {
    let Ok(dir) = RealFs::open_dir("/proc/self") else {
        hedgerow_testkit::skipped("files that are not read past the cache", "there is no /proc/self");
        return;
    };
    let file = Dir::new(Arc::new(dir)).open("status", Access::Read).expect("a file");
    assert!(!file.reads_past_cache());
    let read = file.read_blocks_at(BlockBuffer::default(), 0, 5).expect("a read");
    assert_eq!(&*read, b"Name:");
    let requests = (0..4).map(|at| ReadRequest::new(&file, at, 1, BlockBuffer::default())).collect();
    let read: Vec<u8> = ReadPool::new().read_many(requests).iter().map(|r| r.as_ref().unwrap()[0]).collect();
    assert_eq!(read, b"Name");
}

#[test]
fn files_behind_counters() {
    let scratch = tempfile::tempdir().expect("a directory");
    for fs in [real(scratch.path()), SimFs::new().handle()] {
        check_reads(&Dir::new(Arc::new(CountingFs::new(fs))));
    }
}

#[test]
fn simulated_files_with_short_reads_and_without_blocks() {
    for seed in 0..20 {
        for refuse in [false, true] {
            let fs = SimFs::new();
            fs.set_short_transfers((seed > 0).then_some(seed));
            fs.refuse_blocks(refuse);
            check_reads(&Dir::new(fs.handle()));
        }
    }
}

/// Returns a file of `blocks` blocks, each of which is filled with its number.
fn numbered(blocks: u8) -> SimFs {
    let bytes: Vec<u8> = (0..blocks).flat_map(|block| [block; BLOCK_BYTES]).collect();
    SimFs::from_files(&BTreeMap::from([("seg-1.csr".to_owned(), bytes)]))
}

#[test]
fn reads_both_ways_are_counted() {
    let counting = CountingFs::new(numbered(8).handle());
    let counters = counting.counters();
    let file = Dir::new(Arc::new(counting)).open("seg-1.csr", Access::Read).expect("the file");
    let get = |counter: &AtomicU64| counter.load(Relaxed);
    file.read_exact_at(&mut [0; 10], 5).expect("a read");
    assert_eq!((get(&counters.reads), get(&counters.read_bytes)), (1, 10));
    assert_eq!((get(&counters.reads_past_cache), get(&counters.read_bytes_past_cache)), (0, 0));
    let requests = [0, 1, 2].map(|at| ReadRequest::new(&file, at * 8192 + 4000, 200, BlockBuffer::default()));
    assert!(ReadPool::new().read_many(requests.into()).iter().all(Result::is_ok));
    let past = 3 * 2 * BLOCK_BYTES as u64;
    assert_eq!((get(&counters.reads), get(&counters.read_bytes)), (4, 10 + past));
    assert_eq!((get(&counters.reads_past_cache), get(&counters.read_bytes_past_cache)), (3, past));
}

/// Each read of a batch fails in turn. The other reads succeed, and the pool repeats an interrupted read.
#[test]
fn a_read_that_fails_has_no_effect_on_the_others() {
    const READS: u64 = 40;
    for threads in [0, 3, 16] {
        let pool = ReadPool::with_threads(threads);
        for (errno, fails) in [(errno::EIO, true), (errno::EINTR, false)] {
            for at in 0..READS {
                let fs = numbered(READS as u8);
                let file = Dir::new(fs.handle()).open("seg-1.csr", Access::Read).expect("the file");
                let (class, at, repeat) = (FaultClass::Read, fs.read_count() + at, Repeat::Once);
                fs.plan_fault(Fault { class, at, site: None, repeat, errno });
                let place = |i: u64| i * BLOCK_BYTES as u64 + 17;
                let requests =
                    (0..READS).map(|i| ReadRequest::new(&file, place(i), 1000, BlockBuffer::default()));
                let outcomes = pool.read_many(requests.collect());
                let failed: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
                assert_eq!(failed.len(), usize::from(fails));
                for error in failed {
                    let FileError::Io(error) = error else { panic!("{error}") };
                    assert_eq!((error.file.as_str(), error.op), ("seg-1.csr", "read"));
                    assert_eq!(error.source.raw_os_error(), Some(errno));
                }
                for (i, read) in outcomes.iter().enumerate().filter_map(|(i, o)| Some((i, o.as_ref().ok()?)))
                {
                    assert_eq!(**read, [i as u8; 1000]);
                }
            }
        }
    }
}
