//! What a demo runs with: options, places of files, the number of writers.

use std::path::{Path, PathBuf};

use hedgerow_report::failure::{Context, Result};

/// Threads that write, each with at most one transaction in flight.
pub(crate) const WRITERS: usize = 2;

/// Options of the demo.
#[derive(Clone, Debug)]
pub struct DemoOptions {
    /// A file to replay instead of the generated stream.
    pub data: Option<PathBuf>,
    /// Events of the generated stream.
    pub events: u64,
    /// Seed of the generated stream.
    pub seed: u64,
    /// Where everything goes; what an earlier run left there is removed.
    pub dir: PathBuf,
}

/// Where the files of a demo are.
pub(super) struct Places {
    pub(super) store: PathBuf,
    pub(super) acks: PathBuf,
    pub(super) report: PathBuf,
}

impl Places {
    /// Makes an empty place: removes what an earlier demo left, and nothing else.
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
