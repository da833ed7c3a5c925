//! A table or figure of a paper that is run again, or that is not, and why.

use super::context::Context;
use super::published::Paper;
use crate::record::Record;
use hedgerow_report::failure::Result;

/// Its figures.
pub(super) type Rows = fn(&Context<'_>) -> Result<Vec<Record>>;

/// A table or figure that is run again.
pub(super) struct Experiment {
    pub(super) paper: Paper,
    /// As the paper numbers it: `table 10`.
    pub(super) place: &'static str,
    /// What is measured and what varies.
    pub(super) title: &'static str,
    /// What is unlike the paper, beside the machine and the graphs.
    pub(super) differs: &'static str,
    pub(super) plot: Plot,
    pub(super) rows: Rows,
}

/// How figures are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plot {
    /// Bars of the values, a group for each row.
    Bars,
    /// Bars of the values, a group for each container, with its structure alone, the structure with versions,
    /// and the whole.
    Forms,
    /// Bars of the ratios to the CSR.
    Ratios,
    /// Curves over the number of threads.
    Threads,
    /// Curves over a parameter of the metrics.
    Over(&'static str),
    /// The same, over its logarithm to the base 2.
    OverLog(&'static str),
    /// A closed curve for each engine over all rows, as shares of the best.
    Radar,
}

/// A table or figure that is not run again.
pub(super) struct Absent {
    pub(super) paper: Paper,
    pub(super) place: &'static str,
    pub(super) title: &'static str,
    pub(super) reason: &'static str,
}
