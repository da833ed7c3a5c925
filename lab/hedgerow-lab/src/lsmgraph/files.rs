//! The directory of the files, and the cache of their blocks in memory.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use hedgerow_core::VertexId;
use hedgerow_io::{Dir, FileError, IoError, NamedFile, RealFs};
use parking_lot::{Mutex, RwLock};
use tempfile::TempDir;

use crate::LabError;

/// The number of values of a column that are read at a time.
pub(super) const BLOCK: u32 = 1024;

/// A value in a column of a file.
pub(super) trait Word: Copy + Send + Sync {
    /// The number of bytes of a value.
    const BYTES: usize;
    /// Decodes a value from its bytes, the lowest byte first.
    fn decode(bytes: &[u8]) -> Self;
}

impl Word for VertexId {
    const BYTES: usize = 4;

    #[inline]
    fn decode(bytes: &[u8]) -> Self {
        VertexId(u32::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }
}

impl Word for u64 {
    const BYTES: usize = 8;

    #[inline]
    fn decode(bytes: &[u8]) -> Self {
        u64::from_le_bytes(bytes.try_into().unwrap_or_default())
    }
}

impl Word for f64 {
    const BYTES: usize = 8;

    #[inline]
    fn decode(bytes: &[u8]) -> Self {
        f64::from_le_bytes(bytes.try_into().unwrap_or_default())
    }
}

pub(super) fn failed(op: &'static str, error: &io::Error) -> LabError {
    LabError::Disk { op, kind: error.kind() }
}

pub(super) fn io_failed(error: &IoError) -> LabError {
    failed(error.op, &error.source)
}

/// Reads `count` values at `offset`.
pub(super) fn read<T: Word, C: FromIterator<T>>(
    file: &NamedFile,
    offset: u64,
    count: usize,
) -> Result<C, LabError> {
    let mut bytes = vec![0; count * T::BYTES];
    file.read_exact_at(&mut bytes, offset).map_err(|error| match error {
        FileError::Io(error) => io_failed(&error),
        _ => LabError::Disk { op: "read", kind: io::ErrorKind::UnexpectedEof },
    })?;
    Ok(bytes.chunks_exact(T::BYTES).map(T::decode).collect())
}

type Slot<T> = RwLock<Option<(u64, Arc<[T]>)>>;

/// A cache of blocks of one kind of column. A block has one possible slot, and replaces the block that is
/// there.
#[derive(Debug)]
pub(super) struct Cache<T> {
    slots: OnceLock<Box<[Slot<T>]>>,
    count: usize,
    bytes: AtomicUsize,
}

impl<T: Word> Cache<T> {
    fn new(bytes: usize) -> Cache<T> {
        Cache {
            slots: OnceLock::new(),
            count: bytes / (BLOCK as usize * T::BYTES),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Returns a block of a file. `load` reads the block if the cache does not contain it.
    #[inline]
    pub(super) fn get(
        &self,
        (file, block): (u32, u32),
        load: impl FnOnce() -> Result<Arc<[T]>, LabError>,
    ) -> Result<Arc<[T]>, LabError> {
        if self.count == 0 {
            return load();
        }
        let slots = self.slots.get_or_init(|| (0..self.count).map(|_| RwLock::default()).collect());
        // Blocks of one file are in neighbouring slots, so that they do not replace one another.
        let place = (file as usize).wrapping_mul(0x9e37_79b9) + block as usize;
        let slot = &slots[place % slots.len()];
        let key = u64::from(file) << 32 | u64::from(block);
        if let Some((found, block)) = &*slot.read()
            && *found == key
        {
            return Ok(block.clone());
        }
        let block = load()?;
        self.bytes.fetch_add(size_of_val(&*block), Ordering::Relaxed);
        if let Some((_, old)) = slot.write().replace((key, block.clone())) {
            self.bytes.fetch_sub(size_of_val(&*old), Ordering::Relaxed);
        }
        Ok(block)
    }

    fn clear(&self) {
        for slot in self.slots.get().into_iter().flatten() {
            if let Some((_, old)) = slot.write().take() {
                self.bytes.fetch_sub(size_of_val(&*old), Ordering::Relaxed);
            }
        }
    }

    fn bytes(&self) -> usize {
        let slots = self.slots.get().map_or(0, |slots| size_of_val(&**slots));
        slots + self.bytes.load(Ordering::Relaxed)
    }
}

/// A directory, which is removed with the last file in it.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) dir: Dir,
    _temporary: Option<TempDir>,
}

/// The files of a container.
#[derive(Debug)]
pub(super) struct Files {
    /// The directory, which is made for the first file.
    folder: Mutex<Option<Arc<Folder>>>,
    /// The parent of the directory. If `None`, this is the system's directory for temporary files.
    parent: Option<PathBuf>,
    next: AtomicU32,
    pub(super) disk_bytes: AtomicU64,
    pub(super) targets: Cache<VertexId>,
    pub(super) stamps: Cache<u64>,
    pub(super) weights: Cache<f64>,
}

impl Files {
    pub(super) fn new(parent: Option<PathBuf>, cache_bytes: usize) -> Files {
        Files {
            folder: Mutex::default(),
            parent,
            next: AtomicU32::new(0),
            disk_bytes: AtomicU64::new(0),
            targets: Cache::new(cache_bytes / 2),
            stamps: Cache::new(cache_bytes / 4),
            weights: Cache::new(cache_bytes / 4),
        }
    }

    /// Puts the files into `fs` instead of a new directory.
    #[cfg(test)]
    pub(super) fn set_fs(&self, fs: Arc<dyn hedgerow_io::Vfs>) {
        *self.folder.lock() = Some(Arc::new(Folder { dir: Dir::new(fs), _temporary: None }));
    }

    pub(super) fn folder(&self) -> Result<Arc<Folder>, LabError> {
        let mut folder = self.folder.lock();
        if let Some(folder) = &*folder {
            return Ok(folder.clone());
        }
        let parent = self.parent.clone().unwrap_or_else(std::env::temp_dir);
        let make = || -> io::Result<Folder> {
            let temporary = tempfile::Builder::new().prefix("lsmgraph-").tempdir_in(parent)?;
            let fs = Arc::new(RealFs::open_dir(temporary.path())?);
            Ok(Folder { dir: Dir::new(fs), _temporary: Some(temporary) })
        };
        let made = Arc::new(make().map_err(|error| failed("create directory", &error))?);
        Ok(folder.insert(made).clone())
    }

    /// Returns the number of the next file.
    pub(super) fn number(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Removes all blocks from the cache.
    pub(super) fn clear_cache(&self) {
        self.targets.clear();
        self.stamps.clear();
        self.weights.clear();
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.targets.bytes() + self.stamps.bytes() + self.weights.bytes()
    }
}
