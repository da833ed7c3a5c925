//! Tests of reads of chains that are not in memory: they return errors, never an empty answer, and never
//! panic.

mod cold;
mod model;

use hedgerow_catalog::error::{Error, StorageError};
use hedgerow_core::{Direction, KeyKind, LabelId, SubgraphId, VertexId};
use hedgerow_mem::version::NotInMemory;
use hedgerow_pager::pager::KeptForSpeed;

use crate::graph::Graph;
use crate::options::Options;
use crate::read::k_hop::KHopOptions;
use crate::read::many::MissingVertex;
use crate::read::scan::VertexScan;
use crate::read::selection::EdgeSelection;
use crate::read::snapshot::Snapshot;
use crate::state::csr_cache::CsrOptions;
use crate::state::edge_key::EdgeKey;

const NEAR: u64 = 1;
const FAR: u64 = 200;
const LABEL: &str = "knows";

/// Returns a graph with edges from vertices of the first subgraph to other ones and back, with and without a
/// label.
fn graph() -> Graph {
    let graph = Options::new().keys(KeyKind::Dense).in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    tx.put_edges([(NEAR, FAR), (NEAR, 3), (FAR, NEAR), (FAR, FAR + 1)]).unwrap();
    tx.put_edge_with(EdgeKey::new(LABEL, NEAR, FAR), [("since", 2001)]).unwrap();
    tx.put_vertex_with(NEAR, [("age", 30)]).unwrap();
    tx.commit().unwrap();
    graph
}

fn evict(graph: &Graph, label: &str, direction: Direction) {
    let label = graph.engine.label(label.into()).unwrap();
    evict_of(graph, label, direction);
}

fn evict_of(graph: &Graph, label: LabelId, direction: Direction) {
    let table = graph.engine.pager.table(label).unwrap();
    table.get(SubgraphId(0), &table.hold()).unwrap().latch().evict(direction);
}

fn fails<T>(read: Result<T, Error>) -> bool {
    matches!(read, Err(Error::Storage(StorageError::NotInMemory(NotInMemory))))
}

/// Returns the reads of the vertex `NEAR` and of all vertices by name, and whether each of them fails.
fn reads(s: &Snapshot) -> Vec<(&'static str, bool)> {
    let (id, to) = (VertexId(NEAR as u32), VertexId(FAR as u32));
    vec![
        ("vertex_id", fails(s.vertex_id(NEAR))),
        ("vertex_key", fails(s.vertex_key(id))),
        ("contains_vertex", fails(s.contains_vertex(NEAR))),
        ("contains_edge", fails(s.contains_edge((NEAR, FAR)))),
        ("weight", fails(s.default_label().weight_between(NEAR, FAR))),
        ("DefaultLabel::weight", fails(s.weight_by_id(id, to))),
        ("DefaultLabel::contains_edge", fails(s.contains_edge_by_id(id, to))),
        ("degree", fails(s.degree(NEAR, Direction::Out))),
        ("DefaultLabel::degree", fails(s.degree_by_id(id, Direction::Out))),
        ("neighbors", fails(s.neighbors(NEAR, Direction::Out))),
        ("weighted_neighbors", fails(s.default_label().weighted_neighbors(NEAR, Direction::Out))),
        ("DefaultLabel::for_each_neighbor", fails(s.for_each_neighbor(id, Direction::Out, |_, _| ()))),
        ("edge_list", fails(s.edge_list(NEAR, Direction::Out))),
        ("edges", fails(s.edges(NEAR, Direction::Out))),
        ("for_each_edge", fails(s.for_each_edge("", |_| ()))),
        ("labels_with_edges", fails(EdgeSelection::all().labels_with_edges(s))),
        ("only_label", fails(EdgeSelection::all().only_label(s))),
        ("edge_count_of", fails(s.edge_count_of(""))),
        ("view", fails(s.view(Direction::Out))),
        ("vertices", fails(s.vertices().map(drop))),
        ("DefaultLabel::for_each_edge", fails(s.default_label().for_each_edge(|_, _, _| ()))),
        ("vertex_properties", fails(s.vertex_properties(NEAR))),
        ("VertexScan::keys", fails(s.scan_vertices().and_then(VertexScan::keys))),
        ("csr", fails(s.csr("", CsrOptions::new()))),
        ("degrees", fails(s.degrees(&[NEAR], ("", Direction::Out), MissingVertex::Empty))),
        ("contains_edges", fails(s.contains_edges(&[(NEAR, FAR)], ""))),
        ("k_hop", fails(s.k_hop(&[NEAR], &EdgeSelection::of(""), KHopOptions::new(1)))),
        ("neighbor_lists", fails(s.neighbor_lists(&[NEAR], ("", Direction::Out), MissingVertex::Empty))),
        ("scan_vertices", fails(s.scan_vertices().and_then(|scan| scan.try_for_each(|_| Ok(()))))),
    ]
}

/// If a part is not in memory, many reads make no view, and reads continue by chains.
#[test]
fn reads_go_on_where_the_view_cannot_be_made() {
    let graph = graph();
    evict(&graph, "", Direction::Out);
    let snapshot = graph.snapshot().unwrap();
    for _ in 0..100_000 {
        assert_eq!(snapshot.degree_by_id(VertexId(FAR as u32), Direction::Out).unwrap(), 2);
        assert!(snapshot.contains_edge_by_id(VertexId(FAR as u32), VertexId(NEAR as u32)).unwrap());
    }
    assert!(fails(snapshot.degree_by_id(VertexId(NEAR as u32), Direction::Out)));
    assert!(fails(snapshot.view("")));
}

#[test]
fn every_read_of_an_evicted_chain_fails() {
    let graph = graph();
    let (before, with_view) = (graph.snapshot().unwrap(), graph.snapshot().unwrap());
    assert_eq!(reads(&graph.snapshot().unwrap()).into_iter().filter(|read| read.1).count(), 0);
    let edges = with_view.default_label().view().unwrap().directed_edges();
    graph.engine.views.give_up();
    evict(&graph, "", Direction::Out);
    for snapshot in [&before, &graph.snapshot().unwrap()] {
        let answered: Vec<_> = reads(snapshot).into_iter().filter(|read| !read.1).collect();
        assert_eq!(answered, []);
        // Counts, and data of other chains, need no part of the evicted chain.
        assert_eq!((snapshot.vertex_count(), snapshot.edge_count().unwrap()), (4, 5));
        assert!(snapshot.contains_edge((FAR, NEAR)).unwrap() && snapshot.contains_vertex(FAR + 1).unwrap());
    }
    assert_eq!(with_view.default_label().view().unwrap().directed_edges(), edges, "a view keeps its lists");
    assert!(fails(graph.check()));
    assert_eq!(graph.stats().unwrap().vertices, 4);
}

#[test]
fn a_transaction_reads_nothing_into_an_evicted_chain() {
    let graph = graph();
    evict(&graph, "", Direction::Out);
    let mut tx = graph.write().unwrap();
    assert!(fails(tx.contains_edge((NEAR, FAR))) && fails(tx.neighbors(NEAR, Direction::Out)));
    assert!(fails(tx.insert_edge((NEAR, FAR))) && fails(tx.remove_edge((NEAR, FAR))));
    assert!(fails(tx.contains_vertex(NEAR)) && tx.contains_edge((FAR, FAR + 1)).unwrap());
}

#[test]
fn chains_of_labels_and_of_incoming_edges_fail_by_themselves() {
    let graph = graph();
    evict(&graph, LABEL, Direction::Out);
    let s = graph.snapshot().unwrap();
    let knows = EdgeKey::new(LABEL, NEAR, FAR);
    assert!(fails(s.contains_edge(knows)) && fails(s.edge_properties(knows)));
    assert!(fails(s.edge_list(NEAR, (LABEL, Direction::Out))) && fails(s.view(LABEL)));
    assert!(fails(s.ranks_between(LABEL, NEAR, FAR)));
    assert_eq!(s.degree(NEAR, ("", Direction::Out)).unwrap(), Some(2));
    assert_eq!(s.edge_list(FAR, (LABEL, Direction::In)).unwrap().map(|found| found.len()), Some(1));
    // The weights of incoming edges are stored with the outgoing ones.
    evict_of(&graph, LabelId::VERTICES, Direction::Out);
    assert!(fails(s.vertex_properties(NEAR)) && fails(s.vertex_property(NEAR, "age")));
    evict(&graph, "", Direction::In);
    let plain = |direction| s.neighbors(NEAR, ("", direction));
    assert!(fails(plain(Direction::In)) && plain(Direction::Out).is_ok());
    assert!(fails(s.view("")));
}
