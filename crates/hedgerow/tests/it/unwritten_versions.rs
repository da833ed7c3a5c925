//! A disk with room for checkpoints and without room for page versions. If memory has no room for a commit,
//! the commit returns that the disk is full. Snapshots keep their state, and the same store goes on when the
//! disk has space.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use hedgerow::io::{Access, Vfs, VfsFile, VfsLock};
use hedgerow::{CommitError, Direction, Durability, Error, Graph, KeyKind, LEAST_MEMORY_LIMIT, Options};
use hedgerow_testkit::sim_fs::errno::ENOSPC;
use hedgerow_testkit::{SimFs, wait_until};

/// A wrapper of another disk. While `full` is set, the first new segment after a manifest finds no space: the
/// segment of a page version. The next checkpoint first begins a log segment, and then its own segment.
#[derive(Debug)]
struct NoRoomForVersions {
    inner: Arc<dyn Vfs>,
    full: Arc<AtomicBool>,
    checkpoint_ended: AtomicBool,
}

impl Vfs for NoRoomForVersions {
    fn path(&self) -> &Path {
        self.inner.path()
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn VfsFile>> {
        self.inner.open(name, access)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn VfsFile>> {
        if name.ends_with(".wal") {
            self.checkpoint_ended.store(false, SeqCst);
        }
        if name.ends_with(".csr") && self.checkpoint_ended.swap(false, SeqCst) && self.full.load(SeqCst) {
            return Err(io::Error::from_raw_os_error(ENOSPC));
        }
        self.inner.create(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.checkpoint_ended.store(true, SeqCst);
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

const VERTICES: u64 = 1 << 14;
const BATCH: u64 = 2_000;

/// Inserts the edges number `turn` of all vertices, in batches. Returns the number of new edges, and the
/// error that ended the call early, if any.
fn insert(graph: &Graph, turn: u64) -> (u64, Option<Error>) {
    let mut new = 0;
    for from in (0..VERTICES).step_by(BATCH as usize) {
        let edges: Vec<_> =
            (from..VERTICES.min(from + BATCH)).map(|v| (v, (v + turn * 97) % VERTICES)).collect();
        match graph.insert_edges(&edges) {
            Ok(count) => new += count,
            Err(error) => return (new, Some(error)),
        }
    }
    (new, None)
}

#[test]
fn where_page_versions_find_no_space_commits_say_so_and_go_on_with_new_space() {
    let (disk, full) = (SimFs::new(), Arc::new(AtomicBool::new(false)));
    let checkpoint_ended = AtomicBool::new(false);
    let fs = NoRoomForVersions { inner: disk.handle(), full: full.clone(), checkpoint_ended };
    let options = Options::new().keys(KeyKind::Dense).durability(Durability::Manual);
    let graph = options.memory_limit(LEAST_MEMORY_LIMIT).open_on(Arc::new(fs)).unwrap();
    let (mut edges, mut turn) = (0, 1);
    while edges < 20 * VERTICES {
        let (new, error) = insert(&graph, turn);
        assert!(error.is_none(), "{error:?}");
        (edges, turn) = (edges + new, turn + 1);
    }
    let held = graph.snapshot().unwrap();
    let seen = |snapshot: &hedgerow::Snapshot| -> usize {
        (0..VERTICES).step_by(61).map(|v| snapshot.degree(v, Direction::Out).unwrap().unwrap()).sum()
    };
    let (edges_of_held, before) = (edges, seen(&held));
    full.store(true, SeqCst);
    // The open snapshot keeps the old version of each list, in addition to its new version.
    let error = loop {
        let (new, error) = insert(&graph, turn);
        (edges, turn) = (edges + new, turn + 1);
        if let Some(error) = error {
            break error;
        }
        assert!(turn < 400, "{:?}", graph.stats());
    };
    let stats = graph.stats().unwrap();
    // No checkpoint failed: the page versions for the snapshot found no space.
    assert!(stats.failed_checkpoints == 0 && graph.checkpoint_error().is_none(), "{stats:?}");
    assert!(matches!(error, Error::Commit(CommitError::DiskFull)), "{error:?}");
    assert!(stats.memory_bytes() <= LEAST_MEMORY_LIMIT, "{stats:?}");
    assert_eq!((seen(&held), held.edge_count().unwrap()), (before, edges_of_held));
    full.store(false, SeqCst);
    // The current checkpoint may already have found no space. For a short time after it no commit requests
    // another one. So the second checkpoint from now on finds space.
    let ended = || graph.stats().unwrap().background_checkpoints;
    let enough = ended() + 2;
    wait_until("a checkpoint with new space", || {
        let (new, error) = insert(&graph, turn);
        assert!(matches!(error, None | Some(Error::Commit(CommitError::DiskFull))), "{error:?}");
        (edges, turn) = (edges + new, turn + 1);
        ended() >= enough
    });
    for _ in 0..8 {
        let (new, error) = insert(&graph, turn);
        assert!(error.is_none(), "with new space: {error:?}, {:?}", graph.stats());
        (edges, turn) = (edges + new, turn + 1);
    }
    assert_eq!((seen(&held), held.edge_count().unwrap()), (before, edges_of_held));
    drop(held);
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), edges);
    assert!(graph.check().unwrap().is_ok());
    graph.close().unwrap();
    let graph = Options::new().open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), edges);
}
