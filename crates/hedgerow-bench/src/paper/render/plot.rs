//! The drawings of an experiment.

use std::collections::BTreeSet;

use super::super::experiment::Plot;
use super::super::shown::Run;
use super::lines::{best, is_rate, same_row};
use crate::record::Record;
use crate::report::{Bars, Chart, Radar, Series};

/// A drawing with the words above it.
pub(super) struct Drawing {
    pub(super) title: String,
    pub(super) svg: String,
}

/// All drawings of an experiment.
pub(super) fn drawings(run: &Run) -> Vec<Drawing> {
    let records: Vec<&Record> = run.records.iter().collect();
    match run.experiment.plot {
        Plot::Bars => bars(&records, false),
        Plot::Ratios => bars(&records, true),
        Plot::Threads => {
            curves(&records, "threads", false, |record| Some((record.metric.clone(), record.threads as f64)))
        }
        Plot::Over(parameter) => over(&records, parameter, false),
        Plot::OverLog(parameter) => over(&records, parameter, true),
        Plot::Radar => vec![radar(&records)],
    }
}

/// Curves over a parameter. Records without it are drawn over another one that they have, or as bars.
fn over(records: &[&Record], parameter: &str, log: bool) -> Vec<Drawing> {
    let (with, without): (Vec<&Record>, Vec<&Record>) =
        records.iter().copied().partition(|record| split(&record.metric, parameter).is_some());
    let mut drawings = curves(&with, parameter, log, |record| split(&record.metric, parameter));
    let (sized, others): (Vec<&Record>, Vec<&Record>) = without
        .iter()
        .copied()
        .partition(|record| parameter != "|B|" && split(&record.metric, "|B|").is_some());
    drawings.extend(curves(&sized, "|B|", true, |record| split(&record.metric, "|B|")));
    drawings.extend(bars(&others, false));
    drawings
}

/// A metric without a parameter, and the parameter's value.
fn split(metric: &str, parameter: &str) -> Option<(String, f64)> {
    let prefix = format!("{parameter}=");
    let value = metric.split(' ').find_map(|word| word.strip_prefix(prefix.as_str()))?.parse().ok()?;
    let rest: Vec<&str> = metric.split(' ').filter(|word| !word.starts_with(&prefix)).collect();
    Some((rest.join(" "), value))
}

/// A chart for each name that `place` gives, with a curve for each engine.
fn curves(
    records: &[&Record],
    axis: &str,
    log: bool,
    place: impl Fn(&Record) -> Option<(String, f64)>,
) -> Vec<Drawing> {
    let placed: Vec<(String, f64, &Record)> = records
        .iter()
        .filter_map(|record| place(record).map(|(name, x)| (name, if log { x.log2() } else { x }, *record)))
        .collect();
    let names: BTreeSet<(&str, &str)> =
        placed.iter().map(|(name, _, record)| (name.as_str(), record.unit.as_str())).collect();
    let label = if log { format!("{axis}, as a power of 2") } else { axis.to_owned() };
    names
        .into_iter()
        .map(|(name, unit)| {
            let of_chart = || placed.iter().filter(|(other, _, record)| other == name && record.unit == unit);
            let series = engines(of_chart().map(|(.., record)| *record))
                .into_iter()
                .map(|engine| {
                    let of_engine = of_chart().filter(|(.., record)| record.engine == engine);
                    let mut points: Vec<(f64, f64)> = of_engine.map(|(_, x, r)| (*x, r.value)).collect();
                    points.sort_by(|a, b| a.0.total_cmp(&b.0));
                    Series::new(engine, points)
                })
                .collect();
            let svg = Chart::new(name, &label, unit, series).to_svg();
            Drawing { title: format!("{name}, {unit}, by {axis}"), svg }
        })
        .collect()
}

/// The engines in the order in which they were measured.
fn engines<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<&'a str> {
    let mut engines: Vec<&str> = Vec::new();
    for record in records {
        if !engines.contains(&record.engine.as_str()) {
            engines.push(&record.engine);
        }
    }
    engines
}

/// Bars, a chart for each unit and a group for each row; with `ratios` those to the CSR, where there are some.
fn bars(records: &[&Record], ratios: bool) -> Vec<Drawing> {
    let ratios = ratios && records.iter().any(|record| record.ratio.is_some());
    let kind = |record: &Record| match (ratios, is_rate(&record.unit)) {
        (false, _) => record.unit.clone(),
        (true, true) => "rate by the CSR's".to_owned(),
        (true, false) => "time by the CSR's".to_owned(),
    };
    let units: BTreeSet<String> = records.iter().map(|record| kind(record)).collect();
    units
        .into_iter()
        .map(|unit| {
            let of_chart: Vec<&Record> =
                records.iter().copied().filter(|record| kind(record) == unit).collect();
            let engines = engines(of_chart.iter().copied());
            let mut groups: Vec<(String, Vec<f64>)> = Vec::new();
            for record in &of_chart {
                let label = format!("{} x{}", record.metric, record.threads);
                let at = groups.iter().position(|(known, _)| *known == label).unwrap_or_else(|| {
                    groups.push((label, vec![f64::NAN; engines.len()]));
                    groups.len() - 1
                });
                let ratio = record.ratio.as_ref().map_or(f64::NAN, |(_, ratio)| *ratio);
                if let Some(engine) = engines.iter().position(|engine| *engine == record.engine) {
                    groups[at].1[engine] = if ratios { ratio } else { record.value };
                }
            }
            let kinds = engines.into_iter().map(str::to_owned).collect();
            Drawing { svg: Bars::new(&unit, &unit, kinds, groups).to_svg(), title: unit }
        })
        .collect()
}

/// Shares of the best on each axis.
fn radar(records: &[&Record]) -> Drawing {
    let mut axes: Vec<&Record> = Vec::new();
    for record in records {
        if !axes.iter().any(|axis| same_row(axis, record)) {
            axes.push(record);
        }
    }
    let share = |engine: &str, axis: &Record| {
        let row = || records.iter().copied().filter(|record| same_row(record, axis));
        let mine = row().find(|record| record.engine == engine);
        match (mine, best(row())) {
            (Some(mine), Some(best)) if is_rate(&mine.unit) => mine.value / best.value,
            (Some(mine), Some(best)) => best.value / mine.value,
            _ => f64::NAN,
        }
    };
    let kinds = engines(records.iter().copied())
        .into_iter()
        .map(|engine| (engine.to_owned(), axes.iter().map(|axis| share(engine, axis)).collect()))
        .collect();
    let names = axes.iter().map(|axis| axis.metric.clone()).collect();
    let title = "shares of the best".to_owned();
    Drawing { svg: Radar::new(&title, names, kinds).to_svg(), title }
}
