//! A disk with a gate: while the gate is closed, the syncs of the log, or the reads of segments, wait. In
//! another mode, the reads of segments call a function first.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use hedgerow::io::{Access, Vfs, VfsFile, VfsLock};
use hedgerow_testkit::FOR_EVER;

/// The gate of a [`GatedFs`].
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    closed: bool,
    /// The number of operations that wait at the gate.
    waiting: usize,
}

impl Gate {
    pub(crate) fn close(&self) {
        self.set(true);
    }

    pub(crate) fn open(&self) {
        self.set(false);
    }

    /// Waits until an operation waits at the closed gate; returns whether one does.
    pub(crate) fn is_waited_at(&self) -> bool {
        let waited = self.changed.wait_timeout_while(self.state(), FOR_EVER, |state| state.waiting == 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.waiting > 0
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, closed: bool) {
        self.state().closed = closed;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let mut state = self.state();
        if state.closed {
            state.waiting += 1;
            self.changed.notify_all();
            let passes = self.changed.wait_while(state, |state| state.closed);
            passes.unwrap_or_else(PoisonError::into_inner).waiting -= 1;
        }
    }
}

/// The kind of operation that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gated {
    LogSyncs,
    SegmentReads,
}

/// The step before an operation: a gate or a function call.
#[derive(Clone)]
enum Before {
    Gate(Arc<Gate>),
    Call(Arc<dyn Fn() + Send + Sync>),
}

thread_local!(static IS_CALLED: Cell<bool> = const { Cell::new(false) });

impl Before {
    /// Waits for the gate, or calls the function. Does nothing if the function itself makes the read.
    fn pass(&self) {
        match self {
            Before::Gate(gate) => gate.pass(),
            Before::Call(f) => {
                if !IS_CALLED.replace(true) {
                    f();
                    IS_CALLED.set(false);
                }
            }
        }
    }
}

impl fmt::Debug for Before {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Before::Gate(_)) { "Gate" } else { "Call" })
    }
}

/// A wrapper of another disk that puts a gate or a call before some operations.
#[derive(Debug)]
struct GatedFs {
    inner: Arc<dyn Vfs>,
    before: Before,
    gated: Gated,
}

/// Puts an open gate before the syncs of the log on `inner`.
pub(crate) fn gated(inner: Arc<dyn Vfs>) -> (Arc<dyn Vfs>, Arc<Gate>) {
    with_gate(inner, Gated::LogSyncs)
}

/// Puts an open gate before the reads of segments on `inner`.
pub(crate) fn with_gated_reads(inner: Arc<dyn Vfs>) -> (Arc<dyn Vfs>, Arc<Gate>) {
    with_gate(inner, Gated::SegmentReads)
}

/// Calls a function before each read of a segment on `inner`, on the thread that reads. The reads of the
/// function itself do not call it.
pub(crate) fn with_calling_reads(inner: Arc<dyn Vfs>, f: impl Fn() + Send + Sync + 'static) -> Arc<dyn Vfs> {
    Arc::new(GatedFs { inner, before: Before::Call(Arc::new(f)), gated: Gated::SegmentReads })
}

fn with_gate(inner: Arc<dyn Vfs>, gated: Gated) -> (Arc<dyn Vfs>, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    (Arc::new(GatedFs { inner, before: Before::Gate(gate.clone()), gated }), gate)
}

impl GatedFs {
    fn file(&self, name: &str, inner: Arc<dyn VfsFile>) -> Arc<dyn VfsFile> {
        let before = |gated, suffix: &str| {
            (self.gated == gated && name.ends_with(suffix)).then(|| self.before.clone())
        };
        let (syncs, reads) = (before(Gated::LogSyncs, ".wal"), before(Gated::SegmentReads, ".csr"));
        Arc::new(GatedFile { inner, syncs, reads })
    }
}

#[derive(Debug)]
struct GatedFile {
    inner: Arc<dyn VfsFile>,
    syncs: Option<Before>,
    reads: Option<Before>,
}

fn pass(before: &Option<Before>) {
    before.iter().for_each(Before::pass);
}

impl Vfs for GatedFs {
    fn path(&self) -> &Path {
        self.inner.path()
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn VfsFile>> {
        Ok(self.file(name, self.inner.open(name, access)?))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn VfsFile>> {
        Ok(self.file(name, self.inner.create(name)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn unlink(&self, name: &str) -> io::Result<()> {
        self.inner.unlink(name)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.inner.list()
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.inner.sync_dir()
    }

    fn lock(&self, name: &str) -> io::Result<Box<dyn VfsLock>> {
        self.inner.lock(name)
    }

    fn lock_existing(&self, name: &str) -> io::Result<Option<Box<dyn VfsLock>>> {
        self.inner.lock_existing(name)
    }
}

impl VfsFile for GatedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        pass(&self.reads);
        self.inner.read_at(buf, offset)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        self.inner.write_at(buf, offset)
    }

    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.inner.allocate(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        pass(&self.syncs);
        self.inner.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        pass(&self.syncs);
        self.inner.sync_all()
    }
}
