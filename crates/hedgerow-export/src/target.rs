//! Destinations of results: standard output, or a file that appears only once it is complete.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::Error;

const BUFFER_BYTES: usize = 1 << 16;

/// A destination of results. A file is written next to its final path, and moved to it by
/// [`finish`](Self::finish). So after a failure the old file is unchanged, or there is none.
pub struct Target {
    name: String,
    to: BufWriter<Box<dyn Write + Send>>,
    file: Option<Moves>,
    failure: Failure,
}

/// The error of the system that a library met when it wrote, which it does not pass on as it is.
#[derive(Clone, Default)]
pub struct Failure(Arc<Mutex<Option<io::Error>>>);

impl Failure {
    /// Takes the error, if there was one.
    pub fn take(&self) -> Option<io::Error> {
        self.0.lock().ok()?.take()
    }

    fn note<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let copy = io::Error::from(error.kind());
            if let Ok(mut noted) = self.0.lock() {
                noted.get_or_insert(error);
            }
            copy
        })
    }
}

/// The temporary and the final path of a file.
struct Moves {
    partial: PathBuf,
    path: PathBuf,
    done: bool,
}

impl Target {
    /// Returns standard output.
    pub fn stdout() -> Target {
        let to = BufWriter::with_capacity(BUFFER_BYTES, Box::new(io::stdout()) as Box<dyn Write + Send>);
        Target { name: "standard output".to_owned(), to, file: None, failure: Failure::default() }
    }

    /// Returns the file `path` as destination; for `-` or no path, standard output.
    ///
    /// # Errors
    /// [`Error::Write`]: the file cannot be made.
    pub fn open(path: Option<&Path>) -> Result<Target, Error> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else { return Ok(Target::stdout()) };
        let name = path.display().to_string();
        // A device or a pipe cannot be replaced by a file, so it is written directly.
        let special = path.metadata().is_ok_and(|found| !found.is_file());
        let partial = if special {
            path.to_owned()
        } else {
            let mut partial = path.as_os_str().to_owned();
            partial.push(".partial");
            PathBuf::from(partial)
        };
        let file = if special { File::options().write(true).open(path) } else { File::create(&partial) };
        let file = file.map_err(|source| Error::Write { to: name.clone(), source })?;
        let moves = Moves { partial, path: path.to_owned(), done: special };
        let to = BufWriter::with_capacity(BUFFER_BYTES, Box::new(file) as Box<dyn Write + Send>);
        Ok(Target { name, to, file: Some(moves), failure: Failure::default() })
    }

    /// Returns the error of a write by a library, once there is one.
    pub fn failure(&self) -> Failure {
        self.failure.clone()
    }

    /// Returns the name of the destination for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls `f` to write.
    ///
    /// # Errors
    /// [`Error::Write`]: the error of `f`.
    pub fn write(&mut self, f: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        f(&mut self.to).map_err(|source| Error::Write { to: self.name.clone(), source })
    }

    /// Writes out the buffer, and moves a file to its final path.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(mut self) -> Result<(), Error> {
        self.write(|to| to.flush())?;
        let Some(file) = self.file.as_mut().filter(|file| !file.done) else { return Ok(()) };
        std::fs::rename(&file.partial, &file.path)
            .map_err(|source| Error::Write { to: self.name.clone(), source })?;
        file.done = true;
        Ok(())
    }
}

/// Writes of a library that makes tables; the caller adds the name of the destination to an error.
impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.to.write(bytes);
        self.failure.note(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.to.flush();
        self.failure.note(done)
    }
}

impl Drop for Moves {
    fn drop(&mut self) {
        if !self.done {
            // An error of this removal is ignored: the command's own failure is already reported.
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}
