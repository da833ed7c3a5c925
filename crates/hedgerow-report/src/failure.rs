//! Errors that end a demo or a measurement.

use std::error::Error;
use std::fmt::Display;

/// An error of any type.
pub type Failure = Box<dyn Error + Send + Sync>;

/// The result of a step whose failure may end the program.
pub type Result<T> = std::result::Result<T, Failure>;

/// A result whose error can get a prefix: the name of the step or of the file.
pub trait Context<T> {
    /// Prefixes the error with `what`.
    ///
    /// # Errors
    /// Returns the same error, with the prefix.
    fn context(self, what: impl Display) -> Result<T>;
}

impl<T, E: Display> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl Display) -> Result<T> {
        self.map_err(|error| format!("{what}: {error}").into())
    }
}
