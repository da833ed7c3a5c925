//! `hedgerow neighbors`.

use std::path::PathBuf;

use hedgerow::{
    Direction, EdgeDirection, EdgeLimit, EdgeOf, EdgeSelection, LabelId, Limited, Properties, Schema,
    Snapshot, VertexKey,
};
use serde_json::Value;

use crate::error::CliError;
use crate::keys::{parse_argument, spelled, to_json};
use crate::output::{Report, Style, number};
use crate::property;
use crate::selection::Chosen;
use crate::show::Show;
use crate::store::open_read_only;

/// Arguments of `neighbors`.
#[derive(clap::Args)]
pub(crate) struct NeighborsArgs {
    /// The directory of the store
    store: PathBuf,
    /// The key of the vertex; in a store with kinds KIND:KEY
    key: String,
    /// Follow the edges against their direction
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
    /// Print at most this many edges, and whether there are more
    #[arg(long, value_name = "N", conflicts_with = "weights")]
    limit: Option<usize>,
    #[command(flatten)]
    show: Show,
}

/// Prints the neighbors of one vertex, sorted by key, a line for each edge. If edges have several labels and
/// no label is named, a column contains the label.
pub(crate) fn neighbors(args: &NeighborsArgs, style: Style) -> Result<(), CliError> {
    let graph = open_read_only(&args.store)?;
    let schema = graph.schema();
    args.show.check(&schema, graph.config().keys)?;
    let key = parse_argument(&schema, graph.config().keys, "KEY", &args.key)?;
    let along = if args.incoming { EdgeDirection::In } else { args.chosen.along.unwrap_or_default() };
    let snapshot = graph.snapshot()?;
    let named = args.chosen.labels(&schema)?;
    let used = if named.is_empty() { EdgeSelection::all().labels_with_edges(&snapshot)? } else { named };
    if args.weights {
        return weighted(args, style, (&snapshot, &schema), (&key, along), &used);
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
        row.extend(args.show.values(&snapshot, key.as_ref())?);
        Ok(row)
    };
    let selection = args.chosen.selection(&snapshot, graph.config().weighted, along)?;
    let wanted = EdgeLimit::first(args.limit.unwrap_or(usize::MAX));
    let listed = |Limited { found, more }: Limited<EdgeOf>| Limited {
        found: found.into_iter().map(|edge| (edge.key, edge.label, edge.rank)).collect(),
        more,
    };
    let all = |found| Limited { found, more: false };
    let (rows, more) = if shown.properties {
        let found = match args.limit {
            Some(_) => snapshot.first_edges(&key, &selection, wanted)?,
            None => snapshot.edges(&key, &selection)?.map(all),
        };
        rows(found.ok_or_else(|| missing(args, &schema, &key))?, |e| {
            row(&e.key, e.label, e.rank, &e.properties)
        })?
    } else {
        let found = match args.limit {
            Some(_) => snapshot.first_edges(&key, &selection, wanted.without_properties())?.map(listed),
            None => snapshot.edge_list(&key, &selection)?.map(|found| Limited { found, more: false }),
        };
        rows(found.ok_or_else(|| missing(args, &schema, &key))?, |(key, l, rank)| row(key, *l, *rank, &NONE))?
    };
    let report = match args.limit {
        Some(_) => Report::default().field("more", more),
        None => Report::default(),
    };
    report.rows("neighbors", &shown.columns(&args.show), rows).print(style)
}

fn missing(args: &NeighborsArgs, schema: &Schema, key: &VertexKey) -> CliError {
    let (shown, store) = (spelled(schema, key.as_ref()), args.store.display());
    CliError::Failed(format!("KEY: no vertex {shown} in {store}"))
}

/// Prints the neighbors of one vertex over the default label, with the weights of the edges.
fn weighted(
    args: &NeighborsArgs,
    style: Style,
    (snapshot, schema): (&Snapshot, &Schema),
    (key, along): (&VertexKey, EdgeDirection),
    used: &[LabelId],
) -> Result<(), CliError> {
    if used.iter().any(|&label| label != LabelId::DEFAULT) {
        let message = "--weights: only edges of the default label (--label \"\") have weights; --properties prints the \
                       properties of other edges";
        return Err(CliError::Usage(message.to_owned()));
    }
    let direction = match along {
        EdgeDirection::Out => Direction::Out,
        EdgeDirection::In => Direction::In,
        EdgeDirection::Both => {
            return Err(CliError::Usage("--weights reads one direction, not both".to_owned()));
        }
    };
    if !args.chosen.is_plain() {
        let message = "--weights prints all edges of the label: leave out --rank-range and --where";
        return Err(CliError::Usage(message.to_owned()));
    }
    let found = snapshot
        .default_label()
        .weighted_neighbors(key, direction)?
        .ok_or_else(|| missing(args, schema, key))?;
    let shown = Shown { kinds: !schema.kinds().is_empty(), weights: true, ..Shown::default() };
    let row = |(key, weight): &(VertexKey, f64)| {
        let mut row = shown.key(schema, key);
        row.push(number(*weight));
        row.extend(args.show.values(snapshot, key.as_ref())?);
        Ok(row)
    };
    let rows = found.iter().map(row).collect::<hedgerow::Result<_>>()?;
    Report::default().rows("neighbors", &shown.columns(&args.show), rows).print(style)
}

const NONE: Properties = Properties::new();

/// Returns the rows of the edges of a vertex, and true if there are more.
fn rows<T>(
    found: Limited<T>,
    row: impl Fn(&T) -> hedgerow::Result<Vec<Value>>,
) -> hedgerow::Result<(Vec<Vec<Value>>, bool)> {
    Ok((found.found.iter().map(row).collect::<hedgerow::Result<_>>()?, found.more))
}

/// Returns properties as JSON.
fn object(properties: &Properties) -> Value {
    let pairs = properties.iter().map(|(name, value)| (name.to_string(), property::to_json(value.as_ref())));
    Value::Object(pairs.collect())
}

/// The attributes of an edge that are shown next to the key of the neighbor.
#[derive(Clone, Copy, Default)]
struct Shown {
    kinds: bool,
    weights: bool,
    labels: bool,
    ranks: bool,
    properties: bool,
}

impl Shown {
    fn columns(self, show: &Show) -> Vec<String> {
        let ranks = self.ranks || self.properties;
        let columns = [
            (self.kinds, "kind"),
            (true, "key"),
            (self.weights, "weight"),
            (self.labels, "label"),
            (ranks, "rank"),
            (self.properties, "properties"),
        ];
        let columns: Vec<&str> =
            columns.into_iter().filter(|(shown, _)| *shown).map(|(_, name)| name).collect();
        let others = show.columns("", &columns);
        columns.into_iter().map(str::to_owned).chain(others).collect()
    }

    /// Returns the key of a vertex, after its kind if kinds are shown.
    fn key(self, schema: &Schema, key: &VertexKey) -> Vec<Value> {
        let kind = self.kinds.then(|| schema.kind_name(key.kind()).into());
        kind.into_iter().chain([to_json(key)]).collect()
    }
}
