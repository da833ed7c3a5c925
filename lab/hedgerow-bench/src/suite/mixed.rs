//! The suite `mixed`: one reader concurrent with one writer, each compared with its run alone. The same pair
//! also runs with the reader on a CSR of its own: both then lose memory bandwidth, and the store is not the
//! cause. Another part runs a writer while snapshots are open that no thread reads.
//!
//! A slowdown is a time compared with the time alone, divided by the cost of more threads than cores for any
//! program. A slowdown of 1 is none.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hedgerow::{Direction, Graph, Resident, VertexId};
use hedgerow_kernels::{PageRankConfig, pagerank};
use hedgerow_subjects::Engine;
use hedgerow_workload::Csr;

use super::load;
use super::work::Work;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;
use hedgerow_report::figures::median;

/// The numbers of snapshots to hold while a writer runs; the graph must have at least as many edges.
const IDLE: [usize; 3] = [8, 1_000, 10_000];
/// The minimum number of operations between the openings of two held snapshots; in `WRITES_IN_ALL`, during
/// all openings.
const WRITES_BETWEEN: usize = 100;
const WRITES_IN_ALL: usize = 8_000;
/// The number of snapshots to open and close in addition to the held ones.
const OPENINGS: usize = 1_000;
/// The minimum number of readings in one phase.
const READINGS: usize = 5;
/// The minimum length of a phase; it is shorter for a graph with few edges.
pub(super) const PHASE: Duration = Duration::from_millis(400);

/// The work that a reader repeats.
#[derive(Clone, Copy, PartialEq)]
enum Reading {
    PageRank,
    Scan,
}

/// The seconds of a reading and the operations per second of the writer; `None` for a thread that did not
/// run.
struct Phase {
    reader: Option<f64>,
    writer: Option<f64>,
}

/// Runs the suite.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    if !work.options.has(Engine::Hedgerow) {
        return Ok(());
    }
    let csr = work.csr()?;
    let edges = work.distinct_edges();
    let store = load::store_for(&work.graph)?;
    edges.iter().try_for_each(|edge| load::insert_one(&store, work, edge))?;
    // The writer removes these edges, and inserts them again.
    let mut writer =
        Writer { work, store: &store, edges: &edges[..edges.len().div_ceil(5)], at: 0, removing: true };
    for reading in [Reading::PageRank, Reading::Scan] {
        pairs(work, &store, &csr, reading, &mut writer, recorder)?;
    }
    let counts = IDLE.iter().filter(|count| **count <= edges.len());
    counts.copied().try_for_each(|count| idle(count, work, &store, &mut writer, recorder))
}

fn pairs(
    work: &Work<'_>,
    store: &Graph,
    csr: &Csr,
    reading: Reading,
    writer: &mut Writer<'_>,
    recorder: &mut Recorder,
) -> Result<()> {
    let prefix = if reading == Reading::PageRank { "" } else { "scan_" };
    if !work.options.wants(&format!("{prefix}reader")) {
        return Ok(());
    }
    let on_store = || -> Result<()> {
        let snapshot = store.snapshot()?;
        read(snapshot.default_label().view()?, reading)
    };
    let on_csr = || read(csr, reading);
    let mut figures: [Vec<f64>; 4] = Default::default();
    for round in 0..=work.options.repeat() {
        let writes = phase(work, None, Some(writer))?.writer.unwrap_or(f64::NAN);
        let mut measured = Vec::new();
        for reader in [&on_store as &(dyn Fn() -> Result<()> + Sync), &on_csr] {
            let alone = phase(work, Some(reader), None)?.reader.unwrap_or(f64::NAN);
            let both = phase(work, Some(reader), Some(writer))?;
            measured.push(both.reader.unwrap_or(f64::NAN) / alone / share());
            measured.push(writes / both.writer.unwrap_or(f64::NAN) / share());
        }
        if round > 0 {
            figures.iter_mut().zip(measured).for_each(|(all, one)| all.push(one));
        }
    }
    let [reader, writer, reader_csr, writer_csr] = &figures;
    for (name, mine, plain) in [("reader", reader, reader_csr), ("writer", writer, writer_csr)] {
        let name = format!("{prefix}{name}.slowdown");
        let metric = Metric { name: &name, unit: "x", threads: 2 };
        recorder.add("csr", metric, plain, Some(plain))?;
        recorder.add("hedgerow", metric, mine, Some(plain))?;
    }
    Ok(())
}

/// Returns the factor by which any work takes longer if two threads have fewer than two cores.
pub(super) fn share() -> f64 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    2.0 / cores.min(2) as f64
}

/// Measures the writer while `count` snapshots, opened at different times, are held and not read. Then
/// measures the cost to open and close one more snapshot, and to close them all.
fn idle(
    count: usize,
    work: &Work<'_>,
    store: &Graph,
    writer: &mut Writer<'_>,
    recorder: &mut Recorder,
) -> Result<()> {
    let prefix = format!("idle_snapshots_{count}");
    if !work.options.wants(&prefix) {
        return Ok(());
    }
    let mut figures: [Vec<f64>; 3] = Default::default();
    for round in 0..=work.options.repeat() {
        let alone = phase(work, None, Some(writer))?.writer.unwrap_or(f64::NAN);
        let mut held = Vec::with_capacity(count);
        for _ in 0..count {
            held.push(store.snapshot()?);
            writer.run(WRITES_BETWEEN.max(WRITES_IN_ALL / count))?;
        }
        let beside = phase(work, None, Some(writer))?.writer.unwrap_or(f64::NAN);
        let begun = Instant::now();
        for _ in 0..OPENINGS {
            drop(store.snapshot()?);
        }
        let openings = begun.elapsed().as_nanos() as f64 / OPENINGS as f64;
        let begun = Instant::now();
        drop(held);
        let closings = begun.elapsed().as_nanos() as f64 / count as f64;
        if round > 0 {
            let measured = [alone / beside, openings, closings];
            figures.iter_mut().zip(measured).for_each(|(all, one)| all.push(one));
        }
    }
    for ((name, unit), figures) in
        [("slowdown", "x"), ("open_and_close", "ns"), ("close_each", "ns")].into_iter().zip(&figures)
    {
        let name = format!("{prefix}.{name}");
        recorder.add("hedgerow", Metric { name: &name, unit, threads: 1 }, figures, None)?;
    }
    Ok(())
}

fn read<G: Resident>(g: &G, reading: Reading) -> Result<()> {
    match reading {
        Reading::PageRank => {
            pagerank(g, &PageRankConfig { iterations: 10, ..PageRankConfig::default() })?;
        }
        Reading::Scan => {
            let mut sum = 0u64;
            for v in 0..g.vertex_bound() as u32 {
                g.neighbors(VertexId(v), Direction::Out).for_each(|u| sum += u64::from(u.0));
            }
            std::hint::black_box(sum);
        }
    }
    Ok(())
}

/// Runs the reader, the writer, or both for a while, each on one thread.
fn phase(
    work: &Work<'_>,
    reader: Option<&(dyn Fn() -> Result<()> + Sync)>,
    writer: Option<&mut Writer<'_>>,
) -> Result<Phase> {
    let least = work.while_of(PHASE);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writes = writer.map(|writer| {
            let done = &done;
            let alone = reader.is_none();
            scope.spawn(move || {
                writer.run_until(
                    |begun| if alone { begun.elapsed() >= least } else { done.load(Ordering::Relaxed) },
                )
            })
        });
        let times = reader.map(|reader| readings(reader, least)).transpose();
        done.store(true, Ordering::Relaxed);
        let rate =
            writes.map(|w| w.join().unwrap_or_else(|_| Err("the writer panicked".into()))).transpose()?;
        Ok(Phase { reader: times?, writer: rate })
    })
}

/// Measures the median time of a reading, with one thread.
fn readings(reader: &(dyn Fn() -> Result<()> + Sync), least: Duration) -> Result<f64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        let begun = Instant::now();
        let mut times = Vec::new();
        while times.len() < READINGS || begun.elapsed() < least {
            let begun = Instant::now();
            reader()?;
            times.push(begun.elapsed().as_secs_f64());
        }
        Ok(median(&times))
    })
}

/// A writer that removes edges one by one, then inserts them again, and so on.
struct Writer<'a> {
    work: &'a Work<'a>,
    store: &'a Graph,
    edges: &'a [(u32, u32)],
    at: usize,
    removing: bool,
}

impl Writer<'_> {
    /// Runs the writer until `done`, which it calls now and then. Returns the operations per second.
    fn run_until(&mut self, done: impl Fn(Instant) -> bool) -> Result<f64> {
        const STEP: usize = 256;
        let begun = Instant::now();
        let mut operations = 0;
        while !done(begun) {
            self.run(STEP)?;
            operations += STEP;
        }
        Ok(operations as f64 / begun.elapsed().as_secs_f64())
    }

    fn run(&mut self, operations: usize) -> Result<()> {
        for _ in 0..operations {
            let edge = &self.edges[self.at];
            if self.removing {
                self.store.remove_edge((u64::from(edge.0), u64::from(edge.1)))?;
            } else {
                load::insert_one(self.store, self.work, edge)?;
            }
            self.at += 1;
            if self.at == self.edges.len() {
                (self.at, self.removing) = (0, !self.removing);
            }
        }
        Ok(())
    }
}
