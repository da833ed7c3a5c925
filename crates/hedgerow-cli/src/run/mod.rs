//! `hedgerow run`: algorithms on the whole graph.

mod bfs;
mod pagerank;
mod wcc;

use std::path::PathBuf;
use std::time::Instant;

use clap::Subcommand;
use hedgerow::{Snapshot, VertexId, VertexKey};
use hedgerow_kernels::KernelError;

use crate::error::CliError;
use crate::output::{Report, Style, quoted};
use crate::store::open_read_only;
use crate::target::Target;

/// Arguments of `run`.
#[derive(clap::Args)]
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
    /// Weakly connected components
    Wcc(wcc::WccArgs),
}

/// Arguments that all algorithms share.
#[derive(clap::Args)]
struct Common {
    /// The directory of the store
    store: PathBuf,
    /// Write the full result to this file, `KEY VALUE` a line (`KEY,VALUE` with --csv); `-` for standard output, then
    /// without the summary
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Rows of the summary's table
    #[arg(long, value_name = "K", default_value_t = 10)]
    top: usize,
    /// Threads to compute with; all cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write the full result in the conventions of LDBC Graphalytics
    #[arg(long)]
    graphalytics: bool,
}

/// Runs one algorithm on a snapshot of a store.
pub(crate) fn run(args: &RunArgs, style: Style) -> Result<(), CliError> {
    match &args.algorithm {
        Algorithm::Bfs(args) => args.common.execute(style, |work| bfs::bfs(args, work)),
        Algorithm::Pagerank(args) => args.common.execute(style, |work| pagerank::pagerank(args, work)),
        Algorithm::Wcc(args) => args.common.execute(style, |work| wcc::wcc(args, work)),
    }
}

impl Common {
    fn execute(
        &self,
        style: Style,
        algorithm: impl FnOnce(&Work<'_>) -> Result<Report, CliError> + Send,
    ) -> Result<(), CliError> {
        let mut pool = rayon::ThreadPoolBuilder::new();
        if let Some(threads) = self.threads {
            pool = pool.num_threads(usize::from(threads));
        }
        let pool = pool.build().map_err(|error| CliError::Failed(format!("starting threads: {error}")))?;
        let graph = open_read_only(&self.store)?;
        let snapshot = graph.snapshot()?;
        let work = Work { snapshot: &snapshot, kind: graph.config().keys, common: self, style };
        let report = pool.install(|| algorithm(&work))?;
        if work.only_result() { Ok(()) } else { report.print(style) }
    }
}

/// What an algorithm works on, and where its result goes.
struct Work<'a> {
    snapshot: &'a Snapshot,
    kind: hedgerow::KeyKind,
    common: &'a Common,
    style: Style,
}

impl Work<'_> {
    /// Calls the kernel; gives its result and how many milliseconds it took. The view is built before.
    fn timed<T>(&self, kernel: impl FnOnce() -> Result<T, KernelError>) -> Result<(T, f64), CliError> {
        self.snapshot.view();
        let start = Instant::now();
        let result = kernel().map_err(|error| CliError::Usage(error.to_string()))?;
        let milliseconds = (start.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        Ok((result, milliseconds))
    }

    /// Whether standard output takes the full result, so that a summary has no place in it.
    fn only_result(&self) -> bool {
        self.common.out.as_ref().is_some_and(|path| path.as_os_str() == "-")
    }

    /// The report's first lines.
    fn summary(&self, algorithm: &'static str, milliseconds: f64) -> Report {
        Report::default()
            .field("algorithm", algorithm)
            .field("timestamp", self.snapshot.timestamp().0)
            .field("vertices", self.snapshot.vertex_count())
            .field("edges", self.snapshot.edge_count())
            .field("milliseconds", milliseconds)
    }

    /// Writes a value for every vertex, by ascending vertex id, if the full result was asked for.
    fn write_result<V: std::fmt::Display>(&self, value: impl Fn(VertexId) -> V) -> Result<(), CliError> {
        let Some(path) = &self.common.out else { return Ok(()) };
        let csv = self.style == Style::Csv;
        let mut out = Target::open(Some(path))?;
        if csv {
            out.write(|w| writeln!(w, "key,value"))?;
        }
        for (id, key) in self.snapshot.vertices() {
            let value = value(id);
            out.write(|w| match (&key, csv) {
                (VertexKey::U64(n), false) => writeln!(w, "{n} {value}"),
                (VertexKey::U64(n), true) => writeln!(w, "{n},{value}"),
                (VertexKey::Str(s), false) => writeln!(w, "{s} {value}"),
                (VertexKey::Str(s), true) => {
                    writeln!(w, "{},{}", quoted(s, b','), quoted(&value.to_string(), b','))
                }
            })?;
        }
        out.finish()
    }
}
