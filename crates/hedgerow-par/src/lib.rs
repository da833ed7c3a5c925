//! Parallel loops that run on the calling thread if no other thread is available.
//!
//! Rayon panics if its global pool cannot be started. In a forked child, which lacks the threads of the
//! parent's pools, a call into these pools never returns. So all parallel work of the store and of the
//! kernels uses this crate, which chooses where it runs (`docs/design/parallel.md`):
//!
//! 1. in the pool that is current at the call (`ThreadPool::install`);
//! 2. else in rayon's global pool, if this process started it;
//! 3. else in a pool that this process keeps for the store;
//! 4. else, if no thread can be started, on the calling thread, as a plain loop.
//!
//! **Elements are chunks.** A loop of rayon is about ten functions, compiled for each type of elements and
//! each closure, and kernels have many loops. So a loop of this crate puts its elements into a list. It
//! divides the indexes of the list in one parallel loop, which is compiled once and calls `f` through a
//! pointer. An element should take some hundred nanoseconds, like a chunk of a list. Loops over numbers are
//! in [`fine`].
//!
//! The number of threads is that of the pool. A pool that this crate starts has `RAYON_NUM_THREADS` threads,
//! or else one for each processor.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::iter::plumbing::{Producer, ProducerCallback};
use rayon::prelude::*;

pub mod fine;
mod job;
mod place;
#[cfg(test)]
mod tests;

pub use job::{Job, start, start_beside};
use place::{Place, place};
pub use place::{refuse_threads, run, spawn, threads};

/// Calls `f` with each element. Blocks until all calls are done.
pub fn for_each<I: IndexedParallelIterator>(elements: I, f: impl Fn(I::Item) + Send + Sync) {
    for_each_of(list(elements), &f);
}

fn for_each_of<E: Send>(elements: Vec<E>, f: &(dyn Fn(E) + Sync)) {
    let Some(place) = place().shared(elements.len()) else { return elements.into_iter().for_each(f) };
    let slots = slots(elements);
    place.each(slots.len(), &|at| slots[at].take().into_iter().for_each(f));
}

/// Returns the results of `f` for all elements, in their order.
pub fn map<I: IndexedParallelIterator, T: Send>(
    elements: I,
    f: impl Fn(I::Item) -> T + Send + Sync,
) -> Vec<T> {
    map_of(list(elements), &f)
}

fn map_of<E: Send, T: Send>(elements: Vec<E>, f: &(dyn Fn(E) -> T + Sync)) -> Vec<T> {
    let Some(place) = place().shared(elements.len()) else { return elements.into_iter().map(f).collect() };
    let slots = slots(elements);
    let made: Vec<Slot<T>> = slots.iter().map(|_| Slot::default()).collect();
    place.each(slots.len(), &|at| slots[at].take().into_iter().for_each(|element| made[at].put(f(element))));
    made.into_iter().filter_map(Slot::into_inner).collect()
}

/// Joins the results of `f` for all elements with `join`, in order. Returns the result of `none` if there is
/// no element.
pub fn map_reduce<I: IndexedParallelIterator, T: Send>(
    elements: I,
    f: impl Fn(I::Item) -> T + Send + Sync,
    none: impl Fn() -> T,
    join: impl Fn(T, T) -> T,
) -> T {
    map_of(list(elements), &f).into_iter().reduce(join).unwrap_or_else(none)
}

/// Folds groups of consecutive elements, each starting from `none`. Returns the results of the groups, in
/// order.
pub fn fold<I: IndexedParallelIterator, T: Send>(
    elements: I,
    none: impl Fn() -> T + Send + Sync,
    f: impl Fn(T, I::Item) -> T + Send + Sync,
) -> Vec<T> {
    let mut rest = list(elements).into_iter();
    let length = rest.len().div_ceil(RUNS_OF_A_THREAD * threads()).max(1);
    let runs: Vec<Vec<I::Item>> = std::iter::from_fn(|| {
        let run: Vec<I::Item> = rest.by_ref().take(length).collect();
        (!run.is_empty()).then_some(run)
    })
    .collect();
    map_of(runs, &|run| run.into_iter().fold(none(), &f))
}

/// The number of groups of a [`fold`] for each thread: enough that a group with much work leaves no other
/// thread idle for long.
const RUNS_OF_A_THREAD: usize = 8;

/// Calls `f` with each element until a call fails. Returns the error of one of the failed calls.
///
/// # Errors
/// The error that a call of `f` returned.
pub fn try_for_each<I: IndexedParallelIterator, E: Send>(
    elements: I,
    f: impl Fn(I::Item) -> Result<(), E> + Send + Sync,
) -> Result<(), E> {
    try_for_each_of(list(elements), &f)
}

fn try_for_each_of<E: Send, X: Send>(
    elements: Vec<E>,
    f: &(dyn Fn(E) -> Result<(), X> + Sync),
) -> Result<(), X> {
    let Some(place) = place().shared(elements.len()) else { return elements.into_iter().try_for_each(f) };
    let (slots, has_failed, failure) = (slots(elements), AtomicBool::new(false), Slot::default());
    place.each(slots.len(), &|at| {
        if !has_failed.load(Ordering::Relaxed)
            && let Some(Err(error)) = slots[at].take().map(f)
        {
            has_failed.store(true, Ordering::Relaxed);
            failure.put(error);
        }
    });
    failure.into_inner().map_or(Ok(()), Err)
}

/// Sorts the elements; equal elements may change their order.
pub fn sort_unstable<T: Ord + Send>(elements: &mut [T]) {
    match place() {
        Place::Alone => elements.sort_unstable(),
        place => place.within(|| elements.par_sort_unstable()),
    }
}

/// Returns the elements of a parallel iterator in a list. Uses no pool.
fn list<I: IndexedParallelIterator>(elements: I) -> Vec<I::Item> {
    let mut all = Vec::with_capacity(elements.len());
    one_by_one(elements, &mut |element| all.push(element));
    all
}

/// Calls `f` with the elements of a parallel iterator, in a plain loop. Uses no pool.
fn one_by_one<I: IndexedParallelIterator>(elements: I, f: &mut dyn FnMut(I::Item)) {
    struct OneByOne<'a, T>(&'a mut dyn FnMut(T));

    impl<T> ProducerCallback<T> for OneByOne<'_, T> {
        type Output = ();

        fn callback<P: Producer<Item = T>>(self, elements: P) {
            elements.into_iter().for_each(self.0);
        }
    }

    elements.with_producer(OneByOne(f));
}

/// A place for a value that one thread stores and one thread takes.
struct Slot<T>(Mutex<Option<T>>);

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot(Mutex::new(None))
    }
}

impl<T> Slot<T> {
    fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, value: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }

    fn into_inner(self) -> Option<T> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

fn slots<E>(elements: Vec<E>) -> Vec<Slot<E>> {
    elements.into_iter().map(|element| Slot(Mutex::new(Some(element)))).collect()
}
