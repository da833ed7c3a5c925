//! The suite `linkbench`: LinkBench on the store, on the lab's LiveGraph, and on the additional engines of a
//! program.
//!
//! Each engine has the same graph and gets the same requests, by one client and by two, first not durable,
//! then durable. The mixes are `tao` (99.8 % reads) and LinkBench's own, `dflt`. Engines take turns, round by
//! round. Before the measurements each engine is compared with plain maps, request by request, on a small
//! graph.

use std::path::PathBuf;

use hedgerow_workload::linkbench::{FOLDER, LinkBench, Mix};
use hedgerow_workload::require_data;

mod clients;
mod hedgerow;
mod livegraph;
mod requests;
mod store;

use super::recovery::stores::Place;
use crate::record::{Metric, Record, Recorder};
use clients::{Loaded, Round};
use hedgerow_report::failure::{Context, Result};
use hedgerow_report::figures::percentile;
pub use requests::agrees;
use requests::load;
pub use store::{Found, Link, LinkStore, Open, Rival};

/// The store of this project.
const HEDGEROW: Rival = Rival { name: "hedgerow", can_be_durable: true, open: hedgerow::open };
/// The container of the lab whose paper also uses LinkBench.
const LIVEGRAPH: Rival = Rival { name: "livegraph", can_be_durable: false, open: livegraph::open };
/// The numbers of nodes and requests for the comparison of engines with plain maps.
const COMPARED: (u64, usize) = (300, 3_000);

/// The options of the suite.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LinkBenchOptions {
    /// Nodes to load; each has about 4.4 links
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u64).range(2..))]
    nodes: u64,
    /// Requests of each client in a round; a tenth as many if requests are durable
    #[arg(long, default_value_t = 200_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    requests: u64,
    /// Clients, each a thread; several numbers are measured one after another
    #[arg(long, default_value = "1,2", value_delimiter = ',', value_name = "C", value_parser = clap::value_parser!(u16).range(1..))]
    clients: Vec<u16>,
    /// Rounds
    #[arg(long, default_value_t = 3, value_name = "R", value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,
    /// Only these engines, by name
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    engines: Vec<String>,
    /// Write one JSON object per figure to this file, or to the standard output
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// The folder of the stores, which are removed at the end
    #[arg(long, default_value = "target/bench", value_name = "DIR")]
    dir: PathBuf,
}

impl LinkBenchOptions {
    /// Makes options for rounds of this number of requests on this number of nodes, with stores below `dir`.
    pub(crate) fn of(nodes: u64, requests: u64, clients: Vec<u16>, repeat: u16, dir: PathBuf) -> Self {
        LinkBenchOptions { nodes, requests, clients, repeat, engines: Vec::new(), json: None, dir }
    }
}

/// Runs the suite on the store and these engines.
pub(crate) fn run(options: &LinkBenchOptions, rivals: &[Rival]) -> Result<()> {
    records(options, rivals).map(drop)
}

/// Does the same as [`run`], and returns the records. Returns no records without the files of the workload.
pub(crate) fn records(options: &LinkBenchOptions, rivals: &[Rival]) -> Result<Vec<Record>> {
    let Some(folder) = require_data(FOLDER, "LinkBench")? else { return Ok(Vec::new()) };
    let engines = chosen(options, rivals)?;
    let place = Place::new(&options.dir, "linkbench")?;
    let (nodes, requests) = COMPARED;
    let small = LinkBench::load(&folder, nodes)?;
    for rival in &engines {
        agrees(rival, &small, &empty(&place, rival.name)?, requests)?;
    }
    let bench = LinkBench::load(&folder, options.nodes)?;
    let name = format!("linkbench:{}", options.nodes);
    let mut recorder = Recorder::new("linkbench", name, options.json.as_deref())?;
    for durable in [false, true] {
        let engines = engines.iter().filter(|engine| engine.can_be_durable || !durable);
        let stores = open(&bench, engines, &place, durable)?;
        measure(options, &bench, &stores, durable, &mut recorder)?;
    }
    Ok(recorder.records().to_vec())
}

fn chosen(options: &LinkBenchOptions, rivals: &[Rival]) -> Result<Vec<Rival>> {
    let all: Vec<Rival> = [HEDGEROW, LIVEGRAPH].iter().chain(rivals).copied().collect();
    for name in &options.engines {
        if !all.iter().any(|rival| rival.name == name) {
            let names: Vec<&str> = all.iter().map(|rival| rival.name).collect();
            return Err(format!("no engine {name} in this program: there are {}", names.join(", ")).into());
        }
    }
    let is_chosen =
        |rival: &Rival| options.engines.is_empty() || options.engines.iter().any(|name| name == rival.name);
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// Makes an empty directory.
fn empty(place: &Place, name: &str) -> Result<PathBuf> {
    let path = place.0.join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).context(path.display())?;
    }
    std::fs::create_dir_all(&path).context(path.display())?;
    Ok(path)
}

fn open<'a>(
    bench: &LinkBench,
    engines: impl Iterator<Item = &'a Rival>,
    place: &Place,
    durable: bool,
) -> Result<Vec<Loaded>> {
    let load = |rival: &Rival| {
        let path = empty(place, rival.name)?;
        let open = Open { path: &path, nodes: bench.nodes(), types: bench.types(), durable };
        let store = (rival.open)(open).context(rival.name)?;
        let time = load(bench, &*store).context(rival.name)?.into();
        Ok(Loaded { name: rival.name, store, time })
    };
    engines.map(load).collect()
}

fn measure(
    options: &LinkBenchOptions,
    bench: &LinkBench,
    stores: &[Loaded],
    durable: bool,
    recorder: &mut Recorder,
) -> Result<()> {
    let requests = if durable { options.requests.div_ceil(10) } else { options.requests };
    for (mix_name, mix) in [("tao", Mix::tao()), ("dflt", bench.mix())] {
        for &clients in &options.clients {
            let clients = usize::from(clients);
            let mut rounds: Vec<Vec<Round>> = stores.iter().map(|_| Vec::new()).collect();
            for round in 0..u64::from(options.repeat) {
                for (loaded, rounds) in stores.iter().zip(&mut rounds) {
                    let made = clients::round(bench, mix, loaded, clients, requests, round);
                    rounds.push(made.context(loaded.name)?);
                }
            }
            let prefix = if durable { format!("{mix_name}_durable") } else { mix_name.to_owned() };
            record(stores, &rounds, &prefix, clients, recorder)?;
        }
    }
    Ok(())
}

/// Records each figure of each engine. The figures of other engines have a ratio to the store's figures.
fn record(
    stores: &[Loaded],
    rounds: &[Vec<Round>],
    prefix: &str,
    clients: usize,
    recorder: &mut Recorder,
) -> Result<()> {
    type Figure = (&'static str, &'static str, fn(&Round) -> f64);
    let figures: [Figure; 4] = [
        ("mean", "s", |round| {
            round.latencies.iter().map(|&ns| f64::from(ns)).sum::<f64>() / round.latencies.len() as f64 * 1e-9
        }),
        ("p99", "s", |round| percentile(&round.latencies, 0.99) * 1e-9),
        ("p999", "s", |round| percentile(&round.latencies, 0.999) * 1e-9),
        ("ops_per_s", "1/s", |round| round.latencies.len() as f64 / round.seconds),
    ];
    for (name, unit, of) in figures {
        let name = format!("{prefix}.{name}");
        let of_store: Option<Vec<f64>> = stores
            .iter()
            .position(|loaded| loaded.name == HEDGEROW.name)
            .map(|at| rounds[at].iter().map(of).collect());
        for (loaded, rounds) in stores.iter().zip(rounds) {
            let values: Vec<f64> = rounds.iter().map(of).collect();
            let beside = of_store.as_deref().filter(|_| loaded.name != HEDGEROW.name);
            let metric = Metric { name: &name, unit, threads: clients };
            recorder.add_beside(loaded.name, metric, &values, beside.map(|of| (HEDGEROW.name, of)))?;
        }
    }
    Ok(())
}
