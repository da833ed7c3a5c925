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
    /// A reader concurrent with a writer, each compared with its run alone
    Mixed(MixedArgs),
    /// PageRank on fresh snapshots during a steady stream of durable events, compared with a CSR of the same
    /// moment
    Stream(StreamOptions),
    /// Durable commits by 1, 8 and 64 clients, in each durability mode, and during a checkpoint
    Commit(SuiteOptions),
    /// Opening a store from a checkpoint and from the log
    Recovery(SuiteOptions),
    /// A store with a memory limit of a half and a quarter of its graph, compared with a store without a
    /// limit
    Disk(SuiteOptions),
    /// Maintained answers while the graph changes, compared with answers from scratch
    Maintained(SuiteOptions),
    /// LinkBench: requests to a social graph, by one client and by two
    Linkbench(LinkBenchOptions),
    /// Tables and figures of papers on dynamic graphs, run again over all engines, next to the published
    /// figures
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
    /// Draw JSON lines of suites as one SVG with bars, with the origin of the figures
    Chart(ChartOptions),
}

#[derive(Debug, Args)]
struct MixedArgs {
    #[command(flatten)]
    suite: SuiteOptions,
    /// Run two writers and N threads that open, read and drop snapshots instead
    #[arg(long, value_name = "N")]
    readers: Option<usize>,
}

#[derive(Debug, Args)]
struct VerticesArgs {
    #[command(flatten)]
    suite: SuiteOptions,
    /// Vertices without edges, for the measurement of memory
    #[arg(long, default_value_t = 1_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    vertices: u64,
}

#[derive(Debug, Args)]
struct ReportArgs {
    /// Files of JSON lines
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The HTML page to write
    #[arg(long, default_value = "target/bench/report.html", value_name = "FILE")]
    out: PathBuf,
}

/// Runs the command of the program's arguments. The suites that accept other engines measure the rivals too.
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
