//! Tests of images in place of chains that are not in memory (rule E6): the choice of images and their
//! lifetime.

use hedgerow_core::{Direction, KeyKind, LabelId, SubgraphId, Timestamp, VertexId};
use hedgerow_pager::page_of;
use hedgerow_pager::pager::pages::{Cold, Expected};
use hedgerow_testkit::SimFs;

use crate::config::Durability;
use crate::graph::Graph;
use crate::options::Options;

const V: VertexId = VertexId(1);
const FAR: u64 = 200;

/// Returns a graph with one edge, which is in a file and not in memory.
fn graph() -> Graph {
    let options =
        Options::new().keys(KeyKind::Dense).durability(Durability::Manual).background_settling(false);
    let graph = options.open_on(SimFs::new().handle()).unwrap();
    graph.insert_edge((u64::from(V.0), FAR)).unwrap();
    graph.checkpoint().unwrap();
    assert!(graph.internals().evict().unwrap() > 0);
    graph
}

/// Reads the first subgraph, and calls `meanwhile` when it first finds it out of memory. Returns the part
/// that is not in memory, the degree in the part that is, and the number of reads.
fn look(graph: &Graph, ts: Timestamp, meanwhile: impl FnOnce()) -> (Option<Cold>, Option<usize>, usize) {
    let (mut meanwhile, mut degree, mut looks) = (Some(meanwhile), None, 0);
    let cold =
        graph.engine.pager.read_in_memory(page_of(LabelId::DEFAULT, SubgraphId(0)), 1, ts, |_, subgraph| {
            looks += 1;
            let found = subgraph.read(Direction::Out, ts, |read| read.degree(V.local()));
            if found.is_err()
                && let Some(meanwhile) = meanwhile.take()
            {
                meanwhile();
            }
            degree = found?;
            Ok(())
        });
    (cold.unwrap(), degree, looks)
}

fn degree_of_image(graph: &Graph, cold: &Cold) -> usize {
    let (mut degrees, exists) = (Vec::new(), |_: SubgraphId| V.local().bit());
    let expected = Expected { bound: graph.engine.keys.ids.bound(), exists };
    graph
        .engine
        .pager
        .read_cold(cold, expected, &mut |_| true, |image| {
            let out = image.parts.iter().filter(|lists| lists.direction() == Direction::Out);
            degrees.extend(out.map(|lists| lists.neighbors(V.local()).len()));
            Ok(())
        })
        .unwrap();
    assert_eq!(degrees.len(), 1);
    degrees[0]
}

fn grow(graph: &Graph) {
    graph.insert_edge((u64::from(V.0), FAR + 1)).unwrap();
    graph.checkpoint().unwrap();
}

/// After the reader sees the mark, and before it takes the segments, the chain is loaded and changed, and a
/// checkpoint writes it into a newer segment.
#[test]
fn an_image_that_is_newer_than_the_reader_is_not_taken() {
    let graph = graph();
    let snapshot = graph.snapshot().unwrap();
    let (cold, degree, looks) = look(&graph, snapshot.timestamp(), || grow(&graph));
    assert!(cold.is_none(), "what changed is in memory");
    assert_eq!((degree, looks), (Some(1), 2), "as the snapshot sees it");
}

/// The chain is loaded and evicted again without a change. The image still has its state.
#[test]
fn a_chain_that_came_and_went_unchanged_has_its_image() {
    let graph = graph();
    let snapshot = graph.snapshot().unwrap();
    let (cold, _, looks) = look(&graph, snapshot.timestamp(), || {
        assert_eq!(graph.snapshot().unwrap().degree(u64::from(V.0), Direction::Out).unwrap(), Some(1));
        graph.internals().evict().unwrap();
    });
    assert_eq!((degree_of_image(&graph, &cold.unwrap()), looks), (1, 1));
}

/// The segments that a reader took have its state, even if newer segments replace them and their files are
/// removed.
#[test]
fn segments_that_were_taken_stay_those_of_the_reader() {
    let graph = graph();
    let snapshot = graph.snapshot().unwrap();
    let (cold, _, _) = look(&graph, snapshot.timestamp(), || ());
    grow(&graph);
    graph.compact().unwrap();
    let cold = cold.unwrap();
    assert_eq!(degree_of_image(&graph, &cold), 1);
    assert_eq!(
        cold.summaries().unwrap().iter().map(|summary| (summary.place, summary.edges)).collect::<Vec<_>>(),
        [(0, 1)]
    );
    let now = graph.snapshot().unwrap();
    assert_eq!(now.degree(u64::from(V.0), Direction::Out).unwrap(), Some(2));
}
