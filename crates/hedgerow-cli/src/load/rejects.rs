//! Malformed rows that were left out.

use std::io::Write;

use super::args::OnError;
use super::input::Input;
use crate::error::CliError;

/// The maximal number of rejected rows that are described; all are counted.
const MAX_DESCRIBED: usize = 1000;

/// The rows that were left out.
#[derive(Debug, Default)]
pub(super) struct Rejects {
    described: Vec<(String, u64, String)>,
    count: u64,
}

impl Rejects {
    /// Adds a malformed row; under `raise` returns it as the error of the load.
    pub(super) fn add(
        &mut self,
        input: &Input,
        line: u64,
        reason: String,
        on_error: OnError,
    ) -> Result<(), CliError> {
        let most = match on_error {
            OnError::Raise => {
                return Err(CliError::Failed(format!("{}:{line}: {reason}", input.path.display())));
            }
            OnError::Skip => 1,
            OnError::Collect => MAX_DESCRIBED,
        };
        self.count += 1;
        if self.described.len() < most {
            self.described.push((input.path.display().to_string(), line, reason));
        }
        Ok(())
    }

    /// Returns the number of malformed rows.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the malformed rows that are described.
    pub(super) fn rows(&self) -> Vec<Vec<serde_json::Value>> {
        let row = |(file, line, reason): &(String, u64, String)| {
            vec![file.as_str().into(), (*line).into(), reason.as_str().into()]
        };
        self.described.iter().map(row).collect()
    }

    /// Prints the rows to standard error.
    pub(super) fn print(&self) {
        let mut err = std::io::stderr().lock();
        for (file, line, reason) in &self.described {
            // A failed write is ignored: standard error is closed.
            let _ = writeln!(err, "rejected: {file}:{line}: {reason}");
        }
        let more = self.count - self.described.len() as u64;
        if more > 0 {
            let _ = writeln!(err, "rejected: {more} more");
        }
    }
}
