//! Tests of links, walks and retire lists: no version is freed during a walk, and all are freed after it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use hedgerow_core::Timestamp;

use super::chain::Link;
use super::{Memory, NotInMemory, ReadGuard, RetireList, barrier};
use crate::arena::Arena;
use crate::delta::Delta;
use crate::main_part::Main;
use crate::version::Version;

fn version(begin: u64) -> Version {
    let arena = Arena::default();
    let main = Main { neighbors: arena.copy(&[hedgerow_core::VertexId(begin as u32); 4]), ..Main::default() };
    Version::new(Timestamp(begin), main, Delta::new(Timestamp(begin), 0, false, &arena), 0)
}

/// Makes a chain of two versions and returns a weak reference to the older one.
fn two(link: &Link) -> Weak<Version> {
    let old = Arc::downgrade(&link.push(version(1)));
    link.push(version(2));
    old
}

/// Unlinks the version before the head.
fn unlink(link: &Link, retire_list: &RetireList) {
    let head = link.get().expect("a head");
    let walk = ReadGuard::begin();
    let unlinked = head.prev.bypass(&walk).expect("a version before it");
    drop(walk);
    retire_list.take(unlinked);
}

#[test]
fn without_walks_a_drain_frees_all() {
    let (link, retire_list) = (Link::default(), RetireList::default());
    let old = two(&link);
    unlink(&link, &retire_list);
    assert_eq!(retire_list.stats().versions, 1);
    assert!(
        retire_list.stats().bytes > retire_list.stats().block_bytes && retire_list.stats().block_bytes > 0
    );
    assert!(old.upgrade().is_some(), "waits in the retire_list");
    // Walks of other tests may be in progress.
    while retire_list.stats().versions > 0 {
        retire_list.drain();
    }
    assert!(old.upgrade().is_none());
    assert_eq!(link.get().map(|version| version.begin), Some(Timestamp(2)));
}

/// A chain that is not in memory is neither empty nor a version. A walk finds the versions that are linked
/// before it, and none of its own.
#[test]
fn a_chain_that_is_not_in_memory_says_so() {
    let (link, retire_list) = (Link::default(), RetireList::default());
    assert!(link.is_none() && matches!(link.next(&ReadGuard::begin()), Ok(None)));
    let old = two(&link);
    retire_list.take(link.evict().expect("the head"));
    assert!(link.evict().is_none(), "nothing is linked any more");
    let walk = ReadGuard::begin();
    assert!(!link.is_none() && matches!(link.next(&walk), Err(NotInMemory)));
    assert!(matches!(link.find(|_| true), Err(NotInMemory)) && link.get().is_none());
    drop(walk);
    while retire_list.stats().versions > 0 {
        retire_list.drain();
    }
    assert!(old.upgrade().is_none(), "the versions are freed");

    // Newer versions are linked before the mark.
    link.push(version(3));
    link.push(version(4));
    let begun_by = |t: u64| link.find(|version| version.begin <= Timestamp(t)).map(|v| v.map(|v| v.begin.0));
    assert_eq!([5, 3].map(begun_by), [Ok(Some(4)), Ok(Some(3))]);
    assert_eq!(begun_by(2), Err(NotInMemory), "older ones are not in memory");
    // Unlinking the oldest version in memory keeps the mark.
    unlink(&link, &retire_list);
    assert_eq!([4, 3].map(begun_by), [Ok(Some(4)), Err(NotInMemory)]);
}

#[test]
fn a_walk_keeps_what_it_stands_on() {
    let (link, retire_list) = (Link::default(), RetireList::default());
    let old = two(&link);
    let walk = ReadGuard::begin();
    let head = link.load(&walk).expect("a head");
    let standing = head.prev.load(&walk).expect("a version before it");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            unlink(&link, &retire_list);
            (0..3).for_each(|_| retire_list.drain());
        });
    });
    assert_eq!((standing.begin, retire_list.stats().versions), (Timestamp(1), 1));
    // A walk within this walk, or a new walk, changes nothing.
    drop(ReadGuard::begin());
    retire_list.drain();
    assert!(old.upgrade().is_some());
    drop(walk);
    while retire_list.stats().versions > 0 {
        retire_list.drain();
    }
    assert!(old.upgrade().is_none());
}

#[test]
fn a_batch_is_freed_when_it_is_full() {
    let (link, retire_list) = (Link::default(), RetireList::default());
    link.push(version(0));
    // The number of waiting versions counts only after some batches without a walk of another test. Such a
    // walk keeps the versions, and for a long time if its thread loses the processor.
    let (mut most, mut looks, mut quiet) = (0, 0, 0);
    let mut begin = 0;
    while looks < 5_000 {
        begin += 1;
        link.push(version(begin));
        unlink(&link, &retire_list);
        let is_alone = super::read_guard::ongoing().is_empty();
        quiet = if is_alone { quiet + 1 } else { 0 };
        if quiet > 1_024 {
            (most, looks) = (most.max(retire_list.stats().versions), looks + 1);
        }
    }
    // Each of the four parts frees its versions when it has 128 of them.
    assert!(most <= 1_024, "{most} versions waited");
    while retire_list.stats().versions > 0 {
        retire_list.drain();
    }
}

#[test]
fn dropping_the_memory_frees_what_waits() {
    let (link, memory) = (Link::default(), Memory::new(Arena::new()));
    let old = two(&link);
    unlink(&link, memory.retire_list());
    drop(link);
    assert!(old.upgrade().is_some());
    drop(memory);
    assert!(old.upgrade().is_none());
}

#[test]
fn a_long_chain_is_dropped_without_recursion() {
    let link = Link::default();
    (0..200_000).for_each(|begin| drop(link.push(version(begin))));
    drop(link);
}

#[test]
fn a_thread_that_ends_gives_its_slot_back() {
    let slots = || super::read_guard::slots();
    (0..64).for_each(|_| std::thread::spawn(|| drop(ReadGuard::begin())).join().unwrap());
    let before = slots();
    (0..256).for_each(|_| std::thread::spawn(|| drop(ReadGuard::begin())).join().unwrap());
    // Threads of other tests begin and end at the same time.
    assert!(slots() < before + 128, "{} slots, {before} before", slots());
}

/// A value that walks in its destructor, during the destruction of the thread-locals of its thread.
struct WalksAtTheEnd(Arc<AtomicU64>);

impl Drop for WalksAtTheEnd {
    fn drop(&mut self) {
        let (outer, inner) = (ReadGuard::begin(), ReadGuard::begin());
        self.0.fetch_add(1, Ordering::Relaxed);
        drop((inner, outer));
    }
}

#[test]
fn a_walk_in_the_destructor_of_a_thread_local_works() {
    thread_local!(static LATE: std::cell::RefCell<Option<WalksAtTheEnd>> = const { std::cell::RefCell::new(None) });
    let walked = Arc::new(AtomicU64::new(0));
    for _ in 0..256 {
        let walked = walked.clone();
        std::thread::spawn(move || {
            // This thread-local is registered before that of the walk, so it is destroyed after it.
            LATE.with(|late| *late.borrow_mut() = Some(WalksAtTheEnd(walked)));
            drop(ReadGuard::begin());
        })
        .join()
        .unwrap();
    }
    assert_eq!(walked.load(Ordering::Relaxed), 256);
    assert!(super::read_guard::slots() < 200, "slots are given back");
}

#[test]
fn readers_beside_a_writer_find_whole_versions() {
    let (link, retire_list) = (Link::default(), RetireList::default());
    link.push(version(0));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let walk = ReadGuard::begin();
                    let mut next = link.load(&walk);
                    while let Some(version) = next {
                        let expected = version.begin.0 as u32;
                        assert!(version.main.edges().iter().all(|v| v.0 == expected));
                        assert_eq!(version.main.edges().len(), 4);
                        next = version.prev.load(&walk);
                    }
                }
            });
        }
        for begin in 1..50_000 {
            link.push(version(begin));
            unlink(&link, &retire_list);
        }
        done.store(true, Ordering::Relaxed);
    });
    retire_list.drain();
    retire_list.drain();
}

#[test]
fn the_barrier_takes_place() {
    assert!(barrier::heavy());
}

/// The only thread of a forked child does not wait for walks of threads that the child does not have.
#[cfg(target_os = "linux")]
#[test]
fn a_forked_child_waits_for_nobody() {
    let (begun, end) = (AtomicBool::new(false), AtomicBool::new(false));
    let status = std::thread::scope(|scope| {
        scope.spawn(|| {
            let _walk = ReadGuard::begin();
            begun.store(true, Ordering::SeqCst);
            while !end.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        });
        while !begun.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        assert!(super::read_guard::ongoing().iter().any(|walk| !walk.has_ended()));
        // SAFETY: the child reads atomics and takes no lock except the lock of the allocator, which is sound
        // after a fork. It exits without running other code of the parent.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let left = super::read_guard::ongoing().len();
            // SAFETY: ends the child; the conditions above hold.
            unsafe { libc::_exit(i32::try_from(left).unwrap_or(i32::MAX).min(100)) };
        }
        assert!(child > 0, "forking failed");
        let mut status = 0;
        // SAFETY: waits for the child of this process, and writes to a local variable.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        end.store(true, Ordering::SeqCst);
        assert_eq!(waited, child);
        status
    });
    assert!(libc::WIFEXITED(status), "the child died: {status}");
    assert_eq!(libc::WEXITSTATUS(status), 0, "walks that the child waits for");
}
