//! Parameters of PageRank, and their ranges.

use crate::KernelError;
use crate::registry::{Absent, CountRange, NumberRange, Parameter, ParameterKind, Value};

/// The configuration of PageRank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRankConfig {
    /// The probability of following an edge rather than jumping anywhere, 0 to 1.
    pub damping: f64,
    /// The number of iterations, or the most iterations if there is a tolerance. 0 leaves every score at 1/n.
    pub iterations: u32,
    /// The tolerance: the kernel stops once an iteration would change the scores by less than this in total
    /// (sum of absolute differences). The scores are then at most `tolerance / (1 - damping)` from those to
    /// which more iterations lead. The steps in between, and their start, are not specified.
    pub tolerance: Option<f64>,
}

impl PageRankConfig {
    /// The default of functions of other languages and of the command line.
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
