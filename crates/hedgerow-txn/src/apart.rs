//! Words that threads change apart from each other.

/// On cache lines of its own: two, since processors load lines in pairs.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);
