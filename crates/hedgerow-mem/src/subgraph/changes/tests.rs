//! Tests of the differences between two timestamps, against two states of a map.

use std::collections::BTreeMap;

use hedgerow_core::VertexId;

use super::*;
use crate::op::{LocalOp, Ops};
use crate::reclaim::testing::KeepAll;
use crate::reclaim::{Horizon, Pin};
use crate::{Arena, Memory};

const ID: SubgraphId = SubgraphId(3);

/// A horizon with a snapshot at one timestamp.
struct Held(Timestamp);

impl Horizon for Held {
    fn published(&self) -> Timestamp {
        Timestamp(u64::MAX >> 1)
    }

    fn pin_in(&self, begin: Timestamp, end: Timestamp) -> Option<Pin> {
        (begin <= self.0 && self.0 < end).then_some(Pin::Snapshot(self.0))
    }
}

#[derive(Clone, Default, PartialEq)]
struct State {
    vertices: u64,
    edges: BTreeMap<(u8, u32), f64>,
}

/// A linear congruential generator, which returns the same numbers in each run.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Returns a subgraph with random commits, and its state after each timestamp.
fn grown(seed: u64, horizon: &impl Horizon, weighted: bool) -> (Subgraph, Vec<State>) {
    let subgraph = Subgraph::alone(Memory::new(Arena::new()), weighted);
    let (mut states, mut random) = (vec![State::default()], Seeded(seed));
    for ts in (1..=90).map(Timestamp) {
        let mut state = states.last().cloned().unwrap_or_default();
        let mut ops = Vec::new();
        // Some commits have more operations than a delta has room for, so the merge takes them directly.
        for _ in 0..if random.below(9) == 0 { 60 } else { 1 + random.below(3) } {
            let (local, dst) = (random.below(6) as u8, random.below(40) as u32);
            if ops.iter().any(|op: &LocalOp| (op.local.0, op.dst.0) == (local, dst)) {
                continue;
            }
            let weight = if weighted { ts.0 as f64 } else { 1.0 };
            let op = match state.edges.insert((local, dst), weight) {
                None => EdgeOp::Insert,
                Some(_) if weighted && random.below(3) == 0 => EdgeOp::Update,
                Some(_) => {
                    state.edges.remove(&(local, dst));
                    EdgeOp::Remove
                }
            };
            ops.push(LocalOp { local: LocalVertex(local), op, dst: VertexId(dst), weight });
        }
        let local = LocalVertex(random.below(64) as u8);
        if random.below(4) == 0 && ops.iter().all(|op| op.local != local) {
            state.vertices ^= local.bit();
            let dst = VertexId(u32::from(state.vertices & local.bit() != 0));
            ops.push(LocalOp { local, op: EdgeOp::Vertex, dst, weight: 1.0 });
        }
        let mut latched = subgraph.latch();
        let _ = latched.apply(Direction::Out, Ops::plain(&ops), ts, horizon);
        if random.below(12) == 0 {
            let _ = latched.settle(Direction::Out, false, horizon);
        }
        states.push(state);
    }
    (subgraph, states)
}

/// Checks that the found changes lead from one state to the other. An edge of both states must be among them
/// if its weight differs, and may be among them if it was written.
fn must_agree(before: &State, after: &State, found: &Changes) {
    let mut edges = before.edges.clone();
    assert!(found.edges.is_sorted_by_key(|change| (change.src, change.dst)));
    for change in &found.edges {
        assert_eq!(change.src.subgraph(), ID);
        let key = (change.src.local().0, change.dst.0);
        let was = match change.kind {
            EdgeChangeKind::Removed => edges.remove(&key),
            _ => edges.insert(key, change.weight),
        };
        assert_eq!(was.is_some(), change.kind != EdgeChangeKind::Inserted, "{change:?}");
    }
    assert!(edges == after.edges);
    let vertices = found.vertices.iter().fold(before.vertices, |vertices, &(v, came)| {
        assert_eq!(vertices & v.local().bit() == 0, came);
        vertices ^ v.local().bit()
    });
    assert_eq!(vertices, after.vertices);
}

fn changes(subgraph: &Subgraph, from: u64, to: u64) -> Changes {
    let mut found = Changes::default();
    let between = (Timestamp(from), Timestamp(to));
    subgraph.changes_between(ID, Direction::Out, between, &mut found).expect("all is in memory");
    found
}

#[test]
fn changes_between_any_two_timestamps_lead_from_one_state_to_the_other() {
    for seed in 0..4 {
        let (subgraph, states) = grown(seed, &KeepAll, seed % 2 == 1);
        for (from, before) in states.iter().enumerate() {
            for (to, after) in states.iter().enumerate().skip(from) {
                must_agree(before, after, &changes(&subgraph, from as u64, to as u64));
            }
        }
    }
}

/// The versions between the two timestamps are freed, so the lists are compared one by one.
#[test]
fn changes_reach_over_versions_that_were_unlinked() {
    for from in 0..90 {
        let (subgraph, states) = grown(from, &Held(Timestamp(from)), from % 2 == 1);
        let last = states.len() - 1;
        must_agree(&states[from as usize], &states[last], &changes(&subgraph, from, last as u64));
    }
}

#[test]
fn a_short_time_is_told_by_deltas_alone() {
    let (subgraph, states) = grown(7, &KeepAll, false);
    let last = states.len() as u64 - 1;
    assert!(changes(&subgraph, last, last).is_empty());
    assert!(changes(&subgraph, last - 1, last).edges.len() <= 60);
}
