//! Reads of many vertices at once, as columns, against the model and against the reads of one vertex.

use hedgerow::{Error, Graph, Snapshot, VertexId, VertexKey};
use hedgerow_testkit::{Effort, Generator, Model, ModelConfig, explored};

use crate::common;

/// Graphs of `make test`.
const GRAPHS: u64 = 96;
const TRANSACTIONS: u64 = 24;

/// A graph after random transactions, and its states at some snapshots, the last one too.
fn states(seed: u64) -> (Graph, Vec<(Snapshot, Model)>) {
    let plain = ModelConfig::all().nth((seed % 12) as usize).expect("twelve kinds");
    let config = if seed / 12 % 2 == 1 { plain.with_labels() } else { plain };
    let universe = [4, 40, 300][(seed / 24 % 3) as usize];
    let mut generator = Generator::new(config, seed, 0, universe).with_bulk();
    let reverse = !generator.rng().eighths(2);
    let graph = common::options(config).reverse(reverse).in_memory().unwrap();
    if config.rich {
        common::rich::define_labels(&graph).unwrap();
    }
    let mut model = Model::new(config);
    let mut states = Vec::new();
    for _ in 0..TRANSACTIONS {
        let mut tx = graph.write().unwrap();
        for op in generator.transaction(Some(&model), 30) {
            model.apply(&op);
            common::apply(&mut tx, config.weighted, &op).unwrap();
        }
        tx.commit().unwrap();
        match generator.rng().below(6) {
            0 => graph.settle().unwrap(),
            1 => states.push((graph.snapshot().unwrap(), model.clone())),
            _ => {}
        }
    }
    states.push((graph.snapshot().unwrap(), model));
    (graph, states)
}

fn for_all_graphs(check: impl Fn(&Snapshot, &Model)) {
    let effort = Effort::rounds(GRAPHS);
    let mut compared = 0;
    while let Some(seed) = effort.next_seed() {
        let (_graph, states) = states(seed);
        for (snapshot, model) in &states {
            check(snapshot, model);
        }
        compared += states.len() as u64;
    }
    explored("snapshots with columns", compared, 2 * GRAPHS);
}

#[test]
fn keys_by_id_are_those_of_one_vertex_each() {
    for_all_graphs(|snapshot, model| {
        let (ids, keys) = snapshot.all_vertex_keys().unwrap();
        assert!(ids.is_sorted());
        let mut found = keys.to_vec();
        found.sort();
        assert_eq!(found, model.vertices().cloned().collect::<Vec<VertexKey>>());
        let backwards: Vec<VertexId> = ids.iter().rev().chain(&ids).copied().collect();
        let each: Vec<VertexKey> =
            backwards.iter().map(|&id| snapshot.vertex_key(id).unwrap().expect("a vertex")).collect();
        assert_eq!(snapshot.vertex_keys(&backwards).unwrap().to_vec(), each);
    });
}

#[test]
fn keys_of_many_vertices_are_read_in_parts() {
    for text in [false, true] {
        let keys = if text { hedgerow::KeyKind::Str } else { hedgerow::KeyKind::U64 };
        let graph = common::small().keys(keys).in_memory().unwrap();
        let key = |n: u64| if text { format!("{n:x}").into() } else { VertexKey::U64(n << 32 | n) };
        let many = 50_000;
        let edges: Vec<_> = (0..many).map(|n| (key(n), key(n + 1))).collect();
        graph.transact(1, |tx| tx.put_edges(edges.iter().map(|(src, dst)| (src, dst)))).unwrap();
        graph.transact(1, |tx| tx.remove_vertex(&key(40_000)).map(drop)).unwrap();
        let snapshot = graph.snapshot().unwrap();
        let (ids, keys) = snapshot.all_vertex_keys().unwrap();
        assert_eq!((ids.len() as u64, keys.len() as u64), (many, many));
        for (row, &id) in ids.iter().enumerate().step_by(777) {
            assert_eq!(keys.get(row).map(|key| key.to_owned()), snapshot.vertex_key(id).unwrap());
        }
        let gone: Vec<VertexId> =
            (0..=many as u32).map(VertexId).filter(|id| ids.binary_search(id).is_err()).collect();
        assert_eq!(gone.len(), 1);
        for ids in [&gone[..], &[&ids[..], &gone[..]].concat()] {
            match snapshot.vertex_keys(ids) {
                Err(Error::Argument(e)) => {
                    assert_eq!(e.to_string(), format!("no vertex has the id {}", gone[0].0));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
