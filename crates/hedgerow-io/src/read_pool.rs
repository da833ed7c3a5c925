//! Reads of many places at once.
//!
//! A disk serves many reads at a time in little more than the time of one. So [`ReadPool::read_many`] issues
//! them from several threads, and each thread waits for one read. The caller is one of these threads. It
//! waits only for reads that other threads have begun, and if no thread could be started, it does all reads.
//!
//! The threads are the pool's own and not rayon's. A waiting rayon thread takes other work of its pool, and
//! that work may wait for a lock that the caller holds. An idle rayon thread spins on processors that the
//! caller needs.
//!
//! # Protocol
//! * **R1.** A thread takes a request from its batch once, under the lock of the batch. The request counts as
//!   under way until its outcome is stored under the same lock, whether it succeeded, failed or panicked. So
//!   when no request is waiting or under way, all outcomes are stored.
//! * **R2.** No thread holds two of these locks at once. No thread reads, calls, or drops a request while it
//!   holds one.
//! * **R3.** A forked child lacks the threads. It uses no lock of its parent's pool and waits for none of its
//!   threads. It does all reads itself, and dropping the pool has no effect in the child.

use std::any::Any;
use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use hedgerow_core::fork::OwnerProcess;

use crate::blocks::{BlockBuffer, FilledBuffer};
use crate::dir::NamedFile;
use crate::error::FileError;

/// The number of threads of a pool. Two processors read 15,000 times 4 KiB per second from a cloud disk with
/// one thread, and 56,000 times with this number.
const THREADS: usize = 16;

/// A request for bytes of a file, with the memory for them.
#[derive(Debug)]
pub struct ReadRequest {
    file: NamedFile,
    offset: u64,
    bytes: usize,
    buffer: BlockBuffer,
    is_cached: bool,
}

impl ReadRequest {
    /// Makes a request for `bytes` bytes at `offset`, with any alignment. `buffer` may come from an earlier
    /// read, whose memory is reused. Its memory is the larger of its present size and
    /// [`BlockBuffer::memory_for`]`(bytes)`.
    pub fn new(file: &NamedFile, offset: u64, bytes: usize, buffer: BlockBuffer) -> ReadRequest {
        ReadRequest { file: file.clone(), offset, bytes, buffer, is_cached: false }
    }

    /// Makes the read go through the cache of the operating system, where the bytes are expected to be.
    pub fn cached(mut self) -> ReadRequest {
        self.is_cached = true;
        self
    }

    /// Reads on the calling thread, past the cache of the operating system if possible.
    ///
    /// # Errors
    /// The errors of [`NamedFile::read_blocks_at`].
    pub fn read(self) -> Result<FilledBuffer, FileError> {
        match self.is_cached {
            true => self.file.read_cached_at(self.buffer, self.offset, self.bytes),
            false => self.file.read_blocks_at(self.buffer, self.offset, self.bytes),
        }
    }
}

/// The outcome of a request.
type Outcome = Result<FilledBuffer, FileError>;

/// A pool of threads that read. The first use starts them; they end when the pool is dropped.
#[derive(Debug)]
pub struct ReadPool {
    threads: usize,
    owner: OwnerProcess,
    workers: OnceLock<Workers>,
}

impl Default for ReadPool {
    fn default() -> Self {
        ReadPool::new()
    }
}

impl ReadPool {
    /// Makes a pool of 16 threads.
    pub fn new() -> ReadPool {
        ReadPool::with_threads(THREADS)
    }

    /// Makes a pool of `threads` threads, which help the caller. With 0 the caller does one read after
    /// another.
    pub fn with_threads(threads: usize) -> ReadPool {
        ReadPool { threads, owner: OwnerProcess::current(), workers: OnceLock::new() }
    }

    /// Reads all places, several at a time, and blocks until all are done. The outcomes are in the order of
    /// the requests; a failed read has no effect on the others. The caller reads alone if at most one read is
    /// expected to miss the cache. Takes no memory for bytes except the buffers.
    ///
    /// Several threads may call it; then the threads of the pool help one call after another.
    ///
    /// # Panics
    /// If a read panics, after all other reads are done.
    pub fn read_many(&self, requests: Vec<ReadRequest>) -> Vec<Outcome> {
        let from_disk = requests.iter().filter(|request| !request.is_cached).count();
        if from_disk < 2 || self.threads == 0 || !self.owner.is_current_by_id() {
            return requests.into_iter().map(ReadRequest::read).collect();
        }
        let helpers = self.threads.min(requests.len() - 1);
        let batch = Arc::new(Batch::new(requests));
        let workers = self.workers.get_or_init(|| Workers::start(self.threads));
        workers.shared.call(&batch, helpers);
        batch.work();
        workers.shared.dismiss(&batch);
        batch.wait()
    }
}

impl Drop for ReadPool {
    fn drop(&mut self) {
        let Some(workers) = self.workers.take() else { return };
        if self.owner.is_current_by_id() {
            workers.stop();
        } else {
            mem::forget(workers); // R3
        }
    }
}

#[derive(Debug)]
struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts up to `threads` threads, until one cannot be started.
    fn start(threads: usize) -> Workers {
        let shared = Arc::new(Shared::default());
        let start = |_| {
            let shared = shared.clone();
            std::thread::Builder::new().name("hedgerow-read".to_owned()).spawn(move || shared.serve()).ok()
        };
        let threads = (0..threads).map_while(start).collect();
        Workers { shared, threads }
    }

    fn stop(self) {
        self.shared.queue().is_closed = true;
        self.shared.called.notify_all();
        for thread in self.threads {
            // No thread of the pool panics.
            let _ = thread.join();
        }
    }
}

/// The state that the threads of a pool share.
#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Signals a new batch, or that the pool is dropped.
    called: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    batches: VecDeque<Arc<Batch>>,
    is_closed: bool,
}

impl Shared {
    /// Works on batches until the pool is dropped: the body of a thread of the pool.
    fn serve(&self) {
        let mut queue = self.queue();
        loop {
            match queue.batches.front().cloned() {
                Some(batch) => {
                    drop(queue);
                    batch.work();
                    queue = self.queue();
                    // All requests of the batch are taken.
                    queue.batches.retain(|other| !Arc::ptr_eq(other, &batch));
                }
                None if queue.is_closed => return,
                None => queue = self.called.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Makes up to `helpers` free threads work on a batch.
    fn call(&self, batch: &Arc<Batch>, helpers: usize) {
        self.queue().batches.push_back(batch.clone());
        for _ in 0..helpers {
            self.called.notify_one();
        }
    }

    /// Removes a batch from the queue, so that no other thread begins to work on it.
    fn dismiss(&self, batch: &Arc<Batch>) {
        self.queue().batches.retain(|other| !Arc::ptr_eq(other, batch));
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reads of one call.
#[derive(Debug)]
struct Batch {
    state: Mutex<BatchState>,
    /// Signals that all outcomes are stored.
    ended: Condvar,
}

#[derive(Debug)]
struct BatchState {
    waiting: std::iter::Enumerate<std::vec::IntoIter<ReadRequest>>,
    under_way: usize,
    /// The outcomes, by the position of the request.
    outcomes: Vec<Option<Outcome>>,
    /// The payload of the first read that panicked.
    panic: Option<Box<dyn Any + Send>>,
}

impl Batch {
    fn new(requests: Vec<ReadRequest>) -> Batch {
        let outcomes = requests.iter().map(|_| None).collect();
        let waiting = requests.into_iter().enumerate();
        let state = BatchState { waiting, under_way: 0, outcomes, panic: None };
        Batch { state: Mutex::new(state), ended: Condvar::new() }
    }

    /// Takes requests and reads until no request is left.
    fn work(&self) {
        let mut state = self.state();
        while let Some((at, request)) = state.waiting.next() {
            state.under_way += 1;
            drop(state);
            let outcome = catch_unwind(AssertUnwindSafe(|| request.read()));
            state = self.state();
            state.under_way -= 1;
            match outcome {
                Ok(outcome) => state.outcomes[at] = Some(outcome),
                Err(panic) => _ = state.panic.get_or_insert(panic),
            }
        }
        if state.under_way == 0 {
            self.ended.notify_one();
        }
    }

    /// Waits for the reads that other threads have begun, and returns all outcomes. All requests must be
    /// taken.
    fn wait(&self) -> Vec<Outcome> {
        let under_way = |state: &mut BatchState| state.under_way > 0;
        let mut state =
            self.ended.wait_while(self.state(), under_way).unwrap_or_else(PoisonError::into_inner);
        if let Some(panic) = state.panic.take() {
            drop(state);
            resume_unwind(panic);
        }
        let outcomes = mem::take(&mut state.outcomes);
        drop(state);
        outcomes.into_iter().flatten().collect()
    }

    fn state(&self) -> MutexGuard<'_, BatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
