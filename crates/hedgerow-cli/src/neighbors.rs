//! `hedgerow neighbors`.

use std::path::PathBuf;

use hedgerow::{Direction, EdgeOf};
use serde_json::Value;

use crate::error::CliError;
use crate::keys::{parse_argument, to_json};
use crate::output::{Report, Style, number};
use crate::property;
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
    /// Follow the edges of this label
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Print the ranks of the edges too (0 unless the label is multi)
    #[arg(long, conflicts_with = "weights")]
    ranks: bool,
    /// Print ranks and properties of the edges too
    #[arg(long, conflicts_with = "weights")]
    properties: bool,
}

/// Prints the neighbors of one vertex, sorted by key.
pub(crate) fn neighbors(args: &NeighborsArgs, style: Style) -> Result<(), CliError> {
    let graph = open_read_only(&args.store)?;
    let key = parse_argument(graph.config().keys, "KEY", &args.key)?;
    let direction = if args.incoming { Direction::In } else { Direction::Out };
    let snapshot = graph.snapshot()?;
    let missing = || CliError::Failed(format!("KEY: no vertex {key} in {}", args.store.display()));
    let report = Report::default();
    let label = args.label.as_deref().unwrap_or("");
    if args.label.is_none() && !(args.ranks || args.properties) {
        let found = snapshot.weighted_neighbors(&key, direction).ok_or_else(missing)?;
        return if args.weights {
            let rows = found.iter().map(|(key, weight)| vec![to_json(key), number(*weight)]).collect();
            report.table("neighbors", &["key", "weight"], rows)
        } else {
            let rows = found.iter().map(|(key, _)| vec![to_json(key)]).collect();
            report.table("neighbors", &["key"], rows)
        }
        .print(style);
    }
    if args.weights {
        return Err(CliError::Usage("--weights: with --label, --properties prints them".to_owned()));
    }
    if args.properties {
        let found = snapshot.edges_of(label, &key, direction)?.ok_or_else(missing)?;
        let object = |edge: &EdgeOf| {
            edge.properties
                .iter()
                .map(|(name, value)| (name.to_string(), property::to_json(value.as_ref())))
                .collect()
        };
        let rows = found
            .iter()
            .map(|edge| vec![to_json(&edge.key), edge.rank.into(), Value::Object(object(edge))])
            .collect();
        return report.table("neighbors", &["key", "rank", "properties"], rows).print(style);
    }
    let found = snapshot.neighbors_of(label, &key, direction)?.ok_or_else(missing)?;
    if args.ranks {
        let rows = found.iter().map(|(key, rank)| vec![to_json(key), (*rank).into()]).collect();
        return report.table("neighbors", &["key", "rank"], rows).print(style);
    }
    report
        .table("neighbors", &["key"], found.iter().map(|(key, _)| vec![to_json(key)]).collect())
        .print(style)
}
