//! Padding for words that different threads change.

/// A value on cache lines of its own: two, since processors load lines in pairs.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);
