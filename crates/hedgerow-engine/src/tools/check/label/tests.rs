//! Tests that each kind of problem of an edge or a list is reported. They write single copies of edges into
//! chains; no commit does this.

use hedgerow_core::{KeyKind, KindId, PropertyId, PropertyType, Row, RowRef, Value};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{Attributes, EdgeOp, Ops};

use super::*;
use crate::graph::Graph;
use crate::options::Options;
use crate::state::edge_key::EdgeKey;
use crate::state::label_options::LabelOptions;

const PERSON: KindId = KindId(1);
const A: VertexId = VertexId(0);
const B: VertexId = VertexId(1);
const C: VertexId = VertexId(2);
const NOBODY: VertexId = VertexId(50);
const NUMBER: PropertyId = PropertyId(0);
const TEXT: PropertyId = PropertyId(1);
const UNDEFINED: LabelId = LabelId(7);
/// A property that no label has.
const UNKNOWN: PropertyId = PropertyId(9);

/// Returns a graph with three vertices of the default kind, `A` to `C`, edges from `A` to `B` and from `B` to
/// `C`, and a call from `A` to `B`.
fn graph(directed: bool) -> Graph {
    let graph = Options::new().keys(KeyKind::U64).directed(directed).weighted(true).in_memory().unwrap();
    assert_eq!(graph.define_kind("person", KeyKind::U64).unwrap(), PERSON);
    let calls = LabelOptions::new().multi(true).property("number", PropertyType::I64);
    graph.define_label("calls", calls.property("text", PropertyType::Utf8)).unwrap();
    graph.define_label("knows", LabelOptions::new().ends(PERSON, PERSON)).unwrap();
    let mut tx = graph.write().unwrap();
    tx.put_edges([(1_u64, 2_u64, 1.0), (2, 3, 1.0)]).unwrap();
    tx.put_edge_with(EdgeKey::new("calls", 1_u64, 2_u64), [("number", 5)]).unwrap();
    tx.put_vertex_with(1_u64, [("age", 30)]).unwrap();
    tx.commit().unwrap();
    assert!(graph.check().unwrap().is_ok());
    let ids = [1_u64, 2, 3].map(|key| graph.snapshot().unwrap().vertex_id(key).unwrap());
    assert_eq!(ids, [A, B, C].map(Some));
    graph
}

/// A copy of an edge that a test writes into a chain.
struct Planted {
    label: &'static str,
    op: EdgeOp,
    at: VertexId,
    direction: Direction,
    other: VertexId,
    weight: f64,
    rank: u64,
    row: Option<Row>,
}

impl Planted {
    fn ranked(self, rank: u64) -> Planted {
        Planted { rank, ..self }
    }

    fn with(self, property: PropertyId, value: impl Into<Value>) -> Planted {
        Planted { row: Row::new([(property, value.into())]), ..self }
    }

    fn write(&self, graph: &Graph) {
        let engine = &graph.engine;
        let label = match self.label {
            "vertices" => LabelId::VERTICES,
            "undefined" => UNDEFINED,
            name => engine.label(name.into()).unwrap(),
        };
        let ts = graph.snapshot().unwrap().timestamp();
        let op = LocalOp { local: self.at.local(), op: self.op, dst: self.other, weight: self.weight };
        let attributes = Attributes { rank: self.rank, row: RowRef::from(self.row.as_ref()) };
        let hold = engine.pager.hold();
        let subgraph = engine.pager.table_or_create(label).get_or_create(self.at.subgraph(), &hold).unwrap();
        let (ops, attributes) = ([op], [attributes]);
        let ops = Ops::with(&ops, &attributes);
        let _ = subgraph.latch().apply(self.direction, ops, ts, &engine.order.horizon());
    }
}

fn planted(label: &'static str, at: VertexId, direction: Direction, other: VertexId) -> Planted {
    Planted { label, op: EdgeOp::Insert, at, direction, other, weight: 1.0, rank: 0, row: None }
}

fn out(label: &'static str, at: VertexId, other: VertexId) -> Planted {
    planted(label, at, Direction::Out, other)
}

fn into(label: &'static str, at: VertexId, other: VertexId) -> Planted {
    planted(label, at, Direction::In, other)
}

fn update(of: Planted) -> Planted {
    Planted { op: EdgeOp::Update, ..of }
}

/// Writes the copies, checks the graph, and expects exactly these problems. Problems of the counters are
/// ignored.
fn reports(directed: bool, copies: &[Planted], expected: &[&str]) {
    let graph = graph(directed);
    copies.iter().for_each(|copy| copy.write(&graph));
    let report = graph.check().unwrap();
    let is_of_counts = |problem: &String| problem.contains("the check found");
    let problems: Vec<String> = report.problems.into_iter().filter(|it| !is_of_counts(it)).collect();
    assert_eq!(problems, expected);
}

#[test]
fn an_edge_with_one_copy_is_named() {
    reports(
        true,
        &[out("", A, C)],
        &[
            "the default label: 3 outgoing edges, but 2 incoming edges",
            "the default label, vertex number 0, Out: edge with 2 rank 0: it has no other copy",
        ],
    );
    reports(
        true,
        &[into("", C, A)],
        &[
            "the default label: 2 outgoing edges, but 3 incoming edges",
            "the default label, vertex number 2, In: edge with 0 rank 0: it has no other copy",
        ],
    );
    let expected = "label \"calls\", vertex number 2, Out: edge with 0 rank 7: it has no other copy";
    reports(false, &[out("calls", C, A).ranked(7)], &[expected]);
}

#[test]
fn copies_with_different_data_are_named_from_both_sides() {
    let heavy = Planted { weight: 7.0, ..update(into("", B, A)) };
    reports(
        true,
        &[heavy],
        &[
            "the default label, vertex number 0, Out: edge with 1 rank 0: its weight is 1, and 7 in its other \
             copy",
            "the default label, vertex number 1, In: edge with 0 rank 0: its weight is 7, and 1 in its other \
             copy",
        ],
    );
    reports(
        false,
        &[update(out("calls", B, A)).with(NUMBER, 6)],
        &[
            "label \"calls\", vertex number 0, Out: edge with 1 rank 0: its copies have different properties",
            "label \"calls\", vertex number 1, Out: edge with 0 rank 0: its copies have different properties",
        ],
    );
}

#[test]
fn ends_that_do_not_exist_or_are_of_another_kind_are_named() {
    reports(
        true,
        &[out("", A, NOBODY), into("", NOBODY, A)],
        &[
            "the default label, vertex number 0, Out: edge with 50 rank 0: its other end does not exist",
            "the default label, vertex number 50, In: 1 edges, and no vertex",
        ],
    );
    let of_kind = "edge with 1 rank 0: an end of another kind than its label says";
    let of_other = "edge with 0 rank 0: an end of another kind than its label says";
    reports(
        true,
        &[out("knows", A, B), into("knows", B, A)],
        &[
            &format!("label \"knows\", vertex number 0, Out: {of_kind}"),
            &format!("label \"knows\", vertex number 1, In: {of_other}"),
        ],
    );
    reports(
        false,
        &[out("knows", A, B), out("knows", B, A)],
        &[
            &format!("label \"knows\", vertex number 0, Out: {of_kind}"),
            &format!("label \"knows\", vertex number 1, Out: {of_other}"),
        ],
    );
}

#[test]
fn ranks_and_properties_against_the_schema_are_named() {
    reports(
        true,
        &[out("", A, C).ranked(3), into("", C, A).ranked(3)],
        &[
            "the default label, vertex number 0, Out: edge with 2 rank 3: a rank in a label that has none",
            "the default label, vertex number 2, In: edge with 0 rank 3: a rank in a label that has none",
        ],
    );
    let expected = "label \"calls\", vertex number 0, Out: edge with 1 rank 0: a property that is not defined, \
                    or of another type";
    reports(true, &[update(out("calls", A, B)).with(UNKNOWN, 5)], &[expected]);
    reports(true, &[update(out("calls", A, B)).with(NUMBER, "five")], &[expected]);
    let expected = "the properties of vertices, vertex number 1, Out: edge with 2 rank 0: not the properties \
                    of this vertex";
    reports(true, &[out("vertices", B, C).with(NUMBER, 5)], &[expected]);
}

#[test]
fn properties_in_a_copy_that_has_none_are_named() {
    let expected =
        "label \"calls\", vertex number 1, In: edge with 0 rank 0: properties in the incoming copy";
    reports(true, &[update(into("calls", B, A)).with(NUMBER, 5)], &[expected]);
    let both = Row::new(vec![(NUMBER, Value::from(5)), (TEXT, Value::from("five"))]);
    let expected = "label \"calls\", vertex number 1, Out: edge with 0 rank 0: text in its second copy";
    reports(false, &[Planted { row: both, ..update(out("calls", B, A)) }], &[expected]);
    // If a copy has two faults, the report names both.
    reports(
        false,
        &[update(out("calls", B, A)).with(TEXT, "five")],
        &[
            expected,
            "label \"calls\", vertex number 0, Out: edge with 1 rank 0: its copies have different properties",
            "label \"calls\", vertex number 1, Out: edge with 0 rank 0: its copies have different properties",
        ],
    );
}

#[test]
fn edges_of_a_label_that_is_not_defined_are_reported() {
    reports(true, &[out("undefined", A, B)], &["edges of label 7, which is not defined"]);
}

#[test]
fn a_list_out_of_order_is_named() {
    let (graph, mut report) = (graph(true), CheckReport::default());
    let snapshot = graph.snapshot().unwrap();
    let (schema, census) = (snapshot.schema(), snapshot.census().unwrap());
    let lists = Lists { core: &graph.engine, ts: snapshot.timestamp(), census };
    let label = schema.label_by_id(LabelId::DEFAULT).unwrap();
    let mut check = LabelCheck::new(&snapshot, lists, label).unwrap();
    for list in [[A, B], [B, B], [B, A]] {
        for dst in list {
            let edge = ItemRef { dst, rank: 0, weight: 1.0, row: RowRef::Empty };
            check.edge(C, Direction::Out, &edge, &mut report);
        }
        check.end(C, Direction::Out, &mut report);
    }
    let expected = "the default label, vertex number 2, Out: edges out of order";
    assert_eq!(report.problems, [expected; 2]);
}
