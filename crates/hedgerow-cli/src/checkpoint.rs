//! `hedgerow checkpoint`.

use std::path::PathBuf;

use hedgerow::Options;
use hedgerow_export::text::is_vacant;

use crate::error::CliError;
use crate::output::{Report, Style};
use crate::store::not_a_store;

/// Arguments of `checkpoint`.
#[derive(clap::Args)]
pub(crate) struct CheckpointArgs {
    /// The directory of the store
    store: PathBuf,
}

/// Writes the graph into a segment and drops the log that it covers.
pub(crate) fn checkpoint(args: &CheckpointArgs, style: Style) -> Result<(), CliError> {
    if is_vacant(&args.store) {
        return Err(not_a_store(&args.store));
    }
    let graph = Options::new().create(false).open(&args.store)?;
    let written = graph.checkpoint()?;
    graph.close()?;
    Report::default()
        .field("timestamp", written.timestamp.0)
        .bytes("segment_bytes", written.bytes)
        .field("log_segments_removed", written.log_segments_removed as u64)
        .print(style)
}
