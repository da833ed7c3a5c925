//! The suite `stream`: the cost of a question while events never stop. The demo's events go into a durable
//! store at a steady rate. Every few seconds one thread takes a fresh snapshot and ranks it, then copies it
//! to a CSR, and ranks the CSR.
//!
//! All times are processor time of the thread with the questions, because the writers take turns with it on
//! the same cores. The suite reports two ratios to the CSR's PageRank: of PageRank alone, and of PageRank
//! with the view that the fresh snapshot needs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hedgerow::{Direction, Graph, Topology, View};
use hedgerow_core::{SUBGRAPH_VERTICES, SubgraphId};
use hedgerow_kernels::{PageRankConfig, pagerank};
use hedgerow_workload::scheduler::DEFAULT_WINDOW;
use hedgerow_workload::{Scheduler, StreamError, Transaction};

use super::recovery::stores::Place;
use crate::record::{Metric, Recorder};
use crate::system;
use hedgerow_report::failure::Result;

/// The number of retries of a conflicting transaction. Scheduled transactions share no vertex, so that a few
/// would be enough.
const RETRIES: u32 = 1000;
/// The time between two checks of a thread that waits.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// The number of checkpoints in one run.
const CHECKPOINTS: u32 = 10;

/// The options of the stream.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StreamOptions {
    /// Seconds of the stream
    #[arg(long, default_value_t = 600, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Events per second
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rate: u64,
    /// Seconds from one question to the next, at least
    #[arg(long, default_value_t = 5.0, value_name = "S")]
    every: f64,
    /// Threads that write, each with at most one transaction in flight
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    writers: u16,
    /// Write one JSON object per figure to this file, or to the standard output
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// The folder of the store, which is removed at the end
    #[arg(long, default_value = "target/bench", value_name = "DIR")]
    dir: PathBuf,
}

/// The figures, question by question: seconds of processor time, numbers of edges, or shares.
#[derive(Default)]
struct Figures {
    view: Vec<f64>,
    rank: Vec<f64>,
    both: Vec<f64>,
    csr: Vec<f64>,
    unsettled_entries: Vec<f64>,
    corrected_subgraphs: Vec<f64>,
    edges: Vec<f64>,
}

/// The running stream.
struct Flow<'a> {
    graph: &'a Graph,
    options: &'a StreamOptions,
    start: Instant,
    /// The events of transactions that began, by which the writers keep the rate; in `durable`, the durable
    /// events.
    begun: AtomicU64,
    durable: AtomicU64,
    done: AtomicBool,
}

/// Runs the suite.
pub(crate) fn run(options: &StreamOptions) -> Result<()> {
    let place = Place::new(&options.dir, "stream")?;
    let events = options.rate * u64::from(options.seconds);
    let spec = hedgerow_demo::stream(None, events, 1);
    let (graph, _) = hedgerow_demo::open_store(&place.0, spec.key_kind()?)?;
    let name = format!("the demo's events, {} a second for {} s", options.rate, options.seconds);
    let mut recorder = Recorder::new("stream", name, options.json.as_deref())?;
    let scheduler = Scheduler::new(spec.open()?, DEFAULT_WINDOW);
    let flow = Flow {
        graph: &graph,
        options,
        start: Instant::now(),
        begun: AtomicU64::new(0),
        durable: AtomicU64::new(0),
        done: AtomicBool::new(false),
    };
    let (figures, rate) = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..options.writers).map(|_| scope.spawn(|| flow.write(&scheduler))).collect();
        let checkpoints = scope.spawn(|| flow.checkpoint());
        let questions = scope.spawn(|| flow.ask());
        let written: Result<Vec<()>> = writers.into_iter().map(|w| joined(w, "a writer")).collect();
        let rate = flow.durable.load(Ordering::Relaxed) as f64 / flow.start.elapsed().as_secs_f64();
        flow.done.store(true, Ordering::Release);
        joined(checkpoints, "the checkpointing thread")?;
        let figures = joined(questions, "the asking thread")?;
        written.map(|_| (figures, rate))
    })?;
    record(&figures, rate, options, &mut recorder)?;
    graph.close()?;
    Ok(())
}

fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, Result<T>>, who: &str) -> Result<T> {
    thread.join().unwrap_or_else(|_| Err(format!("{who} panicked").into()))
}

fn record(figures: &Figures, rate: f64, options: &StreamOptions, recorder: &mut Recorder) -> Result<()> {
    if figures.csr.is_empty() {
        return Err("the stream ended before a question was answered".into());
    }
    let writers = usize::from(options.writers);
    recorder.add(
        "hedgerow",
        Metric { name: "events_per_s", unit: "events/s", threads: writers },
        &[rate],
        None,
    )?;
    let csr = Some(figures.csr.as_slice());
    let ratios = |mine: &[f64]| -> Vec<f64> { mine.iter().zip(&figures.csr).map(|(a, b)| a / b).collect() };
    let (alone, fresh) = (ratios(&figures.rank), ratios(&figures.both));
    for (engine, name, unit, measured, reference) in [
        ("csr", "pr.cpu_seconds", "s", &figures.csr, csr),
        ("hedgerow", "pr.cpu_seconds", "s", &figures.rank, csr),
        ("hedgerow", "pr_with_view.cpu_seconds", "s", &figures.both, csr),
        ("hedgerow", "view.cpu_seconds", "s", &figures.view, csr),
        // The records have the minimum and the maximum of these ratios.
        ("hedgerow", "pr.by_csr", "x", &alone, None),
        ("hedgerow", "pr_with_view.by_csr", "x", &fresh, None),
        ("hedgerow", "edges", "edges", &figures.edges, None),
        ("hedgerow", "unsettled.share", "of edges", &figures.unsettled_entries, None),
        ("hedgerow", "corrected.share", "of subgraphs", &figures.corrected_subgraphs, None),
    ] {
        recorder.add(engine, Metric { name, unit, threads: 1 }, measured, reference)?;
    }
    Ok(())
}

impl Flow<'_> {
    fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// Sleeps until this number of seconds after the start, or until the end of the stream.
    fn sleep_until(&self, seconds: f64) {
        while !self.is_done() && self.start.elapsed().as_secs_f64() < seconds {
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Writes transactions, each not before its time.
    fn write<I>(&self, scheduler: &Scheduler<I>) -> Result<()>
    where
        I: Iterator<Item = std::result::Result<Transaction, StreamError>>,
    {
        let written = self.write_all(scheduler);
        if written.is_err() {
            scheduler.stop();
        }
        written
    }

    fn write_all<I>(&self, scheduler: &Scheduler<I>) -> Result<()>
    where
        I: Iterator<Item = std::result::Result<Transaction, StreamError>>,
    {
        while let Some(transaction) = scheduler.next() {
            // If the machine is too slow for the rate, the reported rate is lower.
            if self.start.elapsed().as_secs_f64() > f64::from(self.options.seconds) {
                scheduler.stop();
                break;
            }
            let transaction = transaction?;
            let events = transaction.events.len() as u64;
            let due = self.begun.fetch_add(events, Ordering::Relaxed) as f64 / self.options.rate as f64;
            self.sleep_until(due);
            self.graph.transact(RETRIES, |tx| hedgerow_demo::apply(tx, &transaction))?;
            self.durable.fetch_add(events, Ordering::Relaxed);
            scheduler.acknowledge(transaction.index);
        }
        Ok(())
    }

    fn checkpoint(&self) -> Result<()> {
        for n in 1..=CHECKPOINTS {
            self.sleep_until(f64::from(n * self.options.seconds) / f64::from(CHECKPOINTS));
            if self.is_done() {
                break;
            }
            self.graph.checkpoint()?;
        }
        Ok(())
    }

    /// Asks questions until the stream has ended, on one thread.
    fn ask(&self) -> Result<Figures> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        let mut figures = Figures::default();
        for round in 0.. {
            self.sleep_until(self.start.elapsed().as_secs_f64() + self.options.every);
            if self.is_done() {
                break;
            }
            pool.install(|| self.ask_once(round, &mut figures))?;
        }
        Ok(figures)
    }

    fn ask_once(&self, round: u32, figures: &mut Figures) -> Result<()> {
        let config = PageRankConfig { iterations: 10, ..PageRankConfig::default() };
        let snapshot = self.graph.snapshot()?;
        let (view, made) = timed(|| snapshot.default_label().view().map_err(Into::into))?;
        let stats = self.graph.stats()?;
        let rank = || timed(|| pagerank(view, &config).map_err(Into::into));
        // The two runs take turns: the first finds other data in the caches. The copy to the CSR comes before
        // both.
        let csr = hedgerow_demo::csr_of(&snapshot)?;
        let rank_csr = || timed(|| pagerank(&csr, &config).map_err(Into::into));
        let ((mine, seconds), (plain, csr_seconds)) = if round.is_multiple_of(2) {
            let mine = rank()?;
            (mine, rank_csr()?)
        } else {
            let plain = rank_csr()?;
            (rank()?, plain)
        };
        if mine.iter().zip(&plain).any(|(a, b)| (a - b).abs() > 1e-9 * b.abs()) {
            return Err("the store's scores differ from those of the CSR".into());
        }
        // The store keeps both directions of each edge.
        let kept = 2.0 * snapshot.edge_count()? as f64;
        figures.view.push(made);
        figures.rank.push(seconds);
        figures.both.push(made + seconds);
        figures.csr.push(csr_seconds);
        figures.edges.push(kept / 2.0);
        figures.unsettled_entries.push(stats.delta_entries as f64 / kept.max(1.0));
        figures.corrected_subgraphs.push(corrected(view));
        Ok(())
    }
}

/// Returns the share of subgraphs whose lists the view corrects while kernels read them. These subgraphs have
/// small deltas, which are not folded into copies.
fn corrected(view: &View) -> f64 {
    let count = view.vertex_bound().div_ceil(SUBGRAPH_VERTICES);
    let all = (0..count as u32).map(SubgraphId);
    let corrected = all.filter(|&subgraph| view.block(subgraph, Direction::In).whole().is_none()).count();
    corrected as f64 / count.max(1) as f64
}

/// Runs `f`. Returns the result, and the processor time of the calling thread.
fn timed<T>(f: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let begun = system::thread_seconds();
    let result = f()?;
    Ok((result, system::thread_seconds() - begun))
}
