//! Checkpoints that write only changed data, their merges, and the bound of the log.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hedgerow::{Direction, Durability, EdgeKey, Graph, KeyKind, LabelOptions};
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, SplitMix64, errno};
use hedgerow_testkit::{FOR_EVER, Generator, Model, ModelConfig, ModelOp, SimFs, explored, vertex_key};

use crate::common;

/// Makes a dense graph of `vertices` vertices in a ring.
fn ring(disk: &SimFs, vertices: u64) -> Graph {
    let options = crate::common::small().directed(false).keys(KeyKind::Dense).background_settling(false);
    let graph = options.open_on(disk.handle()).unwrap();
    let edges: Vec<(u64, u64)> = (0..vertices).map(|v| (v, (v + 1) % vertices)).collect();
    graph.insert_edges(&edges).unwrap();
    graph
}

#[test]
fn a_checkpoint_costs_what_changed() {
    let disk = SimFs::new();
    let graph = ring(&disk, 64 * 500);
    let whole = graph.checkpoint().unwrap();
    assert_eq!((whole.subgraphs, whole.segments), (500, 1));
    // Two edges, each with both ends in one subgraph.
    graph.insert_edge((10, 20)).unwrap();
    graph.insert_edge((64 * 300 + 5, 64 * 300 + 9)).unwrap();
    let few = graph.checkpoint().unwrap();
    assert_eq!((few.subgraphs, few.segments), (2, 2));
    assert!(few.bytes * 100 < whole.bytes, "{} of {} bytes", few.bytes, whole.bytes);
    let again = graph.checkpoint().unwrap();
    assert_eq!((again.subgraphs, again.bytes, again.segments), (0, 0, 2), "nothing changed");
    let compact = graph.compact().unwrap();
    assert_eq!((compact.subgraphs, compact.segments), (500, 1));
    graph.close().unwrap();
    let graph = crate::common::small().create(false).open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 64 * 500 + 2);
    common::sound(&graph).unwrap();
}

/// The number of segments, their bytes, and their valid bytes stay within the bounds of the design page.
#[test]
fn many_checkpoints_leave_few_segments_and_little_waste() {
    let disk = SimFs::new();
    let graph = ring(&disk, 64 * 100);
    let (mut rng, mut written, mut most) = (SplitMix64::new(5), 0, 0);
    for _ in 0..120 {
        for _ in 0..3 {
            let v = 64 * rng.below(100) + rng.below(60);
            graph.insert_edge((v, v + 2)).unwrap();
        }
        let done = graph.checkpoint().unwrap();
        written += done.subgraphs;
        let stats = graph.stats().unwrap();
        most = most.max(stats.segments);
        assert!(stats.segments <= 8);
        assert!(stats.segment_bytes <= 2 * stats.segment_live_bytes + (128 << 10), "{stats:?}");
    }
    assert!(written < 120 * 25, "{written} subgraphs were written, 360 changed");
    explored("segments at once", most, 4);
}

#[test]
fn what_is_removed_does_not_come_back() {
    let disk = SimFs::new();
    let options = crate::common::small().background_settling(false);
    let graph = options.clone().open_on(disk.handle()).unwrap();
    for v in 0..640u64 {
        graph.insert_edge((v, (v + 1) % 640)).unwrap();
    }
    graph.checkpoint().unwrap();
    // The vertices of exactly one subgraph: the store assigns ids in order.
    let mut tx = graph.write().unwrap();
    for v in 64..128u64 {
        assert!(tx.remove_vertex(v).unwrap());
    }
    tx.commit().unwrap();
    let done = graph.checkpoint().unwrap();
    assert!(done.subgraphs == 3 && done.segments == 2, "{done:?}");
    graph.close().unwrap();
    let graph = options.clone().open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().vertex_count(), 576);
    assert!(!graph.snapshot().unwrap().contains_vertex(100).unwrap());
    common::sound(&graph).unwrap();
    graph.compact().unwrap();
    graph.close().unwrap();
    let graph = options.open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().vertex_count(), 576);
    common::sound(&graph).unwrap();
}

/// The second run shows that a subgraph has no edge of a label any more; the page has only this image. The
/// store is reopened. Then a third checkpoint merges the second run, while the first run, which shows the
/// edge, stays.
#[test]
fn the_last_edge_of_a_label_does_not_come_back_when_runs_are_merged() {
    let disk = SimFs::new();
    let graph = ring(&disk, 64 * 100);
    graph.define_label("near", LabelOptions::new()).unwrap();
    let (gone, other) = (64 * 70, 7);
    let change = |graph: &Graph, change: &dyn Fn(&mut hedgerow::WriteTxn)| {
        let mut tx = graph.write().unwrap();
        change(&mut tx);
        tx.commit().unwrap();
        graph.checkpoint().unwrap().segments
    };
    let near = |v: u64| EdgeKey::new("near", v, v + 1);
    let put = |tx: &mut hedgerow::WriteTxn, v| tx.put_edge_with(near(v), [] as [(&str, i64); 0]).unwrap();
    change(&graph, &|tx| [gone, other].into_iter().for_each(|v| put(tx, v)));
    assert_eq!(change(&graph, &|tx| assert!(tx.remove_edge(near(gone)).unwrap())), 2, "runs");
    graph.close().unwrap();
    let reopen = || crate::common::small().create(false).open_on(disk.handle()).unwrap();
    let graph = reopen();
    assert_eq!(change(&graph, &|tx| put(tx, other + 9)), 2, "runs: the third takes the second in");
    graph.close().unwrap();
    let graph = reopen();
    let snapshot = graph.snapshot().unwrap();
    for (v, is_there) in [(gone, false), (other, true), (other + 9, true)] {
        let found = snapshot.edges(v, ("near", Direction::Out)).unwrap().unwrap();
        assert_eq!(!found.is_empty(), is_there, "{v}");
    }
    common::sound(&graph).unwrap();
}

/// Random operations on graphs of every kind, with checkpoints, compactions and reopening in between.
#[test]
fn stores_of_several_segments_agree_with_the_model() {
    let (mut reopened, mut most) = (0, 0);
    for (seed, config) in ModelConfig::all().enumerate() {
        let disk = SimFs::new();
        let options = common::options(config).log_segment_bytes(16 << 10).durability(Durability::Manual);
        let mut graph = options.clone().open_on(disk.handle()).unwrap();
        let mut generator = Generator::new(config, seed as u64, 0, 700);
        let mut model = Model::new(config);
        if config.rich {
            common::rich::define_all(&graph).unwrap();
        }
        let mut tx = graph.write().unwrap();
        for n in 0..640 {
            let op = ModelOp::InsertVertex(vertex_key(config, n));
            model.apply(&op);
            common::apply(&mut tx, config.weighted, &op).unwrap();
        }
        tx.commit().unwrap();
        for round in 0..24u64 {
            let mut tx = graph.write().unwrap();
            for op in generator.transaction(Some(&model), if round % 8 == 0 { 200 } else { 5 }) {
                model.apply(&op);
                common::apply(&mut tx, config.weighted, &op).unwrap();
            }
            tx.commit().unwrap();
            if round % 11 == 10 {
                graph.compact().unwrap();
            } else {
                most = most.max(graph.checkpoint().unwrap().segments);
            }
            if round % 3 == 2 {
                graph.close().unwrap();
                graph = options.clone().open_on(disk.handle()).unwrap();
                common::same(&graph.snapshot().unwrap(), config, &model)
                    .unwrap_or_else(|e| panic!("{config:?} round {round}: {e}"));
                common::sound(&graph).unwrap_or_else(|e| panic!("{config:?} round {round}: {e}"));
                reopened += 1;
            }
        }
    }
    explored("stores of several segments reopened", reopened, 90);
    explored("segments at once", most as u64, 4);
}

const LIMIT: u64 = 64 << 10;
const SEGMENT: u64 = 16 << 10;

/// Writers run as fast as they can, and no program calls for a checkpoint. The log on the disk stays within
/// its bound all the time, and no edge is lost.
#[test]
fn the_log_stays_bounded_under_writers() {
    const WRITERS: u64 = 3;
    let disk = SimFs::new();
    let options = crate::common::small()
        .durability(Durability::Manual)
        .log_segment_bytes(SEGMENT)
        .checkpoint_log_bytes(LIMIT)
        .background_settling(false);
    let graph = options.clone().open_on(disk.handle()).unwrap();
    let over = AtomicBool::new(false);
    let mut most = 0;
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|w| {
                let graph = &graph;
                scope.spawn(move || {
                    let mut most = 0;
                    for i in 0..1_000u64 {
                        let edges: Vec<(u64, u64)> =
                            (0..20).map(|k| (w * 10_000 + i, w * 10_000 + i + k + 1)).collect();
                        graph.insert_edges(&edges).unwrap();
                        // The watching thread may not get a processor.
                        if i % 16 == 0 {
                            most = most.max(graph.stats().unwrap().log_bytes);
                        }
                    }
                    most
                })
            })
            .collect();
        let watch = scope.spawn(|| {
            let mut most = 0;
            while !over.load(Ordering::SeqCst) {
                most = most.max(graph.stats().unwrap().log_bytes);
            }
            most
        });
        let seen = writers.into_iter().map(|w| w.join().unwrap()).fold(0, u64::max);
        over.store(true, Ordering::SeqCst);
        most = seen.max(watch.join().unwrap());
    });
    let stats = graph.stats().unwrap();
    assert_eq!(stats.failed_checkpoints, 0, "{:?}", graph.checkpoint_error());
    explored("checkpoints in the background", stats.background_checkpoints, 3);
    explored("bytes of the log at most", most, LIMIT / 2);
    // One record of each writer may pass the gate.
    assert!(most <= 2 * LIMIT + SEGMENT + WRITERS * 1024, "{most} bytes of log");
    let edges = graph.snapshot().unwrap().edge_count().unwrap();
    assert_eq!(edges, WRITERS * 1_000 * 20);
    graph.close().unwrap();
    let graph = options.open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), edges);
    common::sound(&graph).unwrap();
}

/// A checkpoint that finds no space leaves the store usable and reports the reason. When the disk has space,
/// a later checkpoint succeeds.
#[test]
fn a_failure_in_the_background_is_told_and_made_good() {
    let disk = SimFs::new();
    let options = crate::common::small().log_segment_bytes(SEGMENT).checkpoint_log_bytes(LIMIT);
    let graph = options.background_settling(false).open_on(disk.handle()).unwrap();
    let write = |from: u64| {
        let edges: Vec<(u64, u64)> = (from..from + 100).map(|v| (v, v + 1)).collect();
        graph.insert_edges(&edges).unwrap();
    };
    (0..24).for_each(|i| write(i * 100));
    // The disk has room for the log, but not for a segment in addition.
    disk.plan_fault(Fault {
        class: FaultClass::Change,
        at: 0,
        site: Some("create:csr"),
        repeat: Repeat::Forever,
        errno: errno::ENOSPC,
    });
    // A growing log requests checkpoints. The pause after each commit gives the checkpoint thread a
    // processor.
    let (begun, mut next) = (Instant::now(), 24);
    let mut write_on = |what: &str| {
        assert!(begun.elapsed() < FOR_EVER, "{what}");
        write(next * 100);
        next += 1;
        std::thread::sleep(Duration::from_millis(1));
    };
    while graph.stats().unwrap().failed_checkpoints == 0 {
        write_on("no checkpoint was tried");
    }
    assert!(graph.checkpoint_error().is_some());
    disk.clear_faults();
    while graph.checkpoint_error().is_some() {
        write_on("no checkpoint was tried again");
    }
    assert!(graph.stats().unwrap().background_checkpoints > 0);
    graph.close().unwrap();
}
