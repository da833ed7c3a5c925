//! Tests of cancelled kernels. The graph counts the edges that it returns between two polls, and after the
//! flag is raised. No test reads a clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

use hedgerow_core::{
    Block, Direction, LocalVertex, Neighbors, Resident, SubgraphId, Topology, VertexId, WeightedTopology,
};
use hedgerow_kernels::cycles::{CycleConfig, cycles_through};
use hedgerow_kernels::registry;
use hedgerow_kernels::{BfsConfig, Cancel, KernelError, PageRankConfig, bfs_until, pagerank_until};
use hedgerow_testkit::is_deep;
use hedgerow_workload::Csr;

use crate::testing::{plain_graph, random_graph, weighted_graph, with_threads};

const BETWEEN: usize = Cancel::EDGES_BETWEEN_POLLS;

/// A graph that counts the edges of the lists that it returns.
struct Counted {
    graph: Csr,
    handed_out: Arc<AtomicUsize>,
    /// The number of parts of lists that a kernel must read with polls between.
    long_parts: AtomicUsize,
    /// True if a kernel that requests a main list alone reads the whole list.
    reads_mains: AtomicBool,
}

impl Counted {
    fn new(graph: Csr) -> Counted {
        Counted {
            graph,
            handed_out: Arc::default(),
            long_parts: AtomicUsize::new(0),
            reads_mains: AtomicBool::new(true),
        }
    }

    fn count(&self, edges: usize) {
        if edges < BETWEEN {
            self.handed_out.fetch_add(edges, Relaxed);
        } else {
            self.long_parts.fetch_add(edges / BETWEEN, Relaxed);
        }
    }
}

#[derive(Clone, Copy)]
struct CountedBlock<'a> {
    counted: &'a Counted,
    block: <Csr as Topology>::Block<'a>,
}

impl Block for CountedBlock<'_> {
    fn degree(&self, local: LocalVertex) -> usize {
        self.block.degree(local)
    }

    fn for_each_run(
        &self,
        local: LocalVertex,
        mut f: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.block.for_each_run(local, |run| {
            self.counted.count(run.len());
            f(run)
        })
    }

    fn main(&self, local: LocalVertex) -> Option<&[VertexId]> {
        let main = self.block.main(local);
        if self.counted.reads_mains.load(Relaxed) {
            self.counted.count(main.map_or(0, <[VertexId]>::len));
        }
        main
    }

    fn is_additive(&self) -> bool {
        self.block.is_additive()
    }
}

impl Topology for Counted {
    type Error = Infallible;
    type Block<'a> = CountedBlock<'a>;

    counts_of!(graph);

    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize {
        self.graph.degree_estimate(v, direction)
    }

    fn scan(
        &self,
        subgraphs: Range<SubgraphId>,
        direction: Direction,
        mut f: impl FnMut(SubgraphId, CountedBlock<'_>) -> ControlFlow<()>,
    ) -> Result<(), Infallible> {
        self.graph
            .scan(subgraphs, direction, |subgraph, block| f(subgraph, CountedBlock { counted: self, block }))
    }

    fn visit(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId]),
    ) -> Result<(), Infallible> {
        self.graph.visit(frontier, direction, |v, run| {
            self.count(run.len());
            f(v, run);
        })
    }
}

impl Resident for Counted {
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        let neighbors = self.graph.neighbors(v, direction);
        self.count(neighbors.len());
        neighbors
    }

    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        self.graph.degree(v, direction)
    }
}

impl WeightedTopology for Counted {
    fn has_weights(&self) -> bool {
        self.graph.has_weights()
    }

    fn visit_weighted(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<(), Infallible> {
        self.graph.visit_weighted(frontier, direction, |v, run, weights| {
            self.count(run.len());
            f(v, run, weights);
        })
    }
}

type Kernel = Box<dyn Fn(&Counted, &Cancel) -> Result<(), KernelError> + Sync>;

fn bfs_by(config: BfsConfig) -> Kernel {
    Box::new(move |g, cancel| bfs_until(g, VertexId(0), &config, cancel).map(drop))
}

fn registered(kernel: &'static registry::Kernel) -> Kernel {
    Box::new(move |g, cancel| {
        let last = (0..g.vertex_bound() as u32).rev().map(VertexId).find(|&v| g.contains(v));
        let mut arguments = kernel.trial(VertexId(0), last.expect("one is live"));
        // A walk begins at each vertex, and all steps are alike, so a few steps are enough.
        if kernel.parameter("steps").is_some() {
            arguments.set("steps", 3_u32).expect("a parameter");
        }
        // These kernels read one neighbor of a main list. On an undirected graph, `scc` runs `wcc`.
        g.reads_mains.store(!["wcc", "scc", "walks"].contains(&kernel.name), Relaxed);
        let ended = arguments.run(g, cancel).map(drop);
        g.reads_mains.store(true, Relaxed);
        ended
    })
}

/// Returns every kernel, and BFS in each of its directions.
fn kernels() -> Vec<(&'static str, Kernel)> {
    let all = registry::KERNELS.iter().map(|kernel| (kernel.name, registered(kernel)));
    all.chain([
        ("bfs top-down", bfs_by(BfsConfig { alpha: 0, ..BfsConfig::default() })),
        ("bfs bottom-up", bfs_by(BfsConfig { alpha: u32::MAX, beta: u32::MAX, ..BfsConfig::default() })),
    ])
    .collect()
}

/// Returns a graph in which every vertex of one work item has a long list. Together the lists have many more
/// edges than the limit between two polls.
fn dense(directed: bool) -> Csr {
    let edges: Vec<(u32, u32)> = (0..700u32).flat_map(|v| (0..1500).map(move |u| (v, 700 + u))).collect();
    plain_graph(2200, &edges, directed)
}

/// Returns a graph in which one list is much longer than the limit between two polls. Its vertex is not the
/// source of a search.
fn star(directed: bool, weighted: bool) -> Csr {
    let leaves = 3 * BETWEEN as u32 + 17;
    let edges: Vec<(u32, u32)> = (0..leaves).map(|v| if v == 0 { (0, 1) } else { (1, v + 1) }).collect();
    if weighted {
        weighted_graph(leaves as usize + 1, &edges, directed, |rng| 1.0 + rng.below(100) as f64)
    } else {
        plain_graph(leaves as usize + 1, &edges, directed)
    }
}

/// Runs a kernel with one thread. Returns the number of polls, and the most edges between two polls.
fn polls(kernel: &Kernel, g: &Counted) -> (usize, usize) {
    let (count, last, most) =
        (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let (polls, handed_out, gap) = (count.clone(), g.handed_out.clone(), most.clone());
    last.store(handed_out.load(Relaxed), Relaxed);
    let cancel = Cancel::asking(move || {
        count.fetch_add(1, Relaxed);
        let now = handed_out.load(Relaxed);
        most.fetch_max(now - last.swap(now, Relaxed), Relaxed);
        false
    });
    with_threads(1, || kernel(g, &cancel)).expect("nobody raises the flag");
    (polls.load(Relaxed), gap.load(Relaxed))
}

#[test]
fn the_edges_between_two_polls_are_bounded() {
    for directed in [false, true] {
        let edges = 30_000;
        let shapes = [
            ("dense", dense(directed), directed),
            ("star", star(directed, false), !directed),
            ("weighted star", star(directed, true), directed),
            ("random", random_graph(3000, edges, directed, 0.1, 3), true),
        ];
        // A kernel reads the large graphs in the same way with and without directions.
        for (shape, g, _) in shapes.into_iter().filter(|(_, _, quick)| *quick || is_deep()) {
            let g = Counted::new(g);
            for (name, kernel) in kernels() {
                if !g.contains(VertexId(0)) {
                    continue;
                }
                g.long_parts.store(0, Relaxed);
                let (polls, most) = polls(&kernel, &g);
                // A kernel gets the list that makes a poll necessary before that poll, and it may get a list
                // twice.
                assert!(
                    most <= 3 * BETWEEN,
                    "{name}, {shape}, directed {directed}: {most} edges between two polls"
                );
                let parts = g.long_parts.load(Relaxed);
                assert!(
                    polls >= parts,
                    "{name}, {shape}, directed {directed}: {polls} polls in {parts} parts"
                );
                let reads_hub = ["bfs top-down", "sssp", "tc", "lcc", "cdlp"].contains(&name)
                    || (name == "pagerank" && !directed);
                assert!(
                    !shape.ends_with("star") || !reads_hub || parts >= 3,
                    "{name}, {shape}: no hub was read"
                );
            }
        }
    }
}

/// PageRank and the bottom-up levels of BFS poll once for each subgraph. So the test compares with a graph of
/// as many vertices and levels, in which no kernel reads a long list. The difference is the number of polls
/// within the list of the hub.
#[test]
fn a_hub_is_read_with_polls_between() {
    let parts = 3;
    let hub = Counted::new(star(false, false));
    let bound = hub.vertex_bound() as u32;
    let ring: Vec<(u32, u32)> = (0..bound).map(|v| (v, (v + 1) % bound)).collect();
    let ring = Counted::new(plain_graph(bound as usize, &ring, false));
    let ranks = registered(registry::find("pagerank").expect("listed"));
    let (with, without) = (polls(&ranks, &hub).0, polls(&ranks, &ring).0);
    assert!(with >= without + 3 * parts, "pagerank: {with} polls with a hub, {without} without");
    // A search from the least neighbor finds the hub at once. A search from the largest one looks at all
    // other neighbors first.
    const BOTTOM_UP: BfsConfig =
        BfsConfig { direction: Direction::Out, alpha: u32::MAX, beta: u32::MAX, hops: u32::MAX };
    let from_least = bfs_by(BOTTOM_UP);
    let from_largest: Kernel = Box::new(|g, cancel| {
        bfs_until(g, VertexId(g.vertex_bound() as u32 - 1), &BOTTOM_UP, cancel).map(drop)
    });
    let (with, without) = (polls(&from_largest, &hub).0, polls(&from_least, &hub).0);
    assert!(with >= without + parts, "bfs bottom-up: {with} polls in the list, {without} without it");
}

#[test]
fn a_kernel_ends_soon_after_the_flag_is_raised() {
    for g in [dense(false), star(true, true)] {
        let g = Counted::new(g);
        for (name, kernel) in kernels() {
            let (all, _) = polls(&kernel, &g);
            for (at, threads) in [(2, 3), (all / 3, 1), (all / 2, 3), (all - 1, 1)] {
                let raised = Arc::new(AtomicUsize::new(usize::MAX));
                let (count, handed_out, when) = (AtomicUsize::new(0), g.handed_out.clone(), raised.clone());
                let cancel = Cancel::asking(move || {
                    let raise = count.fetch_add(1, Relaxed) + 1 >= at.max(1);
                    if raise {
                        when.fetch_min(handed_out.load(Relaxed), Relaxed);
                    }
                    raise
                });
                let ended = with_threads(threads, || kernel(&g, &cancel));
                assert_eq!(ended, Err(KernelError::Cancelled), "{name} at poll {at} of {all}");
                let after = g.handed_out.load(Relaxed) - raised.load(Relaxed);
                assert!(after <= 3 * BETWEEN * threads, "{name} at poll {at} of {all}: {after} edges more");
            }
        }
    }
}

#[test]
fn a_raised_flag_stays_raised() {
    let cancel = Cancel::new();
    let g = Counted::new(plain_graph(3, &[(0, 1), (1, 2)], true));
    kernels().iter().for_each(|(name, kernel)| assert_eq!(kernel(&g, &cancel), Ok(()), "{name}"));
    let before = g.handed_out.load(Relaxed);
    cancel.clone().cancel();
    for (name, kernel) in kernels() {
        assert_eq!(kernel(&g, &cancel), Err(KernelError::Cancelled), "{name}");
    }
    assert_eq!(g.handed_out.load(Relaxed), before, "nothing is read");
}

#[test]
fn another_thread_ends_a_kernel() {
    let g = dense(false);
    let (cancel, begun) = (Cancel::new(), Arc::new(AtomicUsize::new(0)));
    let polled = begun.clone();
    let other = cancel.clone();
    let asking = Cancel::asking(move || {
        polled.fetch_add(1, Relaxed);
        cancel.is_cancelled()
    });
    let impatient = std::thread::spawn(move || {
        while begun.load(Relaxed) < 100 {
            std::thread::yield_now();
        }
        other.cancel();
    });
    // Without the flag, the kernel would take days.
    let config = PageRankConfig { iterations: u32::MAX, ..PageRankConfig::default() };
    assert_eq!(pagerank_until::<f32, _>(&g, &config, &asking), Err(KernelError::Cancelled));
    impatient.join().expect("it cancels");
}

/// All cycles go through one neighbor of the source. Once the search reaches the limit, it also drops the
/// remaining ways of that neighbor.
#[test]
fn a_search_for_cycles_reads_no_lists_behind_its_limit() {
    const WIDE: u32 = 30;
    let layer = |at: u32| (0..WIDE).map(move |i| 2 + at * WIDE + i);
    let between = (0..2).flat_map(|at| layer(at).flat_map(move |u| layer(at + 1).map(move |v| (u, v))));
    let ends = layer(0).map(|v| (1, v)).chain(layer(2).map(|v| (v, 0)));
    let edges: Vec<(u32, u32)> = [(0, 1)].into_iter().chain(ends).chain(between).collect();
    let read = |count| {
        let g = Counted::new(plain_graph(2 + 3 * WIDE as usize, &edges, true));
        let config = CycleConfig { length: 5, limit: 10, count, ..CycleConfig::default() };
        let found = cycles_through(&g, VertexId(0), &config).expect("live");
        assert_eq!((found.len(), found.more(), found.count().is_some()), (10, true, count));
        g.handed_out.load(Relaxed)
    };
    // A search for all cycles reads 30 lists of 30 entries for each of the 30 neighbors.
    let (all, stopped) = (read(true), read(false));
    assert!(stopped + 27_000 - 1_000 < all, "{stopped} of {all}");
}
