//! Benchmarks of grace periods: entering and leaving a walk, and retiring a version that is freed later.

use std::sync::atomic::{AtomicBool, Ordering};

use divan::Bencher;
use divan::counter::ItemsCount;
use hedgerow_core::{Direction, Timestamp};
use hedgerow_mem::{Arena, Main, Memory, Subgraph};

/// The number of reads, or of retired versions, of one sample. The retired versions fill several batches.
const AT_A_TIME: u32 = 1024;

fn main() {
    divan::main();
}

/// Enters a walk, loads the head of an empty chain, and leaves.
fn enter_and_leave_in(subgraph: &Subgraph) {
    for _ in 0..AT_A_TIME {
        divan::black_box(subgraph.read(Direction::Out, Timestamp(1), |_| ())).ok();
    }
}

/// Measures walks of one, two and four threads at once.
#[divan::bench(threads = [1, 2, 4])]
fn enter_and_leave(bencher: Bencher<'_, '_>) {
    let subgraph = Subgraph::default();
    bencher.counter(ItemsCount::new(AT_A_TIME)).bench(|| enter_and_leave_in(&subgraph));
}

/// Links an empty version, unlinks it, and hands it to the retire list, which frees it in a batch.
fn retire(subgraph: &Subgraph) {
    for _ in 0..AT_A_TIME {
        let mut latched = subgraph.latch();
        latched.install(Direction::Out, Main::default(), Timestamp(1));
        latched.evict(Direction::Out);
    }
}

#[divan::bench]
fn retire_alone(bencher: Bencher<'_, '_>) {
    let subgraph = Subgraph::new(Memory::new(Arena::new()));
    bencher.counter(ItemsCount::new(AT_A_TIME)).bench_local(|| retire(&subgraph));
}

/// Measures retiring while another thread reads without a pause. Each batch interrupts that thread.
#[divan::bench]
fn retire_beside_a_reader(bencher: Bencher<'_, '_>) {
    let (subgraph, read) = (Subgraph::new(Memory::new(Arena::new())), Subgraph::default());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                enter_and_leave_in(&read);
            }
        });
        bencher.counter(ItemsCount::new(AT_A_TIME)).bench_local(|| retire(&subgraph));
        done.store(true, Ordering::Relaxed);
    });
}
