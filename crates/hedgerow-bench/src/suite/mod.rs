//! The benchmark suites, with the options they share.

mod analytics;
mod commit;
mod crowd;
mod insert;
mod load;
mod memory;
mod mixed;
mod ops;
mod page;
mod recovery;
mod update;
mod views;

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hedgerow_lab::Csr;
use hedgerow_workload::{GraphSpec, LoadedGraph};

use crate::failure::{Context, Result};
use crate::record::Recorder;
use crate::reference::csr_of;

pub(crate) use memory::{MemoryOptions, run_child as memory_child};
pub(crate) use page::write as report;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Engine {
    /// The store.
    Hedgerow,
    /// A plain static CSR under the same kernels.
    Csr,
}

/// Options of every suite.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SuiteOptions {
    /// The graph: kron:S[:EF], uniform:S[:EF], file:PATH[:FORMAT], data:NAME
    #[arg(long, default_value = "kron:18", value_name = "G")]
    graph: GraphSpec,
    /// The engines to measure
    #[arg(long, value_enum, value_delimiter = ',', default_value = "hedgerow,csr")]
    engines: Vec<Engine>,
    /// Threads of the kernels, and the most writers [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Measurements of each figure
    #[arg(long, default_value_t = 3, value_name = "R", value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,
    /// Give each edge a weight of 1 to 255, by its ends
    #[arg(long)]
    weighted: bool,
    /// Only metrics whose names begin with one of these, where the suite can leave others out
    #[arg(long, value_name = "PREFIX", value_delimiter = ',')]
    only: Vec<String>,
    /// Write one JSON object per figure to this file, or to the standard output
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Write an HTML page with plots to this file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Where suites that need files put them; removed at the end
    #[arg(long, default_value = "target/bench", value_name = "DIR")]
    dir: PathBuf,
}

impl SuiteOptions {
    fn has(&self, engine: Engine) -> bool {
        self.engines.contains(&engine)
    }

    fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }

    fn wants(&self, metric: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|prefix| metric.starts_with(prefix.as_str()))
    }

    fn repeat(&self) -> usize {
        usize::from(self.repeat)
    }
}

/// Kernels on a live snapshot and on a CSR.
pub(crate) fn analytics(options: &SuiteOptions) -> Result<()> {
    run("analytics", options, analytics::run)
}

/// Ingestion without files.
pub(crate) fn insert(options: &SuiteOptions) -> Result<()> {
    run("insert", options, insert::run)
}

/// Removing edges and inserting them again.
pub(crate) fn update(options: &SuiteOptions) -> Result<()> {
    run("update", options, update::run)
}

/// Point reads and scans, views, one hub.
pub(crate) fn ops(options: &SuiteOptions) -> Result<()> {
    run("ops", options, ops::run)
}

/// Readers beside writers; with `readers`, a crowd of short ones.
pub(crate) fn mixed(options: &SuiteOptions, readers: Option<usize>) -> Result<()> {
    run("mixed", options, |work, recorder| match readers {
        Some(readers) => crowd::run(work, readers, recorder),
        None => mixed::run(work, recorder),
    })
}

/// Durable commits.
pub(crate) fn commit(options: &SuiteOptions) -> Result<()> {
    run("commit", options, commit::run)
}

/// Opening durable stores.
pub(crate) fn recovery(options: &SuiteOptions) -> Result<()> {
    run("recovery", options, recovery::run)
}

impl Work<'_> {
    fn csr(&self) -> Result<Csr> {
        csr_of(&self.graph)
    }

    /// The edges in order, each once: of a file that repeats them, where they come first.
    fn distinct_edges(&self) -> Cow<'_, [(u32, u32)]> {
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

/// A graph whose edges are in the order of ingestion: by time, or else in a seeded random order.
struct Work<'a> {
    options: &'a SuiteOptions,
    graph: LoadedGraph,
    /// Directed edges per given edge: two of an undirected one.
    per_edge: f64,
}

const SHUFFLE_SEED: u64 = 7;

fn run(
    suite: &'static str,
    options: &SuiteOptions,
    body: impl FnOnce(&Work<'_>, &mut Recorder) -> Result<()>,
) -> Result<()> {
    rayon::ThreadPoolBuilder::new().num_threads(options.threads()).build_global()?;
    // A graph that is absent and not required: the loader has said so.
    let Some(mut graph) = options.graph.load()? else { return Ok(()) };
    if graph.edges.is_empty() {
        return Err(format!("{} has no edges", graph.name).into());
    }
    if !graph.in_time_order {
        hedgerow_workload::shuffle(&mut graph.edges, SHUFFLE_SEED);
    }
    // Those of files would no longer belong to their edges.
    graph.weights = None;
    if options.weighted {
        graph.weights = Some(load::weights(&graph));
        graph.name.push_str(" weighted");
    }
    let per_edge = if graph.directed { 1.0 } else { 2.0 };
    let mut recorder = Recorder::new(suite, graph.name.clone(), options.json.as_deref())?;
    body(&Work { options, graph, per_edge }, &mut recorder)?;
    match &options.report {
        Some(path) => page::write_records(recorder.records(), path),
        None => Ok(()),
    }
}

/// Creates the folder of `path` if it is absent.
fn make_folder_of(path: &Path) -> Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => {
            std::fs::create_dir_all(folder).context(folder.display())
        }
        _ => Ok(()),
    }
}
