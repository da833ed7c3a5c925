//! The threads that use the store during a soak.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hedgerow::{CommitError, Direction, Error, Graph, KeyKind, Options, Snapshot, Topology, VertexId};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Generator, Model, ModelConfig, ModelOp, SimFs};

use crate::common;

pub(crate) const CONFIG: ModelConfig =
    ModelConfig { directed: true, weighted: true, keys: KeyKind::U64, rich: true };
/// The number of vertices of each writer. It is small, so the graph reaches a stable size.
const VERTICES: u64 = 120;

/// The counts of finished work.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) commits: AtomicU64,
    pub(crate) singles: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) long_reads: AtomicU64,
    pub(crate) traversals: AtomicU64,
    pub(crate) upkeep: AtomicU64,
    pub(crate) backups: AtomicU64,
    pub(crate) samples: AtomicU64,
}

impl Counts {
    pub(crate) fn print(&self) {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        println!(
            "{} single operations, {} batches, {} traversals, {} times upkeep, {} samples",
            of(&self.singles),
            of(&self.batches),
            of(&self.traversals),
            of(&self.upkeep),
            of(&self.samples)
        );
    }
}

fn add(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

/// A writer with its own vertices, and a model of their expected content.
pub(crate) struct Writer {
    generator: Generator,
    pub(crate) model: Model,
}

impl Writer {
    pub(crate) fn new(seed: u64, number: u64) -> Writer {
        let generator = Generator::new(CONFIG, seed ^ (number << 40), 1 + number * VERTICES, VERTICES);
        Writer { generator, model: Model::new(CONFIG) }
    }

    pub(crate) fn work(&mut self, graph: &Graph, over: &AtomicBool, counts: &Counts) {
        while !over.load(Ordering::Relaxed) {
            match self.generator.rng().below(40) {
                0 => self.batch(graph, counts),
                1..16 => self.single(graph, counts),
                _ => self.transaction(graph),
            }
            add(&counts.commits);
        }
    }

    fn transaction(&mut self, graph: &Graph) {
        let ops = self.generator.transaction(Some(&self.model), 24);
        self.commit(graph, &ops);
    }

    fn commit(&mut self, graph: &Graph, ops: &[ModelOp]) {
        let all = |tx: &mut hedgerow::WriteTxn| {
            ops.iter().try_for_each(|op| common::apply(tx, CONFIG.weighted, op).map(drop))
        };
        graph.transact(1_000_000, all).expect("a commit");
        ops.iter().for_each(|op| _ = self.model.apply(op));
    }

    /// Commits several hundred edges, and later removes many of them with their vertices.
    fn batch(&mut self, graph: &Graph, counts: &Counts) {
        let weight = self.generator.rng().below(1000) as f64;
        let mut ops: Vec<ModelOp> =
            (0..400).map(|_| ModelOp::PutEdge(self.generator.key(), self.generator.key(), weight)).collect();
        self.commit(graph, &ops);
        ops.clear();
        ops.extend((0..40).map(|_| ModelOp::RemoveVertex(self.generator.key())));
        self.commit(graph, &ops);
        add(&counts.batches);
    }

    fn single(&mut self, graph: &Graph, counts: &Counts) {
        let op = self.generator.op(Some(&self.model));
        loop {
            match common::apply_alone(graph, CONFIG.weighted, &op) {
                Some(Err(Error::Commit(CommitError::Conflict { .. }))) => {}
                Some(done) => {
                    done.expect("a commit");
                    break;
                }
                None => return self.commit(graph, &[op]),
            }
        }
        self.model.apply(&op);
        add(&counts.singles);
    }
}

/// Returns the vertex count, the edge count and a checksum of a snapshot's edges.
fn digest(snapshot: &Snapshot) -> (u64, u64, u64) {
    let mut sum = 0u64;
    snapshot
        .default_label()
        .for_each_edge(|src, dst, weight| {
            let edge = (u64::from(src.0) << 32 | u64::from(dst.0)) ^ weight.to_bits();
            sum = sum.wrapping_add(edge.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        })
        .unwrap();
    (snapshot.vertex_count(), snapshot.edge_count().unwrap(), sum)
}

fn rest(over: &AtomicBool, time: Duration) {
    let until = Instant::now() + time;
    while !over.load(Ordering::Relaxed) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Opens snapshots and keeps them while other threads write. Each snapshot has the same content at its end.
pub(crate) fn long_reads(graph: &Graph, over: &AtomicBool, counts: &Counts, seed: u64) {
    let mut rng = SplitMix64::new(seed);
    while !over.load(Ordering::Relaxed) {
        let snapshot = graph.snapshot().expect("a snapshot");
        let before = digest(&snapshot);
        rest(over, Duration::from_millis(50 + rng.below(400)));
        assert_eq!(digest(&snapshot), before, "a snapshot changed");
        add(&counts.long_reads);
    }
}

/// Traverses views and compares the counts.
pub(crate) fn traversals(graph: &Graph, over: &AtomicBool, counts: &Counts) {
    while !over.load(Ordering::Relaxed) {
        let snapshot = graph.snapshot().expect("a snapshot");
        let view = snapshot.default_label().view().unwrap();
        let mut seen = vec![false; view.vertex_bound()];
        let (mut queue, mut edges) = (std::collections::VecDeque::new(), 0u64);
        for root in view.vertices() {
            if std::mem::replace(&mut seen[root.0 as usize], true) {
                continue;
            }
            queue.push_back(root);
            while let Some(v) = queue.pop_front() {
                view.for_each_weighted(v, Direction::Out, |w: VertexId, _| {
                    edges += 1;
                    if !std::mem::replace(&mut seen[w.0 as usize], true) {
                        queue.push_back(w);
                    }
                });
            }
        }
        assert_eq!(edges, view.directed_edges(), "a traversal meets every edge");
        add(&counts.traversals);
        rest(over, Duration::from_millis(10));
    }
}

/// Runs checkpoints, settling, compaction and backups, concurrently with all other work.
pub(crate) fn upkeep(graph: &Graph, over: &AtomicBool, counts: &Counts, seed: u64) {
    let mut rng = SplitMix64::new(!seed);
    let mut turn = rng.below(4);
    while !over.load(Ordering::Relaxed) {
        match turn % 4 {
            0 => _ = graph.checkpoint().expect("a checkpoint"),
            1 => graph.settle().expect("settling"),
            2 => _ = graph.compact().expect("compaction"),
            _ => backup(graph, counts),
        }
        turn += 1;
        add(&counts.upkeep);
        rest(over, Duration::from_millis(60 + rng.below(120)));
    }
}

fn backup(graph: &Graph, counts: &Counts) {
    let copy = SimFs::new();
    let done = graph.backup_on(copy.handle()).expect("a backup");
    let restored = Options::new().create(false).open_on(copy.handle()).expect("the backup opens");
    common::sound(&restored).unwrap_or_else(|e| panic!("a backup: {e}"));
    let snapshot = restored.snapshot().expect("a snapshot");
    assert_eq!((snapshot.timestamp(), snapshot.vertex_count()), (done.timestamp, done.vertices));
    add(&counts.backups);
}
