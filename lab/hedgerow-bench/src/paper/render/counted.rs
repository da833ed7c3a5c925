//! The rows that count: all measurements of six kinds. Each row counts once, even if several tables show it.

use super::super::context::without_parameters;
use super::super::measure::Measurement;
use super::lines::same_row;
use crate::record::Record;

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

/// All kinds, with their names.
pub(super) const CLASSES: [(Class, &str); 6] = [
    (Class::Insert, "insert"),
    (Class::Scan, "scan"),
    (Class::Search, "search"),
    (Class::Kernels, "kernels"),
    (Class::Memory, "memory"),
    (Class::Mixed, "mixed load"),
];

/// A row of a measurement: the figures of all engines except the CSR.
pub(super) struct Counted<'a> {
    pub(super) class: Class,
    pub(super) measurement: Measurement,
    pub(super) records: Vec<&'a Record>,
}

/// The figures of a distribution that do not count. Its mean and its 99th percentile count.
const NOT_COUNTED: [&str; 4] = ["p50", "p95", "p999", "max"];
/// The parameters of rows that do not count: points of a curve, which has its own figure, and loads that are
/// not mixed.
const OF_POINTS: [&str; 4] = ["progress=", "round=", "readers=0", "writers=0"];

/// Returns the kind of a figure. Returns `None` for other kinds, for containers that are not whole, for a
/// figure of [`NOT_COUNTED`], and for a point of a curve.
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
        // The sets have as many vertices as edges, so that this memory is the memory of vertices.
        Measurement::Sets if what.starts_with("memory") => None,
        _ if what.starts_with("memory") => Some(Class::Memory),
        _ if what.starts_with("search") => Some(Class::Search),
        _ if what.ends_with("scan") => Some(Class::Scan),
        _ => Some(Class::Insert),
    }
}

/// Returns all rows that count, in the order in which they were measured.
pub(super) fn counted<'a>(
    measured: impl IntoIterator<Item = (Measurement, &'a [Record])>,
) -> Vec<Counted<'a>> {
    let mut rows: Vec<Counted<'a>> = Vec::new();
    for (measurement, records) in measured {
        let first = rows.len();
        for record in records.iter().filter(|record| record.engine != "csr") {
            let Some(class) = class(measurement, record) else { continue };
            match rows[first..].iter_mut().find(|row| same_row(row.records[0], record)) {
                Some(row) => row.records.push(record),
                None => rows.push(Counted { class, measurement, records: vec![record] }),
            }
        }
    }
    rows
}
