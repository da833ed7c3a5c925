//! Commits to lists that are not in memory, in a store larger than its memory limit, beside a model.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use hedgerow::{
    Direction, Durability, Graph, KeyKind, LEAST_MEMORY_LIMIT, Options, Snapshot, VertexKey, WriteTxn,
    salvage_on,
};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};

const VERTICES: u64 = 150_000;
/// The edges of a vertex at the beginning. With both directions and weights, a graph takes twice the limit.
const EDGES: u64 = 6;
const ROUNDS: u64 = 14;
/// The operations of a commit, which are on nearly all lists.
const OPERATIONS: u64 = 4_000;
/// The number of edges that are read after each round.
const READ: usize = 60;

/// The edges that changed, with their weights; `None` for a removed one.
type Changes = BTreeMap<(u64, u64), Option<f64>>;

fn options(directed: bool) -> Options {
    let options = Options::new().keys(KeyKind::Dense).directed(directed).weighted(true);
    options.durability(Durability::Manual).background_settling(false)
}

fn destination(source: u64, nth: u64) -> u64 {
    (source * 31 + nth * 104_729 + 1) % VERTICES
}

fn weight_of(source: u64, nth: u64) -> f64 {
    (source % 97 + nth) as f64
}

/// The ends of an edge, as the model names them.
fn named(directed: bool, u: u64, v: u64) -> (u64, u64) {
    if directed { (u, v) } else { (u.min(v), u.max(v)) }
}

/// Returns the edges at the beginning.
fn first_edges(directed: bool) -> BTreeMap<(u64, u64), f64> {
    let mut edges = BTreeMap::new();
    for nth in 0..EDGES {
        for u in 0..VERTICES {
            edges.entry(named(directed, u, destination(u, nth))).or_insert(weight_of(u, nth));
        }
    }
    edges
}

/// Returns a copy of the store; only the first call builds it.
fn store(directed: bool) -> SimFs {
    static FILES: [OnceLock<BTreeMap<String, Vec<u8>>>; 2] = [OnceLock::new(), OnceLock::new()];
    SimFs::from_files(FILES[usize::from(directed)].get_or_init(|| {
        let disk = SimFs::new();
        let graph = options(directed).open_on(disk.handle()).unwrap();
        let edges: Vec<((u64, u64), f64)> = first_edges(directed).into_iter().collect();
        for some in edges.chunks(1 << 17) {
            let weighted = some.iter().map(|&((u, v), w)| (u, v, w));
            graph.transact(1, |tx: &mut WriteTxn| tx.put_edges(weighted.clone())).unwrap();
        }
        graph.compact().unwrap();
        graph.close().unwrap();
        disk.files()
    }))
}

/// A graph beside its model.
struct Both {
    directed: bool,
    disk: SimFs,
    graph: Graph,
    first: BTreeMap<(u64, u64), f64>,
    changes: Changes,
    rng: SplitMix64,
}

impl Both {
    fn new(directed: bool) -> Both {
        let disk = store(directed);
        let graph = options(directed).memory_limit(LEAST_MEMORY_LIMIT).open_on(disk.handle()).unwrap();
        let (first, changes) = (first_edges(directed), Changes::new());
        Both { directed, disk, graph, first, changes, rng: SplitMix64::new(directed.into()) }
    }

    /// Opens the store again within the limit, as a crash leaves it once the log is durable.
    fn crash(&mut self) {
        self.graph.flush().unwrap();
        self.disk = SimFs::from_files(&self.disk.files());
        let options = options(self.directed).memory_limit(LEAST_MEMORY_LIMIT);
        self.graph = options.open_on(self.disk.handle()).unwrap();
    }

    fn weight(&self, changes: &Changes, edge: (u64, u64)) -> Option<f64> {
        changes.get(&edge).copied().unwrap_or_else(|| self.first.get(&edge).copied())
    }

    /// Draws an edge: one of the beginning, one that changed before, or any.
    fn draw(&mut self) -> (u64, u64) {
        let (u, v) = (self.rng.below(VERTICES), self.rng.below(VERTICES));
        let edge = match self.rng.below(4) {
            0 => (u, destination(u, v % EDGES)),
            1 => *self.changes.range((u, v)..).next().map_or(&(u, v), |(edge, _)| edge),
            _ => (u, v),
        };
        // The ends in either order.
        if self.directed || u % 2 == 0 { edge } else { (edge.1, edge.0) }
    }

    /// Commits the operations of a round: puts, inserts or removals.
    fn commit(&mut self, round: u64, operations: u64) {
        let edges: Vec<(u64, u64)> = (0..operations).map(|_| self.draw()).collect();
        let (kind, weight) = (round % 3, round as f64 + 0.5);
        let weighted = edges.iter().map(|&(u, v)| (u, v, weight));
        let commit = |tx: &mut WriteTxn| match kind {
            0 => tx.insert_edges(&edges),
            1 => tx.put_edges(weighted.clone()),
            _ => tx.remove_edges(&edges),
        };
        self.graph.transact(1, commit).unwrap();
        for (u, v) in edges {
            let edge = named(self.directed, u, v);
            let after = match kind {
                0 => self.weight(&self.changes, edge).or(Some(1.0)),
                1 => Some(weight),
                _ => None,
            };
            self.changes.insert(edge, after);
        }
    }

    /// Compares some edges, from both ends, and the number of edges, with the model at some moment.
    fn compare(&mut self, snapshot: &Snapshot, changes: &Changes) {
        let more = |(edge, after): (&(u64, u64), &Option<f64>)| {
            i64::from(after.is_some()) - i64::from(self.first.contains_key(edge))
        };
        let edges = self.first.len() as i64 + changes.iter().map(more).sum::<i64>();
        assert_eq!(snapshot.edge_count().unwrap() as i64, edges);
        for _ in 0..READ {
            let (u, v) = self.draw();
            let expected = self.weight(changes, named(self.directed, u, v));
            assert_eq!(snapshot.default_label().weight_between(u, v).unwrap(), expected, "{u} {v}");
            let list = snapshot.neighbors(u, Direction::Out).unwrap().unwrap_or_default();
            assert_eq!(list.contains(&VertexKey::U64(v)), expected.is_some(), "{u} {v}");
            assert_eq!(snapshot.degree(u, Direction::Out).unwrap(), Some(list.len()), "{u}");
            let list = snapshot.neighbors(v, Direction::In).unwrap().unwrap_or_default();
            assert_eq!(list.contains(&VertexKey::U64(u)), expected.is_some(), "{u} {v}");
        }
    }

    /// Compares all edges.
    fn compare_all(&self, snapshot: &Snapshot) {
        let mut expected = self.first.clone();
        for (&edge, after) in &self.changes {
            match after {
                Some(weight) => _ = expected.insert(edge, *weight),
                None => _ = expected.remove(&edge),
            }
        }
        let mut found = BTreeMap::new();
        snapshot
            .default_label()
            .for_each_edge(|u, v, weight| {
                let edge = named(self.directed, u.0.into(), v.0.into());
                assert_eq!(found.insert(edge, weight), None, "{edge:?}");
            })
            .unwrap();
        assert_eq!(found.len(), expected.len());
        assert!(found == expected);
    }
}

/// Commits of many random edges to a graph of twice the limit, with checkpoints, and held snapshots that see
/// what they saw.
pub(crate) fn commits_write_to_lists_that_are_not_in_memory() {
    for directed in [true, false] {
        let mut both = Both::new(directed);
        let mut held: Vec<(Snapshot, Changes)> = Vec::new();
        for round in 0..ROUNDS {
            both.commit(round, OPERATIONS);
            both.commit(round + 1, 1 + round % 3);
            if round % 4 == 1 {
                held.push((both.graph.snapshot().unwrap(), both.changes.clone()));
            }
            if round % 5 == 2 {
                both.graph.checkpoint().unwrap();
            }
            let (now, changes) = (both.graph.snapshot().unwrap(), both.changes.clone());
            both.compare(&now, &changes);
            for (snapshot, changes) in &held {
                both.compare(snapshot, changes);
            }
            if round % 6 == 5 {
                held.remove(0);
            }
            if round % 7 == 6 {
                held.clear();
                both.crash();
            }
        }
        both.compare_all(&both.graph.snapshot().unwrap());
        drop(held);
        both.graph.close().unwrap();
    }
}

/// Commits that turn the same edges on and off, beside checkpoints that take the operations away from them.
pub(crate) fn commits_beside_checkpoints_know_which_edges_exist() {
    let both = Both::new(true);
    let graph = &both.graph;
    // On all lists, which do not fit together.
    let edges: Vec<(u64, u64)> = (0..5_000).map(|at| (at * 29, (at * 31 + 5) % VERTICES)).collect();
    let before = graph.snapshot().unwrap().edge_count().unwrap();
    let present = edges.iter().filter(|edge| both.first.contains_key(edge)).count() as u64;
    let (mut took, mut rng) = (Duration::ZERO, SplitMix64::new(5));
    for round in 0..40 {
        let on = round % 2 == 0;
        let turn = |tx: &mut WriteTxn| if on { tx.put_edges(&edges) } else { tx.remove_edges(&edges) };
        std::thread::scope(|scope| {
            let checkpoint = scope.spawn(|| {
                let begun = Instant::now();
                graph.checkpoint().unwrap();
                begun.elapsed()
            });
            // The checkpoint has the commit before. It ends while this one is on its way, in some rounds.
            std::thread::sleep(took * rng.below(100) as u32 / 100);
            graph.transact(1, turn).unwrap();
            took = checkpoint.join().unwrap();
        });
        let expected = before - present + if on { edges.len() as u64 } else { 0 };
        assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), expected, "after round {round}");
    }
}

/// Commits of edges to vertices that had none before: their incoming lists never had a version, and have left
/// memory together with the outgoing ones.
pub(crate) fn a_list_without_a_version_gets_operations_while_it_is_not_in_memory() {
    const HALF: u64 = VERTICES / 2;
    let disk = SimFs::new();
    let graph = options(true).memory_limit(LEAST_MEMORY_LIMIT).open_on(disk.handle()).unwrap();
    // All edges lead from the first half of the vertices to the second half.
    for nth in 0..2 * EDGES {
        for first in (0..HALF).step_by(1 << 13) {
            let edge = |u: u64| (u, HALF + destination(u, nth) % HALF, 1.0);
            let put = |tx: &mut WriteTxn| tx.put_edges((first..HALF.min(first + (1 << 13))).map(edge));
            graph.transact(1, put).unwrap();
        }
        graph.checkpoint().unwrap();
    }
    let back: Vec<(u64, u64)> = (0..HALF).step_by(16).map(|v| (HALF + v, v)).collect();
    graph.transact(1, |tx: &mut WriteTxn| tx.put_edges(&back)).unwrap();
    for moment in ["before a checkpoint", "after a checkpoint"] {
        let snapshot = graph.snapshot().unwrap();
        for &(u, v) in back.iter().step_by(37) {
            let list = snapshot.neighbors(v, Direction::In).unwrap().unwrap_or_default();
            assert_eq!(list, [VertexKey::U64(u)], "{moment}");
            assert_eq!(snapshot.degree(v, Direction::In).unwrap(), Some(1), "{moment}");
        }
        drop(snapshot);
        graph.checkpoint().unwrap();
    }
}

/// Checkpoints of many random edges write deltas, which every reader merges with the images: reads, openings
/// with and without a limit, `check`, backups, `salvage`, later checkpoints, and `compact`.
pub(crate) fn every_reader_merges_deltas_with_images() {
    for directed in [true, false] {
        let mut both = Both::new(directed);
        let whole: u64 = both.disk.files().iter().filter(|(name, _)| name.ends_with(".csr")).map(bytes).sum();
        let (mut most, mut merged) = (0, 0);
        for round in 0..ROUNDS {
            both.commit(round, OPERATIONS);
            let before = both.graph.stats().unwrap().segment_delta_bytes;
            let written = both.graph.checkpoint().unwrap();
            let stats = both.graph.stats().unwrap();
            assert!(stats.segment_delta_bytes > 0 && written.bytes < whole / 2, "{written:?} of {whole}");
            merged += u64::from(written.segments < 3 && round > 1);
            most = most.max(written.segments);
            assert!(stats.segment_delta_bytes < before + 100 * OPERATIONS, "{stats:?}");
            let (now, changes) = (both.graph.snapshot().unwrap(), both.changes.clone());
            both.compare(&now, &changes);
        }
        assert!(most >= 2 && merged > 0, "{most} segments at most, {merged} merges");
        assert!(both.graph.check().unwrap().is_ok());
        both.compare_all(&both.graph.snapshot().unwrap());
        both.crash();
        both.compare_all(&both.graph.snapshot().unwrap());
        let [backup, salvaged] = [(); 2].map(|()| SimFs::new());
        both.graph.backup_on(backup.handle()).unwrap();
        let files = both.disk.files();
        let report = salvage_on(SimFs::from_files(&files).handle(), salvaged.handle()).unwrap();
        assert!(report.is_whole() && report.is_sound(), "{report:?}");
        for disk in [&backup, &salvaged, &SimFs::from_files(&files)] {
            let graph = options(directed).open_on(disk.handle()).unwrap();
            assert!(graph.check().unwrap().is_ok());
            both.compare_all(&graph.snapshot().unwrap());
        }
        salvage_reports_a_lost_delta(files);
        both.graph.compact().unwrap();
        assert_eq!(both.graph.stats().unwrap().segment_delta_bytes, 0);
        both.compare_all(&both.graph.snapshot().unwrap());
    }
}

/// Damages the first block of the newest segment, which has deltas. Salvage reports the subgraphs in it, and
/// saves their older edges as doubtful.
fn salvage_reports_a_lost_delta(mut files: BTreeMap<String, Vec<u8>>) {
    let newest = files.iter_mut().rfind(|(name, _)| name.ends_with(".csr")).unwrap().1;
    newest[100] ^= 1;
    let (damaged, salvaged) = (SimFs::from_files(&files), SimFs::new());
    assert!(options(true).open_on(damaged.handle()).is_err() || !check(&damaged));
    let report = salvage_on(damaged.handle(), salvaged.handle()).unwrap();
    assert!(report.lost_subgraphs > 0 && !report.is_whole(), "{report:?}");
    assert!(report.doubtful_edges > 0 && report.edges > 0, "{report:?}");
    assert!(check(&salvaged));
}

fn check(disk: &SimFs) -> bool {
    let graph = Options::new().open_on(disk.handle()).unwrap();
    graph.check().is_ok_and(|report| report.is_ok())
}

fn bytes((_, bytes): (&String, &Vec<u8>)) -> u64 {
    bytes.len() as u64
}

/// A compaction without new commits, whose segment cannot be opened afterwards: reads use the older segments,
/// whose files are removed. The next checkpoint merges the new segment, and writes all that it has.
pub(crate) fn a_checkpoint_after_a_segment_that_cannot_be_opened_loses_nothing() {
    const IN_MEMORY: u64 = VERTICES / 10 * 7;
    let mut both = Both::new(true);
    both.commit(0, OPERATIONS);
    both.graph.close().unwrap();
    let options = options(true).memory_limit(2 * LEAST_MEMORY_LIMIT);
    both.graph = options.open_on(both.disk.handle()).unwrap();
    both.graph.checkpoint().unwrap();
    let (class, repeat, errno) = (FaultClass::Read, Repeat::Once, errno::EIO);
    let (at, site) = (both.disk.read_count(), Some("open:csr"));
    both.disk.plan_fault(Fault { class, at, site, repeat, errno });
    both.graph.compact().unwrap();
    both.disk.clear_faults();
    // More than half of the lists are in memory, and change there. The others get operations in inboxes.
    let snapshot = both.graph.snapshot().unwrap();
    for u in (0..IN_MEMORY).cycle().take(2 * IN_MEMORY as usize) {
        let lists = [Direction::Out, Direction::In].map(|direction| snapshot.neighbors(u, direction));
        assert!(lists.iter().all(|list| list.is_ok()));
    }
    drop(snapshot);
    let edges: Vec<(u64, u64)> = (0..IN_MEMORY).step_by(8).map(|u| (u, IN_MEMORY - 1 - u)).collect();
    both.graph.transact(1, |tx: &mut WriteTxn| tx.put_edges(&edges)).unwrap();
    both.changes.extend(edges.iter().map(|&edge| (edge, Some(1.0))));
    both.commit(1, OPERATIONS);
    let stats = both.graph.stats().unwrap();
    assert!(stats.inbox_bytes > 0, "{stats:?}");
    let written = both.graph.checkpoint().unwrap();
    assert_eq!(written.segments, 1, "{written:?} merges the segment, {stats:?}");
    both.compare_all(&both.graph.snapshot().unwrap());
    both.crash();
    both.compare_all(&both.graph.snapshot().unwrap());
}
