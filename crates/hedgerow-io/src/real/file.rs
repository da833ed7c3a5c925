//! An open file of the operating system, with transfers through its cache and past it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow_core::fork::Descriptor;
use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno;

use crate::blocks::{BLOCK_BYTES, are_blocks};
use crate::vfs::VfsFile;

static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

#[derive(Debug)]
pub(super) struct RealFile {
    file: Descriptor<File>,
    reading: Direct,
    writing: Direct,
}

/// A second descriptor of a file, for one kind of transfer past the cache of the operating system. It is
/// opened at the first use.
#[derive(Debug)]
struct Direct {
    access: OFlags,
    file: OnceLock<Option<Descriptor<File>>>,
    /// True if the file system refused such a transfer.
    refused: AtomicBool,
}

impl Direct {
    fn new(access: OFlags) -> Direct {
        Direct { access, file: OnceLock::new(), refused: AtomicBool::new(false) }
    }

    /// Returns the descriptor past the cache; `None` if the file system has none.
    fn of(&self, file: &File) -> Option<&File> {
        if self.refused.load(Ordering::Relaxed) {
            return None;
        }
        self.file.get_or_init(|| reopen_direct(file, self.access)).as_deref()
    }

    /// Makes the next transfers go through the cache.
    fn refuse(&self) {
        self.refused.store(true, Ordering::Relaxed);
    }
}

/// Opens the file again for transfers past the cache: through the handle, because the name may belong to
/// another file by now. If that fails, transfers go through the cache.
#[cfg(target_os = "linux")]
fn reopen_direct(file: &File, access: OFlags) -> Option<Descriptor<File>> {
    use std::os::fd::AsRawFd;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let flags = access | OFlags::DIRECT | OFlags::CLOEXEC;
    Descriptor::open(|| rustix::fs::open(path, flags, rustix::fs::Mode::empty()).map(File::from)).ok()
}

#[cfg(not(target_os = "linux"))]
fn reopen_direct(_: &File, _: OFlags) -> Option<Descriptor<File>> {
    None
}

/// True for the error of a file system that supports no transfers past the cache, or requires larger blocks.
fn is_refusal(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::INVAL.raw_os_error())
}

impl RealFile {
    pub(super) fn new(file: Descriptor<File>) -> RealFile {
        RealFile { file, reading: Direct::new(OFlags::RDONLY), writing: Direct::new(OFlags::WRONLY) }
    }

    /// Writes zeros behind the present end, for a file system that cannot reserve space.
    pub(super) fn fill_with_zeros(&self, len: u64) -> io::Result<()> {
        let mut at = self.file.metadata()?.len();
        while at < len {
            let n = (len - at).min(ZEROS.len() as u64);
            match self.file.write_at(&ZEROS[..n as usize], at) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => at += written as u64,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Returns the number of usable bytes of a read past the cache that ended inside a block. At the end of
    /// the file these are all bytes, else the whole blocks. `None` if the read has no whole block.
    fn whole_blocks(&self, read: usize, offset: u64) -> io::Result<Option<usize>> {
        if offset.saturating_add(read as u64) >= self.len()? {
            return Ok(Some(read));
        }
        let whole = read - read % BLOCK_BYTES;
        if whole == 0 {
            self.reading.refuse();
        }
        Ok(Some(whole).filter(|&whole| whole > 0))
    }
}

impl VfsFile for RealFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buf, offset)
    }

    fn reads_past_cache(&self) -> bool {
        self.reading.of(&self.file).is_some()
    }

    fn read_blocks_at(&self, blocks: &mut [u8], offset: u64) -> io::Result<Option<usize>> {
        // The system would also refuse unaligned memory and positions, which would look like a refusal of all
        // transfers.
        if !are_blocks(blocks, offset) || offset > i64::MAX as u64 {
            return Ok(None);
        }
        let Some(direct) = self.reading.of(&self.file) else { return Ok(None) };
        match direct.read_at(blocks, offset) {
            Ok(read) if read % BLOCK_BYTES == 0 => Ok(Some(read)),
            Ok(read) => self.whole_blocks(read, offset),
            Err(e) if is_refusal(&e) => {
                self.reading.refuse();
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        self.file.write_at(buf, offset)
    }

    fn takes_blocks(&self) -> bool {
        self.writing.of(&self.file).is_some()
    }

    fn write_blocks_at(&self, blocks: &[u8], offset: u64) -> io::Result<bool> {
        let Some(direct) = self.writing.of(&self.file) else { return Ok(false) };
        let mut written = 0;
        while written < blocks.len() {
            match direct.write_at(&blocks[written..], offset.saturating_add(written as u64)) {
                Ok(n) if n > 0 && n % BLOCK_BYTES == 0 => written += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if !is_refusal(&e) => return Err(e),
                // The file system requires larger blocks, or supports no such transfers.
                _ => {
                    self.writing.refuse();
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        let flags = FallocateFlags::empty();
        match rustix::io::retry_on_intr(|| rustix::fs::fallocate(&*self.file, flags, 0, len)) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.fill_with_zeros(len),
            done => Ok(done?),
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}
