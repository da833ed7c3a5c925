//! Transactions of many blind operations agree with the model, and with the same operations one by one: in
//! content, in counts, and after replay of the log.

use hedgerow::{Direction, Durability, EdgeKey, Error, Graph, KeyKind, Value};
use hedgerow_testkit::{Effort, Generator, Model, ModelConfig, ModelOp, RichOp, SimFs, explored};

use crate::common;

/// Adds the operations to a transaction as blind operations, with one call for each operation.
fn add(tx: &mut hedgerow::WriteTxn, weighted: bool, ops: &[ModelOp]) -> hedgerow::Result<()> {
    for op in ops {
        match op {
            ModelOp::PutEdge(src, dst, weight) if weighted => {
                tx.put_edges([(src.as_ref(), dst.as_ref(), *weight)])
            }
            ModelOp::PutEdge(src, dst, _) => tx.put_edges([(src.as_ref(), dst.as_ref())]),
            ModelOp::InsertEdge(src, dst, _) => tx.insert_edges([(src.as_ref(), dst.as_ref())]),
            ModelOp::RemoveEdge(src, dst) => tx.remove_edges([(src.as_ref(), dst.as_ref())]),
            ModelOp::Rich(RichOp::Put(item, props)) => {
                let (names, values): (Vec<&str>, Vec<_>) =
                    props.iter().map(|(name, value)| (name.as_str(), value.clone())).unzip();
                tx.put_edges_with(item.label, &names, [(&item.src, &item.dst, values)])
            }
            ModelOp::Rich(RichOp::PutVertex(key, props)) => {
                let (names, values): (Vec<&str>, Vec<_>) =
                    props.iter().map(|(name, value)| (name.as_str(), value.clone())).unzip();
                tx.put_vertices_with(key.kind(), &names, [(key, values)])
            }
            ModelOp::InsertVertex(_) | ModelOp::RemoveVertex(_) | ModelOp::Rich(_) | ModelOp::Bulk(_) => {
                Ok(())
            }
        }?;
    }
    Ok(())
}

/// Returns operations on edges of the default label. With `all`, also operations on edges of the other labels
/// without ranks, and on vertices. Blind insertions have weight 1.
fn operations(generator: &mut Generator, model: &Model, count: usize, all: bool) -> Vec<ModelOp> {
    let mut ops = Vec::new();
    while ops.len() < count {
        match generator.op(Some(model)) {
            ModelOp::Rich(RichOp::Put(item, props))
                if item.label.is_empty() || all && item.label == "knows" =>
            {
                ops.push(ModelOp::Rich(RichOp::Put(item, props)));
            }
            ModelOp::Rich(RichOp::PutVertex(key, props)) if all => {
                ops.push(ModelOp::Rich(RichOp::PutVertex(key, props)));
            }
            ModelOp::InsertVertex(_) | ModelOp::RemoveVertex(_) | ModelOp::Rich(_) | ModelOp::Bulk(_) => {}
            ModelOp::InsertEdge(src, dst, _) => ops.push(ModelOp::InsertEdge(src, dst, 1.0)),
            op => ops.push(op),
        }
    }
    ops
}

fn round(seed: u64) -> Result<u64, String> {
    let config = ModelConfig::all().nth((seed % 12) as usize).expect("twelve kinds");
    let config = if (seed + seed / 12).is_multiple_of(2) { config } else { config.with_labels() };
    let universe = [4, 60, 500, 20_000][((seed / 24 + seed % 12 / 2) % 4) as usize];
    let disk = SimFs::new();
    let options =
        common::options(config).durability([Durability::Sync, Durability::Manual][(seed % 2) as usize]);
    let graph = options.clone().open_on(disk.handle()).map_err(|e| e.to_string())?;
    if config.rich {
        common::rich::define_labels(&graph).map_err(|e| e.to_string())?;
    }
    let (mut generator, mut model) = (Generator::new(config, seed, 0, universe), Model::new(config));
    let mut held = Vec::new();
    let mut done = 0;
    for count in [2, 9, 300, 40, 6_000, 3, 900] {
        let ops = operations(&mut generator, &model, count, (seed / 2).is_multiple_of(2));
        let mut tx = graph.write().map_err(|e| e.to_string())?;
        add(&mut tx, config.weighted, &ops).map_err(|e| e.to_string())?;
        held.push((graph.snapshot().map_err(|e| e.to_string())?, model.clone()));
        tx.commit().map_err(|e| e.to_string())?;
        ops.iter().for_each(|op| _ = model.apply(op));
        common::same_in_all_reads(&graph.snapshot().map_err(|e| e.to_string())?, config, &model)?;
        done += count as u64;
        let op = ModelOp::RemoveVertex(generator.key());
        let mut tx = graph.write().map_err(|e| e.to_string())?;
        common::apply(&mut tx, config.weighted, &op).map_err(|e| e.to_string())?;
        tx.commit().map_err(|e| e.to_string())?;
        model.apply(&op);
    }
    for (snapshot, model) in held {
        common::same(&snapshot, config, &model).map_err(|e| format!("old snapshot: {e}"))?;
    }
    common::sound(&graph)?;
    graph.close().map_err(|e| e.to_string())?;
    let graph = options.open_on(disk.handle()).map_err(|e| e.to_string())?;
    common::same(&graph.snapshot().map_err(|e| e.to_string())?, config, &model)?;
    Ok(done)
}

#[test]
fn large_blind_transactions_agree_with_the_model() {
    let effort = Effort::rounds(24);
    let done = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(seed) = effort.next_seed() {
                    let of_round =
                        round(seed).unwrap_or_else(|e| panic!("replay with HEDGEROW_ROUND={seed}: {e}"));
                    done.fetch_add(of_round, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    explored("operations of large blind transactions", done.into_inner(), 150_000);
}

#[test]
fn what_large_transactions_insert_is_counted_once_beside_single_operations() {
    let graph = crate::common::small().directed(false).keys(KeyKind::U64).in_memory().unwrap();
    let edges: Vec<(u64, u64)> = (0..40_000u64).map(|i| (i * 7919 % 3000, i * 104_729 % 2999)).collect();
    let batches = |part: usize| {
        let graph: Graph = graph.clone();
        let edges = edges.clone();
        move || edges.chunks(10_000).skip(part).map(|batch| graph.insert_edges(batch).unwrap()).sum::<u64>()
    };
    let singles = {
        let (graph, edges) = (graph.clone(), edges.clone());
        move || {
            edges.iter().rev().step_by(7).filter(|&&(a, b)| graph.insert_edge((b, a)).unwrap()).count() as u64
        }
    };
    let threads =
        [std::thread::spawn(batches(0)), std::thread::spawn(batches(1)), std::thread::spawn(singles)];
    let new: u64 = threads.into_iter().map(|t| t.join().unwrap()).sum();
    let distinct: std::collections::BTreeSet<_> = edges.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
    let snapshot = graph.snapshot().unwrap();
    assert_eq!((snapshot.edge_count().unwrap(), new), (distinct.len() as u64, distinct.len() as u64));
    for &(a, b) in &edges {
        assert!(snapshot.contains_edge((a, b)).unwrap());
    }
    assert_eq!(
        snapshot.degree(0, ("", Direction::Out)).unwrap().unwrap(),
        distinct.iter().filter(|e| e.0 == 0 || e.1 == 0).count()
    );
    common::sound(&graph).unwrap();
}

#[test]
fn a_refused_edge_adds_none_of_its_batch() {
    let graph = crate::common::small().keys(KeyKind::Dense).in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    tx.put_edges([(1u64, 2u64)]).unwrap();
    assert!(tx.put_edges([(3, 4), (5, u64::MAX)]).is_err());
    assert!(tx.put_edges([(3u64, 4u64, 1.0)]).is_err());
    // The call refuses the edges from their announced number, before it makes room for them.
    let endless = std::iter::repeat_n((3u64, 4u64), usize::MAX);
    assert!(matches!(
        tx.insert_edges(endless),
        Err(hedgerow::Error::Argument(hedgerow::ArgumentError::TooLarge { .. }))
    ));
    assert_eq!(tx.operation_count(), 1);
    tx.commit().unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 1);
    let weighted = crate::common::small().weighted(true).in_memory().unwrap();
    let mut tx = weighted.write().unwrap();
    assert!(tx.put_edges([(1u64, 2u64, 1.0), (2, 3, f64::NAN)]).is_err());
    assert_eq!(tx.operation_count(), 0);
}

#[test]
fn batches_on_hubs_are_seen_whole_or_not_at_all_beside_single_operations() {
    const HUBS: u64 = 3;
    const BATCH: u64 = 400;
    const ROUNDS: u64 = 40;
    const SINGLE: u64 = 1 << 20;
    let graph = crate::common::small().directed(false).keys(KeyKind::U64).in_memory().unwrap();
    let edges = |round: u64| -> Vec<(u64, u64)> {
        // Each edge comes twice, once in each direction: duplicates count once.
        let of = |i: u64| {
            let (hub, other) = (i % HUBS, HUBS + round * BATCH + i / HUBS / 2);
            if (i / HUBS).is_multiple_of(2) { (hub, other) } else { (other, hub) }
        };
        (0..BATCH * HUBS * 2).map(of).collect()
    };
    let done = std::sync::atomic::AtomicBool::new(false);
    let rounds_seen = |snapshot: &hedgerow::Snapshot, hub: u64| -> Vec<u64> {
        let all = snapshot.neighbors(hub, ("", Direction::Out)).unwrap().unwrap_or_default();
        let numbers = all.iter().map(|key| match key {
            hedgerow::VertexKey::U64(n) => *n,
            other => panic!("{other:?}"),
        });
        let mut counts = std::collections::BTreeMap::new();
        numbers.filter(|&n| n < SINGLE).for_each(|n| *counts.entry((n - HUBS) / BATCH).or_insert(0) += 1);
        assert!(counts.values().all(|&n| n == BATCH), "part of a batch at {hub}: {counts:?}");
        counts.into_keys().collect()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..ROUNDS {
                let mut tx = graph.write().unwrap();
                tx.put_edges(edges(round)).unwrap();
                if let Some(old) = round.checked_sub(2) {
                    tx.remove_edges(edges(old)).unwrap();
                }
                tx.commit().unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::SeqCst);
        });
        scope.spawn(|| (0..2_000u64).for_each(|i| _ = graph.insert_edge((i % HUBS, SINGLE + i)).unwrap()));
        let mut held = Vec::new();
        while !done.load(std::sync::atomic::Ordering::SeqCst) {
            let snapshot = graph.snapshot().unwrap();
            let seen = rounds_seen(&snapshot, 0);
            assert!(seen.len() <= 2, "{seen:?}");
            (1..HUBS).for_each(|hub| assert_eq!(rounds_seen(&snapshot, hub), seen));
            held.push((snapshot, seen));
        }
        for (snapshot, seen) in held {
            (0..HUBS).for_each(|hub| assert_eq!(rounds_seen(&snapshot, hub), seen));
        }
    });
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(rounds_seen(&snapshot, 0), [ROUNDS - 2, ROUNDS - 1]);
    assert_eq!(snapshot.edge_count().unwrap(), 2 * BATCH * HUBS + 2_000);
    common::sound(&graph).unwrap();
}

/// If a key names another vertex by the time that a large transaction holds the latches, the transaction
/// looks up its keys again.
#[test]
fn keys_that_move_under_a_large_transaction_are_looked_up_again() {
    const KEYS: u64 = 6;
    const ROUNDS: u64 = 3_000;
    let graph = crate::common::small().directed(false).keys(KeyKind::U64).in_memory().unwrap();
    let edges: Vec<(u64, u64)> =
        (0..KEYS).flat_map(|a| (0..400).map(move |b| (a, KEYS + (a + b) % 40))).collect();
    std::thread::scope(|scope| {
        let done = std::sync::Arc::new(());
        let running = done.clone();
        let graph = &graph;
        scope.spawn(move || {
            let _running = running;
            for round in 0..ROUNDS {
                let mut tx = graph.write().unwrap();
                tx.put_edges(&edges[(round % KEYS) as usize * 400..][..400]).unwrap();
                tx.commit().unwrap();
            }
        });
        for key in (0..KEYS).cycle() {
            let mut tx = graph.write().unwrap();
            tx.remove_vertex(key).unwrap();
            match tx.commit() {
                Ok(_) | Err(hedgerow::Error::Commit(hedgerow::CommitError::Conflict { .. })) => {}
                Err(other) => panic!("{other}"),
            }
            if std::sync::Arc::strong_count(&done) == 1 {
                break;
            }
        }
    });
    let snapshot = graph.snapshot().unwrap();
    for key in 0..KEYS {
        for neighbor in snapshot.neighbors(key, ("", Direction::Out)).unwrap().unwrap_or_default() {
            assert!(snapshot.contains_vertex(neighbor.as_ref()).unwrap());
        }
    }
    common::sound(&graph).unwrap();
}

/// Values belong to the properties in order. A null, or a value that a row lacks, sets no property. A refused
/// call adds nothing.
#[test]
fn edges_come_with_values_in_the_order_of_the_properties() {
    let graph = common::small().weighted(true).in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    let rows: [(u64, u64, Vec<Value>); 3] = [
        (1, 2, vec![2001.into(), 0.5.into(), "school".into()]),
        (2, 3, vec![Value::Null, 0.25.into()]),
        (3, 1, vec![]),
    ];
    tx.put_edges_with("", &["since", "weight", "how"], rows).unwrap();
    assert_eq!(tx.operation_count(), 3);
    let refused: [(&[&str], Vec<Value>); 4] = [
        (&["since"], vec!["yesterday".into()]),
        (&["since"], vec![1.into(), 2.into()]),
        (&["weight"], vec![1.into()]),
        (&["weight"], vec![f64::NAN.into()]),
    ];
    for (properties, values) in refused {
        let edges = [(7, 8, vec![]), (8, 9, values)];
        let error = tx.put_edges_with("", properties, edges).unwrap_err();
        assert!(matches!(error, Error::Argument(_)), "{error}");
        assert_eq!(tx.operation_count(), 3);
    }
    tx.commit().unwrap();
    let snapshot = graph.snapshot().unwrap();
    let found = |src: u64, dst: u64| snapshot.edge_properties(EdgeKey::new("", src, dst)).unwrap().unwrap();
    let named = |cells: &[(&str, Value)]| -> Vec<(std::sync::Arc<str>, Value)> {
        cells.iter().map(|(name, value)| ((*name).into(), value.clone())).collect()
    };
    let first = [("weight", 0.5.into()), ("since", 2001.into()), ("how", "school".into())];
    assert_eq!(found(1, 2).into_iter().collect::<Vec<_>>(), named(&first));
    assert_eq!(found(2, 3).into_iter().collect::<Vec<_>>(), named(&[("weight", 0.25.into())]));
    assert_eq!(found(3, 1).into_iter().collect::<Vec<_>>(), named(&[("weight", 1.0.into())]));
    assert_eq!(snapshot.edge_count().unwrap(), 3);
}

/// A single edge with properties in its own transaction: the commit decides whether the edge is new, and the
/// call returns the decision.
#[test]
fn one_edge_is_put_and_inserted_with_properties() {
    let graph = common::small().in_memory().unwrap();
    let edge = || EdgeKey::new("", 1, 2);
    assert!(graph.insert_edge_with(edge(), [("n", 1)]).unwrap());
    assert!(!graph.insert_edge_with(edge(), [("n", 2)]).unwrap());
    let n = || graph.snapshot().unwrap().edge_property(edge(), "n").unwrap();
    assert_eq!(n(), Some(1.into()));
    assert!(!graph.put_edge_with(edge(), [("n", 3)]).unwrap());
    assert_eq!(n(), Some(3.into()));
    let before = graph.snapshot().unwrap().timestamp();
    assert!(!graph.put_edge_with(edge(), [("n", 3)]).unwrap());
    assert_eq!(graph.snapshot().unwrap().timestamp(), before, "nothing changed");
    assert!(!graph.put_edge((1, 2)).unwrap());
    assert_eq!(n(), Some(Value::Null), "an edge that is put has the properties it is put with");
    assert!(graph.put_edge_with(EdgeKey::new("knows", 1, 2), [("n", 3)]).unwrap());
    assert!(graph.put_edge_with(edge().rank(1), [("n", 3)]).is_err());
}
