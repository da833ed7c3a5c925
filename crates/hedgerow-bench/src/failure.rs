//! What ends an experiment early.

/// An error on its way to the user: experiments report it and end.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The result of a step of an experiment.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

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
