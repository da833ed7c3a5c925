//! The words of charts for suites, metrics and units.

use crate::record::Record;
use hedgerow_report::figures::grouped;

/// Clearer words for the suites with unclear names.
const SUITES: [(&str, &str); 5] = [
    ("analytics", "Kernels"),
    ("insert", "Insertion"),
    ("ops", "Reads"),
    ("commit", "Durable commits"),
    ("recovery", "Opening a store"),
];

/// Clearer words for the metrics with unclear names, here without the last part of the name.
const METRICS: [(&str, &str); 28] = [
    ("accounted_bytes_per_edge", "Memory after loading"),
    ("both", "checkpoint and log"),
    ("build", "built at once"),
    ("bytes_per_edge", "Resident memory"),
    ("checkpoint", "checkpoint"),
    ("degree", "degree"),
    ("first_point_read", "first read of a vertex"),
    ("first_view", "opening and a whole view"),
    ("fsync", "the disk's own sync"),
    ("geomean", "Kernels, geometric mean"),
    ("group", "group, 64 clients"),
    ("has_edge_hit", "has-edge, hit"),
    ("has_edge_miss", "has-edge, miss"),
    ("log", "log replay"),
    ("manual", "no sync, 64 clients"),
    ("open_empty_log", "opening, empty log"),
    ("pipelined", "single edges, pipelined"),
    ("remove_and_insert", "removed and put again"),
    ("scan_random", "scan at random"),
    ("scan_sequential", "scan in order"),
    ("single", "Single edges"),
    ("single_with_property", "single, with a property"),
    ("snapshot_open", "opening a snapshot"),
    ("sync_1", "sync, 1 client"),
    ("sync_64", "sync, 64 clients"),
    ("sync_8", "sync, 8 clients"),
    ("sync_8_beside_checkpoint", "same, in a checkpoint"),
    ("two_hop", "two hops"),
];

/// The kernels with the names that their authors use.
const KERNELS: [(&str, &str); 5] =
    [("bfs", "BFS"), ("pr", "PageRank"), ("sssp", "SSSP"), ("tc", "triangles"), ("wcc", "WCC")];

fn known<'a>(words: &[(&str, &'static str)], name: &'a str) -> Option<&'a str> {
    words.iter().find(|(known, _)| *known == name).map(|(_, word)| *word)
}

/// Returns the word for a suite.
pub(super) fn suite(name: &str) -> &str {
    known(&SUITES, name).unwrap_or(name)
}

/// Splits a metric into its name and its last part: `bfs.settled` into the kernel and the state.
pub(super) fn split(metric: &str) -> (&str, &str) {
    metric.split_once('.').unwrap_or((metric, ""))
}

/// Returns the label of a metric. With `has_threads`, the label includes the number of threads.
pub(super) fn label(record: &Record, has_threads: bool) -> String {
    let stem = split(&record.metric).0;
    let named = known(&METRICS, stem).or_else(|| known(&KERNELS, stem)).map(str::to_owned);
    let label = named.or_else(|| batches(stem)).unwrap_or_else(|| stem.replace('_', " "));
    let count = record.threads;
    let plural = if count == 1 { "" } else { "s" };
    match record.suite.as_str() {
        // The metrics of this suite already name their clients.
        "commit" => label,
        "insert" if has_threads && record.unit == "edges/s" => format!("{label}, {count} writer{plural}"),
        _ if has_threads => format!("{label}, {count} thread{plural}"),
        _ => label,
    }
}

/// Returns the label of a metric such as `batch_100000`; `None` for other metrics.
fn batches(stem: &str) -> Option<String> {
    let rest = stem.strip_prefix("batch_")?;
    let (size, with_property) = match rest.strip_suffix("_with_property") {
        Some(size) => (size, ", property"),
        None => (rest, ""),
    };
    Some(format!("batches of {}{with_property}", grouped(size.parse().ok()?)))
}

/// Returns the heading of a panel: its subject, its unit, and the better direction.
pub(super) fn heading(what: &str, record: &Record, is_ratio: bool) -> String {
    let is_rate = record.unit.ends_with("/s");
    let unit = match (record.unit.as_str(), is_ratio) {
        ("s", true) => "time by that of the same kernel on a static CSR",
        (_, true) => "rate by that of a static CSR",
        ("s", false) => "time",
        ("bytes", _) => "bytes for a directed edge",
        ("edges/s", _) => "directed edges a second",
        ("commits/s", _) => "commits a second",
        ("operations/s", _) => "operations a second",
        (unit, _) => unit,
    };
    let better = if is_rate { "more" } else { "less" };
    format!("{what}: {unit}; {better} is better")
}
