//! Scans of lists that are drawn by their degree. The graphs have more and more vertices, with four
//! neighbours each on average.

use std::time::{Duration, Instant};

use hedgerow_core::VertexId;
use hedgerow_lab::GraphForm;
use hedgerow_subjects::{Edge, Reader, Share, open};
use hedgerow_workload::{Csr, CsrOptions};
use hedgerow_workload::{kron, shuffle};

use super::super::bench::{Bench, drawn_by_degree, on};
use crate::record::Record;
use crate::suite::Measured;
use hedgerow_report::failure::Result;

/// The scales of the graphs, the same as LiveGraph's: numbers of vertices as powers of two. With `--quick`,
/// the scales are smaller.
const SCALES: [u32; 4] = [16, 18, 20, 22];
const QUICK: [u32; 4] = [10, 12, 14, 16];
/// The number of edges of a vertex; each edge is in two lists.
const EDGE_FACTOR: u32 = 2;
const SEED: u64 = 42;
/// The time for scans of lists.
const LIMIT: Duration = Duration::from_millis(300);
/// The number of lists between two looks at the clock.
const STRETCH: usize = 256;
/// The number of different lists to draw, as a power of two.
const DRAWN: u32 = 16;
const FORM: GraphForm = GraphForm { directed: false, weighted: false };

/// Measures the scans, on graphs that are not larger than the graph of the work.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let scales = if bench.quick { QUICK } else { SCALES };
    let most = bench.work.graph.vertices.max(2).ilog2().max(QUICK[0]);
    let engines: Vec<_> = bench.engines().into_iter().map(|engine| (engine.name(), Some(engine))).collect();
    let engines = [vec![("csr", None)], engines].concat();
    let mut records = Vec::new();
    for scale in scales.into_iter().filter(|scale| *scale <= most) {
        let mut graph = kron(scale, EDGE_FACTOR, SEED);
        shuffle(&mut graph.edges, SEED);
        let edges: Vec<Edge> = graph.edges.iter().map(|&(u, v)| (VertexId(u), VertexId(v), 1.0)).collect();
        let drawn = drawn_by_degree(&edges, 1 << DRAWN, 37);
        let fixed =
            hedgerow_subjects::fixed(Csr::from_edges(graph.vertices, &graph.edges, &CsrOptions::default())?);
        let metric = format!("scan, seek included scale={scale}");
        let (rounds, limit) = (bench.work.options.repeat(), bench.work.while_of(LIMIT));
        let of_scale = bench.rounds("scales", rounds, engines.clone(), |name, engine, measured| {
            let snapshot = match engine {
                None => fixed.snapshot()?,
                Some(engine) => {
                    let subject = open(*engine, FORM)?;
                    subject.insert_vertices(graph.vertices)?;
                    subject.insert(Share::all(&edges))?;
                    subject.snapshot()?
                }
            };
            scan(&*snapshot, &drawn, limit, (name, &metric), measured)
        })?;
        records.extend(on(&format!("kron:{scale}:{EDGE_FACTOR}"), of_scale));
    }
    Ok(records)
}

fn scan(
    snapshot: &dyn Reader,
    drawn: &[VertexId],
    limit: Duration,
    (name, metric): (&'static str, &str),
    measured: &mut Measured,
) -> Result<()> {
    let begun = Instant::now();
    let mut read = 0;
    for stretch in drawn.chunks(STRETCH).cycle() {
        read += snapshot.visit(stretch)?.0;
        if begun.elapsed() >= limit {
            break;
        }
    }
    measured.add(name, metric, "edges/s", 1, read as f64 / begun.elapsed().as_secs_f64());
    Ok(())
}
