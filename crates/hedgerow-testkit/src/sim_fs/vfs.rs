//! The simulated directory as a [`Vfs`].

use std::io;
use std::path::Path;
use std::sync::Arc;

use hedgerow_io::{Access, LockHeld, LockHolder, Vfs, VfsFile, VfsLock};

use super::SimFs;
use super::file::SimFile;
use super::state::Locked;

/// Returns the kind of a file, for sites: its extension, or its lower-case name.
fn kind_of(name: &str) -> Arc<str> {
    Arc::from(name.rsplit_once('.').map_or(name, |(_, extension)| extension).to_ascii_lowercase())
}

impl Vfs for SimFs {
    fn path(&self) -> &Path {
        &self.shared.path
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn VfsFile>> {
        let kind = kind_of(name);
        self.reading("open", &kind)?;
        let inode = self.shared.state.lock().lookup(name)?;
        Ok(Arc::new(SimFile { fs: self.clone(), inode, kind, writable: access == Access::ReadWrite }))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn VfsFile>> {
        let kind = kind_of(name);
        self.operation("create", &kind, |fs, step| {
            step.check()?;
            let inode = fs.shared.state.lock().create(name)?;
            Ok(Arc::new(SimFile { fs: fs.clone(), inode, kind: Arc::clone(&kind), writable: true })
                as Arc<dyn VfsFile>)
        })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.operation("rename", &kind_of(to), |fs, step| {
            step.check()?;
            fs.shared.state.lock().rename(from, to)
        })
    }

    fn unlink(&self, name: &str) -> io::Result<()> {
        self.operation("unlink", &kind_of(name), |fs, step| {
            step.check()?;
            fs.shared.state.lock().unlink(name)
        })
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.reading("list", "dir")?;
        Ok(self.shared.state.lock().names.keys().cloned().collect())
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.operation("sync_dir", "dir", |fs, step| {
            step.check()?;
            if fs.shared.faults.lock().ignore_sync_dir {
                return Ok(());
            }
            let upto = fs.shared.state.lock().sync_half_of_dir();
            step.inside();
            fs.shared.state.lock().sync_dir(upto);
            Ok(())
        })
    }

    fn lock(&self, name: &str) -> io::Result<Box<dyn VfsLock>> {
        if !self.shared.state.lock().names.contains_key(name) {
            self.create(name)?;
        }
        self.hold(name, Locked::Alone)
    }

    fn lock_existing(&self, name: &str) -> io::Result<Option<Box<dyn VfsLock>>> {
        if !self.shared.state.lock().names.contains_key(name) {
            return Ok(None);
        }
        self.hold(name, Locked::Shared(1)).map(Some)
    }
}

impl SimFs {
    fn hold(&self, name: &str, wanted: Locked) -> io::Result<Box<dyn VfsLock>> {
        let locks = &mut self.shared.state.lock().locks;
        match (locks.get_mut(name), wanted) {
            (None, wanted) => _ = locks.insert(name.to_owned(), wanted),
            (Some(Locked::Shared(readers)), Locked::Shared(_)) => *readers += 1,
            (Some(Locked::Shared(_)), Locked::Alone) => {
                return Err(LockHeld(LockHolder::ThisProcessReads).into());
            }
            (Some(Locked::Alone), _) => return Err(LockHeld(LockHolder::ThisProcess).into()),
        }
        Ok(Box::new(SimLock { fs: self.clone(), name: name.to_owned() }))
    }
}

#[derive(Debug)]
struct SimLock {
    fs: SimFs,
    name: String,
}

impl VfsLock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        let locks = &mut self.fs.shared.state.lock().locks;
        match locks.get_mut(&self.name) {
            Some(Locked::Shared(readers)) if *readers > 1 => *readers -= 1,
            _ => _ = locks.remove(&self.name),
        }
    }
}
