//! The suite `analytics`: the same kernel code on a live snapshot and on a plain CSR, run in turns. First right after
//! random single-edge ingestion, with deltas still unmerged, then settled.
//!
//! Building a snapshot's view is measured by itself (`view`): a snapshot that many kernels use pays it once.

use std::collections::BTreeMap;
use std::time::Instant;

use hedgerow::{Direction, Graph, Topology, VertexId};
use hedgerow_kernels::{BfsConfig, PageRankConfig, bfs, pagerank, verify, wcc};
use hedgerow_workload::Csr;
use hedgerow_workload::rng::Rng;

use super::load::{self, Mode};
use super::{Engine, Work};
use crate::failure::Result;
use crate::figures::geomean;
use crate::record::{Metric, Recorder};

/// Searches per measurement: their mean, since a search's time depends on its source.
const SOURCES: usize = 8;
const ITERATIONS: u32 = 10;
const KERNELS: [&str; 3] = ["bfs", "pr", "wcc"];

/// Runs the suite.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let csr = work.graph.to_csr()?;
    let sources = sources(&csr);
    let store = if work.options.has(Engine::Hedgerow) {
        let store = load::empty_store(work.graph.directed, work.graph.vertices)?;
        let seconds = load::write(&store, &work.graph, Mode::Single, 1)?;
        eprintln!("  ingested in {seconds:.1} s");
        Some(store)
    } else {
        None
    };
    for state in ["unsettled", "settled"] {
        if let Some(store) = store.as_ref().filter(|_| state == "settled") {
            store.settle()?;
        }
        measure(work, store.as_ref(), &csr, &sources, state, recorder)?;
    }
    Ok(())
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
    let (mut mine, mut plain) = (Times::new(), Times::new());
    if let Some(store) = store {
        let snapshot = store.snapshot()?;
        same_answers(snapshot.view(), csr, sources[0])?;
    }
    // The first round warms up both and is not kept.
    for round in 0..=work.options.repeat() {
        let mut kept = (Times::new(), Times::new());
        if let Some(store) = store {
            let snapshot = store.snapshot()?;
            let view = timed(&mut kept.0, "view", || Ok::<_, std::convert::Infallible>(snapshot.view()))?;
            for kernel in KERNELS {
                run_kernel(kernel, view, sources, &mut kept.0)?;
                run_kernel(kernel, csr, sources, &mut kept.1)?;
            }
        } else {
            KERNELS.iter().try_for_each(|kernel| run_kernel(kernel, csr, sources, &mut kept.1))?;
        }
        if round > 0 {
            for (all, one) in [(&mut mine, kept.0), (&mut plain, kept.1)] {
                one.into_iter().for_each(|(kernel, times)| all.entry(kernel).or_default().extend(times));
            }
        }
    }
    let threads = work.options.threads();
    let metric = |name: &str| format!("{name}.{state}");
    for name in KERNELS.iter().copied().chain(["geomean", "view"]) {
        let (mine, plain) = (column(&mine, name), column(&plain, name));
        let name = metric(name);
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
fn column(times: &Times, name: &str) -> Vec<f64> {
    if name != "geomean" {
        return times.get(name).cloned().unwrap_or_default();
    }
    let rounds = times.get(KERNELS[0]).map_or(0, Vec::len);
    let at =
        |round: usize| KERNELS.iter().filter_map(|k| Some(*times.get(k)?.get(round)?)).collect::<Vec<f64>>();
    (0..rounds).map(|round| geomean(&at(round))).collect()
}

fn run_kernel<G: Topology>(
    kernel: &'static str,
    g: &G,
    sources: &[VertexId],
    times: &mut Times,
) -> Result<()> {
    match kernel {
        "bfs" => {
            let config = BfsConfig::default();
            timed(times, kernel, || sources.iter().try_for_each(|&s| bfs(g, s, &config).map(drop)))?;
            times.entry(kernel).and_modify(|t| t.iter_mut().for_each(|t| *t /= sources.len() as f64));
        }
        "pr" => {
            let config = PageRankConfig { iterations: ITERATIONS, ..PageRankConfig::default() };
            timed(times, kernel, || pagerank(g, &config))?;
        }
        _ => {
            timed(times, kernel, || wcc(g))?;
        }
    }
    Ok(())
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
fn same_answers<A: Topology, B: Topology>(view: &A, csr: &B, source: VertexId) -> Result<()> {
    let config = PageRankConfig { iterations: ITERATIONS, ..PageRankConfig::default() };
    let (mine, plain) = (pagerank(view, &config)?, pagerank(csr, &config)?);
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * b.abs();
    let bfs_config = BfsConfig::default();
    let same = bfs(view, source, &bfs_config)? == bfs(csr, source, &bfs_config)?
        && verify::same_partition(&wcc(view)?, &wcc(csr)?)
        && mine.len() == plain.len()
        && mine.iter().zip(&plain).all(close);
    if same { Ok(()) } else { Err("the store's answers differ from those of the CSR".into()) }
}
