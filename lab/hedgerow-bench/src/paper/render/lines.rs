//! The lines of an experiment's table, with the published figures next to their rows.

use super::super::context::without_parameters;
use super::super::published::{AGAINST_CSR, Paper, Published, published};
use super::super::shown::Run;
use crate::record::Record;

/// One of our figures, with the figures of the paper that belong to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Line {
    /// The metric, with its parameters.
    pub(super) row: String,
    pub(super) threads: String,
    pub(super) engine: String,
    pub(super) ours: String,
    /// The ratio of our figure to the figure of the CSR, or to the best figure if the CSR has none.
    pub(super) ratio: String,
    /// The figures of the paper for this engine and row, with settings.
    pub(super) published: String,
}

/// True if more of this unit is better.
pub(super) fn is_rate(unit: &str) -> bool {
    unit.ends_with("/s")
}

/// True if two figures belong to the same row.
pub(super) fn same_row(a: &Record, b: &Record) -> bool {
    (&a.metric, &a.graph, &a.unit, a.threads) == (&b.metric, &b.graph, &b.unit, b.threads)
}

/// Returns the best figure of a row, without the CSR.
pub(super) fn best<'a>(row: impl Iterator<Item = &'a Record>) -> Option<&'a Record> {
    let value = |record: &Record| if is_rate(&record.unit) { -record.value } else { record.value };
    row.filter(|record| record.engine != "csr").min_by(|a, b| value(a).total_cmp(&value(b)))
}

/// Returns how many times worse a figure is than the best of its row, 1 or more. It is the ratio of times or
/// bytes, or the inverse ratio of rates.
pub(super) fn by_best(record: &Record, best: &Record) -> f64 {
    if is_rate(&record.unit) { best.value / record.value } else { record.value / best.value }
}

/// Returns all lines of an experiment. The rows have the order in which they were measured.
pub(super) fn lines(run: &Run) -> Vec<Line> {
    let theirs = in_place(run.experiment.paper, run.experiment.place);
    let beside: Vec<Option<usize>> = theirs.iter().map(|figure| record_of(figure, run)).collect();
    let mut rows: Vec<&Record> = Vec::new();
    for record in &run.records {
        if !rows.iter().any(|row| same_row(row, record)) {
            rows.push(record);
        }
    }
    let mut lines = Vec::new();
    for row in rows {
        let of_row = || run.records.iter().enumerate().filter(|(_, record)| same_row(record, row));
        let best = best(of_row().map(|(_, record)| record));
        lines.extend(of_row().map(|(nth, record)| {
            let of_record = theirs.iter().zip(&beside).filter(|(_, beside)| **beside == Some(nth));
            let published: Vec<String> = of_record
                .map(|(figure, _)| format!("{} ({})", shown(figure, &theirs), setting(figure)))
                .collect();
            Line {
                row: record.metric.clone(),
                threads: record.threads.to_string(),
                engine: record.engine.clone(),
                ours: record.shown(),
                ratio: ratio(record, best),
                published: published.join("; "),
            }
        }));
    }
    lines
}

/// Returns the published figures of the place that belong to none of our rows, each with its text from
/// [`shown`].
pub(super) fn others(run: &Run) -> Vec<(Published, String)> {
    let theirs = in_place(run.experiment.paper, run.experiment.place);
    let others = theirs.iter().filter(|figure| record_of(figure, run).is_none());
    others.map(|figure| (*figure, shown(figure, &theirs))).collect()
}

/// Returns the index of our figure to which a published figure belongs. Both have the same engine in the same
/// form, a graph of the same generator, the same metric, and one thread or all threads. Returns `None` if
/// there is no such figure, or if there are several.
fn record_of(figure: &Published, run: &Run) -> Option<usize> {
    let mut found = of_metric(figure, run);
    if figure.setting.contains(" threads against ") {
        return None;
    }
    if let Some(threads) = threads(figure.setting) {
        let most = found.iter().map(|(_, record)| record.threads).max()?;
        found.retain(|(_, record)| record.threads == if threads == 1 { 1 } else { most });
    }
    match found[..] {
        [(nth, _)] => Some(nth),
        _ => None,
    }
}

/// Returns our figures with the engine, the kind of graph and the metric of a published figure. If no figure
/// has its parameters, returns the figures with any parameters.
fn of_metric<'a>(figure: &Published, run: &'a Run) -> Vec<(usize, &'a Record)> {
    let paper = run.experiment.paper;
    let is_of =
        |record: &Record| record.engine == figure.system && is_alike(paper, figure.graph, &record.graph);
    let all: Vec<(usize, &Record)> =
        run.records.iter().enumerate().filter(|(_, record)| is_of(record)).collect();
    let is_exact = |record: &Record| record.metric == figure.row;
    let has_exact = all.iter().any(|(_, record)| is_exact(record));
    let is_named = |record: &Record| match has_exact {
        true => is_exact(record),
        false => without_parameters(&record.metric) == figure.row,
    };
    all.into_iter().filter(|(_, record)| is_named(record)).collect()
}

/// True if a graph of a paper was made like our graph, or if the figure names no graph.
fn is_alike(paper: Paper, theirs: &str, ours: &str) -> bool {
    let known = paper.graphs().iter().find(|(name, ..)| *name == theirs);
    let begins = known.and_then(|(.., begins)| *begins);
    theirs.is_empty() || begins.is_some_and(|begins| ours.starts_with(begins))
}

/// Returns the number of threads or clients in a setting, if the setting states it.
fn threads(setting: &str) -> Option<usize> {
    let words: Vec<&str> = setting.split([' ', ',']).collect();
    let is_unit = |word: &str| ["thread", "threads", "clients"].contains(&word);
    let at = words.iter().position(|word| is_unit(word))?;
    words.get(at.checked_sub(1)?)?.parse().ok()
}

/// Returns the figures of a paper in a place.
pub(super) fn in_place(paper: Paper, place: &str) -> Vec<Published> {
    published(paper).iter().filter(|p| p.place == place).copied().collect()
}

fn ratio(record: &Record, best: Option<&Record>) -> String {
    match (&record.ratio, best) {
        (Some((to, ratio)), _) => format!("{ratio:.3} x {to}"),
        (None, Some(best)) => format!("{:.3} x {}", record.value / best.value, best.engine),
        (None, None) => String::new(),
    }
}

/// Returns the text of a published figure, with its ratio to the CSR if the paper has the CSR's figure of the
/// same graph.
fn shown(figure: &Published, all: &[Published]) -> String {
    let (value, unit) = (figure.value, figure.unit);
    if figure.setting.ends_with(AGAINST_CSR) {
        return format!("{value} x csr");
    }
    let is_csr =
        |c: &&Published| c.system == "csr" && (c.row, c.graph, c.unit) == (figure.row, figure.graph, unit);
    match all.iter().find(is_csr) {
        Some(csr) if figure.system != "csr" && !["x", "%"].contains(&unit) => {
            format!("{value} {unit} = {:.3} x csr", value / csr.value)
        }
        _ => format!("{value} {unit}"),
    }
}

/// Returns the graph and the setting of a published figure.
fn setting(figure: &Published) -> String {
    let parts = [figure.graph, figure.setting];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
