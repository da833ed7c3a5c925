//! Tests of copied and of retained lists, at all timestamps, against a map.

use std::collections::BTreeMap;

use hedgerow_core::{SubgraphId, VertexId};

use super::*;
use crate::op::{EdgeOp, LocalOp, Ops};
use crate::reclaim::testing::KeepAll;
use crate::subgraph::Cursor;
use crate::{Arena, Memory, PatchSizes};

const SHORT: LocalVertex = LocalVertex(3);
const LONG: LocalVertex = LocalVertex(9);

type Lists = BTreeMap<(u8, u32), f64>;

/// Returns a subgraph with a short and a long list, and its lists after each commit.
fn grown(weighted: bool, sizes: PatchSizes) -> (Subgraph, Vec<Lists>) {
    let subgraph = Subgraph::alone(Memory::new(Arena::new().with_patch_sizes(sizes)), weighted);
    let mut states = vec![Lists::new()];
    let mut commit = |ops: &[(LocalVertex, u32, EdgeOp)]| {
        let ts = Timestamp(states.len() as u64);
        let mut lists = states[states.len() - 1].clone();
        let mut op = |&(local, dst, op): &(LocalVertex, u32, EdgeOp)| {
            let weight = if weighted { ts.0 as f64 } else { 1.0 };
            match op {
                EdgeOp::Remove => _ = lists.remove(&(local.0, dst)),
                _ => _ = lists.insert((local.0, dst), weight),
            }
            LocalOp { local, op, dst: VertexId(dst), weight }
        };
        let ops: Vec<LocalOp> = ops.iter().map(&mut op).collect();
        let mut latched = subgraph.latch();
        let _ = latched.apply(Direction::Out, Ops::plain(&ops), ts, &KeepAll);
        if ts.0.is_multiple_of(10) {
            let _ = latched.settle(Direction::Out, false, &KeepAll);
        }
        drop(latched);
        states.push(lists);
    };
    let many: Vec<_> = (0..2 * COPIED as u32).map(|i| (LONG, 3 * i, EdgeOp::Insert)).collect();
    commit(&many);
    for i in 0..40 {
        commit(&[(SHORT, 7 * i % 41, EdgeOp::Insert), (LONG, 3 * i + 1, EdgeOp::Insert)]);
        if i % 3 == 1 {
            commit(&[(SHORT, 7 * (i - 1) % 41, EdgeOp::Remove), (LONG, 9 * i, EdgeOp::Remove)]);
        }
        if i % 5 == 1 && weighted {
            commit(&[(SHORT, 7 * i % 41, EdgeOp::Update)]);
        }
    }
    (subgraph, states)
}

fn expected(lists: &Lists, local: LocalVertex) -> Vec<(VertexId, f64)> {
    let of_local = lists.range((local.0, 0)..=(local.0, u32::MAX));
    of_local.map(|(&(_, dst), &weight)| (VertexId(dst), weight)).collect()
}

fn add(found: &mut Vec<(VertexId, f64)>, run: &[VertexId], weights: &[f64]) {
    assert!(weights.is_empty() || weights.len() == run.len());
    found.extend(run.iter().enumerate().map(|(i, &v)| (v, weights.get(i).copied().unwrap_or(1.0))));
}

fn ascending(mut list: Vec<(VertexId, f64)>) -> Vec<(VertexId, f64)> {
    list.sort_by_key(|&(v, _)| v);
    list
}

#[test]
fn each_way_to_read_a_list_gives_that_of_the_timestamp() {
    for (weighted, sizes) in
        [(false, PatchSizes::SMALL), (true, PatchSizes::SMALL), (false, PatchSizes::default())]
    {
        let (subgraph, states) = grown(weighted, sizes);
        for (t, lists) in states.iter().enumerate() {
            let t = Timestamp(t as u64);
            let mut cursor = Cursor::new(Direction::Out, t);
            for local in [SHORT, LONG, LONG, SHORT, LocalVertex(63), LONG] {
                let expected = expected(lists, local);
                let mut found = Vec::new();
                subgraph.for_each_neighbor(Direction::Out, t, local, |v, w| found.push((v, w))).unwrap();
                assert_eq!(found, expected, "{local:?} at {t:?}");
                let mut found = Vec::new();
                subgraph.visit(Direction::Out, t, local, |run, w| add(&mut found, run, w)).unwrap();
                assert_eq!(ascending(found), expected, "{local:?} at {t:?} in stretches");
                let mut found = Vec::new();
                let id = SubgraphId(0).vertex(local);
                cursor.visit(&subgraph, id, |run, w| add(&mut found, run, w)).unwrap();
                assert_eq!(ascending(found), expected, "{local:?} at {t:?} by a cursor");
            }
        }
    }
}

#[test]
fn a_cursor_forgets_what_it_grouped_when_it_leaves_a_subgraph() {
    let (full, states) = grown(false, PatchSizes::default());
    let empty = Subgraph::default();
    let t = Timestamp(states.len() as u64 - 1);
    let mut cursor = Cursor::new(Direction::Out, t);
    let mut read = |subgraph: &Subgraph, id: u32| {
        let mut found = Vec::new();
        let id = SubgraphId(id).vertex(SHORT);
        cursor.visit(subgraph, id, |run, w| add(&mut found, run, w)).unwrap();
        ascending(found)
    };
    let list = expected(&states[t.0 as usize], SHORT);
    for _ in 0..3 {
        (0..2).for_each(|_| assert_eq!(read(&full, 0), list));
        (0..3).for_each(|_| assert_eq!(read(&empty, 1), []));
    }
}

#[test]
fn a_reader_may_read_and_write_the_subgraph_that_it_reads() {
    let (subgraph, states) = grown(false, PatchSizes::default());
    let t = Timestamp(states.len() as u64 - 1);
    let count = |local| {
        let mut count = 0;
        subgraph.visit(Direction::Out, t, local, |run, _| count += run.len()).unwrap();
        count
    };
    for local in [SHORT, LONG] {
        let (mut inner, before) = (0, count(local));
        subgraph
            .for_each_neighbor(Direction::Out, t, local, |_, _| {
                let mut latched = subgraph.latch();
                let _ = latched.settle(Direction::Out, false, &KeepAll);
                drop(latched);
                inner += usize::from(count(local) == before);
            })
            .unwrap();
        assert_eq!(inner, before);
    }
}
