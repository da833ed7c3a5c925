//! Lines of a file that may be compressed.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{ReadError, RowError};
use super::progress::Progress;
use super::source::{self, buffered};

/// The longest line, and the longest record of several lines, in bytes. It suffices for the properties of an
/// edge: at most 64 MiB in a store, twice that as hexadecimal digits or doubled quotes, and more for keys and
/// delimiters.
pub const MAX_LINE_BYTES: usize = (128 << 20) + (1 << 20);

/// True if a file with these first bytes is in UTF-16 or UTF-32: it has their byte order mark, or one of the
/// first two bytes is 0.
fn is_wide(start: &[u8]) -> bool {
    match start {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => true,
        [first, second, ..] => (*first == 0) != (*second == 0),
        _ => false,
    }
}

/// Reads up to the next line feed, at most `most` bytes. A failed allocation is an error.
fn read_line(reader: &mut dyn BufRead, most: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let available = match reader.fill_buf() {
            Ok(available) => available,
            Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
            Err(why) => return Err(why),
        };
        let end = memchr::memchr(b'\n', available).map(|at| at + 1);
        let taken = end.unwrap_or(available.len()).min(most - bytes.len());
        bytes.try_reserve(taken).map_err(|_| io::ErrorKind::OutOfMemory)?;
        bytes.extend_from_slice(available.get(..taken).unwrap_or_default());
        reader.consume(taken);
        if end == Some(taken) || taken == 0 {
            return Ok(());
        }
    }
}

/// A file's lines, one at a time.
pub struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    progress: Progress,
    limit: usize,
    line: u64,
    /// The line with its end.
    buffer: String,
    /// The length of the line without its end.
    len: usize,
    ended: bool,
}

impl Lines {
    /// Opens `path`, and decompresses it if its first bytes are the mark of gzip or zstd.
    ///
    /// # Errors
    /// [`ReadError::Open`]; [`ReadError::NotCompressed`] if the name ends in `.gz` or `.zst` and the file is
    /// neither.
    pub fn open(path: &Path) -> Result<Lines, ReadError> {
        let file = File::open(path).map_err(|source| ReadError::Open { path: path.to_owned(), source })?;
        let (reader, progress) = source::open(path, file)?;
        Ok(Lines::new(path, reader, progress))
    }

    /// Returns the lines of an open file from its beginning, with a name for messages. All handles of `file`
    /// share its position: only one reader at a time can read it.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn of_file(name: &Path, file: &File) -> Result<Lines, ReadError> {
        let file = file.try_clone().map_err(|source| ReadError::Open { path: name.to_owned(), source })?;
        let (reader, progress) = source::open(name, file)?;
        Ok(Lines::new(name, reader, progress))
    }

    /// Returns the lines of any reader, with a name for messages; never decompressed.
    pub fn of(name: &Path, reader: impl Read + Send + 'static) -> Lines {
        Lines::new(name, buffered(reader), Progress { read: Arc::default(), total: 0 })
    }

    fn new(path: &Path, reader: Box<dyn BufRead + Send>, progress: Progress) -> Lines {
        Lines {
            path: path.to_owned(),
            reader,
            progress,
            limit: MAX_LINE_BYTES,
            line: 0,
            buffer: String::new(),
            len: 0,
            ended: false,
        }
    }

    /// Returns the bytes behind the lines read so far, and their progress. O(1).
    pub fn into_reader(self) -> (Box<dyn BufRead + Send>, Progress) {
        (self.reader, self.progress)
    }

    /// Limits lines, and records of several lines, to `bytes`.
    pub fn limited(self, bytes: usize) -> Lines {
        Lines { limit: bytes, ..self }
    }

    /// Returns the greatest length of a line in bytes.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of the line read last, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the progress of reading.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Reads the next line, which [`text`](Self::text) then returns; false at the end.
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
        let most = self.limit.saturating_add(1);
        match read_line(&mut self.reader, most, &mut bytes) {
            Err(source) => return Err(self.fail(source)),
            Ok(()) if bytes.is_empty() => {
                self.ended = true;
                self.line -= 1;
                return Ok(false);
            }
            Ok(()) if bytes.len() == most && bytes.last() != Some(&b'\n') => {
                self.reader.skip_until(b'\n').map_err(|source| self.fail(source))?;
                let returns = memchr::memchr(b'\r', &bytes).is_some();
                let too_long = RowError::TooLong { limit: self.limit };
                let reason = if returns { RowError::CarriageReturn } else { too_long };
                return Err(ReadError::row(&self.path, self.line, reason));
            }
            Ok(()) => {}
        }
        if self.line == 1 {
            if is_wide(&bytes) {
                self.ended = true;
                return Err(ReadError::Encoding { path: self.path.clone() });
            }
            if bytes.starts_with(b"\xEF\xBB\xBF") {
                bytes.drain(..3);
            }
        }
        // Checked once here, so that no caller has to.
        self.buffer =
            String::from_utf8(bytes).map_err(|_| ReadError::row(&self.path, self.line, RowError::NotUtf8))?;
        let end = self.buffer.bytes().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        self.len = self.buffer.len() - end;
        Ok(true)
    }

    /// Returns the line read last, without its end.
    pub fn text(&self) -> &str {
        self.buffer.get(..self.len).unwrap_or_default()
    }

    /// True if the line read last has a carriage return: it consists of several lines of another system.
    pub fn has_return(&self) -> bool {
        memchr::memchr(b'\r', self.text().as_bytes()).is_some()
    }

    /// Returns the line read last, with its end if it has one.
    pub(super) fn with_end(&self) -> &str {
        &self.buffer
    }

    fn fail(&mut self, source: io::Error) -> ReadError {
        self.ended = true;
        ReadError::Io { path: self.path.clone(), line: self.line, source }
    }
}
