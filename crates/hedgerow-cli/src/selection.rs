//! Which edges a command reads: `--label`, `--direction`, `--rank-range`, `--where`.

use hedgerow::{Comparison, EdgeDirection, EdgeSelection, LabelId, PropertyType, Schema, Snapshot, Value};

use crate::error::CliError;
use crate::property;

/// The property that the weight of a weighted graph is.
const WEIGHT: &str = "weight";

/// Options that choose edges.
#[derive(clap::Args)]
pub(crate) struct Chosen {
    /// Follow the edges of this label; several may be given; "" is the default label [default: all labels]
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Vec<String>,
    /// Follow edges along their direction, against it or both ways [default: out]
    #[arg(long = "direction", value_name = "out|in|both", value_parser = direction)]
    pub(crate) along: Option<EdgeDirection>,
    /// Follow edges of these ranks alone: from the first to the one before the last, each may be left out
    #[arg(long, value_name = "FIRST..STOP", value_parser = rank_range)]
    pub(crate) rank_range: Option<RankRange>,
    /// Follow edges alone whose property compares so with a value: ==, !=, <, <=, >, >=
    #[arg(long = "where", value_name = "PROPERTY>VALUE", value_parser = filter)]
    pub(crate) filter: Option<Filter>,
}

/// The first rank, and the one behind the last.
#[derive(Clone, Copy)]
pub(crate) struct RankRange(Option<u64>, Option<u64>);

/// A property, a comparison, and the text of a value.
#[derive(Clone)]
pub(crate) struct Filter(String, Comparison, String);

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

fn filter(text: &str) -> Result<Filter, String> {
    let needed = || "PROPERTY, one of == != < <= > >=, and VALUE are needed, as in since>2020".to_owned();
    let at = text.find(['=', '!', '<', '>']).filter(|&at| at > 0).ok_or_else(needed)?;
    let (name, rest) = text.split_at(at);
    let symbols = Comparison::ALL.into_iter().map(Comparison::symbol).chain(["="]);
    let symbol = symbols.into_iter().find(|symbol| rest.starts_with(symbol)).ok_or_else(needed)?;
    let comparison = Comparison::from_symbol(symbol).ok_or_else(needed)?;
    Ok(Filter(name.trim().to_owned(), comparison, rest[symbol.len()..].trim().to_owned()))
}

impl Chosen {
    /// The labels that are named; an error where one is not defined.
    pub(crate) fn labels(&self, schema: &Schema) -> Result<Vec<LabelId>, CliError> {
        self.label.iter().map(|name| Ok(schema.find_label(name.as_str())?.id())).collect()
    }

    /// Whether more is asked of edges than their label.
    pub(crate) fn is_plain(&self) -> bool {
        self.rank_range.is_none() && self.filter.is_none() && self.along != Some(EdgeDirection::Both)
    }

    /// What is read, the value of the filter being of the property's type.
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
        if let Some(Filter(name, comparison, text)) = &self.filter {
            selection = selection.filter(name, *comparison, self.value(&schema, weighted, name, text)?);
        }
        Ok(selection.direction(direction))
    }

    fn value(&self, schema: &Schema, weighted: bool, name: &str, text: &str) -> Result<Value, CliError> {
        let named = |label: &str| self.label.is_empty() || self.label.iter().any(|name| name == label);
        let mut kinds = schema.labels().iter().filter(|label| named(label.name())).filter_map(|label| {
            let is_weight = weighted && label.name().is_empty() && name == WEIGHT;
            let kind = label.property(name).map(|property| property.property_type());
            if is_weight { Some(PropertyType::F64) } else { kind }
        });
        // Where no label has the property, the store says so.
        let kind = kinds.next().unwrap_or(PropertyType::Utf8);
        property::parse(name, kind, text).map_err(|message| CliError::Usage(format!("--where: {message}")))
    }
}
