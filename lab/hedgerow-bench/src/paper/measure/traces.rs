//! Traces: insertions of the edges of data sets, one by one, in the order of their timestamps.

use hedgerow_core::VertexId;
use hedgerow_lab::GraphForm;
use hedgerow_subjects::{Edge, Share, open};
use hedgerow_workload::GraphSpec;

use super::super::bench::{Bench, on, shown};
use crate::record::Record;
use crate::suite::{check_count, timed};
use hedgerow_report::failure::Result;

/// The data sets.
const TRACES: [&str; 2] = ["temporal/snap-CollegeMsg", "temporal/snap-sx-mathoverflow"];

/// Measures the traces. Returns no records if the data folder is absent.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    for name in TRACES {
        let Some(graph) = (GraphSpec::Data { name: name.to_owned() }).load()? else { continue };
        let form = GraphForm { directed: graph.directed, weighted: false };
        let edges: Vec<Edge> =
            graph.edges.iter().map(|&(src, dst)| (VertexId(src), VertexId(dst), 1.0)).collect();
        let distinct: std::collections::HashSet<(u32, u32)> = graph.edges.iter().copied().collect();
        let short = name.rsplit('/').next().unwrap_or(name);
        let engines = bench.engines().into_iter().map(|engine| (engine.name(), engine)).collect();
        let rounds = bench.work.options.repeat();
        let of_trace = bench.rounds("traces", rounds, engines, |name, &engine, measured| {
            for writers in bench.thread_counts() {
                let subject = open(engine, form)?;
                subject.insert_vertices(graph.vertices)?;
                let seconds = timed(writers, |nth| subject.insert(Share::of(&edges, nth, writers)))?;
                let rate = edges.len() as f64 / (seconds + shown(&*subject)?);
                measured.add(name, format!("insert {short}"), "edges/s", writers, rate);
                check_count(&*subject, distinct.len(), name)?;
            }
            Ok(())
        })?;
        records.extend(on(&graph.name, of_trace));
    }
    Ok(records)
}
