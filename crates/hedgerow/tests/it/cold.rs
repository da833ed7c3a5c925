//! Point reads of data outside memory return the same as a resident store. They read no more from the files
//! than necessary.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow::io::{CorruptionKind, CountingFs, IoCounters};
use hedgerow::{
    Direction, Durability, EdgeKey, EdgePattern, Error, Graph, KeyKind, KindId, LEAST_MEMORY_LIMIT,
    LabelOptions, Options, PropertyType, Snapshot, StorageError, Value, VertexId,
};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::SplitMix64;

use crate::common;

/// The number of vertices of a page, and of a subgraph.
const PAGE: u64 = 4096;
const CHAIN: u64 = 64;

pub(crate) fn options(directed: bool) -> Options {
    let options = common::small().keys(KeyKind::Dense).directed(directed).durability(Durability::Manual);
    options.background_settling(false)
}

/// The same graph twice: one store with all data in memory, and one store with a memory limit and most data
/// in files.
pub(crate) struct Pair {
    options: Options,
    disk: SimFs,
    pub(crate) resident: Graph,
    pub(crate) cold: Graph,
    weighted: bool,
    pub(crate) rng: SplitMix64,
}

/// Returns the result of read number `which` for the vertex `v` and an edge to `w`.
pub(crate) fn read(snapshot: &Snapshot, which: u64, v: u64, w: u64) -> String {
    let (out, incoming, id) = (Direction::Out, Direction::In, VertexId(v as u32));
    let calls = EdgeKey::new("calls", v, w).rank(w % 3);
    let listed = |mut list: Vec<(VertexId, String)>| {
        list.sort();
        format!("{list:?}")
    };
    match which % 22 {
        0 => format!("{:?}", snapshot.contains_edge((v, w)).unwrap()),
        1 => format!("{:?}", snapshot.default_label().weight_between(v, w).unwrap()),
        2 => format!("{:?}", snapshot.degree(v, out).unwrap()),
        3 => format!("{:?}", snapshot.degree(v, incoming).unwrap()),
        4 => format!("{:?}", snapshot.neighbors(v, out).unwrap()),
        5 => format!("{:?}", snapshot.neighbors(v, incoming).unwrap()),
        6 => format!("{:?}", snapshot.default_label().weighted_neighbors(v, out).unwrap()),
        7 => format!("{:?}", snapshot.contains_edge(calls).unwrap()),
        8 => format!("{:?}", snapshot.edge_properties(calls).unwrap()),
        9 => format!("{:?}", snapshot.edge_list(v, ("calls", out)).unwrap()),
        10 => format!("{:?}", snapshot.edge_list(v, ("calls", incoming)).unwrap()),
        11 => format!("{:?}", snapshot.edges(v, ("calls", out)).unwrap()),
        12 => format!("{:?}", snapshot.degree(v, ("calls", incoming)).unwrap()),
        13 => format!("{:?}", snapshot.vertex_properties(v).unwrap()),
        14 => format!("{:?}", snapshot.contains_vertex(v).unwrap()),
        15 => format!("{:?}", snapshot.edge_property(calls, "note").unwrap()),
        16 => {
            let mut list = Vec::new();
            let take = |run: &[VertexId], weights: &[f64]| {
                list.extend(run.iter().enumerate().map(|(i, v)| (*v, format!("{:?}", weights.get(i)))));
            };
            snapshot.default_label().visit_neighbors(id, out, take).unwrap();
            listed(list)
        }
        17 => {
            let (mut cursor, mut list) = (snapshot.default_label().neighbor_cursor(out), Vec::new());
            for at in v.saturating_sub(2)..v + 3 {
                cursor
                    .visit(VertexId(at as u32), |run, _| {
                        list.extend(run.iter().map(|v| (*v, at.to_string())))
                    })
                    .unwrap();
            }
            listed(list)
        }
        18 => format!("{:?}", snapshot.edge_properties(EdgeKey::new("", v, w)).unwrap()),
        19 => format!("{:?}", snapshot.contains_edge(EdgePattern::between(v, w)).unwrap()),
        20 => format!("{:?}", snapshot.edge_list(v, out).unwrap()),
        _ => format!("{:?}", snapshot.vertex_property(v, "name").unwrap()),
    }
}

impl Pair {
    pub(crate) fn new(seed: u64, directed: bool, reverse: bool, weighted: bool) -> Pair {
        let (disk, options) = (SimFs::new(), options(directed).reverse(reverse).weighted(weighted));
        let limited = options.clone().memory_limit(LEAST_MEMORY_LIMIT);
        let cold = limited.clone().open_on(disk.handle()).unwrap();
        let resident = options.in_memory().unwrap();
        let pair = Pair { options: limited, disk, resident, cold, weighted, rng: SplitMix64::new(seed) };
        for graph in [&pair.resident, &pair.cold] {
            let calls = LabelOptions::new().multi(true);
            let calls = calls.property("note", PropertyType::Utf8).property("n", PropertyType::I64);
            graph.define_label("calls", calls).unwrap();
            graph.define_vertex_property(KindId::DEFAULT, "name", PropertyType::Utf8).unwrap();
        }
        pair
    }

    /// Returns a vertex on one of three pages, often the hub.
    pub(crate) fn vertex(&mut self) -> u64 {
        match self.rng.below(6) {
            0 => 70,
            _ => self.rng.below(3) * PAGE + self.rng.below(40) * 37,
        }
    }

    /// Makes a vertex with tens of thousands of neighbors, some of them with ranks and properties.
    pub(crate) fn make_hub(&mut self) {
        let (weighted, edges) = (self.weighted, (0..24_000).map(|v| (70, v / 2 * 3, v as f64)));
        for graph in [&self.resident, &self.cold] {
            let mut tx = graph.write().unwrap();
            match weighted {
                true => tx.put_edges(edges.clone()).unwrap(),
                false => tx.put_edges(edges.clone().map(|(a, b, _)| (a, b))).unwrap(),
            }
            for v in 0..6_000_u64 {
                let edge = EdgeKey::new("calls", 70, v / 2).rank(v % 2);
                tx.put_edge_with(edge, [("n", v as i64)]).unwrap();
            }
            tx.commit().unwrap();
        }
    }

    pub(crate) fn write(&mut self) {
        let ops: Vec<_> = (0..60).map(|_| (self.rng.below(12), self.vertex(), self.vertex())).collect();
        for graph in [&self.resident, &self.cold] {
            let mut tx = graph.write().unwrap();
            for &(op, a, b) in &ops {
                let calls = EdgeKey::new("calls", a, b).rank(b % 3);
                match op {
                    0 if a != 70 => _ = tx.remove_vertex(a).unwrap(),
                    1 => _ = tx.remove_edge((a, b)).unwrap(),
                    2 => _ = tx.remove_edge(calls).unwrap(),
                    3..6 => tx.put_edge_with(calls, [("note", format!("from {a} to {b}"))]).unwrap(),
                    6 => tx.put_edge_with(calls, [("n", (a ^ b) as i64)]).unwrap(),
                    7 => tx.put_vertex_with(a, [("name", Value::from(format!("v{a}").as_str()))]).unwrap(),
                    _ if self.weighted => tx.put_edge((a, b, (a * b) as f64)).unwrap(),
                    _ => tx.put_edge((a, b)).unwrap(),
                }
            }
            tx.commit().unwrap();
        }
    }

    /// Moves all of the cold graph to files, most of the time.
    fn cool(&mut self) {
        match self.rng.below(5) {
            0 => {}
            1 => _ = self.cold.compact().unwrap(),
            _ => _ = self.cold.checkpoint().unwrap(),
        }
        if self.rng.below(3) == 0 {
            self.cold.close().unwrap();
            self.cold = self.options.clone().open_on(self.disk.handle()).unwrap();
        } else {
            self.cold.internals().evict().unwrap();
        }
    }

    fn compare(&mut self, reads: u64) {
        let snapshots = [self.resident.snapshot().unwrap(), self.cold.snapshot().unwrap()];
        for _ in 0..reads {
            let (which, v, w) = (self.rng.next_u64(), self.vertex(), self.vertex());
            let [resident, cold] = snapshots.each_ref().map(|snapshot| read(snapshot, which, v, w));
            assert!(resident == cold, "read {} of {v} and {w}: {resident} and {cold}", which % 22);
        }
    }

    fn run(mut self, rounds: u64) {
        self.make_hub();
        for _ in 0..rounds {
            self.write();
            self.cool();
            // First a few reads, so that most of them are the first read of their chain. Then writes to some
            // chains that are not in memory.
            self.compare(20);
            self.write();
            self.compare(60);
        }
        assert!(self.cold.check().unwrap().is_ok());
        common::account::check(&self.cold).unwrap();
    }
}

pub(crate) fn cold_reads_say_what_a_resident_store_says() {
    let graphs = [(true, true, false), (false, true, true), (true, false, true), (true, true, true)];
    for (seed, (directed, reverse, weighted)) in graphs.into_iter().enumerate() {
        Pair::new(seed as u64, directed, reverse, weighted).run(16);
    }
}

/// Makes a store with this number of pages, with `rounds` edges from each vertex, in one segment, and closes
/// it.
fn store_of(pages: u64, rounds: u64) -> SimFs {
    let disk = SimFs::new();
    let graph = options(true).open_on(disk.handle()).unwrap();
    for round in 0..rounds {
        let edges: Vec<_> = (0..pages * PAGE).map(|v| (v, neighbor(v, round, pages))).collect();
        graph.insert_edges(&edges).unwrap();
    }
    graph.compact().unwrap();
    graph.close().unwrap();
    disk
}

fn neighbor(v: u64, round: u64, pages: u64) -> u64 {
    (v * 7919 + (round + 1) * 104_729) % (pages * PAGE)
}

/// Opens a store with a limit; also returns the counters of its reads.
pub(crate) fn counted(disk: &SimFs, options: Options) -> (Graph, Arc<IoCounters>) {
    let fs = CountingFs::new(disk.handle());
    let counters = fs.counters();
    (options.memory_limit(LEAST_MEMORY_LIMIT).open_on(Arc::new(fs)).unwrap(), counters)
}

pub(crate) fn reads_of<R>(counters: &IoCounters, f: impl FnOnce() -> R) -> (u64, R) {
    let before = counters.reads.load(Relaxed);
    let found = f();
    (counters.reads.load(Relaxed) - before, found)
}

/// Reads one chain once; the kind of read depends on the vertex.
fn point_read(snapshot: &Snapshot, v: u64, pages: u64) {
    match v / CHAIN % 5 {
        0 => assert!(snapshot.contains_edge((v, neighbor(v, 0, pages))).unwrap()),
        1 => assert!(!snapshot.contains_edge((v, v)).unwrap()),
        2 => assert_eq!(snapshot.degree(v, Direction::Out).unwrap(), Some(3)),
        3 => {
            assert_eq!(snapshot.default_label().weight_between(v, neighbor(v, 1, pages)).unwrap(), Some(1.0))
        }
        _ => assert_eq!(snapshot.neighbors(v, Direction::Out).unwrap().unwrap().len(), 3),
    }
}

/// Each chain takes one read, in any of the segments that have its page. Before the first read on a page, the
/// store reads one directory of each of these segments.
pub(crate) fn reads_of_what_is_not_in_memory_are_counted() {
    const PAGES: u64 = 6;
    let disk = store_of(PAGES, 3);
    let touch_pages = |sources: u64| {
        let (graph, counters) = counted(&disk, options(true));
        let snapshot = graph.snapshot().unwrap();
        let mut blocks = 0;
        for page in 0..PAGES {
            let chains = || (page * PAGE..(page + 1) * PAGE).step_by(CHAIN as usize);
            // Only chains whose vertices the loop below does not look up again: a second look-up would load
            // the page.
            let (reads, ()) = reads_of(&counters, || {
                let first = chains().filter(|v| matches!(v / CHAIN % 5, 0 | 1 | 3));
                first.for_each(|v| assert!(snapshot.contains_vertex(v).unwrap()));
            });
            assert!((1..=sources).contains(&reads), "{reads} directories of {sources} segments");
            for v in chains().map(|v| v + v / CHAIN * 11 % CHAIN) {
                let (reads, ()) = reads_of(&counters, || point_read(&snapshot, v, PAGES));
                assert!(reads <= 1, "{reads} reads for vertex {v}");
                blocks += reads;
            }
        }
        // Few of the records are in a block that was read before.
        assert!(blocks > PAGES * 10, "{blocks} blocks");
        common::account::check(&graph).unwrap();
    };
    touch_pages(1);
    // A few changes in newer segments, on all pages.
    let graph = options(true).open_on(disk.handle()).unwrap();
    for round in 0..3 {
        for v in (0..PAGES * PAGE).step_by(700) {
            let edge = (v + round, neighbor(v + round, 0, PAGES));
            graph.remove_edge((edge.0, edge.1)).unwrap();
            graph.insert_edge((edge.0, edge.1)).unwrap();
        }
        graph.checkpoint().unwrap();
    }
    graph.close().unwrap();
    let segments = || disk.files().keys().filter(|name| name.ends_with(".csr")).count() as u64;
    let sources = segments();
    assert!(sources > 1, "{sources} segments");
    touch_pages(sources);
    options(true).open_on(disk.handle()).unwrap().compact().unwrap();
    assert_eq!(segments(), 1);
    touch_pages(1);
}

/// A read of the list of a hub takes one read for each piece, and one for the head. A read of one edge takes
/// a search.
pub(crate) fn reads_of_a_hub_are_counted() {
    const DEGREE: u64 = 100_000;
    let disk = SimFs::new();
    let graph = options(true).open_on(disk.handle()).unwrap();
    let edges: Vec<_> = (0..DEGREE).map(|v| (7, v)).collect();
    graph.insert_edges(&edges).unwrap();
    graph.compact().unwrap();
    graph.close().unwrap();
    let pieces = DEGREE.div_ceil(13_104);
    let list = on_opening(&disk, |snapshot| snapshot.neighbors(7_u64, Direction::Out).unwrap());
    assert_eq!((list.0, list.1.unwrap().len() as u64), (2 + pieces, DEGREE), "directory, head, pieces");
    let degree = on_opening(&disk, |snapshot| snapshot.degree(7_u64, Direction::Out).unwrap());
    assert_eq!(degree, (2, Some(DEGREE as usize)), "directory and head");
    for dst in [0, 1, 50_000, DEGREE - 1, DEGREE, 3 * DEGREE] {
        let (reads, found) = on_opening(&disk, |snapshot| snapshot.contains_edge((7_u64, dst)).unwrap());
        assert!(reads <= 2 + 4 && found == (dst < DEGREE), "{reads} reads for {dst}");
    }
}

/// Makes the first read of a newly opened store; returns the number of file reads and the result.
fn on_opening<R>(disk: &SimFs, f: impl FnOnce(&Snapshot) -> R) -> (u64, R) {
    let (graph, counters) = counted(disk, options(true));
    let snapshot = graph.snapshot().unwrap();
    reads_of(&counters, || f(&snapshot))
}

/// The store loads a chain that is read again, and leaves a chain that is read once in the files.
pub(crate) fn a_chain_that_is_read_again_comes_into_memory() {
    let disk = store_of(4, 3);
    let (graph, counters) = counted(&disk, options(true));
    let snapshot = graph.snapshot().unwrap();
    let tables = || graph.stats().unwrap().table_bytes;
    let before = tables();
    (PAGE / CHAIN..4 * PAGE / CHAIN).for_each(|chain| point_read(&snapshot, chain * CHAIN, 4));
    point_read(&snapshot, 5 * CHAIN, 4);
    assert_eq!(tables(), before, "no page was loaded");
    point_read(&snapshot, 5 * CHAIN + 1, 4);
    assert!(tables() > before, "one was");
    let all_of_page = || reads_of(&counters, || (0..PAGE).for_each(|v| point_read(&snapshot, v, 4))).0;
    assert_eq!(all_of_page(), 0);
    // After eviction, the chains of the page come back one by one.
    assert!(graph.internals().evict().unwrap() > 0);
    let blocks = || graph.stats().unwrap().arena_block_bytes;
    let (before, first) = (blocks(), |chain: u64| chain * CHAIN);
    (0..PAGE / CHAIN).for_each(|chain| point_read(&snapshot, first(chain), 4));
    assert_eq!(blocks(), before, "read from where they are");
    (0..PAGE / CHAIN).for_each(|chain| point_read(&snapshot, first(chain) + 1, 4));
    assert!(blocks() > before, "read into memory");
    assert_eq!(all_of_page(), 0);
    common::account::check(&graph).unwrap();
}

/// A damaged block is an error of each read of this block, and of no other read. The store keeps nothing of
/// the block.
pub(crate) fn a_damaged_block_is_an_error_of_each_read_of_it() {
    let disk = store_of(2, 1);
    let sound = disk.files();
    let segment = sound.keys().find(|name| name.ends_with(".csr")).unwrap().clone();
    for place in 1..6 {
        // The place is in the blocks, which precede the directories.
        let at = sound[&segment].len() as u64 * place / 9;
        let (graph, _) = counted(&disk, options(true));
        let snapshot = graph.snapshot().unwrap();
        assert!(disk.corrupt(&segment, at, 0x04));
        let mut bad = Vec::new();
        for chain in 0..2 * PAGE / CHAIN {
            let (v, mut list) = (chain * CHAIN + 3, Vec::new());
            let id = VertexId(v as u32);
            match snapshot
                .default_label()
                .visit_neighbors(id, Direction::Out, |run, _| list.extend_from_slice(run))
            {
                Ok(()) => assert_eq!(list, [VertexId(neighbor(v, 0, 2) as u32)], "{v}"),
                Err(error) => bad.push(error),
            }
        }
        let sites: Vec<u64> = bad
            .iter()
            .map(|error| match error {
                Error::Storage(StorageError::Corruption(damage)) => {
                    assert!(damage.file == segment && damage.offset <= at, "{damage}");
                    assert!(matches!(damage.kind, CorruptionKind::Checksum { .. }), "{damage}");
                    damage.offset
                }
                error => panic!("{error}"),
            })
            .collect();
        assert!(sites.len() > 3 && sites.iter().all(|site| *site == sites[0]), "{sites:?}");
        assert!(disk.corrupt(&segment, at, 0x04), "the same bit again");
        (0..2 * PAGE).for_each(|v| assert!(snapshot.contains_edge((v, neighbor(v, 0, 2))).unwrap()));
    }
}
