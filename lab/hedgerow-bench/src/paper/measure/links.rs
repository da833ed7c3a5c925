//! LinkBench, measured by the suite of the same name.

use super::super::bench::Bench;
use crate::record::Record;
use crate::suite::{LinkBenchOptions, linkbench_records};
use hedgerow_report::failure::Result;

/// The numbers of nodes and requests, with `--quick` and without.
const QUICK: (u64, u64) = (20_000, 50_000);
const WHOLE: (u64, u64) = (100_000, 200_000);

/// Measures LinkBench. Returns no records without the files of the workload.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let (nodes, requests) = if bench.quick { QUICK } else { WHOLE };
    let requests = requests.min(bench.edges.len() as u64);
    let clients = bench.thread_counts().into_iter().filter_map(|count| u16::try_from(count).ok()).collect();
    let shared = bench.work.options;
    let options = LinkBenchOptions::of(nodes, requests, clients, shared.repeat, shared.dir.clone());
    let mut records = linkbench_records(&options, bench.rivals)?;
    for record in &mut records {
        record.metric = named(&record.metric);
        // The suite's ratios are to the store; the ratios of reports are to the CSR or to the best.
        record.ratio = None;
    }
    Ok(records)
}

/// Returns the name that the papers use: `latency, p99 mix=tao` for `tao.p99`, and `requests mix=dflt
/// durable=yes` for `dflt_durable.ops_per_s`.
fn named(metric: &str) -> String {
    let Some((mix, figure)) = metric.split_once('.') else { return metric.to_owned() };
    let what = if figure == "ops_per_s" { "requests".to_owned() } else { format!("latency, {figure}") };
    match mix.split_once("_durable") {
        Some((mix, _)) => format!("{what} mix={mix} durable=yes"),
        None => format!("{what} mix={mix}"),
    }
}
