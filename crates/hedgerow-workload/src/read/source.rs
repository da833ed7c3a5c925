//! The bytes of a file: plain, or decompressed on the way.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::error::ReadError;
use super::progress::Progress;

const BUFFER_BYTES: usize = 1 << 18;

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// Detects the compression by the first bytes. No UTF-8 text begins with either mark.
    fn of_bytes(start: &[u8]) -> Compression {
        match start {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // A frame, or a skippable frame, which may precede it.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }

    /// Detects the compression by the name of the file.
    fn of_name(path: &Path) -> Compression {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Compression::Gzip,
            Some("zst") => Compression::Zstd,
            _ => Compression::None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Compression::None => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }
}

/// Returns the content of `file`, from its beginning, and its progress. `name` is for messages; a name that
/// ends in `.gz` or `.zst` requires a compressed file.
pub(super) fn open(name: &Path, mut file: File) -> Result<(Box<dyn BufRead + Send>, Progress), ReadError> {
    let failed = |source| ReadError::Open { path: name.to_owned(), source };
    let mut start = Vec::with_capacity(4);
    file.rewind().map_err(failed)?;
    (&mut file).take(4).read_to_end(&mut start).map_err(failed)?;
    file.rewind().map_err(failed)?;
    let (found, promised) = (Compression::of_bytes(&start), Compression::of_name(name));
    if found == Compression::None && promised != Compression::None {
        return Err(ReadError::NotCompressed { path: name.to_owned(), format: promised.name() });
    }
    let total = file.metadata().map_err(failed)?.len();
    let progress = Progress { read: Arc::default(), total };
    let counted = Counted { file, read: Arc::clone(&progress.read) };
    let reader = match found {
        Compression::None => buffered(counted),
        Compression::Gzip => buffered(flate2::read::MultiGzDecoder::new(BufReader::new(counted))),
        Compression::Zstd => buffered(zstd::stream::read::Decoder::new(counted).map_err(failed)?),
    };
    Ok((reader, progress))
}

pub(super) fn buffered(reader: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
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
