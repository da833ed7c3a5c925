//! Tests of merging against a simple model: a map from edges to weights.

use std::collections::BTreeMap;

use hedgerow_core::{RowRef, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::op::Entry;

impl Entries for Vec<Entry> {
    fn entry(&self, at: usize) -> Entry {
        self[at]
    }

    fn has_ranks(&self) -> bool {
        false
    }

    fn has_rows(&self) -> bool {
        false
    }

    fn rank(&self, _: usize) -> u64 {
        0
    }

    fn row(&self, _: usize) -> RowRef<'_> {
        RowRef::Empty
    }
}

type Model = (u64, BTreeMap<(u8, u32), f64>);

/// Converts wishes into effective operations and applies them to the model.
fn entries(model: &mut Model, wishes: &[(u8, u32, u8, u8)], weighted: bool) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (i, &(local, dst, kind, weight)) in wishes.iter().enumerate() {
        let (local, key, weight) = (LocalVertex(local), (local, dst), f64::from(weight));
        let op = match kind {
            0 => EdgeOp::Vertex,
            1 if model.1.remove(&key).is_some() => EdgeOp::Remove,
            1 => continue,
            _ if model.1.insert(key, weight).is_none() => EdgeOp::Insert,
            _ => EdgeOp::Update,
        };
        let dst = if op == EdgeOp::Vertex { VertexId(u32::from(i % 3 > 0)) } else { VertexId(dst) };
        if op == EdgeOp::Vertex {
            model.0 = if dst.0 == 1 { model.0 | local.bit() } else { model.0 & !local.bit() };
        }
        let weight = if weighted { weight } else { 0.0 };
        entries.push(Entry { local, op, dst, ts: Timestamp(i as u64), weight });
    }
    entries
}

fn check(main: &Main, model: &Model, weighted: bool) {
    assert_eq!(main.present, model.0);
    let found: Vec<(u8, u32, f64)> = (0..64u8)
        .flat_map(|l| main.range(LocalVertex(l)).map(move |at| (l, at)))
        .map(|(l, at)| (l, main.neighbors[at].0, main.weight_at(at)))
        .collect();
    let expected: Vec<_> =
        model.1.iter().map(|(&(l, dst), &w)| (l, dst, if weighted { w } else { 1.0 })).collect();
    assert_eq!(found, expected);
    assert_eq!(main.offsets()[SUBGRAPH_VERTICES] as usize, main.neighbors.len());
}

proptest! {
    #[test]
    fn a_merge_gives_what_a_map_gives(
        rounds in prop::collection::vec(
            prop::collection::vec((0..64u8, 0..400u32, 0..6u8, any::<u8>()), 0..400), 1..5),
        (few, near) in (1..64u8, 1..400u32),
        weighted: bool,
    ) {
        let arena = Arena::new();
        let mut model = Model::default();
        let mut main = Main { weights: weighted.then(Default::default), ..Main::default() };
        for mut wishes in rounds {
            wishes.iter_mut().for_each(|w| (w.0, w.1) = (w.0 % few, w.1 % near));
            let entries = entries(&mut model, &wishes, weighted);
            main = apply(&main, entries.len(), &entries, weighted, &arena);
            check(&main, &model, weighted);
        }
    }
}
