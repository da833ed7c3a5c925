//! The input of a suite: the options that all suites share, and the graph.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use hedgerow_subjects::Engine;
use hedgerow_workload::Csr;
use hedgerow_workload::{GraphSpec, LoadedGraph};

use hedgerow_report::failure::Result;

/// The options of every suite.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SuiteOptions {
    /// The graph: kron:S[:EF], uniform:S[:EF], file:PATH[:FORMAT], data:NAME
    #[arg(long, default_value = "kron:18", value_name = "G")]
    pub(crate) graph: GraphSpec,
    /// The engines to measure. With a container of the lab among them, the suites insert, update, ops,
    /// analytics and mixed measure all engines, with the same loops; the other suites measure only the store
    #[arg(long, value_enum, value_delimiter = ',', default_value = "hedgerow,csr")]
    pub(crate) engines: Vec<Engine>,
    /// Threads of the kernels, and the maximum number of writers [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Measurements of each figure
    #[arg(long, default_value_t = 3, value_name = "R", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) repeat: u16,
    /// Give each edge a weight of 1 to 255, by its ends
    #[arg(long)]
    pub(crate) weighted: bool,
    /// Only metrics whose names begin with one of these, if the suite can leave out other metrics
    #[arg(long, value_name = "PREFIX", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Write one JSON object per figure to this file, or to the standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
    /// Write an HTML page with plots to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// The folder of the files that suites need, which are removed at the end
    #[arg(long, default_value = "target/bench", value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

impl SuiteOptions {
    pub(crate) fn has(&self, engine: Engine) -> bool {
        self.engines.contains(&engine)
    }

    /// True if a container of the lab is among the engines.
    pub(crate) fn has_container(&self) -> bool {
        self.engines.iter().any(|engine| engine.is_container())
    }

    pub(crate) fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }

    pub(crate) fn wants(&self, metric: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|prefix| metric.starts_with(prefix.as_str()))
    }

    pub(crate) fn repeat(&self) -> usize {
        usize::from(self.repeat)
    }
}

/// A graph with its edges in the order of ingestion: by time, or else in a seeded random order.
pub(crate) struct Work<'a> {
    pub(crate) options: &'a SuiteOptions,
    pub(crate) graph: LoadedGraph,
    /// The number of directed edges per edge of the graph: two for an undirected edge.
    pub(crate) per_edge: f64,
}

/// The maximum number of reads of one kind that are timed together.
const READS: usize = 1 << 20;
/// The maximum time per edge of the work that repeats for a while.
const WHILE_OF_EDGE: Duration = Duration::from_micros(10);

impl Work<'_> {
    /// Returns the number of reads of one kind that are timed together: a few for each edge of a graph with
    /// few edges.
    pub(crate) fn reads(&self) -> usize {
        READS.min(self.graph.edges.len() * 8)
    }

    /// Returns the time for work that repeats for a while: `most`, or less for a graph with few edges.
    pub(crate) fn while_of(&self, most: Duration) -> Duration {
        most.min(WHILE_OF_EDGE * self.graph.edges.len().min(1 << 20) as u32)
    }

    pub(crate) fn csr(&self) -> Result<Csr> {
        Ok(self.graph.csr()?)
    }

    /// Returns the edges in order, each once. For a file that repeats edges, the first occurrences count.
    pub(crate) fn distinct_edges(&self) -> Cow<'_, [(u32, u32)]> {
        let edges = &self.graph.edges;
        if self.graph.keys.is_none() {
            return Cow::Borrowed(edges);
        }
        let mut seen = HashSet::with_capacity(edges.len());
        let canonical =
            |&(u, v): &(u32, u32)| if self.graph.directed { (u, v) } else { (u.min(v), u.max(v)) };
        Cow::Owned(edges.iter().filter(|edge| seen.insert(canonical(edge))).copied().collect())
    }
}
