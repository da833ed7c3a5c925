//! Tests with a graph that must be read: it returns lists in several runs and vertices in any order, and the
//! n-th read fails. A kernel must return the answer of a plain graph, or the error of the read.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use hedgerow_core::{
    Block, Direction, LocalVertex, Resident, SubgraphId, Topology, VertexId, WeightedTopology,
};
use hedgerow_kernels::registry::find;
use hedgerow_kernels::{
    BfsConfig, Cancel, KernelError, PageRankConfig, SsspConfig, bfs, pagerank, sssp, verify, wcc, wcc_until,
};
use hedgerow_testkit::conformance::{PlainGraph, check_runs};
use hedgerow_workload::Csr;

use crate::testing::{close, random_graph, weighted_graph, with_threads};

/// The number of neighbors in a run of the lists of `whole`.
const RUN: usize = 3;
/// The number of vertices of a frontier that are read together.
const BATCH: usize = 5;

struct Paged {
    whole: Csr,
    /// True if the graph returns the first run of a vertex alone.
    gives_main: bool,
    /// True if the graph claims to store edges against their direction. A kernel that reads them gets them in
    /// either case.
    stores_incoming: bool,
    /// The number of reads that succeed.
    good: usize,
    reads: AtomicUsize,
}

/// The error of a failed read.
#[derive(Clone, Debug, PartialEq)]
struct ReadFailed(usize);

impl std::fmt::Display for ReadFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "read {} failed", self.0)
    }
}

impl std::error::Error for ReadFailed {}

impl Paged {
    fn new(whole: Csr, seed: u64) -> Paged {
        let (gives_main, stores_incoming) = (seed.is_multiple_of(2), !seed.is_multiple_of(5));
        Paged { whole, gives_main, stores_incoming, good: usize::MAX, reads: AtomicUsize::new(0) }
    }

    fn read(&self) -> Result<(), ReadFailed> {
        let read = self.reads.fetch_add(1, Relaxed);
        if read < self.good { Ok(()) } else { Err(ReadFailed(read)) }
    }

    fn list(&self, v: VertexId, direction: Direction) -> &[VertexId] {
        let known = v.index() < self.whole.vertex_bound();
        if known { self.whole.neighbors(v, direction).main } else { &[] }
    }
}

/// Returns the runs of a list, the last one first. A list without neighbors has one empty run.
fn runs<T>(list: &[T]) -> impl Iterator<Item = &[T]> {
    list.rchunks(RUN).chain(list.is_empty().then_some(list))
}

#[derive(Clone, Copy)]
struct PagedBlock<'a> {
    graph: &'a Paged,
    subgraph: SubgraphId,
    direction: Direction,
}

impl Block for PagedBlock<'_> {
    fn degree(&self, local: LocalVertex) -> usize {
        self.graph.list(self.subgraph.vertex(local), self.direction).len()
    }

    fn for_each_run(
        &self,
        local: LocalVertex,
        f: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        runs(self.graph.list(self.subgraph.vertex(local), self.direction)).try_for_each(f)
    }

    fn main(&self, local: LocalVertex) -> Option<&[VertexId]> {
        let list = self.graph.list(self.subgraph.vertex(local), self.direction);
        self.graph.gives_main.then(|| runs(list).next().unwrap_or(&[]))
    }
}

impl Topology for Paged {
    type Error = ReadFailed;
    type Block<'a> = PagedBlock<'a>;

    counts_of!(whole);

    fn is_stored(&self, direction: Direction) -> bool {
        direction == Direction::Out || self.stores_incoming || !self.whole.is_directed()
    }

    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize {
        self.whole.degree_estimate(v, direction)
    }

    fn scan(
        &self,
        subgraphs: Range<SubgraphId>,
        direction: Direction,
        mut f: impl FnMut(SubgraphId, PagedBlock<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReadFailed> {
        for subgraph in (subgraphs.start.0..subgraphs.end.0).map(SubgraphId) {
            self.read()?;
            if f(subgraph, PagedBlock { graph: self, subgraph, direction }).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn visit(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId]),
    ) -> Result<(), ReadFailed> {
        self.visit_weighted(frontier, direction, |v, run, _| f(v, run))
    }
}

impl WeightedTopology for Paged {
    fn has_weights(&self) -> bool {
        self.whole.has_weights()
    }

    fn visit_weighted(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<(), ReadFailed> {
        let mut frontier = frontier.into_iter().peekable();
        while frontier.peek().is_some() {
            let mut batch: Vec<VertexId> = frontier.by_ref().take(BATCH).collect();
            batch.sort_unstable_by(|a, b| b.cmp(a));
            for v in batch {
                self.read()?;
                let known = v.index() < self.whole.vertex_bound();
                let weights = if known { self.whole.weights(v, direction) } else { &[] };
                let weights = runs(weights).chain(std::iter::repeat(&[][..]));
                runs(self.list(v, direction)).zip(weights).for_each(|(run, weights)| f(v, run, weights));
            }
        }
        Ok(())
    }
}

fn graph(seed: u64) -> Csr {
    match seed % 3 {
        0 => {
            let plain = random_graph(300, 2500, seed.is_multiple_of(2), 0.0, seed);
            let pairs = |v| plain.neighbors(v, Direction::Out).iter().map(move |u| (v.0, u.0));
            let edges: Vec<(u32, u32)> = (0..300).map(VertexId).flat_map(pairs).collect();
            weighted_graph(300, &edges, seed.is_multiple_of(2), |rng| 1.0 + rng.below(100) as f64)
        }
        _ => random_graph(300, [600, 2500][seed as usize % 2], seed % 4 < 2, 0.2, seed),
    }
}

fn source(g: &impl Topology) -> VertexId {
    (0..g.vertex_bound() as u32).map(VertexId).find(|&v| g.contains(v)).expect("some are live")
}

/// The kernels that compare and join vertices, and some that read weights.
const MORE: [&str; 9] = [
    "msf",
    "closeness",
    "jaccard",
    "adamic_adar",
    "matching",
    "bfs_parents",
    "wbetweenness",
    "wcloseness",
    "wpagerank",
];

/// Runs every kernel that keeps no list after reading it. Compares the answers with the answers of the
/// verifiers. Returns the names of the failed kernels with their errors.
fn run_all(g: &Paged) -> BTreeMap<&'static str, KernelError<ReadFailed>> {
    let mut failed = BTreeMap::new();
    let source = source(g);
    for (name, alpha) in [("bfs top-down", 0), ("bfs", 15), ("bfs bottom-up", u32::MAX)] {
        match bfs(g, source, &BfsConfig { alpha, beta: 1000, ..BfsConfig::default() }) {
            Ok(depths) => assert_eq!(depths, verify::bfs(&g.whole, source, Direction::Out), "{name}"),
            Err(error) => _ = failed.insert(name, error),
        }
        g.reads.store(0, Relaxed);
    }
    match wcc(g) {
        Ok(components) => assert_eq!(components, verify::wcc(&g.whole)),
        Err(error) => _ = failed.insert("wcc", error),
    }
    g.reads.store(0, Relaxed);
    match pagerank(g, &PageRankConfig { iterations: 3, ..PageRankConfig::default() }) {
        Ok(scores) => close(&scores, &verify::pagerank(&g.whole, 0.85, 3), 1e-12).expect("the same scores"),
        Err(error) => _ = failed.insert("pagerank", error),
    }
    g.reads.store(0, Relaxed);
    match sssp(g, source, &SsspConfig::default()) {
        Ok(found) => assert_eq!(found, verify::sssp(&g.whole, source, Direction::Out)),
        Err(error) => _ = failed.insert("sssp", error),
    }
    g.reads.store(0, Relaxed);
    for name in MORE {
        let arguments = find(name).expect("listed").trial(source, source);
        match arguments.run_paged(g, &Cancel::new()) {
            Ok(found) => {
                let expected = arguments.verify(&g.whole).expect(name);
                assert!(found.agrees_with(&expected, 1e-12), "{name}");
            }
            Err(error) => _ = failed.insert(name, error),
        }
        g.reads.store(0, Relaxed);
    }
    failed
}

#[test]
fn kernels_need_no_lists_that_stay() {
    for seed in 0..24 {
        let g = Paged::new(graph(seed), seed);
        assert_eq!(run_all(&g), BTreeMap::new(), "nothing fails");
        with_threads(3, || assert_eq!(run_all(&g), BTreeMap::new(), "nothing fails"));
    }
}

#[test]
fn the_error_of_a_read_comes_out_of_every_kernel() {
    let mut seen = BTreeMap::new();
    for (good, seed) in (0..400).step_by(3).zip((0..24).cycle()) {
        let g = Paged { good, ..Paged::new(graph(seed), seed) };
        for threads in [1, 3] {
            for (kernel, error) in with_threads(threads, || run_all(&g)) {
                let KernelError::Topology(ReadFailed(read)) = error else { panic!("{kernel}: {error}") };
                assert!(read >= good, "a read that succeeded is blamed");
                *seen.entry(kernel).or_insert(0) += 1;
            }
        }
    }
    assert_eq!(seen.len(), 6 + MORE.len(), "{seen:?}");
    // Each subgraph is one read, and a matching takes one pass.
    let least = |kernel| if kernel == "matching" { 4 } else { 10 };
    assert!(seen.iter().all(|(&kernel, &failures)| failures >= least(kernel)), "{seen:?}");
}

#[test]
fn a_cancelled_kernel_reads_nothing() {
    let g = Paged { good: 0, ..Paged::new(graph(1), 1) };
    let cancel = Cancel::new();
    cancel.cancel();
    assert_eq!(wcc_until(&g, &cancel), Err(KernelError::Cancelled));
    assert_eq!(wcc(&g), Err(KernelError::Topology(ReadFailed(0))));
}

#[test]
fn the_paged_graph_is_a_graph() {
    for seed in 0..6 {
        let whole = graph(seed);
        let directed = whole.is_directed();
        let mut plain = PlainGraph {
            directed,
            weighted: whole.has_weights(),
            live: (0..whole.vertex_bound() as u32).map(|v| whole.contains(VertexId(v))).collect(),
            ..PlainGraph::default()
        };
        for v in (0..whole.vertex_bound() as u32).map(VertexId) {
            whole.weighted_neighbors(v, Direction::Out).for_each(|u, weight| {
                if directed || v <= u {
                    plain.edges.insert((v.0, u.0), weight);
                }
            });
        }
        check_runs(&Paged::new(whole, seed), &plain);
    }
}
