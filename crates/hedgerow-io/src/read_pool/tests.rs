use super::*;
use crate::{Access, Dir, LockHolder, Vfs, VfsFile, VfsLock};

use std::io;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file system without data. A function of the test computes each byte from the offset of the read.
struct Oracle<F>(Arc<F>);

impl<F> std::fmt::Debug for Oracle<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Oracle")
    }
}

fn unused<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

impl<F: Fn(u64) -> u8 + Send + Sync + 'static> Vfs for Oracle<F> {
    fn path(&self) -> &Path {
        Path::new("oracle")
    }
    fn open(&self, _: &str, _: Access) -> io::Result<Arc<dyn VfsFile>> {
        Ok(Arc::new(Oracle(self.0.clone())))
    }
    fn create(&self, _: &str) -> io::Result<Arc<dyn VfsFile>> {
        unused()
    }
    fn rename(&self, _: &str, _: &str) -> io::Result<()> {
        unused()
    }
    fn unlink(&self, _: &str) -> io::Result<()> {
        unused()
    }
    fn list(&self) -> io::Result<Vec<String>> {
        unused()
    }
    fn sync_dir(&self) -> io::Result<()> {
        unused()
    }
    fn lock(&self, _: &str) -> io::Result<Box<dyn VfsLock>> {
        Err(crate::LockHeld(LockHolder::Unknown).into())
    }
    fn lock_existing(&self, _: &str) -> io::Result<Option<Box<dyn VfsLock>>> {
        unused()
    }
}

impl<F: Fn(u64) -> u8 + Send + Sync> VfsFile for Oracle<F> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        buf.fill((self.0)(offset));
        Ok(buf.len())
    }
    fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
        unused()
    }
    fn len(&self) -> io::Result<u64> {
        Ok(u64::MAX)
    }
    fn set_len(&self, _: u64) -> io::Result<()> {
        unused()
    }
    fn allocate(&self, _: u64) -> io::Result<()> {
        unused()
    }
    fn sync_data(&self) -> io::Result<()> {
        unused()
    }
    fn sync_all(&self) -> io::Result<()> {
        unused()
    }
}

fn oracle(answer: impl Fn(u64) -> u8 + Send + Sync + 'static) -> NamedFile {
    Dir::new(Arc::new(Oracle(Arc::new(answer)))).open("f", Access::Read).expect("a file")
}

fn requests(file: &NamedFile, count: u64) -> Vec<ReadRequest> {
    (0..count).map(|at| ReadRequest::new(file, at, 3, BlockBuffer::default())).collect()
}

fn assert_all_read(outcomes: &[Outcome], count: u64) {
    assert_eq!(outcomes.len() as u64, count);
    for (at, outcome) in outcomes.iter().enumerate() {
        assert_eq!(**outcome.as_ref().unwrap(), [at as u8; 3]);
    }
}

#[test]
fn sixteen_reads_wait_at_the_same_time() {
    // The caller is one of the seventeen threads.
    let together = Barrier::new(THREADS + 1);
    let file = oracle(move |at| {
        together.wait();
        at as u8
    });
    let pool = ReadPool::new();
    for _ in 0..20 {
        assert_all_read(&pool.read_many(requests(&file, THREADS as u64 + 1)), THREADS as u64 + 1);
    }
}

#[test]
fn few_reads_start_no_thread() {
    let caller = std::thread::current().id();
    let file = oracle(move |at| {
        assert_eq!(std::thread::current().id(), caller);
        at as u8
    });
    let pool = ReadPool::new();
    assert!(pool.read_many(Vec::new()).is_empty());
    assert_all_read(&pool.read_many(requests(&file, 1)), 1);
    let cached = requests(&file, 50).into_iter().map(ReadRequest::cached);
    assert_all_read(&pool.read_many(cached.collect()), 50);
    let mut mostly_cached: Vec<_> = requests(&file, 50).into_iter().map(ReadRequest::cached).collect();
    mostly_cached[7].is_cached = false;
    assert_all_read(&pool.read_many(mostly_cached), 50);
    assert!(pool.workers.get().is_none());
    assert_all_read(&ReadPool::with_threads(0).read_many(requests(&file, 50)), 50);
}

#[test]
fn a_panic_in_one_read_reaches_the_caller_once_the_others_are_done() {
    let pool = ReadPool::new();
    for bad in 0..40 {
        let read = Arc::new(AtomicUsize::new(0));
        let counter = read.clone();
        let file = oracle(move |at| {
            assert_ne!(at, bad, "a test has a panic in this read");
            counter.fetch_add(1, Ordering::Relaxed);
            at as u8
        });
        let outcome = catch_unwind(AssertUnwindSafe(|| pool.read_many(requests(&file, 40))));
        assert!(outcome.is_err());
        assert_eq!(read.load(Ordering::Relaxed), 39);
        // After a panic, the pool still has all its threads.
        assert_all_read(&pool.read_many(requests(&oracle(|at| at as u8), 40)), 40);
    }
}

#[test]
fn many_callers_share_the_threads() {
    let pool = ReadPool::with_threads(5);
    let file = oracle(|at| {
        if at.is_multiple_of(7) {
            std::thread::yield_now();
        }
        at as u8
    });
    std::thread::scope(|scope| {
        for caller in 0..8 {
            let (pool, file) = (&pool, &file);
            scope.spawn(move || {
                for round in 0..300 {
                    let count = 1 + (caller * 31 + round * 7) % 60;
                    assert_all_read(&pool.read_many(requests(file, count)), count);
                }
            });
        }
    });
    let shared = pool.workers.get().unwrap().shared.clone();
    assert!(shared.queue().batches.is_empty(), "a batch that is done is not kept");
    drop(pool);
    assert_eq!(Arc::strong_count(&shared), 1, "the threads have ended");
}

#[test]
fn memory_is_used_again_and_can_be_told_before() {
    let file = oracle(|at| at as u8);
    let pool = ReadPool::new();
    let mut buffer = BlockBuffer::default();
    for (offset, bytes) in [(9, 1), (4095, 2), (4095, 4098), (1, 8191), (100, 0), (5, 300)] {
        let at_most = BlockBuffer::memory_for(bytes).max(buffer.bytes());
        let outcome = pool.read_many(vec![ReadRequest::new(&file, offset, bytes, buffer)]).pop();
        let read = outcome.unwrap().unwrap();
        assert_eq!(read.len(), bytes);
        buffer = read.into_buffer();
        assert!(buffer.bytes() <= at_most, "{} bytes for {bytes} at {offset}", buffer.bytes());
    }
}
