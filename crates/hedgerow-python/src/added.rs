//! The results of calls that write many rows.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::DataError;
use crate::results::make;

/// The treatment of a row whose vertex or edge exists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnConflict {
    /// The values of the row replace those of the vertex or edge; a null changes nothing.
    Merge,
    /// The vertex or edge gets exactly the values of the row. The call reads nothing from the store.
    Replace,
    /// The vertex or edge stays as it is.
    Skip,
    /// The call is refused.
    Raise,
}

impl OnConflict {
    pub(crate) fn read(text: &str) -> PyResult<OnConflict> {
        Ok(match text {
            "merge" => OnConflict::Merge,
            "replace" => OnConflict::Replace,
            "skip" => OnConflict::Skip,
            "raise" => OnConflict::Raise,
            other => {
                return Err(DataError::new_err(format!(
                    "on_conflict must be \"merge\", \"replace\", \"skip\" or \"raise\", found {other:?}"
                )));
            }
        })
    }
}

/// The counts of the rows of a call.
#[derive(Clone, Copy)]
pub(crate) struct Added {
    /// The number of given rows, without the rows that were left out.
    pub(crate) rows: usize,
    /// The number of rows whose edge or vertex is also in an earlier row of the call, if they were counted.
    pub(crate) repeated: Option<usize>,
    /// The numbers of new and of existing rows, if the call looked up its rows.
    pub(crate) found: Option<Found>,
}

/// The number of rows that are new to the store, and of rows that existed before.
#[derive(Clone, Copy, Default)]
pub(crate) struct Found {
    pub(crate) new: usize,
    pub(crate) existing: usize,
}

impl std::ops::AddAssign for Found {
    fn add_assign(&mut self, other: Found) {
        self.new += other.new;
        self.existing += other.existing;
    }
}

/// The sum over batches; `None` if a batch did not look up its rows.
#[derive(Clone, Copy)]
pub(crate) struct Told(pub(crate) Option<Found>);

impl Default for Told {
    fn default() -> Told {
        Told(Some(Found::default()))
    }
}

impl std::ops::AddAssign for Told {
    fn add_assign(&mut self, other: Told) {
        self.0 = self.0.zip(other.0).map(|(mut sum, found)| {
            sum += found;
            sum
        });
    }
}

/// The counts of two parts of a call. A count that a part lacks is unknown for both.
impl std::ops::AddAssign for Added {
    fn add_assign(&mut self, other: Added) {
        let mut found = Told(self.found);
        found += Told(other.found);
        self.rows += other.rows;
        self.repeated = self.repeated.zip(other.repeated).map(|(one, other)| one + other);
        self.found = found.0;
    }
}

impl Added {
    /// The counts of a call without rows.
    pub(crate) const NONE: Added =
        Added { rows: 0, repeated: Some(0), found: Some(Found { new: 0, existing: 0 }) };

    /// Returns the counts as an `Added` of Python.
    pub(crate) fn to_object(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let arguments = PyDict::new(py);
        arguments.set_item("rows", self.rows)?;
        arguments.set_item("repeated", self.repeated)?;
        arguments.set_item("new", self.found.map(|found| found.new))?;
        arguments.set_item("existing", self.found.map(|found| found.existing))?;
        make(py, "Added", &arguments)
    }
}
