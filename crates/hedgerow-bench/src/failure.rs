//! What ends an experiment early.

pub use hedgerow_subjects::Failure;
pub(crate) use hedgerow_subjects::Result;

/// Adds what was being done to an error.
pub(crate) trait Context<T> {
    /// Prefixes the error with `what`.
    fn context(self, what: impl std::fmt::Display) -> Result<T>;
}

impl<T, E: std::fmt::Display> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl std::fmt::Display) -> Result<T> {
        self.map_err(|error| format!("{what}: {error}").into())
    }
}
