use std::collections::BTreeMap;

use hedgerow_core::{Direction, InterpolationHint, LocalVertex, PropertyId, SubgraphId, Timestamp, Value};
use proptest::prelude::*;

use super::*;
use crate::op::LocalOp;
use crate::{Arena, Attributes, EdgeOp, Horizon, Main, Memory, Ops, PatchSizes, Pin, Subgraph};

const UNKNOWN: InterpolationHint = InterpolationHint::UNKNOWN;

/// The local source, the destination and the rank of an edge.
type Key = (u8, u32, u64);
type Content = BTreeMap<Key, Option<Row>>;

/// A horizon with open snapshots at `held`. All commits up to `published` are published.
struct Readers {
    published: Timestamp,
    held: Vec<Timestamp>,
}

impl Horizon for Readers {
    fn published(&self) -> Timestamp {
        self.published
    }

    fn pin_in(&self, begin: Timestamp, end: Timestamp) -> Option<Pin> {
        self.held.iter().find(|t| (begin..end).contains(t)).map(|t| Pin::Snapshot(*t))
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put(Key, Option<Row>),
    Remove(Key),
    Settle,
    Hold,
}

fn row(n: u8) -> Option<Row> {
    let cells =
        [(0, Value::I64(i64::from(n))), (1, "x".repeat(usize::from(n)).as_str().into()), (2, true.into())];
    Row::new(
        cells
            .into_iter()
            .filter(|(id, _)| n >> id & 1 == 1)
            .map(|(id, v)| (PropertyId(id), v))
            .collect::<Vec<_>>(),
    )
}

/// Generates a number of steps, in the range `count`, on edges to `dsts` destinations.
fn steps(dsts: u32, ranked: bool, count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Step>> {
    let rank =
        if ranked { prop_oneof![Just(0u64), 0u64..3, Just(u64::MAX)].boxed() } else { Just(0).boxed() };
    let key = (prop_oneof![Just(0u8), Just(5), Just(63)], 0..dsts, rank);
    let seldom = 60 / dsts;
    let step = prop_oneof![
        60 => (key.clone(), 0u8..8).prop_map(|(key, n)| Step::Put(key, row(n))),
        20 => key.prop_map(Step::Remove),
        seldom => Just(Step::Settle),
        seldom => Just(Step::Hold),
    ];
    proptest::collection::vec(step, count)
}

fn content(subgraph: &Subgraph, t: Timestamp) -> Content {
    let mut found = Content::new();
    for local in [0, 5, 63] {
        subgraph
            .read(Direction::Out, t, |read| {
                let mut listed = 0;
                read.for_each_item(LocalVertex(local), |item| {
                    let key = (local, item.dst.0, item.rank);
                    assert!(found.last_key_value().is_none_or(|(last, _)| *last < key), "out of order");
                    let again = read
                        .item(LocalVertex(local), item.dst, item.rank, UNKNOWN)
                        .expect("the same edge by its key");
                    assert_eq!(again.row.to_row(), item.row.to_row());
                    found.insert(key, item.row.to_row());
                    listed += 1;
                });
                assert_eq!(read.degree(LocalVertex(local)), listed);
                let settled = read.settled();
                let of_main: Vec<_> =
                    settled.range(LocalVertex(local)).map(|at| settled.item_at(at)).collect();
                assert_eq!(of_main.len(), listed);
                for item in of_main {
                    assert_eq!(found[&(local, item.dst.0, item.rank)], item.row.to_row());
                }
            })
            .unwrap();
    }
    let loops = found.keys().filter(|(local, dst, _)| u32::from(*local) == *dst).count() as u64;
    subgraph
        .read(Direction::Out, t, |read| {
            assert_eq!(read.edge_entries(), found.len() as u64);
            assert_eq!(read.self_loops(SubgraphId(0)), loops);
        })
        .unwrap();
    found
}

proptest! {
    #[test]
    fn a_subgraph_agrees_with_a_map_now_and_at_old_timestamps(steps in steps(6, true, 1..120)) {
        agree(steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_patched_subgraph_agrees_with_a_map(
        (plain, ranked) in (steps(60, false, 400..600), steps(30, true, 400..600)),
    ) {
        prop_assert!(agree(plain)? > 0 && agree(ranked)? > 0, "nothing was patched");
    }
}

/// Takes the steps on a subgraph and on a map. Returns the number of versions with a patch.
fn agree(steps: Vec<Step>) -> Result<usize, TestCaseError> {
    let subgraph = Subgraph::new(Memory::new(Arena::new().with_patch_sizes(PatchSizes::SMALL)));
    let (mut now, mut held) = (Content::new(), Vec::<(Timestamp, Content)>::new());
    let (mut ts, mut patched) = (Timestamp(0), 0);
    for step in steps {
        let readers = Readers { published: ts, held: held.iter().map(|(t, _)| *t).collect() };
        ts = ts.next();
        let apply = |(local, dst, rank): Key, op, row: Option<Row>| {
            let op = LocalOp { local: LocalVertex(local), op, dst: VertexId(dst), weight: 0.0 };
            let (ops, attributes) = ([op], [Attributes { rank, row: row.as_ref().into() }]);
            let ops = Ops::with(&ops, &attributes);
            let _ = subgraph.latch().apply(Direction::Out, ops, ts, &readers);
        };
        match step {
            Step::Put(key, row) => {
                let op = if now.contains_key(&key) { EdgeOp::Update } else { EdgeOp::Insert };
                apply(key, op, row.clone());
                now.insert(key, row);
            }
            Step::Remove(key) if now.contains_key(&key) => {
                apply(key, EdgeOp::Remove, None);
                now.remove(&key);
            }
            Step::Remove(_) => {}
            Step::Settle => {
                let _ = subgraph.latch().settle(Direction::Out, ts.0.is_multiple_of(2), &readers);
            }
            Step::Hold => held.push((ts, now.clone())),
        }
        let latched = subgraph.latch();
        let versions = subgraph.versions(Direction::Out);
        patched += usize::from(versions.first().is_some_and(|version| version.patch.is_some()));
        for (&(local, dst, rank), row) in &now {
            let found = latched.item(Direction::Out, LocalVertex(local), VertexId(dst), rank, UNKNOWN);
            prop_assert_eq!(found.map(|item| item.row.to_row()), Some(row.clone()));
        }
    }
    prop_assert_eq!(content(&subgraph, ts), now);
    for (t, expected) in held {
        prop_assert_eq!(content(&subgraph, t), expected);
    }
    Ok(patched)
}

#[test]
fn a_plain_subgraph_has_no_room_for_what_it_does_not_have() {
    let subgraph = Subgraph::new(Memory::new(Arena::new().with_patch_sizes(PatchSizes::SMALL)));
    let readers = Readers { published: Timestamp(1000), held: Vec::new() };
    for i in 0..100u32 {
        let op = LocalOp { local: LocalVertex(1), op: EdgeOp::Insert, dst: VertexId(i), weight: 0.0 };
        let (ops, attributes) = ([op], [Attributes::NONE]);
        let ops = Ops::with(&ops, &attributes);
        let _ = subgraph.latch().apply(Direction::Out, ops, Timestamp(u64::from(i) + 1), &readers);
    }
    for version in subgraph.versions(Direction::Out) {
        assert!(version.delta().extra().is_none());
        assert_eq!(version.main().extra_bytes(), 0);
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let offsets: Vec<u32> = std::iter::once(0).chain(std::iter::repeat_n(3, 64)).collect();
    let made = |dsts: [u32; 3], ranks: Option<&[u64]>| {
        let extra = Extra { ranks: ranks.map(Into::into), columns: Columns::default() };
        Main::with_extra(1, &offsets, &dsts.map(VertexId), None, extra, &Arena::default()).is_some()
    };
    assert!(made([1, 2, 3], None));
    assert!(!made([1, 1, 3], None));
    assert!(made([1, 1, 3], Some(&[4, 5, 0])));
    assert!(!made([1, 1, 3], Some(&[5, 5, 0])), "the same edge twice");
    assert!(!made([1, 1, 3], Some(&[5, 4, 0])), "ranks out of order");
    assert!(!made([1, 1, 3], Some(&[4, 5])), "too few ranks");
    let two = Row::new(vec![(PropertyId(0), 1.into())]).expect("a value");
    let columns = Columns::of_rows([RowRef::Row(&two), RowRef::Empty]);
    let extra = Extra { ranks: None, columns };
    let dsts = [1, 2, 3].map(VertexId);
    assert!(Main::with_extra(1, &offsets, &dsts, None, extra, &Arena::default()).is_none(), "too few values");
}
