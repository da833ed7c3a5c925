//! `hedgerow stats`.

use std::path::{Path, PathBuf};

use hedgerow::{Graph, KeyKind, KindId, Label};
use hedgerow_export::text::{kind_name, kinds};
use serde_json::Value;

use crate::error::CliError;
use crate::output::{Report, Style};
use crate::store::open_read_only;

/// Arguments of `stats`.
#[derive(clap::Args)]
pub(crate) struct StatsArgs {
    /// The directory of the store
    store: PathBuf,
}

/// Prints the content of the store, and the memory and the files that it takes.
pub(crate) fn stats(args: &StatsArgs, style: Style) -> Result<(), CliError> {
    let graph = open_read_only(&args.store)?;
    let (config, stats) = (graph.config(), graph.stats()?);
    let (log_bytes, segment_bytes) = file_bytes(&args.store);
    let report = Report::default()
        .field("vertices", stats.vertices)
        .field("edges", stats.edges)
        .field("directed", config.directed)
        .field("keys", kind_name(config.keys))
        .field("weighted", config.weighted)
        .field("timestamp", stats.published.0)
        .bytes("memory_limit", stats.memory_limit)
        .bytes("memory_bytes", stats.memory_bytes())
        .bytes("arena_bytes", stats.arena_bytes)
        .bytes("version_bytes", stats.version_bytes)
        .bytes("inbox_bytes", stats.inbox_bytes)
        .bytes("table_bytes", stats.table_bytes)
        .bytes("id_map_bytes", stats.id_map_bytes)
        .bytes("view_bytes", stats.view_bytes)
        .bytes("log_buffer_bytes", stats.log_buffer_bytes)
        .bytes("file_buffer_bytes", stats.file_buffer_bytes)
        .bytes("coordination_bytes", stats.coordination_bytes)
        .bytes("main_bytes", stats.main_bytes)
        .bytes("patch_bytes", stats.patch_bytes)
        .bytes("property_bytes", stats.property_bytes)
        .bytes("delta_bytes", stats.delta_bytes)
        .bytes("old_version_bytes", stats.old_version_bytes)
        .bytes("arena_free_bytes", stats.arena_free_bytes)
        .bytes("log_bytes", log_bytes)
        .bytes("segment_bytes", segment_bytes);
    let report = report.details("labels", &LABELS, labels(&graph)?);
    match vertices(&graph)? {
        none if none.is_empty() => report,
        kinds => report.details("kinds", &KINDS, kinds),
    }
    .print(style)
}

const KINDS: [&str; 4] = ["kind", "vertices", "keys", "properties"];

/// Returns one row per kind of vertices; no row if the graph has only the default kind.
fn vertices(graph: &Graph) -> Result<Vec<Vec<Value>>, CliError> {
    let (snapshot, schema) = (graph.snapshot()?, graph.schema());
    if schema.kinds().is_empty() {
        return Ok(Vec::new());
    }
    let row = |(id, keys): (KindId, KeyKind)| {
        let properties: Vec<String> =
            schema.vertex_properties_of(id).map(hedgerow_export::text::header).collect();
        let count = snapshot.scan_vertices()?.count_of(id)?;
        Ok(vec![
            schema.kind_name(id).into(),
            count.into(),
            kind_name(keys).into(),
            properties.join(" ").into(),
        ])
    };
    kinds(&schema, graph.config().keys).map(row).collect()
}

const LABELS: [&str; 4] = ["label", "edges", "multi", "properties"];

/// Returns one row per label; no row if the graph has only the default label, without properties.
fn labels(graph: &Graph) -> Result<Vec<Vec<Value>>, CliError> {
    let snapshot = graph.snapshot()?;
    let schema = snapshot.schema();
    if schema.labels().iter().all(|label| label.name().is_empty() && label.properties().is_empty()) {
        return Ok(Vec::new());
    }
    let row = |label: &Label| {
        let properties: Vec<String> = label.properties().iter().map(hedgerow_export::text::header).collect();
        let edges = snapshot.edge_count_of(label)?;
        Ok(vec![(&**label.name()).into(), edges.into(), label.is_multi().into(), properties.join(" ").into()])
    };
    schema.labels().iter().map(row).collect()
}

/// Returns the total sizes of the log files and of the segment files, read from the directory: a store opened
/// for reading only does not keep its files open. Log files include space that is reserved ahead.
fn file_bytes(store: &Path) -> (u64, u64) {
    let (mut log, mut segments) = (0, 0);
    for entry in std::fs::read_dir(store).into_iter().flatten().flatten() {
        let bytes = entry.metadata().map_or(0, |found| found.len());
        match entry.path().extension().and_then(|extension| extension.to_str()) {
            Some("wal") => log += bytes,
            Some("csr") => segments += bytes,
            _ => {}
        }
    }
    (log, segments)
}
