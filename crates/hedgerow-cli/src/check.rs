//! `hedgerow check`.

use std::path::PathBuf;

use serde_json::Value;

use crate::error::CliError;
use crate::output::{Report, Style};
use crate::size::bytes;
use crate::store::open_within;

/// Arguments of `check`.
#[derive(clap::Args)]
pub(crate) struct CheckArgs {
    /// The directory of the store
    store: PathBuf,
    /// The most memory that the store may take, as 8GiB
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory_limit: Option<u64>,
}

/// Opens the store, which verifies its files, and then checks the graph. Damage is a finding, not a failure.
pub(crate) fn check(args: &CheckArgs, style: Style) -> Result<(), CliError> {
    let report = open_within(&args.store, args.memory_limit).and_then(|graph| Ok(graph.check()?));
    let (vertices, edges, problems, more) = match report {
        Ok(report) => (Some(report.vertices), Some(report.edges), report.problems, report.more),
        Err(CliError::Store(hedgerow::Error::Storage(hedgerow::StorageError::Corruption(damage)))) => {
            (None, None, vec![damage.to_string()], false)
        }
        Err(other) => return Err(other),
    };
    let sound = problems.is_empty();
    let rows = problems.into_iter().map(|problem| vec![Value::String(problem)]).collect();
    let found = Report::default().field("sound", sound).field("vertices", vertices).field("edges", edges);
    // The report lists at most a hundred problems; the field `more` marks that there are others.
    let found = if more { found.field("more", true) } else { found };
    found.details("problems", &["problem"], rows).print(style)?;
    if sound { Ok(()) } else { Err(CliError::Problems) }
}
