//! Update streams: events on a directed, weighted graph, grouped in transactions.
//!
//! The same events come from a seeded generator or from a file: [`StreamSpec`] is the choice, [`Stream`] the
//! iterator. A transaction's index is its position in the stream, from 0, and the same each time the stream
//! is read.

mod edges;
mod event;
mod generated;
mod git;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use hedgerow_core::KeyKind;

use crate::read::{Lines, ReadError};

pub use event::{EVENTS_PER_TRANSACTION, Event};
pub use generated::{GeneratedConfig, MAX_EVENTS};

/// Events that take effect together, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The position in the stream, from 0.
    pub index: u64,
    /// The events, at least one.
    pub events: Vec<Event>,
}

/// The source of a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamSpec {
    /// The seeded generator.
    Generated(GeneratedConfig),
    /// A file: an event log with author, file and operation (recognised by its header), or else any edge
    /// file, whose rows are upserts in their order, [`EVENTS_PER_TRANSACTION`] a transaction.
    File(PathBuf),
}

/// The size of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of transactions.
    pub transactions: u64,
    /// The number of events.
    pub events: u64,
}

/// An error that ends the reading of a stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The file is unreadable or malformed.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl StreamSpec {
    /// Opens the stream at its beginning.
    ///
    /// # Errors
    /// [`StreamError::Read`] if the file cannot be opened, or its first line cannot be read.
    pub fn open(&self) -> Result<Stream, StreamError> {
        let source = match self {
            StreamSpec::Generated(config) => Source::Generated(generated::Generated::new(config)),
            StreamSpec::File(path) if is_event_log(path)? => Source::Git(git::GitLog::open(path)?),
            StreamSpec::File(path) => Source::Edges(Box::new(edges::EdgeStream::open(path)?)),
        };
        Ok(Stream { source, next_index: 0, failed: false })
    }

    /// Returns the type of the stream's vertex keys.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn key_kind(&self) -> Result<KeyKind, StreamError> {
        match self {
            StreamSpec::Generated(_) => Ok(KeyKind::U64),
            StreamSpec::File(path) if is_event_log(path)? => Ok(KeyKind::Str),
            StreamSpec::File(path) => Ok(edges::EdgeStream::open(path)?.key_kind()),
        }
    }

    /// Returns a short name for reports: `generated`, or the file's name.
    pub fn name(&self) -> String {
        match self {
            StreamSpec::Generated(config) => format!("generated, seed {}", config.seed),
            StreamSpec::File(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        }
    }

    /// Reads the stream to its end and counts. Cost: one pass over the file.
    ///
    /// # Errors
    /// The errors of reading the stream.
    pub fn totals(&self) -> Result<Totals, StreamError> {
        let mut totals = Totals::default();
        for transaction in self.open()? {
            totals.transactions += 1;
            totals.events += transaction?.events.len() as u64;
        }
        Ok(totals)
    }
}

/// The transactions of a stream, in order. After an error the iteration ends.
pub struct Stream {
    source: Source,
    next_index: u64,
    failed: bool,
}

enum Source {
    Generated(generated::Generated),
    Git(git::GitLog),
    Edges(Box<edges::EdgeStream>),
}

impl Iterator for Stream {
    type Item = Result<Transaction, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let events = match &mut self.source {
            Source::Generated(source) => Ok(source.next_events()),
            Source::Git(source) => source.next_events(),
            Source::Edges(source) => source.next_events(),
        };
        match events {
            Ok(events) if events.is_empty() => None,
            Ok(events) => {
                let index = self.next_index;
                self.next_index += 1;
                Some(Ok(Transaction { index, events }))
            }
            Err(error) => {
                self.failed = true;
                Some(Err(error.into()))
            }
        }
    }
}

fn is_event_log(path: &Path) -> Result<bool, ReadError> {
    let mut lines = Lines::open(path)?;
    Ok(lines.advance()? && git::is_header(lines.text()))
}
