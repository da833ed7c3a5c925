//! The steps with each limit: point reads, updates of one range of ids, a scan of all edges, kernels.

use std::collections::BTreeMap;
use std::time::Instant;

use hedgerow::{Direction, Graph, KernelView, Snapshot};
use hedgerow_kernels::Cancel;
use hedgerow_kernels::registry::{Arguments, KERNELS, Kernel, Outcome};
use hedgerow_workload::rng::{Rng, mix};

use super::super::work::Work;
use super::peak::Peak;
use hedgerow_report::failure::Result;

/// The number of vertices whose lists are read.
const READS: usize = 50_000;
/// The share of ids that bounds the edges to update: both their ends are below it. In a graph with random ids
/// these are a hundredth of the edges.
const UPDATED: f64 = 0.1;
const ITERATIONS: u32 = 10;
/// The metrics of the kernels that run on a held snapshot.
const HELD_KERNELS: [&str; 4] = ["bfs", "sssp", "wcc", "pr"];
/// The tolerance of scores: the order of their addition differs.
const RELATIVE: f64 = 1e-9;

/// The seconds of each step, round by round.
pub(super) type Seconds = BTreeMap<&'static str, Vec<f64>>;

/// The answers: sums over the point reads and over the scan, and results of kernels.
#[derive(Default)]
pub(super) struct Answers {
    sums: Vec<(&'static str, u64)>,
    outcomes: Vec<(&'static str, Outcome)>,
}

impl Answers {
    /// Fails if the answers differ: a figure of a wrong answer is no figure.
    pub(super) fn must_agree_with(&self, other: &Answers) -> Result<()> {
        if self.sums != other.sums {
            return Err(format!("sums differ: {:?}, and {:?}", self.sums, other.sums).into());
        }
        for ((name, mine), (_, plain)) in self.outcomes.iter().zip(&other.outcomes) {
            if !mine.agrees_with(plain, RELATIVE) {
                return Err(format!("{name}: the answers differ").into());
            }
        }
        Ok(())
    }
}

/// Runs `step`, and keeps its time.
pub(super) fn timed<T>(
    seconds: &mut Seconds,
    name: &'static str,
    step: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let begun = Instant::now();
    let done = step()?;
    seconds.entry(name).or_default().push(begun.elapsed().as_secs_f64());
    Ok(done)
}

/// Runs all steps, one after another.
pub(super) fn all(work: &Work<'_>, store: &Graph, peak: &Peak, seconds: &mut Seconds) -> Result<Answers> {
    let mut answers = Answers::default();
    let snapshot = store.snapshot()?;
    let sum = timed(seconds, "point_reads", || read_points(work, &snapshot))?;
    answers.sums.push(("point reads", sum));
    drop(snapshot);
    timed(seconds, "update", || update(work, store))?;
    let snapshot = store.snapshot()?;
    let sum = timed(seconds, "scan", || scan(&snapshot))?;
    answers.sums.push(("scan", sum));
    peak.kernels_begin();
    let wanted = |kernel: &&&Kernel| !kernel.needs_resident && work.options.wants(kernel.metric);
    for &kernel in KERNELS.iter().filter(wanted) {
        let outcome = timed(seconds, kernel.metric, || run(kernel, work, &snapshot))?;
        answers.outcomes.push((kernel.name, outcome));
    }
    Ok(answers)
}

/// Returns the answers of point reads, a scan and the kernels of [`HELD_KERNELS`] on a snapshot.
pub(super) fn answers_of(work: &Work<'_>, snapshot: &Snapshot) -> Result<Answers> {
    let sums = vec![("point reads", read_points(work, snapshot)?), ("scan", scan(snapshot)?)];
    let mut outcomes = Vec::new();
    for &kernel in KERNELS.iter().filter(|kernel| HELD_KERNELS.contains(&kernel.metric)) {
        outcomes.push((kernel.name, run(kernel, work, snapshot)?));
    }
    Ok(Answers { sums, outcomes })
}

/// Reads the lists of vertices drawn at random.
fn read_points(work: &Work<'_>, snapshot: &Snapshot) -> Result<u64> {
    let (mut rng, mut sum) = (Rng::new(3), 0u64);
    for _ in 0..READS {
        let v = rng.below(work.graph.vertices as u64);
        let neighbors = snapshot.neighbors(v, Direction::Out)?.unwrap_or_default();
        sum = sum.wrapping_add(neighbors.len() as u64 + mix(v));
    }
    Ok(sum)
}

/// Removes the edges between the lowest ids, and inserts them again.
fn update(work: &Work<'_>, store: &Graph) -> Result<()> {
    let below = (work.graph.vertices as f64 * UPDATED) as u32;
    let chosen = || work.graph.edges.iter().filter(move |(u, v)| *u < below && *v < below);
    for &(u, v) in chosen() {
        store.remove_edge((u64::from(u), u64::from(v)))?;
    }
    for &(u, v) in chosen() {
        store.insert_edge((u64::from(u), u64::from(v)))?;
    }
    Ok(())
}

fn scan(snapshot: &Snapshot) -> Result<u64> {
    let mut sum = 0u64;
    snapshot
        .default_label()
        .for_each_edge(|u, v, _| sum = sum.wrapping_add(mix(u64::from(u.0) << 32 | u64::from(v.0))))?;
    Ok(sum)
}

/// Runs a kernel on the view that fits, and makes the view first.
fn run(kernel: &'static Kernel, work: &Work<'_>, snapshot: &Snapshot) -> Result<Outcome> {
    let arguments = arguments(kernel, work)?;
    let view = KernelView::new(snapshot, "")?;
    Ok(hedgerow_analytics::run(&arguments, &view, &Cancel::new())?)
}

/// Returns the arguments of a kernel. Searches begin at the first end of the first edge.
fn arguments(kernel: &'static Kernel, work: &Work<'_>) -> Result<Arguments> {
    let end = |edge: Option<&(u32, u32)>| hedgerow::VertexId(edge.map_or(0, |&(first, _)| first));
    let mut arguments = kernel.trial(end(work.graph.edges.first()), end(work.graph.edges.last()));
    if kernel.parameter("iterations").is_some() {
        arguments.set("iterations", ITERATIONS)?;
    }
    Ok(arguments)
}
