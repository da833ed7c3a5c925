//! The page of a benchmark run: one chart of bars per suite, graph and unit, and the figures as a table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::folder::make_folder_of;
use crate::record::Record;
use hedgerow_report::failure::{Context, Result};
use hedgerow_report::{Bars, Page};

/// Writes the page of all records in files of JSON lines.
pub(crate) fn write(files: &[PathBuf], path: &Path) -> Result<()> {
    let mut records = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).context(file.display())?;
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let place = || format!("{}:{}: not a figure: {line:?}", file.display(), i + 1);
            records.push(Record::parse(line).ok_or_else(place)?);
        }
    }
    write_records(&records, path)
}

/// Writes the page of `records`.
pub(super) fn write_records(records: &[Record], path: &Path) -> Result<()> {
    let mut page = Page::new("Hedgerow benchmarks");
    page.paragraph("Medians; bars of one chart were measured in one run.");
    let mut charts: BTreeMap<(&str, &str, &str, &str), Vec<&Record>> = BTreeMap::new();
    for record in records {
        let key = (record.suite.as_str(), record.graph.as_str(), record.unit.as_str(), state(record));
        charts.entry(key).or_default().push(record);
    }
    for ((suite, graph, unit, state), records) in charts {
        page.bars(&bars(&format!("{suite} on {graph} {state}"), unit, &records));
    }
    page.heading("Figures");
    let head = ["suite", "graph", "engine", "metric", "threads", "median", "least", "most", "ratio"];
    page.table(&head, records.iter().map(row));
    make_folder_of(path)?;
    std::fs::write(path, page.finish()).context(path.display())?;
    eprintln!("report: {}", path.display());
    Ok(())
}

/// Returns the state of a figure. Figures of different states, or of very different sizes, go to separate
/// charts.
fn state(record: &Record) -> &'static str {
    let metric = record.metric.as_str();
    if metric.ends_with(".unsettled") {
        "unsettled"
    } else if metric.ends_with(".settled") {
        "settled"
    } else if metric.starts_with("commit_latency") {
        "latency"
    } else {
        ""
    }
}

fn bars(title: &str, unit: &str, records: &[&Record]) -> Bars {
    let mut engines: Vec<&str> = records.iter().map(|r| r.engine.as_str()).collect();
    engines.sort_unstable();
    engines.dedup();
    let mut groups: Vec<(String, Vec<f64>)> = Vec::new();
    for record in records {
        let short = record.metric.split('.').next().unwrap_or_default();
        let label = match record.suite.as_str() {
            "insert" => format!("{short} x{}", record.threads),
            _ => short.to_owned(),
        };
        let at = groups.iter().position(|(l, _)| *l == label).unwrap_or_else(|| {
            groups.push((label, vec![f64::NAN; engines.len()]));
            groups.len() - 1
        });
        if let Some(engine) = engines.iter().position(|e| *e == record.engine) {
            groups[at].1[engine] = record.value;
        }
    }
    Bars::new(title, unit, engines.into_iter().map(str::to_owned).collect(), groups)
}

fn row(record: &Record) -> Vec<String> {
    let ratio = record.ratio.as_ref().map_or(String::new(), |(to, ratio)| format!("{ratio:.3} x {to}"));
    let exact = |v: f64| format!("{v:.6e}");
    vec![
        record.suite.clone(),
        record.graph.clone(),
        record.engine.clone(),
        record.metric.clone(),
        record.threads.to_string(),
        record.shown(),
        exact(record.min),
        exact(record.max),
        ratio,
    ]
}
