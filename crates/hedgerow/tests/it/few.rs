//! Transactions of a few blind operations on edges. The tests compare them with the model and with the
//! schedule of large transactions, and run them on several threads.

use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow::{Direction, Graph, KeyKind, Thresholds, VertexKey};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{BulkOp, Model, ModelConfig, ModelOp, SimFs, vertex_key};

use crate::common;

/// The number of vertices. They are in several subgraphs; vertices with smaller numbers have longer lists.
const VERTICES: u64 = 400;
const TRANSACTIONS: u64 = 300;
const MOST_OPERATIONS: u64 = 40;
/// The thresholds: with 0 every transaction takes the way of large ones, with 1,024 it takes the way of few
/// operations if it can.
const FEW_UP_TO: [usize; 2] = [0, 1 << 10];

fn end(rng: &mut SplitMix64, config: ModelConfig) -> VertexKey {
    vertex_key(config, rng.below(VERTICES) * rng.below(VERTICES) / VERTICES)
}

/// Makes operations of one kind.
fn operations(rng: &mut SplitMix64, config: ModelConfig, count: u64) -> ModelOp {
    let edges =
        |rng: &mut SplitMix64| (0..count).map(|_| (end(rng, config), end(rng, config))).collect::<Vec<_>>();
    ModelOp::Bulk(match rng.below(8) {
        0..3 => BulkOp::Remove(edges(rng)),
        3..5 => BulkOp::Insert(edges(rng)),
        5 if config.weighted => {
            let weighted = edges(rng).into_iter().map(|(a, b)| (a, b, rng.below(4) as f64 / 2.0));
            BulkOp::PutWeighted(weighted.collect())
        }
        _ => BulkOp::Put(edges(rng)),
    })
}

/// Checks random transactions. Most operations are on existing vertices, some transactions name an edge
/// twice, some make vertices.
fn agrees(config: ModelConfig, few_up_to: usize, seed: u64) {
    let what = format!("{config:?}, few up to {few_up_to}");
    let disk = SimFs::new();
    let options = || common::options(config).thresholds(Thresholds { few_up_to, ..Thresholds::SMALL });
    let graph = options().open_on(disk.handle()).unwrap();
    let (mut rng, mut model, mut held) = (SplitMix64::new(seed), Model::new(config), Vec::new());
    for nth in 0..TRANSACTIONS {
        let mut tx = graph.write().unwrap();
        for _ in 0..=rng.below(2) {
            let count = 1 + rng.below(MOST_OPERATIONS) * rng.below(MOST_OPERATIONS) / MOST_OPERATIONS;
            let op = operations(&mut rng, config, count);
            model.apply(&op);
            common::apply(&mut tx, config.weighted, &op).unwrap();
        }
        tx.commit().unwrap();
        if nth % 60 == 0 {
            held.push((graph.snapshot().unwrap(), model.clone()));
        }
        if nth == TRANSACTIONS / 2 {
            graph.checkpoint().unwrap();
        }
    }
    held.push((graph.snapshot().unwrap(), model.clone()));
    for (snapshot, model) in held.drain(..) {
        common::same(&snapshot, config, &model).unwrap_or_else(|e| panic!("{what}: {e}"));
    }
    assert!(graph.check().unwrap().is_ok(), "{what}");
    graph.close().unwrap();
    let again = options().open_on(disk.handle()).unwrap();
    assert!(common::content(&again.snapshot().unwrap(), config) == model, "{what}: opened again");
}

#[test]
fn a_few_operations_leave_what_the_model_does() {
    for (nth, few_up_to) in (0..).zip(FEW_UP_TO) {
        for config in ModelConfig::all() {
            agrees(config, few_up_to, 40 + nth);
        }
    }
}

const STARS: u64 = 12;
const LEAVES: u64 = 20;

fn center(star: u64) -> u64 {
    star * 100
}

/// Returns the edges of a star in a special order; all stars have the same leaves.
fn star(of: u64) -> impl Iterator<Item = (u64, u64)> {
    let step = [1, 3, 7, 9, 11, 13, 17, 19][of as usize % 8];
    (0..LEAVES).map(move |leaf| (center(of), 50 + leaf * step % LEAVES * 64))
}

fn put_and_remove_stars(graph: &Graph, seed: u64) {
    let mut rng = SplitMix64::new(seed);
    for _ in 0..400 {
        let (mut tx, of) = (graph.write().unwrap(), rng.below(STARS));
        let asked = if rng.eighths(4) { tx.put_edges(star(of)) } else { tx.remove_edges(star(of)) };
        asked.unwrap();
        tx.commit().unwrap();
    }
}

/// Checks that a star has all of its edges or none, at its center and at the leaves.
fn see_whole_stars(graph: &Graph, done: &AtomicBool) {
    loop {
        let last = done.load(Ordering::Relaxed);
        let snapshot = graph.snapshot().unwrap();
        let degree = |of, direction| snapshot.degree(of, direction).unwrap().unwrap() as u64;
        let degrees: Vec<u64> = (0..STARS).map(|of| degree(center(of), Direction::Out)).collect();
        assert!(degrees.iter().all(|&d| d == 0 || d == LEAVES), "{degrees:?}");
        assert_eq!(snapshot.edge_count().unwrap(), degrees.iter().sum::<u64>());
        let whole = degrees.iter().filter(|d| **d > 0).count() as u64;
        assert!(star(0).all(|(_, leaf)| degree(leaf, Direction::In) == whole), "{degrees:?}");
        if last {
            return;
        }
    }
}

/// Writers put and remove whole stars; readers never see a part of a star.
#[test]
fn a_few_operations_are_seen_together() {
    for directed in [true, false] {
        let options = common::small().directed(directed).keys(KeyKind::Dense);
        let thresholds = Thresholds { few_up_to: 64, ..Thresholds::SMALL };
        let graph = options.thresholds(thresholds).in_memory().unwrap();
        graph.transact(1, |tx| (0..STARS).flat_map(star).try_for_each(|(a, b)| tx.put_edge((a, b)))).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let graph = &graph;
            let writers = [1, 2, 3].map(|seed| scope.spawn(move || put_and_remove_stars(graph, seed)));
            scope.spawn(|| see_whole_stars(graph, &done));
            let ended = writers.map(|writer| writer.join());
            done.store(true, Ordering::Relaxed);
            ended.into_iter().for_each(|writer| writer.unwrap());
        });
        assert!(graph.check().unwrap().is_ok());
    }
}
