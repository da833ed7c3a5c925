//! Tests of the transactions that commit in this way, and of packed copies. The tests of the store compare
//! the resulting graphs with a model.

use hedgerow_core::{KeyKind, VertexId};
use hedgerow_mem::Hold;

use super::*;
use crate::commit::attributes::AttributesTable;
use crate::commit::names::TxnKeys;
use crate::commit::op::{OpKind, TxnOp};
use crate::commit::order;
use crate::commit::validate::ReadSet;
use crate::graph::Graph;
use crate::options::Options;

/// The fields of a packed copy can be read again. The copies of one edge are adjacent in the sorted order,
/// whatever their places are.
#[test]
fn a_copy_is_packed_and_unpacked() {
    let ids = [0, 1, 63, 64, 1 << 20, VertexId::MAX.0].map(VertexId);
    let mut copies = Vec::new();
    for (nth, (at, other)) in ids.iter().flat_map(|&a| ids.map(|b| (a, b))).enumerate() {
        for direction in [Direction::Out, Direction::In] {
            for place in [2 * nth, 2 * nth + 1, 2 * MOST - 1 - nth] {
                let copy = EdgeCopy::new(at, direction, other, place);
                assert_eq!((copy.subgraph(), copy.direction()), (at.subgraph(), direction));
                assert_eq!(copy.place(), (place / 2, place % 2 == 1));
                copies.push((copy, (at, direction, other)));
            }
        }
    }
    copies.sort_unstable_by_key(|&(copy, _)| copy);
    for (_, edge) in &copies {
        let places = copies.iter().enumerate().filter(|(_, (_, other))| edge == other);
        let places: Vec<usize> = places.map(|(at, _)| at).collect();
        let stretch = &copies[places[0]..=places[2]];
        assert_eq!(places.len(), 3);
        assert!(stretch.windows(2).all(|pair| pair[0].0.may_be_same_edge(pair[1].0)), "{edge:?}");
    }
}

const FAR: u64 = 5 * 64 + 7;

/// Returns a graph with the vertices 0 to 9, and one in another subgraph.
fn graph(directed: bool) -> Graph {
    let graph = Options::new().directed(directed).keys(KeyKind::Dense).in_memory().unwrap();
    graph.transact(1, |tx| (0..10).chain([FAR]).try_for_each(|v| tx.insert_vertex(v).map(drop))).unwrap();
    graph
}

/// Commits in this way and returns the change of the number of edges. Returns `None` if the transaction
/// cannot commit in this way.
fn commit(graph: &Graph, ops: &[(OpKind, u64, u64)]) -> Option<i64> {
    let mut keys = TxnKeys::new();
    let mut op = |&(kind, src, dst): &(OpKind, u64, u64)| {
        TxnOp::plain(kind, keys.intern(src.into()), keys.intern(dst.into()), 1.0)
    };
    let ops: Vec<TxnOp> = ops.iter().map(&mut op).collect();
    let request = Request {
        ops: &ops,
        attributes: AttributesTable::of(&[]),
        keys: &keys,
        create: true,
        reads: &ReadSet::default(),
        start: Timestamp::INFINITY,
        isolation: Isolation::Serializable,
    };
    let outcome = commit_unpublished(&graph.engine, &request).unwrap()?;
    Some(order::publish(&graph.engine, outcome).unwrap().edges)
}

#[test]
fn what_is_plain_goes_this_way_and_nothing_else() {
    use OpKind::{Insert, Put, Remove};
    for directed in [true, false] {
        let graph = graph(directed);
        assert_eq!(commit(&graph, &[(Put, 1, 2), (Insert, FAR, 1), (Put, 3, 3), (Remove, 4, 5)]), Some(3));
        assert_eq!(commit(&graph, &[(Put, 1, 2), (Remove, FAR, 1)]), Some(-1));
        assert_eq!(commit(&graph, &[(Insert, 1, 2), (Put, 3, 3)]), Some(0), "nothing changes");
        assert_eq!(commit(&graph, &[(Put, 5, 6)]), None, "one operation");
        assert_eq!(commit(&graph, &[(Put, 5, 6), (Put, 5, 11)]), None, "no such vertex");
        assert_eq!(commit(&graph, &[(Put, 5, 6), (Put, 5, 1 << 30)]), None, "no such page");
        assert_eq!(commit(&graph, &[(Put, 5, 6), (Remove, 5, 6)]), None, "twice one edge");
        assert_eq!(commit(&graph, &[(Put, 5, 6), (Put, 6, 5)]), if directed { Some(2) } else { None });
        assert_eq!(commit(&graph, &[(OpKind::InsertVertex, 1, 1), (Put, 6, 7)]), None, "a vertex");
        assert_eq!(commit(&graph, &[(Put, 9, FAR), (Put, FAR, FAR)]), Some(2));
        graph.settle().unwrap();
        assert_eq!(commit(&graph, &[(Put, 0, 1), (Put, FAR, FAR)]), Some(1), "the loop is there");
        let far = VertexId(FAR as u32).subgraph();
        graph.engine.pager.eviction.note_stored(1);
        assert_eq!(commit(&graph, &[(Put, 7, 8), (Put, 7, FAR)]), Some(2), "all is in memory");
        graph.engine.pager.subgraphs.get(far, Hold::none()).unwrap().latch().evict(Direction::Out);
        assert_eq!(commit(&graph, &[(Put, 8, 9), (Put, 8, FAR)]), None, "not in memory");
        assert!(!graph.snapshot().unwrap().contains_edge((8, 9)).unwrap(), "nothing of it was done");
    }
}

/// The deltas of several chains fill up. Some make room by merging published entries. Other deltas have less
/// capacity than the operations that arrive at once.
#[test]
fn full_deltas_are_merged() {
    for (directed, most) in [(false, 1), (false, 6), (true, 1), (true, 6)] {
        let graph = graph(directed);
        for round in 0..60 {
            let kind = if round % 2 == 0 { OpKind::Put } else { OpKind::Remove };
            let ends = (1..=most).map(|n| n + round / 2 % 3);
            let ops: Vec<_> = ends.flat_map(|n| [(kind, 0, n), (kind, FAR, n)]).collect();
            assert_eq!(commit(&graph, &ops).map(i64::abs), Some(2 * most as i64), "{kind:?}");
        }
        assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 0);
        assert!(graph.check().unwrap().is_ok());
    }
}
