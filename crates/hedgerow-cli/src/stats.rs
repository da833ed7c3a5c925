//! `hedgerow stats`.

use std::path::{Path, PathBuf};

use crate::error::CliError;
use crate::keys::kind_name;
use crate::output::{Report, Style};
use crate::store::open_read_only;

/// Arguments of `stats`.
#[derive(clap::Args)]
pub(crate) struct StatsArgs {
    /// The directory of the store
    store: PathBuf,
}

/// Prints what the store holds and where its bytes are.
pub(crate) fn stats(args: &StatsArgs, style: Style) -> Result<(), CliError> {
    let graph = open_read_only(&args.store)?;
    let (config, stats) = (graph.config(), graph.stats()?);
    let (log_bytes, segment_bytes) = file_bytes(&args.store);
    Report::default()
        .field("vertices", stats.vertices)
        .field("edges", stats.edges)
        .field("directed", config.directed)
        .field("keys", kind_name(config.keys))
        .field("weighted", config.weighted)
        .field("timestamp", stats.published.0)
        .field("memory_bytes", stats.memory_bytes())
        .field("main_bytes", stats.main_bytes)
        .field("delta_bytes", stats.delta_bytes)
        .field("table_bytes", stats.table_bytes)
        .field("id_map_bytes", stats.id_map_bytes)
        .field("log_bytes", log_bytes)
        .field("segment_bytes", segment_bytes)
        .print(style)
}

/// Sizes of the log files and the segment files. A store that is open for reading only does not hold its files, so
/// that the directory is asked. Log files include space that is reserved ahead.
fn file_bytes(store: &Path) -> (u64, u64) {
    let (mut log, mut segments) = (0, 0);
    for entry in std::fs::read_dir(store).into_iter().flatten().flatten() {
        let bytes = entry.metadata().map_or(0, |found| found.len());
        match entry.path().extension().and_then(|extension| extension.to_str()) {
            Some("wal") => log += bytes,
            Some("csr") => segments += bytes,
            _ => {}
        }
    }
    (log, segments)
}
