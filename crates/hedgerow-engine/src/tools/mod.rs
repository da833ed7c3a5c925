//! Tools for stores: the check of a store, its backup, and salvage, which makes a new store from a damaged
//! one.

mod backup;
mod check;
mod edge_copy;
mod found_edges;
mod ids_by_key;
mod known_images;
mod new_store;
mod paged_bytes;
mod rebuild;
mod salvage;
mod salvage_report;
mod salvaged;
mod salvaged_names;
mod salvaged_segments;
mod vertex_map;

pub use backup::Backup;
pub use check::{CheckReport, check_path, check_path_within};
pub use salvage::{salvage, salvage_on, salvage_on_within, salvage_within};
pub use salvage_report::SalvageReport;

use std::path::Path;
use std::sync::Arc;

use hedgerow_catalog::error::{ArgumentError, Result, io_error};
use hedgerow_io::{RealFs, Vfs};

/// Makes a new directory at `path`, or opens an empty one. Never overwrites content.
fn vacant(path: &Path) -> Result<Arc<dyn Vfs>> {
    let fs = match path.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => RealFs::create_dir(path),
        _ => RealFs::open_dir(path).and_then(|fs| {
            RealFs::sync_entry(path)?;
            Ok(fs)
        }),
    };
    let fs: Arc<dyn Vfs> = Arc::new(fs.map_err(io_error(path, "create"))?);
    check_vacant(&fs)?;
    Ok(fs)
}

/// Refuses to write into the directory of the store or below it, even if a link leads there. A copy in that
/// directory would be lost together with the original, and mix its files with those of the store.
fn refuse_inside(store: &dyn Vfs, path: &Path) -> Result<()> {
    match store.contains(path) {
        Ok(false) => Ok(()),
        Ok(true) => Err(ArgumentError::Invalid(format!(
            "{} is the directory of the store {} itself, or below it: choose one outside",
            path.display(),
            store.path().display()
        ))
        .into()),
        Err(error) => Err(io_error(path, "look for")(error)),
    }
}

fn check_vacant(fs: &Arc<dyn Vfs>) -> Result<()> {
    let names = fs.list().map_err(io_error(fs.path(), "list"))?;
    if names.is_empty() {
        return Ok(());
    }
    Err(ArgumentError::Invalid(format!("{} exists and is not empty", fs.path().display())).into())
}
