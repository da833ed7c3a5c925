//! The lines of an experiment's table.

use super::super::context::without_parameters;
use super::super::published::{Paper, Published, published};
use super::super::shown::Run;
use crate::record::Record;

/// One figure of ours, of the papers, or of both.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Line {
    /// What is measured, with its parameters.
    pub(super) row: String,
    pub(super) threads: String,
    pub(super) engine: String,
    pub(super) ours: String,
    /// Our figure by that of the CSR, or where there is none by that of the best.
    pub(super) ratio: String,
    /// What the paper has for this engine and row, with settings.
    pub(super) published: String,
}

/// Whether more of this unit is better.
pub(super) fn is_rate(unit: &str) -> bool {
    unit.ends_with("/s")
}

/// Whether two figures are of the same row.
pub(super) fn same_row(a: &Record, b: &Record) -> bool {
    (&a.metric, &a.graph, &a.unit, a.threads) == (&b.metric, &b.graph, &b.unit, b.threads)
}

/// The best of a row among those that change.
pub(super) fn best<'a>(row: impl Iterator<Item = &'a Record>) -> Option<&'a Record> {
    let value = |record: &Record| if is_rate(&record.unit) { -record.value } else { record.value };
    row.filter(|record| record.engine != "csr").min_by(|a, b| value(a).total_cmp(&value(b)))
}

/// The container of a form: `adjlst plain` is one of `adjlst`.
fn system(engine: &str) -> &str {
    engine.split([' ', ',']).next().unwrap_or(engine)
}

/// All lines: rows in the order in which they were measured, then what the paper alone has.
pub(super) fn lines(run: &Run) -> Vec<Line> {
    let theirs = in_place(run.experiment.paper, run.experiment.place);
    let mut lines = Vec::new();
    let mut used: Vec<(&str, &str)> = Vec::new();
    let mut rows: Vec<&Record> = Vec::new();
    for record in &run.records {
        if !rows.iter().any(|row| same_row(row, record)) {
            rows.push(record);
        }
    }
    for row in rows {
        let of_row = || run.records.iter().filter(|record| same_row(record, row));
        let best = best(of_row());
        for record in of_row() {
            let key = (without_parameters(&record.metric), system_of(&record.engine));
            let is_first = !used.contains(&key);
            used.extend(is_first.then_some(key));
            let is_it = |p: &&Published| (p.row, p.system) == key;
            lines.push(Line {
                row: record.metric.clone(),
                threads: record.threads.to_string(),
                engine: record.engine.clone(),
                ours: record.shown(),
                ratio: ratio(record, best),
                published: if is_first { list(theirs.iter().filter(is_it), &theirs) } else { String::new() },
            });
        }
    }
    lines.extend(alone(&theirs, &used));
    lines
}

/// As the published figures name it.
fn system_of(engine: &str) -> &str {
    match engine {
        "dynamic array" | "hash table" => engine,
        _ => system(engine),
    }
}

/// The figures that a paper has in a place.
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

/// Published figures with their settings, and the ratio to the CSR where the paper has it of the same graph.
fn list<'a>(figures: impl Iterator<Item = &'a Published>, all: &[Published]) -> String {
    let texts: Vec<String> = figures
        .map(|p| {
            let is_csr = |c: &&Published| {
                c.system == "csr" && (c.row, c.unit) == (p.row, p.unit) && p.setting.starts_with(c.setting)
            };
            let ratio = match all.iter().find(is_csr) {
                Some(csr) if p.system != "csr" => format!(" = {:.3} x csr", p.value / csr.value),
                _ => String::new(),
            };
            format!("{} {}{ratio} ({})", p.value, p.unit, p.setting)
        })
        .collect();
    texts.join("; ")
}

/// What the paper has and we have not.
fn alone(theirs: &[Published], used: &[(&str, &str)]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for p in theirs.iter().filter(|p| !used.contains(&(p.row, p.system))) {
        if lines.iter().any(|line| (line.row.as_str(), line.engine.as_str()) == (p.row, p.system)) {
            continue;
        }
        let same = theirs.iter().filter(|other| (other.row, other.system) == (p.row, p.system));
        let (row, engine) = (p.row.to_owned(), p.system.to_owned());
        lines.push(Line { row, engine, published: list(same, theirs), ..Line::default() });
    }
    lines
}
