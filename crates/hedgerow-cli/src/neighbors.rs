//! `hedgerow neighbors`.

use std::path::PathBuf;

use hedgerow::{Direction, EdgeDirection, LabelId, Properties, Schema, VertexKey};
use serde_json::Value;

use crate::error::CliError;
use crate::keys::{parse_argument, spelled, to_json};
use crate::output::{Report, Style, number};
use crate::property;
use crate::selection::Chosen;
use crate::store::open_read_only;

/// Arguments of `neighbors`.
#[derive(clap::Args)]
pub(crate) struct NeighborsArgs {
    /// The directory of the store
    store: PathBuf,
    /// The vertex: its key, or in a store with kinds KIND:KEY
    key: String,
    /// Against the direction of the edges
    #[arg(long = "in", conflicts_with = "along")]
    incoming: bool,
    /// Print the weights of the edges too (1 in a graph without weights)
    #[arg(long)]
    weights: bool,
    #[command(flatten)]
    chosen: Chosen,
    /// Print the ranks of the edges too (0 unless the label is multi)
    #[arg(long, conflicts_with = "weights")]
    ranks: bool,
    /// Print ranks and properties of the edges too
    #[arg(long, conflicts_with = "weights")]
    properties: bool,
}

/// Prints the neighbors of one vertex, sorted by key: a line for each edge. Where edges have several labels and none is
/// named, a column tells the label.
pub(crate) fn neighbors(args: &NeighborsArgs, style: Style) -> Result<(), CliError> {
    let graph = open_read_only(&args.store)?;
    let schema = graph.schema();
    let key = parse_argument(&schema, graph.config().keys, "KEY", &args.key)?;
    let along = if args.incoming { EdgeDirection::In } else { args.chosen.along.unwrap_or_default() };
    let snapshot = graph.snapshot()?;
    let missing = || {
        CliError::Failed(format!(
            "KEY: no vertex {} in {}",
            spelled(&schema, key.as_ref()),
            args.store.display()
        ))
    };
    let named = args.chosen.labels(&schema)?;
    let used = if named.is_empty() { snapshot.labels_with_edges()? } else { named };
    if args.weights {
        if used.iter().any(|&label| label != LabelId::DEFAULT) {
            let message = "--weights: only edges of the default label have them (--label \"\"); --properties prints those of \
                           others";
            return Err(CliError::Usage(message.to_owned()));
        }
        let direction = match along {
            EdgeDirection::Out => Direction::Out,
            EdgeDirection::In => Direction::In,
            EdgeDirection::Both => {
                return Err(CliError::Usage("--weights: in one direction, not both".to_owned()));
            }
        };
        if !args.chosen.is_plain() {
            let message = "--weights: of all edges of the label, without --rank-range and --where";
            return Err(CliError::Usage(message.to_owned()));
        }
        let found = snapshot.weighted_neighbors(&key, direction)?.ok_or_else(missing)?;
        let shown = Shown { kinds: !schema.kinds().is_empty(), weights: true, ..Shown::default() };
        let row = |(key, weight): &(VertexKey, f64)| {
            let mut row = shown.key(&schema, key);
            row.push(number(*weight));
            row
        };
        let rows = found.iter().map(row).collect();
        return Report::default().table("neighbors", &shown.columns(), rows).print(style);
    }
    let shown = Shown {
        kinds: !schema.kinds().is_empty(),
        labels: used.len() > 1,
        ranks: args.ranks,
        properties: args.properties,
        weights: false,
    };
    let row = |key: &VertexKey, label: LabelId, rank: u64, properties: &Properties| {
        let mut row = shown.key(&schema, key);
        let name = || schema.label_by_id(label).map_or("", |label| label.name());
        row.extend(shown.labels.then(|| name().into()));
        row.extend((shown.ranks || shown.properties).then(|| rank.into()));
        row.extend(shown.properties.then(|| object(properties)));
        row
    };
    let selection = args.chosen.selection(&snapshot, graph.config().weighted, along)?;
    let rows = if shown.properties {
        rows(snapshot.edges_selected(&selection, &key)?, |(l, e)| row(&e.key, *l, e.rank, &e.properties))
    } else {
        rows(snapshot.neighbors_selected(&selection, &key)?, |(key, l, rank)| row(key, *l, *rank, &NONE))
    };
    Report::default().table("neighbors", &shown.columns(), rows.ok_or_else(missing)?).print(style)
}

const NONE: Properties = Properties::new();

/// The rows of the edges of a vertex, if there is the vertex.
fn rows<T>(found: Option<Vec<T>>, row: impl Fn(&T) -> Vec<Value>) -> Option<Vec<Vec<Value>>> {
    found.map(|edges| edges.iter().map(row).collect())
}

/// Properties as JSON.
fn object(properties: &Properties) -> Value {
    let pairs = properties.iter().map(|(name, value)| (name.to_string(), property::to_json(value.as_ref())));
    Value::Object(pairs.collect())
}

/// What is shown of an edge beside the key of the neighbor.
#[derive(Clone, Copy, Default)]
struct Shown {
    kinds: bool,
    weights: bool,
    labels: bool,
    ranks: bool,
    properties: bool,
}

impl Shown {
    fn columns(self) -> Vec<&'static str> {
        let ranks = self.ranks || self.properties;
        let columns = [
            (self.kinds, "kind"),
            (true, "key"),
            (self.weights, "weight"),
            (self.labels, "label"),
            (ranks, "rank"),
            (self.properties, "properties"),
        ];
        columns.into_iter().filter(|(shown, _)| *shown).map(|(_, name)| name).collect()
    }

    /// The kind, if it is shown, and the key of a vertex.
    fn key(self, schema: &Schema, key: &VertexKey) -> Vec<Value> {
        let kind = self.kinds.then(|| schema.kind_name(key.kind()).into());
        kind.into_iter().chain([to_json(key)]).collect()
    }
}
