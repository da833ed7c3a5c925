//! The edges that a command reads: `--label`, `--direction`, `--rank-range`, `--where`.

use hedgerow::{EdgeDirection, EdgeSelection, LabelId, Schema, Snapshot};

use crate::error::CliError;
use crate::filter::{self, Filter};

/// Options that choose edges.
#[derive(clap::Args)]
pub(crate) struct Chosen {
    /// Follow the edges of this label; several may be given; "" is the default label [default: all labels]
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Vec<String>,
    /// Follow edges along their direction, against it or both ways [default: out]
    #[arg(long = "direction", value_name = "out|in|both", value_parser = direction)]
    pub(crate) along: Option<EdgeDirection>,
    /// Follow only edges with these ranks: the first one, and the one after the last; each may be left out
    #[arg(long, value_name = "FIRST..STOP", value_parser = rank_range)]
    pub(crate) rank_range: Option<RankRange>,
    /// Follow only edges whose property meets a condition: since>2020 (==, !=, <, <=, >, >=), 'op in A,D',
    /// 'name prefix Ann', 'op is null', 'op is not null'; an edge must meet all conditions given
    #[arg(long = "where", value_name = "CONDITION", value_parser = filter::parse)]
    pub(crate) filters: Vec<Filter>,
}

/// The first rank, and the rank after the last one.
#[derive(Clone, Copy)]
pub(crate) struct RankRange(Option<u64>, Option<u64>);

fn direction(text: &str) -> Result<EdgeDirection, String> {
    match text {
        "out" => Ok(EdgeDirection::Out),
        "in" => Ok(EdgeDirection::In),
        "both" => Ok(EdgeDirection::Both),
        _ => Err("out, in or both is needed".to_owned()),
    }
}

fn rank_range(text: &str) -> Result<RankRange, String> {
    let (first, stop) = text.split_once("..").ok_or("FIRST..STOP is needed, as in 10..20")?;
    let rank = |text: &str| match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| format!("{text:?} is no rank: 0 to 2^64 - 1 is needed")),
    };
    Ok(RankRange(rank(first)?, rank(stop)?))
}

impl Chosen {
    /// Returns the labels that the option names; an error if one is not defined.
    pub(crate) fn labels(&self, schema: &Schema) -> Result<Vec<LabelId>, CliError> {
        self.label.iter().map(|name| Ok(schema.find_label(name.as_str())?.id())).collect()
    }

    /// True if edges are chosen only by their label, in one direction.
    pub(crate) fn is_plain(&self) -> bool {
        self.rank_range.is_none() && self.filters.is_empty() && self.along != Some(EdgeDirection::Both)
    }

    /// Returns the edges to read. The values of conditions have the types of their properties.
    pub(crate) fn selection(
        &self,
        snapshot: &Snapshot,
        weighted: bool,
        direction: EdgeDirection,
    ) -> Result<EdgeSelection<'_>, CliError> {
        let schema = snapshot.schema();
        self.labels(&schema)?;
        let mut selection = match &self.label[..] {
            [] => EdgeSelection::all(),
            names => EdgeSelection::of_labels(names.iter().map(String::as_str)),
        };
        if let Some(RankRange(first, stop)) = self.rank_range {
            selection = match stop {
                Some(stop) => selection.ranks(first.unwrap_or(0)..stop),
                None => selection.ranks(first.unwrap_or(0)..),
            };
        }
        for filter in &self.filters {
            let condition = filter.condition(&schema, weighted, &self.label);
            let condition = condition.map_err(|message| CliError::Usage(format!("--where: {message}")))?;
            selection = selection.filter_by(filter.property(), condition);
        }
        Ok(selection.direction(direction))
    }
}
