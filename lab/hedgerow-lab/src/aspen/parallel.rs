//! Threads for large batches.
//!
//! A writer holds the writer's lock while other threads work for it. Meanwhile these threads must not start
//! other work that could wait for that lock. So they belong to a pool of their own, which gets no other work.
//! A writer that already runs as a task of a pool does all the work alone. Otherwise it would start other
//! tasks of that pool while it waits.

use std::sync::OnceLock;

use rayon::ThreadPool;

/// The number of changed vertices from which on several threads share a batch.
pub(super) const LEAST_VERTICES: usize = 1024;
/// The number of changed ids in one list from which on several threads share a batch.
pub(super) const LEAST_IDS: usize = 4096;

static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();

/// Calls `f` with a flag that says whether `f` may share its work with other threads.
pub(super) fn with_threads<T: Send>(is_large: bool, f: impl FnOnce(bool) -> T + Send) -> T {
    let is_free = is_large && rayon::current_thread_index().is_none();
    let make = || rayon::ThreadPoolBuilder::new().thread_name(|i| format!("aspen-{i}")).build().ok();
    match is_free.then(|| POOL.get_or_init(make).as_ref()).flatten() {
        Some(pool) => pool.install(|| f(true)),
        None => f(false),
    }
}

/// Calls both functions, in parallel if `at_a_time`.
pub(super) fn both<A: Send, B: Send>(
    at_a_time: bool,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if at_a_time { rayon::join(a, b) } else { (a(), b()) }
}
