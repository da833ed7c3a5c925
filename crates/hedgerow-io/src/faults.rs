//! Planted faults: negative controls of the tests. They exist only in builds with `--cfg hedgerow_faults`; in every
//! other build [`is_on`] is the constant `false`.

/// A fault that a test can turn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedFault {
    /// Recovery accepts log records without looking at the checksum of their operations.
    UncheckedTail,
    /// A checkpoint removes the log segments that it covers before the manifest that replaces them is durable.
    LogDeletedEarly,
    /// A manifest is renamed into place before it is synced.
    ManifestNotSynced,
    /// Commits are acknowledged before the log is synced.
    AcknowledgedEarly,
    /// Commits are not validated against what they read.
    ReadsNotValidated,
}

#[cfg(hedgerow_faults)]
thread_local! {
    static ON: std::cell::Cell<Option<PlantedFault>> = const { std::cell::Cell::new(None) };
}

/// Whether `fault` is turned on in this thread.
#[cfg(hedgerow_faults)]
pub fn is_on(fault: PlantedFault) -> bool {
    ON.get() == Some(fault)
}

/// Whether `fault` is turned on: never, in this build.
#[cfg(not(hedgerow_faults))]
#[inline(always)]
pub const fn is_on(_: PlantedFault) -> bool {
    false
}

/// Turns on one fault in this thread, or none.
#[cfg(hedgerow_faults)]
pub fn plant(fault: Option<PlantedFault>) {
    ON.set(fault);
}
