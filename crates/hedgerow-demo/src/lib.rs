//! The store's main task in one program. Two writers ingest events as durable transactions while an analyst
//! works on snapshots. The process is killed. The reopened store has every acknowledged commit, the stream is
//! replayed to its end, and the answers are correct. `docs/guide/demo.md` walks through the output.
//!
//! It is a library so that the benchmarks' suite `stream` replays the same events into the same store.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "no part of the engine: it writes a report and reads its own files"
)]

mod acks;
mod analyst;
mod checks;
mod child;
mod fault;
mod ingestion;
mod measure;
mod message;
mod page;
mod plain;
mod setting;
mod store;
mod story;
mod table;

mod watch;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Instant;

use hedgerow_workload::stream::GeneratedConfig;
use hedgerow_workload::{StreamSpec, Totals};

use hedgerow_report::failure::Result;
use hedgerow_report::figures::grouped;

pub use child::{ChildOptions, run as run_child};
use fault::Fault;
pub use measure::csr_of;
pub use setting::DemoOptions;
use setting::{Places, WRITERS};
pub use store::{apply, open as open_store};
use story::Story;
use watch::Watch;

/// The percentage of the stream's events after which the child is killed.
const KILL_PERCENT: u64 = 60;

/// Returns the stream that the options select: a file's, or a generated one.
pub fn stream(data: Option<PathBuf>, events: u64, seed: u64) -> StreamSpec {
    match data {
        Some(path) => StreamSpec::File(path),
        None => StreamSpec::Generated(GeneratedConfig { seed, events, ..GeneratedConfig::default() }),
    }
}

/// Runs the demo, and prints its progress. It takes seconds, and a few times the memory of the stream's
/// graph.
///
/// # Errors
/// Returns the check or the file that failed.
pub fn run(options: &DemoOptions) -> Result<()> {
    let begun = Instant::now();
    let fault = Fault::from_environment()?;
    let places = Places::prepare(&options.dir)?;
    let spec = stream(options.data.clone(), options.events, options.seed);
    let totals = spec.totals()?;
    if totals.transactions < 10 {
        return Err(format!("a stream of {} transactions is too short", totals.transactions).into());
    }
    println!("stream: {}, {}", spec.name(), described(totals));
    println!("store: {}, durability sync, {WRITERS} writers, 1 analyst", places.store.display());
    let watch = Watch { options, places: &places, totals, clock: Instant::now() };

    println!("\n== 1. ingest, kill -9 at {KILL_PERCENT} % ==");
    let first = watch.run(Some(totals.events * KILL_PERCENT / 100))?;
    fault.after_kill(&places.store)?;

    println!("\n== 2. reopen, compare with the replay of what was acknowledged ==");
    let recovered = checks::recovered(&spec, &places.store, &places.acks, fault)?;
    recovered.print();

    println!("\n== 3. go on to the end ==");
    let second = watch.run(None)?;

    println!("\n== 4. compare with a plain CSR of the same stream ==");
    let end = checks::end(&spec, &places.store)?;
    let story = Story {
        stream: spec.name(),
        totals,
        first,
        second,
        recovered,
        end,
        checked: watch.clock.elapsed().as_secs_f64(),
        seconds: begun.elapsed().as_secs_f64(),
    };
    checks::fsyncs(&story.first, &story.second)?;
    print!("{}", table::text(&story));
    page::write(&story, options, &places.report)?;
    println!("page: {}", places.report.display());
    Ok(())
}

fn described(totals: Totals) -> String {
    let mean = totals.events as f64 / totals.transactions as f64;
    format!(
        "{} events in {} transactions (mean {mean:.1})",
        grouped(totals.events),
        grouped(totals.transactions)
    )
}
