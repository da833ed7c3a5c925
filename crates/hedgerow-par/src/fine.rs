//! Loops over many small elements, compiled for each closure, so that there is no call between two elements.

use rayon::prelude::*;

use crate::one_by_one;
use crate::place::{Place, place};

/// Calls `f` with each element. Blocks until all calls are done.
pub fn for_each<I: IndexedParallelIterator>(elements: I, f: impl Fn(I::Item) + Send + Sync) {
    match place() {
        Place::Alone => one_by_one(elements, &mut |element| f(element)),
        place => place.within(|| elements.for_each(f)),
    }
}

/// Returns the results of `f` for all elements, in their order.
pub fn map<I: IndexedParallelIterator, T: Send>(
    elements: I,
    f: impl Fn(I::Item) -> T + Send + Sync,
) -> Vec<T> {
    match place() {
        Place::Alone => {
            let mut made = Vec::with_capacity(elements.len());
            one_by_one(elements, &mut |element| made.push(f(element)));
            made
        }
        place => place.within(|| elements.map(f).collect()),
    }
}

/// Folds groups of consecutive elements, each starting from `none`. Returns the results of the groups, in
/// order.
pub fn fold<I: IndexedParallelIterator, T: Send>(
    elements: I,
    none: impl Fn() -> T + Send + Sync,
    f: impl Fn(T, I::Item) -> T + Send + Sync,
) -> Vec<T> {
    match place() {
        Place::Alone => {
            let mut run = Some(none());
            one_by_one(elements, &mut |element| run = run.take().map(|run| f(run, element)));
            run.into_iter().collect()
        }
        place => place.within(|| elements.fold(none, f).collect()),
    }
}
