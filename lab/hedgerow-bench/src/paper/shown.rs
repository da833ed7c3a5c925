//! The content of a report: the experiments of the papers with their figures.

use super::bench::Failed;
use super::experiment::{Absent, Experiment};
use super::published::Paper;
use super::setting::Setting;
use crate::record::Record;

/// An experiment and its figures. It has no figures if none could be measured.
pub(super) struct Run {
    pub(super) experiment: &'static Experiment,
    pub(super) records: Vec<Record>,
}

/// A paper, the experiments that ran, and the absent experiments.
pub(super) struct PaperRuns {
    pub(super) paper: Paper,
    pub(super) runs: Vec<Run>,
    pub(super) absent: Vec<&'static Absent>,
}

/// The whole content of a report.
pub(super) struct Report {
    pub(super) setting: Setting,
    pub(super) papers: Vec<PaperRuns>,
    pub(super) failed: Vec<Failed>,
}
