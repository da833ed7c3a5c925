//! The caller's view of a running load: its progress, and the end that the caller may ask for.

use std::cell::Cell;
use std::path::Path;

use crate::Error;
use crate::input::Input;

/// The number of rows between two reports of progress.
const ROWS: u64 = 1 << 13;

/// The progress of a load.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// `checking` in the first reading of a file, `loading` in the one that puts its rows into the store.
    pub action: &'static str,
    /// The file that is read.
    pub file: &'a Path,
    /// The part of the file that was read, and all of it: bytes as they are on the disk, or rows.
    pub of_file: [u64; 2],
    /// True if these are rows.
    pub in_rows: bool,
    /// The bytes that were read of all files, and the bytes of all readings of all files.
    pub of_load: [u64; 2],
}

/// Functions of the caller that a load calls while it reads files, on the thread that called the load.
#[derive(Clone, Copy)]
#[must_use]
pub struct Watch<'a> {
    until: &'a dyn Fn() -> bool,
    progress: &'a dyn Fn(Progress<'_>),
}

impl Default for Watch<'_> {
    fn default() -> Self {
        Watch { until: &|| false, progress: &|_| {} }
    }
}

impl<'a> Watch<'a> {
    /// Calls `until` before each row, and before and after the checkpoint. Once it returns true, the load
    /// fails with [`Error::Interrupted`].
    pub fn until(self, until: &'a dyn Fn() -> bool) -> Watch<'a> {
        Watch { until, ..self }
    }

    /// Calls `progress` at the start and the end of each reading of a file, and after each 8,192 rows.
    pub fn progress(self, progress: &'a dyn Fn(Progress<'_>)) -> Watch<'a> {
        Watch { progress, ..self }
    }
}

/// The course of a load, and its watch.
pub(crate) struct Course<'a> {
    watch: Watch<'a>,
    /// The bytes of all readings, and of those that are complete.
    total: Cell<u64>,
    done: Cell<u64>,
}

impl<'a> Course<'a> {
    pub(crate) fn new(watch: Watch<'a>) -> Course<'a> {
        Course { watch, total: Cell::new(0), done: Cell::new(0) }
    }

    /// Begins a load that reads each of `inputs`, and those that `is_checked` chooses twice.
    pub(crate) fn begin<'i>(
        &self,
        inputs: impl Iterator<Item = &'i Input>,
        is_checked: bool,
    ) -> Result<(), Error> {
        let mut total = 0;
        for input in inputs {
            total += input.size()? * if is_checked { 2 } else { 1 };
        }
        self.total.set(total);
        Ok(())
    }

    /// Returns an error if the caller ends the load.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if (self.watch.until)() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// The meter of one reading of a file.
pub(crate) struct Meter<'a> {
    course: &'a Course<'a>,
    action: &'static str,
    input: &'a Input,
    size: u64,
    progress: hedgerow_workload::read::Progress,
    in_rows: bool,
    rows: u64,
}

impl<'a> Meter<'a> {
    /// Begins a reading, whose progress is in bytes, or in rows.
    pub(crate) fn new(
        course: &'a Course<'a>,
        action: &'static str,
        input: &'a Input,
        progress: hedgerow_workload::read::Progress,
        in_rows: bool,
    ) -> Result<Meter<'a>, Error> {
        let meter = Meter { course, action, input, size: input.size()?, progress, in_rows, rows: 0 };
        meter.tell(0);
        Ok(meter)
    }

    /// Counts a row; an error if the caller ends the load.
    pub(crate) fn row(&mut self) -> Result<(), Error> {
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS) {
            self.tell(self.progress.read());
        }
        self.course.check()
    }

    /// Ends the reading of the whole file.
    pub(crate) fn finish(self) {
        self.tell(self.progress.total());
        let done = self.course.done.get().saturating_add(self.size);
        self.course.done.set(done);
    }

    fn tell(&self, done: u64) {
        let total = self.progress.total();
        let done = done.min(total);
        let bytes = match total {
            0 => 0,
            _ => (u128::from(self.size) * u128::from(done) / u128::from(total)) as u64,
        };
        (self.course.watch.progress)(Progress {
            action: self.action,
            file: &self.input.path,
            of_file: [done, total],
            in_rows: self.in_rows,
            of_load: [self.course.done.get().saturating_add(bytes), self.course.total.get()],
        });
    }
}
