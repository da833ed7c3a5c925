//! A store opens without its graph, and loads pages at the first access. Reads and writes then see the same
//! data as before. Long because tests of opening and of eviction share their graphs over many pages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use hedgerow::io::{CountingFs, IoCounters};
use hedgerow::{
    Direction, Durability, EdgeKey, Error, Graph, KeyKind, LabelOptions, Options, StorageError, Topology,
};
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, SplitMix64, errno};
use hedgerow_testkit::{SimFs, explored};

use crate::common;

/// The number of vertices of a page.
const PAGE: u64 = 4096;
const LABELS: [&str; 2] = ["", "calls"];

fn options(directed: bool, reverse: bool) -> Options {
    let options = common::small().keys(KeyKind::Dense).directed(directed).durability(Durability::Manual);
    options.reverse(reverse).background_settling(false)
}

/// Edges by label, with the ends in the order of the write.
type Edges = BTreeSet<(usize, u64, u64)>;

/// A graph over many pages, and a model of its content.
struct World {
    options: Options,
    disk: SimFs,
    graph: Graph,
    directed: bool,
    vertices: BTreeSet<u64>,
    edges: Edges,
    rng: SplitMix64,
}

impl World {
    fn new(seed: u64, directed: bool, reverse: bool, limited: bool) -> World {
        let (mut options, disk) = (options(directed, reverse), SimFs::new());
        if limited {
            // The limit is far above the size of the graph. With a limit, the store reads evicted data in
            // place.
            options = options.memory_limit(4 * hedgerow::LEAST_MEMORY_LIMIT);
        }
        let graph = options.clone().open_on(disk.handle()).unwrap();
        graph.define_label("calls", LabelOptions::new()).unwrap();
        let (vertices, edges) = (BTreeSet::new(), Edges::new());
        World { options, disk, graph, directed, vertices, edges, rng: SplitMix64::new(seed) }
    }

    /// Returns a vertex on one of twelve pages.
    fn vertex(&mut self) -> u64 {
        self.rng.below(12) * PAGE + self.rng.below(5) * 700
    }

    fn edge(&mut self) -> (usize, u64, u64) {
        let (label, a, b) = (self.rng.below(2) as usize, self.vertex(), self.vertex());
        if self.directed { (label, a, b) } else { (label, a.min(b), a.max(b)) }
    }

    /// Makes one transaction; in it, a removal of a vertex also removes its edges.
    fn write(&mut self) {
        let mut tx = self.graph.write().unwrap();
        for _ in 0..1 + self.rng.below(6) {
            let (label, a, b) = self.edge();
            let name = || EdgeKey::new(LABELS[label], a, b);
            match self.rng.below(8) {
                0 => {
                    assert_eq!(tx.remove_vertex(a).unwrap(), self.vertices.remove(&a), "vertex {a}");
                    self.edges.retain(|&(_, src, dst)| src != a && dst != a);
                }
                1 | 2 => {
                    let found = self.edges.remove(&(label, a, b));
                    assert_eq!(tx.remove_edge(name()).unwrap(), found, "{label} {a} {b}");
                }
                3 => {
                    let found = self.edges.contains(&(label, a, b));
                    assert_eq!(tx.contains_edge(name()).unwrap(), found, "{label} {a} {b}");
                }
                _ => {
                    tx.put_edge_with(name(), [("n", (a + b) as i64)]).unwrap();
                    self.vertices.extend([a, b]);
                    self.edges.insert((label, a, b));
                }
            }
        }
        tx.commit().unwrap();
    }

    /// Writes edges of the default label: a single operation and one batch.
    fn write_otherwise(&mut self) {
        let (_, a, b) = self.edge();
        assert_eq!(self.graph.insert_edge((a, b)).unwrap(), self.edges.insert((0, a, b)), "{a} {b}");
        self.vertices.extend([a, b]);
        let batch: Vec<(u64, u64)> = (0..9).map(|_| self.edge()).map(|(_, a, b)| (a, b)).collect();
        self.graph.insert_edges(&batch).unwrap();
        for (a, b) in batch {
            self.vertices.extend([a, b]);
            self.edges.insert((0, a, b));
        }
    }

    /// Makes point reads of some vertices; most pages stay in the files.
    fn read_some(&mut self) {
        for _ in 0..3 {
            let (label, a, b) = self.edge();
            let snapshot = self.graph.snapshot().unwrap();
            let exists = self.edges.contains(&(label, a, b));
            assert_eq!(snapshot.contains_edge(EdgeKey::new(LABELS[label], a, b)).unwrap(), exists);
            let degree =
                self.edges.iter().filter(|&&(l, s, d)| l == label && (s == a || (!self.directed && d == a)));
            let wanted = self.vertices.contains(&a).then_some(degree.count());
            assert_eq!(snapshot.degree(a, (LABELS[label], Direction::Out)).unwrap(), wanted, "degree of {a}");
        }
    }

    /// Compares the whole graph with the model, and checks the store.
    fn compare(&self) {
        let snapshot = self.graph.snapshot().unwrap();
        let counts = (snapshot.vertex_count(), snapshot.edge_count().unwrap());
        assert_eq!(counts, (self.vertices.len() as u64, self.edges.len() as u64));
        let mut found = Edges::new();
        for (label, name) in LABELS.iter().enumerate() {
            snapshot
                .for_each_edge(*name, |edge| {
                    found.insert((label, u64::from(edge.src().0), u64::from(edge.dst().0)));
                })
                .unwrap();
        }
        assert_eq!(found, self.edges);
        let report = self.graph.check().unwrap();
        assert!(report.is_ok(), "{report:?}");
    }

    fn reopen(&mut self) {
        self.graph.close().unwrap();
        self.graph = self.options.clone().open_on(self.disk.handle()).unwrap();
    }

    fn run(mut self, steps: u64) {
        for step in 0..steps {
            match self.rng.below(14) {
                0 | 1 => self.reopen(),
                2 => drop(self.graph.checkpoint().unwrap()),
                3 => self.read_some(),
                4 if step % 5 == 0 => drop(self.graph.compact().unwrap()),
                5 => self.write_otherwise(),
                6 if self.rng.below(2) == 0 => _ = self.graph.internals().cool().unwrap(),
                6 => _ = self.graph.internals().evict().unwrap(),
                _ => self.write(),
            }
        }
        self.compare();
        self.reopen();
        let copy = SimFs::new();
        self.graph.backup_on(copy.handle()).unwrap();
        self.compare();
        self.graph = self.options.clone().read_only(true).open_on(copy.handle()).unwrap();
        self.compare();
    }
}

pub(crate) fn a_graph_over_many_pages_is_what_was_written_however_it_was_opened() {
    for seed in 0..12 {
        let (directed, reverse) = [(true, true), (false, true), (true, false)][seed as usize % 3];
        World::new(seed, directed, reverse, seed % 2 == 1).run(60);
    }
}

/// Makes a dense graph over this number of pages, with 20 edges for each vertex. The store is closed, with
/// all data in segments.
fn store_of(pages: u64) -> SimFs {
    let disk = SimFs::new();
    let graph = options(false, true).open_on(disk.handle()).unwrap();
    let vertices = pages * PAGE;
    for round in 1..11 {
        let edges: Vec<(u64, u64)> =
            (0..vertices).map(|v| (v, (v * 7919 + round * 104_729) % vertices)).collect();
        graph.insert_edges(&edges).unwrap();
    }
    graph.compact().unwrap();
    graph.close().unwrap();
    disk
}

/// Opens the store; also returns the counters of its reads, which include the reads of the opening.
fn counted(disk: &SimFs) -> (Graph, Arc<IoCounters>) {
    let fs = CountingFs::new(disk.handle());
    let counters = fs.counters();
    (options(false, true).open_on(Arc::new(fs)).unwrap(), counters)
}

pub(crate) fn an_opening_reads_what_the_number_of_pages_asks_for_and_a_read_its_page() {
    let (small, large) = (store_of(4), store_of(32));
    let opened = [&small, &large].map(|disk| counted(disk).1.read_bytes.load(Relaxed));
    assert!(opened[1] < opened[0] + 28 * 48 + 4096, "bytes read by openings: {opened:?}");
    let (graph, counters) = counted(&large);
    let bytes = large.used_bytes();
    let read = || counters.read_bytes.load(Relaxed);
    let before = read();
    let tables = graph.stats().unwrap().table_bytes;
    let snapshot = graph.snapshot().unwrap();
    assert!(snapshot.degree(9 * PAGE, Direction::Out).unwrap().unwrap() >= 10);
    let page = read() - before;
    assert!(page > 0 && page < bytes / 16, "{page} of {bytes} bytes for one of 32 pages");
    assert!(graph.stats().unwrap().table_bytes > tables, "the page is charged");
    // The store does not read a loaded page again.
    let before = read();
    assert!(snapshot.degree(9 * PAGE + 1, Direction::Out).unwrap().is_some());
    assert_eq!(read(), before);
    assert_eq!(snapshot.default_label().view().unwrap().edge_count(), snapshot.edge_count().unwrap());
}

/// An unreadable page is an error of the calls that need it. The store keeps nothing of the page, and reads
/// it again when it is readable.
pub(crate) fn a_damaged_page_is_an_error_of_the_calls_that_need_it() {
    let disk = store_of(6);
    let sound = disk.files();
    let segment = sound.keys().find(|name| name.ends_with(".csr")).unwrap().clone();
    let (graph, _) = counted(&disk);
    // The test does not know where pages begin; a place in the middle is on one of them.
    let at = sound[&segment].len() as u64 / 2;
    assert!(disk.corrupt(&segment, at, 0x10));
    let snapshot = graph.snapshot().unwrap();
    let memory = graph.stats().unwrap().memory_bytes();
    let degrees = || -> BTreeMap<u64, Result<Option<usize>, Error>> {
        (0..6).map(|page| (page, snapshot.degree(page * PAGE, Direction::Out))).collect()
    };
    for _ in 0..3 {
        let bad: Vec<Error> = degrees().into_values().filter_map(Result::err).collect();
        let [Error::Storage(StorageError::Corruption(damage))] = &bad[..] else { panic!("{bad:?}") };
        assert!(damage.file == segment && damage.offset <= at, "{damage}");
    }
    let page = *degrees().iter().find(|(_, degree)| degree.is_err()).unwrap().0;
    let whole =
        [snapshot.default_label().view().map(drop), graph.check().map(drop), graph.compact().map(drop)];
    assert!(whole.iter().all(|found| matches!(found, Err(Error::Storage(StorageError::Corruption(_))))));
    assert!(graph.insert_edge((page * PAGE, 1)).is_err());
    assert!(graph.insert_edge(((page + 1) % 6 * PAGE, (page + 2) % 6 * PAGE + 1)).is_ok());
    assert!(graph.stats().unwrap().memory_bytes() < memory * 40);
    assert!(disk.corrupt(&segment, at, 0x10), "the same bit again");
    assert!(degrees().values().all(|degree| matches!(degree, Ok(Some(10..)))));
    assert!(graph.check().unwrap().is_ok());
    common::account::check(&graph).unwrap();
}

/// Threads access the same pages at the same moment; some of them write.
pub(crate) fn threads_that_touch_pages_at_once_find_them_whole() {
    for seed in 0..3 {
        let disk = store_of(8);
        let (graph, _) = counted(&disk);
        let edges = graph.snapshot().unwrap().edge_count().unwrap();
        let added: u64 = std::thread::scope(|scope| {
            let work = |thread: u64| {
                let graph = &graph;
                move || {
                    let mut rng = SplitMix64::new(seed * 64 + thread);
                    let mut added = 0;
                    for step in 0..200 {
                        let (a, b) = (rng.below(8 * PAGE), rng.below(8 * PAGE));
                        if thread.is_multiple_of(2) {
                            added += u64::from(graph.insert_edge((a, b)).unwrap());
                        } else {
                            let snapshot = graph.snapshot().unwrap();
                            assert!(
                                snapshot.degree(a, Direction::Out).unwrap().is_some(),
                                "{a} in step {step}"
                            );
                        }
                    }
                    added
                }
            };
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(work(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), edges + added);
        assert!(graph.check().unwrap().is_ok());
    }
}

/// A store opens under a limit below the size of its graph. Callers read and write all of it piece by piece.
/// The store refuses a call that needs all of it at once.
pub(crate) fn a_graph_larger_than_its_limit_is_read_and_written_within_it() {
    const PAGES: u64 = 64;
    let disk = store_of(PAGES);
    let limit = hedgerow::LEAST_MEMORY_LIMIT;
    let graph = options(false, true).memory_limit(limit).open_on(disk.handle()).unwrap();
    let held = graph.snapshot().unwrap();
    let edges = held.edge_count().unwrap();
    let mut rng = SplitMix64::new(5);
    let (mut degrees, mut most, mut added) = (BTreeMap::new(), 0, 0);
    for round in 0..3_000_u64 {
        most = most.max(graph.memory_bytes());
        let (v, other) = (rng.below(PAGES * PAGE), rng.below(PAGES * PAGE));
        let degree = held.degree(v, Direction::Out).unwrap().unwrap();
        assert!(*degrees.entry(v).or_insert(degree) == degree && degree >= 10, "vertex {v}");
        if round % 16 == 0 {
            added += u64::from(graph.insert_edge((v, other)).unwrap());
        }
        if round % 500 == 499 {
            // The store can evict changed data once a checkpoint has written it.
            graph.checkpoint().unwrap();
            most = most.max(common::account::check(&graph).unwrap().memory_bytes());
        }
    }
    assert!(most <= limit, "{most} of {limit}");
    let whole = held.default_label().view().map(drop);
    assert!(matches!(whole, Err(Error::Storage(StorageError::MemoryLimit { .. }))), "{whole:?}");
    for (v, degree) in degrees {
        assert_eq!(held.degree(v, Direction::Out).unwrap(), Some(degree), "vertex {v}, as it was");
    }
    drop(held);
    graph.close().unwrap();
    let graph = options(false, true).open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), edges + added);
    assert!(graph.check().unwrap().is_ok());
}

/// The store evicts and loads chains under readers and writers. A snapshot always reads the same data again,
/// and no write is lost.
pub(crate) fn readers_and_writers_beside_an_evictor_see_what_they_should() {
    beside_an_evictor(options(true, true));
}

/// The same test with reads that leave chains in files.
pub(crate) fn cold_readers_beside_writers_and_an_evictor_see_what_they_should() {
    beside_an_evictor(options(true, true).memory_limit(8 * hedgerow::LEAST_MEMORY_LIMIT));
}

fn beside_an_evictor(options: Options) {
    const VERTICES: u64 = 3 * PAGE;
    let disk = SimFs::new();
    let graph = options.open_on(disk.handle()).unwrap();
    let (over, evicted) = (AtomicBool::new(false), AtomicU64::new(0));
    let written: Vec<BTreeSet<(u64, u64)>> = std::thread::scope(|scope| {
        let (graph, over, evicted) = (&graph, &over, &evicted);
        scope.spawn(move || {
            while !over.load(Relaxed) {
                graph.checkpoint().unwrap();
                // Some chains cool for a while first.
                evicted.fetch_add(graph.internals().cool().unwrap() as u64, Relaxed);
                std::thread::yield_now();
                evicted.fetch_add(graph.internals().evict().unwrap() as u64, Relaxed);
            }
        });
        let readers: Vec<_> = (0..2)
            .map(|seed| {
                scope.spawn(move || {
                    let mut rng = SplitMix64::new(seed);
                    while !over.load(Relaxed) {
                        let snapshot = graph.snapshot().unwrap();
                        let v = rng.below(VERTICES / 16) * 16 + rng.below(2);
                        let read = || -> Vec<_> {
                            [Direction::Out, Direction::In].map(|d| snapshot.neighbors(v, d).unwrap()).into()
                        };
                        let first = read();
                        for (other, _) in first[0].iter().flatten().map(|other| (other, ())) {
                            assert!(snapshot.contains_edge((v, other)).unwrap(), "{v} to {other}");
                        }
                        assert_eq!(read(), first, "vertex {v}");
                    }
                })
            })
            .collect();
        let write = |writer: u64| {
            move || {
                let mut rng = SplitMix64::new(100 + writer);
                let mut mine = BTreeSet::new();
                let is_enough = |step| step > 1_500 && evicted.load(Relaxed) > 1_000;
                // The number of steps bounds the test if the store evicts nothing at all. If the evictor
                // thread gets no processor, the test takes many more steps than the usual 1,500.
                for step in (0..1_000_000).take_while(|&step| !is_enough(step)) {
                    // The edges have sources that only this writer uses, within a part of the graph that
                    // moves.
                    let base = step / 100 % 12 * (VERTICES / 12);
                    if step % 50 == 0 {
                        // A checkpoint yields to commits for as long as there are commits.
                        std::thread::sleep(Duration::from_millis(3));
                    }
                    let (src, dst) = (rng.below(40) * 16, rng.below(VERTICES / 12));
                    let edge = (base + src + writer, base + dst);
                    match rng.below(3) {
                        0 => assert_eq!(
                            graph.remove_edge((edge.0, edge.1)).unwrap(),
                            mine.remove(&edge),
                            "{edge:?}"
                        ),
                        _ => assert_eq!(
                            graph.insert_edge((edge.0, edge.1)).unwrap(),
                            mine.insert(edge),
                            "{edge:?}"
                        ),
                    }
                }
                mine
            }
        };
        let writers: Vec<_> = (0..2).map(|writer| scope.spawn(write(writer))).collect();
        let written = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        over.store(true, Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        written
    });
    let mut found = BTreeSet::new();
    let snapshot = graph.snapshot().unwrap();
    snapshot
        .default_label()
        .for_each_edge(|a, b, _| _ = found.insert((u64::from(a.0), u64::from(b.0))))
        .unwrap();
    assert_eq!(found, written.into_iter().flatten().collect());
    assert!(graph.check().unwrap().is_ok());
    explored("subgraphs taken out of memory beside readers and writers", evicted.into_inner(), 500);
}

/// A checkpoint is valid even if its segment cannot be opened for reading right after it. Later reads never
/// take data from an older segment.
pub(crate) fn a_segment_that_could_not_be_opened_is_not_passed_over_later() {
    let mut held = 0;
    for at in 0..24 {
        let disk = SimFs::new();
        let graph = options(true, true).open_on(disk.handle()).unwrap();
        let mut edges = BTreeSet::new();
        let mut write = |page: u64, round: u64| {
            for v in 0..40 {
                let edge = (page * PAGE + v * 64, page * PAGE + round);
                graph.insert_edge((edge.0, edge.1)).unwrap();
                edges.insert(edge);
            }
        };
        (0..3).for_each(|page| write(page, 1));
        graph.checkpoint().unwrap();
        write(1, 2);
        let (class, errno) = (FaultClass::Read, errno::EIO);
        disk.plan_fault(Fault { class, at: disk.read_count() + at, site: None, repeat: Repeat::Once, errno });
        held += u64::from(graph.checkpoint().is_ok());
        disk.clear_faults();
        write(2, 3);
        graph.checkpoint().unwrap();
        graph.internals().evict().unwrap();
        let mut found = BTreeSet::new();
        let snapshot = graph.snapshot().unwrap();
        snapshot
            .default_label()
            .for_each_edge(|a, b, _| _ = found.insert((u64::from(a.0), u64::from(b.0))))
            .unwrap();
        assert_eq!(found, edges, "read {at} failed");
    }
    assert!(held > 2, "checkpoints that held: {held}");
}

/// If the new segment of a compaction cannot be opened, the store reads images from the old segment, whose
/// file is already removed.
pub(crate) fn images_are_read_from_files_that_were_removed() {
    let (mut compacted, mut whole) = (0, 0);
    for at in 0..200 {
        let disk = SimFs::new();
        let graph = options(true, true).open_on(disk.handle()).unwrap();
        let edges: BTreeSet<_> = (0..120).map(|v| (v % 3 * PAGE + v * 64, v)).collect();
        graph.insert_edges(edges.iter().copied().collect::<Vec<_>>()).unwrap();
        graph.checkpoint().unwrap();
        graph.insert_edge((1_u64, 2)).unwrap();
        graph.internals().evict().unwrap();
        let (class, errno) = (FaultClass::Read, errno::EIO);
        let before = disk.read_count();
        disk.plan_fault(Fault { class, at: before + at, site: None, repeat: Repeat::Once, errno });
        let is_done = graph.compact().is_ok();
        compacted += u64::from(is_done);
        let had_failed = disk.read_count() > before + at;
        disk.clear_faults();
        graph.internals().evict().unwrap();
        let mut found = BTreeSet::new();
        let snapshot = graph.snapshot().unwrap();
        snapshot
            .default_label()
            .for_each_edge(|a, b, _| _ = found.insert((u64::from(a.0), u64::from(b.0))))
            .unwrap();
        assert!(found.remove(&(1, 2)) && found == edges, "read {at} failed");
        // No read was left to fail.
        if !had_failed {
            whole += 1;
            break;
        }
    }
    explored("compactions beside a read that failed", compacted, 4);
    assert!(whole == 1, "more reads than were made to fail");
}
