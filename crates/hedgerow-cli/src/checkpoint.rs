//! `hedgerow checkpoint`.

use std::path::PathBuf;

use crate::error::CliError;
use crate::output::{Report, Style};
use crate::store::open_to_write;

/// Arguments of `checkpoint`.
#[derive(clap::Args)]
pub(crate) struct CheckpointArgs {
    /// The directory of the store
    store: PathBuf,
}

/// Writes the graph into a segment and drops the log that it covers.
pub(crate) fn checkpoint(args: &CheckpointArgs, style: Style) -> Result<(), CliError> {
    let graph = open_to_write(&args.store)?;
    let written = graph.checkpoint()?;
    graph.close()?;
    Report::default()
        .field("timestamp", written.timestamp.0)
        .bytes("segment_bytes", written.bytes)
        .field("log_segments_removed", written.log_segments_removed as u64)
        .print(style)
}
