//! Images for tests.

use hedgerow_core::{
    Columns, Direction, GraphConfig, KeyKind, KindId, LabelId, PropertyId, Row, SubgraphId, Timestamp, Value,
    VertexId, VertexKey,
};
use hedgerow_io::{FileId, StoreId};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

use super::{AdjacencyPart, ImageId, ImageKeys, SubgraphImage};

pub(super) const STORE: StoreId = StoreId(*b"a store to test.");
pub(super) const FILE: FileId = FileId(7);

pub(super) fn config(keys: KeyKind, weighted: bool) -> GraphConfig {
    GraphConfig { directed: true, keys, weighted, reverse: true }
}

pub(super) fn id_of(label: u16, subgraph: u32) -> ImageId {
    ImageId { label: LabelId(label), subgraph: SubgraphId(subgraph) }
}

pub(super) fn part(direction: Direction, lists: &[(usize, &[u32])]) -> AdjacencyPart {
    let mut offsets = [0; 65];
    let mut neighbors = Vec::new();
    for local in 0..64 {
        for (_, list) in lists.iter().filter(|(vertex, _)| *vertex == local) {
            neighbors.extend(list.iter().map(|v| VertexId(*v)));
        }
        offsets[local + 1] = neighbors.len() as u32;
    }
    AdjacencyPart { direction, offsets, neighbors, weights: None, ranks: None, columns: Default::default() }
}

/// Returns a dense graph's subgraph with `vertices` vertices, each with three neighbors.
pub(super) fn dense_image(id: u32, vertices: usize) -> SubgraphImage {
    let list = [id, id + 100, id + 70_000];
    let lists: Vec<(usize, &[u32])> = (0..vertices).map(|local| (local, &list[..])).collect();
    SubgraphImage {
        id: id_of(0, id),
        as_of: Timestamp(u64::from(id) + 10),
        present: if vertices == 64 { !0 } else { (1 << vertices) - 1 },
        keys: ImageKeys::Dense,
        parts: vec![part(Direction::Out, &lists)],
    }
}

/// Returns a subgraph with one vertex of `degree` neighbors, and that many sources.
pub(super) fn star_image(id: u32, degree: u32) -> SubgraphImage {
    let list: Vec<u32> = (0..degree).map(|i| i * 3 + 1).collect();
    SubgraphImage {
        id: id_of(0, id),
        as_of: Timestamp(99),
        present: 1 << 63,
        keys: ImageKeys::Dense,
        parts: vec![part(Direction::Out, &[(63, &list[..])]), part(Direction::In, &[(63, &list[..])])],
    }
}

/// Returns a small subgraph with number keys and weights.
pub(super) fn weighted_image() -> SubgraphImage {
    let mut out = part(Direction::Out, &[(1, &[2, 5, 6]), (63, &[7])]);
    out.weights = Some(vec![0.5, -1.0, f64::INFINITY, 0.0]);
    SubgraphImage {
        id: id_of(0, 2),
        as_of: Timestamp(12),
        present: 1 << 1 | 1 << 2 | 1 << 63,
        keys: ImageKeys::U64(vec![u64::MAX, 0, 17]),
        parts: vec![out],
    }
}

/// Any configuration.
pub(super) fn config_strategy() -> impl Strategy<Value = GraphConfig> {
    (any::<bool>(), 0u8..3, any::<bool>(), any::<bool>()).prop_map(|(directed, kind, weighted, reverse)| {
        GraphConfig {
            directed,
            keys: KeyKind::from_byte(kind).unwrap(),
            weighted,
            reverse: reverse || !directed,
        }
    })
}

/// Keys of `count` vertices of a graph whose keys are of `kind`.
pub(super) fn keys_strategy(kind: KeyKind, count: usize) -> BoxedStrategy<ImageKeys> {
    if kind == KeyKind::Dense {
        return Just(ImageKeys::Dense).boxed();
    }
    prop_oneof![3 => plain_keys_strategy(kind, count), 1 => keys_of_kinds_strategy(kind, count)].boxed()
}

fn keys_of_kinds_strategy(default: KeyKind, count: usize) -> impl Strategy<Value = ImageKeys> {
    let key = prop_oneof![
        (any::<u64>().prop_map(VertexKey::U64), 0..=KindId::MAX.0),
        ("\\PC{0,9}".prop_map(VertexKey::from), 0..=KindId::MAX.0),
    ];
    let key = key.prop_map(move |(key, kind)| {
        let default_of = if matches!(key, VertexKey::Str(_)) { KeyKind::Str } else { KeyKind::U64 };
        // Keys of the default kind are of the graph's type.
        key.with_kind(KindId(if default_of == default { kind } else { kind.max(1) }))
    });
    vec(key, count).prop_map(ImageKeys::Kinds)
}

fn plain_keys_strategy(kind: KeyKind, count: usize) -> BoxedStrategy<ImageKeys> {
    match kind {
        KeyKind::Dense => Just(ImageKeys::Dense).boxed(),
        KeyKind::U64 => vec(any::<u64>(), count).prop_map(ImageKeys::U64).boxed(),
        KeyKind::Str => vec(prop_oneof![12 => "\\PC{0,9}", 1 => "\\PC{200,300}"], count)
            .prop_map(|keys| ImageKeys::Str(keys.into_iter().map(Into::into).collect()))
            .boxed(),
    }
}

/// Returns a part with at least one neighbor; hubs of more than 255 included.
pub(super) fn part_strategy(
    direction: Direction,
    present: u64,
    weighted: bool,
) -> impl Strategy<Value = AdjacencyPart> {
    let live: Vec<usize> = (0..64).filter(|local| present >> local & 1 == 1).collect();
    let list = prop_oneof![30 => btree_set(0u32..u32::MAX, 1..6), 1 => btree_set(0u32..2000, 250..300)];
    btree_map(proptest::sample::select(live), list, 1..10).prop_flat_map(move |lists| {
        let lists: Vec<(usize, Vec<u32>)> =
            lists.into_iter().map(|(local, list)| (local, list.into_iter().collect())).collect();
        let lists: Vec<(usize, &[u32])> = lists.iter().map(|(local, list)| (*local, &list[..])).collect();
        let plain = part(direction, &lists);
        let weight = any::<f64>().prop_filter("no NaN", |w| !w.is_nan());
        let weights = vec(weight, if weighted { plain.neighbors.len() } else { 0 });
        (weights, extra_strategy(plain.neighbors.len())).prop_map(move |(weights, (ranks, columns))| {
            AdjacencyPart { weights: weighted.then_some(weights), ranks, columns, ..plain.clone() }
        })
    })
}

/// Ranks and properties of `count` edges. Half of the parts have neither.
fn extra_strategy(count: usize) -> BoxedStrategy<(Option<Vec<u64>>, Columns)> {
    let ranks = proptest::option::of(vec(any::<u64>(), count));
    let value = prop_oneof![
        any::<i64>().prop_map(Value::I64),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>().prop_map(Value::F64),
        "\\PC{0,9}".prop_map(|text| Value::from(text.as_str())),
        vec(any::<u8>(), 0..9).prop_map(|bytes| Value::Bytes(bytes.into())),
        any::<i64>().prop_map(Value::Timestamp),
    ];
    // One property for each type: the values of a column are of one type.
    let cell = value.prop_map(|value| (PropertyId(value.property_type().map_or(0, |t| t as u16)), value));
    let rows = vec(vec(cell, 0..4).prop_map(Row::new), count);
    let columns = rows.prop_map(|rows| Columns::of_rows(rows.iter().map(|row| row.as_ref().into())));
    prop_oneof![Just((None, Columns::default())), (ranks, columns)].boxed()
}

/// Edges with ranks, two of them between the same vertices, and a property of each type.
pub(super) fn rich_image() -> SubgraphImage {
    let cells = [
        (0, Value::Bool(true)),
        (1, Value::I64(-7)),
        (2, Value::F64(0.5)),
        (3, "text".into()),
        (4, Value::Bytes([1, 2, 3].as_slice().into())),
        (5, Value::Timestamp(9)),
    ];
    let rows = [
        Row::new(cells.map(|(id, value)| (PropertyId(id), value)).to_vec()),
        None,
        Row::new(vec![(PropertyId(3), "é".into())]),
    ];
    let mut out = part(Direction::Out, &[(1, &[2, 2, 6])]);
    out.ranks = Some(vec![0, 8, 3]);
    out.columns = Columns::of_rows(rows.iter().map(|row| row.as_ref().into()));
    let present = 1 << 1 | 1 << 2 | 1 << 6;
    SubgraphImage {
        id: id_of(0, 0),
        as_of: Timestamp(12),
        present,
        keys: ImageKeys::U64(vec![3, 0, 17]),
        parts: vec![out],
    }
}
