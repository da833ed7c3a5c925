//! Each kind of loop in every place.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::{
    fold, for_each, map, map_reduce, refuse_threads, run, sort_unstable, spawn, threads, try_for_each,
};

/// [`refuse_threads`] is for the whole process: one test at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn every_loop() {
    let numbers: Vec<u64> = (0..10_000).collect();
    let sum = AtomicU64::new(0);
    for_each(numbers.par_iter(), |n| _ = sum.fetch_add(*n, Ordering::Relaxed));
    assert_eq!(sum.into_inner(), 49_995_000);
    let doubled = map(numbers.par_chunks(7).enumerate(), |(at, chunk)| (at, chunk.len()));
    assert!(doubled.iter().zip(0..).all(|((at, _), i)| *at == i));
    assert_eq!(doubled.iter().map(|(_, len)| len).sum::<usize>(), 10_000);
    assert_eq!(map_reduce(numbers.par_iter(), |n| *n, || 0, |a, b| a + b), 49_995_000);
    assert_eq!(map_reduce((0..0usize).into_par_iter(), |n| n, || 7, |a, b| a + b), 7);
    let runs = fold(numbers.par_iter(), Vec::new, |mut run, n| {
        run.push(*n);
        run
    });
    assert_eq!(runs.concat(), numbers);
    let before_9 = |n: &u64| if *n < 9 { Ok(()) } else { Err(*n) };
    assert!(try_for_each(numbers.par_iter(), before_9).is_err_and(|n| n >= 9));
    assert_eq!(try_for_each(numbers[..9].par_iter(), before_9), Ok(()));
    let mut falling: Vec<u64> = numbers.iter().rev().copied().collect();
    sort_unstable(&mut falling);
    assert_eq!(falling, numbers);
}

#[test]
fn loops_in_the_pool_of_the_process() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|lock| lock.into_inner());
    every_loop();
    run(every_loop);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
    pool.install(|| {
        assert_eq!(threads(), 3);
        every_loop();
    });
}

#[test]
fn loops_without_threads() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|lock| lock.into_inner());
    refuse_threads(true);
    let caller = std::thread::current().id();
    assert_eq!(threads(), 1);
    every_loop();
    run(|| {
        assert_eq!(std::thread::current().id(), caller);
        every_loop();
    });
    let (done, was_done) = std::sync::mpsc::channel();
    spawn(move || done.send(std::thread::current().id()).expect("the receiver is there"));
    assert_eq!(was_done.try_recv(), Ok(caller));
    refuse_threads(false);
    assert!(rayon::current_thread_index().is_none());
}
