//! The benchmark suites.

mod analytics;
mod commit;
mod crowd;
mod disk;
mod folder;
mod format;
mod insert;
pub(crate) mod links;
mod load;
mod maintained;
mod memory;
mod mixed;
mod ops;
mod page;
mod reads;
mod recovery;
mod selections;
mod side_by_side;
mod stream;
mod update;
mod vertices;
mod views;
mod work;

use crate::record::Recorder;
use hedgerow_report::failure::Result;

pub(crate) use analytics::sources;
pub(crate) use folder::make_folder_of;
pub(crate) use links::{LinkBenchOptions, records as linkbench_records, run as linkbench};
pub(crate) use memory::{MemoryOptions, run_child as memory_child};
pub(crate) use page::write as report;
pub(crate) use reads::{ReadsOptions, run as reads};
pub(crate) use side_by_side::{Measured, beside, check_count, edges, empty, form, timed};
pub(crate) use stream::{StreamOptions, run as stream};
pub(crate) use vertices::{VertexMemoryOptions, run_child as vertex_memory_child};
pub(crate) use work::{SuiteOptions, Work};

/// Runs kernels on a live snapshot and on a CSR.
pub(crate) fn analytics(options: &SuiteOptions) -> Result<()> {
    run_either("analytics", options, analytics::run, side_by_side::analytics)
}

/// Runs ingestion without files.
pub(crate) fn insert(options: &SuiteOptions) -> Result<()> {
    run_either("insert", options, insert::run, side_by_side::insert)
}

/// Removes edges and inserts them again.
pub(crate) fn update(options: &SuiteOptions) -> Result<()> {
    run_either("update", options, update::run, side_by_side::update)
}

/// Runs point reads and scans, views, and one hub.
pub(crate) fn ops(options: &SuiteOptions) -> Result<()> {
    run_either("ops", options, ops::run, side_by_side::ops)
}

/// Runs readers concurrent with writers; with `readers`, a crowd of short readers on the store.
pub(crate) fn mixed(options: &SuiteOptions, readers: Option<usize>) -> Result<()> {
    match readers {
        Some(readers) => run_store("mixed", options, |work, recorder| crowd::run(work, readers, recorder)),
        None => run_either("mixed", options, mixed::run, side_by_side::mixed),
    }
}

/// Runs durable commits.
pub(crate) fn commit(options: &SuiteOptions) -> Result<()> {
    run_store("commit", options, commit::run)
}

/// Opens durable stores.
pub(crate) fn recovery(options: &SuiteOptions) -> Result<()> {
    run_store("recovery", options, recovery::run)
}

/// Maintains answers while the graph changes.
pub(crate) fn maintained(options: &SuiteOptions) -> Result<()> {
    run_store("maintained", options, maintained::run)
}

/// Runs stores within a memory limit.
pub(crate) fn disk(options: &SuiteOptions) -> Result<()> {
    run_store("disk", options, disk::run)
}

/// Measures keys of vertices by their type, and memory with this number of `vertices`.
pub(crate) fn vertices(options: &SuiteOptions, vertices: u64) -> Result<()> {
    run_store("vertices", options, |work, recorder| vertices::run(work, vertices, recorder))
}

/// Measures packed neighbor lists.
pub(crate) fn format(options: &SuiteOptions) -> Result<()> {
    run_store("format", options, format::run)
}

const SHUFFLE_SEED: u64 = 7;

type Body = fn(&Work<'_>, &mut Recorder) -> Result<()>;

/// Runs a suite of the store or, if the options name containers of the lab, the part that the engines share.
fn run_either(suite: &'static str, options: &SuiteOptions, of_store: Body, shared: Body) -> Result<()> {
    run(suite, options, if options.has_container() { shared } else { of_store })
}

/// Runs a suite that measures only the store.
fn run_store(
    suite: &'static str,
    options: &SuiteOptions,
    body: impl FnOnce(&Work<'_>, &mut Recorder) -> Result<()>,
) -> Result<()> {
    match options.engines.iter().find(|engine| engine.is_container()) {
        None => run(suite, options, body),
        Some(engine) => Err(format!(
            "the suite {suite} with these options measures the store alone, and {} is a container of the lab; insert, update, ops, analytics and mixed take any engine",
            engine.name()
        )
        .into()),
    }
}

fn run(
    suite: &'static str,
    options: &SuiteOptions,
    body: impl FnOnce(&Work<'_>, &mut Recorder) -> Result<()>,
) -> Result<()> {
    with_work(options, |work| {
        let mut recorder = Recorder::new(suite, work.graph.name.clone(), options.json.as_deref())?;
        body(work, &mut recorder)?;
        match &options.report {
            Some(path) => page::write_records(recorder.records(), path),
            None => Ok(()),
        }
    })
}

/// Calls `body` with the graph of these options in the order of ingestion, and with their number of threads
/// for kernels. Does nothing if the graph is absent and not required; the loader reports this.
pub(crate) fn with_work(options: &SuiteOptions, body: impl FnOnce(&Work<'_>) -> Result<()>) -> Result<()> {
    rayon::ThreadPoolBuilder::new().num_threads(options.threads()).build_global()?;
    let Some(mut graph) = options.graph.load()? else { return Ok(()) };
    if graph.edges.is_empty() {
        return Err(format!("{} has no edges", graph.name).into());
    }
    if !graph.in_time_order {
        hedgerow_workload::shuffle(&mut graph.edges, SHUFFLE_SEED);
    }
    // The weights of a file would no longer belong to their edges.
    graph.weights = None;
    if options.weighted {
        graph.weights = Some(load::weights(&graph));
        graph.name.push_str(" weighted");
    }
    let per_edge = if graph.directed { 1.0 } else { 2.0 };
    body(&Work { options, graph, per_edge })
}
