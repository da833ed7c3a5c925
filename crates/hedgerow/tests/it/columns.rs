//! Reads of many vertices at once, as columns, compared with the model and with reads of single vertices.

use std::sync::Arc;

use hedgerow::{
    Csr, CsrOptions, Direction, EdgeKey, Error, Graph, LabelId, MissingVertex, NeighborLists, RowOrder,
    Snapshot, VertexId, VertexKey,
};
use hedgerow_testkit::{Effort, Generator, Model, ModelConfig, explored};

use crate::common;

/// The number of graphs in `make test`.
const GRAPHS: u64 = 96;
const TRANSACTIONS: u64 = 24;

/// Returns a graph after random transactions, and its states at some snapshots, including the last one.
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

pub(crate) fn for_all_graphs(check: impl Fn(&Snapshot, &Model)) {
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
        let (ids, keys) = snapshot.scan_vertices().unwrap().keys().unwrap();
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
        let (ids, keys) = snapshot.scan_vertices().unwrap().keys().unwrap();
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

/// Returns the lists of a copy by key: neighbors and weights.
fn lists(csr: &Csr) -> Vec<(VertexKey, Vec<(VertexKey, f64)>)> {
    let keys = csr.keys.to_vec();
    assert_eq!((csr.offsets.len(), csr.vertices.len()), (keys.len() + 1, keys.len()));
    assert!(csr.offsets[0] == 0 && csr.offsets.is_sorted());
    assert_eq!(csr.targets.len() as i64, csr.offsets[keys.len()]);
    assert!(csr.weights.as_ref().is_none_or(|weights| weights.len() == csr.targets.len()));
    let list = |row: usize| {
        let range = csr.offsets[row] as usize..csr.offsets[row + 1] as usize;
        assert!(csr.targets[range.clone()].is_sorted());
        let weight = |at: usize| csr.weights.as_ref().map_or(1.0, |weights| weights[at]);
        range.map(|at| (keys[csr.targets[at] as usize].clone(), weight(at))).collect()
    };
    (0..keys.len()).map(|row| (keys[row].clone(), list(row))).collect()
}

#[test]
fn compressed_rows_are_the_lists_of_the_model() {
    for_all_graphs(|snapshot, model| {
        for direction in [Direction::Out, Direction::In] {
            let by = |order| {
                let options = CsrOptions::new().direction(direction).order(order);
                snapshot.csr(LabelId::DEFAULT, options).unwrap()
            };
            let expected: Vec<_> = model
                .all_neighbors()
                .into_iter()
                .map(|(key, lists)| (key.clone(), lists[direction as usize].clone()))
                .collect();
            assert_eq!(lists(&by(RowOrder::Key)), expected);
            let copy = by(RowOrder::Id);
            assert!(copy.vertices.is_sorted());
            let mut found = lists(&copy);
            found.iter_mut().for_each(|(_, list)| list.sort_by(|a, b| a.0.cmp(&b.0)));
            found.sort_by(|a, b| a.0.cmp(&b.0));
            assert_eq!(found, expected);
        }
        for label in snapshot.schema().labels() {
            let copy = snapshot.csr(label, CsrOptions::new().order(RowOrder::Key)).unwrap();
            for (key, list) in lists(&copy) {
                let expected = snapshot.edge_list(&key, (label, Direction::Out)).unwrap().unwrap();
                let expected: Vec<_> = expected.into_iter().map(|(key, ..)| key).collect();
                assert_eq!(list.into_iter().map(|(key, _)| key).collect::<Vec<_>>(), expected);
            }
        }
    });
}

#[test]
fn a_copy_is_shared_while_somebody_uses_it() {
    let graph = common::small().weighted(true).in_memory().unwrap();
    graph.insert_edge((3, 4, 2.5)).unwrap();
    graph.transact(1, |tx| tx.insert_vertex(1).map(drop)).unwrap();
    let first = graph.snapshot().unwrap();
    let (by_id, by_key) = (CsrOptions::new(), CsrOptions::new().order(RowOrder::Key));
    let copy = first.csr("", by_id.clone()).unwrap();
    assert_eq!(copy.weights, Some(vec![2.5]));
    assert!(Arc::ptr_eq(&copy, &graph.snapshot().unwrap().csr("", by_id.clone()).unwrap()));
    assert_ne!(copy.keys, first.csr("", by_key).unwrap().keys);
    let weak = Arc::downgrade(&copy);
    drop(copy);
    assert!(weak.upgrade().is_none(), "the store keeps no copy");
    graph.insert_edge((3, 2, 0.5)).unwrap();
    let later = graph.snapshot().unwrap().csr("", by_id.clone()).unwrap();
    assert_eq!((later.targets.len(), first.csr("", by_id.clone()).unwrap().targets.len()), (2, 1));
    assert!(first.csr("none", by_id.clone()).is_err());
    assert!(first.csr("", by_id.weight("none")).is_err());
}

#[test]
fn a_property_is_the_weight_of_compressed_rows() {
    let graph = common::small().in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    for (src, dst, miles) in [(1u64, 2u64, 5.0), (3, 2, 0.5), (1, 3, 1.0)] {
        tx.put_edge_with(EdgeKey::new("road", src, dst), [("miles", miles)]).unwrap();
    }
    tx.commit().unwrap();
    let snapshot = graph.snapshot().unwrap();
    let copy = snapshot.csr("road", CsrOptions::new().order(RowOrder::Key).weight("miles")).unwrap();
    assert_eq!((&copy.targets[..], copy.weights.as_deref()), (&[1, 2, 1][..], Some(&[5.0, 1.0, 0.5][..])));
    let into = CsrOptions::new().order(RowOrder::Key).weight("miles").direction(Direction::In);
    let copy = snapshot.csr("road", into).unwrap();
    assert_eq!((&copy.targets[..], copy.weights.as_deref()), (&[0, 2, 0][..], Some(&[5.0, 0.5, 1.0][..])));
}

#[test]
fn lists_and_degrees_of_many_are_those_of_one_vertex_each() {
    for_all_graphs(|snapshot, model| {
        let vertices: Vec<VertexKey> = model.vertices().cloned().collect();
        let schema = snapshot.schema();
        // All vertices, so that the call reads the view; then all backwards, each twice; then a single
        // vertex, so that the call does not read the view.
        let backwards: Vec<_> = vertices.iter().rev().flat_map(|key| [key, key]).collect();
        for keys in [vertices.iter().collect(), backwards, vertices.iter().take(1).collect()] {
            for direction in [Direction::Out, Direction::In] {
                let each = |lists: NeighborLists, degrees: Vec<u64>| -> Vec<Vec<VertexKey>> {
                    let all = lists.neighbors.to_vec();
                    assert_eq!(lists.offsets.len(), keys.len() + 1);
                    let lists: Vec<_> = lists
                        .offsets
                        .windows(2)
                        .map(|ends| all[ends[0] as usize..ends[1] as usize].to_vec())
                        .collect();
                    assert!(lists.iter().map(|list| list.len() as u64).eq(degrees));
                    lists
                };
                let refuse = MissingVertex::Refuse;
                for label in schema.labels() {
                    let found = each(
                        snapshot.neighbor_lists(&keys, (label, direction), refuse).unwrap(),
                        snapshot.degrees(&keys, (label, direction), refuse).unwrap(),
                    );
                    for (key, list) in keys.iter().zip(found) {
                        let one = snapshot.edge_list(*key, (label, direction)).unwrap().unwrap();
                        assert!(list.iter().eq(one.iter().map(|(key, ..)| key)), "{key} {direction:?}");
                    }
                }
                let found = each(
                    snapshot.neighbor_lists(&keys, direction, refuse).unwrap(),
                    snapshot.degrees(&keys, direction, refuse).unwrap(),
                );
                for (key, list) in keys.iter().zip(found) {
                    let one = snapshot.edge_list(*key, direction).unwrap().unwrap();
                    assert!(list.iter().eq(one.iter().map(|(key, ..)| key)), "{key} {direction:?}");
                }
            }
        }
    });
}

#[test]
fn an_unknown_key_is_named_with_its_row_or_has_no_edges() {
    for options in [common::small(), common::small().keys(hedgerow::KeyKind::Dense)] {
        let graph = options.in_memory().unwrap();
        let many: Vec<(u64, u64)> = (0..9_000).map(|n| (n, n + 1)).collect();
        graph.transact(1, |tx| tx.put_edges(many.iter().copied())).unwrap();
        let before = graph.snapshot().unwrap();
        graph.transact(1, |tx| tx.remove_vertex(5_000).map(drop)).unwrap();
        let snapshot = graph.snapshot().unwrap();
        let keys: Vec<u64> = (0..9_001).collect();
        assert_eq!(before.degrees(&keys, ("", Direction::Out), MissingVertex::Refuse).unwrap()[5_000], 1);
        let (refuse, empty) = (MissingVertex::Refuse, MissingVertex::Empty);
        for keys in [&keys[..], &keys[4_998..5_002]] {
            let row = keys.iter().position(|&key| key == 5_000).unwrap();
            let expected = format!("no vertex 5000, at row {row} of the keys");
            let refused = snapshot.degrees(keys, ("", Direction::Out), refuse).unwrap_err();
            assert_eq!(refused.to_string(), expected);
            let refused = snapshot.neighbor_lists(keys, Direction::In, refuse).unwrap_err();
            assert_eq!(refused.to_string(), expected);
            let lists = snapshot.neighbor_lists(keys, ("", Direction::Out), empty).unwrap();
            let degrees = snapshot.degrees(keys, Direction::Out, empty).unwrap();
            for (row, &key) in keys.iter().enumerate() {
                let expected = u64::from(![4_999, 5_000, 9_000].contains(&key));
                assert_eq!((lists.offsets[row + 1] - lists.offsets[row]) as u64, expected, "{key}");
                assert_eq!(degrees[row], expected, "{key}");
            }
        }
        let none: [u64; 0] = [];
        let lists = snapshot.neighbor_lists(&none, ("", Direction::Out), refuse).unwrap();
        assert_eq!((lists.offsets, lists.neighbors.len()), (vec![0], 0));
        assert!(snapshot.degrees(&none, ("none", Direction::Out), refuse).is_err());
    }
}

#[test]
fn every_vertex_comes_once_with_its_properties() {
    for_all_graphs(|snapshot, model| {
        let schema = snapshot.schema();
        let mut rows = Vec::new();
        let read = snapshot.scan_vertices().unwrap().try_for_each(|vertex| {
            let named = |p: &hedgerow::Property| (p.name().to_string(), vertex.get(p.id()).to_owned());
            let values = schema.vertex_properties().iter().map(named);
            rows.push((vertex.id(), values.filter(|(_, value)| !value.is_null()).collect()));
            Ok::<_, Error>(())
        });
        read.unwrap();
        assert!(rows.is_sorted_by_key(|(id, _)| *id) && rows.len() as u64 == model.vertex_count());
        for (id, values) in rows {
            let key = snapshot.vertex_key(id).unwrap().unwrap();
            let values: Vec<(String, hedgerow::Value)> = values;
            let one = snapshot.vertex_properties(&key).unwrap().unwrap();
            let mut one: Vec<_> = one.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
            one.sort_by(|a, b| a.0.cmp(&b.0));
            let mut found = values;
            found.sort_by(|a, b| a.0.cmp(&b.0));
            assert_eq!(format!("{found:?}"), format!("{one:?}"), "{key}");
        }
    });
}
