//! `hedgerow run bfs`.

use hedgerow::Direction;
use hedgerow_kernels::{BfsConfig, UNREACHED};

use super::work::{Common, Work};
use crate::error::CliError;
use crate::keys::to_json;
use crate::output::Report;

/// What Graphalytics writes for a vertex that is not reached.
const GRAPHALYTICS_UNREACHED: i64 = i64::MAX;

/// Arguments of `run bfs`.
#[derive(clap::Args)]
pub(super) struct BfsArgs {
    #[command(flatten)]
    pub(super) common: Common,
    /// The vertex to start at
    #[arg(long, value_name = "KEY")]
    source: String,
    /// Against the direction of the edges
    #[arg(long = "in")]
    incoming: bool,
}

/// Hops from the source; the full result has -1 for vertices that are not reached.
pub(super) fn bfs(args: &BfsArgs, work: &Work<'_>) -> Result<Report, CliError> {
    let (key, source) = work.vertex("--source", &args.source)?;
    let direction = if args.incoming { Direction::In } else { Direction::Out };
    let config = BfsConfig { direction, ..BfsConfig::default() };
    let (hops, milliseconds) = work.timed(|| hedgerow_kernels::bfs(work.view(), source, &config))?;
    let unreached = if args.common.graphalytics { GRAPHALYTICS_UNREACHED } else { -1 };
    work.write_result(|id| match hops.get(id.0 as usize) {
        Some(&depth) if depth != UNREACHED => i64::from(depth),
        _ => unreached,
    })?;
    let mut depths: Vec<u64> = Vec::new();
    for &depth in hops.iter().filter(|&&depth| depth != UNREACHED) {
        let depth = depth as usize;
        if depth >= depths.len() {
            depths.resize(depth + 1, 0);
        }
        if let Some(count) = depths.get_mut(depth) {
            *count += 1;
        }
    }
    let rows = (0u64..).zip(&depths).take(args.common.top);
    Ok(work
        .summary("bfs", milliseconds)
        .field("source", to_json(&key))
        .field("reached", depths.iter().sum::<u64>())
        .field("depth", depths.len().saturating_sub(1) as u64)
        .table("depths", &["hops", "vertices"], rows.map(|(d, &n)| vec![d.into(), n.into()]).collect()))
}
