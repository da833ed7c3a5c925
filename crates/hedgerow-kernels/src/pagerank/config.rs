//! Parameters of PageRank, and their ranges.

use hedgerow_core::{Topology, VertexId};

use crate::KernelError;
use crate::error::check_source;
use crate::registry::{Absent, Arguments, CountRange, NumberRange, Parameter, ParameterKind};

/// The configuration of PageRank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRankConfig {
    /// The probability of following an edge rather than jumping anywhere, 0 to 1.
    pub damping: f64,
    /// The number of iterations, or the most iterations if there is a tolerance. 0 leaves every score at 1/n.
    pub iterations: u32,
    /// The tolerance: the kernel stops once an iteration would change the scores by less than this in total
    /// (sum of absolute differences). The scores are then at most `tolerance / (1 - damping)` from the limit
    /// of further iterations. The first scores and the steps from there are not specified.
    pub tolerance: Option<f64>,
}

impl PageRankConfig {
    /// The default of the functions in other languages and of the command line.
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

const ITERATIONS: Parameter = Parameter::count(
    "iterations",
    "The number of iterations, at most this many if there is a tolerance",
    CountRange::ANY,
    PageRankConfig::DEFAULT.iterations,
);

const DAMPING: Parameter = Parameter::number(
    "damping",
    "The probability of following an edge rather than jumping anywhere, 0 to 1",
    NumberRange::SHARE,
    PageRankConfig::DEFAULT.damping,
);

const TOLERANCE: Parameter = Parameter::new(
    "tolerance",
    "Stop when an iteration changes the scores by less than this in total",
    ParameterKind::Number(NumberRange::NOT_NEGATIVE),
    Absent::Without(""),
)
.unreported();

/// Returns the parameter of the vertices at which the surfer starts.
const fn sources(absent: Absent) -> Parameter {
    Parameter::vertices("sources", "The vertices that the surfer starts at and jumps to", absent)
}

const SOURCES: Parameter = sources(Absent::Refused);

/// The parameters of a surfer who jumps anywhere, of one who jumps to given vertices, and of one who may do
/// either.
pub(super) const JUMPS_ANYWHERE: &[Parameter] = &[ITERATIONS, DAMPING, TOLERANCE];
pub(super) const JUMPS_BACK: &[Parameter] = &[SOURCES, ITERATIONS, DAMPING, TOLERANCE];
pub(super) const JUMPS: &[Parameter] =
    &[sources(Absent::Without("every vertex")), ITERATIONS, DAMPING, TOLERANCE];

/// Returns the configuration that the arguments of a kernel give.
pub(super) fn read(arguments: &Arguments) -> Result<PageRankConfig, KernelError> {
    Ok(PageRankConfig {
        damping: arguments.number(&DAMPING)?,
        iterations: arguments.count(&ITERATIONS)?,
        tolerance: arguments.optional_number(&TOLERANCE),
    })
}

/// Returns the vertices at which the surfer must start, and the configuration.
pub(super) fn read_sources(arguments: &Arguments) -> Result<(Vec<VertexId>, PageRankConfig), KernelError> {
    Ok((arguments.vertices(&SOURCES)?, read(arguments)?))
}

/// Returns the vertices at which the surfer may start, and the configuration.
pub(super) fn read_any(
    arguments: &Arguments,
) -> Result<(Option<Vec<VertexId>>, PageRankConfig), KernelError> {
    Ok((arguments.optional_vertices(&SOURCES), read(arguments)?))
}

/// Checks the vertices at which the surfer starts; returns them ascending, each once.
pub(super) fn checked<G: Topology>(
    g: &G,
    sources: &[VertexId],
) -> Result<Vec<VertexId>, KernelError<G::Error>> {
    if sources.is_empty() {
        let (parameter, range) = (SOURCES.name, "one vertex or more");
        return Err(KernelError::OutOfRange { parameter, range, found: 0.0 });
    }
    sources.iter().try_for_each(|&source| check_source(g, source))?;
    let mut sources = sources.to_vec();
    sources.sort_unstable();
    sources.dedup();
    Ok(sources)
}
