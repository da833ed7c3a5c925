//! What PageRank can be told, and the ranges of that.

use crate::KernelError;
use crate::registry::{Absent, CountRange, NumberRange, Parameter, ParameterKind, Value};

/// How to rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRankConfig {
    /// The probability of following an edge rather than jumping anywhere, 0 to 1.
    pub damping: f64,
    /// The number of iterations, at most this many if there is a tolerance. 0 leaves every score at 1/n.
    pub iterations: u32,
    /// Stop once an iteration would change the scores by less than this in total (sum of absolute differences). The scores are then at most
    /// `tolerance / (1 - damping)` from those that more iterations lead to; what is iterated in between, and from where, is left open.
    pub tolerance: Option<f64>,
}

impl PageRankConfig {
    /// What the functions of other languages and the command line use where nothing is said.
    pub const DEFAULT: PageRankConfig = PageRankConfig { damping: 0.85, iterations: 20, tolerance: None };

    pub(crate) fn check<E>(&self) -> Result<(), KernelError<E>> {
        DAMPING.check_number(self.damping)?;
        self.tolerance.map_or(Ok(()), |tolerance| TOLERANCE.check_number(tolerance))
    }
}

impl Default for PageRankConfig {
    fn default() -> Self {
        PageRankConfig::DEFAULT
    }
}

pub(crate) const ITERATIONS: Parameter = Parameter {
    name: "iterations",
    summary: "The number of iterations, at most this many if there is a tolerance",
    kind: ParameterKind::Count(CountRange::ANY),
    absent: Absent::Is(Value::Count(PageRankConfig::DEFAULT.iterations)),
    is_reported: true,
};

pub(crate) const DAMPING: Parameter = Parameter {
    name: "damping",
    summary: "The probability of following an edge rather than jumping anywhere, 0 to 1",
    kind: ParameterKind::Number(NumberRange::SHARE),
    absent: Absent::Is(Value::Number(PageRankConfig::DEFAULT.damping)),
    is_reported: true,
};

pub(crate) const TOLERANCE: Parameter = Parameter {
    name: "tolerance",
    summary: "Stop when an iteration changes the scores by less than this in total",
    kind: ParameterKind::Number(NumberRange::NOT_NEGATIVE),
    absent: Absent::Without(""),
    is_reported: false,
};
