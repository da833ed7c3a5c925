//! `hedgerow run pagerank`.

use hedgerow_kernels::{PageRankConfig, top_k};

use super::work::{Common, Work};
use crate::error::CliError;
use crate::keys::to_json;
use crate::output::{Report, number};

/// Arguments of `run pagerank`.
#[derive(clap::Args)]
pub(super) struct PageRankArgs {
    #[command(flatten)]
    pub(super) common: Common,
    /// The number of iterations, at most this many with --tolerance
    #[arg(long, value_name = "N", default_value_t = 20)]
    iterations: u32,
    /// The probability of following an edge rather than jumping anywhere, 0 to 1
    #[arg(long, value_name = "D", default_value_t = 0.85)]
    damping: f64,
    /// Stop when an iteration changes the scores by less than this in total
    #[arg(long, value_name = "T")]
    tolerance: Option<f64>,
}

/// Scores, the highest in the summary.
pub(super) fn pagerank(args: &PageRankArgs, work: &Work<'_>) -> Result<Report, CliError> {
    let config =
        PageRankConfig { damping: args.damping, iterations: args.iterations, tolerance: args.tolerance };
    let view = work.view();
    let (scores, milliseconds) = work.timed(|| hedgerow_kernels::pagerank(view, &config))?;
    work.write_result(|id| format!("{:e}", scores.get(id.0 as usize).copied().unwrap_or(0.0)))?;
    let best = top_k(view, &scores, args.common.top);
    let row = |(id, score)| Some(vec![to_json(&work.snapshot.vertex_key(id)?), number(score)]);
    Ok(work
        .summary("pagerank", milliseconds)
        .field("iterations", args.iterations)
        .field("damping", number(args.damping))
        .table("top", &["key", "score"], best.into_iter().filter_map(row).collect()))
}
