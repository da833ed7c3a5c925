//! Parameters of walks, and their ranges.

use std::ops::Bound;

use hedgerow_core::{Direction, VertexId};

use crate::KernelError;
use crate::registry::{Absent, Arguments, CountRange, NumberRange, Parameter};

/// The configuration of walks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WalkConfig {
    /// The number of walks from each source, 1 or more.
    pub walks: u32,
    /// The most steps of a walk, 1 or more.
    pub steps: u32,
    /// The return parameter, 0.001 to 1000: the higher it is, the less often a walk returns to the vertex
    /// before.
    pub p: f64,
    /// The in-out parameter, 0.001 to 1000: the higher it is, the more a walk stays near the vertex before.
    /// If `p` and `q` are 1, a walk is uniform.
    pub q: f64,
    /// The seed of random choices.
    pub seed: u64,
    /// The direction in which edges are followed; without effect on undirected graphs.
    pub direction: Direction,
}

impl Default for WalkConfig {
    fn default() -> Self {
        WalkConfig { walks: 1, steps: 10, p: 1.0, q: 1.0, seed: 1, direction: Direction::Out }
    }
}

impl WalkConfig {
    pub(super) fn check<E>(&self) -> Result<(), KernelError<E>> {
        WALKS.check_count(self.walks)?;
        STEPS.check_count(self.steps)?;
        P.check_number(self.p)?;
        Q.check_number(self.q)
    }

    /// True if steps do not depend on the vertex before.
    pub(super) fn is_uniform(&self) -> bool {
        self.p == 1.0 && self.q == 1.0
    }
}

/// The vertices at which walks begin.
const SOURCES: Parameter =
    Parameter::vertices("sources", "The vertices that walks begin at", Absent::Without("every vertex"))
        .unreported();

const WALKS: Parameter = Parameter::count("walks", "Walks from each source", CountRange::POSITIVE, 1);

const STEPS: Parameter = Parameter::count("steps", "The most steps of a walk", CountRange::POSITIVE, 10);

/// The range of both factors: if they were farther apart, nearly all draws would be refused.
const FACTOR: NumberRange =
    NumberRange { least: Bound::Included(0.001), most: Bound::Included(1000.0), text: "in 0.001..=1000" };

const P: Parameter = Parameter::number(
    "p",
    "The higher, the less often a walk goes back where it came from (node2vec)",
    FACTOR,
    1.0,
);

const Q: Parameter = Parameter::number(
    "q",
    "The higher, the more a walk stays near where it came from (node2vec)",
    FACTOR,
    1.0,
);

/// The parameters of walks.
pub(super) const PARAMETERS: &[Parameter] =
    &[SOURCES, WALKS, STEPS, P, Q, Parameter::SEED, Parameter::DIRECTION];

/// Returns the sources and the configuration that the arguments of a kernel give.
pub(super) fn read(arguments: &Arguments) -> Result<(Option<Vec<VertexId>>, WalkConfig), KernelError> {
    let config = WalkConfig {
        walks: arguments.count(&WALKS)?,
        steps: arguments.count(&STEPS)?,
        p: arguments.number(&P)?,
        q: arguments.number(&Q)?,
        seed: u64::from(arguments.count(&Parameter::SEED)?),
        direction: arguments.direction(&Parameter::DIRECTION)?,
    };
    Ok((arguments.optional_vertices(&SOURCES), config))
}
