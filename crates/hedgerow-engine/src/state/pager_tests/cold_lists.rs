//! Tests of writes during a read from files: between the look that finds the list out of memory, and the
//! second look after the read.

use hedgerow_core::{Direction, KeyKind, LabelId, VertexId};
use hedgerow_pager::pager::pages::{Absent, ColdList, Wanted};
use hedgerow_testkit::SimFs;

use crate::config::Durability;
use crate::graph::Graph;
use crate::options::Options;

const V: VertexId = VertexId(1);
const FAR: u64 = 200;

fn options() -> Options {
    Options::new().keys(KeyKind::Dense).durability(Durability::Manual).background_settling(false)
}

/// Returns a disk with a store of one edge.
fn files() -> SimFs {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    graph.insert_edge((u64::from(V.0), FAR)).unwrap();
    graph.checkpoint().unwrap();
    graph.close().unwrap();
    disk
}

fn grow(graph: &Graph) {
    graph.insert_edge((u64::from(V.0), FAR + 1)).unwrap();
    graph.checkpoint().unwrap();
}

/// Finds that the list is not in memory, calls `meanwhile`, and continues the read.
fn read(graph: &Graph, meanwhile: impl FnOnce()) -> Option<ColdList> {
    let wanted = Wanted::list(LabelId::DEFAULT, V, Direction::Out);
    let (engine, table) = (&graph.engine, &graph.engine.pager.subgraphs);
    let absent = Absent::look(table, V.subgraph()).expect("it is not in memory");
    meanwhile();
    engine.pager.read_absent(table, wanted, absent).unwrap()
}

fn degree(list: Option<ColdList>) -> Option<usize> {
    let list = list?;
    let found = list
        .subgraph
        .read(Direction::Out, hedgerow_core::Timestamp(u64::MAX >> 8), |read| read.degree(V.local()));
    assert_eq!(found, Ok(Some(list.degree)));
    assert!(
        list.subgraph.read(Direction::In, hedgerow_core::Timestamp(9), |_| ()).is_err(),
        "nothing but this list"
    );
    Some(list.degree)
}

/// If a chain is loaded, changed and written into a newer segment, the read does not use that segment. Nor
/// does it use the segment if the change loaded the page.
#[test]
fn what_changes_between_the_looks_is_not_read() {
    let disk = files();
    let graph = options().open_on(disk.handle()).unwrap();
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(degree(read(&graph, || grow(&graph))), None, "a page");
    assert_eq!(snapshot.degree_by_id(V, Direction::Out).unwrap(), 1);
    drop(snapshot);
    assert!(graph.internals().evict().unwrap() > 0);
    let snapshot = graph.snapshot().unwrap();
    let change = || {
        graph.remove_edge((u64::from(V.0), FAR)).unwrap();
        graph.checkpoint().unwrap();
        assert_eq!(graph.internals().evict().unwrap(), 0, "the snapshot keeps what it sees");
    };
    assert_eq!(degree(read(&graph, change)), None, "a chain");
    assert_eq!(snapshot.degree_by_id(V, Direction::Out).unwrap(), 2);
}

#[test]
fn what_does_not_change_is_read_from_whatever_segment() {
    let disk = files();
    let graph = options().open_on(disk.handle()).unwrap();
    assert_eq!(degree(read(&graph, || ())), Some(1), "a page");
    assert_eq!(degree(read(&graph, || _ = graph.compact().unwrap())), Some(1), "written again by a copy");
    grow(&graph);
    assert!(graph.internals().evict().unwrap() > 0);
    assert_eq!(degree(read(&graph, || ())), Some(2), "a chain");
    assert_eq!(
        degree(read(&graph, || _ = graph.compact().unwrap())),
        Some(2),
        "in a newer segment, with the same stamp"
    );
}
