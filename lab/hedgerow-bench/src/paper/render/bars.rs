//! Charts of bars: one chart for each metric, because a scan covers a hundred times as many edges in a second
//! as an insertion.

use super::super::context::without_parameters;
use super::drawing::{Drawing, colors, direction, engines};
use super::lines::is_rate;
use crate::record::Record;
use hedgerow_report::Bars;

/// The names of the three forms: the structure alone, the structure with versions, and the whole.
const FORMS: [&str; 3] = ["structure alone", "with versions", "whole"];

/// The cells of a chart: each figure belongs to a group of bars and to a kind.
struct Cells<'a> {
    kinds: Vec<&'a str>,
    groups: Vec<(String, Vec<f64>)>,
}

impl<'a> Cells<'a> {
    fn of(kinds: Vec<&'a str>) -> Cells<'a> {
        Cells { kinds, groups: Vec::new() }
    }

    fn put(&mut self, group: String, kind: &str, value: f64) {
        let at = self.groups.iter().position(|(known, _)| *known == group).unwrap_or_else(|| {
            self.groups.push((group, vec![f64::NAN; self.kinds.len()]));
            self.groups.len() - 1
        });
        if let Some(kind) = self.kinds.iter().position(|known| *known == kind) {
            self.groups[at].1[kind] = value;
        }
    }

    fn draw(self, title: String, unit: &str, along: &str) -> Drawing {
        let colors = colors(&self.kinds);
        let kinds = self.kinds.into_iter().map(str::to_owned).collect();
        let bars = Bars::new(&title, unit, kinds, self.groups).colored(colors).along(along).log_where_wide();
        Drawing { svg: bars.to_svg(), title }
    }
}

/// Draws the values: a chart for each metric and unit, with a group for each parameter and number of threads.
/// All figures of a distribution share one chart.
pub(super) fn bars(records: &[&Record]) -> Vec<Drawing> {
    let chart = |record: &Record| (named(record).0, record.unit.clone());
    charts(records, chart, |(what, unit), of_chart| {
        let mut cells = Cells::of(engines(of_chart.iter().copied()));
        let counts = has_several_threads(of_chart);
        for record in of_chart {
            cells.put(label(named(record).1, record, counts), &record.engine, record.value);
        }
        cells.draw(format!("{what}, {unit}: {}", direction(unit)), unit, "")
    })
}

/// Draws the ratios to the CSR: a chart of rates and a chart of times, with a group for each row. Draws the
/// values if there are no ratios.
pub(super) fn ratios(records: &[&Record]) -> Vec<Drawing> {
    if records.iter().all(|record| record.ratio.is_none()) {
        return bars(records);
    }
    charts(
        records,
        |record| is_rate(&record.unit),
        |&are_rates, of_chart| {
            let mut cells = Cells::of(engines(of_chart.iter().copied()));
            let counts = has_several_threads(of_chart);
            for record in of_chart {
                let ratio = record.ratio.as_ref().map_or(f64::NAN, |(_, ratio)| *ratio);
                cells.put(label(&record.metric, record, counts), &record.engine, ratio);
            }
            let (unit, direction) =
                if are_rates { ("rate by the CSR's", "more") } else { ("time by the CSR's", "less") };
            cells.draw(format!("{unit}: {direction} is better"), unit, "")
        },
    )
}

/// Draws the values of forms: a chart for each metric and unit, with a group for each container.
pub(super) fn forms(records: &[&Record]) -> Vec<Drawing> {
    let chart = |record: &Record| (record.metric.clone(), record.unit.clone());
    charts(records, chart, |(metric, unit), of_chart| {
        let mut cells = Cells::of(FORMS.to_vec());
        for record in of_chart {
            let [plain, versions, whole] = FORMS;
            let (container, form) = match record.engine.split_once(' ') {
                Some((container, "plain")) => (container, plain),
                Some((container, "versions")) => (container, versions),
                _ => (record.engine.as_str(), whole),
            };
            cells.put(container.to_owned(), form, record.value);
        }
        cells.draw(format!("{metric}, {unit}: {}", direction(unit)), unit, "container")
    })
}

/// Returns the subject of a record's chart, and the name of the record in this chart. For `search, p99` these
/// are the search and its figure, otherwise the metric and its parameters.
fn named(record: &Record) -> (String, &str) {
    let metric = without_parameters(&record.metric);
    let parameters = &record.metric[metric.len()..];
    match metric.split_once(", ") {
        Some((what, figure)) => (format!("{what}{parameters}"), figure),
        None => (metric.to_owned(), parameters.trim_start()),
    }
}

/// Draws the records with the same key in one chart. The charts have the order in which the keys were
/// measured.
fn charts<K: PartialEq>(
    records: &[&Record],
    key: impl Fn(&Record) -> K,
    draw: impl Fn(&K, &[&Record]) -> Drawing,
) -> Vec<Drawing> {
    let mut charts: Vec<(K, Vec<&Record>)> = Vec::new();
    for record in records {
        let key = key(record);
        match charts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, of_chart)) => of_chart.push(record),
            None => charts.push((key, vec![record])),
        }
    }
    charts.iter().map(|(key, of_chart)| draw(key, of_chart)).collect()
}

fn has_several_threads(records: &[&Record]) -> bool {
    records.iter().any(|record| record.threads != records[0].threads)
}

/// Returns the label of a group, which distinguishes it from the other groups of its chart.
fn label(rest: &str, record: &Record, has_several_threads: bool) -> String {
    let threads = has_several_threads.then(|| format!("x{}", record.threads));
    let parts = [Some(rest.to_owned()).filter(|rest| !rest.is_empty()), threads];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
