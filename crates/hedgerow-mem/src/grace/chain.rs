//! Chains of versions: the content of a version, and the links between versions, atomic owned pointers.

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

/// One version: the main part and its patch hold all operations at or before `begin`, the delta holds the
/// later ones.
///
/// Only `delta` (append, under the latch), `changed` and `prev` (reclamation, under the latch) ever change.
pub struct Version {
    pub(crate) begin: Timestamp,
    /// The number of this version in its chain: its predecessor's plus one. Timestamps do not identify
    /// versions, because operations of one commit may be applied in several steps.
    pub(crate) number: u64,
    pub(crate) main: Main,
    /// Corrections of a large main part, with ranks and properties.
    pub(crate) patch: Option<Arc<Patch>>,
    pub(crate) delta: Delta,
    /// Local vertices changed between the begin of the surviving predecessor and `begin`, except vertices
    /// whose changes are in the delta of a surviving predecessor. They were changed by unlinked versions, and
    /// by operations that were merged directly into the main part.
    pub(crate) changed: AtomicU64,
    /// The version before this one, while a snapshot may need it.
    pub(crate) prev: Link,
    /// The bytes of this version outside the arena for which the account is charged. Written under the latch.
    pub(super) charged: AtomicUsize,
    /// The record for the model checkers.
    pub(crate) life: Life,
}

impl Version {
    pub(crate) fn new(begin: Timestamp, main: Main, delta: Delta, changed: u64) -> Version {
        let changed = AtomicU64::new(changed);
        let (patch, prev, life) = (None, Link::default(), Life::default());
        let charged = AtomicUsize::new(0);
        Version { begin, number: 0, main, patch, delta, changed, prev, charged, life }
    }

    /// Returns the timestamp up to which the main part includes all operations.
    pub fn begin(&self) -> Timestamp {
        self.begin
    }

    /// Returns the main part.
    pub fn main(&self) -> &Main {
        &self.main
    }

    /// Returns the delta.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// Returns the bytes of memory of this version, itself included.
    pub fn bytes(&self) -> usize {
        size_of::<Version>()
            + 2 * size_of::<usize>()
            + self.main.heap_bytes()
            + self.delta.bytes()
            + self.patch_bytes()
    }

    /// Returns the bytes of arena blocks that are included in [`bytes`](Self::bytes). Bytes that several
    /// versions share count for each.
    pub fn block_bytes(&self) -> usize {
        let patch = self.patch.as_ref().map_or(0, |patch| patch.block_bytes());
        self.main.block_bytes() + self.delta.block_bytes() + patch
    }

    /// Returns the bytes outside the arena, itself included. Bytes that several versions share count for
    /// each. O(columns).
    pub(crate) fn heap_bytes(&self) -> usize {
        self.bytes() - self.block_bytes()
    }

    /// Returns the bytes of the corrections of the main part.
    pub fn patch_bytes(&self) -> usize {
        self.patch.as_ref().map_or(0, |patch| patch.bytes())
    }
}

impl Drop for Version {
    /// Unlinks the chain one by one: dropping it recursively could exhaust the stack after thousands of
    /// snapshots.
    fn drop(&mut self) {
        let mut next = self.prev.take();
        while let Some(mut version) = next {
            next = Arc::get_mut(&mut version).and_then(|version| version.prev.take());
        }
    }
}

/// The error of a read that needs versions of a chain that are not in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotInMemory;

impl std::fmt::Display for NotInMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a part of the graph is not in memory")
    }
}

impl std::error::Error for NotInMemory {}

/// The address in a link whose versions are not in memory. Versions are aligned, so none has it. A null link
/// means that there never was a version. A reader distinguishes the two, and one comparison distinguishes
/// both from a version.
const NOT_IN_MEMORY: usize = 1;

#[inline]
fn is_version(to: *const Version) -> bool {
    to.addr() > NOT_IN_MEMORY
}

/// Returns the meaning of a link without a version.
#[cold]
fn absent<T>(to: *const Version) -> Result<Option<T>, NotInMemory> {
    if to.is_null() { Ok(None) } else { Err(NotInMemory) }
}

/// A link of a chain. It owns a counted reference to a version, or is empty, or is marked: the rest of the
/// chain is not in memory. Any thread reads it in a [`ReadGuard`]; the holder of the latch changes it.
#[derive(Default)]
pub(crate) struct Link {
    to: AtomicPtr<Version>,
}

impl Link {
    /// Returns the version, which stays alive until the walk ends. `None` if the chain never had one.
    #[inline]
    pub(crate) fn next<'a>(&'a self, _walk: &'a ReadGuard) -> Result<Option<&'a Version>, NotInMemory> {
        // Acquire: a version is complete when it is linked.
        let to = self.to.load(Ordering::Acquire);
        if !is_version(to) {
            return absent(to);
        }
        // SAFETY: the link owned a reference when it was read, in a walk that ends after `'a`. That reference
        // is given back after the walk (G2), or with the owner of the link, which is borrowed for `'a`.
        let version = unsafe { &*to };
        version.life.touch();
        Ok(Some(version))
    }

    /// Like [`next`](Self::next), but also `None` if the version is not in memory.
    #[inline]
    pub(crate) fn load<'a>(&'a self, walk: &'a ReadGuard) -> Option<&'a Version> {
        self.next(walk).unwrap_or(None)
    }

    /// True if there never was a version from this link on.
    pub(crate) fn is_none(&self) -> bool {
        self.to.load(Ordering::Relaxed).is_null()
    }

    /// True unless the link is marked as not in memory.
    #[inline]
    pub(crate) fn is_in_memory(&self) -> bool {
        self.to.load(Ordering::Acquire).addr() != NOT_IN_MEMORY
    }

    /// Returns the version as a counted reference, if it is in memory.
    pub(crate) fn get(&self) -> Option<Arc<Version>> {
        self.find(|_| true).unwrap_or(None)
    }

    /// Returns the first version from here on that `wanted` accepts, as a counted reference.
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
                // SAFETY: all versions were given to `push` in an `Arc`. The reference that the link owned
                // when it was read is not given back before the walk ends.
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

    /// Links `next` in front of the linked version, which becomes the predecessor of `next`. Returns a
    /// reference to `next`. Only for the holder of the latch.
    pub(crate) fn push(&self, next: impl Into<Arc<Version>>) -> Arc<Version> {
        let next = next.into();
        // The reference moves along with the link, so its count does not change.
        let before = self.to.load(Ordering::Relaxed);
        let lost = faults::is_on(PlantedFault::MarkBehindLost) && !self.is_in_memory();
        next.prev.to.store(if lost { std::ptr::null_mut() } else { before }, Ordering::Relaxed);
        self.to.store(Arc::into_raw(next.clone()).cast_mut(), Ordering::Release);
        next
    }

    /// Replaces the version by its predecessor, and returns it, unlinked. Only for the holder of the latch.
    pub(crate) fn bypass(&self, walk: &ReadGuard) -> Option<Unlinked> {
        let to = self.to.load(Ordering::Relaxed);
        // Walks that read the version continue through its own link, which keeps its reference.
        let before = match self.load(walk)?.prev.find(|_| true) {
            Ok(Some(before)) => Arc::into_raw(before).cast_mut(),
            Ok(None) => std::ptr::null_mut(),
            Err(NotInMemory) => std::ptr::without_provenance_mut(NOT_IN_MEMORY),
        };
        self.to.store(before, Ordering::Release);
        NonNull::new(to).map(Unlinked)
    }

    /// Marks the chain from here on as not in memory. Returns the version that was linked. Only for the
    /// holder of the latch.
    pub(crate) fn evict(&self) -> Option<Unlinked> {
        let to = self.to.load(Ordering::Relaxed);
        self.to.store(std::ptr::without_provenance_mut(NOT_IN_MEMORY), Ordering::Release);
        NonNull::new(to).filter(|to| is_version(to.as_ptr())).map(Unlinked)
    }

    /// Replaces the mark by an empty link. Only for the holder of the latch, while the link has the mark.
    pub(crate) fn clear_mark(&self) {
        self.to.store(std::ptr::null_mut(), Ordering::Release);
    }

    /// Links again the version that [`evict`](Self::evict) returned. Only for the holder of the latch, while
    /// the link still has the mark.
    pub(crate) fn relink(&self, version: Unlinked) {
        // Release, as in `push`: a reader that did not see the version before sees it completely. The link
        // owns the reference again.
        self.to.store(version.0.as_ptr(), Ordering::Release);
    }

    /// Like [`evict`](Self::evict), but also for all older versions. So a reader that is at one of them finds
    /// the mark too, and does not mistake the end of the remaining chain for its beginning.
    pub(crate) fn evict_all(&self) -> SmallVec<[Unlinked; 2]> {
        let mut all = SmallVec::new();
        let mut next = self.evict();
        while let Some(unlinked) = next {
            next = unlinked.version().prev.evict();
            all.push(unlinked);
        }
        all
    }

    /// Empties the link of a version whose end the model checker has noted.
    #[cfg(feature = "model-checking")]
    pub(super) fn cut(&self) -> Option<Arc<Version>> {
        let to = self.to.load(Ordering::Relaxed);
        self.to.store(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: the link owned this reference, and does not any more; nobody is left to read it.
        is_version(to).then(|| unsafe { Arc::from_raw(to) })
    }

    /// Takes the linked version out, with the link's own reference. No other thread reads the owner of the
    /// link.
    pub(crate) fn take(&mut self) -> Option<Arc<Version>> {
        let to = self.to.load(Ordering::Relaxed);
        self.to.store(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: the link owned this reference, and does not any more. No walk reads the version through
        // this link: its owner is borrowed exclusively, and no other thread could find the owner any more.
        is_version(to).then(|| unsafe { Arc::from_raw(to) })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.take();
    }
}

/// A version that was unlinked, with the reference that the link owned. Walks may be reading it, so it
/// belongs in a [`RetireList`](super::RetireList); dropping it leaks the version.
#[must_use = "belongs into the retire_list"]
pub(crate) struct Unlinked(NonNull<Version>);

// SAFETY: a counted reference, and versions may go from thread to thread.
unsafe impl Send for Unlinked {}

impl Unlinked {
    /// Returns the version.
    pub(super) fn version(&self) -> &Version {
        // SAFETY: the reference is owned.
        unsafe { self.0.as_ref() }
    }

    /// Gives the reference back.
    ///
    /// # Safety
    /// No walk is still reading the version that loaded it before it was unlinked.
    pub(super) unsafe fn free(self) -> Arc<Version> {
        // SAFETY: the reference is owned, and given up here.
        unsafe { Arc::from_raw(self.0.as_ptr()) }
    }
}
