//! `hedgerow neighbors`.

use std::path::PathBuf;

use hedgerow::Direction;

use crate::error::CliError;
use crate::keys::{parse_argument, to_json};
use crate::output::{Report, Style, number};
use crate::store::open_read_only;

/// Arguments of `neighbors`.
#[derive(clap::Args)]
pub(crate) struct NeighborsArgs {
    /// The directory of the store
    store: PathBuf,
    /// The vertex
    key: String,
    /// Against the direction of the edges
    #[arg(long = "in")]
    incoming: bool,
    /// Print the weights of the edges too (1 in a graph without weights)
    #[arg(long)]
    weights: bool,
}

/// Prints the neighbors of one vertex, sorted by key.
pub(crate) fn neighbors(args: &NeighborsArgs, style: Style) -> Result<(), CliError> {
    let graph = open_read_only(&args.store)?;
    let key = parse_argument(graph.config().keys, "KEY", &args.key)?;
    let direction = if args.incoming { Direction::In } else { Direction::Out };
    let found = graph
        .snapshot()?
        .weighted_neighbors(&key, direction)
        .ok_or_else(|| CliError::Failed(format!("KEY: no vertex {key} in {}", args.store.display())))?;
    let report = Report::default();
    let report = if args.weights {
        let rows = found.iter().map(|(key, weight)| vec![to_json(key), number(*weight)]).collect();
        report.table("neighbors", &["key", "weight"], rows)
    } else {
        let rows = found.iter().map(|(key, _)| vec![to_json(key)]).collect();
        report.table("neighbors", &["key"], rows)
    };
    report.print(style)
}
