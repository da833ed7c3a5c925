//! Malformed rows that were left out.

use std::path::PathBuf;

use crate::Error;
use crate::input::Input;
use crate::options::OnError;

/// The maximal number of rejected rows that are described; all are counted.
const MAX_DESCRIBED: usize = 1000;

/// A malformed row that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reject {
    /// The file.
    pub file: PathBuf,
    /// The line, or the row of a table, from 1.
    pub line: u64,
    /// The fault.
    pub reason: String,
}

/// The rows that were left out.
#[derive(Debug, Default)]
pub(crate) struct Rejects {
    described: Vec<Reject>,
    count: u64,
}

impl Rejects {
    /// Adds a malformed row; under `raise` returns it as the error of the load.
    pub(crate) fn add(
        &mut self,
        input: &Input,
        line: u64,
        reason: String,
        on_error: OnError,
    ) -> Result<(), Error> {
        let most = match on_error {
            OnError::Raise => {
                return Err(Error::row(&input.path, line, reason));
            }
            OnError::Skip => 1,
            OnError::Collect => MAX_DESCRIBED,
        };
        self.count += 1;
        if self.described.len() < most {
            self.described.push(Reject { file: input.path.clone(), line, reason });
        }
        Ok(())
    }

    /// Returns the number of malformed rows.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the malformed rows that are described.
    pub(crate) fn into_described(self) -> Vec<Reject> {
        self.described
    }
}
