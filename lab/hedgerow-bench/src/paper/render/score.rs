//! In how many rows the store is first, or nearly so.

use super::counted::{Class, Counted};
use super::lines::{best, is_rate};

/// How much worse than the best is as good.
const TOLERANCE: f64 = 0.05;
/// The part of the rows in which the store is to be first.
pub(super) const GOAL: f64 = 0.85;
/// The engine whose score it is.
const STORE: &str = "hedgerow";

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

/// The score over these rows.
pub(super) fn score(rows: &[Counted<'_>]) -> Score {
    Score { rows: rows.iter().filter_map(row).collect() }
}

/// How the store stands in a row; none where it is alone there, or absent.
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
