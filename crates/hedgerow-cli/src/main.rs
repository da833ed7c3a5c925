//! The `hedgerow` command line: loads graph files into a store, queries it, runs analytics on it, checks and
//! exports it. `docs/guide/cli.md` is its guide.
//!
//! Exit status: 0 done, 1 failed, 2 wrong usage, 3 `check` found problems, 4 `get` found nothing. Errors are
//! one line on stderr.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "no part of the engine: it writes the results that users ask for"
)]

mod check;
mod checkpoint;
mod completions;
mod del;
mod edge_objects;
mod element;
mod error;
mod export;
mod filter;
mod find;
mod get;
mod keys;
mod load;
mod neighbors;
mod output;
mod progress;
mod property;
mod put;
mod remove_edges;
mod run;
mod schema;
mod selection;
mod show;
mod size;
mod stats;
mod store;
mod tools;

#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use error::CliError;
use output::Style;

// Loading makes many small allocations, for which mimalloc is fast.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Loads, inspects, analyses, checks and exports Hedgerow graph stores.
#[derive(Parser)]
#[command(name = "hedgerow", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    style: StyleArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Args)]
struct StyleArgs {
    /// Print the result, and an error, as one JSON object; long results as one object per line
    #[arg(long, global = true, conflicts_with = "csv")]
    json: bool,
    /// Print the result as CSV with a header
    #[arg(long, global = true)]
    csv: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Load graph files into a store, which is created if there is none
    Load(Box<load::LoadArgs>),
    /// Print the content and the sizes of a store
    Stats(stats::StatsArgs),
    /// Print the labels and properties of a store, with their types
    Schema(schema::SchemaArgs),
    /// Print a vertex or an edge; exit status 4 if it does not exist
    #[command(subcommand)]
    Get(get::Get),
    /// Create a vertex or an edge, or change its properties
    #[command(subcommand)]
    Put(put::Put),
    /// Remove a vertex or an edge
    #[command(subcommand)]
    Del(del::Del),
    /// Print the neighbors of a vertex
    Neighbors(neighbors::NeighborsArgs),
    /// Print the vertices whose properties have the given values
    Find(find::FindArgs),
    /// Run an algorithm on the whole graph
    Run(run::RunArgs),
    /// Verify the files and the graph of a store; exit status 3 if something is wrong
    Check(check::CheckArgs),
    /// Write the edges of a store to a file or to standard output
    Export(export::ExportArgs),
    /// Remove the edges of a label that meet a condition
    RemoveEdges(remove_edges::RemoveEdgesArgs),
    /// Write the graph into a segment, so that the next open has no log to replay
    Checkpoint(checkpoint::CheckpointArgs),
    /// Write a verified copy of a store into a new one
    Backup(tools::IntoArgs),
    /// Make a new store of the readable data of a damaged one; exit status 3 if data is lost
    Salvage(tools::SalvageArgs),
    /// Write everything into one segment, and remove the files that it replaces
    Compact(tools::CompactArgs),
    /// Print a script that completes commands and options in a shell
    Completions(completions::CompletionsArgs),
}

fn main() -> ExitCode {
    // The panic of a library at a damaged file becomes an error of the command.
    let shown = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !hedgerow_arrow::files::is_reading() {
            shown(panic);
        }
    }));
    // A wrong call has no parsed options, and its error takes the form that the caller asked for.
    let mut as_json = std::env::args_os().take_while(|word| word != "--").any(|word| word == "--json");
    let result = match Cli::try_parse() {
        Ok(cli) => {
            as_json = cli.style.json;
            dispatch(cli)
        }
        Err(error) if !error.use_stderr() => {
            // Help and version go to standard output. It is no failure if its reader has closed it.
            let _ = error.print();
            Ok(())
        }
        // A call without a command prints the help, and exits with a status that shows that nothing was done.
        Err(error) if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            return ExitCode::from(2);
        }
        Err(error) => Err(CliError::Usage(error::one_line(&error))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(as_json),
    }
}

fn dispatch(cli: Cli) -> Result<(), CliError> {
    let style = match (cli.style.json, cli.style.csv) {
        (true, _) => Style::Json,
        (_, true) => Style::Csv,
        _ => Style::Text,
    };
    match cli.command {
        Command::Load(args) => load::load(&args, style),
        Command::Stats(args) => stats::stats(&args, style),
        Command::Schema(args) => schema::schema(&args, style),
        Command::Get(what) => get::get(&what, style),
        Command::Put(what) => put::put(&what, style),
        Command::Del(what) => del::del(&what, style),
        Command::Neighbors(args) => neighbors::neighbors(&args, style),
        Command::Find(args) => find::find(&args, style),
        Command::Run(args) => run::run(&args, style),
        Command::Check(args) => check::check(&args, style),
        Command::Export(args) => export::export(&args, style),
        Command::RemoveEdges(args) => remove_edges::remove_edges(&args, style),
        Command::Checkpoint(args) => checkpoint::checkpoint(&args, style),
        Command::Backup(args) => tools::backup(&args, style),
        Command::Salvage(args) => tools::salvage(&args, style),
        Command::Compact(args) => tools::compact(&args, style),
        Command::Completions(args) => completions::completions(&args, Cli::command(), style),
    }
}
