//! Parallel loops that run on the calling thread where no other thread can be had.
//!
//! Rayon panics where its global pool cannot be started, and in a forked child, where the threads of the parent's pools do
//! not exist, a call into them never returns. So all parallel work of the store and of the kernels goes through this
//! crate, which chooses where it runs (`docs/design/parallel.md`):
//!
//! 1. in the pool that is current where the call is made (`ThreadPool::install`);
//! 2. else in rayon's global pool, if this process started it;
//! 3. else in a pool that this process keeps for the store;
//! 4. else, where no thread can be started, on the calling thread, as a plain loop.
//!
//! The number of threads is that of the pool; of those that this crate starts it is `RAYON_NUM_THREADS`, or the number of
//! processors.
#![forbid(unsafe_code)]

use rayon::iter::plumbing::{Producer, ProducerCallback};
use rayon::prelude::*;

mod job;
mod place;
#[cfg(test)]
mod tests;

pub use job::{Job, start};
use place::{Place, place};
pub use place::{refuse_threads, run, spawn, threads};

/// Calls `f` with each element. Blocks until all calls are done.
pub fn for_each<I: IndexedParallelIterator>(elements: I, f: impl Fn(I::Item) + Send + Sync) {
    match place() {
        Place::Here => elements.for_each(f),
        Place::Own(pool) => pool.install(|| elements.for_each(f)),
        Place::Alone => elements.with_producer(OneByOne(|element| {
            f(element);
            true
        })),
    }
}

/// What `f` makes of each element, in their order.
pub fn map<I: IndexedParallelIterator, T: Send>(
    elements: I,
    f: impl Fn(I::Item) -> T + Send + Sync,
) -> Vec<T> {
    match place() {
        Place::Here => elements.map(f).collect(),
        Place::Own(pool) => pool.install(|| elements.map(f).collect()),
        Place::Alone => {
            let mut made = Vec::with_capacity(elements.len());
            elements.with_producer(OneByOne(|element| {
                made.push(f(element));
                true
            }));
            made
        }
    }
}

/// What `f` makes of the elements, joined by `join`, which must not depend on the order; `none` of no elements.
pub fn map_reduce<I: IndexedParallelIterator, T: Send>(
    elements: I,
    f: impl Fn(I::Item) -> T + Send + Sync,
    none: impl Fn() -> T + Send + Sync,
    join: impl Fn(T, T) -> T + Send + Sync,
) -> T {
    match place() {
        Place::Here => elements.map(f).reduce(none, join),
        Place::Own(pool) => pool.install(|| elements.map(f).reduce(none, join)),
        Place::Alone => {
            let mut sum = Some(none());
            elements.with_producer(OneByOne(|element| {
                sum = sum.take().map(|sum| join(sum, f(element)));
                true
            }));
            sum.unwrap_or_else(none)
        }
    }
}

/// Folds runs of elements that follow each other, each run from `none`; returns what the runs came to, in order.
pub fn fold<I: IndexedParallelIterator, T: Send>(
    elements: I,
    none: impl Fn() -> T + Send + Sync,
    f: impl Fn(T, I::Item) -> T + Send + Sync,
) -> Vec<T> {
    match place() {
        Place::Here => elements.fold(none, f).collect(),
        Place::Own(pool) => pool.install(|| elements.fold(none, f).collect()),
        Place::Alone => {
            let mut run = Some(none());
            elements.with_producer(OneByOne(|element| {
                run = run.take().map(|run| f(run, element));
                true
            }));
            run.into_iter().collect()
        }
    }
}

/// Calls `f` with each element until a call fails; of several failures one is returned.
///
/// # Errors
/// What a call of `f` returned.
pub fn try_for_each<I: IndexedParallelIterator, E: Send>(
    elements: I,
    f: impl Fn(I::Item) -> Result<(), E> + Send + Sync,
) -> Result<(), E> {
    match place() {
        Place::Here => elements.try_for_each(f),
        Place::Own(pool) => pool.install(|| elements.try_for_each(f)),
        Place::Alone => {
            let mut all = Ok(());
            elements.with_producer(OneByOne(|element| {
                all = f(element);
                all.is_ok()
            }));
            all
        }
    }
}

/// Sorts; equal elements may change places.
pub fn sort_unstable<T: Ord + Send>(elements: &mut [T]) {
    match place() {
        Place::Here => elements.par_sort_unstable(),
        Place::Own(pool) => pool.install(|| elements.par_sort_unstable()),
        Place::Alone => elements.sort_unstable(),
    }
}

/// Takes the elements of a parallel iterator as a plain loop does, until its function returns `false`. No pool is
/// touched.
struct OneByOne<F>(F);

impl<T, F: FnMut(T) -> bool> ProducerCallback<T> for OneByOne<F> {
    type Output = ();

    fn callback<P: Producer<Item = T>>(mut self, elements: P) {
        for element in elements.into_iter() {
            if !(self.0)(element) {
                return;
            }
        }
    }
}
