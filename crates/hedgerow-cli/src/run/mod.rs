//! `hedgerow run`: algorithms on the whole graph.

mod bfs;
mod pagerank;
mod sssp;
mod tc;
mod wcc;
mod work;

use clap::Subcommand;

use crate::error::CliError;
use crate::output::Style;

/// Arguments of `run`.
#[derive(clap::Args)]
#[command(arg_required_else_help = false)]
pub(crate) struct RunArgs {
    #[command(subcommand)]
    algorithm: Algorithm,
}

#[derive(Subcommand)]
enum Algorithm {
    /// Hops from a source vertex to every other vertex
    Bfs(bfs::BfsArgs),
    /// PageRank scores, which sum to 1
    Pagerank(pagerank::PageRankArgs),
    /// Least sums of weights along paths from a source vertex to every other vertex
    Sssp(sssp::SsspArgs),
    /// The number of triangles, directions ignored
    Tc(tc::TriangleArgs),
    /// Weakly connected components
    Wcc(wcc::WccArgs),
}

/// Runs one algorithm on a snapshot of a store.
pub(crate) fn run(args: &RunArgs, style: Style) -> Result<(), CliError> {
    match &args.algorithm {
        Algorithm::Bfs(args) => args.common.execute(style, |work| bfs::bfs(args, work)),
        Algorithm::Pagerank(args) => args.common.execute(style, |work| pagerank::pagerank(args, work)),
        Algorithm::Sssp(args) => args.common.execute(style, |work| sssp::sssp(args, work)),
        Algorithm::Tc(args) => args.machine.execute(None, style, tc::tc),
        Algorithm::Wcc(args) => args.common.execute(style, |work| wcc::wcc(args, work)),
    }
}
