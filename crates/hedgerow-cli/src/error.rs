//! Errors of commands.

use std::io::{self, Write};
use std::process::ExitCode;

use hedgerow::ArgumentError;
use hedgerow_core::suggest::did_you_mean;
use serde_json::json;

/// The error with which a command ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The arguments are wrong: exit status 2.
    #[error("{0}")]
    Usage(String),
    /// Another failure: exit status 1.
    #[error("{0}")]
    Failed(String),
    /// The store refused the operation.
    #[error(transparent)]
    Store(#[from] hedgerow::Error),
    /// An input file cannot be read.
    #[error(transparent)]
    Read(hedgerow_load::Error),
    /// A table cannot be read or written.
    #[error(transparent)]
    Table(hedgerow_arrow::Error),
    /// A result cannot be written.
    #[error("writing {to}: {source}")]
    Write {
        /// The destination.
        to: String,
        /// The error of the system.
        source: io::Error,
    },
    /// A signal ended the command: exit status 128 and its number.
    #[error("interrupted by signal {signal}{}", of_rows(*.committed))]
    Interrupted {
        /// The number of the signal.
        signal: u8,
        /// The number of rows that were committed and stay in the store.
        committed: u64,
    },
    /// `check` found problems, which it has printed: exit status 3.
    #[error("the check found problems")]
    Problems,
    /// `get` found no such vertex or edge: exit status 4.
    #[error("{0}")]
    Absent(String),
    /// `salvage` lost data or may have lost some, and has reported the loss: exit status 3.
    #[error("some of the store is lost or doubtful")]
    Lossy,
}

fn of_rows(rows: u64) -> String {
    if rows == 0 { String::new() } else { format!(" (the first {rows} rows are committed)") }
}

impl CliError {
    /// Returns the error of a load, which `signal` ended unless it is 0.
    pub(crate) fn of_load(error: hedgerow_load::Error, signal: u8) -> CliError {
        use hedgerow_load::Error;
        match error {
            Error::Options(message) => CliError::Usage(message),
            Error::Store(error) => CliError::Store(error),
            Error::Interrupted => CliError::Interrupted { signal, committed: 0 },
            Error::Committed { rows, source } if matches!(*source, Error::Interrupted) => {
                CliError::Interrupted { signal, committed: rows }
            }
            error @ (Error::Read(_) | Error::Table(_)) => CliError::Read(error),
            other => CliError::Failed(other.to_string()),
        }
    }
}

impl From<hedgerow_export::Error> for CliError {
    fn from(error: hedgerow_export::Error) -> CliError {
        match error {
            hedgerow_export::Error::Store(error) => CliError::Store(error),
            hedgerow_export::Error::Table(error) => CliError::Table(error),
            hedgerow_export::Error::Write { to, source } => CliError::Write { to, source },
            other => CliError::Failed(other.to_string()),
        }
    }
}

impl From<hedgerow_arrow::Error> for CliError {
    fn from(error: hedgerow_arrow::Error) -> CliError {
        match error {
            hedgerow_arrow::Error::Store(error) => CliError::Store(error),
            other => CliError::Table(other),
        }
    }
}

impl CliError {
    /// True if the reader of standard output has closed it, as under `| head`: this is no failure.
    fn is_broken_pipe(&self) -> bool {
        matches!(self, CliError::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns the defined names that resemble the undefined one, if there are any.
    fn near_names(&self) -> String {
        let CliError::Store(hedgerow::Error::Argument(error)) = self else { return String::new() };
        let (ArgumentError::NoSuchLabel { label: name, known }
        | ArgumentError::NoSuchKind { kind: name, known }) = error
        else {
            return String::new();
        };
        did_you_mean(name, &known.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Prints the error on standard error, as one line or as an object on one line, and returns the exit
    /// status.
    pub(crate) fn report(&self, as_json: bool) -> ExitCode {
        if self.is_broken_pipe() {
            return ExitCode::SUCCESS;
        }
        let (group, status) = self.group();
        let message = format!("{self}{}", self.near_names());
        let line = match as_json {
            true => json!({"error": message, "group": group, "status": status}).to_string(),
            false => format!("error: {}", message.replace(['\n', '\r'], " ")),
        };
        // A failed write is ignored: standard error is closed.
        let _ = writeln!(io::stderr().lock(), "{line}");
        ExitCode::from(status)
    }

    /// Returns the group of the failure, for programs, and the exit status.
    fn group(&self) -> (&'static str, u8) {
        match self {
            CliError::Usage(_) => ("usage", 2),
            CliError::Failed(_) => ("failed", 1),
            CliError::Store(hedgerow::Error::Open(_)) => ("open", 1),
            CliError::Store(hedgerow::Error::Commit(_)) => ("commit", 1),
            CliError::Store(hedgerow::Error::Argument(_)) => ("argument", 1),
            CliError::Store(hedgerow::Error::State(_)) => ("state", 1),
            CliError::Store(_) => ("storage", 1),
            CliError::Read(_) | CliError::Table(_) => ("input", 1),
            CliError::Write { .. } => ("output", 1),
            CliError::Problems => ("problems", 3),
            CliError::Lossy => ("lossy", 3),
            CliError::Absent(_) => ("absent", 4),
            CliError::Interrupted { signal, .. } => ("interrupted", signal.saturating_add(128)),
        }
    }
}

/// Returns the first paragraph of a parser's message as one line. It names the fault and the argument.
pub(crate) fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().map(str::trim);
    let paragraph: Vec<&str> =
        lines.skip_while(|line| line.is_empty()).take_while(|l| !l.is_empty()).collect();
    let joined = paragraph.join(" ");
    joined.strip_prefix("error: ").unwrap_or(&joined).to_owned()
}
