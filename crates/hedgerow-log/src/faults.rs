//! Planted faults: mistakes that the crash tests must find. They exist only in builds with `--cfg hedgerow_faults`.

#[cfg(hedgerow_faults)]
use std::sync::atomic::{AtomicBool, Ordering};

/// While set, recovery does not compare the checksums of payloads, so that torn commits are accepted.
#[cfg(hedgerow_faults)]
pub static UNCHECKED_TAIL: AtomicBool = AtomicBool::new(false);

/// Whether payloads go unchecked.
#[cfg(hedgerow_faults)]
pub(crate) fn unchecked_tail() -> bool {
    UNCHECKED_TAIL.load(Ordering::Relaxed)
}

/// Never, in an ordinary build.
#[cfg(not(hedgerow_faults))]
pub(crate) fn unchecked_tail() -> bool {
    false
}
