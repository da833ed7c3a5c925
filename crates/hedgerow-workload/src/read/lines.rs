//! Lines of a file that may be compressed.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{ReadError, RowError};
use super::progress::Progress;
use super::source::{self, buffered};

/// The longest line, and the longest record of several lines, in bytes: room for two vertex keys of the longest kind
/// and their quotes.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// A file's lines, one at a time.
pub struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    progress: Progress,
    line: u64,
    /// The line with its end.
    buffer: String,
    /// The length of the line without its end.
    len: usize,
    ended: bool,
}

impl Lines {
    /// Opens `path`, with decompression if it begins as a gzip or zstd file does.
    ///
    /// # Errors
    /// [`ReadError::Open`]; [`ReadError::NotCompressed`] if the name ends in `.gz` or `.zst` and the file is neither.
    pub fn open(path: &Path) -> Result<Lines, ReadError> {
        let file = File::open(path).map_err(|source| ReadError::Open { path: path.to_owned(), source })?;
        let (reader, progress) = source::open(path, file)?;
        Ok(Lines::new(path, reader, progress))
    }

    /// The lines of an open file from its beginning, under a name for messages. The position of `file` is shared
    /// with its other handles: only one reader at a time can read it.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    pub fn of_file(name: &Path, file: &File) -> Result<Lines, ReadError> {
        let file = file.try_clone().map_err(|source| ReadError::Open { path: name.to_owned(), source })?;
        let (reader, progress) = source::open(name, file)?;
        Ok(Lines::new(name, reader, progress))
    }

    /// The lines of anything that can be read, under a name for messages; never decompressed.
    pub fn of(name: &Path, reader: impl Read + Send + 'static) -> Lines {
        Lines::new(name, buffered(reader), Progress { read: Arc::default(), total: 0 })
    }

    fn new(path: &Path, reader: Box<dyn BufRead + Send>, progress: Progress) -> Lines {
        Lines {
            path: path.to_owned(),
            reader,
            progress,
            line: 0,
            buffer: String::new(),
            len: 0,
            ended: false,
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the line read last, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// How much has been read.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Reads the next line, which [`text`](Self::text) then gives; false at the end.
    ///
    /// # Errors
    /// [`ReadError::Row`] for a line that is too long or not UTF-8, after which the next can be read;
    /// [`ReadError::Io`] once, then the end.
    pub fn advance(&mut self) -> Result<bool, ReadError> {
        self.len = 0;
        let mut bytes = std::mem::take(&mut self.buffer).into_bytes();
        bytes.clear();
        if self.ended {
            return Ok(false);
        }
        self.line += 1;
        let limit = MAX_LINE_BYTES as u64 + 1;
        let read = (&mut self.reader).take(limit).read_until(b'\n', &mut bytes);
        match read {
            Err(source) => return Err(self.fail(source)),
            Ok(0) => {
                self.ended = true;
                self.line -= 1;
                return Ok(false);
            }
            Ok(n) if n as u64 == limit && bytes.last() != Some(&b'\n') => {
                self.reader.skip_until(b'\n').map_err(|source| self.fail(source))?;
                return Err(ReadError::row(
                    &self.path,
                    self.line,
                    RowError::TooLong { limit: MAX_LINE_BYTES },
                ));
            }
            Ok(_) => {}
        }
        if self.line == 1 && bytes.starts_with(b"\xEF\xBB\xBF") {
            bytes.drain(..3);
        }
        // Checked once here, so that nobody who looks at the line has to.
        self.buffer =
            String::from_utf8(bytes).map_err(|_| ReadError::row(&self.path, self.line, RowError::NotUtf8))?;
        let end = self.buffer.bytes().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        self.len = self.buffer.len() - end;
        Ok(true)
    }

    /// The line read last, without its end.
    pub fn text(&self) -> &str {
        self.buffer.get(..self.len).unwrap_or_default()
    }

    /// The line read last, with its end if it has one.
    pub(super) fn with_end(&self) -> &str {
        &self.buffer
    }

    fn fail(&mut self, source: io::Error) -> ReadError {
        self.ended = true;
        ReadError::Io { path: self.path.clone(), line: self.line, source }
    }
}
