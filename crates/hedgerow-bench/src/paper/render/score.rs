//! In how many rows the store is first, or nearly so.

use super::super::context::without_parameters;
use super::super::measure::Measurement;
use super::lines::{best, is_rate, same_row};
use crate::record::Record;

/// How much worse than the best is as good.
const TOLERANCE: f64 = 0.05;
/// The part of the rows in which the store is to be first.
pub(super) const GOAL: f64 = 0.85;
/// The engine whose score it is.
const STORE: &str = "hedgerow";

/// The kinds of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::paper) enum Class {
    Insert,
    Scan,
    Search,
    Kernels,
    Memory,
    Mixed,
}

/// All of them, with their names.
pub(super) const CLASSES: [(Class, &str); 6] = [
    (Class::Insert, "insert"),
    (Class::Scan, "scan"),
    (Class::Search, "search"),
    (Class::Kernels, "kernels"),
    (Class::Memory, "memory"),
    (Class::Mixed, "mixed load"),
];

/// A row and how the store stands in it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::paper) struct Row {
    pub(super) class: Class,
    /// What is measured, on which graph, by how many threads.
    pub(super) name: String,
    pub(super) ours: String,
    pub(super) best: String,
    pub(super) best_engine: String,
    /// Whether the store is first, or within the tolerance.
    pub(super) is_met: bool,
}

/// All rows that the store shares with another container that changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::paper) struct Score {
    pub(super) rows: Vec<Row>,
}

impl Score {
    /// How many rows of a class, or of all, are met, and how many there are.
    pub(super) fn count(&self, class: Option<Class>) -> (usize, usize) {
        let rows = || self.rows.iter().filter(|row| class.is_none_or(|class| row.class == class));
        (rows().filter(|row| row.is_met).count(), rows().count())
    }

    /// The rows in which another container is first.
    pub(super) fn missed(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.is_met)
    }
}

/// Figures of a distribution that do not count: its mean and its 99th percentile do.
const NOT_COUNTED: [&str; 4] = ["p50", "p95", "p999", "max"];
/// Parameters of points of a curve, which has a figure of its own; and of what is no mixed load.
const OF_POINTS: [&str; 4] = ["progress=", "round=", "readers=0", "writers=0"];

/// The kind of a figure. None where it is not of the six, where containers are not whole, where it is one of several figures of one distribution,
/// or a point of a curve.
fn class(measurement: Measurement, record: &Record) -> Option<Class> {
    let metric = without_parameters(&record.metric);
    let (what, figure) = metric.split_once(", ").unwrap_or((metric, ""));
    let is_point = record.metric.split(' ').any(|word| OF_POINTS.iter().any(|point| word.starts_with(point)));
    let is_counted = !NOT_COUNTED.contains(&figure) && !is_point;
    match measurement {
        Measurement::Blocks | Measurement::Forms | Measurement::Vertices | Measurement::Links => None,
        _ if !is_counted => None,
        Measurement::Mixed => Some(Class::Mixed),
        Measurement::Kernels => Some(Class::Kernels),
        Measurement::Operations if !figure.is_empty() => Some(Class::Mixed),
        // With as many vertices as edges, so that it is the memory of vertices.
        Measurement::Sets if what.starts_with("memory") => None,
        _ if what.starts_with("memory") => Some(Class::Memory),
        _ if what.starts_with("search") => Some(Class::Search),
        _ if what.ends_with("scan") => Some(Class::Scan),
        _ => Some(Class::Insert),
    }
}

/// The score over all that was measured, each row once.
pub(in crate::paper) fn score<'a>(measured: impl IntoIterator<Item = (Measurement, &'a [Record])>) -> Score {
    let mut rows = Vec::new();
    for (measurement, records) in measured {
        for ours in records.iter().filter(|record| record.engine == STORE) {
            let Some(class) = class(measurement, ours) else { continue };
            let row = || records.iter().filter(|record| same_row(record, ours) && record.engine != "csr");
            let Some(best) = best(row()).filter(|_| row().count() > 1) else { continue };
            let is_met = if is_rate(&ours.unit) {
                ours.value >= best.value * (1.0 - TOLERANCE)
            } else {
                ours.value <= best.value * (1.0 + TOLERANCE)
            };
            rows.push(Row {
                class,
                name: format!(
                    "{}, {}, {} threads ({})",
                    ours.metric,
                    ours.graph,
                    ours.threads,
                    measurement.name()
                ),
                ours: ours.shown(),
                best: best.shown(),
                best_engine: best.engine.clone(),
                is_met,
            });
        }
    }
    Score { rows }
}
