//! The operating system's file system.
//!
//! Names are opened relative to a handle of the directory, never through a path, so that a renamed or
//! replaced directory cannot redirect them. Links and special files are refused. Every descriptor is a
//! [`Descriptor`]: a forked child closes it.
// The engine's only use of `std::fs`: everything else goes through `Vfs`.
#![allow(clippy::disallowed_methods, reason = "this is the one implementation on real files")]

use std::fs::{DirBuilder, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::fork::{self, Descriptor};
use rustix::fs::{AtFlags, Mode, OFlags, RawMode};
use rustix::io::Errno;
use rustix::process::Pid;

use crate::vfs::{Access, LockHeld, LockHolder, Vfs, VfsFile, VfsLock};

mod file;
mod held;

use file::RealFile;
use held::{Held, Sharing};

/// The permissions of new files, unless [`with_mode`](RealFs::with_mode) sets other ones.
pub const FILE_MODE: u32 = 0o600;
/// The permissions that a store's file may have: to read and to write, but not to execute.
const READ_WRITE: u32 = 0o666;

/// A directory of the operating system.
#[derive(Debug)]
pub struct RealFs {
    path: PathBuf,
    dir: Descriptor<File>,
    /// The permissions of new files.
    mode: u32,
}

/// Returns the permissions of a directory whose files have `mode`: those who may read the files may enter it.
fn mode_of_dir(mode: u32) -> u32 {
    mode | (mode & 0o444) >> 2
}

impl RealFs {
    /// Opens an existing directory.
    ///
    /// # Errors
    /// If it does not exist, is no directory, or may not be read.
    pub fn open_dir(path: impl AsRef<Path>) -> io::Result<RealFs> {
        let path = path.as_ref();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = Descriptor::open(|| rustix::fs::open(path, flags, Mode::empty()).map(File::from))?;
        Ok(RealFs { path: path.to_owned(), dir, mode: FILE_MODE })
    }

    /// Creates a directory that only its owner may use, makes its entry durable, and opens it. The parent
    /// must exist.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`], and the errors of the operating system.
    pub fn create_dir(path: impl AsRef<Path>) -> io::Result<RealFs> {
        RealFs::create_dir_with(path, FILE_MODE)
    }

    /// Creates a directory like [`create_dir`](Self::create_dir), but for files with the permissions `mode`,
    /// with any umask. Those who may read the files may enter it, and those who may write them may make files
    /// in it. New files get these permissions too.
    ///
    /// # Errors
    /// The errors of [`create_dir`](Self::create_dir).
    pub fn create_dir_with(path: impl AsRef<Path>, mode: u32) -> io::Result<RealFs> {
        let path = path.as_ref();
        DirBuilder::new().mode(mode_of_dir(mode)).create(path)?;
        let fs = RealFs::open_dir(path)?.with_mode(mode);
        if mode != FILE_MODE {
            fs.dir.set_permissions(Permissions::from_mode(mode_of_dir(mode)))?;
        }
        RealFs::sync_entry(path)?;
        Ok(fs)
    }

    /// Sets the permissions of new files, with any umask.
    pub fn with_mode(mut self, mode: u32) -> RealFs {
        self.mode = mode;
        self
    }

    /// Returns the read and write permissions of a file, always with the owner's permissions; `None` if the
    /// file does not exist.
    ///
    /// # Errors
    /// The errors of the operating system.
    pub fn mode_of(&self, name: &str) -> io::Result<Option<u32>> {
        match self.open_file(name, OFlags::RDONLY, 0) {
            Ok(file) => Ok(Some(file.metadata()?.mode() & READ_WRITE | FILE_MODE)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates a file that must not exist.
    fn create_file(&self, name: &str) -> io::Result<Descriptor<File>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let file = self.open_file(name, flags, self.mode)?;
        // The umask may have removed permissions that other users of the store need.
        if self.mode != FILE_MODE {
            file.set_permissions(Permissions::from_mode(self.mode))?;
        }
        Ok(file)
    }

    /// Makes the entry of the directory `path` in its parent durable. Blocks for a sync.
    ///
    /// # Errors
    /// If the parent cannot be opened or synced.
    pub fn sync_entry(path: impl AsRef<Path>) -> io::Result<()> {
        let parent = match path.as_ref().parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        RealFs::open_dir(parent)?.sync_dir()
    }

    fn open_file(&self, name: &str, flags: OFlags, mode: u32) -> io::Result<Descriptor<File>> {
        check_name(name)?;
        let mode = Mode::from_raw_mode(mode as RawMode);
        // Without NONBLOCK, opening a pipe would wait for its other end.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let open = || rustix::io::retry_on_intr(|| rustix::fs::openat(&*self.dir, name, flags, mode));
        let file = Descriptor::open(|| open().map(File::from))?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(file)
    }
}

fn check_name(name: &str) -> io::Result<()> {
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file name"));
    }
    Ok(())
}

impl Vfs for RealFs {
    fn path(&self) -> &Path {
        &self.path
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn VfsFile>> {
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::ReadWrite => OFlags::RDWR,
        };
        Ok(Arc::new(RealFile::new(self.open_file(name, flags, 0)?)))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn VfsFile>> {
        Ok(Arc::new(RealFile::new(self.create_file(name)?)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        check_name(from)?;
        check_name(to)?;
        Ok(rustix::fs::renameat(&*self.dir, from, &*self.dir, to)?)
    }

    fn unlink(&self, name: &str) -> io::Result<()> {
        check_name(name)?;
        Ok(rustix::fs::unlinkat(&*self.dir, name, AtFlags::empty())?)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        // Reading the directory opens and closes a descriptor in this section.
        let _whole = fork::hold_off();
        for entry in rustix::fs::Dir::read_from(&*self.dir)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            if name != "." && name != ".." {
                names.push(name.into_owned());
            }
        }
        Ok(names)
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.dir.sync_all()
    }

    fn lock(&self, name: &str) -> io::Result<Box<dyn VfsLock>> {
        let file = match self.create_file(name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.open_file(name, OFlags::RDWR, 0)?
            }
            made => made?,
        };
        hold(file, Sharing::Alone)
    }

    fn lock_existing(&self, name: &str) -> io::Result<Option<Box<dyn VfsLock>>> {
        match self.open_file(name, OFlags::RDONLY, 0) {
            Ok(file) => hold(file, Sharing::Shared).map(Some),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn contains(&self, path: &Path) -> io::Result<bool> {
        let own = self.dir.metadata()?;
        let mut path = std::path::absolute(path)?;
        // If the path does not exist, its longest existing ancestor is used.
        let real = loop {
            match path.canonicalize() {
                Ok(real) => break real,
                Err(e) if e.kind() == io::ErrorKind::NotFound && path.pop() => {}
                Err(e) => return Err(e),
            }
        };
        // Compares identities, not names: the store may have been opened under another name, or moved after
        // the opening.
        let is_own = |dir: &Path| {
            dir.metadata().is_ok_and(|found| (found.dev(), found.ino()) == (own.dev(), own.ino()))
        };
        Ok(real.ancestors().any(is_own))
    }
}

/// The number of attempts to get the lock of a process that has ended, and the pause between two attempts.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(4);

/// Locks an open lock file. A process that has it alone writes its id into the file, for the error of openers
/// that are refused.
fn hold(file: Descriptor<File>, sharing: Sharing) -> io::Result<Box<dyn VfsLock>> {
    let held = Held::enter(&file, sharing)?;
    for tries in 1.. {
        if is_locked(match sharing {
            Sharing::Alone => file.try_lock(),
            Sharing::Shared => file.try_lock_shared(),
        })? {
            break;
        }
        if sharing == Sharing::Alone && is_locked(file.try_lock_shared())? {
            // The other holders are readers, which share the lock. They may have released it meanwhile.
            if is_locked(file.try_lock())? {
                break;
            }
            let _ = file.unlock();
            return Err(LockHeld(LockHolder::Readers).into());
        }
        match signer(&file) {
            Some(process) if lives(process) => {
                let id = process.as_raw_nonzero().get().unsigned_abs();
                return Err(LockHeld(LockHolder::Process(id)).into());
            }
            // The process has ended. A child that it had just forked releases the lock as soon as the child
            // runs.
            Some(_) if tries < TRIES => std::thread::sleep(PAUSE),
            _ => return Err(LockHeld(LockHolder::Unknown).into()),
        }
    }
    let signed = sharing == Sharing::Alone && sign_lock(&file).is_ok();
    Ok(Box::new(RealLock { file, held, signed }))
}

/// True if an attempt to lock took the lock.
fn is_locked(tried: Result<(), TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Writes the id of this process into a lock file. It need not be durable: a crash releases the lock, too.
fn sign_lock(file: &File) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all_at(format!("{}\n", std::process::id()).as_bytes(), 0)
}

/// Returns the process whose id is in a lock file. A process that opened the store for reading writes no id.
/// The id of an earlier process is returned only if that process is still alive.
fn signer(file: &File) -> Option<Pid> {
    let mut text = [0; 16];
    let read = file.read_at(&mut text, 0).ok()?;
    let line = std::str::from_utf8(&text[..read]).ok()?.strip_suffix('\n')?;
    let id = line.bytes().all(|b| b.is_ascii_digit()).then(|| line.parse().ok())??;
    Pid::from_raw(id)
}

fn lives(process: Pid) -> bool {
    rustix::process::test_kill_process(process) != Err(Errno::SRCH)
}

// The fields are dropped after `drop` ran, the file first: its lock must be released before the registry
// admits another opener.
#[derive(Debug)]
struct RealLock {
    file: Descriptor<File>,
    held: Held,
    signed: bool,
}

impl Drop for RealLock {
    fn drop(&mut self) {
        // The lock belongs to the open file. Children that were made without the C library share the open
        // file, so that closing it would leave it locked while one of them lives. And such a child must not
        // release the lock of its parent.
        if self.held.is_own() {
            if self.signed {
                let _ = self.file.set_len(0);
            }
            let _ = self.file.unlock();
        }
    }
}

impl VfsLock for RealLock {}

#[cfg(test)]
mod tests;
