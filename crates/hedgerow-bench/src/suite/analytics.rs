//! The suite `analytics`: the same kernel code on a live snapshot and on a plain CSR, run in turns. First right after
//! random single-edge ingestion, with deltas still unmerged, then settled.
//!
//! The view of a snapshot is made before the kernels run, and measured by itself.

use std::collections::BTreeMap;
use std::time::Instant;

use hedgerow::{Direction, Graph, Topology, VertexId, WeightedTopology};
use hedgerow_kernels::{
    BfsConfig, PageRankConfig, SsspConfig, bfs, pagerank, sssp, triangle_count, verify, wcc,
};
use hedgerow_lab::Csr;
use hedgerow_workload::rng::Rng;

use super::load::{self, Mode};
use super::views;
use super::work::{Engine, Work};
use crate::failure::Result;
use crate::figures::geomean;
use crate::record::{Metric, Recorder};

/// Searches per measurement: their mean, since a search's time depends on its source.
const SOURCES: usize = 8;
const ITERATIONS: u32 = 10;
const KERNELS: [&str; 5] = ["bfs", "pr", "sssp", "wcc", "tc"];

/// Runs the suite.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let csr = work.csr()?;
    let sources = sources(&csr);
    let store = if work.options.has(Engine::Hedgerow) {
        let store = load::store_for(&work.graph)?;
        let seconds = match &work.graph.weights {
            None => load::write(&store, &work.graph, Mode::Single, 1)?,
            Some(_) => load::write_weighted(&store, &work.graph)?,
        };
        eprintln!("  ingested in {seconds:.1} s");
        Some(store)
    } else {
        None
    };
    for state in ["unsettled", "settled"] {
        let settled = state == "settled";
        if let Some(store) = store.as_ref().filter(|_| settled) {
            store.settle()?;
        }
        measure(work, store.as_ref(), &csr, &sources, state, recorder)?;
        if let Some(store) = &store {
            views::measure(work, store, settled, recorder)?;
        }
    }
    Ok(())
}

/// The kernels that are asked for.
fn kernels(work: &Work<'_>) -> Vec<&'static str> {
    KERNELS.iter().copied().filter(|kernel| work.options.wants(kernel)).collect()
}

/// Vertices with edges, drawn at random from a fixed seed.
fn sources(csr: &Csr) -> Vec<VertexId> {
    let mut rng = Rng::new(1);
    let draw = || VertexId(rng.below(csr.vertex_bound() as u64) as u32);
    std::iter::repeat_with(draw).filter(|&v| csr.degree(v, Direction::Out) > 0).take(SOURCES).collect()
}

/// Seconds of each kernel, measurement by measurement.
type Times = BTreeMap<&'static str, Vec<f64>>;

fn measure(
    work: &Work<'_>,
    store: Option<&Graph>,
    csr: &Csr,
    sources: &[VertexId],
    state: &str,
    recorder: &mut Recorder,
) -> Result<()> {
    let kernels = kernels(work);
    let (mut mine, mut plain) = (Times::new(), Times::new());
    if let Some(store) = store {
        let snapshot = store.snapshot()?;
        kernels.iter().try_for_each(|kernel| same_answers(kernel, snapshot.view(), csr, sources[0]))?;
    }
    // The first round warms up both and is not kept.
    for round in 0..=work.options.repeat() {
        let mut kept = (Times::new(), Times::new());
        let snapshot = store.map(Graph::snapshot).transpose()?;
        for kernel in &kernels {
            // In turns, and each first as often as the other.
            let mut turn = |of_store: bool| match (of_store, &snapshot) {
                (true, Some(snapshot)) => run_kernel(kernel, snapshot.view(), sources, &mut kept.0),
                (true, None) => Ok(()),
                (false, _) => run_kernel(kernel, csr, sources, &mut kept.1),
            };
            turn(round % 2 == 0)?;
            turn(round % 2 != 0)?;
        }
        if round > 0 {
            for (all, one) in [(&mut mine, kept.0), (&mut plain, kept.1)] {
                one.into_iter().for_each(|(kernel, times)| all.entry(kernel).or_default().extend(times));
            }
        }
    }
    let threads = work.options.threads();
    for name in kernels.iter().copied().chain(["geomean"]) {
        let (mine, plain) = (column(&kernels, &mine, name), column(&kernels, &plain, name));
        let name = format!("{name}.{state}");
        let metric = Metric { name: &name, unit: "s", threads };
        if work.options.has(Engine::Csr) && !plain.is_empty() {
            recorder.add("csr", metric, &plain, Some(&plain))?;
        }
        if !mine.is_empty() {
            recorder.add("hedgerow", metric, &mine, (!plain.is_empty()).then_some(plain.as_slice()))?;
        }
    }
    Ok(())
}

/// The measurements of a kernel, or the geometric means over all kernels.
fn column(kernels: &[&'static str], times: &Times, name: &str) -> Vec<f64> {
    if name != "geomean" {
        return times.get(name).cloned().unwrap_or_default();
    }
    let rounds = kernels.first().and_then(|k| times.get(k)).map_or(0, Vec::len);
    let at =
        |round: usize| kernels.iter().filter_map(|k| Some(*times.get(k)?.get(round)?)).collect::<Vec<f64>>();
    (0..rounds).map(|round| geomean(&at(round))).collect()
}

fn run_kernel<G: WeightedTopology>(
    kernel: &'static str,
    g: &G,
    sources: &[VertexId],
    times: &mut Times,
) -> Result<()> {
    let search = matches!(kernel, "bfs" | "sssp");
    match kernel {
        "bfs" => {
            let config = BfsConfig::default();
            timed(times, kernel, || sources.iter().try_for_each(|&s| bfs(g, s, &config).map(drop)))?;
        }
        "sssp" => {
            let config = SsspConfig::default();
            timed(times, kernel, || sources.iter().try_for_each(|&s| sssp(g, s, &config).map(drop)))?;
        }
        "pr" => _ = timed(times, kernel, || pagerank(g, &page_rank()))?,
        "tc" => _ = timed(times, kernel, || triangle_count(g))?,
        _ => _ = timed(times, kernel, || wcc(g))?,
    }
    if search {
        times.entry(kernel).and_modify(|t| t.iter_mut().for_each(|t| *t /= sources.len() as f64));
    }
    Ok(())
}

fn page_rank() -> PageRankConfig {
    PageRankConfig { iterations: ITERATIONS, ..PageRankConfig::default() }
}

fn timed<T, E: Into<crate::failure::Failure>>(
    times: &mut Times,
    name: &'static str,
    f: impl FnOnce() -> std::result::Result<T, E>,
) -> Result<T> {
    let begun = Instant::now();
    let value = f().map_err(Into::into)?;
    times.entry(name).or_default().push(begun.elapsed().as_secs_f64());
    Ok(value)
}

/// A figure of a wrong answer is no figure.
fn same_answers<A, B>(kernel: &str, view: &A, csr: &B, source: VertexId) -> Result<()>
where
    A: WeightedTopology,
    B: WeightedTopology,
{
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * b.abs();
    let same = match kernel {
        "bfs" => bfs(view, source, &BfsConfig::default())? == bfs(csr, source, &BfsConfig::default())?,
        "sssp" => sssp(view, source, &SsspConfig::default())? == sssp(csr, source, &SsspConfig::default())?,
        "pr" => {
            let (mine, plain) = (pagerank(view, &page_rank())?, pagerank(csr, &page_rank())?);
            mine.len() == plain.len() && mine.iter().zip(&plain).all(close)
        }
        "tc" => triangle_count(view)? == triangle_count(csr)?,
        _ => verify::same_partition(&wcc(view)?, &wcc(csr)?),
    };
    if same {
        Ok(())
    } else {
        Err(format!("{kernel}: the store's answers differ from those of the CSR").into())
    }
}
