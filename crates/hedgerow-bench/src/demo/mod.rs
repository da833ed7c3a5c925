//! The whole main job in one program: events go in as durable transactions from two writers, an analyst works on
//! snapshots meanwhile, the process is killed, the store comes back with every acknowledged commit, the stream goes on to
//! its end, and the answers are right. `docs/guide/demo.md` walks through its output.

mod acks;
mod analyst;
mod child;
mod fault;
mod measure;
mod message;
mod page;
mod store;
mod table;
mod verify;
mod watch;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Instant;

use hedgerow_workload::stream::GeneratedConfig;
use hedgerow_workload::{StreamSpec, Totals};

use crate::failure::{Context, Result};
use crate::figures::grouped;

pub(crate) use child::{ChildOptions, run as run_child};
use fault::Fault;
use watch::{Ingested, Watch};

/// Threads that write, each with at most one transaction in flight.
pub(crate) const WRITERS: usize = 2;
/// The share of the stream after which the child is killed, in percent of its events.
const KILL_PERCENT: u64 = 60;

/// What to show.
#[derive(Clone, Debug)]
pub(crate) struct DemoOptions {
    /// A file to replay instead of the generated stream.
    pub(crate) data: Option<PathBuf>,
    /// Events of the generated stream.
    pub(crate) events: u64,
    /// Seed of the generated stream.
    pub(crate) seed: u64,
    /// Where everything goes; what an earlier run left there is removed.
    pub(crate) dir: PathBuf,
}

/// The stream that the options ask for.
pub(crate) fn stream(data: Option<PathBuf>, events: u64, seed: u64) -> StreamSpec {
    match data {
        Some(path) => StreamSpec::File(path),
        None => StreamSpec::Generated(GeneratedConfig { seed, events, ..GeneratedConfig::default() }),
    }
}

/// Where the files of a demo are.
struct Places {
    store: PathBuf,
    acks: PathBuf,
    report: PathBuf,
}

impl Places {
    /// Makes an empty place: removes what an earlier demo left, and nothing else.
    fn prepare(dir: &Path) -> Result<Places> {
        std::fs::create_dir_all(dir).context(dir.display())?;
        let places = Places {
            store: dir.join("demo-store"),
            acks: dir.join("acks.log"),
            report: dir.join("report.html"),
        };
        if places.store.exists() {
            std::fs::remove_dir_all(&places.store).context(places.store.display())?;
        }
        for file in [&places.acks, &places.report] {
            if file.exists() {
                std::fs::remove_file(file).context(file.display())?;
            }
        }
        Ok(places)
    }
}

/// Everything that the table and the page tell.
pub(super) struct Story {
    stream: String,
    totals: Totals,
    first: Ingested,
    second: Ingested,
    recovered: verify::Recovered,
    end: verify::End,
    seconds: f64,
}

/// Runs the demo; `Err` says what failed. Prints as it goes.
pub(crate) fn run(options: &DemoOptions) -> Result<()> {
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
    let watch = Watch { options, places: &places, totals };

    println!("\n== 1. ingest, kill -9 at {KILL_PERCENT} % ==");
    let first = watch.run(Some(totals.events * KILL_PERCENT / 100))?;
    fault.after_kill(&places.store)?;

    println!("\n== 2. reopen, compare with the replay of what was acknowledged ==");
    let recovered = verify::recovered(&spec, &places.store, &places.acks, fault)?;
    recovered.print();

    println!("\n== 3. go on to the end ==");
    let second = watch.run(None)?;

    println!("\n== 4. compare with a plain CSR of the same stream ==");
    let end = verify::end(&spec, &places.store)?;
    let story = Story {
        stream: spec.name(),
        totals,
        first,
        second,
        recovered,
        end,
        seconds: begun.elapsed().as_secs_f64(),
    };
    verify::fsyncs(&story.first, &story.second)?;
    print!("{}", table::text(&story));
    page::write(&story, &places.report)?;
    println!("curves: {}", places.report.display());
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
