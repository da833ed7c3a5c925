//! Planted faults: mistakes that the crash tests must find. They exist only in builds with `--cfg hedgerow_faults`, are
//! chosen at run time, and hold for the thread that chose them.

#[cfg(hedgerow_faults)]
use std::cell::Cell;

#[cfg(hedgerow_faults)]
thread_local! {
    static UNCHECKED_TAIL: Cell<bool> = const { Cell::new(false) };
}

/// Makes recovery on this thread accept commits without comparing the checksum of their payload.
#[cfg(hedgerow_faults)]
pub fn set_unchecked_tail(unchecked: bool) {
    UNCHECKED_TAIL.set(unchecked);
}

/// Whether payloads go unchecked.
#[cfg(hedgerow_faults)]
pub(crate) fn unchecked_tail() -> bool {
    UNCHECKED_TAIL.get()
}

/// Never, in an ordinary build.
#[cfg(not(hedgerow_faults))]
pub(crate) fn unchecked_tail() -> bool {
    false
}
