//! The suite `analytics`: the same kernels on a live snapshot and on a plain CSR, in turns. They first run
//! right after random single-edge ingestion, with unmerged deltas, and then after settling.
//!
//! The view of a snapshot is made before the kernels run, and measured separately.

use std::collections::BTreeMap;
use std::time::Instant;

use hedgerow::{Direction, Graph, Resident, Topology, VertexId, View};
use hedgerow_kernels::registry::{Arguments, KERNELS, Kernel, Outcome};
use hedgerow_kernels::{Cancel, KernelError};
use hedgerow_subjects::{Engine, ITERATIONS};
use hedgerow_workload::Csr;
use hedgerow_workload::rng::Rng;

use super::load::{self, Mode};
use super::views;
use super::work::Work;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;
use hedgerow_report::figures::geomean;

/// The number of searches per measurement. A measurement is their mean, because the time of a search depends
/// on its source.
const SOURCES: usize = 8;
/// The tolerance of scores: the store and the CSR add them up in a different order.
const RELATIVE: f64 = 1e-9;

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

/// Returns the requested kernels.
fn kernels(work: &Work<'_>) -> Vec<&'static Kernel> {
    KERNELS.iter().copied().filter(|kernel| work.options.wants(kernel.metric)).collect()
}

/// Draws vertices with edges at random, from a fixed seed.
pub(crate) fn sources(csr: &Csr) -> Vec<VertexId> {
    let mut rng = Rng::new(1);
    let draw = || VertexId(rng.below(csr.vertex_bound() as u64) as u32);
    std::iter::repeat_with(draw).filter(|&v| csr.degree(v, Direction::Out) > 0).take(SOURCES).collect()
}

/// The seconds of each kernel, measurement by measurement.
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
        kernels
            .iter()
            .try_for_each(|kernel| same_answers(kernel, snapshot.default_label().view()?, csr, sources[0]))?;
    }
    // The first round warms up the store and the CSR; its times are not kept.
    for round in 0..=work.options.repeat() {
        let mut kept = (Times::new(), Times::new());
        let snapshot = store.map(Graph::snapshot).transpose()?;
        for kernel in &kernels {
            // The store and the CSR take turns, and each runs first equally often.
            let mut turn = |of_store: bool| match (of_store, &snapshot) {
                (true, Some(snapshot)) => {
                    time(kernel, sources, &mut kept.0, of_view(snapshot.default_label().view()?))
                }
                (true, None) => Ok(()),
                (false, _) => time(kernel, sources, &mut kept.1, of_csr(csr)),
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
    for name in kernels.iter().map(|kernel| kernel.metric).chain(["geomean"]) {
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

/// Returns the measurements of a kernel, or the geometric means over all kernels.
fn column(kernels: &[&Kernel], times: &Times, name: &str) -> Vec<f64> {
    if name != "geomean" {
        return times.get(name).cloned().unwrap_or_default();
    }
    let rounds = kernels.first().and_then(|k| times.get(k.metric)).map_or(0, Vec::len);
    let of = |kernel: &Kernel, round: usize| Some(*times.get(kernel.metric)?.get(round)?);
    let at = |round: usize| kernels.iter().filter_map(|kernel| of(kernel, round)).collect::<Vec<f64>>();
    (0..rounds).map(|round| geomean(&at(round))).collect()
}

/// The number of searches of kernels that estimate. By default the size of the graph decides it.
const SAMPLES: u32 = 64;

/// Returns the arguments of a kernel: one call for each source if it takes one source, a call with several
/// sources if it takes several.
fn calls(kernel: &'static Kernel, sources: &[VertexId]) -> Result<Vec<Arguments>> {
    let mut arguments = kernel.arguments();
    if kernel.parameter("iterations").is_some() {
        arguments.set("iterations", ITERATIONS)?;
    }
    // A maximum matching needs a bipartite graph, and few of the graphs are bipartite.
    if kernel.parameter("maximum").is_some() {
        arguments.set("maximum", 0)?;
    }
    if kernel.parameter("samples").is_some() {
        arguments.set("samples", SAMPLES)?;
    }
    if kernel.parameter("sources").is_some() {
        arguments.set("sources", sources.to_vec())?;
    }
    if kernel.parameter("target").is_some() {
        arguments.set("target", sources[sources.len() - 1])?;
    }
    if kernel.parameter("source").is_none() {
        return Ok(vec![arguments]);
    }
    let from = |&source: &VertexId| {
        arguments.set("source", source)?;
        Ok(arguments.clone())
    };
    sources.iter().map(from).collect()
}

type Answer = std::result::Result<Outcome, KernelError>;

/// Returns a function that runs kernels on the store.
fn of_view(view: &View) -> impl Fn(&Arguments) -> Answer {
    let cancel = Cancel::new();
    move |arguments| hedgerow_analytics::run_resident(arguments, view, &cancel)
}

/// Returns a function that runs kernels on the CSR.
fn of_csr(csr: &Csr) -> impl Fn(&Arguments) -> Answer {
    let cancel = Cancel::new();
    move |arguments| arguments.run(csr, &cancel)
}

/// Measures the time of a call; for searches, the mean over all sources.
fn time(
    kernel: &'static Kernel,
    sources: &[VertexId],
    times: &mut Times,
    run: impl Fn(&Arguments) -> Answer,
) -> Result<()> {
    let calls = calls(kernel, sources)?;
    let mut last = None;
    let begun = Instant::now();
    for arguments in &calls {
        last = Some(run(arguments)?);
    }
    // The release of a result's memory is not part of a kernel.
    let seconds = begun.elapsed().as_secs_f64() / calls.len() as f64;
    drop(last);
    times.entry(kernel.metric).or_default().push(seconds);
    Ok(())
}

/// Fails if the store and the CSR give different answers: a figure of a wrong answer is no figure.
fn same_answers(kernel: &'static Kernel, view: &View, csr: &Csr, source: VertexId) -> Result<()> {
    for arguments in calls(kernel, &[source])? {
        let (mine, plain) = (of_view(view)(&arguments)?, of_csr(csr)(&arguments)?);
        if !mine.agrees_with(&plain, RELATIVE) {
            return Err(format!("{}: the store's answers differ from those of the CSR", kernel.name).into());
        }
    }
    Ok(())
}
