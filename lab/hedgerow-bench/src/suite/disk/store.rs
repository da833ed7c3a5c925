//! How the suite fills and opens its stores.

use std::path::Path;

use hedgerow::{Durability, Graph, Options};

use super::super::load;
use super::super::work::Work;
use hedgerow_report::failure::Result;

/// Edges to a transaction while loading.
pub(super) const BATCH: usize = 100_000;
/// The least limit, in hundredths of what the graph takes in memory.
pub(super) const LEAST_SHARE: u64 = 25;

/// Opens a store, within a limit if there is one.
pub(super) fn open(work: &Work<'_>, path: &Path, limit: Option<u64>) -> Result<Graph> {
    // How fast a disk syncs is measured elsewhere.
    let options = load::options(work.graph.directed).durability(Durability::Manual);
    Ok(limit.into_iter().fold(options, Options::memory_limit).open(path)?)
}
