//! Faults, counters and switches.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::event::OpIndex;
use super::rng::SplitMix64;

/// Error numbers of Linux.
pub mod errno {
    /// Interrupted call. Callers repeat interrupted calls, so plan it [`Once`](super::Repeat::Once) only.
    pub const EINTR: i32 = 4;
    /// Input or output error.
    pub const EIO: i32 = 5;
    /// The file is not open for this operation.
    pub const EBADF: i32 = 9;
    /// Too many open files.
    pub const EMFILE: i32 = 24;
    /// The disk is full.
    pub const ENOSPC: i32 = 28;
    /// Read-only file system.
    pub const EROFS: i32 = 30;
    /// The quota is used up.
    pub const EDQUOT: i32 = 122;
}

/// A class of operations with a common count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultClass {
    /// Operations that change or sync something; see [`OpIndex`].
    Change,
    /// Operations that read: open, list, read, length.
    Read,
}

/// The frequency of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Only the selected operation fails.
    Once,
    /// The selected operation and all later operations fail.
    Forever,
}

/// A planned failure.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The class of operations to count.
    pub class: FaultClass,
    /// The number of the operation in its class, from 0 since the file system was made.
    pub at: u64,
    /// The site of the operation, if given. The first operation of this site at or after `at` then fails.
    pub site: Option<&'static str>,
    /// The frequency.
    pub repeat: Repeat,
    /// The error; see [`errno`].
    pub errno: i32,
}

#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) ops: u64,
    pub(super) reads: u64,
    pub(super) sites: BTreeMap<Arc<str>, u64>,
    pub(super) short: Option<SplitMix64>,
    pub(super) quota: Option<u64>,
    pub(super) ignore_sync_data: bool,
    pub(super) refuse_blocks: bool,
    pub(super) ignore_sync_dir: bool,
    pub(super) keep_changes_of_failed_sync: bool,
    plan: Vec<Fault>,
}

impl Faults {
    pub(super) fn plan(&mut self, fault: Fault) {
        self.plan.push(fault);
    }

    pub(super) fn clear(&mut self) {
        self.plan.clear();
    }

    pub(super) fn count_op(&mut self, op: &str, kind: &str) -> (OpIndex, Arc<str>) {
        let index = OpIndex(self.ops);
        self.ops += 1;
        (index, self.count_site(op, kind))
    }

    pub(super) fn count_read(&mut self, op: &str, kind: &str) -> io::Result<()> {
        let index = self.reads;
        self.reads += 1;
        let site = self.count_site(op, kind);
        match self.failure(FaultClass::Read, index, &site) {
            Some(errno) => Err(io::Error::from_raw_os_error(errno)),
            None => Ok(()),
        }
    }

    fn count_site(&mut self, op: &str, kind: &str) -> Arc<str> {
        let label = format!("{op}:{kind}");
        if let Some((site, count)) = self.sites.range_mut(Arc::from(label.as_str())..).next()
            && **site == *label
        {
            *count += 1;
            return Arc::clone(site);
        }
        let site: Arc<str> = Arc::from(label);
        self.sites.insert(Arc::clone(&site), 1);
        site
    }

    /// Returns the error of operation `index` if a fault matches it.
    pub(super) fn failure(&mut self, class: FaultClass, index: u64, site: &str) -> Option<i32> {
        let hits = |f: &Fault| match (f.site, f.repeat) {
            (None, Repeat::Once) => index == f.at,
            (None, Repeat::Forever) => index >= f.at,
            (Some(wanted), _) => index >= f.at && wanted == site,
        };
        let found = self.plan.iter().position(|f| f.class == class && hits(f))?;
        let errno = self.plan.get(found).map(|f| f.errno);
        if self.plan[found].repeat == Repeat::Once {
            self.plan.remove(found);
        }
        errno
    }

    /// Returns the number of bytes to transfer out of `n`: at least one if `n` is not 0.
    pub(super) fn shorten(&mut self, n: usize) -> usize {
        match &mut self.short {
            Some(rng) if n > 1 => 1 + rng.below(n as u64) as usize,
            _ => n,
        }
    }
}
