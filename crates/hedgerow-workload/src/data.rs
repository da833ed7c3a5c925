//! The place of data sets.

use std::io::Write;
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// The variable that names the data folder.
pub const DATA_VARIABLE: &str = "HEDGEROW_DATA";

/// The variable that, set to 1, turns skipped work into failures.
pub const REQUIRE_VARIABLE: &str = "HEDGEROW_REQUIRE_DATA";

/// The data folder if the variable is not set, relative to the project's root.
const DEFAULT: &str = "../shared/data";

/// A data set that is required but absent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is not in the data folder {}, and {REQUIRE_VARIABLE}=1 demands it", .folder.display())]
#[non_exhaustive]
pub struct DataError {
    /// The name of the data set.
    pub what: String,
    /// The data folder.
    pub folder: PathBuf,
}

/// Returns the data folder: `HEDGEROW_DATA`, or `../shared/data` beside the project. `None` if there is no
/// such folder.
///
/// # Errors
/// [`DataError`] if there is none although `HEDGEROW_REQUIRE_DATA` is 1.
pub fn data_dir() -> Result<Option<PathBuf>, DataError> {
    let folder = folder();
    if folder.is_dir() { Ok(Some(folder)) } else { absent("the folder itself", folder) }
}

/// Returns the path of `name` below the data folder, for instance `static/law-cnr-2000`. If it is absent,
/// returns `None` after a message on stderr that `purpose` is skipped.
///
/// # Errors
/// [`DataError`] if it is absent although `HEDGEROW_REQUIRE_DATA` is 1.
pub fn require_data(name: &str, purpose: &str) -> Result<Option<PathBuf>, DataError> {
    let folder = folder();
    let path = folder.join(name);
    if path.exists() {
        return Ok(Some(path));
    }
    let result = absent(name, folder)?;
    // Bypasses the capture of the test harness, which hides the output of tests that pass. A closed standard
    // error is ignored.
    let _ =
        writeln!(std::io::stderr(), "skipped: {purpose} (no {name} in the data folder; set {DATA_VARIABLE})");
    Ok(result)
}

fn absent(what: &str, folder: PathBuf) -> Result<Option<PathBuf>, DataError> {
    if std::env::var_os(REQUIRE_VARIABLE).is_some_and(|value| value == "1") {
        Err(DataError { what: what.to_owned(), folder })
    } else {
        Ok(None)
    }
}

fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os(DATA_VARIABLE).filter(|value| !value.is_empty()) {
        return PathBuf::from(folder);
    }
    let from_here = PathBuf::from(DEFAULT);
    if from_here.is_dir() {
        return from_here;
    }
    // Tests run in their crate's folder, two below the project's root.
    let from_crate = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(DEFAULT);
    if from_crate.is_dir() { from_crate } else { from_here }
}
