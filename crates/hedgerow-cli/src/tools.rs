//! `hedgerow backup`, `salvage` and `compact`.

use std::path::PathBuf;

use hedgerow_export::text::is_vacant;
use serde_json::Value;

use crate::error::CliError;
use crate::output::{Report, Style};
use crate::size::bytes;
use crate::store::{not_a_store, open_read_only, open_to_write};

/// Arguments of `backup`.
#[derive(clap::Args)]
pub(crate) struct IntoArgs {
    /// The directory of the store
    store: PathBuf,
    /// The directory of the new store, which must not exist or be empty
    into: PathBuf,
}

/// Arguments of `salvage`.
#[derive(clap::Args)]
pub(crate) struct SalvageArgs {
    #[command(flatten)]
    stores: IntoArgs,
    /// The memory for the salvage, as 8GiB; data that does not fit is written to temporary files in INTO
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory_limit: Option<u64>,
}

/// Arguments of `compact`.
#[derive(clap::Args)]
pub(crate) struct CompactArgs {
    /// The directory of the store
    store: PathBuf,
}

/// Writes a copy of the store into a new one.
pub(crate) fn backup(args: &IntoArgs, style: Style) -> Result<(), CliError> {
    let done = open_read_only(&args.store)?.backup(&args.into)?;
    Report::default()
        .field("timestamp", done.timestamp.0)
        .field("vertices", done.vertices)
        .bytes("segment_bytes", done.bytes)
        .print(style)
}

/// Copies the readable data of a damaged store into a new store. A loss is a finding, not a failure. Damage
/// without loss of data counts as no loss.
pub(crate) fn salvage(args: &SalvageArgs, style: Style) -> Result<(), CliError> {
    let IntoArgs { store, into } = &args.stores;
    if is_vacant(store) {
        return Err(not_a_store(store));
    }
    let report = match args.memory_limit {
        Some(limit) => hedgerow::salvage_within(store, into, limit)?,
        None => hedgerow::salvage(store, into)?,
    };
    let whole = report.is_whole();
    let sound = report.is_sound();
    let row = |finding: &str, text| vec![Value::String(finding.into()), Value::String(text)];
    let damages = report.damages.into_iter().map(|text| row("damaged", text));
    let findings = damages.chain(report.losses.into_iter().map(|text| row("lost", text))).collect();
    Report::default()
        .field("whole", whole)
        .field("sound", sound)
        .field("vertices", report.vertices)
        .field("edges", report.edges)
        .field("subgraphs", report.subgraphs)
        .field("commits", report.commits)
        .field("timestamp", report.timestamp.0)
        .field("lost_subgraphs", report.lost_subgraphs)
        .field("lost_commits", report.lost_commits)
        .field("lost_edges", report.lost_edges)
        .field("doubtful_vertices", report.doubtful_vertices)
        .field("doubtful_edges", report.doubtful_edges)
        .details("findings", &["finding", "what"], findings)
        .print(style)?;
    if whole { Ok(()) } else { Err(CliError::Lossy) }
}

/// Writes everything into one segment, and removes all files that it replaces.
pub(crate) fn compact(args: &CompactArgs, style: Style) -> Result<(), CliError> {
    let graph = open_to_write(&args.store)?;
    let before = graph.stats()?;
    let done = graph.compact()?;
    graph.close()?;
    Report::default()
        .field("timestamp", done.timestamp.0)
        .bytes("segment_bytes_before", before.segment_bytes)
        .bytes("segment_bytes", done.bytes)
        .field("log_segments_removed", done.log_segments_removed as u64)
        .print(style)
}
