//! The drawings of an experiment.

use std::collections::BTreeSet;

use super::super::experiment::Plot;
use super::super::shown::Run;
use super::bars::{bars, forms, ratios};
use super::drawing::{Drawing, colors, direction, engines};
use super::lines::{best, by_best, same_row};
use crate::record::Record;
use hedgerow_report::{Chart, Radar, Series};

/// Returns all drawings of an experiment.
pub(super) fn drawings(run: &Run) -> Vec<Drawing> {
    let records: Vec<&Record> = run.records.iter().collect();
    match run.experiment.plot {
        Plot::Bars => bars(&records),
        Plot::Forms => forms(&records),
        Plot::Ratios => ratios(&records),
        Plot::Threads => {
            curves(&records, "threads", false, |record| Some((record.metric.clone(), record.threads as f64)))
        }
        Plot::Over(parameter) => over(&records, parameter, false),
        Plot::OverLog(parameter) => over(&records, parameter, true),
        Plot::Radar => vec![radar(&records)],
    }
}

/// Draws curves over a parameter. Records without this parameter become curves over `|B|`, or bars.
fn over(records: &[&Record], parameter: &str, log: bool) -> Vec<Drawing> {
    let (with, without): (Vec<&Record>, Vec<&Record>) =
        records.iter().copied().partition(|record| split(&record.metric, parameter).is_some());
    let mut drawings = curves(&with, parameter, log, |record| split(&record.metric, parameter));
    let (sized, others): (Vec<&Record>, Vec<&Record>) = without
        .iter()
        .copied()
        .partition(|record| parameter != "|B|" && split(&record.metric, "|B|").is_some());
    drawings.extend(curves(&sized, "|B|", true, |record| split(&record.metric, "|B|")));
    drawings.extend(bars(&others));
    drawings
}

/// Splits a metric into the metric without a parameter, and the value of the parameter.
fn split(metric: &str, parameter: &str) -> Option<(String, f64)> {
    let prefix = format!("{parameter}=");
    let value = metric.split(' ').find_map(|word| word.strip_prefix(prefix.as_str()))?.parse().ok()?;
    let rest: Vec<&str> = metric.split(' ').filter(|word| !word.starts_with(&prefix)).collect();
    Some((rest.join(" "), value))
}

/// Draws a chart for each name that `place` gives, with a curve for each engine.
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
            let engines = engines(of_chart().map(|(.., record)| *record));
            let colors = colors(&engines);
            let series = engines
                .into_iter()
                .map(|engine| {
                    let of_engine = of_chart().filter(|(.., record)| record.engine == engine);
                    let mut points: Vec<(f64, f64)> = of_engine.map(|(_, x, r)| (*x, r.value)).collect();
                    points.sort_by(|a, b| a.0.total_cmp(&b.0));
                    Series::new(engine, points)
                })
                .collect();
            let svg = Chart::new(name, &label, unit, series).colored(colors).log_where_wide().to_svg();
            Drawing { title: format!("{name}, {unit}, by {axis}: {}", direction(unit)), svg }
        })
        .collect()
}

/// Draws the shares of the best on each axis.
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
        mine.zip(best(row())).map_or(f64::NAN, |(mine, best)| 1.0 / by_best(mine, best))
    };
    let engines = engines(records.iter().copied());
    let colors = colors(&engines);
    let kinds = engines
        .into_iter()
        .map(|engine| (engine.to_owned(), axes.iter().map(|axis| share(engine, axis)).collect()))
        .collect();
    let names = axes.iter().map(|axis| axis.metric.clone()).collect();
    let title = "shares of the best: more is better".to_owned();
    Drawing { svg: Radar::new(&title, names, kinds).colored(colors).to_svg(), title }
}
