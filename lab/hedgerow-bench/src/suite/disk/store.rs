//! How the suite fills and opens its stores.

use std::path::Path;

use hedgerow::{Durability, Graph, Options};

use super::super::load;
use super::super::work::Work;
use hedgerow_report::failure::Result;

/// The number of edges in a transaction during loading.
pub(super) const BATCH: usize = 100_000;
/// The smallest limit, in hundredths of the graph's size in memory.
pub(super) const LEAST_SHARE: u64 = 25;

/// Opens a store, within a limit if there is one.
pub(super) fn open(work: &Work<'_>, path: &Path, limit: Option<u64>) -> Result<Graph> {
    Ok(limit.into_iter().fold(options(work), Options::memory_limit).open(path)?)
}

/// Returns the options of a store.
pub(super) fn options(work: &Work<'_>) -> Options {
    // The suite `commit` measures how fast a disk syncs.
    load::options(work.graph.directed).durability(Durability::Manual)
}
