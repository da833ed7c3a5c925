//! A file system in memory that crashes on demand.
//!
//! [`SimFs`] keeps, for each file and for the directory, the durable content and the later changes. A *crash
//! clone* ([`SimFs::crash_clone`]) is an independent file system with the possible content of the disk after
//! a crash at this moment. It has lost, torn or garbled some of the unsynced changes, according to a
//! [`Damage`] mode and a seed. An observer sees every operation before, inside and after its effect, and can
//! take clones there. Faults make selected operations fail.
//!
//! The model is stricter than most disks. A synced file without a synced directory entry is gone. Unsynced
//! changes survive in any combination and order of sectors. The model grants only the assumptions of the
//! durability contract: synced data stays, a rename happens wholly or not at all, and a torn write damages no
//! other byte.
//!
//! The same calls with the same seeds give the same results: all randomness comes from a seed.

mod content;
mod crash;
mod event;
mod fault;
mod file;
mod rng;
mod state;
mod vfs;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow_io::Vfs;
use parking_lot::Mutex;

pub use crash::Damage;
pub use event::{OpEvent, OpIndex, Phase};
pub use fault::{Fault, FaultClass, Repeat, errno};
pub use rng::SplitMix64;

use content::Content;
use fault::Faults;
use state::State;

/// A function that runs at each phase of each operation. It may take crash clones, read counters and plan
/// faults. It must not set an observer, and must not use the file system itself.
pub type Observer = Box<dyn FnMut(&OpEvent, &SimFs) + Send>;

/// A file system in memory that can crash. A clone is another handle of the same file system.
#[derive(Clone)]
pub struct SimFs {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    state: Mutex<State>,
    faults: Mutex<Faults>,
    observer: Mutex<Option<Observer>>,
    observed: AtomicBool,
}

impl Default for SimFs {
    fn default() -> Self {
        SimFs::new()
    }
}

impl SimFs {
    /// Makes an empty directory.
    pub fn new() -> SimFs {
        SimFs::with_state(State::default())
    }

    /// Makes a directory with these files; all of them are durable.
    pub fn from_files(files: &BTreeMap<String, Vec<u8>>) -> SimFs {
        let fs = SimFs::new();
        for (name, bytes) in files {
            fs.put(name, bytes);
        }
        fs
    }

    fn with_state(state: State) -> SimFs {
        let shared = Shared {
            path: PathBuf::from("/simulated"),
            state: Mutex::new(state),
            faults: Mutex::default(),
            observer: Mutex::default(),
            observed: AtomicBool::new(false),
        };
        SimFs { shared: Arc::new(shared) }
    }

    /// Returns this file system as a trait object.
    pub fn handle(&self) -> Arc<dyn Vfs> {
        Arc::new(self.clone())
    }

    /// Returns an independent file system with the possible content of the disk after a crash now. All its
    /// content is durable. It has no locks, faults or observer, and counts its operations from 0. O(files +
    /// unsynced changes); both share the content until a write.
    pub fn crash_clone(&self, damage: Damage, seed: u64) -> SimFs {
        SimFs::with_state(crash::crash(&self.shared.state.lock(), damage, seed))
    }

    /// Calls `observer` at every phase of every later operation; `None` removes the observer.
    pub fn set_observer(&self, observer: Option<Observer>) {
        self.shared.observed.store(observer.is_some(), Ordering::Release);
        *self.shared.observer.lock() = observer;
    }

    /// Returns the operations that change or sync while `work` runs, with their sites, in the order of their
    /// starts. Replaces the observer.
    pub fn operations_of(&self, work: impl FnOnce()) -> Vec<(OpIndex, Arc<str>)> {
        let found = Arc::new(Mutex::new(Vec::new()));
        let to = found.clone();
        self.set_observer(Some(Box::new(move |event, _| {
            if event.phase == Phase::Before {
                to.lock().push((event.index, event.site.clone()));
            }
        })));
        work();
        self.set_observer(None);
        std::mem::take(&mut found.lock())
    }

    /// Plans the failure of an operation. Several faults may be planned.
    pub fn plan_fault(&self, fault: Fault) {
        self.shared.faults.lock().plan(fault);
    }

    /// Removes all planned faults.
    pub fn clear_faults(&self) {
        self.shared.faults.lock().clear();
    }

    /// Makes reads and writes transfer a random part of the possible bytes, at least one byte. `None` ends
    /// this.
    pub fn set_short_transfers(&self, seed: Option<u64>) {
        self.shared.faults.lock().short = seed.map(SplitMix64::new);
    }

    /// Limits the total length of all files. A write beyond the limit fails with `ENOSPC`.
    pub fn set_quota(&self, bytes: Option<u64>) {
        self.shared.faults.lock().quota = bytes;
    }

    /// Returns the total length of all files, as the quota counts it.
    pub fn used_bytes(&self) -> u64 {
        self.shared.state.lock().used_bytes()
    }

    /// Plants a fault: syncs of files return success and do nothing.
    pub fn ignore_sync_data(&self, ignore: bool) {
        self.shared.faults.lock().ignore_sync_data = ignore;
    }

    /// Makes files refuse, if `refuse` is true, to [take blocks](hedgerow_io::VfsFile::takes_blocks) and to
    /// [read past the cache](hedgerow_io::VfsFile::reads_past_cache), as some file systems do.
    pub fn refuse_blocks(&self, refuse: bool) {
        self.shared.faults.lock().refuse_blocks = refuse;
    }

    /// Plants a fault: syncs of the directory return success and do nothing.
    pub fn ignore_sync_dir(&self, ignore: bool) {
        self.shared.faults.lock().ignore_sync_dir = ignore;
    }

    /// Makes a failed sync of a file keep its unsynced changes for a later sync, if `keep` is true. It is off
    /// at first, as on Linux. There, programs can still read the changes and later syncs succeed, but the
    /// changes never reach the disk.
    pub fn keep_changes_of_failed_sync(&self, keep: bool) {
        self.shared.faults.lock().keep_changes_of_failed_sync = keep;
    }

    /// Returns the number of operations until now that change or sync.
    pub fn op_count(&self) -> u64 {
        self.shared.faults.lock().ops
    }

    /// Returns the number of operations until now that read.
    pub fn read_count(&self) -> u64 {
        self.shared.faults.lock().reads
    }

    /// Returns the number of operations at each site (operation and kind of file).
    pub fn sites(&self) -> BTreeMap<Arc<str>, u64> {
        self.shared.faults.lock().sites.clone()
    }

    /// Returns all files with the content that a running program sees.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.shared.state.lock();
        state.names.iter().map(|(name, &id)| (name.clone(), state.inode(id).now.to_vec())).collect()
    }

    /// Returns the content of a file that a running program sees.
    pub fn file(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.shared.state.lock();
        state.names.get(name).map(|&id| state.inode(id).now.to_vec())
    }

    /// Sets the durable content of a file without any operation. Open handles of a file with this name keep
    /// the old content; see [`overwrite`](SimFs::overwrite).
    pub fn put(&self, name: &str, bytes: &[u8]) {
        let mut content = Content::default();
        content.write(0, bytes);
        self.shared.state.lock().put(name, content);
    }

    /// Removes a file durably without any operation. Returns false if the file did not exist.
    pub fn remove(&self, name: &str) -> bool {
        self.shared.state.lock().remove(name)
    }

    /// Flips the bits of `mask` in one byte of a file, both in memory and on disk. Returns false if this byte
    /// does not exist.
    pub fn corrupt(&self, name: &str, offset: u64, mask: u8) -> bool {
        self.damage(name, |content| {
            let mut byte = [0];
            if content.read(offset, &mut byte) == 1 {
                content.write(offset, &[byte[0] ^ mask]);
            }
            content.len() > offset
        })
    }

    /// Cuts or extends a file, both in memory and on disk. Returns false if the file does not exist.
    pub fn truncate(&self, name: &str, len: u64) -> bool {
        self.damage(name, |content| {
            content.set_len(len);
            true
        })
    }

    /// Replaces the content of a file, both in memory and on disk, also for open handles. Returns false if
    /// the file does not exist.
    pub fn overwrite(&self, name: &str, bytes: &[u8]) -> bool {
        self.damage(name, |content| {
            content.set_len(0);
            content.write(0, bytes);
            true
        })
    }

    fn damage(&self, name: &str, mut f: impl FnMut(&mut Content) -> bool) -> bool {
        let mut state = self.shared.state.lock();
        let Some(&id) = state.names.get(name) else { return false };
        let inode = state.inode_mut(id);
        f(&mut inode.durable);
        f(&mut inode.now)
    }

    fn notify(&self, index: OpIndex, phase: Phase, site: &Arc<str>) {
        if self.shared.observed.load(Ordering::Acquire)
            && let Some(observer) = self.shared.observer.lock().as_mut()
        {
            observer(&OpEvent { index, phase, site: Arc::clone(site) }, self);
        }
    }

    /// Runs one operation that changes or syncs. Numbers it, notifies the observer, and makes it fail if a
    /// fault is planned.
    fn operation<T>(
        &self,
        op: &str,
        kind: &str,
        run: impl FnOnce(&SimFs, &Step<'_>) -> io::Result<T>,
    ) -> io::Result<T> {
        let (index, site) = self.shared.faults.lock().count_op(op, kind);
        self.notify(index, Phase::Before, &site);
        let error = self.shared.faults.lock().failure(FaultClass::Change, index.0, &site);
        let result = run(self, &Step { fs: self, index, site: &site, error });
        self.notify(index, Phase::After, &site);
        result
    }

    /// Counts one operation that reads. Fails if a fault is planned.
    fn reading(&self, op: &str, kind: &str) -> io::Result<()> {
        self.shared.faults.lock().count_read(op, kind)
    }
}

/// A running operation.
struct Step<'a> {
    fs: &'a SimFs,
    index: OpIndex,
    site: &'a Arc<str>,
    error: Option<i32>,
}

impl Step<'_> {
    fn inside(&self) {
        self.fs.notify(self.index, Phase::Inside, self.site);
    }

    /// Returns the planned failure, if there is one.
    fn check(&self) -> io::Result<()> {
        self.error.map_or(Ok(()), |errno| Err(io::Error::from_raw_os_error(errno)))
    }
}

impl fmt::Debug for SimFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.state.lock();
        f.debug_struct("SimFs").field("names", &state.names).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
