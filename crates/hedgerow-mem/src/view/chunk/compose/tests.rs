//! Tests of composed views against a model: label sets, tests and ranks, with deltas, with patches, and
//! settled.

use std::collections::BTreeMap;

use hedgerow_core::{
    Comparison, Condition, Direction, EdgeTest, PropertyId, PropertyTest, PropertyType, Resident, Row,
    SubgraphId, Value, ValueRef,
};
use proptest::prelude::*;

use super::*;
use crate::reclaim::testing::KeepAll;
use crate::subgraph::LocalOp;
use crate::view::{DirectionView, Shape, View};
use crate::{Attributes, EdgeOp, Hold, Memory, Ops, PatchSizes, SubgraphTable};

const BOUND: usize = 9000;
const LABELS: usize = 3;
const NUMBER: PropertyId = PropertyId(2);

/// The edges by source, destination and rank, each with its number.
type Edges = BTreeMap<(u32, u32, u64), Option<i64>>;

/// Tables of some labels, and the state of a model after each commit.
struct World {
    tables: [SubgraphTable; LABELS],
    states: Vec<[Edges; LABELS]>,
}

impl World {
    fn new() -> World {
        let memory = Memory::new(Arena::new().with_patch_sizes(PatchSizes::SMALL));
        let tables = std::array::from_fn(|_| SubgraphTable::new(memory.clone()));
        World { tables, states: vec![<_>::default()] }
    }

    /// Puts or removes an edge in a commit of its own. Only edges of the last label have ranks.
    fn commit(&mut self, label: usize, (src, dst, rank): (u32, u32, u64), number: Option<i64>, remove: bool) {
        let mut edges = self.states[self.states.len() - 1].clone();
        let ts = Timestamp(self.states.len() as u64);
        let rank = if label == LABELS - 1 { rank } else { 0 };
        let key = (src, dst, rank);
        let op = match (edges[label].contains_key(&key), remove) {
            (true, true) => EdgeOp::Remove,
            (true, false) => EdgeOp::Update,
            (false, false) => EdgeOp::Insert,
            (false, true) => return,
        };
        match op {
            EdgeOp::Remove => _ = edges[label].remove(&key),
            _ => _ = edges[label].insert(key, number),
        }
        let row = number.filter(|_| !remove).map(|n| Row::new([(NUMBER, Value::I64(n))]));
        let attributes = [Attributes { rank, row: row.as_ref().and_then(Option::as_ref).into() }];
        let op = LocalOp { local: VertexId(src).local(), op, dst: VertexId(dst), weight: 1.0 };
        let mut latched =
            self.tables[label].get_or_create(VertexId(src).subgraph(), Hold::none()).unwrap().latch();
        let _ = latched.apply(Direction::Out, Ops::with(&[op], &attributes), ts, &KeepAll);
        drop(latched);
        self.states.push(edges);
    }

    fn settle(&self, label: usize) {
        for subgraph in [0, 1, 64].map(SubgraphId) {
            if let Some(subgraph) = self.tables[label].get(subgraph, Hold::none()) {
                let _ = subgraph.latch().settle(Direction::Out, false, &KeepAll);
            }
        }
    }

    fn check(&self, t: Timestamp, chosen: &Chosen) {
        let test = |condition: &Condition| {
            let (kind, condition) = (PropertyType::I64, condition.clone());
            EdgeTest::Property(PropertyTest { property: NUMBER, kind, condition })
        };
        let tests: Vec<EdgeTest> = chosen.conditions.iter().map(test).collect();
        let take =
            Take { ranks: chosen.ranks, tests: &tests, first_copies: chosen.first_copies, ..Take::default() };
        let arena = Arena::new();
        let mut composer = Composer::new(t, false, &arena).counting_loops();
        let mut side = DirectionView::default();
        for (page, chunk) in side.chunks_mut(BOUND).iter_mut().enumerate() {
            let lists = chosen.labels.iter().filter_map(|&label| self.tables[label].page(page, Hold::none()));
            let sources: Vec<Source<'_>> =
                lists.map(|lists| Source { lists, direction: Direction::Out, take }).collect();
            composer.fill(chunk, SubgraphId((page * CHUNK_SUBGRAPHS) as u32), &sources, None).unwrap();
        }
        let entries = side.recount();
        let view = View::new(Shape { vertex_bound: BOUND, ..Shape::default() }, side, <_>::default());
        let taken = |((src, dst, rank), number): (&(u32, u32, u64), &Option<i64>)| {
            chosen.ranks.is_none_or(|(first, last)| first <= *rank && *rank <= last)
                && (!chosen.first_copies || src <= dst)
                && chosen.conditions.iter().all(|c| c.holds(number.map_or(ValueRef::Null, ValueRef::I64)))
        };
        let mut expected = BTreeMap::<u32, Vec<u32>>::new();
        for &label in &chosen.labels {
            let edges = self.states[t.0 as usize][label].iter().filter(|(key, number)| taken((key, number)));
            edges.for_each(|(key, _)| expected.entry(key.0).or_default().push(key.1));
        }
        let (mut count, mut loops) = (0, 0);
        for v in 0..BOUND as u32 {
            let mut list = expected.remove(&v).unwrap_or_default();
            list.sort_unstable();
            let neighbors = view.neighbors(VertexId(v), Direction::Out);
            let found: Vec<u32> = neighbors.iter().map(|u| u.0).collect();
            assert_eq!(found, list, "{v} at {t:?}: {chosen:?}");
            count += list.len() as u64;
            loops += list.iter().filter(|&&u| u == v).count() as u64;
        }
        assert_eq!((entries, view.directed_edges(), composer.loops()), (count, count, loops), "{chosen:?}");
    }
}

#[derive(Clone, Debug)]
struct Chosen {
    labels: Vec<usize>,
    /// The conditions for the number of an edge.
    conditions: Vec<Condition>,
    ranks: Option<(u64, u64)>,
    first_copies: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Commit(usize, (u32, u32, u64), Option<i64>, bool),
    /// Inserts edges from one vertex to consecutive vertices, in one label.
    Many(usize, u32, u32),
    Settle(usize),
    View(f64, Chosen),
}

fn chosen() -> impl Strategy<Value = Chosen> {
    let labels =
        prop_oneof![Just(vec![0]), Just(vec![2]), Just(vec![0, 1]), Just(vec![2, 0]), Just(vec![0, 1, 2])];
    let comparison = proptest::sample::select(Comparison::ALL.to_vec());
    let compares = (comparison, -1..4i64).prop_map(|(c, n)| Condition::Compares(c, n.into()));
    let one_of = proptest::collection::vec(-1..4i64, 1..4).prop_map(Condition::one_of);
    let null = prop_oneof![Just(Condition::Null), Just(Condition::NotNull)];
    let condition = prop_oneof![4 => compares, 1 => one_of, 1 => null];
    let conditions = proptest::collection::vec(condition, 0..3);
    let ranks = prop_oneof![4 => Just(None), 1 => Just(Some((1, 2))), 1 => Just(Some((0, 1)))];
    (labels, conditions, ranks, proptest::bool::weighted(0.1)).prop_map(
        |(labels, conditions, ranks, first_copies)| Chosen { labels, conditions, ranks, first_copies },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Few sources, so that deltas fill up and merge. The sources are on both sides of a chunk's end.
    let source = || prop_oneof![4 => 0..3u32, 1 => 62..66u32, 1 => 4094..4098u32, 1 => Just(8999u32)];
    let edge = (source(), 0..70u32, 0..3u64);
    let number = proptest::option::weighted(0.8, 0..3i64);
    let step = prop_oneof![
        24 => (0..LABELS, edge, number, proptest::bool::weighted(0.3))
            .prop_map(|(label, edge, number, remove)| Step::Commit(label, edge, number, remove)),
        1 => (0..LABELS, source(), 20..200u32).prop_map(|(label, src, n)| Step::Many(label, src, n)),
        1 => (0..LABELS).prop_map(Step::Settle),
        3 => (0.0..1.5f64, chosen()).prop_map(|(at, chosen)| Step::View(at.min(1.0), chosen)),
    ];
    proptest::collection::vec(step, 1..150)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_composed_view_has_the_edges_that_are_taken(steps in steps()) {
        let mut world = World::new();
        for step in steps {
            match step {
                Step::Commit(label, edge, number, remove) => world.commit(label, edge, number, remove),
                Step::Many(label, src, n) => {
                    (0..n).for_each(|dst| world.commit(label, (src, dst, 0), Some(i64::from(dst % 3)), false));
                }
                Step::Settle(label) => world.settle(label),
                Step::View(share, chosen) => {
                    let now = world.states.len() as f64 - 1.0;
                    world.check(Timestamp((share * now).round() as u64), &chosen);
                }
            }
        }
    }
}
