//! A store with keys opens without its keys: it learns them from the segments at the first look-up. Each key
//! then names the same vertex as before. New vertices get the ids of removed ones, whatever is in memory.
//! Long because its tests share stores over many pages.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow::io::{CountingFs, IoCounters};
use hedgerow::{
    CommitError, Direction, Durability, Error, Graph, KeyKind, KindId, Options, StorageError, Thresholds,
    VertexId, VertexKey,
};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::SplitMix64;

use crate::common;

/// The number of vertices of a page.
pub(crate) const PAGE: u64 = 4096;
const PAGES: u64 = 4;

/// The form of the keys of vertices.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Names {
    Numbers,
    Texts,
    /// Numbers of the default kind, and texts of another kind.
    Kinds,
}

pub(crate) const ALL: [Names; 3] = [Names::Numbers, Names::Texts, Names::Kinds];
const KIND: KindId = KindId(1);

impl Names {
    pub(crate) fn key(self, v: u64) -> VertexKey {
        match self {
            Names::Kinds if v % 3 == 1 => VertexKey::KindStr(KIND, format!("v{v}").into()),
            Names::Numbers | Names::Kinds => VertexKey::U64(v.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            Names::Texts => VertexKey::from(format!("vertex {v}")),
        }
    }

    pub(crate) fn options(self) -> Options {
        let keys = if matches!(self, Names::Texts) { KeyKind::Str } else { KeyKind::U64 };
        let options = common::small().keys(keys).directed(true).durability(Durability::Manual);
        options.background_settling(false)
    }

    fn define(self, graph: &Graph) {
        if matches!(self, Names::Kinds) {
            assert_eq!(graph.define_kind("page", KeyKind::Str).unwrap(), KIND);
        }
    }
}

/// Opens the store; also returns the counters of its reads, which include the reads of the opening.
fn counted(names: Names, disk: &SimFs) -> (Graph, Arc<IoCounters>) {
    let fs = CountingFs::new(disk.handle());
    let counters = fs.counters();
    (names.options().open_on(Arc::new(fs)).unwrap(), counters)
}

/// A number of bytes so small that memory keeps almost none of the keys that reads learn.
pub(crate) const HARDLY_ANY: u64 = 2048;

/// Returns the options of a store whose reads keep this number of bytes of keys.
pub(crate) fn keeping(names: Names, keys_kept: u64) -> Options {
    names.options().thresholds(Thresholds { keys_kept, ..Thresholds::SMALL })
}

/// A store with vertices on some pages, and a model of its content.
struct World {
    names: Names,
    options: Options,
    disk: SimFs,
    graph: Graph,
    vertices: BTreeSet<u64>,
    edges: BTreeSet<(u64, u64)>,
    rng: SplitMix64,
    /// The number of the next vertex that never existed.
    next: u64,
}

impl World {
    fn new(names: Names, seed: u64) -> World {
        let disk = SimFs::new();
        let options = keeping(names, if (seed / 3).is_multiple_of(2) { u64::MAX } else { HARDLY_ANY });
        let graph = options.clone().open_on(disk.handle()).unwrap();
        names.define(&graph);
        let mut tx = graph.write().unwrap();
        for v in 0..PAGES * PAGE {
            assert!(tx.insert_vertex(&names.key(v)).unwrap());
        }
        tx.commit().unwrap();
        let (vertices, next) = ((0..PAGES * PAGE).collect(), PAGES * PAGE);
        World {
            names,
            options,
            disk,
            graph,
            vertices,
            edges: BTreeSet::new(),
            rng: SplitMix64::new(seed),
            next,
        }
    }

    /// Returns one of the few active vertices, on all pages; sometimes a new vertex.
    fn vertex(&mut self) -> u64 {
        if self.rng.below(12) == 0 {
            self.next += 1;
            return self.next - 1;
        }
        self.rng.below(PAGES) * PAGE + self.rng.below(9) * 411
    }

    fn write(&mut self) {
        let mut tx = self.graph.write().unwrap();
        for _ in 0..1 + self.rng.below(6) {
            let (a, b) = (self.vertex(), self.vertex());
            let (of_a, of_b) = (self.names.key(a), self.names.key(b));
            match self.rng.below(8) {
                0 | 1 => {
                    assert_eq!(tx.remove_vertex(&of_a).unwrap(), self.vertices.remove(&a), "vertex {a}");
                    self.edges.retain(|&(src, dst)| src != a && dst != a);
                }
                2 => assert_eq!(tx.insert_vertex(&of_a).unwrap(), self.vertices.insert(a), "vertex {a}"),
                3 => {
                    assert_eq!(
                        tx.remove_edge((&of_a, &of_b)).unwrap(),
                        self.edges.remove(&(a, b)),
                        "{a} {b}"
                    );
                }
                _ => {
                    tx.put_edge((&of_a, &of_b)).unwrap();
                    self.vertices.extend([a, b]);
                    self.edges.insert((a, b));
                }
            }
        }
        tx.commit().unwrap();
    }

    /// Makes a single operation, and one batch.
    fn write_otherwise(&mut self) {
        let (a, b) = (self.vertex(), self.vertex());
        let inserted = self.graph.insert_edge((&self.names.key(a), &self.names.key(b))).unwrap();
        assert_eq!(inserted, self.edges.insert((a, b)), "{a} {b}");
        self.vertices.extend([a, b]);
        let batch: Vec<(u64, u64)> = (0..9).map(|_| (self.vertex(), self.vertex())).collect();
        let keys: Vec<(VertexKey, VertexKey)> =
            batch.iter().map(|&(a, b)| (self.names.key(a), self.names.key(b))).collect();
        let mut tx = self.graph.write().unwrap();
        tx.insert_edges(keys.iter().map(|(a, b)| (a, b))).unwrap();
        tx.commit().unwrap();
        for (a, b) in batch {
            self.vertices.extend([a, b]);
            self.edges.insert((a, b));
        }
    }

    fn read_some(&mut self) {
        let snapshot = self.graph.snapshot().unwrap();
        for _ in 0..4 {
            let (a, b) = (self.vertex(), self.vertex());
            let (of_a, of_b) = (self.names.key(a), self.names.key(b));
            let exists = self.edges.contains(&(a, b));
            assert_eq!(snapshot.contains_edge((&of_a, &of_b)).unwrap(), exists, "{a} {b}");
            let mut wanted: Vec<VertexKey> =
                self.edges.range((a, 0)..(a + 1, 0)).map(|&(_, dst)| self.names.key(dst)).collect();
            wanted.sort_unstable();
            let wanted = self.vertices.contains(&a).then_some(wanted);
            assert_eq!(snapshot.neighbors(&of_a, Direction::Out).unwrap(), wanted, "neighbors of {a}");
            let id = snapshot.vertex_id(&of_b).unwrap();
            assert_eq!(id.is_some(), self.vertices.contains(&b), "vertex {b}");
            let key = id.and_then(|id| snapshot.vertex_key(id).unwrap());
            assert_eq!(key, self.vertices.contains(&b).then_some(of_b), "key of {b}");
        }
    }

    fn compare(&self) {
        let snapshot = self.graph.snapshot().unwrap();
        let counts = (snapshot.vertex_count(), snapshot.edge_count().unwrap());
        assert_eq!(counts, (self.vertices.len() as u64, self.edges.len() as u64));
        for &v in &self.vertices {
            let found = snapshot.contains_vertex(&self.names.key(v)).unwrap();
            assert!(found, "vertex {v}");
        }
        let mut found = Vec::new();
        snapshot.default_label().for_each_edge(|a, b, _| found.push((a, b))).unwrap();
        let mut found: Vec<(VertexKey, VertexKey)> = found
            .into_iter()
            .map(|(a, b)| [a, b].map(|id| snapshot.vertex_key(id).unwrap().unwrap()).into())
            .collect();
        let mut wanted: Vec<(VertexKey, VertexKey)> =
            self.edges.iter().map(|&(a, b)| (self.names.key(a), self.names.key(b))).collect();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
        let report = self.graph.check().unwrap();
        assert!(report.is_ok(), "{report:?}");
    }

    fn reopen(&mut self) {
        self.graph.close().unwrap();
        self.graph = self.options.clone().open_on(self.disk.handle()).unwrap();
    }

    fn run(mut self, steps: u64) {
        self.graph.checkpoint().unwrap();
        for step in 0..steps {
            match self.rng.below(14) {
                0 | 1 => self.reopen(),
                2 => drop(self.graph.checkpoint().unwrap()),
                3 => self.read_some(),
                4 if step % 5 == 0 => drop(self.graph.compact().unwrap()),
                5 => self.write_otherwise(),
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
        self.read_some();
        self.compare();
    }
}

#[test]
fn a_graph_under_names_is_what_was_written_however_it_was_opened() {
    for seed in 0..9 {
        World::new(ALL[seed as usize % 3], seed).run(70);
    }
}

/// Makes a closed store with all data in segments; each vertex has 20 edges.
pub(crate) fn store_of(names: Names, pages: u64) -> SimFs {
    let disk = SimFs::new();
    let graph = names.options().open_on(disk.handle()).unwrap();
    names.define(&graph);
    let vertices = pages * PAGE;
    let mut tx = graph.write().unwrap();
    (0..vertices).for_each(|v| assert!(tx.insert_vertex(&names.key(v)).unwrap()));
    tx.commit().unwrap();
    for round in 1..11 {
        let edges: Vec<(VertexKey, VertexKey)> = (0..vertices)
            .map(|v| (names.key(v), names.key((v * 7919 + round * 104_729) % vertices)))
            .collect();
        let mut tx = graph.write().unwrap();
        tx.insert_edges(edges.iter().map(|(a, b)| (a, b))).unwrap();
        tx.commit().unwrap();
    }
    graph.compact().unwrap();
    graph.close().unwrap();
    disk
}

/// Adds a segment in each of `rounds` rounds, each after a new opening. A round inserts vertices, which get
/// the ids of some vertices that the round before removed. It then removes other vertices and writes a
/// checkpoint. Returns the number of segments.
fn add_segments(names: Names, disk: &SimFs, rounds: u64) -> usize {
    let mut segments = 0;
    for round in 0..rounds {
        let graph = names.options().open_on(disk.handle()).unwrap();
        let mut tx = graph.write().unwrap();
        let few = || 0..40 >> (2 * round);
        few().for_each(|i| assert!(tx.insert_vertex(&names.key(1_000_000 + round * 100 + i)).unwrap()));
        tx.commit().unwrap();
        let mut tx = graph.write().unwrap();
        few().for_each(|i| assert!(tx.remove_vertex(&names.key(round * 64 + i)).unwrap()));
        tx.commit().unwrap();
        segments = graph.checkpoint().unwrap().segments;
        graph.close().unwrap();
    }
    segments
}

#[test]
fn an_opening_reads_no_keys_and_a_look_up_one_block_of_each_segment() {
    for names in ALL {
        let disk = store_of(names, 16);
        let segments = add_segments(names, &disk, 3) as u64;
        assert!(segments > 1, "{segments} segments");
        let (graph, counters) = counted(names, &disk);
        let read = || [counters.reads.load(Relaxed), counters.read_bytes.load(Relaxed)];
        // An opening reads directories, masks, and the positions of the blocks of keys.
        assert!(read()[1] < 16 * 8_192, "{names:?}: an opening read {} bytes", read()[1]);
        let snapshot = graph.snapshot().unwrap();
        assert_eq!(snapshot.vertex_count(), 16 * PAGE);
        let bytes = |graph: &Graph| graph.stats().unwrap().id_map_bytes;
        let before = bytes(&graph);
        // These reads by id load the pages; they look up no key.
        (0..18).for_each(|page| {
            _ = snapshot.default_label().degree(VertexId(page * PAGE as u32), Direction::Out)
        });
        assert!(bytes(&graph) < before + 4096, "pages come without keys in the map");
        for i in 0..100 {
            let (there, absent) = (names.key(1_000 + i * 577), names.key(5_000_000 + i));
            for (key, is_there) in [(there, true), (absent, false)] {
                let before = read();
                assert_eq!(snapshot.vertex_id(&key).unwrap().is_some(), is_there, "{key}");
                let [reads, bytes] = [0, 1].map(|at| read()[at] - before[at]);
                assert!(
                    reads <= segments && bytes <= reads * 4096,
                    "{names:?}: {reads} reads of {bytes} bytes"
                );
            }
            // The store does not read a known key again.
            let before = read();
            assert!(snapshot.vertex_id(&names.key(1_000 + i * 577)).unwrap().is_some());
            assert_eq!(read(), before);
        }
        // A later segment than the segment with their keys removed these vertices. Some of their ids now
        // belong to other vertices.
        for v in (0..20).chain(64..74) {
            assert_eq!(snapshot.vertex_id(&names.key(v)).unwrap(), None, "{names:?}: {v}");
        }
        assert!(snapshot.vertex_id(&names.key(1_000_000)).unwrap().is_some());
        // After many look-ups the store reads all keys once.
        (0..16 * PAGE / 100).for_each(|i| _ = snapshot.vertex_id(&names.key(7_000_000 + i)).unwrap());
        let before = read();
        (0..100).for_each(|i| assert_eq!(snapshot.vertex_id(&names.key(8_000_000 + i)).unwrap(), None));
        assert_eq!(read(), before);
        assert!(bytes(&graph) > 16 * PAGE * 19);
        common::account::check(&graph).unwrap();
        assert!(graph.check().unwrap().is_ok());
    }
}

fn last_id(graph: &Graph) -> u32 {
    let snapshot = graph.snapshot().unwrap();
    snapshot.vertices().unwrap().map(|vertex| vertex.unwrap().0.0).max().unwrap()
}

/// On pages that no call has loaded, the store reuses the ids of removed vertices, and no id of an existing
/// vertex.
#[test]
fn ids_of_removed_vertices_are_free_on_pages_that_were_not_loaded() {
    for names in ALL {
        let disk = store_of(names, 3);
        let (graph, _) = counted(names, &disk);
        let mut tx = graph.write().unwrap();
        let gone: Vec<u64> = (0..40).map(|i| PAGE + i * 97).collect();
        gone.iter().for_each(|&v| assert!(tx.remove_vertex(&names.key(v)).unwrap()));
        tx.commit().unwrap();
        let last = last_id(&graph);
        graph.checkpoint().unwrap();
        graph.close().unwrap();
        let (graph, _) = counted(names, &disk);
        assert_eq!(graph.snapshot().unwrap().vertex_count(), 3 * PAGE - 40);
        for i in 0..40 {
            let mut tx = graph.write().unwrap();
            assert!(tx.insert_vertex(&names.key(1_000_000 + i * 3)).unwrap());
            tx.commit().unwrap();
        }
        let snapshot = graph.snapshot().unwrap();
        assert_eq!((snapshot.vertex_count(), last_id(&graph)), (3 * PAGE, last), "{names:?}");
        for v in (0..3 * PAGE).filter(|v| !gone.contains(v)) {
            let id = snapshot.vertex_id(&names.key(v)).unwrap().unwrap();
            assert_eq!(snapshot.vertex_key(id).unwrap(), Some(names.key(v)));
        }
        gone.iter().for_each(|&v| assert_eq!(snapshot.vertex_id(&names.key(v)).unwrap(), None));
        assert!(graph.check().unwrap().is_ok());
    }
}

/// Damage is an error of the calls that need the damaged data; the calls find all other data.
#[test]
fn damage_is_an_error_of_who_needs_what_is_damaged() {
    for names in ALL {
        let disk = store_of(names, 8);
        let segment = disk.files().keys().find(|name| name.ends_with(".csr")).unwrap().clone();
        let len = disk.files()[&segment].len() as u64;
        let is_there = |error: &Error| match error {
            Error::Storage(StorageError::Corruption(damage)) => damage.file == segment,
            _ => false,
        };
        // The blocks of the key index have 4 KiB, and end before its head, which is shorter than 4 KiB. An
        // index of numbers has 113 blocks, an index of texts has more.
        let damage = || {
            let places = (0..100).map(|block| len - 8_000 - block * 4_096);
            places.for_each(|at| assert!(disk.corrupt(&segment, at, 0x10)));
        };
        damage();
        let (graph, _) = counted(names, &disk);
        let snapshot = graph.snapshot().unwrap();
        let looks: Vec<Result<Option<VertexId>, Error>> =
            (0..100).map(|v| snapshot.vertex_id(&names.key(v * 7))).collect();
        let bad: Vec<&Error> = looks.iter().filter_map(|look| look.as_ref().err()).collect();
        assert!(bad.len() > 30 && bad.iter().all(|error| is_there(error)), "{names:?}: {bad:?}");
        assert!(looks.iter().flatten().all(Option::is_some), "{names:?}: what can be read is found");
        assert_eq!(snapshot.vertex_count(), 8 * PAGE);
        assert!(snapshot.default_label().degree(VertexId(9), Direction::Out).unwrap() >= 10);
        assert!(graph.check().is_err());
        // Segments also store each key with its vertex. After this number of look-ups the store reads those
        // keys.
        (0..400).for_each(|v| _ = snapshot.vertex_id(&names.key(v * 11)));
        (0..8 * PAGE).for_each(|v| assert!(snapshot.vertex_id(&names.key(v)).unwrap().is_some()));
        graph.close().unwrap();
        damage();
        let of_neighbors = 300;
        assert!(disk.corrupt(&segment, of_neighbors, 0x10));
        let (graph, _) = counted(names, &disk);
        let snapshot = graph.snapshot().unwrap();
        for _ in 0..2 {
            let degree = snapshot.degree(&names.key(5), Direction::Out);
            assert!(degree.as_ref().is_err_and(is_there), "{names:?}: {degree:?}");
        }
        assert!(disk.corrupt(&segment, of_neighbors, 0x10), "the same bit again");
        assert!(matches!(snapshot.degree(&names.key(5), Direction::Out), Ok(Some(10..))));
        assert!(graph.check().unwrap().is_ok());
    }
}

/// The store learns keys within the limit while it loads and evicts pages. It keeps either all keys that it
/// reads, or hardly any of them.
#[test]
fn a_store_larger_than_its_limit_is_read_by_name_within_it() {
    let [all, few] = [u64::MAX, HARDLY_ANY].map(read_by_name_within_a_limit);
    // In both cases the store keeps the keys of written vertices, and has chunks of rows for them.
    assert!(few < all - all / 8, "{few} bytes of keys, or {all}");
}

/// Reads by name within a limit; returns the bytes of keys in memory afterwards.
fn read_by_name_within_a_limit(kept: u64) -> u64 {
    const PAGES: u64 = 64;
    let (names, limit) = (Names::Numbers, hedgerow::LEAST_MEMORY_LIMIT);
    let disk = store_of(names, PAGES);
    let graph = keeping(names, kept).memory_limit(limit).open_on(disk.handle()).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let (mut rng, mut most) = (SplitMix64::new(3), 0);
    for round in 0..1_500 {
        let key = names.key(rng.below(PAGES * PAGE));
        let neighbors = snapshot.neighbors(&key, Direction::Out).unwrap().unwrap();
        assert!(neighbors.len() >= 8, "{key}: {neighbors:?}");
        assert!(snapshot.contains_edge((&key, &neighbors[0])).unwrap());
        if round % 16 == 0 {
            graph.insert_edge((&key, &names.key(rng.below(PAGES * PAGE)))).unwrap();
        }
        if round % 250 == 249 {
            graph.checkpoint().unwrap();
            most = most.max(common::account::check(&graph).unwrap().memory_bytes());
        }
    }
    assert!(most <= limit + limit / 64, "{most} of {limit}");
    graph.stats().unwrap().id_map_bytes
}

/// Commits that change no binding of a key add no key to a memory that keeps hardly any. This is true for
/// single operations, transactions and batches between existing vertices. Columns of keys and counts of kinds
/// add no key either.
#[test]
fn commits_and_columns_keep_no_keys_beyond_what_is_kept() {
    const PAGES: u64 = 6;
    for names in ALL {
        let disk = store_of(names, PAGES);
        let graph = keeping(names, HARDLY_ANY).open_on(disk.handle()).unwrap();
        let (mut rng, mut added) = (SplitMix64::new(7), BTreeSet::new());
        let mut pairs = |n: u64| -> Vec<(VertexKey, VertexKey)> {
            let mut vertex = || rng.below(PAGES * PAGE);
            let pairs: Vec<(u64, u64)> = (0..n).map(|_| (vertex(), vertex())).collect();
            added.extend(pairs.iter().copied());
            pairs.into_iter().map(|(a, b)| (names.key(a), names.key(b))).collect()
        };
        pairs(40).iter().for_each(|(a, b)| _ = graph.put_edge((a, b)).unwrap());
        for _ in 0..9 {
            let mut tx = graph.write().unwrap();
            pairs(5).iter().for_each(|(a, b)| tx.put_edge((a, b)).unwrap());
            tx.commit().unwrap();
        }
        // A transaction that removes a vertex holds latches for the removal. Under them it looks up some of
        // the other keys again.
        for gone in 0..4 {
            let (gone, others) = (names.key(2_000_000 + gone), pairs(150));
            let mut tx = graph.write().unwrap();
            assert!(tx.insert_vertex(&gone).unwrap());
            tx.commit().unwrap();
            let mut tx = graph.write().unwrap();
            assert!(tx.remove_vertex(&gone).unwrap());
            others.iter().for_each(|(a, b)| tx.put_edge((a, b)).unwrap());
            tx.commit().unwrap();
        }
        let batch = pairs(300);
        let mut tx = graph.write().unwrap();
        tx.insert_edges(batch.iter().map(|(a, b)| (a, b))).unwrap();
        tx.commit().unwrap();
        let snapshot = graph.snapshot().unwrap();
        assert_eq!(snapshot.vertex_count(), PAGES * PAGE, "no key was bound a second time");
        let (ids, keys) = snapshot.scan_vertices().unwrap().keys().unwrap();
        for (row, id) in ids.iter().enumerate().step_by(97) {
            assert_eq!(keys.get(row).map(|key| key.to_owned()), snapshot.vertex_key(*id).unwrap());
        }
        assert_eq!(keys.len() as u64, PAGES * PAGE);
        let of_kind = (0..PAGES * PAGE).filter(|&v| names.key(v).kind() == KIND).count() as u64;
        assert!(of_kind == 0 || snapshot.scan_vertices().unwrap().count_of(KIND).unwrap() == of_kind);
        for &(a, b) in &added {
            assert!(snapshot.contains_edge((&names.key(a), &names.key(b))).unwrap(), "{names:?}: {a} {b}");
        }
        let kept = graph.stats().unwrap().id_map_bytes;
        // All keys would take more than 500,000 bytes. A chunk of rows has more bytes than the kept keys.
        assert!(kept < 300_000, "{names:?}: {kept} bytes of keys");
        common::account::check(&graph).unwrap();
        assert!(graph.check().unwrap().is_ok());
    }
}

/// The number of vertices that every thread removes and connects.
const SHARED: u64 = 12;

/// True if a commit succeeded; false if it conflicted with another commit.
fn is_done<T>(committed: Result<T, Error>) -> bool {
    match committed {
        Ok(_) => true,
        Err(Error::Commit(CommitError::Conflict { .. })) => false,
        Err(error) => panic!("{error}"),
    }
}

/// A thread with its own vertices, concurrent with other threads.
struct Worker<'a> {
    graph: &'a Graph,
    names: Names,
    thread: u64,
    rng: SplitMix64,
    mine: BTreeSet<u64>,
}

impl Worker<'_> {
    fn own(&mut self) -> u64 {
        self.rng.below(PAGE) * 4 + self.thread
    }

    fn run(mut self) -> BTreeSet<u64> {
        for step in 0..400 {
            let v = self.own();
            let key = self.names.key(v);
            let mut tx = self.graph.write().unwrap();
            match self.rng.below(8) {
                0 | 1 => {
                    assert_eq!(tx.remove_vertex(&key).unwrap(), self.mine.remove(&v), "{v}");
                    tx.commit().unwrap();
                }
                2 | 3 => {
                    assert_eq!(tx.insert_vertex(&key).unwrap(), self.mine.insert(v), "{v}");
                    tx.commit().unwrap();
                }
                4 => {
                    let own = self.own();
                    tx.put_edge((&key, &self.names.key(own))).unwrap();
                    let other = self.names.key(self.rng.below(4 * PAGE));
                    _ = tx.remove_edge((&other, &key)).unwrap();
                    if is_done(tx.commit()) {
                        self.mine.extend([v, own]);
                    }
                }
                5 => self.write_to_shared(tx),
                _ => self.read(v, &key, step),
            }
            if self.thread == 0 && step % 100 == 50 {
                self.graph.checkpoint().unwrap();
            }
        }
        self.mine
    }

    /// Writes to the shared vertices: removes one and puts edges, or inserts edges in a batch.
    fn write_to_shared(&mut self, mut tx: hedgerow::WriteTxn) {
        let (rng, names) = (&mut self.rng, self.names);
        let mut shared = || names.key(4 * PAGE + rng.below(SHARED) * 300);
        if shared() < shared() {
            _ = tx.remove_vertex(&shared()).unwrap();
            (0..3).for_each(|_| tx.put_edge((&shared(), &shared())).unwrap());
        } else {
            let ends: Vec<VertexKey> = (0..6).map(|_| shared()).collect();
            tx.insert_edges(ends.iter().zip(&ends[1..])).unwrap();
        }
        is_done(tx.commit());
    }

    fn read(&self, v: u64, key: &VertexKey, step: u64) {
        let snapshot = self.graph.snapshot().unwrap();
        let id = snapshot.vertex_id(key).unwrap();
        assert_eq!(id.is_some(), self.mine.contains(&v), "{v} in step {step}");
        if let Some(id) = id {
            assert_eq!(snapshot.vertex_key(id).unwrap(), Some(key.clone()));
            // This reads the keys of the neighbors, by page.
            assert!(snapshot.neighbors(key, Direction::Out).unwrap().is_some());
        }
    }
}

/// Threads look up keys, remove their vertices and insert other ones. Concurrently the store learns keys one
/// by one, by page and all at once, and writes checkpoints. Each thread knows the vertices of its own keys;
/// some vertices belong to all threads.
#[test]
fn keys_are_learned_beside_writers_and_checkpoints() {
    let all = ALL.into_iter().flat_map(|names| [u64::MAX, HARDLY_ANY].map(|kept| (names, kept)));
    for (seed, (names, kept)) in all.enumerate() {
        let disk = store_of(names, 5);
        add_segments(names, &disk, 1);
        let graph = keeping(names, kept).open_on(disk.handle()).unwrap();
        let kept: Vec<BTreeSet<u64>> = std::thread::scope(|scope| {
            let work = |thread: u64| {
                let rng = SplitMix64::new(seed as u64 * 64 + thread);
                let mine = (40..4 * PAGE).filter(|v| v % 4 == thread).collect();
                let worker = Worker { graph: &graph, names, thread, rng, mine };
                move || worker.run()
            };
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(work(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let kept: BTreeSet<u64> = kept.into_iter().flatten().collect();
        let compare = |graph: &Graph| {
            let snapshot = graph.snapshot().unwrap();
            for v in 0..4 * PAGE {
                let found = snapshot.vertex_id(&names.key(v)).unwrap();
                assert_eq!(found.is_some(), kept.contains(&v), "{names:?}: {v}");
            }
            assert!(graph.check().unwrap().is_ok());
        };
        compare(&graph);
        graph.close().unwrap();
        compare(&counted(names, &disk).0);
    }
}
