//! Parameters of walks, and their ranges.

use std::ops::Bound;

use hedgerow_core::Direction;

use crate::KernelError;
use crate::registry::{Absent, CountRange, NumberRange, Parameter, ParameterKind, Value};

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
    /// With 1 for both it is uniform.
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
pub(crate) const SOURCES: Parameter = Parameter {
    name: "sources",
    summary: "The vertices that walks begin at",
    kind: ParameterKind::Vertices,
    absent: Absent::Without("every vertex"),
    is_reported: false,
};

pub(crate) const WALKS: Parameter = Parameter {
    name: "walks",
    summary: "Walks from each source",
    kind: ParameterKind::Count(CountRange::POSITIVE),
    absent: Absent::Is(Value::Count(1)),
    is_reported: true,
};

pub(crate) const STEPS: Parameter = Parameter {
    name: "steps",
    summary: "The most steps of a walk",
    kind: ParameterKind::Count(CountRange::POSITIVE),
    absent: Absent::Is(Value::Count(10)),
    is_reported: true,
};

/// Factors farther apart would make draws that are nearly always refused.
const FACTOR: NumberRange =
    NumberRange { least: Bound::Included(0.001), most: Bound::Included(1000.0), text: "in 0.001..=1000" };

pub(crate) const P: Parameter = Parameter {
    name: "p",
    summary: "The higher, the less often a walk goes back where it came from (node2vec)",
    kind: ParameterKind::Number(FACTOR),
    absent: Absent::Is(Value::Number(1.0)),
    is_reported: true,
};

pub(crate) const Q: Parameter = Parameter {
    name: "q",
    summary: "The higher, the more a walk stays near where it came from (node2vec)",
    kind: ParameterKind::Number(FACTOR),
    absent: Absent::Is(Value::Number(1.0)),
    is_reported: true,
};
