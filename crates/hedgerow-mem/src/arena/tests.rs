//! Tests of the arena against a model: blocks never overlap, they keep their content, and all memory is
//! accounted for.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;

/// The live blocks, each with the byte that fills it.
#[derive(Default)]
struct Model {
    held: Vec<(Counted<u8>, u8)>,
    next: u8,
}

impl Model {
    fn add(&mut self, arena: &Arena, len: usize, room: usize) {
        self.next = self.next.wrapping_add(1);
        let mut builder = arena.builder(len + room);
        (0..len).for_each(|_| builder.push(self.next));
        self.held.push((builder.finish(), self.next));
    }

    fn check(&self, arena: &Arena) {
        arena.check();
        for (block, fill) in &self.held {
            assert!(block.iter().all(|b| b == fill), "another block wrote here");
        }
        let stats = arena.stats();
        let held: Vec<usize> = self.held.iter().map(|(b, _)| b.bytes()).filter(|&b| b > 0).collect();
        assert_eq!((stats.allocated, stats.blocks), (held.iter().sum(), held.len()));
        assert!(stats.allocated <= stats.touched && stats.touched <= stats.mapped);
        let mapped = arena.owner.as_ref().map(|o| o.inner.mapped.load(Ordering::Relaxed));
        assert_eq!(mapped, Some(stats.mapped));
        assert_eq!(arena.account().used() as usize, stats.touched, "charged as far as it is open");
    }
}

#[derive(Clone, Debug)]
enum Step {
    Add { len: usize, room: usize },
    Drop(prop::sample::Index),
    Evacuate { moved: usize },
    Trim,
    Return { wanted: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let len = prop_oneof![
        20 => 0..64usize,
        20 => 0..5_000usize,
        4 => 0..100_000usize,
        1 => LARGE - 200..LARGE + 200,
    ];
    prop_oneof![
        8 => (len, prop_oneof![Just(0usize), 0..500usize]).prop_map(|(len, room)| Step::Add { len, room }),
        7 => any::<prop::sample::Index>().prop_map(Step::Drop),
        1 => (0..40usize).prop_map(|moved| Step::Evacuate { moved }),
        1 => Just(Step::Trim),
        2 => (0..200_000usize).prop_map(|wanted| Step::Return { wanted }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 128 }))]

    #[test]
    fn blocks_keep_their_content_whatever_comes_and_goes(steps in prop::collection::vec(step(), 1..120)) {
        let arena = Arena::new();
        let mut model = Model::default();
        for step in steps {
            match step {
                Step::Add { len, room } => model.add(&arena, len, room),
                Step::Drop(index) if !model.held.is_empty() => {
                    let at = index.index(model.held.len());
                    drop(model.held.swap_remove(at));
                }
                Step::Drop(_) => {}
                Step::Evacuate { moved } => {
                    let guard = arena.evacuate();
                    arena.check();
                    for (block, _) in model.held.iter_mut().take(moved) {
                        *block = arena.copy(block);
                    }
                    drop(guard);
                }
                Step::Trim => arena.trim(),
                Step::Return { wanted } => arena.return_pages(wanted),
            }
            model.check(&arena);
        }
        model.held.clear();
        model.check(&arena);
        arena.trim();
        prop_assert_eq!(arena.stats(), ArenaStats::default());
    }
}

#[test]
fn adjacent_blocks_that_are_freed_become_one_block() {
    let arena = Arena::new();
    let blocks: Vec<_> = (0..100).map(|_| arena.copy(&[7u8; 400])).collect();
    let keep = arena.copy(&[1u8; 8]);
    let mapped = arena.stats().mapped;
    // The even blocks are freed first, then the odd blocks between them. The free ranges join in any order.
    let (odd, even): (Vec<_>, Vec<_>) = blocks.into_iter().enumerate().partition(|(i, _)| i % 2 == 1);
    drop(even);
    arena.check();
    drop(odd);
    arena.check();
    let whole = arena.copy(&[2u8; 40_000]);
    assert_eq!(arena.stats().mapped, mapped, "the joined space was used");
    drop((keep, whole));
}

#[test]
fn empty_regions_go_back_except_one() {
    let arena = Arena::new();
    let blocks: Vec<_> = (0..5_000).map(|i| arena.copy(&vec![i as u32; 500])).collect();
    let full = arena.stats();
    assert!(full.regions > 4 && full.mapped - full.touched <= full.mapped / 4 + (64 << 10));
    drop(blocks);
    assert_eq!((arena.stats().regions, arena.stats().blocks), (1, 0));
    arena.trim();
    assert_eq!(arena.stats(), ArenaStats::default());
}

/// A few remaining blocks in all regions keep little more memory than their own, and the rest can be reused.
#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn blocks_keep_little_more_than_themselves_of_their_regions() {
    let arena = Arena::new();
    let mut blocks: Vec<_> = (0..5_000).map(|i| arena.copy(&vec![i as u32; 500])).collect();
    let full = arena.stats();
    let mut at = 0;
    blocks.retain(|_| {
        at += 1;
        at % 50 == 0
    });
    assert!(arena.stats().touched > full.touched / 2, "each keeps its region");
    arena.return_pages(100_000);
    let some = arena.stats();
    assert!((100_000..3_000_000).contains(&some.returned), "no more than it takes: {some:?}");
    arena.return_pages(usize::MAX);
    arena.check();
    let least = arena.stats();
    assert!(least.touched < blocks.len() * 3 * mapping::PAGE, "{least:?}");
    assert_eq!(arena.account().used() as usize, least.touched);
    // An allocation touches only the memory pages that it needs.
    let new = arena.copy(&[7u32; 5_000]);
    let taken = arena.stats().touched - least.touched;
    assert!(taken <= new.bytes() + 2 * mapping::PAGE, "{taken}");
    blocks.extend((0..4_000).map(|i| arena.copy(&vec![i as u32; 500])));
    arena.check();
    let again = arena.stats();
    assert!(again.mapped <= full.mapped && again.touched <= full.touched, "{again:?} after {full:?}");
    assert!(blocks[100..].iter().enumerate().all(|(i, block)| block.iter().all(|&n| n == i as u32)));
    drop((blocks, new));
    arena.check();
    arena.trim();
    assert_eq!(arena.stats(), ArenaStats::default());
    assert_eq!(arena.account().used(), 0);
}

#[test]
fn an_evacuation_lays_blocks_out_in_order_and_returns_the_old_regions() {
    let arena = Arena::new();
    let mut blocks: Vec<_> = (0..3_000).map(|i| arena.copy(&vec![i as u32; 100 + (i * 37) % 900])).collect();
    // Every third block is freed, which leaves holes everywhere.
    for i in (0..3_000).step_by(3) {
        blocks[i] = Counted::default();
    }
    let before = arena.stats();
    let guard = arena.evacuate();
    for block in &mut blocks {
        *block = arena.copy(block);
    }
    drop(guard);
    arena.check();
    let after = arena.stats();
    // A remainder that is too small for a block belongs to the block before it.
    assert_eq!(after.blocks, before.blocks);
    assert!(after.allocated.abs_diff(before.allocated) < 32 * before.blocks / 10);
    // No gaps, except for the rest of the newest region, which is rounded up to a huge page.
    assert!(after.free() < after.allocated / 50 + mapping::HUGE, "{after:?}");
    let starts: Vec<_> = blocks.iter().filter(|b| !b.is_empty()).map(|b| b.as_ptr() as usize).collect();
    let steps = starts.windows(2).filter(|w| w[1] > w[0] && w[1] - w[0] < 8_192).count();
    // A block that does not fit at the end of a region begins in the next region.
    assert!(steps * 100 >= starts.len() * 99, "{steps} of {} in order", starts.len());
}

#[test]
fn blocks_outlive_the_handles_and_take_their_regions_with_them() {
    let arena = Arena::new();
    let inner = Arc::downgrade(&arena.owner.as_ref().unwrap().inner);
    let (small, large) = (arena.copy(&[1u64, 2, 3]), arena.copy(&vec![9u8; LARGE]));
    let clone = small.clone();
    drop((arena, small));
    assert!(inner.upgrade().is_some());
    assert_eq!((&clone[..], large[LARGE - 1]), (&[1u64, 2, 3][..], 9));
    drop(large);
    drop(clone);
    assert!(inner.upgrade().is_none(), "the last block took the arena with it");
}

#[test]
fn threads_that_allocate_and_free_for_each_other_keep_all_invariants() {
    let arena = Arena::new();
    let (give, take) = std::sync::mpsc::sync_channel::<Counted<u64>>(64);
    let take = std::sync::Mutex::new(take);
    std::thread::scope(|scope| {
        for seed in 0..3u64 {
            let (arena, give) = (arena.clone(), give.clone());
            scope.spawn(move || {
                for i in 0..4_000u64 {
                    give.send(arena.copy(&vec![seed; (i * 31 % 700) as usize])).unwrap();
                }
            });
        }
        drop(give);
        for _ in 0..2 {
            scope.spawn(|| {
                let mut kept = std::collections::VecDeque::new();
                loop {
                    let Ok(block) = take.lock().unwrap().recv() else { break };
                    kept.push_back((block.first().copied(), block));
                    if kept.len() > 500 {
                        let (first, block) = kept.pop_front().unwrap();
                        assert!(block.iter().all(|b| Some(*b) == first));
                    }
                }
            });
        }
    });
    arena.check();
    assert_eq!(arena.stats().blocks, 0);
}

#[test]
fn a_region_occupies_memory_only_as_far_as_it_is_open() {
    let arena = Arena::new();
    let first = arena.copy(&[1u8; 100]);
    let small = arena.stats();
    assert_eq!((small.mapped, small.touched), (64 << 10, 4 << 10));
    // Enough blocks for regions of the size of huge pages, which the arena also opens step by step.
    let mut kept: Vec<_> = (0..4_000).map(|i| arena.copy(&vec![i as u8; 4_000])).collect();
    let full = arena.stats();
    arena.check();
    assert!(full.mapped >= 16_000_000 && full.free() < full.touched / 50 + (64 << 10), "{full:?}");
    // The arena reuses opened memory before it opens more.
    kept.truncate(2_000);
    kept.extend((0..2_000).map(|i| arena.copy(&vec![i as u8; 4_000])));
    assert_eq!(arena.stats(), full);
    arena.check();
    drop((first, kept));
}

/// The blocks are like the lists of a skewed graph, of which a fifth is removed and inserted again
/// repeatedly. Each block shrinks and grows back in some steps, in changing order. The old block is freed
/// shortly after the new one is allocated.
#[test]
fn shrinking_and_growing_all_blocks_over_and_over_leaves_few_gaps() {
    let arena = Arena::new();
    let sizes: Vec<usize> = (0..4_000).map(|i| 400 + 4_000_000 / (i + 100)).collect();
    let mut blocks: Vec<Counted<u8>> = sizes.iter().map(|_| Counted::default()).collect();
    let mut retire_list = std::collections::VecDeque::new();
    let mut replace_all = |share: usize, seed: usize| {
        for i in 0..sizes.len() {
            let at = (i * 1_609 + seed * 577) % sizes.len();
            // The sizes of a step differ, so that no block is replaced by a block of exactly its size.
            let size = sizes[at] * (share * 16 + (at * 7 + seed * 5) % 16) / 1_600;
            retire_list.push_back(std::mem::replace(&mut blocks[at], arena.copy(&vec![1; size])));
            retire_list.drain(..retire_list.len().saturating_sub(16));
        }
    };
    (1..=20).for_each(|step| replace_all(step * 5, step));
    let gaps = || arena.stats().free() as f64 / arena.stats().allocated as f64;
    let loaded = gaps();
    for round in 0..5 {
        for (step, share) in [94, 87, 80, 87, 94, 100].into_iter().enumerate() {
            replace_all(share, 20 + round * 6 + step);
        }
    }
    arena.check();
    assert!(loaded < 0.03 && gaps() < 0.04, "{loaded} {}", gaps());
}

#[test]
fn a_handle_without_an_arena_allocates_plainly() {
    let arena = Arena::default();
    let list = arena.copy(&[1u32, 2, 3]);
    let again = list.clone();
    assert!(list.is_shared() && list.is_same(&again) && list.bytes() >= 12);
    assert_eq!(arena.stats(), ArenaStats::default());
    let mut builder = arena.builder::<f64>(10);
    builder.extend(&[0.5, 1.5]);
    assert_eq!(builder.as_slice(), [0.5, 1.5]);
    assert_eq!(&builder.finish()[..], [0.5, 1.5]);
}
