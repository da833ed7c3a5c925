//! The setting of a demo: options, paths of files, the number of writers.

use std::path::{Path, PathBuf};

use hedgerow_report::failure::{Context, Result};

/// The number of threads that write, each with at most one transaction in flight.
pub(crate) const WRITERS: usize = 2;

/// Options of the demo.
#[derive(Clone, Debug)]
pub struct DemoOptions {
    /// A file to replay instead of the generated stream.
    pub data: Option<PathBuf>,
    /// The events of the generated stream.
    pub events: u64,
    /// The seed of the generated stream.
    pub seed: u64,
    /// The directory of all files; the files of an earlier demo are removed.
    pub dir: PathBuf,
}

/// The paths of the files of a demo.
pub(super) struct Places {
    pub(super) store: PathBuf,
    pub(super) acks: PathBuf,
    pub(super) report: PathBuf,
}

impl Places {
    /// Creates the directory if it is absent, and removes the files of an earlier demo, but no others.
    pub(super) fn prepare(dir: &Path) -> Result<Places> {
        std::fs::create_dir_all(dir).context(dir.display())?;
        let places = Places {
            store: dir.join("demo-store"),
            acks: dir.join("acks.log"),
            report: dir.join("report.html"),
        };
        if places.store.exists() {
            std::fs::remove_dir_all(&places.store).context(places.store.display())?;
        }
        for file in [&places.acks, &places.report] {
            if file.exists() {
                std::fs::remove_file(file).context(file.display())?;
            }
        }
        Ok(places)
    }
}
