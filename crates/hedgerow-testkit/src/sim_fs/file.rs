//! Open files of the simulated file system.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hedgerow_io::{BLOCK_BYTES, VfsFile, are_blocks};

use super::state::{FileOp, InodeId};
use super::{SimFs, Step, errno};

/// An open file.
pub(super) struct SimFile {
    pub(super) fs: SimFs,
    pub(super) inode: InodeId,
    pub(super) kind: Arc<str>,
    pub(super) writable: bool,
}

impl fmt::Debug for SimFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimFile({:?}, {})", self.inode, self.kind)
    }
}

impl SimFile {
    fn check_writable(&self) -> io::Result<()> {
        if self.writable { Ok(()) } else { Err(io::Error::from_raw_os_error(errno::EBADF)) }
    }

    /// Returns the length that the file may reach within the quota, at most `end`.
    fn within_quota(&self, end: u64) -> u64 {
        let Some(quota) = self.fs.shared.faults.lock().quota else { return end };
        let state = self.fs.shared.state.lock();
        let len = state.inode(self.inode).now.len();
        end.min(len + quota.saturating_sub(state.used_bytes()))
    }

    fn resize(&self, op: FileOp, end: u64, step: &Step<'_>) -> io::Result<()> {
        step.check()?;
        if self.within_quota(end) < end {
            return Err(io::Error::from_raw_os_error(errno::ENOSPC));
        }
        self.fs.shared.state.lock().change(self.inode, op);
        Ok(())
    }

    fn write_part(&self, buf: &[u8], offset: u64, step: &Step<'_>) -> io::Result<usize> {
        let end = self.within_quota(offset + buf.len() as u64);
        let mut n = end.saturating_sub(offset).min(buf.len() as u64) as usize;
        if n == 0 && !buf.is_empty() {
            return Err(io::Error::from_raw_os_error(errno::ENOSPC));
        }
        n = self.fs.shared.faults.lock().shorten(n);
        let half = n / 2;
        let change = |from: usize, to: usize| FileOp::Write {
            offset: offset + from as u64,
            data: Arc::from(&buf[from..to]),
        };
        if !self.fs.shared.observed.load(Ordering::Acquire) && step.error.is_none() {
            self.fs.shared.state.lock().change(self.inode, change(0, n));
            return Ok(n);
        }
        // Every second failing write writes a part first.
        if step.error.is_none() || step.index.0 % 2 == 1 {
            let seq = self.fs.shared.state.lock().change(self.inode, change(0, half));
            step.inside();
            step.check()?;
            self.fs.shared.state.lock().extend_change(self.inode, seq, change(0, n));
        }
        step.check()?;
        Ok(n)
    }

    fn sync(&self, op: &str) -> io::Result<()> {
        self.fs.operation(op, &self.kind, |fs, step| {
            if let Err(e) = step.check() {
                if !fs.shared.faults.lock().keep_changes_of_failed_sync {
                    fs.shared.state.lock().forget_changes(self.inode);
                }
                return Err(e);
            }
            if fs.shared.faults.lock().ignore_sync_data {
                return Ok(());
            }
            let upto = match fs.shared.observed.load(Ordering::Acquire) {
                true => fs.shared.state.lock().sync_half_of(self.inode),
                false => u64::MAX,
            };
            step.inside();
            fs.shared.state.lock().sync(self.inode, upto);
            Ok(())
        })
    }
}

impl VfsFile for SimFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.fs.reading("read", &self.kind)?;
        let n = match buf.len() {
            0 => 0,
            n => self.fs.shared.faults.lock().shorten(n),
        };
        Ok(self.fs.shared.state.lock().inode(self.inode).now.read(offset, &mut buf[..n]))
    }

    fn reads_past_cache(&self) -> bool {
        !self.fs.shared.faults.lock().refuse_blocks
    }

    /// Reads blocks, with the same faults as other reads. A short read reads whole blocks.
    fn read_blocks_at(&self, blocks: &mut [u8], offset: u64) -> io::Result<Option<usize>> {
        if !self.reads_past_cache() {
            return Ok(None);
        }
        assert!(are_blocks(blocks, offset), "{self:?}: {} bytes at {offset} are no blocks", blocks.len());
        self.fs.reading("read", &self.kind)?;
        let count = self.fs.shared.faults.lock().shorten(blocks.len() / BLOCK_BYTES);
        let blocks = &mut blocks[..count * BLOCK_BYTES];
        Ok(Some(self.fs.shared.state.lock().inode(self.inode).now.read(offset, blocks)))
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        self.check_writable()?;
        self.fs.operation("write", &self.kind, |_, step| self.write_part(buf, offset, step))
    }

    /// True unless a test refuses blocks, so that tests cover callers that write blocks. Blocks arrive
    /// through [`write_at`](VfsFile::write_at).
    fn takes_blocks(&self) -> bool {
        !self.fs.shared.faults.lock().refuse_blocks
    }

    fn len(&self) -> io::Result<u64> {
        self.fs.reading("len", &self.kind)?;
        Ok(self.fs.shared.state.lock().inode(self.inode).now.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check_writable()?;
        self.fs.operation("set_len", &self.kind, |_, step| self.resize(FileOp::SetLen(len), len, step))
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.check_writable()?;
        self.fs.operation("allocate", &self.kind, |_, step| self.resize(FileOp::Allocate(len), len, step))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync("sync_data")
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync("sync_all")
    }
}
