//! Tests of the capacity that a merge gives to the new delta.

use hedgerow_core::{LocalVertex, VertexId};

use super::*;
use crate::op::{EdgeOp, LocalOp};

const PUBLISHED: Timestamp = Timestamp(1_000_000);

/// Returns the version that merging `ops` into the main part of `head` makes.
fn merged(head: Version, ops: &[(EdgeOp, u32)]) -> Version {
    let arena = Arena::default();
    let delta = Delta::new(head.begin, ops.len(), false, &arena);
    let head = Version::new(head.begin, head.main.clone(), delta, 0);
    for (i, &(op, edge)) in ops.iter().enumerate() {
        let ts = Timestamp(head.begin.0 + 1 + i as u64);
        let op = LocalOp { local: LocalVertex((edge % 64) as u8), op, dst: VertexId(edge), weight: 0.0 };
        head.delta.push_all(Ops::plain(&[op]), ts);
    }
    published(&head, 1, PUBLISHED, false, PUBLISHED, &arena).expect("all is published")
}

#[test]
fn a_delta_has_room_by_the_edges_that_are_left() {
    let empty = || {
        Version::new(Timestamp(0), Main::default(), Delta::new(Timestamp(0), 0, false, &Arena::default()), 0)
    };
    let insert: Vec<_> = (0..800).map(|edge| (EdgeOp::Insert, edge)).collect();
    let full = merged(empty(), &insert);
    assert_eq!((full.main.neighbors.len(), full.delta.capacity()), (800, 100));
    // With fewer than 576 edges, three square roots are more than an eighth. Removed edges do not enlarge the
    // delta. Operations that do not change the number of edges do not enlarge it either.
    let remove: Vec<_> = (0..400).map(|edge| (EdgeOp::Remove, edge)).collect();
    let half = merged(full, &remove);
    assert_eq!((half.main.neighbors.len(), half.delta.capacity()), (400, 60));
    let same: Vec<_> = (0..300).map(|edge| (EdgeOp::Update, 400 + edge)).collect();
    let same = merged(half, &same);
    assert_eq!((same.main.neighbors.len(), same.delta.capacity()), (400, 60));
    let none: Vec<_> = (400..800).map(|edge| (EdgeOp::Remove, edge)).collect();
    assert_eq!(merged(same, &none).delta.capacity(), MIN_DELTA);
}
