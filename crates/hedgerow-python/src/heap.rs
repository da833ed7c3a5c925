//! Calls of the package's allocator, which exists only on Linux. On other systems they do nothing.

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{Keeping, give_back, give_back_after};

#[cfg(target_os = "linux")]
pub(crate) use crate::memory::{Keeping, give_back, give_back_after};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    /// A guard of a bulk call.
    pub(crate) struct Keeping;

    impl Keeping {
        pub(crate) fn begin() -> Keeping {
            Keeping
        }
    }

    pub(crate) fn give_back() {}

    pub(crate) fn give_back_after(_edges: usize) {}
}
