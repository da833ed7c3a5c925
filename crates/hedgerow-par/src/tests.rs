//! Tests of each kind of loop in each [`Place`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rayon::prelude::*;

use super::place::Place;
use super::{
    fine, fold, for_each, map, map_reduce, refuse_threads, run, sort_unstable, spawn, start, threads,
    try_for_each,
};

/// The lock of tests that call [`refuse_threads`], which affects the whole process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn every_loop() {
    let numbers: Vec<u64> = (0..10_000).collect();
    let sum = AtomicU64::new(0);
    for_each(numbers.par_iter(), |n| _ = sum.fetch_add(*n, Ordering::Relaxed));
    fine::for_each(numbers.par_iter(), |n| _ = sum.fetch_add(*n, Ordering::Relaxed));
    assert_eq!(sum.into_inner(), 2 * 49_995_000);
    assert!(fine::map(numbers.par_iter(), |n| n + 1).into_iter().eq(1..=10_000));
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
    let sums = fine::fold(numbers.par_iter(), || 0, |sum, n| sum + n);
    assert_eq!(sums.into_iter().sum::<u64>(), 49_995_000);
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

#[test]
fn jobs_are_waited_for_and_given_up() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|lock| lock.into_inner());
    let soon = Duration::from_millis(1);
    let caller = std::thread::current().id();
    let (go, may_go) = std::sync::mpsc::channel::<()>();
    let job = start(move || {
        may_go.recv().expect("the sender is there");
        std::thread::current().id()
    });
    assert!(!job.wait(soon));
    go.send(()).expect("the receiver is there");
    assert_ne!(job.join(), caller);
    let job = start(|| std::panic::panic_any("told to"));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job.join()));
    assert_eq!(panic.err().and_then(|told| told.downcast::<&str>().ok()).as_deref(), Some(&"told to"));
}

/// A job frees its data when it ends or when its handle is given up, whether or not it has begun.
#[test]
fn nothing_of_a_job_is_left() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|lock| lock.into_inner());
    let held = Arc::new(());
    let holding = |held: &Arc<()>| {
        let held = held.clone();
        move || drop(held)
    };
    start(holding(&held)).join();
    assert_eq!(Arc::strong_count(&held), 1);
    // The only thread of the pool is busy, so a job that starts there must wait.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let (go, may_go) = std::sync::mpsc::channel::<()>();
    pool.spawn(move || may_go.recv().expect("the sender is there"));
    let waiting = super::job::start_in(Place::Own(Arc::new(pool)), holding(&held));
    assert!(!waiting.wait(Duration::from_millis(1)));
    waiting.give_up();
    assert_eq!(Arc::strong_count(&held), 1, "it was taken back");
    go.send(()).expect("the receiver is there");
    let begun = start(holding(&held));
    begun.give_up();
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn jobs_without_other_threads_are_done_at_once() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|lock| lock.into_inner());
    let caller = std::thread::current().id();
    refuse_threads(true);
    let job = start(|| (std::thread::current().id(), threads()));
    assert!(job.wait(Duration::ZERO));
    assert_eq!(job.join(), (caller, 1));
    refuse_threads(false);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    assert!(pool.install(|| start(|| 7).wait(Duration::ZERO)), "the pool's one thread waits for itself");
}

#[test]
fn a_job_beside_the_pool_has_a_thread_of_its_own() {
    let job = crate::start_beside("beside", || {
        assert!(rayon::current_thread_index().is_none());
        // It may wait for threads of the pool.
        crate::map((0..4_usize).into_par_iter(), |at| at).len()
            + std::thread::current().name().map_or(0, str::len)
    });
    assert_eq!(job.join(), 4 + "beside".len());
}
