//! The score: the number of rows in which the store is first, or nearly first.

use super::counted::{Class, Counted};
use super::lines::{best, is_rate};

/// The tolerance: a figure at most this share worse than the best counts as first.
const TOLERANCE: f64 = 0.05;
/// The goal for the share of rows in which the store is first.
pub(super) const GOAL: f64 = 0.85;
/// The engine of the score.
const STORE: &str = "hedgerow";

/// A row and the place of the store in it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::paper) struct Row {
    pub(super) class: Class,
    /// The metric, the graph and the number of threads.
    pub(super) name: String,
    pub(super) ours: String,
    pub(super) best: String,
    pub(super) best_engine: String,
    /// True if the store is first, or within the tolerance.
    pub(super) is_met: bool,
}

/// All rows with the store and another container that changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::paper) struct Score {
    pub(super) rows: Vec<Row>,
}

impl Score {
    /// Returns the number of rows of a class, or of all classes, that are met; then the number of all these
    /// rows.
    pub(super) fn count(&self, class: Option<Class>) -> (usize, usize) {
        let rows = || self.rows.iter().filter(|row| class.is_none_or(|class| row.class == class));
        (rows().filter(|row| row.is_met).count(), rows().count())
    }

    /// Returns the rows in which another container is first and the store is not within the tolerance.
    pub(super) fn missed(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.is_met)
    }
}

/// Computes the score over these rows.
pub(super) fn score(rows: &[Counted<'_>]) -> Score {
    Score { rows: rows.iter().filter_map(row).collect() }
}

/// Returns the place of the store in a row; `None` if the store is absent, or the only engine there.
fn row(counted: &Counted<'_>) -> Option<Row> {
    let ours = counted.records.iter().find(|record| record.engine == STORE)?;
    let best = best(counted.records.iter().copied()).filter(|_| counted.records.len() > 1)?;
    let is_met = if is_rate(&ours.unit) {
        ours.value >= best.value * (1.0 - TOLERANCE)
    } else {
        ours.value <= best.value * (1.0 + TOLERANCE)
    };
    let (metric, graph, threads) = (&ours.metric, &ours.graph, ours.threads);
    Some(Row {
        class: counted.class,
        name: format!("{metric}, {graph}, {threads} threads ({})", counted.measurement.name()),
        ours: ours.shown(),
        best: best.shown(),
        best_engine: best.engine.clone(),
        is_met,
    })
}
