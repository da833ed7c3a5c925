//! A directory in memory for unit tests: its files can be damaged, its operations are recorded and can fail.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hedgerow_io::{Access, Vfs, VfsFile, VfsLock};

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    operations: Vec<String>,
    fail_at: Option<usize>,
    error: Option<io::ErrorKind>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct MemFs {
    state: Arc<Mutex<State>>,
}

impl MemFs {
    pub(crate) fn vfs(&self) -> Arc<dyn Vfs> {
        Arc::new(self.clone())
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        self.lock_state().files[name].clone()
    }

    pub(crate) fn put(&self, name: &str, bytes: Vec<u8>) {
        self.lock_state().files.insert(name.to_owned(), bytes);
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.lock_state().files.keys().cloned().collect()
    }

    /// The changing operations so far.
    pub(crate) fn operations(&self) -> Vec<String> {
        self.lock_state().operations.clone()
    }

    /// From now on operation number `at` (counted from 0) and all after it fail.
    pub(crate) fn fail_from(&self, at: usize, error: io::ErrorKind) {
        let mut state = self.lock_state();
        state.operations.clear();
        state.fail_at = Some(at);
        state.error = Some(error);
    }

    pub(crate) fn heal(&self) {
        self.lock_state().fail_at = None;
    }

    fn change(&self, operation: String) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.lock_state();
        state.operations.push(operation);
        match state.fail_at {
            Some(at) if state.operations.len() > at => {
                Err(state.error.unwrap_or(io::ErrorKind::Other).into())
            }
            _ => Ok(state),
        }
    }

    fn file(&self, name: &str) -> Arc<dyn VfsFile> {
        Arc::new(MemFile { fs: self.clone(), name: name.to_owned() })
    }
}

impl Vfs for MemFs {
    fn path(&self) -> &Path {
        Path::new("memory")
    }

    fn open(&self, name: &str, _: Access) -> io::Result<Arc<dyn VfsFile>> {
        match self.lock_state().files.contains_key(name) {
            true => Ok(self.file(name)),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn VfsFile>> {
        let mut state = self.change(format!("create {name}"))?;
        if state.files.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.files.insert(name.to_owned(), Vec::new());
        Ok(self.file(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.change(format!("rename {from} {to}"))?;
        let bytes = state.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.files.insert(to.to_owned(), bytes);
        Ok(())
    }

    fn unlink(&self, name: &str) -> io::Result<()> {
        let mut state = self.change(format!("unlink {name}"))?;
        state.files.remove(name).map(|_| ()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.names())
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.change("sync dir".to_owned()).map(|_| ())
    }

    fn lock(&self, _: &str) -> io::Result<Box<dyn VfsLock>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn lock_existing(&self, _: &str) -> io::Result<Option<Box<dyn VfsLock>>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[derive(Debug)]
struct MemFile {
    fs: MemFs,
    name: String,
}

impl VfsFile for MemFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.fs.get(&self.name);
        let rest = bytes.get(offset as usize..).unwrap_or(&[]);
        let now = rest.len().min(buf.len());
        buf[..now].copy_from_slice(&rest[..now]);
        Ok(now)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        let mut state = self.fs.change(format!("write {}", self.name))?;
        let bytes = state.files.get_mut(&self.name).ok_or(io::ErrorKind::NotFound)?;
        let end = offset as usize + buf.len();
        bytes.resize(bytes.len().max(end), 0);
        bytes[offset as usize..end].copy_from_slice(buf);
        Ok(buf.len())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.fs.get(&self.name).len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.fs.change(format!("set_len {}", self.name))?;
        state.files.entry(self.name.clone()).or_default().resize(len as usize, 0);
        Ok(())
    }

    fn allocate(&self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.fs.change(format!("sync {}", self.name)).map(|_| ())
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync_data()
    }
}
