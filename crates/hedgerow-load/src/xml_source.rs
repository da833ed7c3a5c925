//! The bytes of XML, limited for each element.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hedgerow_workload::read::MAX_LINE_BYTES;

/// The bytes of a file, with a count of its lines, and of the bytes since the element began.
pub(crate) struct Source {
    inner: Box<dyn BufRead + Send>,
    lines: Arc<AtomicU64>,
    bytes: Arc<AtomicU64>,
}

impl Source {
    /// Returns a source that adds to `lines` and to `bytes`; the reader sets `bytes` to 0 where an element
    /// begins.
    pub(crate) fn new(
        inner: Box<dyn BufRead + Send>,
        lines: Arc<AtomicU64>,
        bytes: Arc<AtomicU64>,
    ) -> Source {
        Source { inner, lines, bytes }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(buffer)?;
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.bytes.load(Relaxed) > MAX_LINE_BYTES as u64 {
            return Err(io::Error::other(format!("an element longer than {MAX_LINE_BYTES} bytes")));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        // The buffer is not empty, so this reads nothing.
        let read = self.inner.fill_buf().ok().and_then(|buffer| buffer.get(..n)).unwrap_or_default();
        let lines = memchr::memchr_iter(b'\n', read).count() as u64;
        self.lines.fetch_add(lines, Relaxed);
        self.bytes.fetch_add(n as u64, Relaxed);
        self.inner.consume(n);
    }
}
