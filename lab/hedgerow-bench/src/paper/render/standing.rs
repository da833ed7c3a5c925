//! A comparison of the engines: how far each is behind the best, on average over the rows that all engines
//! share.

use super::counted::{CLASSES, Class, Counted};
use super::lines::{best, by_best};
use hedgerow_report::figures::geomean;

/// The standing of all engines in one kind of rows, without the CSR.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Standing {
    pub(super) class: &'static str,
    /// The number of rows of this kind that all engines with any such row share.
    pub(super) rows: usize,
    /// For each engine of the table, the geometric mean of its ratios to the best. A ratio is its time or
    /// bytes divided by the best's, or the best's rate divided by its rate. The mean is 1 for an engine that
    /// is best in every row, and `None` for an engine without such rows.
    pub(super) means: Vec<Option<f64>>,
}

/// The engines, and their standing in each kind of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::paper) struct Standings {
    /// The engines, in the order in which they were measured.
    pub(super) engines: Vec<String>,
    pub(super) classes: Vec<Standing>,
}

/// Computes the standings over these rows.
pub(super) fn standings(rows: &[Counted<'_>]) -> Standings {
    let mut engines: Vec<String> = Vec::new();
    for record in rows.iter().flat_map(|row| &row.records) {
        if !engines.contains(&record.engine) {
            engines.push(record.engine.clone());
        }
    }
    let classes = CLASSES.into_iter().map(|(class, name)| standing(rows, class, name, &engines)).collect();
    Standings { engines, classes }
}

fn standing(rows: &[Counted<'_>], class: Class, name: &'static str, engines: &[String]) -> Standing {
    let of_class: Vec<&Counted<'_>> = rows.iter().filter(|row| row.class == class).collect();
    let has = |row: &Counted<'_>, engine: &str| row.records.iter().any(|record| record.engine == engine);
    let is_there = |engine: &&String| of_class.iter().any(|row| has(row, engine));
    let there: Vec<&String> = engines.iter().filter(is_there).collect();
    let shared: Vec<&Counted<'_>> =
        of_class.iter().copied().filter(|row| there.iter().all(|engine| has(row, engine))).collect();
    let mean = |engine: &String| {
        let times: Vec<f64> = shared.iter().filter_map(|row| behind(row, engine)).collect();
        (!times.is_empty()).then(|| geomean(&times))
    };
    Standing { class: name, rows: shared.len(), means: engines.iter().map(mean).collect() }
}

/// Returns how many times worse an engine is than the best of a row.
fn behind(row: &Counted<'_>, engine: &str) -> Option<f64> {
    let ours = row.records.iter().find(|record| record.engine == engine)?;
    best(row.records.iter().copied()).map(|best| by_best(ours, best))
}
