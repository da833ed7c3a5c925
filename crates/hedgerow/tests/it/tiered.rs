//! Tiered kernels and scans, with only a part of the graph in memory: they return the same results as in
//! memory, in bounded memory.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use hedgerow::{
    Direction, Durability, Error, Graph, KernelView, KeyKind, Options, Snapshot, StorageError, TieredView,
    Topology, VertexId,
};
use hedgerow_analytics::{run_by_page, run_resident};
use hedgerow_core::SubgraphId;
use hedgerow_kernels::registry::{self, Arguments, Outcome};
use hedgerow_kernels::{Cancel, KernelError};
use hedgerow_testkit::conformance::{PlainGraph, check_runs};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{SimFs, explored, is_deep};

use crate::common;

mod world;

use world::World;

/// The number of vertices of a page.
const PAGE: u64 = 4096;

#[derive(Clone, Copy, Debug)]
struct Kind {
    directed: bool,
    weighted: bool,
    reverse: bool,
}

const KINDS: [Kind; 4] = [
    Kind { directed: true, weighted: true, reverse: true },
    Kind { directed: false, weighted: false, reverse: true },
    Kind { directed: true, weighted: false, reverse: false },
    Kind { directed: false, weighted: true, reverse: true },
];

impl Kind {
    fn options(self) -> Options {
        let Kind { directed, weighted, reverse } = self;
        let options = common::small().keys(KeyKind::Dense).directed(directed).weighted(weighted);
        options.reverse(reverse).durability(Durability::Manual).background_settling(false)
    }
}

fn put(graph: &Graph, kind: Kind, edges: &[(u64, u64)]) {
    if kind.weighted {
        let weighted = edges.iter().map(|&(a, b)| (a, b, ((a * 31 + b) % 97 + 1) as f64));
        let mut tx = graph.write().unwrap();
        tx.put_edges(weighted).unwrap();
        tx.commit().unwrap();
    } else {
        graph.insert_edges(edges).unwrap();
    }
}

/// Makes a closed graph with some hubs and some ids without a vertex, with all data in segments.
fn store_of(kind: Kind, pages: u64, edges: u64) -> SimFs {
    let disk = SimFs::new();
    let graph = kind.options().open_on(disk.handle()).unwrap();
    let (bound, mut rng) = (pages * PAGE, SplitMix64::new(pages));
    for _ in 0..edges.div_ceil(1 << 16) {
        let mut edge = |_| {
            let hub = rng.below(16) == 0;
            let (a, b) = (
                if hub { rng.below(4) * 5_000 } else { rng.below(bound) },
                rng.below(bound / 64) * 64 + rng.below(60),
            );
            (a, b)
        };
        put(&graph, kind, &(0..1 << 16).map(&mut edge).collect::<Vec<_>>());
    }
    graph.compact().unwrap();
    graph.close().unwrap();
    disk
}

/// Returns all kernels except those that need all edges in memory at once.
fn kernels() -> Vec<Arguments> {
    let kernels = registry::KERNELS.iter().filter(|kernel| !kernel.needs_resident);
    let told = |kernel: &&'static registry::Kernel| {
        let mut arguments = kernel.trial(VertexId(0), VertexId(1));
        // A walk begins at each vertex, and each of its steps reads a list at a random place.
        if kernel.parameter("steps").is_some() {
            arguments.set("steps", 3_u32).unwrap();
        }
        arguments
    };
    kernels.map(told).collect()
}

fn in_memory(snapshot: &Snapshot) -> Vec<Outcome> {
    these_in_memory(&kernels(), snapshot)
}

fn these_in_memory(kernels: &[Arguments], snapshot: &Snapshot) -> Vec<Outcome> {
    let view = snapshot.default_label().view().unwrap();
    kernels.iter().map(|arguments| run_resident(arguments, view, &Cancel::new()).unwrap()).collect()
}

fn by_page(view: &TieredView) -> Vec<Outcome> {
    these_by_page(&kernels(), view)
}

fn these_by_page(kernels: &[Arguments], view: &TieredView) -> Vec<Outcome> {
    kernels.iter().map(|arguments| run_by_page(arguments, view, &Cancel::new()).unwrap()).collect()
}

fn agree(found: &[Outcome], expected: &[Outcome]) {
    assert!(found.len() >= 5 && expected.len() == found.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.agrees_with(expected, 1e-12), "{:?}", expected.kind());
    }
}

/// Returns the sums over a full scan.
fn scan(snapshot: &Snapshot) -> (u64, u64, f64) {
    let (mut edges, mut mixed, mut sum) = (0, 0_u64, 0.0);
    let edge = |a: VertexId, b: VertexId, weight: f64| {
        edges += 1;
        mixed =
            mixed.wrapping_add((u64::from(a.0) << 32 | u64::from(b.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        sum += weight;
    };
    snapshot.default_label().for_each_edge(edge).unwrap();
    (edges, mixed, sum)
}

/// Kernels that read a graph in different ways: from a frontier, with weights, all lists, the first neighbors
/// of all, in rounds over changed vertices, from many sources, and single lists at random.
const OF_EACH_WAY: [&str; 7] = ["bfs", "sssp", "pagerank", "wcc", "kcore", "betweenness", "walks"];

/// A graph opens with a limit of a third to a half of its size in memory, and returns the same results as
/// without a limit. The account stays within the limit, and no list stays after the scanning threads end. The
/// kernels take long, so in a deep run each of them uses one of the two graphs.
#[test]
fn kernels_and_scans_of_a_graph_larger_than_its_limit_give_what_they_give_in_memory() {
    for (turn, kind) in [KINDS[0], KINDS[3]].into_iter().enumerate() {
        let is_tried = |(n, arguments): &(usize, Arguments)| {
            if is_deep() { n % 2 == turn } else { OF_EACH_WAY.contains(&arguments.kernel().name) }
        };
        let kernels: Vec<Arguments> =
            kernels().into_iter().enumerate().filter(is_tried).map(|(_, all)| all).collect();
        assert!(is_deep() || kernels.len() == OF_EACH_WAY.len());
        let disk = store_of(kind, 24, 1_400_000);
        let whole = kind.options().open_on(disk.handle()).unwrap();
        let snapshot = whole.snapshot().unwrap();
        let (expected, scanned) = (these_in_memory(&kernels, &snapshot), scan(&snapshot));
        let settled = whole.stats().unwrap().memory_bytes();
        drop((snapshot, whole));
        let limit = hedgerow::LEAST_MEMORY_LIMIT;
        assert!(settled > 2 * limit, "{settled} bytes in memory, {limit} allowed");
        let graph = kind.options().memory_limit(limit).open_on(disk.handle()).unwrap();
        let snapshot = graph.snapshot().unwrap();
        assert_eq!(scan(&snapshot), scanned);
        let view = KernelView::new(&snapshot, Direction::Out).unwrap();
        let KernelView::Tiered(view) = view else { panic!("{kind:?}: it fits") };
        let (found, most) = most_used(&graph, || these_by_page(&kernels, &view));
        agree(&found, &expected);
        let triangles = run_by_page(&registry::find("tc").unwrap().arguments(), &view, &Cancel::new());
        assert!(matches!(triangles, Err(KernelError::NotResident { kernel: "tc" })));
        assert!(most <= limit, "{most} of {limit}");
        check_account(&graph, &view, limit);
        let (ids, keys) = snapshot.scan_vertices().unwrap().keys().unwrap();
        assert_eq!((ids.len() as u64, keys.len()), (snapshot.vertex_count(), ids.len()));
        drop((view, snapshot));
        assert_eq!(common::account::check(&graph).unwrap().view_bytes, 0, "{kind:?}");
    }
}

/// Returns the result of `f`, and the highest number of bytes in the account meanwhile.
fn most_used<R>(graph: &Graph, f: impl FnOnce() -> R) -> (R, u64) {
    let (over, most) = (AtomicBool::new(false), AtomicU64::new(0));
    let found = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Relaxed) {
                most.fetch_max(graph.stats().unwrap().memory_bytes(), Relaxed);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let _end = End(&over);
        f()
    });
    (found, most.into_inner())
}

/// Checks the account while one thread scans and memory is full: it includes the bytes of the scan, and stays
/// within the limit.
fn check_account(graph: &Graph, view: &TieredView, limit: u64) {
    for v in 0..20_000 {
        view.snapshot().degree(v * 3, Direction::Out).unwrap();
    }
    let before = graph.stats().unwrap();
    let (mut most, mut views) = (0, 0);
    let all = SubgraphId(0)..SubgraphId(view.vertex_bound().div_ceil(64) as u32);
    let scanned = view.scan(all, Direction::Out, |id, _| {
        if id.0 % 64 == 63 {
            let stats = graph.stats().unwrap();
            (most, views) = (most.max(stats.memory_bytes()), views.max(stats.view_bytes));
        }
        ControlFlow::Continue(())
    });
    scanned.unwrap();
    assert!(most <= limit && views > 64 << 10, "{most} of {limit}, {views}; {before:?}");
    let after = graph.stats().unwrap();
    assert_eq!(after.table_bytes, before.table_bytes, "a scan loads no page");
    assert!(after.arena_block_bytes <= before.arena_block_bytes, "and puts no list into memory");
}

#[test]
fn views_by_the_page_answer_as_plain_graphs_do_whatever_is_in_memory() {
    let evicted = (0..8).map(|seed| World::new(seed, KINDS[seed as usize % 4]).run()).sum::<usize>();
    explored("subgraphs taken out of memory before they were read by the page", evicted as u64, 500);
}

/// An open tiered view returns the same results as before while a tenth of the edges change.
#[test]
fn a_held_view_by_the_page_gives_the_same_while_the_graph_changes() {
    for (turn, kind) in [KINDS[0], KINDS[1]].into_iter().enumerate() {
        // Each kernel uses one of the graphs; a kernel that needs weights or directions uses the graph with
        // them.
        let is_tried = |(n, arguments): &(usize, Arguments)| {
            let needs = ["scc", "wpath", "wcloseness", "wwalks"].contains(&arguments.kernel().name);
            is_deep() || if needs { turn == 0 } else { n % 2 == turn }
        };
        let kernels = kernels().into_iter().enumerate().filter(is_tried).map(|(_, arguments)| arguments);
        let kernels: Vec<Arguments> = kernels.collect();
        let disk = store_of(kind, 4, 100_000);
        let graph = kind.options().memory_limit(hedgerow::LEAST_MEMORY_LIMIT).open_on(disk.handle()).unwrap();
        let snapshot = graph.snapshot().unwrap();
        let view = TieredView::new(&snapshot, "").unwrap();
        let (before, scanned) = (these_by_page(&kernels, &view), scan(&snapshot));
        let mut rng = SplitMix64::new(1);
        for round in 0..10 {
            put(
                &graph,
                kind,
                &(0..1_000).map(|_| (rng.below(4 * PAGE), rng.below(4 * PAGE))).collect::<Vec<_>>(),
            );
            if round % 3 == 0 {
                graph.checkpoint().unwrap();
                graph.internals().write_page_versions().unwrap();
                assert!(graph.internals().evict().unwrap() > 0);
            }
        }
        agree(&these_by_page(&kernels, &view), &before);
        assert_eq!(scan(&snapshot), scanned);
        let now = graph.snapshot().unwrap();
        assert_ne!(now.edge_count().unwrap(), snapshot.edge_count().unwrap());
        let again = these_by_page(&kernels, &TieredView::new(&now, "").unwrap());
        agree(&again, &these_in_memory(&kernels, &now));
    }
}

/// A graph without incoming lists: kernels do not need them, or find incoming edges in as many passes as
/// memory requires.
#[test]
fn kernels_by_the_page_find_incoming_edges_that_are_not_kept() {
    let kind = KINDS[2];
    let disk = store_of(kind, 6, 200_000);
    let limit = hedgerow::LEAST_MEMORY_LIMIT;
    let graph = kind.options().memory_limit(limit).open_on(disk.handle()).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let view = TieredView::new(&snapshot, "").unwrap();
    let against = |direction: Direction| {
        let mut arguments = registry::find("bfs").unwrap().arguments();
        arguments.set("source", VertexId(64)).unwrap();
        arguments.set("direction", direction).unwrap();
        arguments
    };
    let found = by_page(&view);
    let turned = run_by_page(&against(Direction::In), &view, &Cancel::new()).unwrap();
    agree(&found, &in_memory(&snapshot));
    let along = |direction| {
        run_resident(&against(direction), snapshot.default_label().view().unwrap(), &Cancel::new()).unwrap()
    };
    assert_eq!(turned, along(Direction::In));
    assert_ne!(turned, along(Direction::Out));
}

/// Returns a plain graph with the edges of a snapshot, and with its vertices by point reads.
fn copy(snapshot: &Snapshot, kind: Kind, vertices: usize) -> PlainGraph {
    let Kind { directed, weighted, .. } = kind;
    let mut plain = PlainGraph { directed, weighted, live: vec![false; vertices], ..PlainGraph::default() };
    for v in 0..vertices as u64 {
        plain.live[v as usize] = snapshot.contains_vertex(v).unwrap();
    }
    snapshot.for_each_edge("", |e| _ = plain.edges.insert((e.src().0, e.dst().0), 1.0)).unwrap();
    plain
}

/// Sets a flag when it is dropped.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Tiered views equal the state of their snapshots, concurrent with a writer, with checkpoints, and with an
/// evictor that does not pause.
#[test]
fn views_by_the_page_beside_a_writer_and_an_evictor_are_of_one_timestamp() {
    let kind = KINDS[1];
    let graph = kind.options().open_on(SimFs::new().handle()).unwrap();
    let (over, evicted, rounds) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let (graph, over, evicted) = (&graph, &over, &evicted);
        scope.spawn(move || {
            while !over.load(Relaxed) {
                graph.checkpoint().unwrap();
                graph.internals().write_page_versions().unwrap();
                evicted.fetch_add(graph.internals().evict().unwrap() as u64, Relaxed);
            }
        });
        scope.spawn(move || {
            let mut rng = SplitMix64::new(3);
            while !over.load(Relaxed) {
                for _ in 0..40 {
                    let (a, b) = (rng.below(2 * PAGE / 16) * 16, rng.below(2 * PAGE / 16) * 16);
                    match rng.below(3) {
                        0 => graph.remove_edge((a, b)).unwrap(),
                        _ => graph.insert_edge((a, b)).unwrap(),
                    };
                }
                // A checkpoint yields to commits.
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        // The other threads end however this one ends.
        let _end = End(over);
        // The bound is for a store that evicts nothing. It has enough rounds for an evictor that gets no
        // processor for a while.
        while rounds.load(Relaxed) < 60 || (evicted.load(Relaxed) < 1_000 && rounds.load(Relaxed) < 30_000) {
            let snapshot = graph.snapshot().unwrap();
            let view = TieredView::new(&snapshot, "").unwrap();
            let plain = copy(&snapshot, kind, 2 * PAGE as usize);
            check_runs(&view, &plain);
            std::thread::sleep(Duration::from_millis(1));
            check_runs(&view, &plain);
            rounds.fetch_add(1, Relaxed);
        }
    });
    explored("subgraphs taken out of memory beside views by the page", evicted.into_inner(), 1_000);
}

/// Damage is an error of the calls that need the damaged data, with its position; other calls succeed.
#[test]
fn damage_in_a_page_fails_what_needs_it_alone() {
    let kind = KINDS[1];
    let disk = store_of(kind, 6, 200_000);
    let sound = disk.files();
    let segment = sound.keys().find(|name| name.ends_with(".csr")).unwrap().clone();
    let graph = kind.options().open_on(disk.handle()).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let view = TieredView::new(&snapshot, "").unwrap();
    let at = sound[&segment].len() as u64 / 2;
    assert!(disk.corrupt(&segment, at, 0x10));
    let page = |page: u32| {
        let range = SubgraphId(page * 64)..SubgraphId(page * 64 + 64);
        view.scan(range, Direction::Out, |_, _| ControlFlow::Continue(()))
    };
    let bad: Vec<Error> = (0..6).filter_map(|at| page(at).err()).collect();
    let [Error::Storage(StorageError::Corruption(damage))] = &bad[..] else { panic!("{bad:?}") };
    assert!(damage.file == segment && damage.offset <= at, "{damage}");
    for arguments in kernels() {
        let outcome = run_by_page(&arguments, &view, &Cancel::new());
        let name = arguments.kernel().name;
        match outcome {
            Err(KernelError::Topology(Error::Storage(StorageError::Corruption(damage)))) => {
                assert_eq!(damage.file, segment);
            }
            // A kernel that reads only a part of the graph may not need the page.
            Ok(_) if ["path", "wpath", "cycles", "khop", "jaccard", "adamic_adar"].contains(&name) => {}
            other => panic!("{name}: {other:?}"),
        }
    }
    assert_eq!(graph.stats().unwrap().view_bytes, common::account::check(&graph).unwrap().view_bytes);
    assert!(disk.corrupt(&segment, at, 0x10), "the same bit again");
    assert!((0..6).all(|at| page(at).is_ok()));
    agree(&by_page(&view), &in_memory(&snapshot));
}
