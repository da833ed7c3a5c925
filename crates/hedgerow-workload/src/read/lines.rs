//! Lines of a file that may be compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{ReadError, RowError};

/// The longest line, in bytes: room for two vertex keys of the longest kind and their quotes.
pub const MAX_LINE_BYTES: usize = 1 << 20;

const BUFFER_BYTES: usize = 1 << 18;

/// How much of a file's bytes on disk has been read; may be polled from another thread.
#[derive(Clone, Debug)]
pub struct Progress {
    read: Arc<AtomicU64>,
    total: u64,
}

impl Progress {
    /// Bytes read so far, before decompression.
    pub fn read(&self) -> u64 {
        self.read.load(Relaxed)
    }

    /// The size of the file in bytes.
    pub fn total(&self) -> u64 {
        self.total
    }
}

/// A file's lines, one at a time.
pub struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    progress: Progress,
    line: u64,
    buffer: Vec<u8>,
    ended: bool,
}

impl Lines {
    /// Opens `path`, with decompression if its name ends in `.gz` or `.zst`.
    ///
    /// # Errors
    /// [`ReadError::Open`].
    pub fn open(path: &Path) -> Result<Lines, ReadError> {
        let failed = |source| ReadError::Open { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let total = file.metadata().map_err(failed)?.len();
        let progress = Progress { read: Arc::default(), total };
        let counted = Counted { file, read: Arc::clone(&progress.read) };
        let reader: Box<dyn BufRead + Send> = match path.extension().and_then(|e| e.to_str()) {
            Some("gz") => buffered(flate2::read::MultiGzDecoder::new(BufReader::new(counted))),
            Some("zst") => buffered(zstd::stream::read::Decoder::new(counted).map_err(failed)?),
            _ => buffered(counted),
        };
        Ok(Lines { path: path.to_owned(), reader, progress, line: 0, buffer: Vec::new(), ended: false })
    }

    /// The lines of anything that can be read, under a name for messages; never decompressed.
    pub fn of(name: &Path, reader: impl Read + Send + 'static) -> Lines {
        let progress = Progress { read: Arc::default(), total: 0 };
        let (path, reader) = (name.to_owned(), buffered(reader));
        Lines { path, reader, progress, line: 0, buffer: Vec::new(), ended: false }
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
        self.buffer.clear();
        if self.ended {
            return Ok(false);
        }
        self.line += 1;
        let limit = MAX_LINE_BYTES as u64 + 1;
        let read = (&mut self.reader).take(limit).read_until(b'\n', &mut self.buffer);
        match read {
            Err(source) => return Err(self.fail(source)),
            Ok(0) => {
                self.ended = true;
                self.line -= 1;
                return Ok(false);
            }
            Ok(n) if n as u64 == limit && self.buffer.last() != Some(&b'\n') => {
                self.buffer.clear();
                self.reader.skip_until(b'\n').map_err(|source| self.fail(source))?;
                return Err(ReadError::row(
                    &self.path,
                    self.line,
                    RowError::TooLong { limit: MAX_LINE_BYTES },
                ));
            }
            Ok(_) => {}
        }
        while let Some(b'\n' | b'\r') = self.buffer.last() {
            self.buffer.pop();
        }
        if self.line == 1 && self.buffer.starts_with(b"\xEF\xBB\xBF") {
            self.buffer.drain(..3);
        }
        if std::str::from_utf8(&self.buffer).is_err() {
            self.buffer.clear();
            return Err(ReadError::row(&self.path, self.line, RowError::NotUtf8));
        }
        Ok(true)
    }

    /// The line read last, without its end.
    pub fn text(&self) -> &str {
        // Checked by `advance`, which clears what is not UTF-8.
        std::str::from_utf8(&self.buffer).unwrap_or_default()
    }

    fn fail(&mut self, source: io::Error) -> ReadError {
        self.ended = true;
        ReadError::Io { path: self.path.clone(), line: self.line, source }
    }
}

fn buffered(reader: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(BUFFER_BYTES, reader))
}

struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.read.fetch_add(n as u64, Relaxed);
        Ok(n)
    }
}
