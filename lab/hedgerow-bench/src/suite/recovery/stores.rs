//! The stores of the suite: their directories, and how the suite fills and opens them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hedgerow::{Durability, Graph, Options};

use super::super::load;
use super::super::work::Work;
use hedgerow_report::failure::{Context, Result};

/// The number of edges in a transaction during loading.
const BATCH: usize = 1_000;

pub(super) fn open(work: &Work<'_>, path: &Path) -> Result<Graph> {
    open_with(work, path, None)
}

pub(super) fn open_with(work: &Work<'_>, path: &Path, limit: Option<u64>) -> Result<Graph> {
    // The suite does not measure loading, so one sync at the end is enough. It measures the content of the
    // log, so no checkpoint may shorten the log, in the background or at close.
    let options = load::options(work.graph.directed).durability(Durability::Manual).checkpoint_log_bytes(0);
    Ok(limit.into_iter().fold(options, Options::memory_limit).open(path)?)
}

pub(super) fn put(store: &Graph, edges: &[(u32, u32)]) -> Result<()> {
    edges.chunks(BATCH).try_for_each(|batch| load::put_batch(store, batch))
}

pub(super) fn reopen_once(work: &Work<'_>, path: &Path, expected: u64) -> Result<f64> {
    let begun = Instant::now();
    let store = open(work, path)?;
    let edges = store.snapshot()?.edge_count()?;
    let taken = begun.elapsed().as_secs_f64();
    store.close()?;
    if edges == expected {
        return Ok(taken);
    }
    Err(format!("{edges} edges after reopening, {expected} before").into())
}

/// A directory for one run of a suite, removed at the end.
pub(in crate::suite) struct Place(pub(in crate::suite) PathBuf);

impl Place {
    pub(in crate::suite) fn new(dir: &Path, suite: &str) -> Result<Place> {
        std::fs::create_dir_all(dir).context(dir.display())?;
        Ok(Place(dir.join(format!("{suite}-{}", std::process::id()))))
    }

    pub(super) fn clear(&self) -> Result<()> {
        std::fs::remove_dir_all(&self.0).context(self.0.display())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A directory that stays is a nuisance, but changes no figure.
        let _ = self.clear();
    }
}
