//! Tests of patched versions against a map: all ways of reading return the same lists, whatever is folded
//! when.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow_core::{Direction, InterpolationHint, SubgraphId, Timestamp};
use proptest::prelude::*;

use crate::op::{LocalOp, Ops};
use crate::reclaim::{Horizon, Merged, Pin};
use crate::subgraph::Subgraph;
use crate::version::GroupedVersion;
use crate::{Arena, PatchSizes, Version};

use super::*;

/// A horizon without readers. All commits are published at once.
struct NobodyReads(Timestamp);

impl Horizon for NobodyReads {
    fn published(&self) -> Timestamp {
        self.0
    }

    fn pin_in(&self, _: Timestamp, _: Timestamp) -> Option<Pin> {
        None
    }
}

type Model = BTreeMap<(u8, u32), f64>;

/// Returns neighbors and weights from stretches, in ascending order.
fn in_order(stretches: impl FnOnce(&mut dyn FnMut(&[VertexId], &[f64]))) -> Vec<(VertexId, f64)> {
    let mut found = Vec::new();
    stretches(&mut |run, weights| {
        assert!(weights.is_empty() || weights.len() == run.len());
        found.extend(run.iter().enumerate().map(|(i, &v)| (v, weights.get(i).copied().unwrap_or(1.0))));
    });
    found.sort_by_key(|&(v, _)| v);
    found
}

fn check(version: &Arc<Version>, model: &Model, weighted: bool) {
    let read = version.latest();
    let mut grouped = GroupedVersion::default();
    grouped.set(Some(version.clone()), Timestamp::INFINITY);
    let weight_of = |w: &f64| if weighted { *w } else { 1.0 };
    for local in (0..8).map(LocalVertex) {
        let expected: Vec<(VertexId, f64)> = model
            .range((local.0, 0)..=(local.0, u32::MAX))
            .map(|(k, w)| (VertexId(k.1), weight_of(w)))
            .collect();
        let mut found = Vec::new();
        read.for_each_neighbor(local, |v, w| found.push((v, w)));
        assert_eq!(found, expected);
        assert_eq!(in_order(|f| read.for_each_run(local, f)), expected);
        assert_eq!(in_order(|f| read.visit(local, f)), expected);
        assert_eq!(in_order(|f| grouped.visit(local, f)), expected);
        let mut items = Vec::new();
        read.for_each_item(local, |item| items.push((item.dst, item.weight)));
        assert_eq!(items, expected);
        assert_eq!(read.degree(local), expected.len());
        for dst in (0..40).map(VertexId) {
            let expected = model.get(&(local.0, dst.0)).map(weight_of);
            for hint in [InterpolationHint::UNKNOWN, InterpolationHint::over(40)] {
                assert_eq!(read.edge(local, dst, hint), expected);
            }
            assert_eq!(
                read.item(local, dst, 0, InterpolationHint::UNKNOWN).map(|item| item.weight),
                expected
            );
        }
    }
    assert_eq!(read.edge_entries(), model.len() as u64);
    let loops = model.keys().filter(|&&(local, dst)| dst == u32::from(local)).count();
    assert_eq!(read.self_loops(SubgraphId(0)), loops as u64);
    let settled = read.settled();
    let lists: Vec<_> = (0..64u8)
        .flat_map(|l| settled.range(LocalVertex(l)).map(move |at| (l, at)))
        .map(|(l, at)| ((l, settled.edges()[at].0), settled.weight_at(at)))
        .collect();
    assert_eq!(lists, model.iter().map(|(k, w)| (*k, weight_of(w))).collect::<Vec<_>>());
}

proptest! {
    #[test]
    fn patched_lists_are_the_lists_of_a_map(
        steps in prop::collection::vec((0..8u8, 0..40u32, 0..5u8, any::<u8>()), 600..900),
        settle_every in 100..2000usize,
        weighted: bool,
    ) {
        let subgraph = Subgraph::alone(crate::Memory::new(Arena::new().with_patch_sizes(PatchSizes::SMALL)), weighted);
        let mut model = Model::new();
        let mut patched = 0;
        for (i, (local, dst, kind, weight)) in steps.into_iter().enumerate() {
            let ts = Timestamp(i as u64 + 1);
            let weight = f64::from(weight);
            let op = match (kind, model.contains_key(&(local, dst))) {
                (0, true) => EdgeOp::Remove,
                (0, false) => continue,
                (_, true) => EdgeOp::Update,
                (_, false) => EdgeOp::Insert,
            };
            match op {
                EdgeOp::Remove => _ = model.remove(&(local, dst)),
                _ => _ = model.insert((local, dst), weight),
            }
            let weight = if weighted { weight } else { 0.0 };
            let op = LocalOp { local: LocalVertex(local), op, dst: VertexId(dst), weight };
            let horizon = NobodyReads(Timestamp(i as u64));
            let mut latched = subgraph.latch();
            let _ = latched.apply(Direction::Out, Ops::plain(&[op]), ts, &horizon);
            if i % settle_every == settle_every - 1 {
                let _ = latched.settle(Direction::Out, i % 2 == 0, &NobodyReads(ts));
            }
            drop(latched);
            let version = subgraph.version(Direction::Out, ts).unwrap().unwrap();
            patched += usize::from(version.patch.is_some());
            if i % 17 == 0 {
                check(&version, &model, weighted);
            }
        }
        prop_assert!(patched > 0, "nothing was patched");
    }
}

#[test]
fn folding_into_a_patch_replaces_no_main_part() {
    let memory = crate::Memory::new(Arena::new().with_patch_sizes(PatchSizes::SMALL));
    let (subgraph, horizon) = (Subgraph::new(memory), NobodyReads(Timestamp::INFINITY));
    let mut latched = subgraph.latch();
    let insert = |i| LocalOp { local: LocalVertex(0), op: EdgeOp::Insert, dst: VertexId(i), weight: 0.0 };
    let many: Vec<LocalOp> = (0..8192).map(insert).collect();
    let _ = latched.apply(Direction::Out, Ops::plain(&many), Timestamp(1), &horizon);
    drop(latched);
    let mut latched = subgraph.latch();
    // More entries than a delta has room for, but fewer than a patch of this main part has room for.
    for i in 8192..8492u64 {
        if i % 2 == 0 {
            let _ = latched.make_room(Direction::Out, 1, &horizon);
        }
        let _ = latched.apply(Direction::Out, Ops::plain(&[insert(i as u32)]), Timestamp(i), &horizon);
    }
    assert_eq!(latched.merged(), Merged::default());
    let _ = latched.settle(Direction::Out, false, &horizon);
    assert!(latched.merged().bytes >= 8192 * 4);
}
