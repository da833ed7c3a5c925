//! Folders for the files of suites.

use std::path::Path;

use hedgerow_report::failure::{Context, Result};

/// Creates the folder of `path` if it is absent.
pub(crate) fn make_folder_of(path: &Path) -> Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => {
            std::fs::create_dir_all(folder).context(folder.display())
        }
        _ => Ok(()),
    }
}
