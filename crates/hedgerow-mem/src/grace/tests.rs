//! Links, walks and limbos: nothing is freed under a walk, and everything after it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use hedgerow_core::Timestamp;

use super::link::Link;
use super::{Limbo, Memory, Walk, barrier};
use crate::arena::Arena;
use crate::delta::Delta;
use crate::main_part::Main;
use crate::version::Version;

fn version(begin: u64) -> Version {
    let arena = Arena::default();
    let main = Main { neighbors: arena.copy(&[hedgerow_core::VertexId(begin as u32); 4]), ..Main::default() };
    Version::new(Timestamp(begin), main, Delta::new(Timestamp(begin), 0, false, &arena), 0)
}

/// A chain of two versions, of which the older is watched.
fn two(link: &Link) -> Weak<Version> {
    let old = Arc::downgrade(&link.push(version(1)));
    link.push(version(2));
    old
}

/// Unlinks the version before the head.
fn unlink(link: &Link, limbo: &Limbo) {
    let head = link.get().expect("a head");
    let walk = Walk::begin();
    let unlinked = head.prev.bypass(&walk).expect("a version before it");
    drop(walk);
    limbo.take(unlinked);
}

#[test]
fn without_walks_a_drain_frees_all() {
    let (link, limbo) = (Link::default(), Limbo::default());
    let old = two(&link);
    unlink(&link, &limbo);
    assert_eq!(limbo.stats().versions, 1);
    assert!(limbo.stats().bytes > limbo.stats().block_bytes && limbo.stats().block_bytes > 0);
    assert!(old.upgrade().is_some(), "waits in the limbo");
    // Walks of other tests may be going on.
    while limbo.stats().versions > 0 {
        limbo.drain();
    }
    assert!(old.upgrade().is_none());
    assert_eq!(link.get().map(|version| version.begin), Some(Timestamp(2)));
}

#[test]
fn a_walk_keeps_what_it_stands_on() {
    let (link, limbo) = (Link::default(), Limbo::default());
    let old = two(&link);
    let walk = Walk::begin();
    let head = link.load(&walk).expect("a head");
    let standing = head.prev.load(&walk).expect("a version before it");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            unlink(&link, &limbo);
            (0..3).for_each(|_| limbo.drain());
        });
    });
    assert_eq!((standing.begin, limbo.stats().versions), (Timestamp(1), 1));
    // A walk inside it, or one that begins now, changes nothing.
    drop(Walk::begin());
    limbo.drain();
    assert!(old.upgrade().is_some());
    drop(walk);
    while limbo.stats().versions > 0 {
        limbo.drain();
    }
    assert!(old.upgrade().is_none());
}

#[test]
fn a_batch_is_freed_when_it_is_full() {
    let (link, limbo) = (Link::default(), Limbo::default());
    link.push(version(0));
    let mut most = 0;
    for begin in 1..10_000 {
        link.push(version(begin));
        unlink(&link, &limbo);
        most = most.max(limbo.stats().versions);
    }
    // Walks of other tests may hold some up for a while, but none is forgotten.
    assert!(most < 5_000, "{most} versions waited");
    while limbo.stats().versions > 0 {
        limbo.drain();
    }
}

#[test]
fn dropping_the_memory_frees_what_waits() {
    let (link, memory) = (Link::default(), Memory::new(Arena::new()));
    let old = two(&link);
    unlink(&link, memory.limbo());
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
    let slots = || super::walk::slots();
    (0..64).for_each(|_| std::thread::spawn(|| drop(Walk::begin())).join().unwrap());
    let before = slots();
    (0..256).for_each(|_| std::thread::spawn(|| drop(Walk::begin())).join().unwrap());
    // Threads of other tests come and go as well.
    assert!(slots() < before + 128, "{} slots, {before} before", slots());
}

/// Walks while the thread-locals of its thread are being destroyed.
struct WalksAtTheEnd(Arc<AtomicU64>);

impl Drop for WalksAtTheEnd {
    fn drop(&mut self) {
        let (outer, inner) = (Walk::begin(), Walk::begin());
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
            // Registered before the walk's own, hence destroyed after it.
            LATE.with(|late| *late.borrow_mut() = Some(WalksAtTheEnd(walked)));
            drop(Walk::begin());
        })
        .join()
        .unwrap();
    }
    assert_eq!(walked.load(Ordering::Relaxed), 256);
    assert!(super::walk::slots() < 200, "slots are given back");
}

#[test]
fn readers_beside_a_writer_find_whole_versions() {
    let (link, limbo) = (Link::default(), Limbo::default());
    link.push(version(0));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let walk = Walk::begin();
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
            unlink(&link, &limbo);
        }
        done.store(true, Ordering::Relaxed);
    });
    limbo.drain();
    limbo.drain();
}

#[test]
fn the_barrier_takes_place() {
    assert!(barrier::heavy());
}

/// The one thread of a forked child does not wait for walks of threads that are not there.
#[cfg(target_os = "linux")]
#[test]
fn a_forked_child_waits_for_nobody() {
    let (begun, end) = (AtomicBool::new(false), AtomicBool::new(false));
    let status = std::thread::scope(|scope| {
        scope.spawn(|| {
            let _walk = Walk::begin();
            begun.store(true, Ordering::SeqCst);
            while !end.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        });
        while !begun.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        assert!(super::walk::ongoing().iter().any(|walk| !walk.has_ended()));
        // SAFETY: the child looks at atomics, takes no lock but that of the allocator, which is sound after a fork, and
        // leaves without running anything of the parent's.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let left = super::walk::ongoing().len();
            // SAFETY: as above.
            unsafe { libc::_exit(i32::try_from(left).unwrap_or(i32::MAX).min(100)) };
        }
        assert!(child > 0, "forking failed");
        let mut status = 0;
        // SAFETY: waits for the own child, and writes to a local variable.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        end.store(true, Ordering::SeqCst);
        assert_eq!(waited, child);
        status
    });
    assert!(libc::WIFEXITED(status), "the child died: {status}");
    assert_eq!(libc::WEXITSTATUS(status), 0, "walks that the child waits for");
}
