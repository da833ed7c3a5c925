//! The command line.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use hedgerow_report::failure::Result;

use crate::chart::{self, ChartOptions};
use crate::paper::{self, PaperOptions};
use crate::suite::links::Rival;
use crate::suite::{
    self, LinkBenchOptions, MemoryOptions, ReadsOptions, StreamOptions, SuiteOptions, VertexMemoryOptions,
};

/// Experiments on the Hedgerow graph store.
#[derive(Debug, Parser)]
#[command(name = "hedgerow-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// BFS, PageRank, SSSP, WCC, TC on a live snapshot against a plain CSR under the same kernels
    Analytics(SuiteOptions),
    /// Ingestion without files: single edges and batches, latency, memory
    Insert(SuiteOptions),
    /// Memory of a store, measured in a process of its own
    #[command(hide = true)]
    InsertMemory(MemoryOptions),
    /// Removing and re-inserting a fifth of the edges, five rounds
    Update(SuiteOptions),
    /// Point reads, scans and two-hop reads against a CSR; opening snapshots and views; one hub
    Ops(SuiteOptions),
    /// A reader beside a writer, each against itself alone
    Mixed(MixedArgs),
    /// PageRank on fresh snapshots beside a steady stream of durable events, against a CSR of that moment
    Stream(StreamOptions),
    /// Durable commits by 1, 8 and 64 clients, in each durability mode, and beside a checkpoint
    Commit(SuiteOptions),
    /// Opening a store from a checkpoint and from the log
    Recovery(SuiteOptions),
    /// A store within a half and a quarter of the memory that its graph takes, against itself without a limit
    Disk(SuiteOptions),
    /// Answers that are kept while the graph changes, beside those from scratch
    Maintained(SuiteOptions),
    /// LinkBench: requests to a social graph, by one client and by two
    Linkbench(LinkBenchOptions),
    /// Tables and figures of papers on dynamic graphs, run again over all engines, beside what the papers
    /// published
    Paper(PaperOptions),
    /// Reads of a file: 4 KiB at random, one by one and by a pool of threads, and 1 MiB in order
    Reads(ReadsOptions),
    /// Vertices with keys of each type against a dense graph: ingestion, reads by name, memory
    Vertices(VerticesArgs),
    /// Packed neighbor lists of the graph's CSR: bytes, encoding and decoding, against plain ones
    Format(SuiteOptions),
    /// Memory of vertices, measured in a process of its own
    #[command(hide = true)]
    VertexMemory(VertexMemoryOptions),
    /// Turn JSON lines of suites into one HTML page
    Report(ReportArgs),
    /// Draw JSON lines of suites as one SVG with bars, which says how they were measured
    Chart(ChartOptions),
}

#[derive(Debug, Args)]
struct MixedArgs {
    #[command(flatten)]
    suite: SuiteOptions,
    /// Instead: two writers beside so many threads that open, read and drop snapshots
    #[arg(long, value_name = "N")]
    readers: Option<usize>,
}

#[derive(Debug, Args)]
struct VerticesArgs {
    #[command(flatten)]
    suite: SuiteOptions,
    /// Vertices without edges, of which the memory is measured
    #[arg(long, default_value_t = 1_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    vertices: u64,
}

#[derive(Debug, Args)]
struct ReportArgs {
    /// Files of JSON lines
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where the page goes
    #[arg(long, default_value = "target/bench/report.html", value_name = "FILE")]
    out: PathBuf,
}

/// Does what the arguments of the program ask for, with these engines beside those of the project in the
/// suites that take others.
pub fn run(rivals: &[Rival]) -> ExitCode {
    match Cli::parse().command {
        Command::Analytics(options) => finish(suite::analytics(&options)),
        Command::Insert(options) => finish(suite::insert(&options)),
        Command::InsertMemory(options) => finish(suite::memory_child(&options)),
        Command::Update(options) => finish(suite::update(&options)),
        Command::Ops(options) => finish(suite::ops(&options)),
        Command::Mixed(args) => finish(suite::mixed(&args.suite, args.readers)),
        Command::Stream(options) => finish(suite::stream(&options)),
        Command::Commit(options) => finish(suite::commit(&options)),
        Command::Recovery(options) => finish(suite::recovery(&options)),
        Command::Disk(options) => finish(suite::disk(&options)),
        Command::Maintained(options) => finish(suite::maintained(&options)),
        Command::Linkbench(options) => finish(suite::linkbench(&options, rivals)),
        Command::Paper(options) => finish(paper::run(&options, rivals)),
        Command::Reads(options) => finish(suite::reads(&options)),
        Command::Vertices(args) => finish(suite::vertices(&args.suite, args.vertices)),
        Command::Format(options) => finish(suite::format(&options)),
        Command::VertexMemory(options) => finish(suite::vertex_memory_child(&options)),
        Command::Report(args) => finish(suite::report(&args.files, &args.out)),
        Command::Chart(options) => finish(chart::run(&options)),
    }
}

fn finish(outcome: Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
