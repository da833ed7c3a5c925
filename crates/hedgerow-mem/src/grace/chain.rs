//! Chains of versions: what a version consists of, and the links between versions, atomic owned pointers.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicPtr, AtomicU64, Ordering};
use smallvec::SmallVec;

use super::life::Life;
use super::read_guard::ReadGuard;
use crate::delta::Delta;
use crate::main_part::Main;
use crate::patch::Patch;

/// One version: everything at or before `begin` in the main part and its patch, what came later in the delta.
///
/// Only `delta` (append, under the latch), `changed` and `prev` (reclamation, under the latch) ever change.
pub struct Version {
    pub(crate) begin: Timestamp,
    /// Which version of its chain this is: each has one more than that which it was made from. Timestamps do not tell versions
    /// apart, since operations of one commit may come in several turns.
    pub(crate) number: u64,
    pub(crate) main: Main,
    /// Corrections of a large main part, with ranks and properties.
    pub(crate) patch: Option<Arc<Patch>>,
    pub(crate) delta: Delta,
    /// Local vertices changed between the begin of the surviving predecessor and `begin`, as far as no delta of a
    /// surviving predecessor tells them: the changes of unlinked versions, and of operations merged straight in.
    pub(crate) changed: AtomicU64,
    /// The version before this one, as long as a snapshot may need it.
    pub(crate) prev: Link,
    /// The bytes outside the arena that its store was charged for it. Written under the latch.
    pub(super) charged: AtomicUsize,
    /// For the model checkers.
    pub(crate) life: Life,
}

impl Version {
    pub(crate) fn new(begin: Timestamp, main: Main, delta: Delta, changed: u64) -> Version {
        let changed = AtomicU64::new(changed);
        let (patch, prev, life) = (None, Link::default(), Life::default());
        let charged = AtomicUsize::new(0);
        Version { begin, number: 0, main, patch, delta, changed, prev, charged, life }
    }

    /// The timestamp that the main part stands for.
    pub fn begin(&self) -> Timestamp {
        self.begin
    }

    /// The main part.
    pub fn main(&self) -> &Main {
        &self.main
    }

    /// The delta.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// The bytes that this version holds, itself included.
    pub fn bytes(&self) -> usize {
        size_of::<Version>()
            + 2 * size_of::<usize>()
            + self.main.heap_bytes()
            + self.delta.bytes()
            + self.patch_bytes()
    }

    /// The bytes of the arena's blocks among them; those that several versions share count for each.
    pub fn block_bytes(&self) -> usize {
        let patch = self.patch.as_ref().map_or(0, |patch| patch.block_bytes());
        self.main.block_bytes() + self.delta.block_bytes() + patch
    }

    /// The bytes outside the arena, itself included; those that several versions share count for each. O(columns).
    pub(crate) fn heap_bytes(&self) -> usize {
        self.bytes() - self.block_bytes()
    }

    /// The bytes of the corrections of the main part.
    pub fn patch_bytes(&self) -> usize {
        self.patch.as_ref().map_or(0, |patch| patch.bytes())
    }
}

impl Drop for Version {
    /// Unlinks the chain one by one: dropping it recursively could exhaust the stack after thousands of snapshots.
    fn drop(&mut self) {
        let mut next = self.prev.take();
        while let Some(mut version) = next {
            next = Arc::get_mut(&mut version).and_then(|version| version.prev.take());
        }
    }
}

/// The versions of a chain from some place on are not in memory: what they hold cannot be told from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotInMemory;

impl std::fmt::Display for NotInMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a part of the graph is not in memory")
    }
}

impl std::error::Error for NotInMemory {}

/// What a link holds in place of an address where the versions from there on are not in memory: a version is aligned to more.
/// Null says that there never was one. So who loads a link knows which of the two it is, and one comparison tells both from
/// a version.
const NOT_IN_MEMORY: usize = 1;

#[inline]
fn is_version(to: *const Version) -> bool {
    to.addr() > NOT_IN_MEMORY
}

/// What a link without a version says.
#[cold]
fn absent<T>(to: *const Version) -> Result<Option<T>, NotInMemory> {
    if to.is_null() { Ok(None) } else { Err(NotInMemory) }
}

/// A link of a chain: owns a counted reference to a version, or none, or says that the rest of the chain is not in memory. Read
/// by anybody in a [`ReadGuard`], changed by the holder of the latch.
#[derive(Default)]
pub(crate) struct Link {
    to: AtomicPtr<Version>,
}

impl Link {
    /// The version, which stays alive until the walk ends; `None` where there never was one.
    #[inline]
    pub(crate) fn next<'a>(&'a self, _walk: &'a ReadGuard) -> Result<Option<&'a Version>, NotInMemory> {
        // Acquire: a version is whole when it is linked.
        let to = self.to.load(Ordering::Acquire);
        if !is_version(to) {
            return absent(to);
        }
        // SAFETY: the link owned a reference when it was read, in a walk that ends after `'a`; that reference is given
        // back after the walk (G2), or with the owner of the link, which is borrowed for `'a`.
        let version = unsafe { &*to };
        version.life.touch();
        Ok(Some(version))
    }

    /// As [`next`](Self::next), for who asks only for what is in memory.
    #[inline]
    pub(crate) fn load<'a>(&'a self, walk: &'a ReadGuard) -> Option<&'a Version> {
        self.next(walk).unwrap_or(None)
    }

    /// Whether nothing was ever linked.
    pub(crate) fn is_none(&self) -> bool {
        self.to.load(Ordering::Relaxed).is_null()
    }

    /// Whether what was linked last is in memory, or nothing ever was.
    #[inline]
    pub(crate) fn is_in_memory(&self) -> bool {
        self.to.load(Ordering::Acquire).addr() != NOT_IN_MEMORY
    }

    /// The version as a reference of the caller's own, if one is in memory.
    pub(crate) fn get(&self) -> Option<Arc<Version>> {
        self.find(|_| true).unwrap_or(None)
    }

    /// The first version from here on that is wanted, as a reference of the caller's own.
    pub(crate) fn find(
        &self,
        wanted: impl Fn(&Version) -> bool,
    ) -> Result<Option<Arc<Version>>, NotInMemory> {
        let walk = ReadGuard::begin();
        let mut link = self;
        loop {
            let to = link.to.load(Ordering::Acquire);
            if !is_version(to) {
                return absent(to);
            }
            // SAFETY: as in `next`; the walk ends with this function.
            let version = unsafe { &*to };
            version.life.touch();
            if wanted(version) {
                // SAFETY: all versions were given to `push` in an `Arc`. The reference that the link owned when it
                // was read is not given back before the walk ends.
                let counted = unsafe {
                    Arc::increment_strong_count(to);
                    Arc::from_raw(to)
                };
                drop(walk);
                return Ok(Some(counted));
            }
            link = &version.prev;
        }
    }

    /// Links `next` in front of what is linked now, which becomes its predecessor; returns a reference to it.
    /// Only for the holder of the latch.
    pub(crate) fn push(&self, next: impl Into<Arc<Version>>) -> Arc<Version> {
        let next = next.into();
        // The reference moves along with the link: nothing is given back.
        let before = self.to.load(Ordering::Relaxed);
        let lost = faults::is_on(PlantedFault::MarkBehindLost) && !self.is_in_memory();
        next.prev.to.store(if lost { std::ptr::null_mut() } else { before }, Ordering::Relaxed);
        self.to.store(Arc::into_raw(next.clone()).cast_mut(), Ordering::Release);
        next
    }

    /// Replaces the version by its predecessor, and returns it, unlinked. Only for the holder of the latch.
    pub(crate) fn bypass(&self, walk: &ReadGuard) -> Option<Unlinked> {
        let to = self.to.load(Ordering::Relaxed);
        // Walks that stand on the version go on from its own link, which keeps its reference.
        let before = match self.load(walk)?.prev.find(|_| true) {
            Ok(Some(before)) => Arc::into_raw(before).cast_mut(),
            Ok(None) => std::ptr::null_mut(),
            Err(NotInMemory) => std::ptr::without_provenance_mut(NOT_IN_MEMORY),
        };
        self.to.store(before, Ordering::Release);
        NonNull::new(to).map(Unlinked)
    }

    /// Says that the chain from here on is not in memory, and returns what was linked. Only for the holder of the latch.
    pub(crate) fn evict(&self) -> Option<Unlinked> {
        let to = self.to.load(Ordering::Relaxed);
        self.to.store(std::ptr::without_provenance_mut(NOT_IN_MEMORY), Ordering::Release);
        NonNull::new(to).filter(|to| is_version(to.as_ptr())).map(Unlinked)
    }

    /// Links again what [`evict`](Self::evict) returned. Only for the holder of the latch, where the mark still stands.
    pub(crate) fn relink(&self, version: Unlinked) {
        // Release, as in `push`: who did not see the version before sees it whole. The reference goes back to the link.
        self.to.store(version.0.as_ptr(), Ordering::Release);
    }

    /// As [`evict`](Self::evict), with all versions behind: whoever stands on one of them meets the mark as well, and does not take the end
    /// of what is left for the beginning of the chain.
    pub(crate) fn evict_all(&self) -> SmallVec<[Unlinked; 2]> {
        let mut all = SmallVec::new();
        let mut next = self.evict();
        while let Some(unlinked) = next {
            next = unlinked.version().prev.evict();
            all.push(unlinked);
        }
        all
    }

    /// Empties the link of a version that a model saw end.
    #[cfg(feature = "model-checking")]
    pub(super) fn cut(&self) -> Option<Arc<Version>> {
        let to = self.to.load(Ordering::Relaxed);
        self.to.store(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: the link owned this reference, and does not any more; nobody is left to read it.
        is_version(to).then(|| unsafe { Arc::from_raw(to) })
    }

    /// What is linked, with the link's own reference. The owner of the link has no other reader.
    pub(crate) fn take(&mut self) -> Option<Arc<Version>> {
        let to = self.to.load(Ordering::Relaxed);
        self.to.store(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: the link owned this reference, and does not any more. Nobody stands on the version by way of this link:
        // its owner is borrowed for good, and nobody had found it any more.
        is_version(to).then(|| unsafe { Arc::from_raw(to) })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.take();
    }
}

/// A version that was unlinked, with the reference that the link owned: walks may stand on it. It is for a
/// [`RetireList`](super::RetireList); dropping it only leaks the version.
#[must_use = "belongs into the retire_list"]
pub(crate) struct Unlinked(NonNull<Version>);

// SAFETY: a counted reference, and versions may go from thread to thread.
unsafe impl Send for Unlinked {}

impl Unlinked {
    /// The version.
    pub(super) fn version(&self) -> &Version {
        // SAFETY: the reference is owned.
        unsafe { self.0.as_ref() }
    }

    /// Gives the reference back.
    ///
    /// # Safety
    /// No walk stands on the version that had loaded it before it was unlinked.
    pub(super) unsafe fn free(self) -> Arc<Version> {
        // SAFETY: the reference is owned, and given up here.
        unsafe { Arc::from_raw(self.0.as_ptr()) }
    }
}
