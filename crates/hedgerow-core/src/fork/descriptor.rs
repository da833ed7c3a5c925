//! Descriptors of a store's files and directories.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;

use super::table::bit_of;
use super::{OwnerProcess, hold_off};

/// A file or directory of a store: a forked child closes it (invariant K3).
///
/// Dropping this closes the file; in a child the drop does nothing.
#[derive(Debug)]
pub struct Descriptor<T: AsRawFd> {
    file: ManuallyDrop<T>,
    owner: OwnerProcess,
}

impl<T: AsRawFd> Descriptor<T> {
    /// Calls `open` and registers the file, without a fork in between.
    ///
    /// # Errors
    /// The error of `open`.
    pub fn open<E>(open: impl FnOnce() -> Result<T, E>) -> Result<Descriptor<T>, E> {
        let owner = OwnerProcess::current();
        let _whole = hold_off();
        let file = open()?;
        // The table covers 16.7 million descriptors; Linux allows a process a million unless configured
        // otherwise.
        if let Some((word, bit)) = bit_of(file.as_raw_fd(), true) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(Descriptor { file: ManuallyDrop::new(file), owner })
    }

    /// Returns the process that opened the file.
    pub fn owner(&self) -> OwnerProcess {
        self.owner
    }
}

impl<T: AsRawFd> Deref for Descriptor<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.file
    }
}

impl<T: AsRawFd> Drop for Descriptor<T> {
    fn drop(&mut self) {
        if !self.owner.is_current() {
            return; // the number is kept occupied: K3
        }
        let _whole = hold_off();
        if let Some((word, bit)) = bit_of(self.file.as_raw_fd(), false) {
            word.fetch_and(!bit, Ordering::Relaxed);
        }
        // SAFETY: dropped here, once; nothing accesses it afterwards.
        unsafe { ManuallyDrop::drop(&mut self.file) };
    }
}
