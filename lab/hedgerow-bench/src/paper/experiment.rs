//! The tables and figures of the papers: those that are run again, and the absent ones with their reasons.

use super::context::Context;
use super::published::Paper;
use crate::record::Record;
use hedgerow_report::failure::Result;

/// The function that selects the figures of an experiment.
pub(super) type Rows = fn(&Context<'_>) -> Result<Vec<Record>>;

/// A table or figure that is run again.
pub(super) struct Experiment {
    pub(super) paper: Paper,
    /// The number in the paper, such as `table 10`.
    pub(super) place: &'static str,
    /// The measured quantity and the parameter that varies.
    pub(super) title: &'static str,
    /// The differences from the paper, in addition to the machine and the graphs.
    pub(super) differs: &'static str,
    pub(super) plot: Plot,
    pub(super) rows: Rows,
}

/// The kind of drawing for figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plot {
    /// Bars of the values, a group for each row.
    Bars,
    /// Bars of the values, with a group for each container: its structure alone, the structure with versions,
    /// and the whole.
    Forms,
    /// Bars of the ratios to the CSR.
    Ratios,
    /// Curves over the number of threads.
    Threads,
    /// Curves over a parameter of the metrics.
    Over(&'static str),
    /// Curves over the logarithm of a parameter to the base 2.
    OverLog(&'static str),
    /// A closed curve for each engine over all rows, as shares of the best value.
    Radar,
}

/// A table or figure that is not run again.
pub(super) struct Absent {
    pub(super) paper: Paper,
    pub(super) place: &'static str,
    pub(super) title: &'static str,
    pub(super) reason: &'static str,
}
