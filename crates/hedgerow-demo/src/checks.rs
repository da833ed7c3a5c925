//! The checks of the demo. The expected content of the store comes from the replay model of the workload
//! crate, which shares no code with the store. The model replays the stream and the acknowledgement file.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use hedgerow::{Direction, Graph, Resident, Snapshot, Topology, VertexId, VertexKey};
use hedgerow_kernels::{BfsConfig, PageRankConfig, UNREACHED, bfs, count_components, pagerank, wcc};
use hedgerow_workload::Csr;
use hedgerow_workload::{Diff, State, StreamSpec, Transaction};

use super::acks::{AckWriter, Acks};
use super::fault::Fault;
use super::plain;
use super::setting::WRITERS;
use super::store;
use super::watch::Ingested;
use hedgerow_report::failure::Result;
use hedgerow_report::figures::{grouped, seconds};

/// The greatest relative difference that two PageRank scores may have.
pub(crate) const RANK_TOLERANCE: f64 = 1e-9;
const RANK_ITERATIONS: u32 = 20;

/// The content of the reopened store.
pub(crate) struct Recovered {
    /// The time from opening the store to its first snapshot.
    pub(crate) seconds: f64,
    pub(crate) acknowledged: u64,
    /// The stream index of each transaction in flight at the kill; true if the store contains it.
    pub(crate) in_flight: Vec<(u64, bool)>,
    pub(crate) vertices: u64,
    pub(crate) edges: u64,
    /// The seconds that replay and comparison took.
    pub(crate) compared: f64,
}

impl Recovered {
    /// Prints the outcome.
    pub(crate) fn print(&self) {
        println!(
            "reopened in {}: {} vertices, {} edges",
            seconds(self.seconds),
            grouped(self.vertices),
            grouped(self.edges)
        );
        let fate = |&(index, held): &(u64, bool)| {
            format!("{} {}", grouped(index), if held { "present" } else { "absent" })
        };
        let fates: Vec<String> = self.in_flight.iter().map(fate).collect();
        println!(
            "equal to the replay of {} acknowledged transactions plus one subset of {} in flight [{}] (checked in {})",
            grouped(self.acknowledged),
            self.in_flight.len(),
            fates.join(", "),
            seconds(self.compared)
        );
    }
}

/// Opens the store after the kill and compares it with the replay model. Transactions in flight that it
/// contains are recorded in the acknowledgement file.
pub(crate) fn recovered(spec: &StreamSpec, dir: &Path, ack_file: &Path, fault: Fault) -> Result<Recovered> {
    let begun = Instant::now();
    let (graph, _) = store::open(dir, spec.key_kind()?)?;
    let snapshot = graph.snapshot()?;
    let open_seconds = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let mut acks = Acks::read(ack_file)?;
    fault.falsify(&mut acks);
    let in_flight = acks.in_flight();
    let last = acks.acknowledged.values().map(|ack| ack.timestamp).max().unwrap_or(0);
    if graph.published_ts().0 < last {
        let found = graph.published_ts();
        return Err(format!("commit {last} was acknowledged, and the reopened store ends at {found}").into());
    }
    if in_flight.len() > WRITERS {
        return Err(format!("{} transactions were in flight with {WRITERS} writers", in_flight.len()).into());
    }
    let (expected, pending) = replay(spec, &acks, &in_flight)?;
    let observed = store::observe(&snapshot)?;
    let pending: Vec<&Transaction> = pending.iter().collect();
    let Some(chosen) = expected.explain(&pending, &observed) else {
        return Err(not_explained(&acks, &in_flight, &expected.diff(&observed)).into());
    };
    let writer = AckWriter::open(ack_file)?;
    for (transaction, _) in pending.iter().zip(&chosen).filter(|(_, held)| **held) {
        writer.found(transaction.index, transaction.events.len() as u64)?;
    }
    let (vertices, edges) = (snapshot.vertex_count(), snapshot.edge_count()?);
    drop(snapshot);
    graph.close()?;
    Ok(Recovered {
        seconds: open_seconds,
        acknowledged: acks.acknowledged.len() as u64,
        in_flight: in_flight.into_iter().zip(chosen).collect(),
        vertices,
        edges,
        compared: begun.elapsed().as_secs_f64(),
    })
}

/// Returns the state after all acknowledged transactions, in stream order, and the transactions in flight.
fn replay(spec: &StreamSpec, acks: &Acks, in_flight: &[u64]) -> Result<(State, Vec<Transaction>)> {
    let mut state = State::new();
    let mut pending = Vec::new();
    for transaction in spec.open()? {
        let transaction = transaction?;
        if acks.holds(transaction.index) {
            state.apply(&transaction);
        } else if in_flight.contains(&transaction.index) {
            pending.push(transaction);
        }
    }
    Ok((state, pending))
}

fn not_explained(acks: &Acks, in_flight: &[u64], diff: &Diff) -> String {
    let Diff { vertices, edges, weights, examples, .. } = diff;
    format!(
        "the reopened store is not the replay of {} acknowledged transactions plus any subset of {in_flight:?}; \
         without those in flight: {} vertices lost, {} unexpected; {} edges lost, {} unexpected; {weights} other weights; \
         for instance: {}",
        acks.acknowledged.len(),
        vertices.0,
        vertices.1,
        edges.0,
        edges.1,
        examples.join("; ")
    )
}

/// Checks that all commits that wrote were synced, by the number of syncs: one sync can serve at most one
/// commit of each writer.
pub(crate) fn fsyncs(first: &Ingested, second: &Ingested) -> Result<()> {
    for run in [first, second] {
        let Some(sample) = run.samples.last() else { return Err("a child reported nothing".into()) };
        if sample.syncs * (WRITERS as u64) < sample.commits {
            return Err(format!(
                "{} fsyncs for {} commits of {WRITERS} writers",
                sample.syncs, sample.commits
            )
            .into());
        }
    }
    Ok(())
}

/// The content of the store at the end of the stream.
pub(crate) struct End {
    /// The time to open the store after an orderly close.
    pub(crate) open_seconds: f64,
    pub(crate) vertices: u64,
    pub(crate) edges: u64,
    pub(crate) weight_sum: f64,
    pub(crate) components: u64,
    /// The number of vertices that the breadth-first search reached; below, the greatest depth.
    pub(crate) reached: u64,
    pub(crate) depth: u32,
    /// The greatest relative difference of two PageRank scores.
    pub(crate) rank_difference: f64,
}

/// Opens the store after the whole stream and compares it with the replay model.
pub(crate) fn end(spec: &StreamSpec, dir: &Path) -> Result<End> {
    let begun = Instant::now();
    let (graph, _) = store::open(dir, spec.key_kind()?)?;
    let snapshot = graph.snapshot()?;
    let open_seconds = begun.elapsed().as_secs_f64();
    let mut expected = State::new();
    for transaction in spec.open()? {
        expected.apply(&transaction?);
    }
    let observed = store::observe(&snapshot)?;
    let diff = expected.diff(&observed);
    if !diff.is_empty() {
        return Err(format!("the graph differs from the replay of the stream: {diff:?}").into());
    }
    let weight_sum = observed.weight_sum();
    drop(observed);
    println!(
        "graph equal: {} vertices, {} edges, weights sum {}{}",
        grouped(snapshot.vertex_count()),
        grouped(snapshot.edge_count()?),
        grouped(weight_sum as u64),
        kinds(&expected)
    );
    let answers = compare_answers(&snapshot, &expected)?;
    check(&graph)?;
    let end = End {
        open_seconds,
        vertices: snapshot.vertex_count(),
        edges: snapshot.edge_count()?,
        weight_sum,
        ..answers
    };
    drop(snapshot);
    graph.close()?;
    Ok(end)
}

/// Returns the number of vertices of each kind, for keys such as `a:17`.
fn kinds(state: &State) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for key in state.vertices() {
        if let VertexKey::Str(text) = key
            && let Some((kind, _)) = text.split_once(':')
        {
            *counts.entry(kind).or_default() += 1;
        }
    }
    let listed: Vec<String> =
        counts.iter().map(|(kind, n)| format!("{} with {kind}:", grouped(*n))).collect();
    if listed.is_empty() { String::new() } else { format!(" ({})", listed.join(", ")) }
}

fn check(graph: &Graph) -> Result<()> {
    let report = graph.check()?;
    if !report.is_ok() {
        return Err(format!("check found: {}", report.problems.join("; ")).into());
    }
    println!(
        "check: {} vertices, {} edges, {} segments, no problems",
        grouped(report.vertices),
        grouped(report.edges),
        report.segments
    );
    Ok(())
}

/// Compares the components, depths and ranks of the store's kernels with the answers of plain algorithms.
fn compare_answers(snapshot: &Snapshot, expected: &State) -> Result<End> {
    let graph = expected.to_graph();
    let csr = graph.csr()?;
    let keys = graph.keys.unwrap_or_default();
    let view = snapshot.default_label().view()?;
    let ids: Vec<VertexId> = keys
        .iter()
        .map(|key| Ok(snapshot.vertex_id(key)?.ok_or_else(|| format!("vertex {key} is missing"))?))
        .collect::<Result<_>>()?;
    let mine = wcc(view)?;
    let labels: Vec<u32> = ids.iter().map(|id| mine[id.index()]).collect();
    if !plain::same_groups(&labels, &plain::components(&csr)) {
        return Err("the components differ from those of the CSR".into());
    }
    let components = count_components(&mine) as u64;
    println!("components equal: {}", grouped(components));
    let source = (0..keys.len() as u32).map(VertexId).max_by_key(|&v| csr.degree(v, Direction::Out));
    let source = source.ok_or("the stream leaves no vertex")?;
    let (reached, depth) = compare_depths(view, &csr, &ids, source)?;
    println!(
        "BFS depths equal: {} vertices reached from {}, depth {depth}",
        grouped(reached),
        keys[source.index()]
    );
    let config = PageRankConfig { iterations: RANK_ITERATIONS, ..PageRankConfig::default() };
    let scores = pagerank(view, &config)?;
    let plain = plain::ranks(&csr, config.damping, RANK_ITERATIONS);
    let relative = |(id, other): (&VertexId, &f64)| (scores[id.index()] - other).abs() / other.abs();
    let rank_difference = ids.iter().zip(&plain).map(relative).fold(0.0, f64::max);
    if rank_difference.is_nan() || rank_difference > RANK_TOLERANCE {
        return Err(format!("PageRank differs by {rank_difference:e}, more than {RANK_TOLERANCE:e}").into());
    }
    println!("PageRank equal within {rank_difference:.1e} relative ({RANK_ITERATIONS} iterations)");
    Ok(End {
        open_seconds: 0.0,
        vertices: 0,
        edges: 0,
        weight_sum: 0.0,
        components,
        reached,
        depth,
        rank_difference,
    })
}

fn compare_depths<G: Topology>(
    view: &G,
    csr: &Csr,
    ids: &[VertexId],
    source: VertexId,
) -> Result<(u64, u32)> {
    let mine = bfs(view, ids[source.index()], &BfsConfig::default())?;
    let plain = plain::depths(csr, source);
    for (id, depth) in ids.iter().zip(&plain) {
        let (found, expected) = (mine[id.index()], depth.unwrap_or(UNREACHED));
        if found != expected {
            return Err(format!("BFS depth {found} of a vertex, expected {expected}").into());
        }
    }
    let reached = plain.iter().flatten();
    Ok((reached.clone().count() as u64, reached.max().copied().unwrap_or(0)))
}
