//! Batched reads of many places by a pool that the parent of a child made.

use std::sync::Arc;

use hedgerow_io::{BlockBuffer, Dir, NamedFile, ReadPool, ReadRequest, RealFs};
use hedgerow_testkit::Effort;

use super::FORKS;
use super::child::{Child, Way, in_child};

const BLOCKS: u64 = 64;

/// Makes a file, and fills each block with its number.
fn numbered(dir: &std::path::Path, name: &str) -> NamedFile {
    let file = Dir::new(Arc::new(RealFs::open_dir(dir).expect("a directory"))).create(name).expect("a file");
    for block in 0..BLOCKS {
        file.write_all_at(&[block as u8; 4096], block * 4096).expect("a write");
    }
    file.sync_data().expect("a sync");
    file
}

/// Counts the blocks that the pool reads as they were written.
fn right_reads(pool: &ReadPool, file: &NamedFile) -> usize {
    let request = |block| ReadRequest::new(file, block * 4096 + 5, 4000, BlockBuffer::default());
    let outcomes = pool.read_many((0..BLOCKS).map(request).collect());
    let is_right = |(block, outcome): &(usize, _)| {
        let outcome: &Result<hedgerow_io::FilledBuffer, _> = outcome;
        outcome.as_ref().is_ok_and(|read| **read == [*block as u8; 4000])
    };
    outcomes.into_iter().enumerate().filter(is_right).count()
}

/// A child waits neither for threads that it lacks nor for locks that those threads held. It makes its own
/// pool.
#[test]
fn children_read_by_themselves_and_by_pools_of_their_own() {
    let dir = tempfile::tempdir().expect("a directory");
    let (pool, file) = (ReadPool::new(), numbered(dir.path(), "parent"));
    let stop = std::sync::atomic::AtomicBool::new(false);
    let stopped = || stop.load(std::sync::atomic::Ordering::Relaxed);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stopped() {
                    assert_eq!(right_reads(&pool, &file), BLOCKS as usize);
                }
            });
        }
        let effort = Effort::rounds(FORKS);
        while let Some(seed) = effort.next_seed() {
            std::thread::sleep(std::time::Duration::from_micros(seed.wrapping_mul(2_654_435_761) % 3000));
            let name = format!("child-{seed}");
            // The fork copies the pool bit by bit, so the drop in the child is a drop of the parent's pool.
            let inherited = ReadPool::new();
            assert_eq!(right_reads(&inherited, &file), BLOCKS as usize);
            let (inherited, child) = Child::with(Way::Fork, inherited, |inherited, _| {
                let own = numbered(dir.path(), &name);
                let all = BLOCKS as usize;
                let right = [
                    right_reads(&pool, &own),
                    right_reads(&inherited, &own),
                    right_reads(&ReadPool::new(), &own),
                ];
                // Reads of the parent's file fail in the child.
                let of_the_parents = right_reads(&inherited, &file);
                drop(inherited);
                if right == [all; 3] && of_the_parents == 0 { String::new() } else { format!("{right:?}") }
            });
            assert_eq!(child.wait(), "", "in a child");
            assert_eq!(right_reads(&inherited, &file), BLOCKS as usize);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// A child that the plain system call makes runs no fork handler: the pool detects it by its process id. The
/// parent's files are open in the child.
#[test]
fn children_made_past_the_c_library_read_by_themselves() {
    let dir = tempfile::tempdir().expect("a directory");
    // No handler repairs the allocator in such a child, so its parent has no threads that allocate.
    in_child(|| {
        let (pool, file) = (ReadPool::new(), numbered(dir.path(), "parent"));
        assert_eq!(right_reads(&pool, &file), BLOCKS as usize);
        let (_pool, child) = Child::with(Way::Clone, pool, |pool, _| {
            let right = right_reads(&pool, &file);
            drop(pool);
            if right == BLOCKS as usize { String::new() } else { format!("{right} right") }
        });
        child.wait()
    });
}
