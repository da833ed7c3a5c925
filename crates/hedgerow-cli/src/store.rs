//! Opening stores.

use std::path::Path;

use hedgerow::{ArgumentError, EdgeSelection, Error, Graph, LabelId, Options, Snapshot};
use hedgerow_export::text::is_vacant;

use crate::error::CliError;

/// Opens an existing store for reading only: nothing in it changes.
pub(crate) fn open_read_only(path: &Path) -> Result<Graph, CliError> {
    open_within(path, None)
}

/// Opens a store like [`open_read_only`], within a memory limit if one is given.
pub(crate) fn open_within(path: &Path, memory_limit: Option<u64>) -> Result<Graph, CliError> {
    if is_vacant(path) {
        return Err(not_a_store(path));
    }
    let options = Options::new().create(false).read_only(true);
    let options = memory_limit.into_iter().fold(options, Options::memory_limit);
    Ok(options.open(path)?)
}

/// Opens an existing store for writing, with the store's own options.
pub(crate) fn open_to_write(path: &Path) -> Result<Graph, CliError> {
    if is_vacant(path) {
        return Err(not_a_store(path));
    }
    Ok(Options::new().create(false).open(path)?)
}

/// Returns the label to read: the named one, or else the label of all edges. If edges have several labels,
/// the error asks for a name, or for the alternative `or`.
pub(crate) fn label_to_read(snapshot: &Snapshot, named: Option<&str>, or: &str) -> Result<LabelId, CliError> {
    if let Some(name) = named {
        return Ok(snapshot.schema().find_label(name)?.id());
    }
    EdgeSelection::all().only_label(snapshot).map_err(|error| match error {
        Error::Argument(ArgumentError::SeveralLabels { .. }) => {
            CliError::Failed(format!("{error} with --label{or}"))
        }
        error => error.into(),
    })
}

/// Returns the error for a path without a store.
pub(crate) fn not_a_store(path: &Path) -> CliError {
    let reason = if path.exists() { "it is empty" } else { "no such directory" };
    hedgerow::Error::Open(hedgerow::OpenError::NotAStore {
        path: path.display().to_string(),
        reason: reason.to_owned(),
    })
    .into()
}
