//! The demo's command line: `hedgerow-demo`, and the child process that it starts and kills.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use hedgerow_demo::{ChildOptions, DemoOptions};

/// The store makes many small allocations of exact size from several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Ingests durably while analytics run, is killed, recovers, and compares.
#[derive(Debug, Parser)]
#[command(name = "hedgerow-demo", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(flatten)]
    demo: DemoArgs,
    #[command(subcommand)]
    child: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// One ingestion of the demo, as its child process
    #[command(hide = true)]
    DemoChild(ChildArgs),
}

#[derive(Debug, Args)]
struct StreamArgs {
    /// Replay this file instead of a generated stream
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    /// Events of the generated stream
    #[arg(long, default_value_t = 2_000_000)]
    events: u64,
    /// Seed of the generated stream
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
struct DemoArgs {
    #[command(flatten)]
    stream: StreamArgs,
    /// The folder of the store, the acknowledgements and the report; files of an earlier demo in it are
    /// removed
    #[arg(long, default_value = "target/demo", value_name = "DIR")]
    dir: PathBuf,
}

#[derive(Debug, Args)]
struct ChildArgs {
    #[command(flatten)]
    stream: StreamArgs,
    #[arg(long)]
    store: PathBuf,
    #[arg(long)]
    acks: PathBuf,
    #[arg(long)]
    total_events: u64,
}

fn main() -> ExitCode {
    let Cli { demo, child } = Cli::parse();
    match child {
        Some(Command::DemoChild(child)) => run_child(child),
        None => run(demo),
    }
}

/// Runs the demo; the last line of output is always the outcome.
fn run(DemoArgs { stream: StreamArgs { data, events, seed }, dir }: DemoArgs) -> ExitCode {
    match hedgerow_demo::run(&DemoOptions { data, events, seed, dir }) {
        Ok(()) => {
            println!("demo ok");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("demo FAILED: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run_child(
    ChildArgs { stream: StreamArgs { data, events, seed }, store, acks, total_events }: ChildArgs,
) -> ExitCode {
    let stream = hedgerow_demo::stream(data, events, seed);
    match hedgerow_demo::run_child(&ChildOptions { stream, store, acks, total_events }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
