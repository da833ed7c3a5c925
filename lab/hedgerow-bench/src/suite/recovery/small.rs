//! Openings of the measured graph and of a small graph, in turns. The time to open a store must not depend on
//! the size of the graph.

use hedgerow_workload::{GraphSpec, LoadedGraph};

use super::super::load;
use super::super::work::Work;
use super::stores::{Place, open, put, reopen_once};
use hedgerow_report::failure::Result;

/// The small graph: kron:16.
const SMALL: GraphSpec = GraphSpec::Kron { scale: 16, edge_factor: 16 };

/// The seconds of openings, in order.
pub(super) struct Beside {
    pub(super) seconds: Vec<f64>,
    /// The seconds for the small graph; `None` if the measured graph is no larger.
    pub(super) small: Option<Vec<f64>>,
}

/// Opens the measured store with `reopen`, and a store of the small graph, in turns.
pub(super) fn measure(work: &Work<'_>, reopen: impl Fn() -> Result<f64>) -> Result<Beside> {
    let repeat = work.options.repeat();
    let small = SMALL.load()?.filter(|small| small.vertices < work.graph.vertices);
    let Some(graph) = small else {
        return Ok(Beside { seconds: (0..repeat).map(|_| reopen()).collect::<Result<_>>()?, small: None });
    };
    let place = Place::new(&work.options.dir, "recovery-small")?;
    let work = Work { options: work.options, per_edge: 2.0, graph };
    let expected = fill(&work, &place)?;
    let (mut seconds, mut small) = (Vec::new(), Vec::new());
    for _ in 0..repeat {
        seconds.push(reopen()?);
        small.push(reopen_once(&work, &place.0, expected)?);
    }
    Ok(Beside { seconds, small: Some(small) })
}

/// Makes the store. Returns the number of its edges.
fn fill(work: &Work<'_>, place: &Place) -> Result<u64> {
    let LoadedGraph { vertices, edges, .. } = &work.graph;
    let store = open(work, &place.0)?;
    load::insert_vertices(&store, *vertices)?;
    put(&store, edges)?;
    store.checkpoint()?;
    let edges = store.snapshot()?.edge_count()?;
    store.close()?;
    Ok(edges)
}
