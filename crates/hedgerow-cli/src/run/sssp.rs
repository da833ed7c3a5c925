//! `hedgerow run sssp`.

use hedgerow::{Direction, VertexId};
use hedgerow_kernels::SsspConfig;

use super::work::{Common, Work};
use crate::error::CliError;
use crate::keys::to_json;
use crate::output::{Report, number};

/// Arguments of `run sssp`.
#[derive(clap::Args)]
pub(super) struct SsspArgs {
    #[command(flatten)]
    pub(super) common: Common,
    /// The vertex to start at
    #[arg(long, value_name = "KEY")]
    source: String,
    /// Against the direction of the edges
    #[arg(long = "in")]
    incoming: bool,
    /// The width of a bucket of distances: changes the time, not the result [default: by a sample of the weights]
    #[arg(long, value_name = "D")]
    delta: Option<f64>,
    /// The property that is the length of an edge [default: the weight, and of other labels than the default one 1]
    #[arg(long, value_name = "PROPERTY")]
    weight: Option<String>,
}

/// Least sums of weights from the source; the full result has `inf` for vertices that are not reached.
pub(super) fn sssp(args: &SsspArgs, work: &Work<'_>) -> Result<Report, CliError> {
    let (key, source) = work.vertex("--source", &args.source)?;
    let direction = if args.incoming { Direction::In } else { Direction::Out };
    let config = SsspConfig { direction, delta: args.delta };
    let (distances, milliseconds) = match &args.weight {
        None => work.timed(|| hedgerow_kernels::sssp(work.view(), source, &config))?,
        Some(property) => {
            let view = work.snapshot.view_weighted_by(work.label, property, None);
            let view = view.map_err(|error| CliError::Failed(format!("--weight: {error}")))?;
            work.timed(|| hedgerow_kernels::sssp(&view, source, &config))?
        }
    };
    let unreached = if args.common.graphalytics { "infinity" } else { "inf" };
    work.write_result(|id| match distances.get(id.0 as usize) {
        Some(distance) if distance.is_finite() => format!("{distance:e}"),
        _ => unreached.to_owned(),
    })?;
    let mut reached: Vec<(VertexId, f64)> = (0u32..)
        .map(VertexId)
        .zip(distances.iter().copied())
        .filter(|(_, distance)| distance.is_finite())
        .collect();
    let count = reached.len() as u64;
    reached.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let row = |(id, distance)| Some(vec![to_json(&work.snapshot.vertex_key(id)?), number(distance)]);
    let farthest = reached.first().map_or(0.0, |&(_, distance)| distance);
    let rows = reached.into_iter().take(args.common.top).filter_map(row).collect();
    Ok(work
        .summary("sssp", milliseconds)
        .field("source", to_json(&key))
        .field("reached", count)
        .field("distance", number(farthest))
        .table("farthest", &["key", "distance"], rows))
}
