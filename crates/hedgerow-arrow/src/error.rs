//! The errors of tables.

use arrow_schema::ArrowError;

/// The error of a table that is read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused a read.
    #[error(transparent)]
    Store(#[from] hedgerow::Error),
    /// A table or a file is damaged, or does not fit the wanted form.
    #[error("{0}")]
    Table(String),
    /// A column does not fit.
    #[error("column {name}: {why}")]
    Column {
        /// The name of the column.
        name: String,
        /// The reason, with the row if one is at fault.
        why: String,
    },
}

impl Error {
    /// Makes the error of a column.
    pub(crate) fn column(name: &str, why: impl Into<String>) -> Error {
        Error::Column { name: name.to_owned(), why: why.into() }
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Error {
        match error {
            ArrowError::ExternalError(error) => match error.downcast::<Error>() {
                Ok(own) => *own,
                Err(other) => Error::Table(other.to_string()),
            },
            other => Error::Table(other.to_string()),
        }
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> ArrowError {
        ArrowError::ExternalError(Box::new(error))
    }
}
