//! What is shown: the experiments of the papers with their figures.

use super::bench::Failed;
use super::experiment::{Absent, Experiment};
use super::published::Paper;
use super::setting::Setting;
use crate::record::Record;

/// An experiment and its figures; none where none could be measured.
pub(super) struct Run {
    pub(super) experiment: &'static Experiment,
    pub(super) records: Vec<Record>,
}

/// A paper and what was run of it.
pub(super) struct PaperRuns {
    pub(super) paper: Paper,
    pub(super) runs: Vec<Run>,
    pub(super) absent: Vec<&'static Absent>,
}

/// All that a report says.
pub(super) struct Report {
    pub(super) setting: Setting,
    pub(super) papers: Vec<PaperRuns>,
    pub(super) failed: Vec<Failed>,
}
