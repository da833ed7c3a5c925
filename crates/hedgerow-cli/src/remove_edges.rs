//! `hedgerow remove-edges`.

use std::path::PathBuf;

use hedgerow::{EdgeDirection, RemoveOptions};

use crate::error::CliError;
use crate::output::{Report, Style};
use crate::selection::Chosen;
use crate::store::open_to_write;

/// Arguments of `remove-edges`.
#[derive(clap::Args)]
pub(crate) struct RemoveEdgesArgs {
    /// The directory of the store
    store: PathBuf,
    #[command(flatten)]
    chosen: Chosen,
    /// The maximal number of edges that one transaction removes
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    batch: usize,
}

/// Removes the edges that meet a condition, in batches. Each batch is one transaction.
pub(crate) fn remove_edges(args: &RemoveEdgesArgs, style: Style) -> Result<(), CliError> {
    if args.chosen.label.is_empty() {
        return Err(CliError::Usage("--label is needed: the label of the edges to remove".to_owned()));
    }
    if args.chosen.along.is_some() {
        return Err(CliError::Usage("--direction: an edge is removed whatever the direction".to_owned()));
    }
    if args.chosen.is_plain() {
        let message =
            "a condition is needed, --rank-range or --where; --rank-range .. removes all edges of the label";
        return Err(CliError::Usage(message.to_owned()));
    }
    let graph = open_to_write(&args.store)?;
    let snapshot = graph.snapshot()?;
    let selection = args.chosen.selection(&snapshot, graph.config().weighted, EdgeDirection::Out)?;
    drop(snapshot);
    let removed = graph.remove_edges_where(&selection, RemoveOptions::new().batch(args.batch))?;
    let left = graph.snapshot()?.edge_count()?;
    graph.close()?;
    Report::default().field("removed", removed).field("edges", left).print(style)
}
