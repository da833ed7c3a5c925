//! The process to which a store belongs, and the treatment of inherited stores in a forked child.
//!
//! A fork copies the memory of a process and one of its threads. Work of the other threads is never finished
//! in the child: locks stay held, lists stay half changed. So a child uses nothing of a store that its parent
//! opened. This module shows whether this process made a value ([`OwnerProcess`]). It delays forks during
//! short sections that a child must not find half done ([`hold_off`]). And it closes the parent's files in a
//! child ([`Descriptor`]).
//!
//! The C library calls the handlers of this module around every `fork()`. [`OwnerProcess::is_current_by_id`]
//! also recognizes a child that was made without the C library (by a raw `clone`), because it compares
//! process ids.
//!
//! # Invariants
//! * **K1.** In a child [`generation`] differs from the parent's before any code of the program runs.
//! * **K2.** No thread is in a section of [`hold_off`] at the moment of a fork: data that is changed only in
//!   such sections is consistent in a child.
//! * **K3.** In a child no descriptor of the parent's stores refers to the parent's open files: its number
//!   refers to `/dev/null`, open for reading, until the child ends. So the child shares no lock, an erroneous
//!   write fails, and no other file of the child gets such a number.
//!
//! The handler in the child calls `open`, `dup2`, `fcntl` and `close`, and loads and stores atomics: POSIX
//! allows all of these after a fork, also if the parent has several threads.
#![allow(unsafe_code)]

mod descriptor;
mod table;
#[cfg(all(test, unix, not(any(feature = "model-checking", miri))))]
mod tests;

pub use descriptor::Descriptor;

use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts the forks between the process that loaded this library and this one.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Counts forks from now on; see [`generation`].
pub fn count_forks() {
    handlers::register();
}

/// Returns a number that differs between a process and its forked children, if [`count_forks`] or
/// [`OwnerProcess::current`] was called before the fork. One load.
#[inline]
pub fn generation() -> u64 {
    // The handler changes the value while the child has only one thread.
    GENERATION.load(Ordering::Relaxed)
}

/// The process that made a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnerProcess {
    generation: u64,
    id: u32,
}

impl OwnerProcess {
    /// Returns this process. The first call registers the handlers of this module.
    pub fn current() -> OwnerProcess {
        handlers::register();
        OwnerProcess { generation: generation(), id: std::process::id() }
    }

    /// True if the caller runs in the owner process, not in a forked child of it. One load.
    #[inline]
    pub fn is_current(&self) -> bool {
        self.generation == generation()
    }

    /// Like [`is_current`](Self::is_current), but also false in children that were made without the C
    /// library. Costs a system call.
    pub fn is_current_by_id(&self) -> bool {
        self.is_current() && self.id == std::process::id()
    }
}

/// One fork in progress, as [`SECTIONS`] counts it.
const FORK: u64 = 1 << 32;

/// The number of threads in sections, plus [`FORK`] times the number of forks in progress.
static SECTIONS: AtomicU64 = AtomicU64::new(0);

/// A section in which this process is not forked. The section ends when this is dropped.
#[must_use = "forks go on when this is dropped"]
pub struct HeldOff {
    /// A marker that keeps the section on its thread.
    thread: PhantomData<*const ()>,
}

/// Begins a section in which this process is not forked: waits for forks in progress, and forks wait for its
/// end. Meant for a few system calls. A thread must not nest sections, or fork in a section.
pub fn hold_off() -> HeldOff {
    loop {
        let now = SECTIONS.load(Ordering::Relaxed);
        if now >= FORK {
            std::thread::yield_now();
        } else if SECTIONS.compare_exchange_weak(now, now + 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return HeldOff { thread: PhantomData };
        }
    }
}

impl Drop for HeldOff {
    fn drop(&mut self) {
        SECTIONS.fetch_sub(1, Ordering::Release);
    }
}

/// The hooks of other modules for a child; the handler calls them after it has changed the generation.
static IN_CHILD: [OnceLock<fn()>; 4] = [const { OnceLock::new() }; 4];

/// Makes every child call `hook` before any code of the program runs in the child. The hook may do what POSIX
/// allows after a fork (`signal-safety(7)`): it takes no lock and allocates nothing. At most four hooks. A
/// module may call this several times, with the same flag, which shows whether its hook is registered. Each
/// call but the first costs one load.
pub fn on_child(is_registered: &AtomicBool, hook: fn()) {
    if is_registered.load(Ordering::Acquire) {
        return;
    }
    handlers::register();
    // A thread that finds the flag set may continue before the hook is registered. But a fork waits for this
    // section, and so for the registration.
    let _whole = hold_off();
    if !is_registered.swap(true, Ordering::AcqRel) {
        let found = IN_CHILD.iter().any(|slot| slot.set(hook).is_ok());
        assert!(found, "more than four modules watch for forks");
    }
}

#[cfg(all(unix, not(any(feature = "model-checking", miri))))]
mod handlers {
    use super::{AtomicBool, FORK, GENERATION, IN_CHILD, Ordering, SECTIONS, table};

    /// Registers the handlers, once. Each call but the first costs one load.
    #[inline]
    pub(super) fn register() {
        static REGISTERED: AtomicBool = AtomicBool::new(false);
        if !REGISTERED.load(Ordering::Acquire) {
            // Two threads may both register: running the handlers twice has the same effect as once. No
            // thread waits for another, because a child that is forked meanwhile would lack the other thread.
            // SAFETY: the functions exist while the process does, and the function for the child does only
            // what is allowed after a fork. Where they cannot be registered (no memory), children are found
            // by their id.
            unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
            REGISTERED.store(true, Ordering::Release);
        }
    }

    /// Waits until the present sections end, and lets no new section begin.
    extern "C" fn before() {
        SECTIONS.fetch_add(FORK, Ordering::SeqCst);
        let mut looks = 0;
        while !SECTIONS.load(Ordering::Acquire).is_multiple_of(FORK) {
            looks += 1;
            if looks < 64 {
                std::thread::yield_now();
            } else {
                std::thread::sleep(std::time::Duration::from_micros(50));
            }
        }
    }

    extern "C" fn in_parent() {
        SECTIONS.fetch_sub(FORK, Ordering::Release);
    }

    extern "C" fn in_child() {
        SECTIONS.store(0, Ordering::Relaxed);
        GENERATION.fetch_add(1, Ordering::Relaxed);
        table::give_up_all();
        for hook in IN_CHILD.iter().filter_map(std::sync::OnceLock::get) {
            hook();
        }
    }
}

#[cfg(not(all(unix, not(any(feature = "model-checking", miri)))))]
mod handlers {
    pub(super) fn register() {}
}
